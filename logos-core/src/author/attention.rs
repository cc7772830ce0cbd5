//! Grouped attention over a cache, or over the step's own rows.

use crate::author::addend::Addend;
use crate::author::draft::{Draft, LinearNames, NormNames};
use crate::language::ast::ValueId;
use crate::ops::{AttentionOp, RopeOp, RowScale, Sigmoid, Times};
use crate::refusal::Refusal;
use crate::spec::{Attention, AttentionSpan, Norm, QkNorm};

const Q_NORM: NormNames = NormNames("qw", "qwb", "qn");
const K_NORM: NormNames = NormNames("kw", "kwb", "kn");

/// `o = out(attend(q, k, v))`. Query heads lie over all chips; KV heads over as many as there are heads, each then on
/// equal groups of neighbouring chips, beside the query heads that read it.
pub(super) fn author(draft: &mut Draft<'_>, attention: &Attention, x: ValueId) -> Result<Addend, Refusal> {
    if attention.kv_heads == 0 {
        return Err(draft.refuse("attention over 0 KV heads"));
    }
    let columns = draft.columns();
    let kv_columns = draft.columns_in(draft.chips().min(attention.kv_heads));
    let q = draft.column_parallel(&LinearNames("Wq", "bq", "q"), &attention.q, columns, x)?;
    let k = draft.column_parallel(&LinearNames("Wk", "bk", "k"), &attention.k, kv_columns, x)?;
    let v = draft.column_parallel(&LinearNames("Wv", "bv", "v"), &attention.v, kv_columns, x)?;
    let gate = match &attention.gate {
        None => None,
        Some(gate) => Some(draft.column_parallel(&LinearNames("Wg", "bg", "g"), gate, columns, x)?),
    };

    let (q, k) = match &attention.qk_norm {
        None => rotate(draft, attention, (q, k))?,
        Some(QkNorm::PerHead { q: qn, k: kn, after_rope: false }) => {
            let normed = per_head(draft, attention, (qn, kn), (q, k))?;
            rotate(draft, attention, normed)?
        }
        Some(QkNorm::PerHead { q: qn, k: kn, after_rope: true }) => {
            let rotated = rotate(draft, attention, (q, k))?;
            per_head(draft, attention, (qn, kn), rotated)?
        }
        Some(QkNorm::FullWidth { q: qn, k: kn }) => {
            let q = draft.norm(&Q_NORM, qn, (0, attention.q.out), q)?;
            let k = draft.norm(&K_NORM, kn, (0, attention.k.out), k)?;
            rotate(draft, attention, (q, k))?
        }
    };

    let q = match &attention.temperature {
        None => q,
        Some(temperature) => {
            let factors = draft.temperatures(temperature)?;
            draft.bind("qt", RowScale, &[q, factors])?
        }
    };
    let c = attend(draft, attention, (q, k, v))?;
    let c = match gate {
        None => c,
        Some(gate) => {
            let gate = draft.bind("gs", Sigmoid, &[gate])?;
            draft.bind("cg", Times, &[c, gate])?
        }
    };
    draft.row_parallel(&LinearNames("Wo", "bo", "o"), &attention.o, c)
}

/// Queries and keys normalised head by head.
fn per_head(
    draft: &mut Draft<'_>,
    attention: &Attention,
    (qn, kn): (&Norm, &Norm),
    (q, k): (ValueId, ValueId),
) -> Result<(ValueId, ValueId), Refusal> {
    let width = attention.head_dim;
    let q = draft.norm(&Q_NORM, qn, (attention.heads, width), q)?;
    let k = draft.norm(&K_NORM, kn, (attention.kv_heads, width), k)?;
    Ok((q, k))
}

/// Queries and keys turned by their position; a layer without rotary embedding leaves them.
fn rotate(
    draft: &mut Draft<'_>,
    attention: &Attention,
    (q, k): (ValueId, ValueId),
) -> Result<(ValueId, ValueId), Refusal> {
    let Some(rope) = &attention.rope else { return Ok((q, k)) };
    let (cos, sin) = draft.tables(rope)?;
    let (rotary, pairing) = (rope.rotary, rope.pairing);
    let q = draft.bind("qr", RopeOp { heads: attention.heads, rotary, pairing }, &[q, cos, sin])?;
    let k = draft.bind("kr", RopeOp { heads: attention.kv_heads, rotary, pairing }, &[k, cos, sin])?;
    Ok((q, k))
}

/// The heads' results, and the fresh keys and values stored behind the cache as it was.
fn attend(
    draft: &mut Draft<'_>,
    attention: &Attention,
    (q, k, v): (ValueId, ValueId, ValueId),
) -> Result<ValueId, Refusal> {
    let (window, chunk) = match attention.span {
        AttentionSpan::Full => (None, None),
        AttentionSpan::Window(width) => (Some(width), None),
        AttentionSpan::Chunked(positions) => (None, Some(positions)),
    };
    let op = AttentionOp {
        heads: attention.heads,
        kv_heads: attention.kv_heads,
        scale: attention.scale,
        window,
        chunk,
        softcap: attention.softcap,
    };
    let sinks = match &attention.sinks {
        None => None,
        Some(sinks) => Some(draft.vector("sinks", sinks, attention.heads, draft.columns())?),
    };
    let mut operands = vec![q, k, v];
    let Some(ctx) = draft.context() else {
        operands.extend(sinks);
        return draft.bind("c", op, &operands);
    };
    // Positions that no later query sees need no place: a window or a chunk bounds the cache.
    let rows = window.or(chunk).map_or(ctx, |seen| seen.min(ctx));
    let cols = draft.product(attention.kv_heads, attention.head_dim)?;
    let form = (draft.stored(), draft.columns_in(draft.chips().min(attention.kv_heads)));
    let pos = draft.index("pos")?;
    let keys = draft.state("Kc", rows, cols, form)?;
    let values = draft.state("Vc", rows, cols, form)?;
    operands.extend([pos, keys, values]);
    operands.extend(sinks);
    let c = draft.bind("c", op, &operands)?;
    draft.append(k, keys, pos)?;
    draft.append(v, values, pos)?;
    Ok(c)
}
