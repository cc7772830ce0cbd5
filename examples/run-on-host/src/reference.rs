//! The same model on one chip, evaluated statement by statement: no tiles, no buffers, no schedule.

use std::error::Error;

use logos_rdu::compiler::checkpoint::ModelWeights;
use logos_rdu::compiler::reference::{Session, Shards};
use logos_rdu::compiler::spec::ModelSpec;
use logos_rdu::compiler::{Form, Weights, kinds};

/// The `count` tokens that follow a prompt.
pub(crate) fn evaluate(
    spec: &ModelSpec,
    weights: &ModelWeights<'_>,
    prompt: &[u32],
    count: usize,
) -> Result<Vec<u32>, Box<dyn Error>> {
    let form = Form::Decode { ctx: 64, batch: 1 };
    let programs = kinds::programs(spec, form, 1, Weights::Config).map_err(super::all)?;
    let mut session = Session::new(form, &programs, &mut Shards::new(weights))?;
    let mut tokens = Vec::new();
    for &token in prompt {
        tokens = session.step(&[token])?.tokens;
    }
    while tokens.len() < count {
        let next = session.step(&tokens[tokens.len() - 1..])?.tokens;
        tokens.extend(next);
    }
    Ok(tokens)
}
