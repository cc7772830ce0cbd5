//! Gated DeltaNet: short convolutions, a recurrence over a matrix of state, a gated norm.

use crate::author::addend::Addend;
use crate::author::draft::{Draft, LinearNames, NormNames, storage_of};
use crate::language::ast::{Shape, Sharding, ValueId};
use crate::ops::{CausalConv, Decay, GatedDeltaOp, L2Norm, Sigmoid, SwiGlu};
use crate::refusal::Refusal;
use crate::spec::{GatedDelta, Weight};

/// `o = out(norm(delta(q, k, v)) * silu(z))`. Heads lie over all chips: a key head with the value heads that read it.
///
/// Each of q, k, v and z is a product of its own, and q, k and v are convolved apart: the convolution is depthwise, so cutting
/// the checkpoint's fused tensors by channels changes nothing and no value needs to be sliced.
pub(super) fn author(draft: &mut Draft<'_>, delta: &GatedDelta, x: ValueId) -> Result<Addend, Refusal> {
    let columns = draft.columns();
    let q = draft.column_parallel(&LinearNames("Wq", "bq", "q"), &delta.q, columns, x)?;
    let k = draft.column_parallel(&LinearNames("Wk", "bk", "k"), &delta.k, columns, x)?;
    let v = draft.column_parallel(&LinearNames("Wv", "bv", "v"), &delta.v, columns, x)?;
    let z = draft.column_parallel(&LinearNames("Wz", "bz", "z"), &delta.z, columns, x)?;
    let b = draft.column_parallel(&LinearNames("Wb", "bb", "b"), &delta.b, columns, x)?;
    let a = draft.column_parallel(&LinearNames("Wa", "ba", "a"), &delta.a, columns, x)?;

    let q = convolve(draft, delta, (&delta.conv_q, delta.q.out), ("Cq", "Rq", "qc"), q)?;
    let k = convolve(draft, delta, (&delta.conv_k, delta.k.out), ("Ck", "Rk", "kc"), k)?;
    let v = convolve(draft, delta, (&delta.conv_v, delta.v.out), ("Cv", "Rv", "vc"), v)?;

    let (heads, eps) = (delta.key_heads, delta.l2_eps);
    // The factor of the scores, 1 / sqrt(key_dim), rides on the queries' norm.
    let scale = (1.0 / f64::from(delta.key_dim).sqrt()) as f32;
    let q = draft.bind("ql", L2Norm { eps, scale, heads }, &[q])?;
    let k = draft.bind("kl", L2Norm { eps, scale: 1.0, heads }, &[k])?;

    let rate = draft.vector("A", &delta.a_log, delta.value_heads, columns)?;
    let bias = draft.vector("dt", &delta.dt_bias, delta.value_heads, columns)?;
    let g = draft.bind("g", Decay, &[a, rate, bias])?;
    let beta = draft.bind("beta", Sigmoid, &[b])?;

    let mut operands = vec![q, k, v, g, beta];
    if draft.context().is_some() {
        let rows = draft.product(delta.value_heads, delta.key_dim)?;
        let form = (storage_of(draft.spec.state_dtype), draft.split_rows());
        operands.push(draft.state("S", rows, delta.value_dim, form)?);
    }
    let y = draft.bind("y", GatedDeltaOp { heads: delta.value_heads, key_heads: delta.key_heads }, &operands)?;

    let y = draft.norm(&NormNames("yw", "ywb", "yn"), &delta.norm, (delta.value_heads, delta.value_dim), y)?;
    let y = draft.bind("yz", SwiGlu, &[z, y])?;
    draft.row_parallel(&LinearNames("Wo", "bo", "o"), &delta.out, y)
}

/// A causal convolution with silu of each channel along the rows, over the last `taps - 1` inputs of the step before.
fn convolve(
    draft: &mut Draft<'_>,
    delta: &GatedDelta,
    (weight, channels): (&Weight, u32),
    (taps, ring, result): (&str, &str, &str),
    x: ValueId,
) -> Result<ValueId, Refusal> {
    let Some(before) = delta.taps.checked_sub(1) else {
        return Err(draft.refuse("a convolution of 0 taps"));
    };
    let form: (_, Sharding) = (draft.stored(), draft.columns());
    let stored = (draft.floats(weight), draft.columns());
    let weight = draft.transposed(taps, weight, Shape::matrix(delta.taps, channels), stored)?;
    let mut operands = vec![x, weight];
    if draft.context().is_some() && before > 0 {
        operands.push(draft.state(ring, before, channels, form)?);
    }
    draft.bind(result, CausalConv { taps: delta.taps, silu: true }, &operands)
}
