//! Experts that the server keeps outside the device's memory, where that does not hold them beside a sequence.

use crate::fit::size::{add, bytes_of, mul, share, word};
use crate::fit::{TooLarge, beside};
use crate::language::ast::{Origin, Role, Statement};
use crate::ops::Op;

use super::super::subject::Subject;

/// Bytes of the unit that `--cpu-offload-gb` counts in.
///
/// Source: `vllm/config/offload.py`, `cpu_offload_gb`: GiB, of each device.
const UNIT: u128 = 1 << 30;

/// Experts that the server keeps outside the device's memory and reads from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Offload {
    /// Of each chip, in GiB: whole parameters leave until it is reached.
    pub gib: u32,
    /// The same in bytes.
    pub bytes: u64,
    /// All experts of a chip.
    pub experts_bytes: u64,
    /// All experts of a layer on a chip: the last parameter that leaves exceeds what was to leave by less.
    pub largest_parameter_bytes: u64,
    /// What the chip has for them beside its HBM.
    pub ddr_bytes: u64,
}

/// The fewest GiB of experts that leave room for `sequence` bytes beside the weights that stay, at most as many as DDR beside an HBM holds
/// with the parameter that the last of them may exceed them by; none where the model has no experts, or the chip no such DDR.
///
/// # Source
/// `vllm/model_executor/offloader/uva.py`: parameters named so leave one by one, as long as fewer bytes than that have left.
pub(super) fn offload(
    subject: &Subject<'_>,
    weights: u64,
    usable: u64,
    sequence: u64,
) -> Result<Option<Offload>, TooLarge> {
    let (experts_bytes, largest_parameter_bytes) = experts(subject)?;
    let ddr_bytes = beside(&subject.chip);
    let lacking = (u128::from(weights) + u128::from(sequence)).saturating_sub(u128::from(usable));
    let most = u128::from(experts_bytes.min(ddr_bytes.saturating_sub(largest_parameter_bytes))) / UNIT;
    let gib = lacking.div_ceil(UNIT).min(most);
    if gib == 0 {
        return Ok(None);
    }
    let bytes = word(gib * UNIT)?;
    let gib = u32::try_from(gib).map_err(|_| TooLarge)?;
    Ok(Some(Offload { gib, bytes, experts_bytes, largest_parameter_bytes, ddr_bytes }))
}

/// Bytes of a chip's experts: of all layers, and of the layer that has most.
fn experts(subject: &Subject<'_>) -> Result<(u64, u64), TooLarge> {
    let (mut all, mut largest) = (0u128, 0u128);
    for kind in subject.programs() {
        let program = &kind.authored.program;
        for statement in &program.statements {
            let Statement::Let { op: Op::ExpertsOp(_), operands, .. } = statement else { continue };
            let mut layer = 0u128;
            for &id in operands {
                let value = program.value(id);
                if value.origin == Origin::Declared(Role::Weight) {
                    layer = add(layer, bytes_of(share(value), value.storage)?)?;
                }
            }
            largest = largest.max(layer);
            all = add(all, mul(layer, kind.layers.len() as u128)?)?;
        }
    }
    Ok((word(all)?, word(largest)?))
}
