//! Mixtures of experts of released and tiny models, in every form and at every width that they fit: lowered, certified, checked.

use std::path::Path;

use logos_bundle::view::Bundle;
use logos_core::{DeploymentRequest, Form, Request, Weights, compile, config, shard};

const SN50: &str = "SN50";

fn config_of(folder: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures").join(folder).join("config.json");
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A deployment that checks: its kinds of layers, and of each section the interval over its bound, in thousandths.
fn deployed(folder: &str, form: Form, tp: u32, weights: Weights) -> Vec<(String, u64, u64)> {
    let config = config_of(folder);
    let deployment = DeploymentRequest { name: "D".to_owned(), form, tp };
    let request =
        Request { model: "m", config: &config, chip: SN50, weights, deployments: std::slice::from_ref(&deployment) };
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

fn forms(ctx: u32) -> [Form; 4] {
    [
        Form::Decode { ctx, batch: 1 },
        Form::Decode { ctx, batch: 8 },
        Form::Prefill { ctx, chunk: ctx.min(256) },
        Form::Forward { rows: 24 },
    ]
}

fn sweep(folder: &str, ctx: u32, widths: std::ops::RangeInclusive<u32>) {
    let spec = config::read(&config_of(folder)).unwrap();
    for tp in shard::widths(&spec, *widths.end()).into_iter().filter(|tp| tp.is_power_of_two() && widths.contains(tp)) {
        for form in forms(ctx) {
            deployed(folder, form, tp, Weights::Q8_0);
            let kinds = deployed(folder, form, tp, Weights::Config);
            if std::env::var_os("SHOW").is_some() {
                for (name, interval, bound) in &kinds {
                    println!(
                        "{folder} {form:?} tp {tp} {name}: {interval} {bound} {:.3}",
                        *interval as f64 / *bound as f64
                    );
                }
            }
        }
    }
}

#[test]
fn tiny_models() {
    let models =
        ["mixtral", "qwen3_moe", "qwen3_next", "qwen3_5_moe", "deepseek_v2", "deepseek_v3", "gpt_oss", "llama4"];
    for model in models {
        sweep(&format!("tiny/{model}"), 128, 1..=4);
    }
}

#[test]
fn released_models() {
    for (model, most) in [
        ("mixtral-8x7b-v0.1", 2..=8),
        ("qwen3-30b-a3b", 2..=4),
        ("gpt-oss-20b", 1..=8),
        ("qwen3.5-35b-a3b", 2..=8),
        ("deepseek-v2-lite", 1..=8),
        ("llama-4-scout-17b-16e-instruct", 8..=8),
        ("minimax-m2.7", 16..=16),
    ] {
        sweep(&format!("configs/{model}"), 4096, most);
    }
}
