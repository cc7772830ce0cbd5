//! What operations say of their multiply-accumulates is what the evaluator carries out, loop by loop.

use std::collections::{BTreeMap, BTreeSet};

use super::super::tally::counted;
use super::super::{Session, Shards, embed};
use super::source::Random;
use crate::fit::work;
use crate::kinds::{self, KindProgram};
use crate::language::ast::{Statement, StatementId};
use crate::request::{Form, Weights};
use crate::shard;
use crate::spec::ModelSpec;

const TOKENS: [u32; 12] = [5, 90, 17, 17, 3, 64, 5, 42, 8, 33, 71, 2];
const CTX: u32 = 16;

fn tiny(name: &str) -> ModelSpec {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/tiny");
    crate::config::read(&std::fs::read(format!("{folder}/{name}/config.json")).unwrap()).unwrap()
}

/// What the operations say of a step that ends at `ctx` positions, by operation, all chips together.
fn said(programs: &[KindProgram], ctx: u32) -> BTreeMap<&'static str, u64> {
    let mut said = BTreeMap::new();
    for kind in programs {
        let (program, layers) = (&kind.authored.program, (kind.layers.len() as u64).max(1));
        for (at, statement) in (0..).map(StatementId).zip(&program.statements) {
            let Statement::Let { op, .. } = statement else { continue };
            *said.entry(op.form().name).or_default() += layers * program.statement_macs(at, ctx).unwrap();
        }
    }
    said
}

/// Compares with what has just been counted on `tp` chips.
#[track_caller]
fn compare(what: &str, programs: &[KindProgram], (tp, ctx): (u32, u32)) {
    let counted = counted::take();
    if tp == 1 {
        assert_eq!(counted, said(programs, ctx), "{what}");
    }
    // Every chip carries out the same.
    let of_chips: u64 = programs
        .iter()
        .map(|kind| {
            let works = work::program(&kind.authored.program, ctx).unwrap();
            u64::from(tp) * (kind.layers.len() as u64).max(1) * works.a_chip.macs.total().unwrap()
        })
        .sum();
    assert_eq!(counted.values().sum::<u64>(), of_chips, "{what} over {tp} chips");
}

/// F4: at every position of a decode step, over the chunks of a prefill and over a forward pass.
fn counted_of(name: &str) {
    let spec = tiny(name);
    let decode = Form::Decode { ctx: CTX, batch: 2 };
    let of = |form, tp| kinds::programs(&spec, form, tp, Weights::Config).unwrap();
    let source = Random::of(&of(decode, 1));
    let mut shards = Shards::new(&source);
    for tp in shard::widths(&spec, 2) {
        counted::take();
        let programs = of(decode, tp);
        let mut session = Session::new(decode, &programs, &mut shards).unwrap();
        for (ctx, token) in (1..).zip(TOKENS) {
            session.step(&[token, token / 2]).unwrap();
            compare(&format!("{name}: decode to {ctx}"), &programs, (tp, ctx));
        }
        let prefill = Form::Prefill { ctx: CTX, chunk: 4, batch: 1 };
        let programs = of(prefill, tp);
        let mut session = Session::new(prefill, &programs, &mut shards).unwrap();
        for (ctx, chunk) in [4, 8, 12].into_iter().zip(TOKENS.chunks_exact(4)) {
            session.step(chunk).unwrap();
            compare(&format!("{name}: prefill to {ctx}"), &programs, (tp, ctx));
        }
        let together = Form::Prefill { ctx: CTX, chunk: 2, batch: 2 };
        let programs = of(together, tp);
        let mut session = Session::new(together, &programs, &mut shards).unwrap();
        for (ctx, chunk) in [2, 4, 6].into_iter().zip(TOKENS.chunks_exact(4)) {
            session.step(chunk).unwrap();
            compare(&format!("{name}: prefill of two to {ctx}"), &programs, (tp, ctx));
        }
        let forward = Form::Forward { rows: TOKENS.len() as u32 };
        let programs = of(forward, tp);
        let hidden = embed(&spec, &shards, &TOKENS).unwrap();
        counted::take();
        Session::new(forward, &programs, &mut shards).unwrap().forward(hidden).unwrap();
        compare(&format!("{name}: forward"), &programs, (tp, TOKENS.len() as u32));
    }
}

#[test]
fn dense_models() {
    ["llama", "cohere", "phi"].into_iter().for_each(counted_of);
}

#[test]
fn windows_and_chunks() {
    ["gemma3", "mistral", "llama4"].into_iter().for_each(counted_of);
}

#[test]
fn recurrences() {
    counted_of("qwen3_5");
}

#[test]
fn latent_attention() {
    counted_of("deepseek_v3");
}

#[test]
fn mixtures() {
    ["mixtral", "gpt_oss", "qwen3_5_moe"].into_iter().for_each(counted_of);
}

/// The models above meet every operation that says it accumulates.
#[test]
fn every_operation_that_accumulates_is_counted() {
    use crate::ops::operation::MacsOf;
    let models = ["llama", "gemma3", "llama4", "qwen3_5", "deepseek_v3", "mixtral", "gpt_oss"];
    let mut met = BTreeSet::new();
    for name in models {
        for kind in kinds::programs(&tiny(name), Form::Decode { ctx: CTX, batch: 1 }, 1, Weights::Config).unwrap() {
            for statement in &kind.authored.program.statements {
                let Statement::Let { op, .. } = statement else { continue };
                if op.macs_of() != MacsOf::Nothing {
                    met.insert(op.form().name);
                }
            }
        }
    }
    let all = crate::ops::FORMS.iter().map(|(_, of)| of([0; 6]));
    let all: BTreeSet<_> = all.filter(|op| op.macs_of() != MacsOf::Nothing).map(|op| op.form().name).collect();
    assert_eq!(met, all);
}
