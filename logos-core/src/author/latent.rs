//! Multi-head latent attention in its absorbed form: what is cached is the latent, and the heads meet it where it is.

use crate::author::addend::Addend;
use crate::author::draft::{Draft, LinearNames, NormNames};
use crate::language::ast::{Shape, Sharding, ValueId};
use crate::ops::{Along, HeadMatMul, LatentAttentionOp, RopeOp};
use crate::refusal::Refusal;
use crate::spec::{LatentAttention, Linear, Take};

/// `o = out(attend(q, latent))`. Query heads lie over all chips; latent and caches are the same on every chip.
///
/// A head's keys are `up_k latent`, so its score is `(q up_k) . latent`: each query head goes through its own block of the key
/// half of `kv_up` once, and every head attends over the one latent. Its values are `up_v latent`, so what attention gives
/// goes through the head's block of the value half. Parts of the checkpoint's fused projections are products of their own,
/// so no value needs to be sliced.
pub(super) fn author(draft: &mut Draft<'_>, latent: &LatentAttention, x: ValueId) -> Result<Addend, Refusal> {
    let (q, qp) = queries(draft, latent, x)?;
    let (c, p) = keys(draft, latent, x)?;
    let (cos, sin) = draft.tables(&latent.rope)?;
    let (rotary, pairing) = (latent.rope.rotary, latent.rope.pairing);
    let qp = draft.bind("qr", RopeOp { heads: latent.heads, rotary, pairing }, &[qp, cos, sin])?;
    let p = draft.bind("kr", RopeOp { heads: 1, rotary, pairing }, &[p, cos, sin])?;

    let (up_keys, up_values) = up(draft, latent)?;
    let absorbed = HeadMatMul { heads: latent.heads, along: Along::Rows };
    let q = draft.bind("ql", absorbed, &[q, up_keys])?;
    let a = attend(draft, latent, [q, qp, c, p])?;
    let values = HeadMatMul { heads: latent.heads, along: Along::Columns };
    let v = draft.bind("v", values, &[a, up_values])?;
    draft.row_parallel(&LinearNames("Wo", "bo", "o"), &latent.o, v)
}

/// Queries without position and queries to be turned, each head by head.
fn queries(draft: &mut Draft<'_>, latent: &LatentAttention, x: ValueId) -> Result<(ValueId, ValueId), Refusal> {
    let x = match &latent.q_down {
        None => x,
        Some((down, norm)) => {
            let down_x = draft.column_parallel(&LinearNames("Wqa", "bqa", "qa"), down, Sharding::Whole, x)?;
            draft.norm(&NormNames("qan", "qanb", "qc"), norm, (0, down.out), down_x)?
        }
    };
    let Some([nope, turned]) = latent.query_outputs() else {
        return Err(too_wide(draft, latent.nope, latent.rotary));
    };
    let (nope, turned) = (part(draft, &latent.q, nope)?, part(draft, &latent.q, turned)?);
    let columns = draft.columns();
    let q = draft.column_parallel(&LinearNames("Wq", "bq", "q"), &nope, columns, x)?;
    let qp = draft.column_parallel(&LinearNames("Wqr", "bqr", "qp"), &turned, columns, x)?;
    Ok((q, qp))
}

/// The latent, normalised, and the one key to be turned.
fn keys(draft: &mut Draft<'_>, latent: &LatentAttention, x: ValueId) -> Result<(ValueId, ValueId), Refusal> {
    let [content, turned] = latent.latent_outputs();
    let (content, turned) = (part(draft, &latent.kv_down, content)?, part(draft, &latent.kv_down, turned)?);
    let c = draft.column_parallel(&LinearNames("Wc", "bc", "ca"), &content, Sharding::Whole, x)?;
    let c = draft.norm(&NormNames("cn", "cnb", "c"), &latent.kv_norm, (0, latent.latent), c)?;
    let p = draft.column_parallel(&LinearNames("Wkr", "bkr", "kp"), &turned, Sharding::Whole, x)?;
    Ok((c, p))
}

/// The two halves of each head's up projection: of keys, `[heads * nope, latent]` as stored, and of values,
/// `[latent, heads * value_dim]`.
fn up(draft: &mut Draft<'_>, latent: &LatentAttention) -> Result<(ValueId, ValueId), Refusal> {
    if latent.kv_up.bias.is_some() {
        return Err(draft.refuse("a bias on what the latent is projected to is no operation yet"));
    }
    let width = latent.nope.checked_add(latent.value_dim);
    let width = width.ok_or_else(|| too_wide(draft, latent.nope, latent.value_dim))?;
    let heads = |offset, run| Take { offset, run, stride: width, count: latent.heads };
    let keys = part(draft, &latent.kv_up, heads(0, latent.nope))?;
    let values = part(draft, &latent.kv_up, heads(latent.nope, latent.value_dim))?;
    let form = (draft.floats(&keys.weight), draft.split_rows());
    let keys = draft.untransposed("Wuk", &keys.weight, Shape::matrix(keys.out, latent.latent), form)?;
    let form = (draft.floats(&values.weight), draft.columns());
    let values = draft.transposed("Wuv", &values.weight, Shape::matrix(latent.latent, values.out), form)?;
    Ok((keys, values))
}

/// The heads' results in the latent; fresh latent and turned key are stored behind the caches as they were.
fn attend(draft: &mut Draft<'_>, latent: &LatentAttention, [q, qp, c, p]: [ValueId; 4]) -> Result<ValueId, Refusal> {
    let op = LatentAttentionOp { heads: latent.heads, scale: latent.scale };
    let Some(ctx) = draft.context() else {
        return draft.bind("a", op, &[q, qp, c, p]);
    };
    let form = (draft.stored(), Sharding::Whole);
    let pos = draft.index("pos")?;
    let latents = draft.state("Cc", ctx, latent.latent, form)?;
    let positions = draft.state("Pc", ctx, latent.rotary, form)?;
    let a = draft.bind("a", op, &[q, qp, c, p, pos, latents, positions])?;
    draft.append(c, latents, pos)?;
    draft.append(p, positions, pos)?;
    Ok(a)
}

fn too_wide(draft: &Draft<'_>, a: u32, b: u32) -> Refusal {
    draft.refuse(format!("heads of {a} and {b} columns are wider than 2^32"))
}

/// Some of a projection's outputs.
fn part(draft: &Draft<'_>, linear: &Linear, take: Take) -> Result<Linear, Refusal> {
    linear.part(take).ok_or_else(|| {
        let name = &linear.weight.tensor.name;
        draft.refuse(format!("{} outputs of `{name}` cannot be taken out of its {}", take.len(), linear.out))
    })
}
