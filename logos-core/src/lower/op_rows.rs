use super::net::{Slot, Want, storage_bytes};
use super::{Bound, Lower, LowerError, Net};
use crate::language::ast::{Axis, Sharding};
use crate::ops::*;
use crate::spatial::{Emission, Primitive, Recurrence, Work};

//@ matmul
impl Lower for MatMul {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        let (x, w) = (bound.operands[0], bound.operands[1]);
        let storage = net.value(w).storage;
        let (inputs, outputs) = (net.cx.rows(w), net.cx.cols(w));
        let passes = net.passes(net.rows);
        let port = net.weight_port();
        if net.is_from_product(x) {
            // B: the operand streams in as K tiles; the whole output of a group stays in the array until the last one.
            let tile = net.tile(x);
            let bytes = storage_bytes(tile, storage).saturating_mul(outputs);
            let load = net.load(0, w, net.tiles(x), bytes);
            let work = Work { a: net.columns(outputs), b: tile, base: passes };
            let gemm = net.compute(1, Primitive::GemmB, net.tiles(x) * net.groups, work, Emission::Whole);
            net.feed(gemm, x, Want::Stream(1))?;
            net.feed_loaded(gemm, load, w, port)?;
            net.emit(bound.result, gemm);
        } else {
            // A: the operand is held and output tiles stream out, so that what follows starts at the first of them.
            let tile = net.tile(bound.result);
            let bytes = storage_bytes(inputs, storage).saturating_mul(tile);
            let load = net.load(0, w, net.tiles(bound.result), bytes);
            let work = Work { a: net.columns(tile), b: inputs, base: passes };
            let firings = net.tiles(bound.result) * net.groups;
            let gemm = net.compute(1, Primitive::GemmA, firings, work, Emission::Stream(1));
            net.feed(gemm, x, Want::Hold)?;
            net.feed_loaded(gemm, load, w, port)?;
            net.emit(bound.result, gemm);
            net.mark_from_product(bound.result, true);
        }
        Ok(())
    }
}
//@ plus
impl Lower for Plus {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        lower_pair(net, bound, 1)
    }
}
//@ times
impl Lower for Times {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        lower_pair(net, bound, 1)
    }
}
//@ scaled
impl Lower for Scaled {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        lower_map(net, bound, 1)
    }
}
//@ silu
impl Lower for Silu {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        lower_map(net, bound, 4)
    }
}
//@ gelu
impl Lower for Gelu {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        lower_map(net, bound, 8)
    }
}
//@ sigmoid
impl Lower for Sigmoid {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        lower_map(net, bound, 3)
    }
}
//@ tanh
impl Lower for Tanh {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        lower_map(net, bound, 3)
    }
}
//@ softcap
impl Lower for SoftCap {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        lower_map(net, bound, 5)
    }
}
//@ swiglu
impl Lower for SwiGlu {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        lower_pair(net, bound, 5)
    }
}
//@ geglu
impl Lower for GeGlu {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        lower_pair(net, bound, 9)
    }
}
//@ elementwise
/// One operand, one map over its tiles, `ops` elementwise operations an element.
pub(super) fn lower_map(net: &mut Net<'_>, bound: &Bound<'_>, ops: u64) -> Result<(), LowerError> {
    let a = bound.operands[0];
    let work = net.lanes(net.tile(bound.result), ops);
    let map = net.compute(1, Primitive::Map, net.tiles(bound.result) * net.groups, work, Emission::Stream(1));
    net.feed(map, a, Want::Stream(1))?;
    net.emit(bound.result, map);
    net.mark_from_product(bound.result, net.is_from_product(a));
    Ok(())
}

/// Two operands, the second possibly a one-row weight.
pub(super) fn lower_pair(net: &mut Net<'_>, bound: &Bound<'_>, ops: u64) -> Result<(), LowerError> {
    let (a, b) = (bound.operands[0], bound.operands[1]);
    let tile = net.tile(bound.result);
    let weight = net.is_weight(b).then(|| {
        let bytes = storage_bytes(tile, net.value(b).storage);
        net.load(0, b, net.tiles(bound.result), bytes)
    });
    let work = net.lanes(tile, ops);
    let map = net.compute(1, Primitive::Map, net.tiles(bound.result) * net.groups, work, Emission::Stream(1));
    net.feed(map, a, Want::Stream(1))?;
    match weight {
        Some(load) => net.feed_loaded(map, load, b, net.weight_port())?,
        None => net.feed(map, b, Want::Stream(1))?,
    }
    net.emit(bound.result, map);
    let streams = net.is_from_product(a) || net.is_from_product(b);
    net.mark_from_product(bound.result, streams);
    Ok(())
}
//@ norm
/// A norm of whole rows: a fold over the tiles, then a map that waits for the row's scalar.
pub(super) fn lower_row_norm(net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
    let x = bound.operands[0];
    let tile = net.tile(x);
    let firings = net.tiles(x) * net.groups;
    let fold = net.compute(0, Primitive::Reduce, firings, net.lanes(tile, 2), Emission::Whole);
    net.feed(fold, x, Want::Stream(1))?;
    let mut loads = Vec::with_capacity(2);
    for (part, &weight) in (1..).zip(&bound.operands[1..]) {
        let bytes = storage_bytes(tile, net.value(weight).storage);
        loads.push((net.load(part, weight, net.tiles(x), bytes), weight));
    }
    let map = net.compute(3, Primitive::Map, firings, net.lanes(tile, 3), Emission::Stream(1));
    net.feed(map, x, Want::Stream(1))?;
    net.link(map, fold, Want::Hold, Slot::one(net.rows * 4))?;
    for (load, weight) in loads {
        net.feed_loaded(map, load, weight, net.weight_port())?;
    }
    net.emit(bound.result, map);
    Ok(())
}

/// A norm head by head: a firing takes a whole head, or a tile of whole heads.
pub(super) fn lower_head_norm(net: &mut Net<'_>, bound: &Bound<'_>, heads: u32) -> Result<(), LowerError> {
    let x = bound.operands[0];
    let head = HeadFirings::of(net, x, heads);
    let mut loads = Vec::with_capacity(2);
    for (part, &weight) in (1..).zip(&bound.operands[1..]) {
        let elements = net.cx.rows(weight) * net.cx.cols(weight);
        let bytes = storage_bytes(elements, net.value(weight).storage);
        loads.push((net.load(part, weight, 1, bytes), weight));
    }
    let work = net.lanes(head.columns, 5);
    let reduce = net.compute(3, Primitive::Reduce, head.firings, work, Emission::Stream(head.tokens));
    net.feed(reduce, x, Want::Stream(u64::from(head.tokens)))?;
    for (load, weight) in loads {
        net.feed_loaded(reduce, load, weight, Want::HoldAll)?;
    }
    net.emit(bound.result, reduce);
    net.mark_from_product(bound.result, net.is_from_product(x));
    Ok(())
}

/// How a head-wise stage fires.
pub(super) struct HeadFirings {
    /// Tokens a firing.
    pub(super) tokens: u32,
    /// Columns a firing.
    pub(super) columns: u64,
    /// Firings an iteration.
    pub(super) firings: u64,
}

impl HeadFirings {
    pub(super) fn of(net: &Net<'_>, x: crate::language::ast::ValueId, heads: u32) -> Self {
        let tile = net.tile(x).max(1);
        let head = u64::from(net.value(x).shape.cols) / u64::from(heads.max(1));
        let columns = head.max(tile);
        HeadFirings {
            tokens: (head / tile).max(1) as u32,
            columns,
            firings: net.groups * net.cx.cols(x).div_ceil(columns.max(1)),
        }
    }
}
//@ rms_norm
impl Lower for RmsNorm {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        if self.heads == 0 { lower_row_norm(net, bound) } else { lower_head_norm(net, bound, self.heads) }
    }
}
//@ layer_norm
impl Lower for LayerNorm {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        if self.heads == 0 { lower_row_norm(net, bound) } else { lower_head_norm(net, bound, self.heads) }
    }
}
//@ l2_norm
impl Lower for L2Norm {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        lower_head_norm(net, bound, self.heads)
    }
}
//@ rope
impl Lower for RopeOp {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        let (x, cos, sin) = (bound.operands[0], bound.operands[1], bound.operands[2]);
        let head = HeadFirings::of(net, x, self.heads);
        let mut load = |part, table| {
            let bytes = storage_bytes(net.rows * net.cx.cols(table), net.value(table).storage);
            net.load(part, table, net.groups, bytes)
        };
        let (cosines, sines) = (load(0, cos), load(1, sin));
        let map =
            net.compute(2, Primitive::Map, head.firings, net.lanes(head.columns, 4), Emission::Stream(head.tokens));
        net.feed(map, x, Want::Stream(u64::from(head.tokens)))?;
        net.feed_loaded(map, cosines, cos, Want::Hold)?;
        net.feed_loaded(map, sines, sin, Want::Hold)?;
        net.emit(bound.result, map);
        net.mark_from_product(bound.result, net.is_from_product(x));
        Ok(())
    }
}
//@ attention
impl Lower for AttentionOp {
    fn needs_all_groups(&self) -> bool {
        true
    }

    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        let [q, k, v] = [bound.operands[0], bound.operands[1], bound.operands[2]];
        let cache = match bound.operands {
            [_, _, _, _, keys, values] => Some((*keys, *values)),
            _ => None,
        };
        if net.groups != 1 {
            return Err(LowerError::Form { what: "attention needs all rows of a step in one group" });
        }
        let context_tile = u64::from(net.cx.unit.context_tile);
        let (seqs, tokens) = (net.cx.seqs, net.cx.tokens());
        let cached = cache.map_or(0, |(keys, _)| net.cx.rows(keys).div_ceil(context_tile));
        let firings = seqs.saturating_mul(cached + tokens.div_ceil(context_tile));
        let dk = u64::from(net.value(q).shape.cols) / u64::from(self.heads);
        let dv = u64::from(net.value(v).shape.cols) / u64::from(self.kv_heads);
        let (heads, kv_heads) = (net.cx.cols(q) / dk, net.cx.cols(k) / dk);
        let queries = tokens * (heads / kv_heads.max(1));
        let base = kv_heads * net.passes(queries);
        let loads = cache.map(|(keys, values)| {
            let mut load = |part, state| {
                let bytes = storage_bytes(context_tile * net.cx.cols(state), net.value(state).storage);
                net.load(part, state, firings, bytes)
            };
            (load(0, keys), load(1, values))
        });
        let work = Work { a: net.columns(context_tile), b: dk, base };
        let scores = net.compute(2, Primitive::Scores, firings, work, Emission::Stream(1));
        net.feed(scores, q, Want::HoldAll)?;
        net.feed(scores, k, Want::HoldAll)?;
        if let (Some((load, _)), Some((keys, _))) = (loads, cache) {
            net.feed_loaded(scores, load, keys, Want::Stream(1))?;
        }
        let elements = heads * tokens * context_tile;
        let unit = net.cx.unit;
        let work = Work {
            a: elements.div_ceil(u64::from(unit.lanes)),
            b: 1,
            base: SOFTMAX_OPS.div_ceil(u64::from(unit.chain)),
        };
        let softmax = net.compute(3, Primitive::Softmax, firings, work, Emission::Stream(1));
        net.recur(softmax, Recurrence::Cycles(SOFTMAX_RECURRENCE));
        net.link(softmax, scores, Want::Stream(1), Slot::one(elements * 4))?;
        let work = Work { a: net.columns(dv), b: context_tile, base };
        let values_stage = net.compute(4, Primitive::Values, firings, work, Emission::Whole);
        // A firing's probabilities, and beside them each row's factor on what was summed before it.
        let b = storage_bytes(context_tile, net.value(q).storage) + 4;
        net.link(values_stage, softmax, Want::Stream(1), Slot::one(heads * tokens * b))?;
        net.feed(values_stage, v, Want::HoldAll)?;
        if let (Some((_, load)), Some((_, values))) = (loads, cache) {
            net.feed_loaded(values_stage, load, values, Want::Stream(1))?;
        }
        net.emit(bound.result, values_stage);
        Ok(())
    }
}

/// Elementwise operations of the online softmax an element: scale, mask, running maximum, subtract, exponential (3), sum.
const SOFTMAX_OPS: u64 = 8;
/// Cycles of the running maximum and sum that one firing leaves to the next.
const SOFTMAX_RECURRENCE: u32 = 12;
//@ causal_conv
impl Lower for CausalConv {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        let (x, taps) = (bound.operands[0], bound.operands[1]);
        let ring = bound.operands.get(2).copied();
        let tile = net.tile(x);
        let tiles = net.tiles(x);
        let bytes = storage_bytes(u64::from(self.taps) * tile, net.value(taps).storage);
        let taps_load = net.load(0, taps, tiles, bytes);
        let ring_bytes = |columns: u64| {
            ring.map_or(0, |ring| {
                let rows = net.cx.seqs * net.cx.rows(ring);
                storage_bytes(rows.saturating_mul(columns), net.value(ring).storage)
            })
        };
        let (token, whole) = (ring_bytes(tile), ring_bytes(net.cx.cols(x)));
        let ring_load = ring.map(|ring| (net.load(1, ring, tiles, token), ring));
        let ops = 2 * u64::from(self.taps) + if self.silu { 4 } else { 0 };
        let conv = net.compute(2, Primitive::Map, tiles * net.groups, net.lanes(tile, ops), Emission::Stream(1));
        let port = net.weight_port();
        net.feed(conv, x, Want::Stream(1))?;
        net.feed_loaded(conv, taps_load, taps, port)?;
        if let Some((load, ring)) = ring_load {
            net.feed_loaded(conv, load, ring, port)?;
            let (firings, bytes) = if net.groups == 1 { (tiles, token) } else { (1, whole) };
            let store = net.store(3, ring, net.cx.main, firings, bytes);
            net.link(store, conv, port, Slot::one(bytes))?;
        }
        net.emit(bound.result, conv);
        net.mark_from_product(bound.result, net.is_from_product(x));
        Ok(())
    }
}
//@ decay
impl Lower for Decay {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        let a = bound.operands[0];
        let (tile, tiles) = (net.tile(a), net.tiles(a));
        let mut load = |part, weight| {
            let bytes = storage_bytes(tile, net.value(weight).storage);
            net.load(part, weight, tiles, bytes)
        };
        let loads = [load(0, bound.operands[1]), load(1, bound.operands[2])];
        let map = net.compute(2, Primitive::Map, tiles * net.groups, net.lanes(tile, 8), Emission::Stream(1));
        net.feed(map, a, Want::Stream(1))?;
        for (stage, &weight) in loads.into_iter().zip(&bound.operands[1..]) {
            net.feed_loaded(map, stage, weight, net.weight_port())?;
        }
        net.emit(bound.result, map);
        net.mark_from_product(bound.result, net.is_from_product(a));
        Ok(())
    }
}
//@ gated_delta
impl Lower for GatedDeltaOp {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        let (q, v) = (bound.operands[0], bound.operands[2]);
        let state = bound.operands.get(5).copied();
        let one_token = net.cx.tokens() == 1;
        if !one_token && net.cx.seqs != 1 {
            return Err(LowerError::Form { what: "several tokens of several sequences in one step of a gated delta rule" });
        }
        let dk = u64::from(net.value(q).shape.cols) / u64::from(self.key_heads);
        let dv = u64::from(net.value(v).shape.cols) / u64::from(self.heads);
        let heads = net.cx.cols(v) / dv;
        let rows = net.rows * net.groups;
        // One token a sequence: every firing has a state of its own. Else the one sequence's state stays in the stage.
        let (firings, port) = if one_token { (rows, Want::Stream(1)) } else { (1, Want::HoldAll) };
        let bytes = state.map_or(0, |s| storage_bytes(heads * dk * dv, net.value(s).storage));
        let load = state.map(|s| (net.load(0, s, firings, bytes), s));
        let lanes = u64::from(net.cx.unit.lanes);
        let work = Work { a: (heads * dv).div_ceil(lanes), b: dk, base: 2 };
        let scan = net.compute(1, Primitive::Scan, rows, work, Emission::Whole);
        if !one_token {
            net.recur(scan, Recurrence::DeltaRows);
        }
        for &operand in &bound.operands[..5] {
            net.feed(scan, operand, Want::Hold)?;
        }
        if let Some((load, s)) = load {
            net.feed_loaded(scan, load, s, port)?;
            let store = net.store(2, s, net.cx.main, firings, bytes);
            net.link_tokens(store, scan, port, Slot::one(bytes))?;
        }
        net.emit(bound.result, scan);
        Ok(())
    }
}
//@ rows
impl Lower for Rows {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        let table = bound.operands[0];
        let bytes = storage_bytes(net.rows * net.tile(bound.result), net.value(table).storage);
        let gather = net.gather(0, table, net.tiles(bound.result) * net.groups, bytes);
        net.emit(bound.result, gather);
        Ok(())
    }
}
//@ last_row
impl Lower for LastRow {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        let x = bound.operands[0];
        let bytes = storage_bytes(net.rows * net.tile(bound.result), net.value(x).storage);
        let load = net.load(0, x, net.tiles(bound.result) * net.groups, bytes);
        net.emit(bound.result, load);
        Ok(())
    }
}
//@ argmax
impl Lower for ArgMax {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        let x = bound.operands[0];
        let fold = net.compute(
            0,
            Primitive::Reduce,
            net.tiles(x) * net.groups,
            net.lanes(net.tile(x), FOLD_OPS),
            Emission::Whole,
        );
        net.feed(fold, x, Want::Stream(1))?;
        // The largest element and its column.
        let pair = net.rows * 8;
        let split = matches!(net.value(x).sharding, Sharding::Split { axis: Axis::Columns, .. });
        if !split {
            net.emit(bound.result, fold);
            return Ok(());
        }
        let chips = u64::from(net.program().chips);
        let gather = net.collective(1, net.groups, pair, Emission::Whole);
        net.link(gather, fold, Want::Hold, Slot::one(pair))?;
        let unit = net.cx.unit;
        let work = Work {
            a: (net.rows * chips).div_ceil(u64::from(unit.lanes)),
            b: 1,
            base: FOLD_OPS.div_ceil(u64::from(unit.chain)),
        };
        let last = net.compute(2, Primitive::Reduce, net.groups, work, Emission::Whole);
        net.link(last, gather, Want::Hold, Slot::one(pair * chips))?;
        net.emit(bound.result, last);
        Ok(())
    }
}

/// Compare and select.
const FOLD_OPS: u64 = 2;
//@ sum_over_chips
impl Lower for SumOverChips {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        let x = bound.operands[0];
        let bytes = storage_bytes(net.rows * net.tile(x), net.value(x).storage);
        let sum = net.collective(0, net.tiles(x) * net.groups, bytes, Emission::Stream(1));
        net.feed(sum, x, Want::Stream(1))?;
        net.emit(bound.result, sum);
        Ok(())
    }
}
//@ gather_over_chips
impl Lower for GatherOverChips {
    fn lower(&self, _: &mut Net<'_>, _: &Bound<'_>) -> Result<(), LowerError> {
        Err(LowerError::Form { what: "a gather over chips reorders its tokens, which no stage does yet" })
    }
}
