//! A tiny Llama's bundles, embedded while this crate was compiled, executed on the host with a checkpoint's weights.

mod reference;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use logos_rdu::compiler::checkpoint::{Checkpoint, ModelWeights};
use logos_rdu::compiler::simulate::machine::Machine;
use logos_rdu::compiler::{Refusal, config};

logos_rdu::logos_model! {
    /// A Llama of three layers and random weights, over two chips.
    pub mod tiny {
        model: config "models/tiny-llama/config.json",
        chip: SN50,
        deployments: {
            DECODE:  decode  { tp: 2, ctx: 64, batch: 1 },
            PREFILL: prefill { tp: 2, ctx: 64, chunk: 5 },
        },
    }
}

// A sequence goes from one to the other with its carried state.
const _: () = assert!(tiny::PREFILL.ctx() == tiny::DECODE.ctx() && tiny::PREFILL.chips() == tiny::DECODE.chips());

const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/models/tiny-llama");
const CONFIG: &[u8] = include_bytes!("../models/tiny-llama/config.json");
const PROMPT: [u32; 12] = [121, 81, 88, 115, 115, 81, 107, 31, 9, 40, 88, 112];
/// What transformers generates after it, in float32.
const EXPECTED: [u32; 16] = [85, 8, 45, 71, 70, 19, 21, 108, 126, 48, 69, 80, 15, 100, 33, 23];

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("run-on-host: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether all ways to run give the same tokens.
fn run() -> Result<bool, Box<dyn Error>> {
    let spec = config::read(CONFIG).map_err(all)?;
    let checkpoint = Checkpoint::open(Path::new(MODEL)).map_err(|refusal| refusal.to_string())?;
    // Held to the model: every tensor it binds is there, in its shape, and every value is a number.
    let weights = checkpoint.weights(&spec).map_err(all)?;
    weights.check_values().map_err(all)?;

    println!("prompt     {PROMPT:?}");
    let executed = execute(&weights)?;
    println!("executed   {executed:?}");
    let evaluated = reference::evaluate(&spec, &weights, &PROMPT, EXPECTED.len())?;
    println!("evaluated  {evaluated:?}");
    let same = executed == EXPECTED && evaluated == EXPECTED;
    println!("{} what transformers generates", if same { "both are" } else { "NOT BOTH ARE" });
    Ok(same)
}

/// Prefills in chunks, reads the rest of the prompt token by token, and generates.
fn execute(weights: &ModelWeights<'_>) -> Result<Vec<u32>, Box<dyn Error>> {
    let mut prefill = Machine::new(&tiny::PREFILL.bundle(), weights)?;
    let mut decode = Machine::new(&tiny::DECODE.bundle(), weights)?;
    let chunks = PROMPT.chunks_exact(tiny::PREFILL.tokens());
    let rest = chunks.remainder();
    let mut last = Vec::new();
    for chunk in chunks {
        last = prefill.step(chunk)?.tokens;
    }
    decode.adopt(0, &prefill, 0)?;
    for &token in rest {
        last = decode.step(&[token])?.tokens;
    }
    let mut tokens = last;
    while tokens.len() < EXPECTED.len() {
        let next = decode.step(&tokens[tokens.len() - 1..])?.tokens;
        tokens.extend(next);
    }
    Ok(tokens)
}

fn all(refusals: Vec<Refusal>) -> String {
    refusals.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_embedded_bundles_give_the_references_tokens() {
        assert!(super::run().expect("it runs"));
    }
}
