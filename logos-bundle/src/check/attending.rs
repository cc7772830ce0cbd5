//! The parts of attention, over caches of keys and values or of latents.

use super::expected::{Expected, Recurrence, Take, lanes, load, stage};
use super::program::{Program, Statement, bytes, ceil};
use crate::table::layout::{NONE, primitive};

pub(super) const fn attention(e: &mut Expected, p: &Program<'_>, st: &Statement, part: u32) {
    let [q, k, v, _, ck, cv, sinks, _] = st.x;
    let (x, y, z) = (&p.values[q as usize], &p.values[k as usize], &p.values[v as usize]);
    let c = &p.frame.chip;
    let tile = c.context_tile;
    let cached = ck != NONE && cv != NONE;
    let firings = context(p, ck);
    // Local heads, and columns of a query or key head and of a value head.
    let (hq, hk) = (st.a[0] as i128 / x.parts, st.a[1] as i128 / y.parts);
    let (d, dv) = (x.cols_l / hq, z.cols_l / hk);
    let rows = hk * ceil!(p.tok * (hq / hk), c.array_rows);
    let scores = hq * p.tok * tile;
    match part {
        0 | 1 => {
            if !cached {
                return e.none();
            }
            let state = if part == 0 { ck } else { cv };
            load(e, p, state, firings, tile * p.values[state as usize].cols_l);
            e.state = state;
        }
        2 if sinks == NONE => e.none(),
        2 => load(e, p, sinks, 1, p.values[sinks as usize].cols_l),
        3 => {
            stage(e, primitive::SCORES, firings);
            (e.a, e.b, e.base) = (ceil!(tile, c.array_columns), d, rows);
            e.reads(q, Take::HoldAll);
            e.reads(k, Take::HoldAll);
            if cached {
                e.loads(0, Take::Stream(1));
            }
        }
        4 => {
            softmax(e, p, firings, scores);
            if sinks != NONE {
                e.loads(2, Take::HoldAll);
            }
        }
        _ => {
            stage(e, primitive::VALUES, firings);
            (e.a, e.b, e.base, e.whole) = (ceil!(dv, c.array_columns), tile, rows, true);
            e.port(NONE, 4, Take::Stream(1), hq * p.tok * (bytes(x.storage, tile) + 4));
            e.reads(v, Take::HoldAll);
            if cached {
                e.loads(1, Take::Stream(1));
            }
        }
    }
}

/// Tiles of context of all sequences: those of the cache, then the fresh rows.
pub(super) const fn context(p: &Program<'_>, cache: u32) -> i128 {
    let tile = p.frame.chip.context_tile;
    let cached = if cache == NONE { 0 } else { ceil!(p.values[cache as usize].rows, tile) };
    p.frame.deployment.seqs * (cached + ceil!(p.tok, tile))
}

/// Softmax of so many scores a firing.
pub(super) const fn softmax(e: &mut Expected, p: &Program<'_>, firings: i128, scores: i128) {
    lanes(e, p, primitive::SOFTMAX, firings, scores, 8);
    e.recurrence = Recurrence::Softmax;
    e.port(NONE, 3, Take::Stream(1), scores * 4);
}

/// Every head of the queries reads the one latent, which is key and value.
pub(super) const fn latent_attention(e: &mut Expected, p: &Program<'_>, st: &Statement, part: u32) {
    let [q, qp, c, turned, _, cc, cp, _] = st.x;
    let x = &p.values[q as usize];
    let unit = &p.frame.chip;
    let tile = unit.context_tile;
    let cached = cc != NONE && cp != NONE;
    let firings = context(p, cc);
    let latent = p.values[c as usize].cols;
    let rotary = p.values[turned as usize].cols;
    let queries = p.tok * (x.cols_l / latent);
    let rows = ceil!(queries, unit.array_rows);
    match part {
        0 | 1 if cached => {
            let state = if part == 0 { cc } else { cp };
            load(e, p, state, firings, tile * p.values[state as usize].cols);
            e.state = state;
        }
        0..=2 => e.none(),
        3 => {
            stage(e, primitive::SCORES, firings);
            (e.a, e.b, e.base) = (ceil!(tile, unit.array_columns), latent + rotary, rows);
            e.reads(q, Take::HoldAll);
            e.reads(qp, Take::HoldAll);
            e.reads(c, Take::HoldAll);
            e.reads(turned, Take::HoldAll);
            if cached {
                e.loads(0, Take::Stream(1));
                e.loads(1, Take::Stream(1));
            }
        }
        4 => softmax(e, p, firings, queries * tile),
        _ => {
            stage(e, primitive::VALUES, firings);
            (e.a, e.b, e.base, e.whole) = (ceil!(latent, unit.array_columns), tile, rows, true);
            e.port(NONE, 4, Take::Stream(1), queries * (bytes(x.storage, tile) + 4));
            e.reads(c, Take::HoldAll);
            if cached {
                e.loads(0, Take::Stream(1));
            }
        }
    }
}
