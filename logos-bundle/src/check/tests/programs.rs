//! Programs the tests write tables of.

use std::vec;

use super::writer::{Draft, Model};
use crate::table::layout::{NONE, op, storage};

const EPS: u32 = 0x358637bd;
const ONE: u32 = 0x3f80_0000;
const WHOLE: (u32, u32) = (0, 1);

/// `y = silu x`, in tiles of 64 columns, the last of 32.
pub(super) fn silu() -> Model {
    let mut d = Draft::new(1, 4);
    let x = d.input(4, 160, 64);
    let y = d.like(op::SILU, &[x], &[]);
    d.show(y);
    d.layers = 2;
    Model { form: 0, chips: 1, seqs: 1, tokens: 4, programs: vec![d], ropes: vec![] }
}

fn rows(n: u32) -> (u32, u32) {
    if n == 1 { WHOLE } else { (1, n) }
}

fn cols(n: u32) -> (u32, u32) {
    if n == 1 { WHOLE } else { (2, n) }
}

fn summed(d: &mut Draft, x: u32, chips: u32) -> u32 {
    if chips == 1 {
        return x;
    }
    let v = d.values[x as usize];
    d.bind(op::SUM_CHIPS, &[x], &[], v[6], WHOLE, v[9])
}

fn projected(d: &mut Draft, x: u32, n: u32, cut: (u32, u32), tile: u32) -> u32 {
    let k = d.values[x as usize][6];
    let w = d.weight(k, n, cut);
    d.bind(op::MATMUL, &[x, w], &[], n, cut, tile)
}

fn normed(d: &mut Draft, x: u32) -> u32 {
    let w = d.weight(1, d.values[x as usize][6], WHOLE);
    d.like(op::RMSNORM, &[x, w], &[EPS, ONE, 0])
}

/// Feed-forward block and residual; returns the result.
fn feed_forward(d: &mut Draft, x: u32, chips: u32, wide: u32, tile: u32) -> u32 {
    let n = normed(d, x);
    let gate = projected(d, n, wide, cols(chips), tile);
    let up = projected(d, n, wide, cols(chips), tile);
    let h = d.like(op::SWIGLU, &[gate, up], &[]);
    let hidden = d.values[x as usize][6];
    let w = d.weight(wide, hidden, rows(chips));
    let cut = if chips == 1 { WHOLE } else { (3, 1) };
    let y = d.bind(op::MATMUL, &[h, w], &[], hidden, cut, d.values[x as usize][9]);
    let y = summed(d, y, chips);
    d.like(op::PLUS, &[x, y], &[])
}

/// Sizes of an attention layer.
#[derive(Clone, Copy)]
pub(super) struct Attention {
    pub(super) hidden: u32,
    pub(super) heads: u32,
    pub(super) kv_heads: u32,
    pub(super) head: u32,
    pub(super) wide: u32,
    pub(super) ctx: u32,
}

/// A layer with attention over a cache of `ctx` rows (0: stateless), head-wise norms, rope, and a feed-forward block.
pub(super) fn attention(seqs: u32, m: u32, chips: u32, a: Attention) -> Draft {
    let mut d = Draft::new(1, m);
    let tile = 32.min(a.head);
    let x = d.input(m, a.hidden, tile);
    let (cos, sin) = (d.table(m, a.head / 4, 0), d.table(m, a.head / 4, 1));
    let n = normed(&mut d, x);
    let kv = cols(if a.kv_heads < chips { a.kv_heads } else { chips });
    let q = projected(&mut d, n, a.heads * a.head, cols(chips), tile);
    let k = projected(&mut d, n, a.kv_heads * a.head, kv, tile);
    let v = projected(&mut d, n, a.kv_heads * a.head, kv, tile);
    let w = d.weight(1, a.head, WHOLE);
    let q = d.like(op::RMSNORM, &[q, w], &[EPS, 0, a.heads]);
    let q = d.like(op::ROPE, &[q, cos, sin], &[a.heads, a.head / 2, 0]);
    let k = d.like(op::ROPE, &[k, cos, sin], &[a.kv_heads, a.head / 2, 0]);
    let attributes = [a.heads, a.kv_heads, 0x3d80_0000, 0, 0, 0];
    let sinks = d.weight(1, a.heads, cols(chips));
    let c = if a.ctx == 0 {
        d.like(op::ATTENTION, &[q, k, v, NONE, NONE, NONE, sinks], &attributes)
    } else {
        let pos = d.ids(m);
        let shape = [seqs, a.ctx, a.kv_heads * a.head];
        let (kc, vc) = (d.state(shape, kv, 1), d.state(shape, kv, 1));
        let c = d.like(op::ATTENTION, &[q, k, v, pos, kc, vc, sinks], &attributes);
        d.append(k, kc, pos);
        d.append(v, vc, pos);
        c
    };
    let w = d.weight(a.heads * a.head, a.hidden, rows(chips));
    let cut = if chips == 1 { WHOLE } else { (3, 1) };
    let o = d.bind(op::MATMUL, &[c, w], &[], a.hidden, cut, tile);
    let o = summed(&mut d, o, chips);
    let h = d.like(op::PLUS, &[x, o], &[]);
    let y = feed_forward(&mut d, h, chips, a.wide, tile);
    d.show(y);
    d
}

/// A layer with latent attention over caches of `ctx` rows (0: stateless): four heads of 20 and 16 columns over a latent of 40,
/// queries scaled by a temperature, the result by a value.
pub(super) fn latent(seqs: u32, m: u32, chips: u32, ctx: u32) -> Draft {
    let mut d = Draft::new(1, m);
    let x = d.input(m, 96, 32);
    let (cos, sin, temperature) = (d.table(m, 8, 3), d.table(m, 8, 4), d.table(m, 1, 2));
    let cut = cols(chips);
    let q = projected(&mut d, x, 80, cut, 20);
    let q = d.like(op::ROW_SCALE, &[q, temperature], &[]);
    let qp = projected(&mut d, x, 64, cut, 16);
    let qp = d.like(op::ROPE, &[qp, cos, sin], &[4, 16, 1]);
    let c = projected(&mut d, x, 40, WHOLE, 40);
    let p = projected(&mut d, x, 16, WHOLE, 16);
    let p = d.like(op::ROPE, &[p, cos, sin], &[1, 16, 1]);
    let up = d.weight(80, 40, rows(chips));
    let q = d.bind(op::HEAD_MATMUL, &[q, up], &[4, 1], 160, cut, 20);
    let attributes = [4, 0x3e22_2222];
    let a = if ctx == 0 {
        d.like(op::LATENT_ATTENTION, &[q, qp, c, p], &attributes)
    } else {
        let pos = d.ids(m);
        let (cc, cp) = (d.state([seqs, ctx, 40], WHOLE, 1), d.state([seqs, ctx, 16], WHOLE, 1));
        let a = d.like(op::LATENT_ATTENTION, &[q, qp, c, p, pos, cc, cp], &attributes);
        d.append(c, cc, pos);
        d.append(p, cp, pos);
        a
    };
    let up = d.weight(40, 80, cut);
    let v = d.bind(op::HEAD_MATMUL, &[a, up], &[4, 0], 80, cut, 20);
    let w = d.weight(80, 96, rows(chips));
    let cut = if chips == 1 { WHOLE } else { (3, 1) };
    let o = d.bind(op::MATMUL, &[v, w], &[], 96, cut, 32);
    let g = projected(&mut d, x, 1, WHOLE, 1);
    let o = d.like(op::ROW_SCALE, &[o, g], &[]);
    let o = summed(&mut d, o, chips);
    let y = d.like(op::PLUS, &[x, o], &[]);
    d.show(y);
    d
}

#[expect(clippy::too_many_arguments, reason = "sizes of a layer, all in use")]
/// A gated delta layer: causal convolutions, l2norm, decay, the scan, a gated norm.
pub(super) fn delta(
    seqs: u32,
    m: u32,
    chips: u32,
    hidden: u32,
    hv: u32,
    hk: u32,
    dim: u32,
    wide: u32,
    carried: bool,
) -> Draft {
    let mut d = Draft::new(1, m);
    let tile = 32.min(dim);
    let x = d.input(m, hidden, tile);
    let n = normed(&mut d, x);
    let c = cols(chips);
    let convolved = |d: &mut Draft, heads: u32| {
        let v = projected(d, n, heads * dim, c, tile);
        let taps = d.weight(4, heads * dim, c);
        let state = if carried { d.state([seqs, 3, heads * dim], c, 0) } else { NONE };
        d.like(op::CONV, &[v, taps, state], &[4, 1])
    };
    let (q, k) = (convolved(&mut d, hk), convolved(&mut d, hk));
    let v = convolved(&mut d, hv);
    let q = d.like(op::L2NORM, &[q], &[EPS, ONE, hk]);
    let k = d.like(op::L2NORM, &[k], &[EPS, ONE, hk]);
    let a = projected(&mut d, n, hv, c, hv / chips);
    let (rate, bias) = (d.weight(1, hv, c), d.weight(1, hv, c));
    let g = d.like(op::DECAY, &[a, rate, bias], &[]);
    let b = projected(&mut d, n, hv, c, hv / chips);
    let beta = d.like(op::SIGMOID, &[b], &[]);
    let state = if carried { d.state([seqs, hv * dim, dim], rows(chips), 1) } else { NONE };
    let o = d.bind(op::DELTA, &[q, k, v, g, beta, state], &[hv, hk], hv * dim, c, tile);
    let z = projected(&mut d, n, hv * dim, c, tile);
    let w = d.weight(1, dim, WHOLE);
    let o = d.like(op::RMSNORM, &[o, w], &[EPS, 0, hv]);
    let z = d.like(op::SILU, &[z], &[]);
    let o = d.like(op::TIMES, &[o, z], &[]);
    let w = d.weight(hv * dim, hidden, rows(chips));
    let cut = if chips == 1 { WHOLE } else { (3, 1) };
    let o = d.bind(op::MATMUL, &[o, w], &[], hidden, cut, tile);
    let o = summed(&mut d, o, chips);
    let h = d.like(op::PLUS, &[x, o], &[]);
    let y = feed_forward(&mut d, h, chips, wide, tile);
    d.show(y);
    d
}

/// Token rows of a split embedding, summed.
pub(super) fn embed(m: u32, chips: u32, vocabulary: u32, hidden: u32) -> Draft {
    let mut d = Draft::new(0, m);
    let token = d.ids(m);
    let e = d.weight(vocabulary, hidden, rows(chips));
    let cut = if chips == 1 { WHOLE } else { (3, 1) };
    let x = d.bind(op::ROWS, &[e, token], &[], hidden, cut, 32);
    let x = summed(&mut d, x, chips);
    let x = d.like(op::SCALED, &[x], &[ONE]);
    d.show(x);
    d
}

/// The last rows of a prefill, or all rows of another step; norm, vocabulary, argmax.
pub(super) fn head(m: u32, input_rows: u32, chips: u32, vocabulary: u32, hidden: u32) -> Draft {
    let mut d = Draft::new(2, m);
    let x = d.input(input_rows, hidden, 32);
    let x = if m == input_rows { x } else { d.like(op::LAST_ROW, &[x], &[m]) };
    let n = normed(&mut d, x);
    let logits = projected(&mut d, n, vocabulary, cols(chips), 48);
    let logits = d.like(op::SOFTCAP, &[logits], &[ONE]);
    let y = d.bind(op::ARGMAX, &[logits], &[], 1, WHOLE, 1);
    d.show(y);
    d
}

/// Every other operation once: layernorm with bias, per head without weight, gelu, geglu, tanh, times and plus a weight,
/// gather over chips.
pub(super) fn others(m: u32, chips: u32) -> Draft {
    let mut d = Draft::new(1, m);
    let x = d.input(m, 96, 32);
    let (w, b) = (d.weight(1, 96, WHOLE), d.weight(1, 96, WHOLE));
    let n = d.like(op::LAYERNORM, &[x, w, b], &[EPS, 0]);
    let n = d.like(op::TIMES, &[n, w], &[]);
    let h = projected(&mut d, n, 64, cols(chips), 16);
    let bias = d.weight(1, 64, cols(chips));
    let h = d.like(op::PLUS, &[h, bias], &[]);
    let h = d.like(op::LAYERNORM, &[h], &[EPS, 4]);
    let (w, b) = (d.weight(4, 16, rows(chips)), d.weight(1, 16, WHOLE));
    let h = d.like(op::LAYERNORM, &[h, w, b], &[EPS, 4]);
    let g = d.like(op::GELU, &[h], &[1]);
    let t = d.like(op::TANH, &[h], &[]);
    let h = d.like(op::GEGLU, &[g, t], &[0]);
    let h = if chips == 1 { h } else { d.bind(op::GATHER_CHIPS, &[h], &[], 64, WHOLE, 16 * chips) };
    let y = projected(&mut d, h, 96, WHOLE, 32);
    d.show(y);
    d
}

/// A router with a correction and groups, experts with biases, beside a shared one: their sum is one partial value over several
/// chips.
pub(super) fn experts(m: u32, chips: u32, inner: u32) -> Draft {
    let mut d = Draft::new(1, m);
    let x = d.input(m, 96, 32);
    let n = normed(&mut d, x);
    let logits = projected(&mut d, n, 8, WHOLE, 8);
    let correction = d.weight(1, 8, WHOLE);
    let r = d.bind(op::ROUTER, &[logits, correction], &[2, 2, 4, 2, 3, ONE], 4, WHOLE, 4);
    d.values[r as usize][3] = storage::F32;
    let shared = projected(&mut d, n, 64, cols(chips), 64 / chips);
    let down = d.weight(64, 96, rows(chips));
    let partial = if chips == 1 { WHOLE } else { (3, 1) };
    let shared = d.bind(op::MATMUL, &[shared, down], &[], 96, partial, 32);
    let gate = d.bank(8, 96, inner, cols(chips));
    let up = d.bank(8, 96, inner, cols(chips));
    let down = d.bank(8, inner, 96, rows(chips));
    let [of_gate, of_up] = [0; 2].map(|_| d.bank(8, 1, inner, cols(chips)));
    let of_down = d.bank(8, 1, 96, WHOLE);
    // Gate and up features in turn, along the second axis of a stack; down stacked the other way round; biases each way. The name
    // of what is stored apart is the strings' only `{e}`.
    d.stored(gate, [50, 6, 0, 0, 1, 2, inner, 96, 2 * inner, 1, 1]);
    d.stored(up, [50, 6, 0, 1, 1, 2, inner, 96, 2 * inner, 1, 1]);
    d.stored(down, [51, 6, 1, 0, 96, 96, 1, 96, inner, 0, 1]);
    d.stored(of_gate, [56, 3, 1, 0, inner, inner, 1, inner, 1, 0, 0]);
    d.stored(of_up, [56, 4, 1, 0, inner, inner, 1, inner, 1, 0, 0]);
    d.stored(of_down, [52, 6, 1, 0, 96, 96, 1, 96, 1, 0, 1]);
    let y =
        d.bind(op::EXPERTS, &[n, r, gate, up, down, of_gate, of_up, of_down], &[8, 2, 3, ONE, ONE, 1], 96, partial, 32);
    let y = d.bind(op::PLUS, &[y, shared], &[], 96, partial, 32);
    let y = summed(&mut d, y, chips);
    let y = d.like(op::PLUS, &[x, y], &[]);
    d.show(y);
    d
}

/// The recipes of a rotary table pair, of a temperature, and of a narrower pair.
pub(super) fn ropes(rotary: u32) -> std::vec::Vec<[u32; 16]> {
    let pair = |rotary: u32| {
        let mut cos = [0; 16];
        cos[2] = 0x40c3_8800;
        cos[3] = rotary;
        let mut sin = cos;
        sin[0] = 1;
        [cos, sin]
    };
    let mut temperature = [0; 16];
    temperature[0] = 2;
    (temperature[5], temperature[6]) = (0x3dcc_cccd, 0x4600_0000);
    let ([cos, sin], [narrow_cos, narrow_sin]) = (pair(rotary), pair(16));
    vec![cos, sin, temperature, narrow_cos, narrow_sin]
}

/// Sizes small enough to test with, awkward where it matters.
pub(super) const SMALL: Attention = Attention { hidden: 96, heads: 4, kv_heads: 2, head: 64, wide: 160, ctx: 2500 };

/// A decode of two sequences over two chips: every operation in use.
pub(super) fn decode() -> Model {
    let programs = vec![
        embed(2, 2, 128, 96),
        attention(2, 2, 2, SMALL),
        delta(2, 2, 2, 96, 8, 4, 16, 160, true),
        experts(2, 2, 2560),
        others(2, 2),
        latent(2, 2, 2, 2500),
        head(2, 2, 2, 192, 96),
    ];
    Model { form: 1, chips: 2, seqs: 2, tokens: 1, programs, ropes: ropes(32) }
}

/// A prefill of 20 tokens over four chips (KV heads held twice), groups of 8 rows, attention in a section of its own.
pub(super) fn prefill() -> Model {
    let mut a = attention(1, 20, 4, SMALL);
    let at = a.statements.iter().position(|s| s[0] == op::ATTENTION).unwrap() as u32;
    a.cuts = vec![0, at, at + 3];
    let mut g = delta(1, 20, 4, 96, 8, 4, 16, 160, true);
    g.group_rows = 8;
    g.layers = 3;
    let mut l = latent(1, 20, 4, 2500);
    let at = l.statements.iter().position(|s| s[0] == op::LATENT_ATTENTION).unwrap() as u32;
    l.cuts = vec![0, at, at + 3];
    let mut o = others(20, 4);
    o.group_rows = 8;
    let mut e = embed(20, 4, 128, 96);
    e.group_rows = 8;
    let programs = vec![e, g, a, o, l, head(1, 20, 4, 192, 96)];
    Model { form: 2, chips: 4, seqs: 1, tokens: 20, programs, ropes: ropes(32) }
}

/// A stateless pass on one chip.
pub(super) fn forward() -> Model {
    let stateless = Attention { ctx: 0, ..SMALL };
    let programs = vec![
        attention(1, 12, 1, stateless),
        delta(1, 12, 1, 96, 4, 2, 16, 96, false),
        latent(1, 12, 1, 0),
        head(12, 12, 1, 192, 96),
    ];
    Model { form: 0, chips: 1, seqs: 1, tokens: 12, programs, ropes: ropes(32) }
}
