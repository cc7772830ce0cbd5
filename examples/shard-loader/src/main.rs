//! Loads each chip of a deployment from a checkpoint, accounts for the bytes, and compares the tokens with one chip's.

mod own;
mod report;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use logos_core::checkpoint::Checkpoint;
use logos_core::checkpoint::load::{ChipStore, Files, LoadError, Loader};
use logos_core::simulate::machine::{Machine, MachineError};
use logos_rdu::Deployment;

logos_rdu::logos_model! {
    /// A tiny Llama.
    pub mod tiny {
        model: config "../../tests/fixtures/tiny/llama/config.json",
        chip: SN50,
        weights: checkpoint "checkpoint.json",
        deployments: {
            ONE: decode { tp: 1, ctx: 64 },
            FOUR: decode { tp: 4, ctx: 64 },
        },
    }
}

const PROMPT: [u32; 5] = [1, 17, 42, 99, 3];
/// Tokens generated after the prompt.
const STEPS: usize = 24;

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether all bytes are accounted for, and the tokens are the same.
fn run() -> Result<bool, Box<dyn Error>> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/tiny/llama"));
    let checkpoint = Checkpoint::open(folder).map_err(|refusal| refusal.to_string())?;
    let files = Files::open(folder, checkpoint.headers())?;

    let loader = Loader::new(tiny::FOUR.bundle(), &checkpoint);
    let account = loader.account()?;
    report::account(&account, &checkpoint);
    let four = load(&tiny::FOUR, &checkpoint, &files)?;
    for (chip, loaded) in four.0.iter().enumerate() {
        println!("chip {chip}: {} bytes in {} reads", loaded.bytes(), loaded.reads());
    }
    let fetched: u64 = four.0.iter().map(|chip| chip.bytes()).sum();
    println!("together {fetched} bytes, {} by the account\n", account.bytes);
    report::loads(&loader, 3)?;
    let own = own::read(&tiny::FOUR, &folder.join("model.safetensors"), 3)?;
    let bytes: usize = own.iter().map(|slice| slice.bytes.len()).sum();
    println!(
        "without the compiler chip 3 reads {bytes} bytes for {} weights, of which the first is {}",
        own.len(),
        own[0].value
    );
    let mut same = true;
    for (own, load) in own.iter().zip(loader.chip(3)?) {
        let load = load?;
        same &= own.value == load.value && own.bytes == report::bytes(&load, &checkpoint);
    }
    println!("they are {}\n", if same { "the same bytes" } else { "others" });

    let one = generate(&tiny::ONE, &load(&tiny::ONE, &checkpoint, &files)?)?;
    let four = generate(&tiny::FOUR, &four)?;
    println!("one chip:   {one:?}\nfour chips: {four:?}");
    Ok(account.holds() && fetched == account.bytes && same && one == four)
}

/// What every chip of a deployment loads, read from the files at its positions.
fn load(deployment: &Deployment, checkpoint: &Checkpoint, files: &Files) -> Result<ChipStore, LoadError> {
    let loader = Loader::new(deployment.bundle(), checkpoint);
    (0..deployment.chips() as u32).map(|chip| loader.fetch(chip, files)).collect::<Result<_, _>>().map(ChipStore)
}

/// The most likely tokens after the prompt.
fn generate(deployment: &Deployment, store: &ChipStore) -> Result<Vec<u32>, MachineError> {
    let mut machine = Machine::new(&deployment.bundle(), store)?;
    let mut next = Vec::new();
    for token in PROMPT {
        next = machine.step(&[token])?.tokens;
    }
    let mut tokens = next.clone();
    for _ in 1..STEPS {
        next = machine.step(&next)?.tokens;
        tokens.extend(&next);
    }
    Ok(tokens)
}

#[cfg(test)]
mod tests {
    #[test]
    fn bytes_are_accounted_for_and_tokens_are_one_chips() {
        assert!(super::run().is_ok_and(|same| same));
    }
}
