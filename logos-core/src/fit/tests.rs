use super::*;
use crate::ExpertSplit;
use crate::author::Source;
use crate::chip::lookup;
use crate::kinds;
use crate::language::ast::{Axis, Origin, Role, Sharding, Storage};
use crate::spec::AttentionSpan;
use crate::spec::test_models::{Heads, attention, layer, llama, model, qwen35};

fn decode(tp: u32, ctx: u32, batch: u32) -> DeploymentRequest {
    DeploymentRequest::new("DECODE", Form::Decode { ctx, batch }, Some(tp))
}

/// The facts where everything lies in the main memory.
fn facts(spec: &ModelSpec, chip: &Chip, deployment: &DeploymentRequest, weights: Weights) -> Result<FitFacts, Refusal> {
    Need::of(spec, chip, deployment, weights)?.facts(0, 0)
}

fn ledger(spec: &ModelSpec, tp: u32) -> Ledger {
    Ledger::of(spec, tp, Weights::Config, true).unwrap()
}

#[test]
fn parameters_are_the_released_ones() {
    // As the released checkpoints count them, without draft heads and vision towers.
    assert_eq!(ledger(&llama(), 1).weights, 2 * 8_030_261_248);
    assert_eq!(ledger(&qwen35(), 1).weights, 2 * 26_895_998_464);
}

#[test]
fn kv_bytes_a_position_follow_the_width_until_it_passes_the_kv_heads() {
    let a_position = |spec: &ModelSpec, tp| ledger(spec, tp).kv(1).unwrap();
    let of = |spec: &ModelSpec, widths: &[u32]| widths.iter().map(|&tp| a_position(spec, tp)).collect::<Vec<_>>();
    assert_eq!(of(&qwen35(), &[1, 2, 4, 8]), [65_536, 32_768, 16_384, 16_384]);
    assert_eq!(of(&llama(), &[1, 2, 4, 8, 16, 32]), [131_072, 65_536, 32_768, 16_384, 16_384, 16_384]);
}

#[test]
fn recurrent_state_is_split_by_head_and_the_same_at_every_context() {
    // 48 layers of 6 heads' 128 x 128 f32 memory and 3 taps of 1280 bf16 channels.
    for (tp, a_layer) in [(1, 3_207_168), (2, 1_603_584), (4, 801_792), (8, 400_896)] {
        let ledger = ledger(&qwen35(), tp);
        assert_eq!(ledger.recurrent, 48 * a_layer);
        assert_eq!(ledger.sequence(1000).unwrap() - ledger.kv(1000).unwrap(), 48 * a_layer);
    }
}

#[test]
fn a_window_bounds_the_cache() {
    let heads = |span| Heads { hidden: 1024, heads: 8, kv_heads: 2, head_dim: 128, gate: false, span };
    let layers = vec![
        layer(1024, 4096, attention(&heads(AttentionSpan::Window(512)))),
        layer(1024, 4096, attention(&heads(AttentionSpan::Full))),
    ];
    let spec = model(1024, 1024, 8192, layers, vec![0, 0, 0, 1]);
    let a_position = 2 * 2 * 128 * 2;
    assert_eq!(ledger(&spec, 1).kv(256).unwrap(), 4 * 256 * a_position);
    assert_eq!(ledger(&spec, 1).kv(8192).unwrap(), (3 * 512 + 8192) * a_position);
}

#[test]
fn thirteen_sequences_of_the_full_context_fit_eight_sn50() {
    let (spec, chip) = (qwen35(), lookup("SN50").unwrap());
    let refusal = facts(&spec, chip, &decode(8, 262_144, 16), Weights::Config).unwrap_err();
    assert_eq!(refusal.code, Code::FitMemory);
    assert_eq!(refusal.at, At::Key("DECODE".into(), Key::Batch));
    expect_test::expect![[r#"
        LOGOS-FIT-01: 16 sequences of 262144 positions exceed the HBM of 8 chips: 13 sequences fit
          needed a chip: 75,794,488,448 bytes (70.5 GiB)
          HBM of one SN50: 64,000,000,000 bytes (59.6 GiB)
          weights a chip: 6,767,123,584 bytes (6.3 GiB)
          state a sequence and chip: 4,314,210,304 bytes (4.0 GiB)
          most sequences at this context: 13
          largest context with 16 sequences: 217151
          widths that would hold it: no admitted width holds it
          help: write `batch: 13`, or `ctx: 217151`"#]]
    .assert_eq(&refusal.to_string());

    let facts13 = facts(&spec, chip, &decode(8, 262_144, 13), Weights::Config).unwrap();
    assert_eq!((facts13.max_seqs, facts13.max_ctx), (13, 262_144));
    assert_eq!(facts13.kv_bytes, 13 * 262_144 * 16_384);
    assert_eq!(facts13.state_bytes, facts13.kv_bytes + 13 * 48 * 400_896);
    // Quantised projections leave 13: the table that tokens are looked up in stays bf16, and 144 MB are short of one more.
    let refusal = facts(&spec, chip, &decode(8, 262_144, 14), Weights::Q8_0).unwrap_err();
    assert!(refusal.message.ends_with("13 sequences fit"), "{refusal}");
    let quantised = facts(&spec, chip, &decode(8, 262_144, 13), Weights::Q8_0).unwrap();
    let table = 248_320 / 8 * 5120 * 2;
    // 34 bytes for 32 projection elements; what stays in bf16 beside the table is norms, taps and decay.
    let rest = 2 * (64 * 2 * 5120 + 16 * 512 + 48 * 128 + 5120 + 48 * (1280 * 4 + 12));
    assert_eq!(quantised.weight_bytes - table - rest, (facts13.weight_bytes - table - rest) / 64 * 34);
}

#[test]
fn what_is_offered_fits_and_one_more_does_not() {
    let (spec, chip) = (qwen35(), lookup("SN50").unwrap());
    assert!(facts(&spec, chip, &decode(8, 217_151, 16), Weights::Config).is_ok());
    assert!(facts(&spec, chip, &decode(8, 217_152, 16), Weights::Config).is_err());
    for tp in [1, 2, 4, 8] {
        let Ok(fit) = facts(&spec, chip, &decode(tp, 32_768, 2), Weights::Config) else { continue };
        assert!(facts(&spec, chip, &decode(tp, 32_768, fit.max_seqs), Weights::Config).is_ok());
        assert!(facts(&spec, chip, &decode(tp, 32_768, fit.max_seqs + 1), Weights::Config).is_err());
        assert_eq!(
            fit.headroom_bytes() + fit.weight_bytes + fit.state_bytes,
            fit.memory_bytes,
            "{tp}: the parts make the whole"
        );
    }
}

#[test]
fn the_key_that_is_too_large_is_named() {
    let (spec, chip) = (llama(), lookup("SN50").unwrap());
    let mut wide = spec.clone();
    wide.layer_of = vec![0; 256];
    // 64 times the layers: weights alone are above one chip, and two hold them.
    let tp = facts(&wide, chip, &decode(1, 1024, 1), Weights::Config).unwrap_err();
    assert_eq!(tp.at, At::Key("DECODE".into(), Key::Tp));
    assert_eq!(tp.help.as_deref(), Some("write `tp: 2`, or `weights: q8_0`"));
    // One sequence of the full context, where weights leave too little.
    let mut deep = spec;
    deep.layer_of = vec![0; 120];
    let ctx = facts(&deep, chip, &decode(1, 131_072, 1), Weights::Config).unwrap_err();
    assert_eq!(ctx.at, At::Key("DECODE".into(), Key::Ctx));
    assert!(ctx.to_string().contains("one sequence of 131072 positions does not fit the HBM of 1 chip"), "{ctx}");
}

#[test]
fn chips_without_hbm_are_measured_by_their_ddr() {
    let chip = lookup("SN10").unwrap();
    let fit = facts(&qwen35(), chip, &decode(8, 262_144, 16), Weights::Config).unwrap();
    assert_eq!((fit.memory, fit.memory_bytes), ("DDR", 1_500_000_000_000));
}

#[test]
fn a_forward_step_carries_nothing_and_looks_nothing_up() {
    let (spec, chip) = (qwen35(), lookup("SN50").unwrap());
    let forward = DeploymentRequest::new("F", Form::Forward { rows: 64 }, Some(8));
    let fit = facts(&spec, chip, &forward, Weights::Config).unwrap();
    assert_eq!((fit.state_bytes, fit.kv_bytes, fit.max_ctx, fit.max_seqs), (0, 0, 0, 0));
    let with_lookup = facts(&spec, chip, &decode(8, 1, 1), Weights::Config).unwrap();
    assert_eq!(with_lookup.weight_bytes - fit.weight_bytes, 248_320 / 8 * 5120 * 2);
}

#[test]
fn sizes_beyond_64_bits_are_refused() {
    let mut spec = llama();
    let huge = u32::MAX;
    spec.layers[0] = layer(
        huge,
        huge,
        attention(&Heads {
            hidden: huge,
            heads: 1 << 15,
            kv_heads: 1 << 15,
            head_dim: 1 << 15,
            gate: false,
            span: AttentionSpan::Full,
        }),
    );
    spec.layer_of = vec![0; 1 << 20];
    let refusal = facts(&spec, lookup("SN50").unwrap(), &decode(1, 4096, 1), Weights::Config).unwrap_err();
    assert_eq!(refusal.code, Code::FitMemory);
    assert!(facts(&spec, lookup("SN50").unwrap(), &decode(0, 0, 0), Weights::Q8_0).is_err());
}

#[test]
fn bytes_are_readable() {
    assert_eq!(bytes(0), "0 bytes");
    assert_eq!(bytes(1023), "1,023 bytes");
    assert_eq!(bytes(1536), "1,536 bytes (1.5 KiB)");
    assert_eq!(bytes(64_000_000_000), "64,000,000,000 bytes (59.6 GiB)");
}

/// What the authored programs declare on one chip, each program's counted for every layer that runs it. None where a
/// layer has what no operation computes yet.
fn declared(spec: &ModelSpec, form: Form, tp: u32, weights: Weights) -> Option<(u64, u64)> {
    let programs = match kinds::programs(spec, form, tp, weights) {
        Ok(programs) => programs,
        Err(refusals) => {
            for refusal in refusals {
                assert!(refusal.message.ends_with("no operation yet"), "{}: {refusal}", spec.model_type);
            }
            return None;
        }
    };
    let (mut weight_bytes, mut state_bytes) = (0, 0);
    let mut table = None;
    for kind in &programs {
        let layers = (kind.layers.len() as u64).max(1);
        for (i, value) in kind.authored.program.values.iter().enumerate() {
            let Origin::Declared(role) = &value.origin else { continue };
            let (rows, cols) = match value.sharding {
                Sharding::Whole | Sharding::Partial => (value.shape.rows, value.shape.cols),
                Sharding::Split { axis: Axis::Rows, parts } => (value.shape.rows / parts, value.shape.cols),
                Sharding::Split { axis: Axis::Columns, parts } => (value.shape.rows, value.shape.cols / parts),
                Sharding::Split { axis: Axis::Experts, .. } => (value.shape.rows, value.shape.cols),
            };
            let copies = match value.sharding {
                Sharding::Split { axis: Axis::Experts, parts } => value.shape.seqs / parts,
                Sharding::Split { axis: Axis::Rows | Axis::Columns, .. } | Sharding::Whole | Sharding::Partial => {
                    value.shape.seqs
                }
            };
            let elements = u64::from(copies) * u64::from(rows) * u64::from(cols);
            let bytes = match value.storage {
                Storage::F32 | Storage::I32 => 4 * elements,
                Storage::F16 | Storage::Bf16 => 2 * elements,
                Storage::Q8_0 => elements.div_ceil(32) * 34,
                Storage::Mxfp4 => elements.div_ceil(32) * 17,
                Storage::F8E4M3 => {
                    let scales = u64::from(rows.div_ceil(128)) * u64::from(cols.div_ceil(128));
                    elements + 4 * u64::from(value.shape.seqs) * scales
                }
            };
            match role {
                Role::State => state_bytes += bytes * layers,
                Role::Weight => {
                    let Source::Weight { weight, .. } = &kind.authored.bindings[i].source else {
                        panic!("{}", value.name)
                    };
                    // A tied head reads the table that the embedding keeps.
                    if kind.role == kinds::Role::Head && table.as_ref() == Some(&weight.tensor) {
                        continue;
                    }
                    if kind.role == kinds::Role::Embed {
                        table = Some(weight.tensor.clone());
                    }
                    weight_bytes += bytes * layers;
                }
                Role::Input | Role::Table(_) => {}
            }
        }
    }
    Some((weight_bytes, state_bytes))
}

/// Two ways to the same number: the specification walked here, and the programs that are lowered.
#[test]
fn bytes_are_those_that_the_programs_declare() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/configs");
    let mut compared = 0;
    let mut families = std::collections::BTreeSet::new();
    let mut folders: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    for folder in folders {
        let path = folder.join("config.json");
        let Ok(config) = std::fs::read(&path) else { continue };
        let Ok(spec) = crate::config::read(&config) else { continue };
        let ctx = spec.max_context.min(9000);
        let forms = [
            Form::Decode { ctx, batch: 3 },
            Form::Prefill { ctx, chunk: 64, batch: 1 },
            Form::Prefill { ctx, chunk: 16, batch: 5 },
            Form::Forward { rows: 16 },
        ];
        let split = |expert_split| ModelSpec { expert_split, ..spec.clone() };
        let splits = if spec.has_experts() {
            &[ExpertSplit::Columns, ExpertSplit::Parallel][..]
        } else {
            &[ExpertSplit::Columns]
        };
        for (spec, tp) in splits
            .iter()
            .map(|&of| split(of))
            .flat_map(|spec| shard::widths(&spec, 16).into_iter().map(move |tp| (spec.clone(), tp)))
        {
            for (form, weights) in forms.iter().flat_map(|f| [(*f, Weights::Config), (*f, Weights::Q8_0)]) {
                let ledger = Ledger::of(&spec, tp, weights, !matches!(form, Form::Forward { .. })).unwrap();
                let (ctx, sequences) = match form {
                    Form::Forward { .. } => (0, 0),
                    Form::Decode { ctx, batch } | Form::Prefill { ctx, batch, .. } => (ctx, batch),
                };
                let states = ledger.sequence(ctx).unwrap() * u128::from(sequences);
                let counted = (word(ledger.weights).unwrap(), word(states).unwrap());
                let Some(declared) = declared(&spec, form, tp, weights) else { continue };
                assert_eq!(counted, declared, "{path:?} {form:?} tp {tp} {weights:?}");
                compared += 1;
                families.insert(spec.model_type.clone());
            }
        }
    }
    assert!(compared > 300 && families.len() >= 11, "only {compared} deployments were compared, of {families:?}");
}

/// The same of weights as released checkpoints store them: FP8 with scales a block or a row, MXFP4, some tensors F32.
#[test]
fn bytes_of_what_checkpoints_store_are_those_that_the_programs_declare() {
    let folder = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures"));
    let mut compared = 0;
    let in_blocks = ["deepseek-v3", "minimax-m2.7", "gpt-oss-20b"];
    let others = ["qwen3.5-27b", "qwen3.5-35b-a3b", "deepseek-v2-lite", "qwen3-0.6b", "glm-4.5"];
    for name in in_blocks.into_iter().chain(others) {
        let text = std::fs::read(folder.join(format!("checkpoints/{name}.json"))).unwrap();
        let config = std::fs::read(folder.join(format!("configs/{name}/config.json"))).unwrap();
        let headers = crate::checkpoint::Headers::from_description(name, &text).unwrap();
        // As released, and with every BF16 tensor F32.
        let widened = String::from_utf8(text).unwrap().replace("BF16", "F32");
        let wide = crate::checkpoint::Headers::from_description(name, widened.as_bytes()).unwrap();
        for headers in [headers, wide] {
            let spec = crate::checkpoint::adopt(&headers, crate::config::read(&config).unwrap()).unwrap().spec;
            let form = Form::Decode { ctx: 4096, batch: 3 };
            for tp in shard::widths(&spec, 8) {
                let ledger = Ledger::of(&spec, tp, Weights::Config, true).unwrap();
                let declared = declared(&spec, form, tp, Weights::Config).unwrap();
                assert_eq!(word(ledger.weights).unwrap(), declared.0, "{name} tp {tp}");
                compared += 1;
            }
        }
    }
    assert!(compared > 20, "{compared}");
}

/// Of whole experts the worst choice is counted: with one a chip and two a row, half of all products are one chip's.
#[test]
fn work_of_whole_experts_is_the_most_that_a_chip_can_be_asked_for() {
    let config = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/configs/mixtral-8x7b-v0.1/config.json");
    let spec = crate::config::read(&std::fs::read(config).unwrap()).unwrap();
    let macs = |expert_split| {
        let spec = ModelSpec { expert_split, ..spec.clone() };
        let programs = kinds::programs(&spec, Form::Decode { ctx: 64, batch: 3 }, 8, Weights::Config).unwrap();
        let works = super::work::program(&programs[1].authored.program, 64).unwrap();
        (works.whole.macs.weights, works.a_chip.macs.weights)
    };
    let (columns, whole) = (macs(ExpertSplit::Columns), macs(ExpertSplit::Parallel));
    let experts = 3 * 2 * 3 * 4096 * 14_336;
    assert_eq!(whole.0, columns.0);
    assert_eq!(whole.1 - columns.1, experts / 2 - experts / 8);
}
