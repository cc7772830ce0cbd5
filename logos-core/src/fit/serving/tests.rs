use super::*;
use crate::request::{ChipRequest, DeploymentRequest, Form, Request};
use crate::{Code, chip, config};

fn config_of(slug: &str) -> Vec<u8> {
    std::fs::read(format!("{}/../tests/fixtures/configs/{slug}/config.json", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn released(slug: &str) -> ModelSpec {
    config::read(&config_of(slug)).unwrap()
}

fn zoo() -> Vec<(String, ModelSpec)> {
    let folder = format!("{}/../tests/fixtures/configs", env!("CARGO_MANIFEST_DIR"));
    let mut slugs: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    slugs.sort();
    slugs.into_iter().map(|slug| (slug.clone(), released(&slug))).collect()
}

fn demand<'a>(spec: &'a ModelSpec, chip: &'a Chip, ctx: u32, sequences: u32) -> Demand<'a> {
    Demand { spec, chip, weights: Weights::Config, ctx, sequences }
}

/// F5: the ladder of Qwen3.5-27B at its whole context.
#[test]
fn the_ladder_of_qwen35() {
    let (spec, chip) = (released("qwen3.5-27b"), chip::lookup("SN50").unwrap());
    let ladder = demand(&spec, chip, 262_144, 1).ladder().unwrap();
    let rows: Vec<_> = ladder.iter().map(|r| (r.domain, r.chips, r.needs.tp, r.against.len())).collect();
    // The rack's sixteen do not share 24 query heads: the widest width in it is the node's.
    assert_eq!(rows, [(Domain::Chip, 1, 1, 0), (Domain::Node, 8, 8, 0), (Domain::Rack, 16, 8, 1)]);
    let [one, node, rack] = [0, 1, 2].map(|i| ladder[i].needs);
    assert_eq!(rack, node);
    assert_eq!(one.weight_bytes, 2 * 26_895_998_464);
    // 64 K a position of 16 layers with 4 KV heads; eight chips hold two copies of each.
    assert_eq!((one.kv_bytes, node.kv_bytes), (262_144 * 65_536, 262_144 * 16_384));
    assert_eq!((one.recurrent_bytes, node.recurrent_bytes), (48 * 3_207_168, 48 * 400_896));
    assert!(!one.fits && one.need_bytes() > one.memory_bytes && one.max_sequences == 0);
    assert!(node.fits && node.max_ctx == 262_144 && node.max_sequences == 13);
    assert_eq!(node.weight_bytes, 6_767_123_584);
}

/// F9: what fits, fits, and one more does not: every model on every chip.
#[test]
fn one_more_never_fits() {
    for (slug, spec) in zoo() {
        for name in ["SN10", "SN40L", "SN50"] {
            let chip = chip::lookup(name).unwrap();
            let ctx = spec.max_context.min(32_768);
            let plan = match demand(&spec, chip, ctx, 1).plan(Domain::Node) {
                Ok(plan) => plan,
                Err(PlanError::Weights { tp, need, room }) => {
                    assert!(need > room, "{slug} {name} tp {tp}");
                    continue;
                }
                Err(PlanError::Sequence { tp, max_ctx, .. }) => {
                    assert!(max_ctx < ctx && !demand(&spec, chip, max_ctx + 1, 1).at(tp).unwrap().fits);
                    continue;
                }
                Err(PlanError::TooLarge(error)) => panic!("{slug} {name}: {error}"),
            };
            let fits = |ctx, n| demand(&spec, chip, ctx, n).at(plan.tensor_parallel).unwrap().fits;
            let most = plan.max_sequences_per_replica;
            assert!(fits(ctx, most) && (most == u32::MAX || !fits(ctx, most + 1)), "{slug} {name}: {most}");
            assert!(fits(plan.max_ctx, 1), "{slug} {name}");
            assert!(plan.max_ctx == spec.max_context || !fits(plan.max_ctx + 1, 1), "{slug} {name}: {}", plan.max_ctx);
            let used = plan.tensor_parallel * plan.data_parallel + plan.idle_chips;
            assert_eq!(used, Domain::Node.chips(chip).unwrap());
            assert!(plan.idle_chips < plan.tensor_parallel);
            assert_eq!(plan.max_sequences, u64::from(most) * u64::from(plan.data_parallel));
        }
    }
}

/// Latent caches are whole on every chip.
#[test]
fn a_latent_cache_is_the_same_at_every_width() {
    let (spec, chip) = (released("deepseek-v3"), chip::lookup("SN50").unwrap());
    for tp in [1, 2, 4, 8, 16] {
        assert_eq!(demand(&spec, chip, 1, 1).at(tp).unwrap().kv_bytes, 70_272, "{tp}");
    }
}

/// A model that no rack holds in HBM: its experts are what DDR holds.
#[test]
fn a_model_beyond_the_racks_hbm_has_its_experts_in_ddr() {
    let (spec, chip) = (released("qwen3.8-2.4t-a95b"), chip::lookup("SN50").unwrap());
    let plan = demand(&spec, chip, 32_768, 1).plan(Domain::Rack).unwrap();
    let lacking = plan.needs.need_bytes().saturating_sub(plan.needs.memory_bytes);
    assert!(plan.needs.fits && !plan.needs.fits_main && lacking > 0);
    // Experts leave in whole banks.
    assert!(plan.needs.experts_in_ddr_bytes >= lacking);
    assert!(plan.needs.main_bytes() <= plan.needs.memory_bytes && plan.needs.shortfall_bytes() == 0);
}

/// F5: DDR that holds one bank of three and the better part of a second does not hold two.
#[test]
fn experts_go_to_ddr_in_whole_banks() {
    let spec = released("mixtral-8x7b-v0.1");
    // 93.4 GB of weights on one chip, of them three banks of 32 layers' 8 experts: 30.06 GB each.
    let bank = 32 * 8 * 4096 * 14_336 * 2;
    let chip = |hbm: u64, ddr: u64| {
        let mut text = chip::text("SN50").unwrap().to_owned();
        for (fact, bytes) in
            [("hbm_bytes", hbm), ("ddr_bytes_min", ddr), ("ddr_bytes_sizing_default", ddr), ("ddr_bytes_max", ddr)]
        {
            let head = format!("[facts.{fact}]\nvalue = ");
            let at = text.find(&head).unwrap() + head.len();
            let end = at + text[at..].find('\n').unwrap();
            text.replace_range(at..end, &bytes.to_string());
        }
        text.replace("name = \"SN50\"", "name = \"MINE\"")
    };
    let all = demand(&spec, chip::lookup("SN50").unwrap(), 4096, 1).at(1).unwrap().need_bytes();
    let config = config_of("mixtral-8x7b-v0.1");
    for (short, ddr, fits) in [
        (bank, bank, true),
        (bank, bank - 1, false),
        (bank + 1, 2 * bank, true),
        (bank + 1, 2 * bank - 1, false),
        (2 * bank + 1, 3 * bank, true),
    ] {
        let file = chip(all - short, ddr);
        let mine = Chip::read("mine.toml", file.as_bytes()).unwrap();
        let needs = demand(&spec, &mine, 4096, 1).at(1).unwrap();
        assert_eq!(needs.fits, fits, "{short} of {ddr}: {needs:?}");
        assert_eq!(needs.experts_in_ddr_bytes, if fits { short.div_ceil(bank) } else { ddr / bank } * bank);
        assert_eq!(needs.shortfall_bytes(), if fits { 0 } else { short - ddr / bank * bank });
        let compiled = crate::compile(&Request {
            model: "mixtral",
            config: &config,
            chip: ChipRequest::File { file: "mine.toml", text: file.as_bytes() },
            weights: Weights::Config,
            checkpoint: None,
            vocabulary: crate::Vocabulary::Exact,
            deployments: &[DeploymentRequest::new("D", Form::Decode { ctx: 4096, batch: 1 }, Some(1))],
        });
        match compiled {
            Ok(_) => assert!(fits),
            // Not that a certificate does not check.
            Err(refusals) => assert!(!fits && refusals[0].code == Code::FitMemory, "{refusals:?}"),
        }
    }
}

/// A chip without a known link serves by itself.
#[test]
fn without_a_link_there_is_one_rung() {
    let (spec, chip) = (released("qwen3-0.6b"), chip::lookup("SN30").unwrap());
    let ladder = demand(&spec, chip, 4096, 1).ladder().unwrap();
    assert_eq!(ladder.iter().map(|r| r.chips).collect::<Vec<_>>(), [1]);
    assert_eq!(demand(&spec, chip, 4096, 1).plan(Domain::Rack).unwrap().data_parallel, 1);
}
