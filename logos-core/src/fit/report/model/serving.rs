//! How the chips of a domain serve the model at the context.

use super::Quantities;
use crate::Refusal;
use crate::compile;
use crate::fit::live::{self, Live};
use crate::fit::serving::{Domain, PlanError};
use crate::fit::{Need, TooLarge};
use crate::kinds;
use crate::request::DeploymentRequest;
use crate::residency::Laid;
use crate::spatial::Section;

/// A serving plan: replicas of the widest width that the model admits in a domain.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ServingRow {
    /// `node`, `rack`, `scale-up`.
    pub domain: &'static str,
    /// Its chips.
    pub chips: u32,
    /// Positions of each sequence.
    pub ctx: u32,
    /// Why there is no plan; the figures below are then absent.
    pub error: Option<String>,
    /// Chips of a replica.
    pub tensor_parallel: Option<u32>,
    /// Replicas.
    pub data_parallel: Option<u32>,
    /// Chips that no replica uses.
    pub idle_chips: Option<u32>,
    /// The memory that weights and states live in.
    pub hbm_bytes_per_chip: Option<u64>,
    /// Weights.
    pub weights_per_chip_bytes: Option<u64>,
    /// Carried state of one sequence.
    pub sequence_bytes_per_chip: Option<u64>,
    /// Most sequences of a replica.
    pub max_sequences_per_replica: Option<u32>,
    /// Most sequences of all replicas.
    pub max_sequences: Option<u64>,
    /// Largest context of one sequence.
    pub max_ctx: Option<u32>,
    /// On-chip memory.
    pub sram_bytes_per_chip: u64,
    /// The most bytes of activations of a step of one sequence that are live at once on a chip.
    pub activation_bytes_per_sequence: Option<u64>,
    /// What the buffers of the largest section of a step of one sequence take of the on-chip memory; absent where that step has no
    /// certified schedule.
    pub buffer_bytes_per_chip: Option<u64>,
    /// Sequences whose activations, memories and rings the on-chip memory would hold beside these buffers, a replica's at most.
    pub sequences_resident_in_sram: Option<u64>,
}

pub(super) fn rows(quantities: &Quantities<'_>) -> Result<Vec<ServingRow>, Refusal> {
    let subject = quantities.subject;
    let chip = subject.chip.as_ref();
    let mut rows: Vec<ServingRow> = Vec::new();
    let mut known: Vec<(u32, OnChip)> = Vec::new();
    for domain in [Domain::Node, Domain::Rack, Domain::ScaleUp] {
        let Some(chips) = domain.chips(chip) else { continue };
        if rows.last().is_some_and(|row| row.chips >= chips) {
            continue;
        }
        let sram = chip.unit().sram_bytes;
        let mut row = ServingRow {
            domain: domain.as_str(),
            chips,
            ctx: subject.ctx,
            error: None,
            tensor_parallel: None,
            data_parallel: None,
            idle_chips: None,
            hbm_bytes_per_chip: None,
            weights_per_chip_bytes: None,
            sequence_bytes_per_chip: None,
            max_sequences_per_replica: None,
            max_sequences: None,
            max_ctx: None,
            sram_bytes_per_chip: sram,
            activation_bytes_per_sequence: None,
            buffer_bytes_per_chip: None,
            sequences_resident_in_sram: None,
        };
        match subject.demand().plan(domain) {
            Err(PlanError::TooLarge(error)) => return Err(error.into()),
            Err(error @ (PlanError::Weights { .. } | PlanError::Sequence { .. })) => {
                row.error = Some(error.to_string())
            }
            Ok(plan) => {
                let OnChip { activations, buffers } = match known.iter().find(|(tp, _)| *tp == plan.tensor_parallel) {
                    Some((_, on_chip)) => *on_chip,
                    None => {
                        let on_chip = on_chip(quantities, plan.tensor_parallel)?;
                        known.push((plan.tensor_parallel, on_chip));
                        on_chip
                    }
                };
                let resident = activations.saturating_add(plan.needs.recurrent_bytes);
                let most = u64::from(plan.max_sequences_per_replica);
                let room = buffers.map(|buffers| sram.saturating_sub(buffers));
                row.tensor_parallel = Some(plan.tensor_parallel);
                row.data_parallel = Some(plan.data_parallel);
                row.idle_chips = Some(plan.idle_chips);
                row.hbm_bytes_per_chip = Some(plan.needs.memory_bytes);
                row.weights_per_chip_bytes = Some(plan.needs.weight_bytes);
                row.sequence_bytes_per_chip = Some(plan.sequence_bytes);
                row.max_sequences_per_replica = Some(plan.max_sequences_per_replica);
                row.max_sequences = Some(plan.max_sequences);
                row.max_ctx = Some(plan.max_ctx);
                row.activation_bytes_per_sequence = Some(activations);
                row.buffer_bytes_per_chip = buffers;
                row.sequences_resident_in_sram = room.map(|room| room.checked_div(resident).unwrap_or(most).min(most));
            }
        }
        rows.push(row);
    }
    Ok(rows)
}

/// What a step of one sequence takes of the on-chip memory.
#[derive(Clone, Copy)]
struct OnChip {
    /// The largest live set.
    activations: u64,
    /// Buffers of the largest section.
    buffers: Option<u64>,
}

/// Of a chip of a width: from the deployment's own programs where they are such.
fn on_chip(quantities: &Quantities<'_>, tp: u32) -> Result<OnChip, Refusal> {
    let subject = quantities.subject;
    let most = |live: &[Live]| live.iter().map(|live| live.a_chip.bytes).max().unwrap_or(0);
    if tp == subject.tp && subject.sequences() == 1 {
        return Ok(OnChip { activations: most(&quantities.live), buffers: subject.reserve_bytes() });
    }
    let form = subject.asked.step.of_one().form(subject.ctx);
    // The width is admitted: what is refused is a fault that the deployment's own programs would have shown.
    let programs = kinds::programs(&subject.spec, form, tp, subject.asked.weights)
        .map_err(|mut refusals| refusals.swap_remove(0))?;
    let live = programs.iter().map(|kind| live::live(&kind.authored.program)).collect::<Result<Vec<_>, TooLarge>>()?;
    let deployment =
        DeploymentRequest { experts: subject.asked.experts, ..DeploymentRequest::new("STEP", form, Some(tp)) };
    let laid = Need::of(&subject.spec, &subject.chip, &deployment, subject.asked.weights)
        .ok()
        .and_then(|need| compile::lay(&subject.spec, &subject.chip, form, &programs, need.excess()).ok());
    Ok(OnChip { activations: most(&live), buffers: laid.map(|layout| buffers(&layout.laid)) })
}

/// Bytes of the buffers of the largest section.
pub(in super::super) fn buffers(laid: &Laid) -> u64 {
    laid.spatial.iter().flat_map(|program| &program.sections).map(Section::buffer_bytes).max().unwrap_or(0)
}
