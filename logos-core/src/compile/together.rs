//! What deployments of a request need of the same chips' SRAM, where they take turns on them.
//!
//! Each deployment is certified by itself, and what it keeps in SRAM stays there from one of its steps to the next. A prefill and a decode
//! continue each other's sequences: where the same chips run both, what one keeps may have to make way for the other's buffers. The main
//! memory has room for it then, since fit counts every state there, wherever it lies.

use crate::fit;
use crate::request::{DeploymentRequest, Form};
use crate::residency;

use super::Deployed;

/// What a deployment takes of a chip's SRAM.
#[derive(Clone, Copy, Debug)]
pub(super) struct OnChip {
    chips: u32,
    /// States that stay.
    kept: u64,
    /// What its largest section runs with beside them.
    runs_with: u64,
}

impl OnChip {
    pub(super) fn of(chips: u32, deployed: &Deployed) -> OnChip {
        let kept = deployed.fit.sram_state_bytes;
        let all = residency::footprint(&deployed.programs, &deployed.laid);
        OnChip { chips, kept, runs_with: all.saturating_sub(kept) }
    }
}

/// Of each deployment, what is said of the states that it keeps in SRAM: those that do not stay there while another form runs on the
/// same chips.
pub(super) fn notes(deployments: &[DeploymentRequest], on_chips: &[OnChip], sram: u64) -> Vec<Vec<String>> {
    let all = || deployments.iter().zip(on_chips);
    all()
        .map(|(deployment, keeps)| {
            let others = all().filter(|(other, runs)| takes_turns(deployment.form, other.form) && runs.chips == keeps.chips);
            let crowded = others.filter(|(_, runs)| keeps.kept > sram.saturating_sub(runs.runs_with));
            let said = |(other, runs): (&DeploymentRequest, &OnChip)| {
                let (kept, left) = (bytes(keeps.kept), bytes(sram.saturating_sub(runs.runs_with)));
                format!(
                    "{kept} of state a chip stay in SRAM from step to step; beside what `{}` runs with there are {left}: where the same \
                     chips run both, the state is saved to the main memory in between, which has room for it",
                    other.name
                )
            };
            if keeps.kept == 0 { Vec::new() } else { crowded.map(said).collect() }
        })
        .collect()
}

/// Whether steps of two forms continue each other's sequences.
fn takes_turns(one: Form, other: Form) -> bool {
    matches!((one, other), (Form::Decode { .. }, Form::Prefill { .. }) | (Form::Prefill { .. }, Form::Decode { .. }))
}

fn bytes(n: u64) -> String {
    fit::bytes(n.into())
}
