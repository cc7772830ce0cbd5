//! The dense feed-forward block.

use crate::author::addend::Addend;
use crate::author::draft::{Draft, LinearNames};
use crate::language::ast::ValueId;
use crate::ops::{GeGlu, Gelu, Op, Silu, SwiGlu};
use crate::refusal::Refusal;
use crate::spec::{Activation, Mlp};

/// The names of a block: of its projections and of what its activation gives.
pub(super) struct Names {
    pub(super) gate: LinearNames,
    pub(super) up: LinearNames,
    pub(super) act: &'static str,
    pub(super) down: LinearNames,
}

const DENSE: Names = Names {
    gate: LinearNames("Wgate", "bgate", "gate"),
    up: LinearNames("Wup", "bup", "up"),
    act: "act",
    down: LinearNames("Wdown", "bdown", "d"),
};

/// `d = down(act(gate x) * up x)`, or `down(act(up x))` without a gate: gate and up split by output features, down by input
/// features.
pub(super) fn author(draft: &mut Draft<'_>, mlp: &Mlp, x: ValueId) -> Result<Addend, Refusal> {
    let act = activated(draft, &DENSE, mlp, x)?;
    draft.row_parallel(&DENSE.down, &mlp.down, act)
}

/// What the down projection takes, split by columns.
pub(super) fn activated(draft: &mut Draft<'_>, names: &Names, mlp: &Mlp, x: ValueId) -> Result<ValueId, Refusal> {
    let columns = draft.columns();
    let gate = match &mlp.gate {
        None => None,
        Some(gate) => Some(draft.column_parallel(&names.gate, gate, columns, x)?),
    };
    let up = draft.column_parallel(&names.up, &mlp.up, columns, x)?;
    match gate {
        Some(gate) => {
            let op: Op = match mlp.activation {
                Activation::Silu => SwiGlu.into(),
                Activation::Gelu => GeGlu { tanh: false }.into(),
                Activation::GeluTanh => GeGlu { tanh: true }.into(),
                Activation::SwigluClamped { .. } => return Err(clamped(draft)),
            };
            draft.bind(names.act, op, &[gate, up])
        }
        None => {
            let op: Op = match mlp.activation {
                Activation::Silu => Silu.into(),
                Activation::Gelu => Gelu { tanh: false }.into(),
                Activation::GeluTanh => Gelu { tanh: true }.into(),
                Activation::SwigluClamped { .. } => return Err(clamped(draft)),
            };
            draft.bind(names.act, op, &[up])
        }
    }
}

fn clamped(draft: &Draft<'_>) -> Refusal {
    draft.refuse("a swiglu with clamps is no operation yet")
}
