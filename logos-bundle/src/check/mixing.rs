//! Rules 1 and 2 on the statements that mix rows or turn heads: rotary embedding, attention, convolution and gated delta.

use super::ledger::{Ledger, equal, hold};
use super::operands::{INFINITY, ONE, activation, elementwise, heads, ids, one_row, positive, weight};
use super::program::{Program, Statement, in_blocks, role};
use crate::table::layout::NONE;

pub(super) const fn rope(p: &mut Program<'_>, st: &Statement, l: &mut Ledger) {
    elementwise(p, st, l);
    let at = st.at;
    let d = heads(p, st, st.x[0] as usize, st.a[0], l);
    let rotary = st.a[1] as i128;
    hold!(l, 2, rotary > 0 && rotary % 2 == 0 && rotary <= d, at, d, rotary, "rotary width, even and at most");
    hold!(l, 2, st.a[2] <= 1, at, 1, st.a[2], "pairing, at most");
    let (cos, sin) = (p.values[st.x[1] as usize], p.values[st.x[2] as usize]);
    p.values[st.x[1] as usize].used = true;
    p.values[st.x[2] as usize].used = true;
    let tables = cos.role == role::TABLE && sin.role == role::TABLE;
    hold!(l, 1, tables, at, role::TABLE, cos.role | sin.role, "role of the tables");
    hold!(l, 1, cos.rows == p.m && sin.rows == p.m, at, p.m, cos.rows, "rows of the tables");
    hold!(l, 1, 2 * cos.cols == rotary && 2 * sin.cols == rotary, at, rotary / 2, cos.cols, "columns of the tables");
    hold!(l, 2, (cos.rope == NONE) == (sin.rope == NONE), at, cos.rope, sin.rope, "recipe of the sines");
    if tables && cos.rope != NONE && sin.rope != NONE {
        let row = p.frame.ropes[cos.rope as usize];
        let [part, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, _] = row;
        let row = p.frame.ropes[sin.rope as usize];
        let [other, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, s12, s13, _] = row;
        hold!(l, 2, part == 0 && other == 1, at, 1, part | other, "parts of the recipes: cosines, then sines");
        equal!(l, 2, at, rotary, c2 as i128, "rotary width of the recipe");
        let head = (c0 ^ s0) | (c1 ^ s1) | (c2 ^ s2) | (c3 ^ s3) | (c4 ^ s4) | (c5 ^ s5);
        let tail =
            (c6 ^ s6) | (c7 ^ s7) | (c8 ^ s8) | (c9 ^ s9) | (c10 ^ s10) | (c11 ^ s11) | (c12 ^ s12) | (c13 ^ s13);
        equal!(l, 2, at, 0, head | tail, "bits in which the two recipes differ");
    }
}

pub(super) const fn attention(p: &mut Program<'_>, st: &Statement, l: &mut Ledger) {
    let at = st.at;
    let [q, k, v, pos, ck, cv, sinks, _] = st.x;
    let [h, hk, scale, window, chunk, cap] = st.a;
    let (q, k, v) = (activation(p, st, q, l), activation(p, st, k, l), activation(p, st, v, l));
    let (d, dk, dv) = (heads(p, st, q, h, l), heads(p, st, k, hk, l), heads(p, st, v, hk, l));
    let result = heads(p, st, st.result, h, l);
    equal!(l, 1, at, d, dk, "columns of a key head");
    equal!(l, 1, at, dv, result, "columns of a head of the result");
    if hk != 0 {
        equal!(l, 2, at, 0, h % hk, "query heads, a multiple of the KV heads: rest");
    }
    hold!(l, 2, positive(scale), at, ONE, scale, "scale, positive and finite (f32 bits)");
    hold!(l, 2, cap < INFINITY, at, 0, cap, "soft cap, not negative and finite (f32 bits)");
    if sinks != NONE {
        one_row(p, st, sinks, h as i128, l);
    }
    let stateless = ck == NONE;
    hold!(l, 1, (pos == NONE) == stateless && (cv == NONE) == stateless, at, 0, 1, "caches and positions, all or none");
    if pos != NONE && ck != NONE && cv != NONE {
        ids(p, st, pos, l);
        let (kc, vc) = (p.values[ck as usize], p.values[cv as usize]);
        hold!(l, 1, kc.role == role::STATE && vc.role == role::STATE, at, role::STATE, kc.role, "role of the caches");
        let seqs = p.frame.deployment.seqs;
        hold!(l, 1, kc.seqs == seqs && vc.seqs == seqs, at, seqs, kc.seqs, "copies of the caches");
        equal!(l, 1, at, seen(p, window, chunk), kc.rows, "rows of the key cache");
        equal!(l, 1, at, kc.rows, vc.rows, "rows of the value cache");
        equal!(l, 1, at, p.values[k].cols, kc.cols, "columns of the key cache");
        equal!(l, 1, at, p.values[v].cols, vc.cols, "columns of the value cache");
    }
}

/// Positions a cache holds: the context, as far as a window or chunk lets any query see.
pub(super) const fn seen(p: &Program<'_>, window: u32, chunk: u32) -> i128 {
    let (ctx, span) = (p.frame.deployment.ctx, if window != 0 { window } else { chunk } as i128);
    if span != 0 && span < ctx { span } else { ctx }
}

pub(super) const fn latent_attention(p: &mut Program<'_>, st: &Statement, l: &mut Ledger) {
    let at = st.at;
    let [q, qp, c, turned, pos, cc, cp, _] = st.x;
    let [h, scale, ..] = st.a;
    let (q, qp) = (activation(p, st, q, l), activation(p, st, qp, l));
    let c = p.values[activation(p, st, c, l)];
    let turned = p.values[activation(p, st, turned, l)];
    let (latent, rotary, result) = (heads(p, st, q, h, l), heads(p, st, qp, h, l), heads(p, st, st.result, h, l));
    equal!(l, 1, at, latent, c.cols, "columns of the latent");
    equal!(l, 1, at, rotary, turned.cols, "columns of the turned key");
    equal!(l, 1, at, latent, result, "columns of a head of the result");
    hold!(l, 2, positive(scale), at, ONE, scale, "scale, positive and finite (f32 bits)");
    let stateless = cc == NONE;
    hold!(l, 1, (pos == NONE) == stateless && (cp == NONE) == stateless, at, 0, 1, "caches and positions, all or none");
    if pos != NONE && cc != NONE && cp != NONE {
        ids(p, st, pos, l);
        let (content, positions) = (p.values[cc as usize], p.values[cp as usize]);
        let states = content.role == role::STATE && positions.role == role::STATE;
        hold!(l, 1, states, at, role::STATE, content.role, "role of the caches");
        let seqs = p.frame.deployment.seqs;
        hold!(l, 1, content.seqs == seqs && positions.seqs == seqs, at, seqs, content.seqs, "copies of the caches");
        equal!(l, 1, at, seen(p, 0, 0), content.rows, "rows of the cache of latents: the context");
        equal!(l, 1, at, content.rows, positions.rows, "rows of the cache of turned keys");
        equal!(l, 1, at, latent, content.cols, "columns of the cache of latents");
        equal!(l, 1, at, rotary, positions.cols, "columns of the cache of turned keys");
    }
}

pub(super) const fn conv(p: &mut Program<'_>, st: &Statement, l: &mut Ledger) {
    elementwise(p, st, l);
    let at = st.at;
    let x = p.values[st.x[0] as usize];
    let w = p.values[weight(p, st, st.x[1], l)];
    equal!(l, 2, at, w.rows, st.a[0] as i128, "taps");
    hold!(l, 2, st.a[1] <= 1, at, 1, st.a[1], "activation, at most");
    equal!(l, 1, at, x.cols, w.cols, "columns of the taps");
    hold!(l, 1, !in_blocks!(w.storage), at, 0, w.storage, "storage of the taps");
    if st.x[2] != NONE {
        let r = p.values[st.x[2] as usize];
        equal!(l, 1, at, role::STATE, r.role, "role of the carried rows");
        equal!(l, 1, at, p.frame.deployment.seqs, r.seqs, "copies of the carried rows");
        equal!(l, 1, at, w.rows - 1, r.rows, "carried rows");
        equal!(l, 1, at, x.cols, r.cols, "columns of the carried rows");
    }
}

pub(super) const fn delta(p: &mut Program<'_>, st: &Statement, l: &mut Ledger) {
    let at = st.at;
    let [q, k, v, g, beta, s, ..] = st.x;
    let (q, k, v) = (activation(p, st, q, l), activation(p, st, k, l), activation(p, st, v, l));
    let (g, beta) = (p.values[activation(p, st, g, l)], p.values[activation(p, st, beta, l)]);
    let [hv, hk, ..] = st.a;
    let (dk, other) = (heads(p, st, q, hk, l), heads(p, st, k, hk, l));
    let (dv, result) = (heads(p, st, v, hv, l), heads(p, st, st.result, hv, l));
    equal!(l, 1, at, dk, other, "columns of a key head");
    equal!(l, 1, at, dv, result, "columns of a head of the result");
    hold!(l, 1, g.cols == hv as i128 && beta.cols == hv as i128, at, hv, g.cols, "columns of decay and beta");
    if hk != 0 {
        equal!(l, 2, at, 0, hv % hk, "value heads, a multiple of the key heads: rest");
    }
    let seqs = p.frame.deployment.seqs;
    if s != NONE {
        let state = p.values[s as usize];
        equal!(l, 1, at, role::STATE, state.role, "role of the carried matrix");
        equal!(l, 1, at, seqs, state.seqs, "copies of the carried matrix");
        equal!(l, 1, at, hv as i128 * dk, state.rows, "rows of the carried matrix");
        equal!(l, 1, at, dv, state.cols, "columns of the carried matrix");
    }
}
