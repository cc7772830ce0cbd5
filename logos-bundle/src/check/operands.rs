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
    let x = &mut p.values[k];
    x.used = true;
    holds!(l, 1 * 4, st.at,
        (x.role == role::BOUND || x.role == role::INPUT) && x.storage != storage::I32 => role::BOUND, x.role, "operand, an activation";
        !x.routing => 0, 1, "routers' results read by what is no experts";
        x.statement < st.index as u32 => st.index, x.statement, "statement of the operand, below";
        x.rows == p.m => p.m, x.rows, "rows of the operand";
    );
    k
}

pub(super) const fn weight(p: &mut Program<'_>, st: &Statement, v: u32, l: &mut Ledger) -> usize {
    p.values[v as usize].used = true;
    let w = &p.values[v as usize];
    holds!(l, 1 * 2, st.at,
        w.role == role::WEIGHT => role::WEIGHT, w.role, "role of the operand";
        w.seqs == 1 => 1, w.seqs, "copies of a weight that is no experts'";
    );
    v as usize
}

/// A one-row weight of so many columns, plain elements.
pub(super) const fn one_row(p: &mut Program<'_>, st: &Statement, v: u32, cols: i128, l: &mut Ledger) {
    let w = p.values[weight(p, st, v, l)];
    let at = st.at;
    hold!(l, 1, w.rows == 1 && !in_blocks!(w.storage), at, 1, w.rows, "rows of a plain weight");
    equal!(l, 1, at, cols, w.cols, "columns of the weight");
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
    let x = p.values[v as usize];
    p.values[v as usize].used = true;
    let at = st.at;
    hold!(l, 1, x.role == role::INPUT && x.storage == storage::I32, at, role::INPUT, x.role, "operand, an Int input");
    equal!(l, 1, at, p.m, x.rows * x.cols, "ids of the operand");
}

/// The first operand is an activation, and the result is shaped and tiled like it.
pub(super) const fn elementwise(p: &mut Program<'_>, st: &Statement, l: &mut Ledger) {
    let x = activation(p, st, st.x[0], l);
    let x = &p.values[x];
    let r = &p.values[st.result];
    holds!(l, 1 * 2, st.at,
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
    hold!(l, 2, true, at, 0, 0, "heads");
    hold!(l, 1, d % x.tile == 0 || x.tile % d == 0, at, d, x.tile, "tile, a divisor or multiple of a head's columns");
    d
}
