//! Llama-3.1-8B, compiled by this crate's build script: the same constants as `logos_model!` gives.

use std::process::ExitCode;

use logos_rdu::{Deployment, check};

logos_rdu::include_model!("llama");

// A step's tokens in an array of the deployment's own size: its accessors are constant functions.
static NEXT_TOKENS: [u32; llama::DECODE.sequences()] = [0; llama::DECODE.sequences()];

// Prefill continues into decode: same chips, same context, same layers.
const _: () = {
    assert!(llama::PREFILL.chips() == llama::DECODE.chips());
    assert!(llama::PREFILL.ctx() == llama::DECODE.ctx());
    assert!(llama::PREFILL.layers() == llama::DECODE.layers());
};

fn main() -> ExitCode {
    let mut all_hold = true;
    for (name, deployment) in [("DECODE", llama::DECODE), ("PREFILL", llama::PREFILL)] {
        all_hold &= print(name, &deployment);
    }
    println!("a decode step takes {} tokens", NEXT_TOKENS.len());
    slices(&llama::DECODE);
    if all_hold { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Prints a deployment; whether its certificate holds.
fn print(name: &str, deployment: &Deployment) -> bool {
    let (bundle, fit) = (deployment.bundle(), deployment.fit());
    println!("{name}: {bundle}");
    println!(
        "  {} B weights, {} B state, {} B headroom a chip",
        fit.weight_bytes, fit.state_bytes, fit.hbm_headroom_bytes
    );
    for program in bundle.programs() {
        println!("  {program}");
        for section in program.sections() {
            println!("    {section}");
        }
    }
    let verdicts = check::all(deployment.words());
    match verdicts.first_fault() {
        None if verdicts.hold() => println!("  certificate: holds\n"),
        None => println!("  certificate: not checked to the end\n"),
        Some(fault) => println!("  certificate: rule {} fails: {fault:?}\n", fault.rule),
    }
    verdicts.hold()
}

/// Prints which rows of which tensors each chip loads for the first layer.
fn slices(deployment: &Deployment) {
    let Some(program) = deployment.bundle().layer(0).and_then(|layer| layer.program()) else { return };
    for binding in program.bindings() {
        let Some(tensor) = binding.tensor(0) else { continue };
        println!("{tensor}");
        for chip in 0..deployment.chips() as u32 {
            let rows: Vec<String> = binding.axis0(chip).map(|run| run.to_string()).collect();
            println!("  chip {chip}: rows {}, columns {}", rows.join(", "), binding.axis1(chip));
        }
    }
}
