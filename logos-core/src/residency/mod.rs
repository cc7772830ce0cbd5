//! Which memory of a chip every weight and every carried state lies in.
//!
//! In: the programs of a deployment, and what the chip's memories hold. Out: [`Homes`](crate::lower::Homes) for each program. Three rules, in order:
//!
//! 1. Weights and states lie in the main memory: HBM, or DDR where the chip has no HBM. All of them but experts are touched
//!    in every step, which DDR beside an HBM is too slow for.
//! 2. Where HBM does not hold them, weights of experts go to DDR: a step touches few of them. Those stay that save most of
//!    DDR's bytes a step, or, where DDR does not hold the others, those that are most bytes ([`offload`]).
//! 3. States that all fit SRAM, for every sequence and layer, beside the buffers of the largest section, stay there from step to
//!    step, if the step's programs then take fewer cycles ([`keep_states`]). A state that grows with the context
//!    counts at the deployment's own.
//!
//! Weights do not go to SRAM: one access of it is slower than a turn of HBM (`sram_ports` of the unit model).

mod choose;
mod experts;
mod states;

#[cfg(test)]
mod tests;

pub(crate) use choose::fullest;
pub use experts::offload;
pub use states::{Laid, footprint, keep_states};

use crate::kinds::KindProgram;
use crate::language::ast::{Axis, Value};
use crate::lower::{share, storage_bytes};

/// Bytes of a declared value on one chip: all its copies, in all layers that run the program.
fn bytes(kind: &KindProgram, value: &Value) -> u64 {
    let elements = share(value, Axis::Rows).saturating_mul(share(value, Axis::Columns));
    let one = storage_bytes(elements, value.storage);
    one.saturating_mul(share(value, Axis::Experts)).saturating_mul(layers(kind))
}

/// Layers that run a program; of one that is no layer's, 1: it runs once a step.
fn layers(kind: &KindProgram) -> u64 {
    kind.layers.len().max(1) as u64
}
