//! The parts of operations that carry a state from step to step beside a cache: causal convolution and gated delta.

use super::expected::{Expected, Recurrence, Take, lanes, load, map, moves, once};
use super::program::{Program, Statement, bytes};
use super::section::Section;
use crate::table::layout::{NONE, primitive};

pub(super) const fn conv(e: &mut Expected, p: &Program<'_>, s: &Section, st: &Statement, part: u32) {
    let [x, taps, carried, ..] = st.x;
    let v = &p.values[x as usize];
    let count = st.a[0] as i128;
    if part == 0 {
        return load(e, p, taps, v.tiles, count * v.tile);
    }
    if part == 2 {
        map(e, p, s, x, 2 * count + if st.a[1] == 1 { 4 } else { 0 });
        e.loads(0, once(s));
        if carried != NONE {
            e.loads(1, once(s));
        }
        return;
    }
    if carried == NONE {
        return e.none();
    }
    let c = &p.values[carried as usize];
    let rows = p.frame.deployment.seqs * c.rows;
    if part == 1 {
        load(e, p, carried, v.tiles, rows * v.tile);
    } else if s.groups == 1 {
        moves(e, primitive::STORE, v.tiles, bytes(c.storage, rows * v.tile), c.tier);
        e.port(NONE, 2, Take::Stream(1), e.bytes);
    } else {
        moves(e, primitive::STORE, 1, bytes(c.storage, rows * c.cols_l), c.tier);
        e.port(NONE, 2, Take::HoldAll, e.bytes);
    }
    e.state = carried;
}

pub(super) const fn delta(e: &mut Expected, p: &Program<'_>, s: &Section, st: &Statement, part: u32) {
    let [q, k, v, g, beta, state, ..] = st.x;
    let (x, z) = (&p.values[q as usize], &p.values[v as usize]);
    let (firings, step) = (s.rows * s.groups, p.tok == 1);
    if part == 1 {
        // The local columns of v are its local heads times the columns of one: what the lanes are given.
        lanes(e, p, primitive::SCAN, firings, z.cols_l, 1);
        (e.b, e.base, e.whole) = (x.cols_l / (st.a[1] as i128 / x.parts), 2, true);
        e.recurrence = if step { Recurrence::None } else { Recurrence::Delta };
        e.reads(q, Take::Hold);
        e.reads(k, Take::Hold);
        e.reads(v, Take::Hold);
        e.reads(g, Take::Hold);
        e.reads(beta, Take::Hold);
        if state != NONE {
            e.loads(0, if step { Take::Stream(1) } else { Take::HoldAll });
        }
        return;
    }
    if state == NONE {
        return e.none();
    }
    let m = &p.values[state as usize];
    let one = m.rows_l * m.cols_l;
    let (firings, elements) = if step { (firings, one) } else { (1, p.frame.deployment.seqs * one) };
    let code = if part == 0 { primitive::LOAD } else { primitive::STORE };
    moves(e, code, firings, bytes(m.storage, elements), m.tier);
    e.state = state;
    if part == 2 {
        e.port(NONE, 1, if step { Take::Stream(1) } else { Take::HoldAll }, e.bytes);
    }
}
