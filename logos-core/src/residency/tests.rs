use logos_bundle::check;
use logos_bundle::view::{Bundle, Tier, ValueRole as Role};

use crate::request::{DeploymentRequest, Form, Request, Weights};
use crate::{chip, config, kinds};

/// A released model's deployment, compiled and checked.
fn bundle(slug: &str, chip: &str, tp: u32, form: Form) -> Vec<u32> {
    let config = released(slug);
    let deployments = [DeploymentRequest::new("D", form, Some(tp))];
    let weights = Weights::Config;
    let request = Request {
        model: slug,
        config: &config,
        chip: chip.into(),
        weights,
        checkpoint: None,
        vocabulary: crate::Vocabulary::Exact,
        deployments: &deployments,
    };
    let compiled = crate::compile(&request).unwrap_or_else(|refusals| panic!("{slug}: {refusals:?}"));
    let words = compiled.into_iter().next().unwrap().words;
    assert!(check::all(&words).hold());
    words
}

fn released(slug: &str) -> Vec<u8> {
    std::fs::read(format!("{}/../tests/fixtures/configs/{slug}/config.json", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// What of a bundle's weights or states lies in a tier, without the layer's number: names, by program.
fn lying(bundle: &Bundle<'_>, role: Role, tier: Tier) -> Vec<String> {
    let mut names = Vec::new();
    for program in bundle.programs() {
        for value in program.values().filter(|v| v.role() == role && v.tier() == Some(tier)) {
            names.push(format!("{}: {}", program.name(), value.name()));
        }
    }
    names
}

/// S13: a recurrence's state stays in SRAM beside the largest section's buffers, where all its layers and sequences fit.
#[test]
fn recurrent_state_stays_in_sram_where_it_fits() {
    let decode = |batch| bundle("qwen3.5-27b", "SN50", 8, Form::Decode { ctx: 262_144, batch });
    let words = decode(8);
    let of_eight = Bundle::read(&words).unwrap();
    // 48 layers of 6 heads' 128 x 128 f32 memory and 3 taps of 1280 bf16 channels, of 8 sequences.
    assert_eq!(of_eight.fit().sram_state_bytes, 8 * 48 * (6 * 128 * 128 * 4 + 3 * 1280 * 2));
    assert_eq!(of_eight.fit().ddr_weight_bytes, 0);
    let (kept, main) = (lying(&of_eight, Role::State, Tier::Sram), lying(&of_eight, Role::State, Tier::Hbm));
    assert!(kept.iter().all(|name| name.starts_with("gated deltanet: ")) && !kept.is_empty(), "{kept:?}");
    assert!(main.iter().all(|name| name.starts_with("attention: ")) && main.len() == 2, "{main:?}");

    // Of the thirteen sequences that HBM has room for, too.
    let words = decode(13);
    assert_eq!(Bundle::read(&words).unwrap().fit().sram_state_bytes, 13 * 48 * 400_896);

    // Without it every step moves the state both ways.
    let config = released("qwen3.5-27b");
    let (spec, chip) = (config::read(&config).unwrap(), chip::lookup("SN50").unwrap());
    let form = Form::Decode { ctx: 262_144, batch: 8 };
    let kinds = kinds::programs(&spec, form, 8, Weights::Config).unwrap();
    let deltanet = kinds.iter().position(|kind| kind.name == "gated deltanet").unwrap();
    let layout = crate::compile::lay(&spec, chip, form, &kinds, 0).ok().unwrap();
    let with = layout.laid.spatial[deltanet].sections[0].interval;
    assert!(with < 84_500, "{with} is no less than with one sequence's state in HBM");
}

/// S13: a model that HBM does not hold keeps what every step touches there, and its experts in DDR.
#[test]
fn experts_go_to_ddr_where_hbm_does_not_hold_them() {
    for (slug, tp) in [("mixtral-8x7b-v0.1", 1), ("deepseek-v3", 8)] {
        let words = bundle(slug, "SN50", tp, Form::Decode { ctx: 4096, batch: 1 });
        let bundle = Bundle::read(&words).unwrap();
        let fit = bundle.fit();
        assert!(fit.weight_bytes > fit.hbm_bytes, "{slug}");
        assert!(fit.ddr_weight_bytes > 0 && fit.fits && fit.need_bytes <= fit.hbm_bytes, "{slug}: {fit:?}");
        let gone = lying(&bundle, Role::Weight, Tier::Ddr);
        assert!(!gone.is_empty(), "{slug}");
        for name in &gone {
            assert!(name.contains(", experts: W"), "{slug}: {name}");
        }
    }
}

/// A kind's three banks go one by one: two that hold most of the excess stay where one is enough.
#[test]
fn no_more_experts_leave_than_must() {
    // 46.7 G parameters in bf16 on two chips: 46.7 GB of 64 GB each.
    let words = bundle("mixtral-8x7b-v0.1", "SN50", 2, Form::Decode { ctx: 4096, batch: 1 });
    assert_eq!(Bundle::read(&words).unwrap().fit().ddr_weight_bytes, 0);
    // On one, 93.4 GB: a bank of 32 layers' 8 experts is 30 GB, so that one is not quite enough.
    let words = bundle("mixtral-8x7b-v0.1", "SN50", 1, Form::Decode { ctx: 4096, batch: 1 });
    let bank = 32 * 8 * 4096 * 14_336 * 2;
    let gone = Bundle::read(&words).unwrap().fit().ddr_weight_bytes;
    assert_eq!(gone % bank, 0);
    let short = 2 * 46_702_792_704u64 - 64_000_000_000;
    assert_eq!(gone / bank, short.div_ceil(bank));
}
