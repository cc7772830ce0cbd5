//! Mixtures of experts of released and tiny models, in every form and at every width that they fit: lowered, certified, checked.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::path::Path;

use logos_bundle::view::Bundle;
use logos_core::spec::ModelSpec;
use logos_core::{DeploymentRequest, ExpertSplit, Form, Request, Vocabulary, Weights, compile, config, shard};

const SN50: &str = "SN50";

fn config_of(folder: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures").join(folder).join("config.json");
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A deployment that checks: of each section its program, interval and bound.
fn deployed(folder: &str, form: Form, (tp, experts): (u32, ExpertSplit), weights: Weights) -> Vec<(String, u64, u64)> {
    let config = config_of(folder);
    let deployment = DeploymentRequest { experts, ..DeploymentRequest::new("D", form, Some(tp)) };
    let request = Request {
        model: "m",
        config: &config,
        chip: SN50.into(),
        weights,
        checkpoint: None,
        vocabulary: Vocabulary::Exact,
        deployments: std::slice::from_ref(&deployment),
    };
    let compiled = match compile(&request) {
        Ok(compiled) => compiled,
        Err(refusals) => {
            let all: Vec<String> = refusals.iter().map(|refusal| format!("{refusal}")).collect();
            panic!("{folder}, {form:?}, tp {tp}: {}", all.join("\n"));
        }
    };
    let verdicts = logos_bundle::check::all(&compiled[0].words);
    assert!(verdicts.hold(), "{folder}, {form:?}, tp {tp}: {:?}", verdicts.first_fault());
    let bundle = Bundle::read(&compiled[0].words).unwrap();
    let mut kinds = Vec::new();
    for program in bundle.programs() {
        for section in program.sections() {
            kinds.push((program.name().to_string(), section.interval_cycles(), section.bound_cycles()));
        }
    }
    kinds
}

fn forms(ctx: u32) -> [Form; 5] {
    [
        Form::Decode { ctx, batch: 1 },
        Form::Decode { ctx, batch: 8 },
        Form::Prefill { ctx, chunk: ctx.min(256), batch: 1 },
        Form::Prefill { ctx, chunk: 32, batch: 3 },
        Form::Forward { rows: 24 },
    ]
}

/// Every form at every width among these; calls `each` with the sections of what is stored as the config says.
fn sweep(
    folder: &str,
    ctx: u32,
    among: std::ops::RangeInclusive<u32>,
    split: ExpertSplit,
    mut each: impl FnMut(Form, u32, &[(String, u64, u64)]),
) {
    let spec = ModelSpec { expert_split: split, ..config::read(&config_of(folder)).unwrap() };
    let widths = shard::widths(&spec, *among.end()).into_iter().filter(|tp| tp.is_power_of_two() && among.contains(tp));
    let widths: Vec<u32> = widths.collect();
    assert!(!widths.is_empty(), "{folder}: no width among {among:?}");
    for tp in widths {
        for form in forms(ctx) {
            deployed(folder, form, (tp, split), Weights::Q8_0);
            each(form, tp, &deployed(folder, form, (tp, split), Weights::Config));
        }
    }
}

#[test]
fn tiny_models() {
    let models =
        ["mixtral", "qwen3_moe", "qwen3_next", "qwen3_5_moe", "deepseek_v2", "deepseek_v3", "gpt_oss", "llama4"];
    for model in models {
        sweep(&format!("tiny/{model}"), 128, 1..=4, ExpertSplit::Columns, |_, _, _| {});
        sweep(&format!("tiny/{model}"), 128, 2..=4, ExpertSplit::Parallel, |_, _, _| {});
    }
}

#[test]
fn released_models() {
    for (model, widths) in [
        ("mixtral-8x7b-v0.1", 2..=8),
        ("qwen3-30b-a3b", 2..=4),
        ("gpt-oss-20b", 1..=8),
        ("qwen3.5-35b-a3b", 2..=8),
        ("deepseek-v2-lite", 1..=8),
        ("llama-4-scout-17b-16e-instruct", 8..=8),
        ("mixtral-8x22b-v0.1", 8..=8),
        ("qwen3-next-80b-a3b-thinking", 4..=4),
        ("qwen3-235b-a22b", 16..=64),
        ("glm-4.5", 16..=32),
        ("deepseek-v3", 32..=64),
        ("kimi-k2-instruct", 64..=64),
    ] {
        sweep(&format!("configs/{model}"), 4096, widths, ExpertSplit::Columns, |form, tp, sections| {
            for (name, interval, bound) in sections {
                println!("{model}, {form:?}, tp {tp}, {name}: {:.3}", *interval as f64 / *bound as f64);
                // A step of one token waits for the memory, but for the way through the router.
                let decodes = matches!(form, Form::Decode { .. }) && name.ends_with("experts");
                assert!(!decodes || 8 * (interval - bound) <= *bound, "{model}, {form:?}, tp {tp}, {name}");
            }
        });
    }
}

/// S8: whole experts over the chips, as many as a chip's memories hold.
#[test]
fn released_models_with_whole_experts() {
    for (model, widths) in [
        ("mixtral-8x7b-v0.1", 4..=8),
        ("qwen3-30b-a3b", 4..=16),
        ("gpt-oss-20b", 2..=8),
        ("deepseek-v3", 32..=32),
        ("minimax-m2.7", 16..=16),
    ] {
        sweep(&format!("configs/{model}"), 4096, widths, ExpertSplit::Parallel, |_, _, _| {});
    }
}
