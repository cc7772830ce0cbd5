//! Rule 0, the rows: every index inside what it points into, groups contiguous and covering, every number inside the
//! limits that let the other rules multiply.

use super::frame::{Frame, Row};
use super::ledger::{At, Ledger, equal, hold};
use super::{MAX_STAGES, MAX_STATEMENTS, MAX_TURNS, MAX_VALUES, RANGE_LIMIT, SHAPE_LIMIT};
use crate::table::layout::{NONE, Part};

/// High words of 64-bit numbers stay below this: the numbers below 2^40.
const HIGH: u32 = 1 << 8;

/// Where the parts grouped by program or section have been checked up to.
struct Progress {
    values: u32,
    statements: u32,
    sections: u32,
    bindings: u32,
    stages: u32,
    edges: u32,
    turns: u32,
}

/// Checks every row of the parts after the chip.
pub(super) const fn rows(f: &Frame<'_>, l: &mut Ledger) {
    let mut done = Progress { values: 0, statements: 0, sections: 0, bindings: 0, stages: 0, edges: 0, turns: 0 };
    let programs = f.programs.len();
    let mut i = 0;
    while i < programs {
        program(f, i, &mut done, l);
        if l.failed(0) {
            return;
        }
        i += 1;
    }
    let last = At(Part::Programs as u32, programs as u32 - 1);
    equal!(l, 0, last, f.values.len(), done.values as usize, "values of all programs");
    equal!(l, 0, last, f.statements.len(), done.statements as usize, "statements of all programs");
    equal!(l, 0, last, f.sections.len(), done.sections as usize, "sections of all programs");
    equal!(l, 0, last, f.bindings.len(), done.bindings as usize, "bindings of all programs");
    equal!(l, 0, last, f.stages.len(), done.stages as usize, "stages of all sections");
    equal!(l, 0, last, f.edges.len(), done.edges as usize, "edges of all sections");
    equal!(l, 0, last, f.turns.len(), done.turns as usize, "turns of all sections");
    let n = f.ropes.len();
    let mut i = 0;
    while i < n {
        let [part, _, theta, rotary, scaling, ..] = f.ropes[i];
        let at = At(Part::Ropes as u32, i as u32);
        hold!(l, 0, part <= 1, at, 1, part, "part of a rotary table, at most");
        hold!(
            l,
            0,
            theta > 0 && theta < 0x7ff0_0000,
            at,
            0x7ff0_0000,
            theta,
            "high word of theta, positive and finite"
        );
        hold!(l, 0, rotary < RANGE_LIMIT, at, RANGE_LIMIT, rotary, "rotary width, below");
        hold!(l, 0, scaling <= 5, at, 5, scaling, "rope scaling, at most");
        i += 1;
    }
    let n = f.layers.len();
    let mut i = 0;
    while i < n {
        let program = f.layers[i][0];
        let at = At(Part::Layers as u32, i as u32);
        hold!(l, 0, (program as usize) < programs, at, programs, program, "program of a layer, below");
        i += 1;
    }
}

const fn program(f: &Frame<'_>, index: usize, done: &mut Progress, l: &mut Ledger) {
    let at = At(Part::Programs as u32, index as u32);
    let [name, name_len, text, text_len, role, _, v0, nv, s0, ns, c0, nc, b0, nb, m, _] = f.programs[index];
    strings(f, at, name, name_len, text, text_len, l);
    hold!(l, 0, role <= 2, at, 2, role, "program role, at most");
    hold!(l, 0, m > 0 && m < RANGE_LIMIT, at, RANGE_LIMIT, m, "rows of an activation, above 0 and below");
    equal!(l, 0, at, done.values, v0, "first value");
    equal!(l, 0, at, done.statements, s0, "first statement");
    equal!(l, 0, at, done.sections, c0, "first section");
    equal!(l, 0, at, done.bindings, b0, "first binding");
    hold!(l, 0, nv > 0 && nv <= MAX_VALUES as u32, at, MAX_VALUES, nv, "values of a program, above 0 and at most");
    hold!(l, 0, ns > 0 && ns <= MAX_STATEMENTS as u32, at, MAX_STATEMENTS, ns, "statements, above 0 and at most");
    hold!(l, 0, nc > 0 && nc <= ns, at, ns, nc, "sections of a program, above 0 and at most");
    hold!(l, 0, nb <= nv, at, nv, nb, "bindings of a program, at most");
    within(at, v0, nv, f.values.len(), l);
    within(at, s0, ns, f.statements.len(), l);
    within(at, c0, nc, f.sections.len(), l);
    within(at, b0, nb, f.bindings.len(), l);
    if l.failed(0) {
        return;
    }
    let mut i = v0;
    while i < v0 + nv {
        value(f, i, ns, l);
        i += 1;
    }
    let mut i = s0;
    while i < s0 + ns {
        statement(f, i, nv, l);
        i += 1;
    }
    let mut i = b0;
    while i < b0 + nb {
        let [value, name, name_len, tensor, tensor_len, transposed, offset, _, _, _, _, _, class, ..] =
            f.bindings[i as usize];
        let at = At(Part::Bindings as u32, i);
        hold!(l, 0, value < nv, at, nv, value, "value of a binding, below");
        strings(f, at, name, name_len, tensor, tensor_len, l);
        hold!(l, 0, transposed <= 1, at, 1, transposed, "transposed, at most");
        hold!(l, 0, offset <= SHAPE_LIMIT, at, SHAPE_LIMIT, offset, "first stored index, at most");
        hold!(l, 0, class <= 4, at, 4, class, "class of a binding, at most");
        i += 1;
    }
    let mut i = c0;
    while i < c0 + nc {
        section(f, i, index as u32, ns, nv, done, l);
        if l.failed(0) {
            return;
        }
        i += 1;
    }
    done.values += nv;
    done.statements += ns;
    done.sections += nc;
    done.bindings += nb;
}

const fn strings(f: &Frame<'_>, at: At, a: u32, a_len: u32, b: u32, b_len: u32, l: &mut Ledger) {
    let (a, b) = (a as u64 + a_len as u64, b as u64 + b_len as u64);
    hold!(l, 0, a <= f.string_bytes, at, f.string_bytes, a, "end of the first string, at most");
    hold!(l, 0, b <= f.string_bytes, at, f.string_bytes, b, "end of the second string, at most");
}

const fn within(at: At, first: u32, count: u32, rows: usize, l: &mut Ledger) {
    let (end, rows) = (first as u64 + count as u64, rows as u64);
    hold!(l, 0, end <= rows, at, rows, end, "end of a group of rows, at most");
}

const fn value(f: &Frame<'_>, i: u32, statements: u32, l: &mut Ledger) {
    let [name, name_len, role, storage, seqs, rows, cols, sharding, parts, tile, tier, statement, rope, ..] =
        f.values[i as usize];
    let at = At(Part::Values as u32, i);
    let end = name as u64 + name_len as u64;
    hold!(l, 0, end <= f.string_bytes, at, f.string_bytes, end, "end of the name, at most");
    hold!(
        l,
        0,
        role <= 4 && storage <= 4 && sharding <= 3,
        at,
        4,
        role | storage | sharding,
        "role, storage, sharding"
    );
    let shape = seqs > 0 && rows > 0 && cols > 0 && seqs <= SHAPE_LIMIT && rows <= SHAPE_LIMIT && cols <= SHAPE_LIMIT;
    hold!(l, 0, shape, at, SHAPE_LIMIT, rows, "copies, rows and columns, above 0 and at most");
    hold!(l, 0, parts > 0 && parts < RANGE_LIMIT, at, RANGE_LIMIT, parts, "parts, above 0 and below");
    hold!(l, 0, tile > 0 && tile < RANGE_LIMIT, at, RANGE_LIMIT, tile, "columns of a tile, above 0 and below");
    hold!(l, 0, tier <= 2 || tier == NONE, at, 2, tier, "tier, at most");
    hold!(l, 0, statement < statements || statement == NONE, at, statements, statement, "statement, below");
    hold!(l, 0, (rope as usize) < f.ropes.len() || rope == NONE, at, f.ropes.len(), rope, "rope recipe, below");
}

const fn statement(f: &Frame<'_>, i: u32, values: u32, l: &mut Ledger) {
    let [_, result, a, b, c, d, e, g, h, k, ..] = f.statements[i as usize];
    let at = At(Part::Statements as u32, i);
    hold!(l, 0, result < values, at, values, result, "result, below");
    let first = (a < values || a == NONE) && (b < values || b == NONE) && (c < values || c == NONE);
    let rest = (d < values || d == NONE) && (e < values || e == NONE) && (g < values || g == NONE);
    let last = (h < values || h == NONE) && (k < values || k == NONE);
    hold!(l, 0, first && rest && last, at, values, a, "operands, each below");
}

const fn section(f: &Frame<'_>, i: u32, owner: u32, statements: u32, values: u32, done: &mut Progress, l: &mut Ledger) {
    let at = At(Part::Sections as u32, i);
    let [program, rows, groups, g0, ng, e0, ne, t0, nt, h, high_h, _, high_span, binder, _, high_bound] =
        f.sections[i as usize];
    equal!(l, 0, at, owner, program, "program of a section");
    hold!(l, 0, rows > 0 && rows < RANGE_LIMIT, at, RANGE_LIMIT, rows, "rows of a group, above 0 and below");
    hold!(l, 0, groups > 0 && groups < RANGE_LIMIT, at, RANGE_LIMIT, groups, "groups, above 0 and below");
    equal!(l, 0, at, done.stages, g0, "first stage");
    equal!(l, 0, at, done.edges, e0, "first edge");
    equal!(l, 0, at, done.turns, t0, "first turn");
    hold!(l, 0, ng > 0 && ng <= MAX_STAGES as u32, at, MAX_STAGES, ng, "stages of a section, above 0 and at most");
    hold!(l, 0, nt <= MAX_TURNS as u32, at, MAX_TURNS, nt, "turns of a section, at most");
    hold!(l, 0, high_h | high_span | high_bound < HIGH, at, HIGH, high_h, "high words of interval, span, bound, below");
    hold!(l, 0, h | high_h > 0, at, 1, h, "interval, at least");
    hold!(l, 0, binder <= 4, at, 4, binder, "binder, at most");
    within(at, g0, ng, f.stages.len(), l);
    within(at, e0, ne, f.edges.len(), l);
    within(at, t0, nt, f.turns.len(), l);
    if l.failed(0) {
        return;
    }
    let mut k = g0;
    while k < g0 + ng {
        stage(&f.stages[k as usize], At(Part::Stages as u32, k), statements, nt, l);
        k += 1;
    }
    let mut k = e0;
    while k < e0 + ne {
        edge(&f.edges[k as usize], At(Part::Edges as u32, k), ng, values, l);
        k += 1;
    }
    let mut k = t0;
    while k < t0 + nt {
        let [tier, _, _, start, _, length, ..] = f.turns[k as usize];
        let at = At(Part::Turns as u32, k);
        hold!(l, 0, tier == 1 || tier == 2, at, 2, tier, "tier of a turn: 1, or");
        hold!(l, 0, start | length < HIGH, at, HIGH, start | length, "high words of start and length, below");
        k += 1;
    }
    done.stages += ng;
    done.edges += ne;
    done.turns += nt;
}

const fn stage(row: &Row, at: At, statements: u32, turns: u32, l: &mut Ledger) {
    let [statement, part, primitive, f, na, nb, site, turn, _, start, t0, t1, ii0, ii1, _, bytes] = *row;
    hold!(l, 0, statement < statements, at, statements, statement, "statement of a stage, below");
    hold!(l, 0, part <= 15 && primitive <= 11, at, 15, part, "part and primitive of a stage, at most");
    hold!(l, 0, f > 0 && f < RANGE_LIMIT, at, RANGE_LIMIT, f, "firings, above 0 and below");
    hold!(l, 0, na > 0 && nb > 0 && na | nb < RANGE_LIMIT, at, RANGE_LIMIT, na | nb, "cells, above 0 and below");
    hold!(l, 0, site < RANGE_LIMIT, at, RANGE_LIMIT, site, "site, below");
    hold!(l, 0, turn < turns || turn == NONE, at, turns, turn, "turn of a stage, below");
    hold!(l, 0, start | t1 | ii1 | bytes < HIGH, at, HIGH, start | t1 | ii1 | bytes, "high words of a stage, below");
    hold!(l, 0, t0 | t1 > 0 && ii0 | ii1 > 0, at, 1, t0, "period and initiation interval, at least");
}

const fn edge(row: &Row, at: At, stages: u32, values: u32, l: &mut Ledger) {
    let [from, to, _, kind, p, q, groups, capacity, slot, _, value, ..] = *row;
    hold!(l, 0, from < to && to < stages, at, stages, to, "consumer of an edge, after its producer and below");
    hold!(l, 0, p | q | groups | capacity < RANGE_LIMIT, at, RANGE_LIMIT, capacity, "tokens and capacity, below");
    hold!(l, 0, capacity > 0 && slot > 0, at, 1, capacity, "capacity and slot, at least");
    let stream = kind == 0 && p > 0 && q > 0 && groups == 0;
    hold!(l, 0, stream || kind == 1 && groups > 0 && p | q == 0, at, 1, kind, "kind of an edge with its numbers");
    hold!(l, 0, value < values || value == NONE, at, values, value, "value of an edge, below");
}
