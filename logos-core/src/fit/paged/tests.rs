use super::*;
use crate::fit::inventory::tests::spec_of;

/// Bytes of the devices of the worked values.
const H100: u64 = 80 << 30;

/// F11: a server's batch goes by the device: at least 160 GiB, at least 70 GiB, or less, as SN50's 59.6 GiB and SN40L's 64 GiB are.
#[test]
fn tokens_in_flight_go_by_the_device() {
    let spec = spec_of("gemma-3-27b-it");
    let tokens = |device: u64| Policy::of(&spec, device).in_flight / 2;
    assert_eq!([160 << 30, (160 << 30) - 1, 70 << 30, (70 << 30) - 1].map(tokens), [16_384, 8192, 8192, 2048]);
    let chips = ["SN10", "SN30", "SN40L", "SN50"].map(|name| crate::chip::lookup(name).unwrap().main_memory().0);
    assert_eq!(chips.map(tokens), [16_384, 16_384, 2048, 2048]);
}

/// What one row of the worked values says: width, length, tokens of a block, groups, blocks of a sequence, bytes of a
/// block of the pool, bytes of a sequence.
type Worked = (u32, u32, u32, usize, u64, u64, u64);

fn check(name: &str, change: impl Fn(&mut Policy), worked: Worked) {
    let (tp, len, block, groups, blocks, pool_block, need) = worked;
    let spec = spec_of(name);
    let mut policy = Policy::of(&spec, H100);
    change(&mut policy);
    let paged = Paged::of(&spec, tp, policy).unwrap();
    assert_eq!(paged.groups[0].block, block, "{name} tp {tp}");
    assert_eq!(paged.groups.len(), groups, "{name} tp {tp}");
    assert_eq!(paged.blocks(len), blocks, "{name} tp {tp} {len}");
    assert_eq!(paged.pool_block, pool_block, "{name} tp {tp}");
    assert_eq!(paged.sequence(len), Ok(Reserved(need)), "{name} tp {tp} {len}");
    assert_eq!(paged.reserved(len, 1), Ok(Reserved(need + pool_block)));
    // The longest that just fits, and no more.
    let longest = paged.longest(need + pool_block, u32::MAX);
    assert!(longest >= len && paged.sequence(longest) == Ok(Reserved(need)));
    assert!(paged.sequence(longest + 1).unwrap() > Reserved(need));
    assert!(paged.longest(need + pool_block - 1, u32::MAX) < len);
    assert_eq!(paged.sequences(7 * need + pool_block, len), 7);
    assert_eq!(paged.sequences(7 * need + pool_block - 1, len), 6);
}

/// F11: what the version's own functions gave for these models.
#[test]
fn worked_values_of_models_that_attend() {
    let as_started = |_: &mut Policy| {};
    check("llama-3.1-8b", as_started, (1, 131_072, 16, 1, 8192, 2_097_152, 17_179_869_184));
    check("llama-3.1-8b", as_started, (8, 131_072, 16, 1, 8192, 262_144, 2_147_483_648));
    check("gemma-3-27b-it", as_started, (1, 131_072, 16, 7, 14_726, 1_310_720, 19_301_662_720));
    check("gemma-3-27b-it", |p| p.in_flight = 4096, (1, 131_072, 16, 7, 10_118, 1_310_720, 13_261_864_960));
    check("gemma-3-27b-it", as_started, (1, 32_768, 16, 7, 8582, 1_310_720, 11_248_599_040));
    check("gemma-3-27b-it", as_started, (16, 131_072, 16, 7, 14_726, 81_920, 1_206_353_920));
    check("gpt-oss-20b", as_started, (1, 131_072, 16, 2, 9225, 393_216, 3_627_417_600));
    for tp in [1, 2, 8, 16] {
        check("deepseek-v3", as_started, (tp, 163_840, 64, 1, 2560, 4_497_408, 11_513_364_480));
        check("deepseek-v2-lite", as_started, (tp, 163_840, 64, 1, 2560, 1_990_656, 5_096_079_360));
    }
}

/// F11: the same of hybrids, whose blocks grow until a page holds a state.
#[test]
fn worked_values_of_hybrids() {
    let on = |_: &mut Policy| {};
    check("qwen3.5-27b", on, (1, 262_144, 784, 4, 341, 51_380_224, 17_520_656_384));
    check("qwen3.5-27b", |p| p.prefix_caching = false, (1, 262_144, 784, 4, 338, 51_380_224, 17_366_515_712));
    check("qwen3.5-27b", on, (2, 262_144, 784, 4, 341, 25_690_112, 8_760_328_192));
    check("qwen3.5-27b", on, (4, 262_144, 784, 4, 341, 12_845_056, 4_380_164_096));
    check("qwen3.5-27b", on, (8, 262_144, 400, 4, 662, 6_553_600, 4_338_483_200));
    let next = "qwen3-next-80b-a3b-thinking";
    check(next, on, (1, 262_144, 544, 4, 488, 13_369_344, 6_524_239_872));
    check(next, on, (2, 262_144, 544, 4, 488, 6_684_672, 3_262_119_936));
    check(next, on, (4, 262_144, 272, 4, 970, 3_342_336, 3_242_065_920));
    check(next, on, (8, 262_144, 144, 4, 1827, 1_769_472, 3_232_825_344));
}

#[test]
fn a_state_and_its_page() {
    let of = |name: &str, tp| {
        let spec = spec_of(name);
        let paged = Paged::of(&spec, tp, Policy::of(&spec, H100)).unwrap();
        (paged.state, paged.page)
    };
    let next = "qwen3-next-80b-a3b-thinking";
    assert_eq!(
        [1, 2, 4, 8].map(|tp| of("qwen3.5-27b", tp)),
        [(3_207_168, 3_211_264), (1_603_584, 1_605_632), (801_792, 802_816), (400_896, 409_600),]
    );
    assert_eq!(
        [1, 2, 4, 8, 16].map(|tp| of(next, tp)),
        [(1_097_728, 1_114_112), (548_864, 557_056), (274_432, 278_528), (137_216, 147_456), (68_608, 81_920),]
    );
}

#[test]
fn bytes_of_a_token_over_all_layers() {
    let of = |name: &str, tp| {
        let spec = spec_of(name);
        Paged::of(&spec, tp, Policy::of(&spec, H100)).unwrap().token
    };
    assert_eq!([1, 2, 4].map(|tp| of("qwen2-7b-instruct", tp)), [57_344, 28_672, 14_336]);
    assert_eq!([1, 2, 4, 8].map(|tp| of("qwen3.5-27b", tp)), [65_536, 32_768, 16_384, 16_384]);
    assert_eq!([1, 8, 16].map(|tp| of("llama-3.1-405b", tp)), [516_096, 64_512, 64_512]);
    assert_eq!([1, 2, 4, 8, 16].map(|tp| of("gemma-3-27b-it", tp)), [507_904, 253_952, 126_976, 63_488, 31_744]);
    assert_eq!([1, 2, 4, 8].map(|tp| of("gpt-oss-20b", tp)), [49_152, 24_576, 12_288, 6144]);
    assert_eq!([1, 8, 32].map(|tp| of("mixtral-8x7b-v0.1", tp)), [131_072, 16_384, 16_384]);
    assert_eq!([1, 2, 4, 8].map(|tp| of("qwen3-30b-a3b", tp)), [98_304, 49_152, 24_576, 24_576]);
    assert_eq!([1, 4, 16].map(|tp| of("deepseek-v2-lite", tp)), [31_104; 3]);
    assert_eq!([1, 4, 16].map(|tp| of("deepseek-v3", tp)), [70_272; 3]);
    assert_eq!([1, 2].map(|tp| of("qwen3-next-80b-a3b-thinking", tp)), [24_576, 12_288]);
    assert_eq!(of("falcon-7b-instruct", 1), 8192);
    assert_eq!([1, 8, 32].map(|tp| of("phi-3-mini-4k-instruct", tp)), [393_216, 49_152, 12_288]);
    assert_eq!([1, 3].map(|tp| of("smollm2-135m", tp)), [23_040, 7680]);
}

/// Chunks switch groups off, and then cost as much as seeing all; with groups a chunk is charged with what is in flight.
#[test]
fn chunked_layers_pay_the_full_price_unless_they_are_grouped() {
    let spec = spec_of("llama-4-scout-17b-16e-instruct");
    let policy = Policy::of(&spec, H100);
    assert!(!policy.hybrid);
    let full = Paged::of(&spec, 8, policy).unwrap();
    // One KV head a chip: 48 layers of 2 x 128 bf16 elements a token.
    assert_eq!((full.groups.len(), full.token), (1, 48 * 512));
    assert_eq!(full.sequence(131_072), Ok(Reserved(131_072 * 48 * 512)));
    let grouped = Paged::of(&spec, 8, Policy { hybrid: true, ..policy }).unwrap();
    // 12 layers see all, 36 their chunk of 8192: four groups of 12.
    assert_eq!((grouped.groups.len(), grouped.group_layers), (4, 12));
    assert_eq!(grouped.blocks(131_072), 131_072 / 16 + 3 * (8192 + 16_384) / 16);
    assert!(grouped.sequence(131_072).unwrap() < full.sequence(131_072).unwrap());
}

#[test]
fn what_the_version_would_not_start_with() {
    let spec = spec_of("qwen3.5-27b");
    let policy = Policy::of(&spec, H100);
    assert_eq!(Paged::of(&spec, 1, Policy { hybrid: false, ..policy }), Err(Unpaged::Groups));
    assert_eq!(Paged::of(&spec, 3, policy), Err(Unpaged::Split(16, 3)));
    assert_eq!(Paged::of(&spec, 0, policy), Err(Unpaged::Zero));
    assert_eq!(Paged::of(&spec, 1, Policy { block: Some(0), ..policy }), Err(Unpaged::Zero));
    let refusal = Refusal::from(Unpaged::Split(16, 3));
    assert!(refusal.to_string().contains("7cfb97e33791"), "{refusal}");
}
