//! Every program of real deployments: its schedule is followed firing by firing, and the net is run self-timed, also with
//! everything taking less than it may.

use super::*;
use crate::chip;
use crate::compile::lay;
use crate::kinds::{self, Role};
use crate::request::{DeploymentRequest, Form, Request, Weights};
use crate::spatial::{Binder, Primitive};
use crate::spec::Vocabulary;

/// Draws of a pace for each section.
const SEEDS: u64 = 3;

/// Lowers every program of a deployment on both chips and executes each of its sections; the checker accepts them too.
fn executes(slug: &str, tp: u32, weights: Weights, forms: &[Form]) {
    let file = format!("{}/../tests/fixtures/configs/{slug}/config.json", env!("CARGO_MANIFEST_DIR"));
    let config = std::fs::read(file).unwrap();
    let spec = crate::config::read(&config).unwrap();
    let named = |(form, i): (&Form, usize)| DeploymentRequest::new(format!("D{i}"), *form, Some(tp));
    let deployments: Vec<_> = forms.iter().zip(0..).map(named).collect();
    for chip in ["SN50", "SN40L"] {
        let request = Request {
            model: slug,
            config: &config,
            chip: chip.into(),
            weights,
            checkpoint: None,
            vocabulary: Vocabulary::Exact,
            deployments: &deployments,
        };
        crate::compile(&request).unwrap_or_else(|refusals| panic!("{slug} {chip}: {refusals:?}"));
        let chip = chip::lookup(chip).unwrap();
        let unit = chip.unit_at(tp);
        for &form in forms {
            let kinds = kinds::programs(&spec, form, tp, weights).unwrap();
            let layout =
                lay(&spec, chip, form, &kinds, 0).unwrap_or_else(|errors| panic!("{slug} {form:?}: {errors:?}"));
            for (kind, spatial) in kinds.iter().zip(&layout.laid.spatial) {
                let what = format!("{slug} {} {form:?} tp {tp}: {}", chip.name, kind.name);
                let duty = match kind.role {
                    Role::Layer => Duty::Layers(kind.layers.len() as u64),
                    Role::Embed | Role::Head => Duty::OnceAStep,
                };
                for (i, section) in spatial.sections.iter().enumerate() {
                    let net = Net::new(&unit, &kind.authored.program, spatial, section, duty);
                    let what = format!("{what}, section {i}");
                    execute(&what, &net);
                    // Ids of experts come late, so their weights cannot be read ahead; a tiny model's cycles are few.
                    let ahead = !section.stages.iter().any(|stage| stage.primitive == Primitive::Gather);
                    if matches!(form, Form::Decode { .. }) && ahead && section.bound > 10_000 {
                        assert!(section.is_tight(), "{what}: {} > B = {}", section.interval, section.bound);
                    }
                }
            }
        }
    }
}

fn execute(what: &str, net: &Net<'_>) {
    let section = net.section;
    let iterations = net.warm_up();
    net.follow(iterations).unwrap_or_else(|fault| panic!("{what}: {fault}"));
    let pace = Pace::of(net);
    let run = net.run(iterations, &pace).unwrap_or_else(|fault| panic!("{what}: {fault}"));
    net.follow_run(&run, &pace).unwrap_or_else(|fault| panic!("{what}, self-timed: {fault}"));
    assert_eq!(net.first_later(&run), None, "{what}: later than the schedule");
    assert!(run.interval() <= section.interval, "{what}: {} > H = {}", run.interval(), section.interval);
    if net.runs_once() {
        assert_eq!(section.binder, Binder::Span, "{what}");
    } else {
        // The schedule costs little of what the net could do; and what is proven is not undercut.
        assert!(run.interval() * 100 >= section.interval * 95, "{what}: {} of {}", run.interval(), section.interval);
        assert!(run.interval() >= section.bound, "{what}: {} < B = {}", run.interval(), section.bound);
    }
    println!(
        "{:.4} of H = {} (B = {}), {what}",
        run.interval() as f64 / section.interval as f64,
        section.interval,
        section.bound
    );
    for seed in 0..SEEDS {
        let pace = Pace::drawn(net, seed);
        let run = net.run(iterations, &pace).unwrap_or_else(|fault| panic!("{what}, seed {seed}: {fault}"));
        net.follow_run(&run, &pace).unwrap_or_else(|fault| panic!("{what}, seed {seed}: {fault}"));
        assert_eq!(net.first_later(&run), None, "{what}, seed {seed}: later than the schedule");
    }
}

const fn decode(ctx: u32, batch: u32) -> Form {
    Form::Decode { ctx, batch }
}

const fn together(chunk: u32, batch: u32) -> Form {
    Form::Prefill { ctx: 8192, chunk, batch }
}

const fn prefill(chunk: u32) -> Form {
    Form::Prefill { ctx: 8192, chunk, batch: 1 }
}

#[test]
fn qwen3_5_27b() {
    executes(
        "qwen3.5-27b",
        8,
        Weights::Config,
        &[decode(8192, 1), decode(8192, 13), prefill(64), prefill(512), together(128, 4)],
    );
    executes("qwen3.5-27b", 8, Weights::Q8_0, &[decode(8192, 13)]);
    executes("qwen3.5-27b", 1, Weights::Config, &[Form::Forward { rows: 100 }]);
}

#[test]
fn qwen3_5_27b_at_its_own_context() {
    executes("qwen3.5-27b", 8, Weights::Config, &[decode(262_144, 1), decode(262_144, 8)]);
}

#[test]
fn llama_3_1_8b() {
    executes("llama-3.1-8b", 8, Weights::Config, &[decode(8192, 1), decode(8192, 16), prefill(512)]);
    executes("llama-3.1-8b", 1, Weights::Config, &[Form::Forward { rows: 33 }, decode(4096, 1)]);
    executes("llama-3.1-8b", 4, Weights::Q8_0, &[decode(8192, 4), prefill(256), together(64, 4)]);
}

#[test]
fn mistral_7b() {
    executes("mistral-7b-v0.1", 4, Weights::Config, &[decode(8192, 2), prefill(128)]);
}

#[test]
fn qwen2_7b() {
    executes("qwen2-7b-instruct", 4, Weights::Config, &[decode(8192, 2), prefill(128)]);
}

#[test]
fn qwen3_8b() {
    executes("qwen3-8b", 8, Weights::Config, &[decode(8192, 5), prefill(128)]);
    executes("qwen3-8b", 2, Weights::Q8_0, &[decode(8192, 5), prefill(512)]);
}

#[test]
fn mixtral_8x7b() {
    executes("mixtral-8x7b-v0.1", 8, Weights::Config, &[decode(8192, 1), decode(8192, 8), prefill(128)]);
    executes("mixtral-8x7b-v0.1", 4, Weights::Q8_0, &[decode(8192, 3), prefill(512)]);
}

#[test]
fn qwen3_30b_a3b() {
    executes("qwen3-30b-a3b", 4, Weights::Config, &[decode(8192, 1), decode(8192, 16), prefill(512)]);
    executes("qwen3-30b-a3b", 2, Weights::Config, &[Form::Forward { rows: 40 }]);
}

#[test]
fn mixtures_of_many_sequences_begin_to_read_the_next_layers_cache() {
    executes("mixtral-8x7b-v0.1", 8, Weights::Config, &[decode(8192, 256)]);
    executes("qwen3.5-35b-a3b", 8, Weights::Config, &[decode(8192, 256)]);
}

#[test]
fn gpt_oss_20b() {
    executes("gpt-oss-20b", 2, Weights::Config, &[decode(8192, 2), prefill(256)]);
    executes("gpt-oss-20b", 8, Weights::Config, &[decode(8192, 8), decode(8192, 64)]);
}

#[test]
fn few_layers_whose_states_come_back() {
    for slug in ["../tiny/qwen3_5", "../tiny/llama"] {
        let prefill = |chunk| Form::Prefill { ctx: 64, chunk, batch: 1 };
        let together = Form::Prefill { ctx: 64, chunk: 13, batch: 3 };
        executes(slug, 1, Weights::Config, &[decode(64, 1), decode(64, 3), prefill(8), prefill(40), together]);
    }
}
