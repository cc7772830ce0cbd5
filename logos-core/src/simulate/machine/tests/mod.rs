//! What the compiler makes of models drawn at random computes what the evaluator computes.

mod padded;
mod random;

use std::fmt;

use logos_bundle::view::Bundle;

use super::{Machine, MachineError, Order};
use crate::compile::{Ready, compile_deployment};
use crate::kinds;
use crate::reference::{Matrix, Output, RopeLength, Session, Shards};
use crate::shard;
use crate::spec::ModelSpec;
use crate::{DeploymentRequest, ExpertSplit, Form, Request, Vocabulary, Weights, chip};
use random::{Random, Tensors};

/// Models drawn.
const MODELS: u64 = 24;
/// Largest difference of a logit to the largest logit; sums are taken in other orders.
const TOLERANCE: f32 = 1e-4;

/// A model over a number of chips.
#[derive(Clone, Copy)]
struct Case<'a> {
    seed: u64,
    spec: &'a ModelSpec,
    tensors: &'a Tensors,
    tp: u32,
    chip: &'static str,
    weights: Weights,
}

impl Case<'_> {
    /// A deployment evaluated, and executed from its bundle. Compiling holds the bundle to its certificate.
    fn both(&self, form: Form, order: Order) -> Result<(Session, Machine), String> {
        let Case { seed, spec, tensors, tp, chip, weights } = self;
        let wrong = |what: &dyn fmt::Display| format!("model {seed} over {tp} {chip}, {form:?}: {what}");
        let experts = if spec.has_experts() { spec.expert_split } else { ExpertSplit::Columns };
        let deployment = DeploymentRequest { experts, ..DeploymentRequest::new("D", form, Some(*tp)) };
        let deployments = std::slice::from_ref(&deployment);
        let request = Request {
            model: "m",
            config: &[],
            chip: (*chip).into(),
            weights: *weights,
            checkpoint: None,
            vocabulary: spec.vocabulary,
            deployments,
        };
        let chip = chip::lookup(chip).unwrap();
        let Ready { words, .. } = compile_deployment(&request, spec, chip, &deployment)
            .map_err(|refusals| wrong(&refusals.iter().map(ToString::to_string).collect::<String>()))?;
        let bundle = Bundle::read(&words).unwrap();
        let mut machine = Machine::new(&bundle, *tensors).map_err(|error| wrong(&error))?;
        machine.set_order(order);
        let programs = kinds::programs(spec, form, *tp, *weights).unwrap();
        let mut session = Session::new(form, &programs, &mut Shards::new(*tensors)).unwrap();
        let length = RopeLength::Fixed(CTX);
        machine.set_rope_length(length);
        session.set_rope_length(length);
        Ok((session, machine))
    }

    fn same(&self, what: &str, expected: &Output, found: Result<Output, MachineError>) -> Result<(), String> {
        let Case { seed, tp, .. } = self;
        let found = found.map_err(|error| format!("model {seed} over {tp}, {what}: {error}"))?;
        let mut layers = expected.hidden.iter().zip(&found.hidden);
        let layer = layers.position(|(a, b)| difference(a, b) > 10.0 * TOLERANCE);
        let logits = difference(&expected.logits, &found.logits);
        // Of large logits the same digits.
        let largest = expected.logits.data().iter().fold(1.0f32, |largest, logit| largest.max(logit.abs()));
        if logits <= TOLERANCE * largest {
            return Ok(());
        }
        Err(format!(
            "model {seed} over {tp}, {what}: logits up to {largest} differ by {logits}, the stream first at {layer:?}"
        ))
    }
}

/// Positions of carried state: more than any test reaches, and more than a window.
const CTX: u32 = 23;

fn difference(a: &Matrix, b: &Matrix) -> f32 {
    assert_eq!((a.rows(), a.cols()), (b.rows(), b.cols()));
    // No number is as far off as can be.
    let apart = |(a, b): (&f32, &f32)| if (a - b).is_nan() { f32::INFINITY } else { (a - b).abs() };
    a.data().iter().zip(b.data()).map(apart).fold(0.0, f32::max)
}

fn tokens(random: &mut Random, count: u32, vocab: u32) -> Vec<u32> {
    (0..count).map(|_| random.below(vocab)).collect()
}

fn decode(case: &Case<'_>, random: &mut Random, order: Order) -> Result<(), String> {
    let batch = 1 + random.below(3);
    let (mut session, mut machine) = case.both(Form::Decode { ctx: CTX, batch }, order)?;
    for step in 0..5 {
        let tokens = tokens(random, batch, case.spec.vocab);
        let expected = session.step(&tokens).unwrap();
        case.same(&format!("decode step {step} of {batch}, {order:?}"), &expected, machine.step(&tokens))?;
    }
    Ok(())
}

/// Two chunks of each sequence, then two tokens more. Of several sequences the last starts afresh after the first chunk, at another position
/// than the others.
fn prefill(case: &Case<'_>, random: &mut Random, order: Order) -> Result<(), String> {
    let (chunk, batch) = (2 + random.below(8), 1 + random.below(3));
    let (mut session, mut machine) = case.both(Form::Prefill { ctx: CTX, chunk, batch }, order)?;
    for step in 0..2 {
        let tokens = tokens(random, batch * chunk, case.spec.vocab);
        let expected = session.step(&tokens).unwrap();
        case.same(&format!("chunk {step} of {chunk} of {batch}, {order:?}"), &expected, machine.step(&tokens))?;
        if step == 0 && batch > 1 {
            session.restart(batch as usize - 1).unwrap();
            machine.restart(batch as usize - 1).unwrap();
        }
    }
    let (mut after, mut machine_after) = case.both(Form::Decode { ctx: CTX, batch }, order)?;
    for sequence in 0..batch as usize {
        after.adopt(sequence, &session, sequence).unwrap();
        machine_after.adopt(sequence, &machine, sequence).unwrap();
    }
    for step in 0..2 {
        let tokens = tokens(random, batch, case.spec.vocab);
        let expected = after.step(&tokens).unwrap();
        let what = format!("step {step} after chunks of {chunk} of {batch}, {order:?}");
        case.same(&what, &expected, machine_after.step(&tokens))?;
    }
    Ok(())
}

fn forward(case: &Case<'_>, random: &mut Random, order: Order) -> Result<(), String> {
    let rows = 1 + random.below(13);
    let (mut session, mut machine) = case.both(Form::Forward { rows }, order)?;
    let tokens = tokens(random, rows, case.spec.vocab);
    let hidden = crate::reference::embed(case.spec, &Shards::new(case.tensors), &tokens).unwrap();
    let expected = session.forward(hidden.clone()).unwrap();
    case.same(&format!("forward of {rows}, {order:?}"), &expected, machine.forward(hidden))
}

fn models(seeds: std::ops::Range<u64>) {
    let first: u64 = std::env::var("FIRST").ok().and_then(|first| first.parse().ok()).unwrap_or(0);
    let seeds = seeds.start + first..seeds.end + first;
    let mut failed = Vec::new();
    for seed in seeds {
        let mut random = Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
        let spec = random::model(&mut random);
        let tensors = Tensors::new(&spec, &mut random);
        let before = failed.len();
        // Over four chips pairs hold the same key heads, where there are two.
        let most = random.of(&[2, 2, 4]);
        for tp in shard::widths(&spec, most).into_iter().filter(|tp| tp.is_power_of_two()) {
            // Of the first two no link is known.
            let chip =
                if tp > 1 { random.of(&["SN40L", "SN50"]) } else { random.of(&["SN10", "SN30", "SN40L", "SN50"]) };
            // Values are the same however they are stored; tiles are not.
            let weights = random.of(&[Weights::Config, Weights::Q8_0]);
            let case = Case { seed, spec: &spec, tensors: &tensors, tp, chip, weights };
            for form in [decode, prefill, forward] {
                let order = match random.below(2) {
                    0 => Order::Schedule,
                    _ => Order::SelfTimed { seed: random.next() },
                };
                failed.extend(form(&case, &mut random, order).err());
            }
        }
        if failed.len() > before && std::env::var_os("SHOW").is_some() {
            println!("model {seed}: {spec:#?}");
        }
    }
    assert!(
        failed.is_empty(),
        "{} fail; SHOW=1 shows the models, FIRST=1000 draws others\n{}",
        failed.len(),
        failed.join("\n")
    );
}

// In parts, which run beside one another.
#[test]
fn random_models_compute_what_the_evaluator_does_0() {
    models(0..MODELS / 2);
}

#[test]
fn random_models_compute_what_the_evaluator_does_1() {
    models(MODELS / 2..MODELS);
}
