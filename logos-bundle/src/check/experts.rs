//! Routers and mixtures of experts: their statements, shardings and parts.

use super::expected::{Expected, Take, lanes, load, moves, stage};
use super::ledger::{Ledger, hold, holds};
use super::operands::{activation, contracted, finite, one_row, positive};
use super::program::{Program, Statement, Value, bytes, ceil, in_blocks, matrix_bytes, role, sharding};
use super::section::Section;
use crate::table::layout::{NONE, primitive, storage};

/// Rows of one expert that pass at a time, at most.
const BLOCK: i128 = 64;

/// The statement of a router: ids and scores of `k` experts a row.
pub(super) const fn router(p: &mut Program<'_>, st: &Statement, l: &mut Ledger) {
    let at = st.at;
    let [top, score, groups, kept, flags, scale] = st.a;
    let logits = activation(p, st, st.x[0], l);
    let experts = p.values[logits].cols;
    if st.x[1] != NONE {
        one_row(p, st, st.x[1], experts, l);
    }
    let (groups, kept) = (groups as i128, kept as i128);
    let least = if flags & 2 == 0 { 1 } else { 2 };
    let (whole, size) = if groups > 0 { (experts % groups == 0, experts / groups) } else { (true, experts) };
    let choices = if groups > 0 { size * kept } else { experts };
    let grouped = if groups > 0 { kept > 0 && kept <= groups } else { kept == 0 && flags & 2 == 0 };
    let top = top as i128;
    holds!(l, 2 * 6, at,
        top > 0 && top <= choices => choices, top, "experts a row, above 0 and at most";
        score <= 2 => 2, score, "kind of score, at most";
        whole && size >= least => least, size, "experts of a group, whole and at least";
        grouped => groups, kept, "groups kept, above 0 and at most (none of no groups)";
        flags <= 3 => 3, flags, "flags of a router, at most";
        finite(scale) => 0, scale, "scale, finite (f32 bits)";
    );
    let r = &mut p.values[st.result];
    r.routing = true;
    holds!(l, 1 * 2, at,
        r.cols == 2 * top => 2 * top, r.cols, "columns of the result";
        r.storage == storage::F32 => storage::F32, r.storage, "storage of a router's result";
    );
}

/// The statement of experts, whose operand `r` is a router's result, of as many experts.
pub(super) const fn experts(p: &mut Program<'_>, st: &Statement, l: &mut Ledger) {
    let at = st.at;
    let [count, top, act, alpha, limit, flags] = st.a;
    let [x, r, gate, up, down, of_gate, of_up, of_down] = st.x;
    let x = activation(p, st, x, l);
    let hidden = p.values[x].cols;
    let chosen = &mut p.values[r as usize];
    chosen.used = true;
    let (routing, router) = (chosen.routing, chosen.statement as usize);
    hold!(l, 1, routing && router < st.index, at, st.index, router, "statement of the router's result, below");
    if routing {
        let row = p.statements[router];
        let ([logits, ..], [chosen, ..]) = (row.operands, row.attributes);
        let of = p.values[logits as usize].cols;
        holds!(l, 2 * 2, at,
            of == count as i128 => of, count, "experts";
            chosen == top => chosen, top, "experts a row";
        );
    }
    let clamped = if act == 3 { positive(alpha) && positive(limit) } else { alpha == 0 && limit == 0 };
    holds!(l, 2 * 3, at,
        act <= 3 => 3, act, "activation, at most";
        clamped => 0, alpha, "alpha and limit, positive and finite where the activation has them (f32 bits)";
        flags <= 1 => 1, flags, "flags of experts, at most";
    );
    let inner = p.values[gate as usize].cols;
    let out = p.values[st.result].cols;
    let count = count as i128;
    bank(p, st, gate, [count, hidden, inner], l);
    bank(p, st, up, [count, hidden, inner], l);
    bank(p, st, down, [count, inner, out], l);
    let all = (of_gate != NONE) == (of_up != NONE) && (of_up != NONE) == (of_down != NONE);
    hold!(l, 1, all, at, 0, 1, "biases of experts, all or none");
    if of_gate != NONE && of_up != NONE && of_down != NONE {
        bias(p, st, of_gate, [count, 1, inner], l);
        bias(p, st, of_up, [count, 1, inner], l);
        bias(p, st, of_down, [count, 1, out], l);
    }
}

/// A weight of so many experts, of so many rows and columns each.
const fn bank(p: &mut Program<'_>, st: &Statement, v: u32, shape: [i128; 3], l: &mut Ledger) {
    let at = st.at;
    p.values[v as usize].used = true;
    p.values[v as usize].banked = true;
    let w = &p.values[v as usize];
    holds!(l, 1 * 4, at,
        w.role == role::WEIGHT => role::WEIGHT, w.role, "role of the operand";
        w.seqs == shape[0] => shape[0], w.seqs, "copies of a weight of experts";
        w.rows == shape[1] => shape[1], w.rows, "rows of a weight of experts";
        w.cols == shape[2] => shape[2], w.cols, "columns of a weight of experts";
    );
    contracted(w, at, l);
}

const fn bias(p: &mut Program<'_>, st: &Statement, v: u32, shape: [i128; 3], l: &mut Ledger) {
    bank(p, st, v, shape, l);
    let plain = p.values[v as usize].storage;
    hold!(l, 1, !in_blocks!(plain), st.at, 0, plain, "storage of a bias");
}

/// Whether operands and result of a router lie as they must.
pub(super) const fn router_lies(p: &Program<'_>, st: &Statement) -> bool {
    let correction = st.x[1] == NONE || p.values[st.x[1] as usize].sharding == sharding::WHOLE;
    correction && p.values[st.x[0] as usize].sharding == sharding::WHOLE
}

/// Whether the operands of experts lie as they must: all whole, or each expert's columns over the chips, or whole experts.
pub(super) const fn experts_lie(p: &Program<'_>, st: &Statement, chips: i128) -> bool {
    let [x, r, gate, up, down, of_gate, of_up, of_down] = st.x;
    let (inner, rows, out, parts) = match p.values[gate as usize].sharding {
        sharding::WHOLE => (sharding::WHOLE, sharding::WHOLE, sharding::WHOLE, 1),
        sharding::EXPERTS => (sharding::EXPERTS, sharding::EXPERTS, sharding::EXPERTS, chips),
        _ => (sharding::COLS, sharding::ROWS, sharding::WHOLE, chips),
    };
    let out_parts = if out == sharding::WHOLE { 1 } else { chips };
    lies(p, x, sharding::WHOLE, 1)
        && lies(p, r, sharding::WHOLE, 1)
        && lies(p, gate, inner, parts)
        && lies(p, up, inner, parts)
        && lies(p, down, rows, parts)
        && lies(p, of_gate, inner, parts)
        && lies(p, of_up, inner, parts)
        && lies(p, of_down, out, out_parts)
}

const fn lies(p: &Program<'_>, v: u32, sharding: u32, parts: i128) -> bool {
    if v == NONE {
        return true;
    }
    let v: &Value = &p.values[v as usize];
    v.sharding == sharding && v.parts == parts
}

/// A part of a router.
pub(super) const fn router_part(e: &mut Expected, p: &Program<'_>, s: &Section, st: &Statement, part: u32) {
    let logits = &p.values[st.x[0] as usize];
    if part == 0 {
        return if st.x[1] == NONE { e.none() } else { load(e, p, st.x[1], 1, logits.cols) };
    }
    lanes(e, p, primitive::REDUCE, s.groups, s.rows * logits.cols, 2 * st.a[0] as i128 + 8);
    e.whole = true;
    e.reads(st.x[0], Take::Hold);
    if st.x[1] != NONE {
        e.loads(0, Take::HoldAll);
    }
}

/// A part of experts: gathers of weights and biases, the products of gate and up, the activation, the product of down.
pub(super) const fn experts_part(e: &mut Expected, p: &Program<'_>, s: &Section, st: &Statement, part: u32) {
    let c = &p.frame.chip;
    let (x, up, down) = (&p.values[st.x[0] as usize], &p.values[st.x[3] as usize], &p.values[st.x[4] as usize]);
    let (mut count, mut top) = (st.a[0] as i128, st.a[1] as i128);
    if up.sharding == sharding::EXPERTS {
        // At worst all that a row chooses are this chip's.
        count /= up.parts;
        if top > count {
            top = count;
        }
    }
    let routed = s.rows * top;
    let mut slots = if routed < count { routed } else { count };
    let mut block = s.rows;
    if s.rows > BLOCK {
        block = BLOCK;
        slots += routed / BLOCK;
    }
    let tiles = ceil!(up.cols_l, c.tile);
    let tile = ceil!(up.cols_l, tiles);
    let firings = slots * tiles;
    let biased = st.x[5] != NONE;
    if part < 6 {
        if part > 2 && !biased {
            return e.none();
        }
        let w = st.x[2 + part as usize];
        let (firings, rows, cols) = match part {
            0 | 1 => (firings, x.cols, tile),
            2 => (firings, tile, down.cols_l),
            3 | 4 => (firings, 1, tile),
            _ => (slots, 1, down.cols_l),
        };
        moves(e, primitive::GATHER, firings, gathered(p, w, rows, cols), p.values[w as usize].tier);
        return e.reads(st.x[1], Take::Hold);
    }
    let passes = ceil!(block, c.array_rows);
    let token = bytes(x.storage, block * tile);
    match part {
        6 | 7 => {
            let side = part as usize - 6;
            stage(e, primitive::GEMM_A, firings);
            (e.a, e.b, e.base) = (ceil!(tile, c.array_columns), x.cols, passes);
            e.reads(st.x[0], Take::Hold);
            e.reads(st.x[1], Take::Hold);
            e.port(NONE, side, Take::Stream(1), gathered(p, st.x[2 + side], x.cols, tile));
            if biased {
                e.port(NONE, 3 + side, Take::Stream(1), gathered(p, st.x[5 + side], 1, tile));
            }
        }
        8 => {
            lanes(e, p, primitive::MAP, firings, block * tile, 9);
            e.port(NONE, 6, Take::Stream(1), token);
            e.port(NONE, 7, Take::Stream(1), token);
        }
        _ => {
            stage(e, primitive::GEMM_B, firings);
            (e.a, e.b, e.base, e.whole) = (ceil!(down.cols_l, c.array_columns), tile, passes, true);
            e.port(NONE, 8, Take::Stream(1), token);
            e.reads(st.x[1], Take::Hold);
            e.port(NONE, 2, Take::Stream(1), gathered(p, st.x[4], tile, down.cols_l));
            if biased {
                e.port(NONE, 5, Take::HoldIn(slots), gathered(p, st.x[7], 1, down.cols_l));
            }
        }
    }
}

/// Bytes of a gather's token.
const fn gathered(p: &Program<'_>, v: u32, rows: i128, cols: i128) -> i128 {
    matrix_bytes(p.values[v as usize].storage, rows, cols)
}
