//! Rules 1 and 2 on the statements that mix rows or turn heads: rotary embedding, attention, convolution and gated delta.

use super::ledger::{Ledger, equal, hold, holds};
use super::operands::{INFINITY, ONE, activation, elementwise, heads, ids, one_row, positive, weight};
use super::program::{Program, Statement, Value, in_blocks, role};
use crate::table::layout::NONE;

pub(super) const fn rope(p: &mut Program<'_>, st: &Statement, l: &mut Ledger) {
    elementwise(p, st, l);
    let at = st.at;
    let m = p.m;
    let d = heads(p, st, st.x[0] as usize, st.a[0], l);
    let rotary = st.a[1] as i128;
    let pairing = st.a[2];
    p.values[st.x[1] as usize].used = true;
    p.values[st.x[2] as usize].used = true;
    let (cos, sin) = (&p.values[st.x[1] as usize], &p.values[st.x[2] as usize]);
    let tables = matches!(cos.role, role::TABLE) && matches!(sin.role, role::TABLE);
    holds!(l, 1 * 3, at, of [cos: &Value, sin: &Value, tables: bool, m: i128, rotary: i128],
        tables => role::TABLE, cos.role | sin.role, "role of the tables";
        cos.rows == m && sin.rows == m => m, cos.rows, "rows of the tables";
        2 * cos.cols == rotary && 2 * sin.cols == rotary => rotary / 2, cos.cols, "columns of the tables";
    );
    holds!(l, 2 * 3, at, of [cos: &Value, sin: &Value, d: i128, rotary: i128, pairing: u32],
        rotary > 0 && rotary % 2 == 0 && rotary <= d => d, rotary, "rotary width, even and at most";
        pairing <= 1 => 1, pairing, "pairing, at most";
        (cos.rope == NONE) == (sin.rope == NONE) => cos.rope, sin.rope, "recipe of the sines";
    );
    if tables && cos.rope != NONE && sin.rope != NONE {
        let row = p.frame.ropes[cos.rope as usize];
        let [part, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, _] = row;
        let row = p.frame.ropes[sin.rope as usize];
        let [other, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, s12, s13, _] = row;
        let head = (c0 ^ s0) | (c1 ^ s1) | (c2 ^ s2) | (c3 ^ s3) | (c4 ^ s4) | (c5 ^ s5);
        let tail =
            (c6 ^ s6) | (c7 ^ s7) | (c8 ^ s8) | (c9 ^ s9) | (c10 ^ s10) | (c11 ^ s11) | (c12 ^ s12) | (c13 ^ s13);
        let differ = head | tail;
        holds!(l, 2 * 3, at, of [part: u32, other: u32, rotary: i128, c2: u32, differ: u32],
            part == 0 && other == 1 => 1, part | other, "parts of the recipes: cosines, then sines";
            rotary == c2 as i128 => rotary, c2, "rotary width of the recipe";
            differ == 0 => 0, differ, "bits in which the two recipes differ";
        );
    }
}

pub(super) const fn attention(p: &mut Program<'_>, st: &Statement, l: &mut Ledger) {
    let at = st.at;
    let [q, k, v, pos, ck, cv, sinks, _] = st.x;
    let [h, hk, scale, window, chunk, cap] = st.a;
    let (q, k, v) = (activation(p, st, q, l), activation(p, st, k, l), activation(p, st, v, l));
    let (d, dk, dv) = (heads(p, st, q, h, l), heads(p, st, k, hk, l), heads(p, st, v, hk, l));
    let result = heads(p, st, st.result, h, l);
    let stateless = ck == NONE;
    holds!(l, 1 * 3, at, of [d: i128, dk: i128, dv: i128, result: i128, stateless: bool, pos: u32, cv: u32],
        d == dk => d, dk, "columns of a key head";
        dv == result => dv, result, "columns of a head of the result";
        (pos == NONE) == stateless && (cv == NONE) == stateless => 0, 1, "caches and positions, all or none";
    );
    holds!(l, 2 * 3, at, of [h: u32, hk: u32, scale: u32, cap: u32],
        hk == 0 || h.is_multiple_of(hk) => 0, 1, "query heads, a multiple of the KV heads";
        positive(scale) => ONE, scale, "scale, positive and finite (f32 bits)";
        cap < INFINITY => 0, cap, "soft cap, not negative and finite (f32 bits)";
    );
    if sinks != NONE {
        one_row(p, st, sinks, h as i128, l);
    }
    if pos != NONE && ck != NONE && cv != NONE {
        ids(p, st, pos, l);
        let (kc, vc) = (&p.values[ck as usize], &p.values[cv as usize]);
        let (k, v) = (&p.values[k], &p.values[v]);
        let seqs = p.frame.deployment.seqs;
        let seen = seen(p, window, chunk);
        holds!(l, 1 * 6, at, of [k: &Value, v: &Value, kc: &Value, vc: &Value, seqs: i128, seen: i128],
            matches!(kc.role, role::STATE) && matches!(vc.role, role::STATE) => role::STATE, kc.role, "role of the caches";
            kc.seqs == seqs && vc.seqs == seqs => seqs, kc.seqs, "copies of the caches";
            seen == kc.rows => seen, kc.rows, "rows of the key cache";
            kc.rows == vc.rows => kc.rows, vc.rows, "rows of the value cache";
            k.cols == kc.cols => k.cols, kc.cols, "columns of the key cache";
            v.cols == vc.cols => v.cols, vc.cols, "columns of the value cache";
        );
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
    let w = weight(p, st, st.x[1], l);
    let (x, w) = (&p.values[st.x[0] as usize], &p.values[w]);
    let [taps, activation, ..] = st.a;
    holds!(l, 2 * 2, at, of [w: &Value, taps: u32, activation: u32],
        w.rows == taps as i128 => w.rows, taps, "taps";
        activation <= 1 => 1, activation, "activation, at most";
    );
    holds!(l, 1 * 2, at, of [x: &Value, w: &Value],
        x.cols == w.cols => x.cols, w.cols, "columns of the taps";
        !in_blocks!(w.storage) => 0, w.storage, "storage of the taps";
    );
    if st.x[2] != NONE {
        let r = &p.values[st.x[2] as usize];
        let seqs = p.frame.deployment.seqs;
        holds!(l, 1 * 4, at, of [x: &Value, w: &Value, r: &Value, seqs: i128],
            let role::STATE = r.role => role::STATE, r.role, "role of the carried rows";
            seqs == r.seqs => seqs, r.seqs, "copies of the carried rows";
            w.rows - 1 == r.rows => w.rows - 1, r.rows, "carried rows";
            x.cols == r.cols => x.cols, r.cols, "columns of the carried rows";
        );
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
    let seqs = p.frame.deployment.seqs;
    let heads = hv as i128;
    holds!(l, 1 * 3, at, of [g: Value, beta: Value, dk: i128, other: i128, dv: i128, result: i128, heads: i128],
        dk == other => dk, other, "columns of a key head";
        dv == result => dv, result, "columns of a head of the result";
        g.cols == heads && beta.cols == heads => heads, g.cols, "columns of decay and beta";
    );
    hold!(l, 2, hk == 0 || hv.is_multiple_of(hk), at, 0, 1, "value heads, a multiple of the key heads");
    if s != NONE {
        let state = &p.values[s as usize];
        holds!(l, 1 * 4, at, of [state: &Value, seqs: i128, heads: i128, dk: i128, dv: i128],
            let role::STATE = state.role => role::STATE, state.role, "role of the carried matrix";
            seqs == state.seqs => seqs, state.seqs, "copies of the carried matrix";
            heads * dk == state.rows => heads * dk, state.rows, "rows of the carried matrix";
            dv == state.cols => dv, state.cols, "columns of the carried matrix";
        );
    }
}
