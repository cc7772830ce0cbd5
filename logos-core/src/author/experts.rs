//! Mixtures of experts: a router, the experts it chooses, and one that every token passes.

use crate::author::addend::Addend;
use crate::author::draft::{Draft, LinearNames};
use crate::author::mlp;
use crate::language::ast::{Sharding, ValueId};
use crate::ops::{ExpertsOp, Plus, RouterOp, RowScale, Sigmoid};
use crate::refusal::Refusal;
use crate::spec::{ExpertSplit, Experts, Linear, Mlp, Router};

const SHARED: mlp::Names = mlp::Names {
    gate: LinearNames("Wsgate", "bsgate", "sgate"),
    up: LinearNames("Wsup", "bsup", "sup"),
    act: "sact",
    down: LinearNames("Wsdown", "bsdown", "sd"),
};

/// `d`: the sum over the chosen experts of `score * expert(x)`, plus the shared expert's.
///
/// Every chip has a part of every expert, cut as a dense block is, or whole experts of its own; the shared expert is cut in either case.
/// What a chip has of routed and shared experts is added up first, so that one sum over the chips serves both.
pub(super) fn author(draft: &mut Draft<'_>, experts: &Experts, x: ValueId) -> Result<Addend, Refusal> {
    let r = route(draft, &experts.router, x)?;
    let shared = match &experts.shared {
        None if experts.shared_gate.is_some() => {
            return Err(draft.refuse("a gate of a shared expert that is not there"));
        }
        None => None,
        Some(shared) => Some(through_shared(draft, shared, experts.shared_gate.as_ref(), x)?),
    };
    let all = if draft.chips() > 1 { "dm" } else { "d" };
    let routed = through_routed(draft, experts, if shared.is_some() { "e" } else { all }, (x, r))?;
    let part = match shared {
        None => routed,
        Some(shared) => draft.bind(all, Plus, &[routed, shared])?,
    };
    Ok(Addend { name: "d", part, bias: None })
}

/// The experts of each row and their scores; every chip finds the same ones.
fn route(draft: &mut Draft<'_>, router: &Router, x: ValueId) -> Result<ValueId, Refusal> {
    let logits = draft.choosing(&LinearNames("Wr", "br", "rl"), &router.linear, x)?;
    let op = RouterOp {
        top: router.top_k,
        score: router.score,
        groups: Some(router.groups).filter(|&groups| groups != (1, 1)),
        two_best: router.group_sum_of_two,
        normalised: router.normalised,
        scale: router.scale,
    };
    match &router.correction {
        None => draft.bind("r", op, &[logits]),
        Some(correction) => {
            let correction = draft.vector("cr", correction, router.linear.out, Sharding::Whole)?;
            draft.bind("r", op, &[logits, correction])
        }
    }
}

/// What the chosen experts make of the rows: partial over several chips, which each have a part of every expert or whole
/// experts of their own.
fn through_routed(
    draft: &mut Draft<'_>,
    experts: &Experts,
    result: &str,
    (x, r): (ValueId, ValueId),
) -> Result<ValueId, Refusal> {
    let Mlp { width: _, gate, up, down, activation } = &experts.expert;
    let Some(gate) = gate else { return Err(draft.refuse("an expert without a gate is no operation yet")) };
    let (columns, rows, whole) = match draft.spec.expert_split {
        ExpertSplit::Columns => (draft.columns(), draft.split_rows(), Sharding::Whole),
        ExpertSplit::Parallel => (draft.split_experts(), draft.split_experts(), draft.split_experts()),
    };
    let weights = [
        draft.bank("Wge", experts, &gate.weight, (gate.input, gate.out), columns)?,
        draft.bank("Wue", experts, &up.weight, (up.input, up.out), columns)?,
        draft.bank("Wde", experts, &down.weight, (down.input, down.out), rows)?,
    ];
    let mut operands = vec![x, r];
    operands.extend(weights);
    match (&gate.bias, &up.bias, &down.bias) {
        (None, None, None) => {}
        (Some(of_gate), Some(of_up), Some(of_down)) => operands.extend([
            draft.bank_bias("bge", experts, of_gate, gate.out, columns)?,
            draft.bank_bias("bue", experts, of_up, up.out, columns)?,
            draft.bank_bias("bde", experts, of_down, down.out, whole)?,
        ]),
        (_, _, _) => {
            return Err(draft.refuse("experts of which only some projections have a bias are no operation yet"));
        }
    }
    let op = ExpertsOp {
        count: experts.count,
        top: experts.router.top_k,
        activation: *activation,
        on_input: experts.router.on_input,
    };
    draft.bind(result, op, &operands)
}

/// What the shared expert makes of the rows, through its gate where it has one: partial over several chips.
fn through_shared(draft: &mut Draft<'_>, shared: &Mlp, gate: Option<&Linear>, x: ValueId) -> Result<ValueId, Refusal> {
    if shared.down.bias.is_some() {
        return Err(draft.refuse("a shared expert with a bias on its down projection is no operation yet"));
    }
    let act = mlp::activated(draft, &SHARED, shared, x)?;
    let LinearNames(weight, _, result) = SHARED.down;
    let y = draft.row_product(weight, &shared.down, result, act)?;
    let Some(gate) = gate else { return Ok(y) };
    if gate.out != 1 {
        return Err(draft.refuse(format!("a gate of {} columns for a shared expert, which takes one", gate.out)));
    }
    let gate = draft.choosing(&LinearNames("Wsg", "bsg", "sgl"), gate, x)?;
    let gate = draft.bind("sg", Sigmoid, &[gate])?;
    draft.bind("sy", RowScale, &[y, gate])
}
