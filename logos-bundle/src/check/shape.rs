//! Rules 1 and 2 on statements: operands of the right roles and shapes, bound before they are read; attributes an
//! operation can mean. Marks the values each statement reads.

use super::RANGE_LIMIT;
use super::experts;
use super::ledger::{Ledger, equal, failed, hold, holds};
use super::mixing::{attention, conv, delta, latent_attention, rope};
use super::operands::{
    ONE, activation, contracted, elementwise, finite, heads, ids, of_heads, one_row, other, positive, weight,
};
use super::program::{LAST, Program, Statement, Value, in_blocks, role};
use crate::table::layout::{NONE, op, storage};

/// How many first operands an operation must have and how many it may have at most, and how many attributes it has; `None`
/// for no operation's code.
const fn form(code: u32) -> Option<(u32, u32, u32)> {
    Some(match code {
        op::INPUT | op::SHOW => (0, 0, 0),
        op::APPEND | op::MATMUL | op::PLUS | op::TIMES | op::SWIGLU | op::ROWS => (2, 2, 0),
        op::GEGLU => (2, 2, 1),
        op::SILU | op::SIGMOID | op::TANH | op::SUM_CHIPS | op::GATHER_CHIPS => (1, 1, 0),
        op::SCALED | op::GELU | op::SOFTCAP | op::LAST_ROW | op::ARGMAX => (1, 1, 1),
        op::L2NORM => (1, 1, 3),
        op::RMSNORM => (1, 2, 4),
        op::LAYERNORM => (1, 3, 2),
        op::ROPE => (3, 3, 3),
        op::DECAY => (3, 3, 0),
        op::ATTENTION => (3, 7, 6),
        op::CONV => (2, 3, 2),
        op::DELTA => (5, 6, 2),
        op::ROW_SCALE => (2, 2, 0),
        op::HEAD_MATMUL => (2, 2, 2),
        op::LATENT_ATTENTION => (4, 7, 2),
        op::ROUTER => (1, 2, 6),
        op::EXPERTS => (5, 8, 6),
        _ => return None,
    })
}

/// Checks one statement; the values it reads become used, its result bound.
pub(super) const fn statement(p: &mut Program<'_>, st: &Statement, l: &mut Ledger) {
    let at = st.at;
    let Some((must, may, attributes)) = form(st.op) else {
        l.fault(1, at, 0, st.op as i128, "operation code");
        return;
    };
    let present = match must {
        0 => true,
        1 => matches!(st.x, [..=LAST, ..]),
        2 => matches!(st.x, [..=LAST, ..=LAST, ..]),
        3 => matches!(st.x, [..=LAST, ..=LAST, ..=LAST, ..]),
        4 => matches!(st.x, [..=LAST, ..=LAST, ..=LAST, ..=LAST, ..]),
        5 => matches!(st.x, [..=LAST, ..=LAST, ..=LAST, ..=LAST, ..=LAST, ..]),
        _ => false,
    };
    let absent = match may {
        0 => matches!(st.x, [NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE]),
        1 => matches!(st.x, [_, NONE, NONE, NONE, NONE, NONE, NONE, NONE]),
        2 => matches!(st.x, [_, _, NONE, NONE, NONE, NONE, NONE, NONE]),
        3 => matches!(st.x, [_, _, _, NONE, NONE, NONE, NONE, NONE]),
        4 => matches!(st.x, [_, _, _, _, NONE, NONE, NONE, NONE]),
        5 => matches!(st.x, [_, _, _, _, _, NONE, NONE, NONE]),
        6 => matches!(st.x, [_, _, _, _, _, _, NONE, NONE]),
        7 => matches!(st.x, [_, _, _, _, _, _, _, NONE]),
        _ => true,
    };
    hold!(l, 1, present && absent, at, (1 << must) - 1, given(&st.x), "operands given, as a bit set");
    let unused = match attributes {
        0 => matches!(st.a, [0, 0, 0, 0, 0, 0]),
        1 => matches!(st.a, [_, 0, 0, 0, 0, 0]),
        2 => matches!(st.a, [_, _, 0, 0, 0, 0]),
        3 => matches!(st.a, [_, _, _, 0, 0, 0]),
        4 => matches!(st.a, [_, _, _, _, 0, 0]),
        _ => true,
    };
    hold!(l, 2, unused, at, 0, 1, "attribute words the operation does not use");
    if failed!(l, 1) {
        return;
    }
    result(p, st, l);
    match st.op {
        op::INPUT => (p.inputs, p.input) = (p.inputs + 1, st.result),
        op::SHOW => show(p, st, l),
        op::APPEND => append(p, st, l),
        op::MATMUL => matmul(p, st, l),
        op::ROWS => rows(p, st, l),
        op::PLUS | op::TIMES | op::SWIGLU | op::GEGLU => pair(p, st, l),
        op::GELU | op::SCALED | op::SOFTCAP => {
            elementwise(p, st, l);
            constant(st, l);
        }
        op::SILU | op::SIGMOID | op::TANH | op::SUM_CHIPS => elementwise(p, st, l),
        op::DECAY => {
            elementwise(p, st, l);
            let cols = p.values[st.x[0] as usize].cols;
            one_row(p, st, st.x[1], cols, l);
            one_row(p, st, st.x[2], cols, l);
        }
        op::RMSNORM | op::LAYERNORM => norm(p, st, l),
        op::L2NORM => l2norm(p, st, l),
        op::ROPE => rope(p, st, l),
        op::ATTENTION => attention(p, st, l),
        op::ROUTER => experts::router(p, st, l),
        op::EXPERTS => experts::experts(p, st, l),
        op::CONV => conv(p, st, l),
        op::DELTA => delta(p, st, l),
        op::ROW_SCALE => row_scale(p, st, l),
        op::HEAD_MATMUL => head_matmul(p, st, l),
        op::LATENT_ATTENTION => latent_attention(p, st, l),
        op::LAST_ROW => last_row(p, st, l),
        op::ARGMAX => argmax(p, st, l),
        _ => gather(p, st, l),
    }
}

/// Which operands are given, as a bit set.
const fn given(x: &[u32; 8]) -> u32 {
    let mut set = 0;
    let mut i = 0;
    while i < 8 {
        if x[i] != NONE {
            set |= 1 << i;
        }
        i += 1;
    }
    set
}

const fn show(p: &mut Program<'_>, st: &Statement, l: &mut Ledger) {
    let at = st.at;
    let v = &mut p.values[st.result];
    v.used = true;
    v.shown = true;
    hold!(l, 1, v.role == role::BOUND && v.statement < st.index as u32, at, 1, 0, "value shown, bound before");
    hold!(l, 1, !v.routing, at, 0, 1, "routers' results shown");
    hold!(l, 9, v.tier != NONE, at, 2, v.tier, "tier of a shown value, at most");
    (p.shows, p.shown) = (p.shows + 1, st.result);
}

const fn append(p: &mut Program<'_>, st: &Statement, l: &mut Ledger) {
    let x = activation(p, st, st.x[0], l);
    ids(p, st, st.x[1], l);
    let cols = p.values[x].cols;
    equal!(l, 1, st.at, p.values[st.result].cols, cols, "columns of what is appended");
}

const fn matmul(p: &mut Program<'_>, st: &Statement, l: &mut Ledger) {
    let x = activation(p, st, st.x[0], l);
    let w = weight(p, st, st.x[1], l);
    let (k, n) = (p.values[x].cols, p.values[st.result].cols);
    let w = &p.values[w];
    let at = st.at;
    equal!(l, 1, at, k, w.rows, "rows of the weight");
    equal!(l, 1, at, w.cols, n, "columns of the result");
    contracted(w, at, l);
}

const fn rows(p: &mut Program<'_>, st: &Statement, l: &mut Ledger) {
    let e = weight(p, st, st.x[0], l);
    ids(p, st, st.x[1], l);
    let Value { cols, storage, .. } = p.values[e];
    let by_rows = !matches!(storage, storage::F8_E4M3 | storage::MXFP4);
    hold!(l, 1, by_rows, st.at, 0, storage, "storage of a table of rows");
    equal!(l, 1, st.at, cols, p.values[st.result].cols, "columns of the result");
}

/// Two values alike, or a value and a one-row weight where the operation allows one.
const fn pair(p: &mut Program<'_>, st: &Statement, l: &mut Ledger) {
    elementwise(p, st, l);
    let either = st.op == op::PLUS || st.op == op::TIMES;
    if either && p.values[st.x[1] as usize].role == role::WEIGHT {
        one_row(p, st, st.x[1], p.values[st.x[0] as usize].cols, l);
    } else {
        other(p, st, st.x[1], l);
    }
    if st.op == op::GEGLU {
        hold!(l, 2, st.a[0] <= 1, st.at, 1, st.a[0], "form of geglu, at most");
    }
}

/// The one attribute of gelu, scaled and softcap.
const fn constant(st: &Statement, l: &mut Ledger) {
    let at = st.at;
    let bits = st.a[0];
    match st.op {
        op::GELU => hold!(l, 2, bits <= 1, at, 1, bits, "form of gelu, at most"),
        op::SCALED => hold!(l, 2, finite(bits), at, 0, bits, "factor, finite (f32 bits)"),
        _ => hold!(l, 2, positive(bits), at, ONE, bits, "cap, positive and finite (f32 bits)"),
    }
}

const fn l2norm(p: &mut Program<'_>, st: &Statement, l: &mut Ledger) {
    elementwise(p, st, l);
    let at = st.at;
    heads(p, st, st.x[0] as usize, st.a[2], l);
    hold!(l, 2, positive(st.a[0]), at, ONE, st.a[0], "eps, positive and finite (f32 bits)");
    hold!(l, 2, finite(st.a[1]), at, ONE, st.a[1], "scale, finite (f32 bits)");
}

const fn last_row(p: &mut Program<'_>, st: &Statement, l: &mut Ledger) {
    let at = st.at;
    let x = p.values[st.x[0] as usize];
    p.values[st.x[0] as usize].used = true;
    p.last_rows += 1;
    let d = &p.frame.deployment;
    let r = &p.values[st.result];
    let input = x.role == role::INPUT && x.storage != storage::I32;
    hold!(l, 1, input && x.statement < st.index as u32, at, role::INPUT, x.role, "operand, a Real input");
    equal!(l, 1, at, d.seqs * d.tokens, x.rows, "rows of the operand");
    equal!(l, 1, at, d.seqs, p.m, "rows of the result");
    equal!(l, 2, at, d.seqs, st.a[0] as i128, "sequences");
    equal!(l, 1, at, x.cols, r.cols, "columns of the result");
    equal!(l, 1, at, x.tile, r.tile, "tile of the result");
}

const fn argmax(p: &mut Program<'_>, st: &Statement, l: &mut Ledger) {
    let x = activation(p, st, st.x[0], l);
    equal!(l, 1, st.at, 1, p.values[st.result].cols, "columns of the result");
    let all = p.values[x].cols;
    let below = st.a[0] as i128;
    hold!(l, 2, below < all, st.at, all, below, "columns that stand for something, below (0: all)");
}

const fn gather(p: &mut Program<'_>, st: &Statement, l: &mut Ledger) {
    let x = p.values[activation(p, st, st.x[0], l)];
    let r = p.values[st.result];
    let at = st.at;
    equal!(l, 1, at, x.cols, r.cols, "columns of the result");
    equal!(l, 1, at, x.tile * p.frame.deployment.chips, r.tile, "tile of what is gathered");
}

/// The result: of the statement's own, of the right role, and with the rows of an activation.
const fn result(p: &mut Program<'_>, st: &Statement, l: &mut Ledger) {
    let r = &mut p.values[st.result];
    match st.op {
        op::SHOW => return,
        op::APPEND => return appended(p, st, l),
        _ => r.bound = true,
    }
    let m = p.m;
    let index = st.index as u32;
    // Of ids that an argmax binds, and of Real elements all others.
    holds!(l, 1 * 4, st.at, of [st: &Statement, r: &Value, m: i128, index: u32],
        matches!(st.op, op::INPUT) == matches!(r.role, role::INPUT) && matches!(r.role, role::INPUT | role::BOUND) => role::BOUND, r.role, "role of the result";
        index == r.statement => index, r.statement, "statement of the result";
        matches!(r.storage, storage::F32 | storage::F16 | storage::BF16) && !matches!(st.op, op::ARGMAX) || matches!(r.storage, storage::I32) && matches!(st.op, op::ARGMAX) => 0, r.storage, "storage of the result";
        m == r.rows || matches!(st.op, op::INPUT) => m, r.rows, "rows of the result";
    );
}

const fn appended(p: &Program<'_>, st: &Statement, l: &mut Ledger) {
    let r = &p.values[st.result];
    equal!(l, 1, st.at, role::STATE, r.role, "role of what is appended to");
    equal!(l, 1, st.at, p.frame.deployment.seqs, r.seqs, "copies of what is appended to");
}

const fn norm(p: &mut Program<'_>, st: &Statement, l: &mut Ledger) {
    elementwise(p, st, l);
    let rms = matches!(st.op, op::RMSNORM);
    let count = if rms { st.a[2] } else { st.a[1] };
    let x = st.x[0] as usize;
    let cols = if count == 0 { p.values[x].cols } else { heads(p, st, x, count, l) };
    if st.x[1] != NONE {
        of_heads(p, st, st.x[1], count, cols, l);
    }
    if st.x[2] != NONE {
        of_heads(p, st, st.x[2], count, cols, l);
    }
    let [eps, offset, _, over_chips, ..] = st.a;
    let most = if count == 0 { 1 } else { 0 };
    holds!(l, 2 * 3, st.at, of [rms: bool, eps: u32, offset: u32, over_chips: u32, most: u32],
        positive(eps) => ONE, eps, "eps, positive and finite (f32 bits)";
        !rms || matches!(offset, 0 | ONE) => ONE, offset, "offset, 0 or 1 (f32 bits)";
        over_chips <= most => most, over_chips, "norm over chips, of whole rows only, at most";
    );
}

const fn row_scale(p: &mut Program<'_>, st: &Statement, l: &mut Ledger) {
    elementwise(p, st, l);
    let at = st.at;
    let g = p.values[st.x[1] as usize];
    equal!(l, 1, at, 1, g.cols, "columns of the factors");
    if g.role != role::TABLE {
        activation(p, st, st.x[1], l);
        return;
    }
    p.values[st.x[1] as usize].used = true;
    equal!(l, 1, at, p.m, g.rows, "rows of the factors");
    if g.rope != NONE {
        let row = p.frame.ropes[g.rope as usize];
        let [part, t0, t1, rotary, scaling, scale, floor, p2, p3, p4, p5, p6, p7, factor, factors, _] = row;
        equal!(l, 2, at, 2, part, "part of the recipe: a temperature");
        hold!(l, 2, finite(scale), at, 0, scale, "scale of the temperature, finite (f32 bits)");
        hold!(l, 2, positive(floor), at, ONE, floor, "floor of the temperature, positive and finite (f32 bits)");
        let rest = t0 | t1 | rotary | scaling | p2 | p3 | p4 | p5 | p6 | p7 | factor | factors;
        equal!(l, 2, at, 0, rest, "words of the recipe that a temperature has not");
    }
}

const fn head_matmul(p: &mut Program<'_>, st: &Statement, l: &mut Ledger) {
    let at = st.at;
    let x = p.values[activation(p, st, st.x[0], l)];
    let w = p.values[weight(p, st, st.x[1], l)];
    let r = p.values[st.result];
    let [h, along, ..] = st.a;
    let n = h as i128;
    hold!(l, 2, along <= 1, at, 1, along, "axis of the blocks, at most");
    if h == 0 || h >= RANGE_LIMIT || x.cols % n != 0 || r.cols % n != 0 {
        l.fault(2, at, x.cols, n, "heads, a divisor of the columns of operand and result");
        return;
    }
    let (inner, width) = (x.cols / n, r.cols / n);
    equal!(l, 1, at, if along == 1 { x.cols } else { inner }, w.rows, "rows of the weight");
    equal!(l, 1, at, if along == 1 { width } else { r.cols }, w.cols, "columns of the weight");
    hold!(l, 1, !in_blocks!(w.storage), at, 0, w.storage, "storage of the weight");
    equal!(l, 1, at, 0, width % r.tile, "columns of a head of the result, a multiple of its tile: rest");
}
