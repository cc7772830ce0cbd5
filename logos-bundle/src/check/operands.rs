//! What an operand must be (rules 1 and 2): an activation, a weight, ids, whole heads; and the numbers an attribute may be.

use super::RANGE_LIMIT;
use super::ledger::{At, Ledger, equal, hold, holds};
use super::program::{Program, Statement, Value, in_blocks, role};
use crate::table::layout::storage;

/// Bits of 1.0 in f32.
pub(super) const ONE: u32 = 0x3f80_0000;

/// Bits of infinity in f32: as integers, the positive finite numbers lie between 0 and this.
pub(super) const INFINITY: u32 = 0x7f80_0000;

pub(super) const fn positive(bits: u32) -> bool {
    bits > 0 && bits < INFINITY
}

pub(super) const fn finite(bits: u32) -> bool {
    bits & INFINITY != INFINITY
}

/// An operand that is an activation: Real, of this program's rows, and bound before. Returns it.
pub(super) const fn activation(p: &mut Program<'_>, st: &Statement, v: u32, l: &mut Ledger) -> usize {
    let k = v as usize;
    let m = p.m;
    let index = st.index as u32;
    let x = &mut p.values[k];
    x.used = true;
    holds!(l, 1 * 4, st.at, of [x: &Value, m: i128, index: u32],
        let Value { role: role::BOUND | role::INPUT, storage: ..=storage::Q8_0 | storage::F8_E4M3.., .. } = *x => role::BOUND, x.role, "operand, an activation";
        let false = x.routing => 0, 1, "routers' results read by what is no experts";
        x.statement < index => index, x.statement, "statement of the operand, below";
        x.rows == m => m, x.rows, "rows of the operand";
    );
    k
}

pub(super) const fn weight(p: &mut Program<'_>, st: &Statement, v: u32, l: &mut Ledger) -> usize {
    p.values[v as usize].used = true;
    let w = &p.values[v as usize];
    holds!(l, 1 * 2, st.at, of [w: &Value],
        let role::WEIGHT = w.role => role::WEIGHT, w.role, "role of the operand";
        let 1 = w.seqs => 1, w.seqs, "copies of a weight that is no experts'";
    );
    v as usize
}

/// A one-row weight of so many columns, plain elements.
pub(super) const fn one_row(p: &mut Program<'_>, st: &Statement, v: u32, cols: i128, l: &mut Ledger) {
    let w = &p.values[weight(p, st, v, l)];
    holds!(l, 1 * 2, st.at, of [w: &Value, cols: i128],
        w.rows == 1 && !in_blocks!(w.storage) => 1, w.rows, "rows of a plain weight";
        cols == w.cols => cols, w.cols, "columns of the weight";
    );
}

/// A weight that is contracted along its rows: a chip's are whole blocks, where these lie along them.
pub(super) const fn contracted(w: &Value, at: At, l: &mut Ledger) {
    let cut = !matches!(w.storage, storage::Q8_0 | storage::MXFP4) || w.rows_l % 32 == 0;
    hold!(l, 11, cut, at, 0, w.rows_l % 32, "a chip's rows of a weight in blocks of 32, a multiple of them: rest");
}

/// A weight of a norm: one row, or a row for each head.
pub(super) const fn of_heads(p: &mut Program<'_>, st: &Statement, v: u32, heads: u32, cols: i128, l: &mut Ledger) {
    if p.values[v as usize].rows == 1 {
        return one_row(p, st, v, cols, l);
    }
    let w = p.values[weight(p, st, v, l)];
    let at = st.at;
    hold!(l, 1, w.rows == heads as i128 && !in_blocks!(w.storage), at, heads, w.rows, "rows of a plain weight");
    equal!(l, 1, at, cols, w.cols, "columns of the weight");
}

/// An operand of token ids or positions: one a row.
pub(super) const fn ids(p: &mut Program<'_>, st: &Statement, v: u32, l: &mut Ledger) {
    let m = p.m;
    let x = &mut p.values[v as usize];
    x.used = true;
    holds!(l, 1 * 2, st.at, of [x: &Value, m: i128],
        let Value { role: role::INPUT, storage: storage::I32, .. } = *x => role::INPUT, x.role, "operand, an Int input";
        m == x.rows * x.cols => m, x.rows * x.cols, "ids of the operand";
    );
}

/// The first operand is an activation, and the result is shaped and tiled like it.
pub(super) const fn elementwise(p: &mut Program<'_>, st: &Statement, l: &mut Ledger) {
    let x = activation(p, st, st.x[0], l);
    let x = &p.values[x];
    let r = &p.values[st.result];
    holds!(l, 1 * 2, st.at, of [x: &Value, r: &Value],
        x.cols == r.cols => x.cols, r.cols, "columns of the result";
        x.tile == r.tile => x.tile, r.tile, "tile of the result";
    );
}

/// A further activation like the first.
pub(super) const fn other(p: &mut Program<'_>, st: &Statement, v: u32, l: &mut Ledger) {
    let x = p.values[st.x[0] as usize];
    let b = p.values[activation(p, st, v, l)];
    equal!(l, 1, st.at, x.cols, b.cols, "columns of the second operand");
    equal!(l, 1, st.at, x.tile, b.tile, "tile of the second operand");
}

/// A value with heads: returns the columns of a head, at least 1 whatever the table says.
pub(super) const fn heads(p: &Program<'_>, st: &Statement, v: usize, heads: u32, l: &mut Ledger) -> i128 {
    let at = st.at;
    let x = &p.values[v];
    let n = heads as i128;
    if heads == 0 || heads >= RANGE_LIMIT || x.cols % n != 0 {
        l.fault(2, at, x.cols, n, "heads, a divisor of the columns");
        return 1;
    }
    let d = x.cols / n;
    l.obligations.2 += 1;
    hold!(l, 1, d % x.tile == 0 || x.tile % d == 0, at, d, x.tile, "tile, a divisor or multiple of a head's columns");
    d
}
