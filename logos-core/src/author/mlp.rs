//! The dense feed-forward block.

use crate::author::draft::{Draft, LinearNames};
use crate::language::ast::ValueId;
use crate::ops::{GeGlu, Gelu, Op, Silu, SwiGlu};
use crate::refusal::Refusal;
use crate::spec::{Activation, Mlp};

/// `d = down(act(gate x) * up x)`, or `down(act(up x))` without a gate: gate and up split by output features, down by input
/// features.
pub(super) fn author(draft: &mut Draft<'_>, mlp: &Mlp, x: ValueId) -> Result<ValueId, Refusal> {
    let columns = draft.columns();
    let gate = match &mlp.gate {
        None => None,
        Some(gate) => Some(draft.column_parallel(&LinearNames("Wgate", "bgate", "gate"), gate, columns, x)?),
    };
    let up = draft.column_parallel(&LinearNames("Wup", "bup", "up"), &mlp.up, columns, x)?;
    let act = match gate {
        Some(gate) => {
            let op: Op = match mlp.activation {
                Activation::Silu => SwiGlu.into(),
                Activation::Gelu => GeGlu { tanh: false }.into(),
                Activation::GeluTanh => GeGlu { tanh: true }.into(),
                Activation::SwigluClamped { .. } => return Err(clamped(draft)),
            };
            draft.bind("act", op, &[gate, up])?
        }
        None => {
            let op: Op = match mlp.activation {
                Activation::Silu => Silu.into(),
                Activation::Gelu => Gelu { tanh: false }.into(),
                Activation::GeluTanh => Gelu { tanh: true }.into(),
                Activation::SwigluClamped { .. } => return Err(clamped(draft)),
            };
            draft.bind("act", op, &[up])?
        }
    };
    draft.row_parallel(&LinearNames("Wdown", "bdown", "d"), &mlp.down, act)
}

fn clamped(draft: &Draft<'_>) -> Refusal {
    draft.refuse("a swiglu with clamps is no operation yet")
}
