//! Rule 0, the rows: every index inside what it points into, groups contiguous and covering, every number inside the
//! limits that let the other rules multiply.

use super::frame::Frame;
use super::ledger::{At, Ledger, count, each, equal, failed, hold, part};
use super::rows::{EdgeRow, StageRow, ValueRow};
use super::{MAX_STAGES, MAX_STATEMENTS, MAX_TURNS, MAX_VALUES, RANGE_LIMIT, SHAPE_LIMIT};
use crate::table::layout::NONE;

/// High words of 64-bit numbers stay below this: the numbers below 2^40.
const HIGH: u32 = 1 << 8;
const CYCLES: u64 = 1 << 40;

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
        if failed!(l, 0) {
            return;
        }
        i += 1;
    }
    let last = At(part::PROGRAMS, programs as u32 - 1);
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
        let row = f.ropes[i];
        let [part, _, theta, rotary, scaling, _, _, _, _, _, _, _, _, _, factors, reserved] = row;
        let at = At(part::ROPES, i as u32);
        hold!(l, 0, part <= 2, at, 2, part, "part of a rotary table, at most");
        hold!(
            l,
            0,
            part == 2 || theta > 0 && theta < 0x7ff0_0000,
            at,
            0x7ff0_0000,
            theta,
            "high word of theta, positive and finite"
        );
        hold!(l, 0, rotary < RANGE_LIMIT, at, RANGE_LIMIT, rotary, "rotary width, below");
        equal!(l, 0, at, 0, reserved, "reserved words of a rope");
        hold!(l, 0, scaling <= 5, at, 5, scaling, "rope scaling, at most");
        if scaling == 5 {
            longrope(f, at, factors, rotary / 2, l);
        } else {
            equal!(l, 0, at, 0, factors, "first factor of a recipe without");
        }
        i += 1;
    }
    let n = f.layers.len();
    count!(l, n, 0 * 2);
    let mut i = 0;
    while i < n {
        let row = f.layers[i];
        let [program, ..] = row;
        // A pattern of zeros costs constant evaluation half of what reading and joining the words would.
        let clear = matches!(row, [_, 0, 0, 0, 0, 0, 0, 0, ..]);
        each!(l, 0 * 2, At(part::LAYERS, i as u32),
            (program as usize) < programs => programs, program, "program of a layer, below";
            clear => 0, row[1] | row[2] | row[3] | row[4] | row[5] | row[6] | row[7], "reserved words of a layer";
        );
        i += 1;
    }
}

/// The divisors that a longrope recipe points to: there, and positive and finite.
const fn longrope(f: &Frame<'_>, at: At, first: u32, count: u32, l: &mut Ledger) {
    let (end, words) = (first as u64 + count as u64, f.factors.len() as u64 * 16);
    hold!(l, 0, end <= words, at, words, end, "end of the factors, at most");
    if end > words {
        return;
    }
    let mut i = first as usize;
    while i < first as usize + count as usize {
        let bits = f.factors[i / 16][i % 16];
        let at = At(part::FACTORS, (i / 16) as u32);
        hold!(l, 0, bits > 0 && bits < 0x7f80_0000, at, 0x7f80_0000, bits, "factor, positive and finite (f32 bits)");
        i += 1;
    }
}

const fn program(f: &Frame<'_>, index: usize, done: &mut Progress, l: &mut Ledger) {
    let at = At(part::PROGRAMS, index as u32);
    let row = f.programs[index];
    let [name, name_len, text, text_len, role, _, v0, nv, s0, ns, c0, nc, b0, nb, m, _] = row;
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
    if failed!(l, 0) {
        return;
    }
    values(f, v0, nv, ns, l);
    statements(f, s0, ns, nv, l);
    count!(l, nb, 0 * 8);
    let mut i = b0;
    while i < b0 + nb {
        let row = f.bindings[i as usize];
        let [
            value,
            name,
            name_len,
            tensor,
            tensor_len,
            transposed,
            offset,
            _,
            _,
            _,
            _,
            _,
            class,
            taken,
            stacked,
            padding,
        ] = row;
        let bytes = f.string_bytes;
        let name_end = name as u64 + name_len as u64;
        let tensor_end = tensor as u64 + tensor_len as u64;
        each!(l, 0 * 8, At(part::BINDINGS, i),
            value < nv => nv, value, "value of a binding, below";
            name_end <= bytes => bytes, name_end, "end of the name, at most";
            tensor_end <= bytes => bytes, tensor_end, "end of the tensor's name, at most";
            transposed <= 1 => 1, transposed, "transposed, at most";
            offset <= SHAPE_LIMIT => SHAPE_LIMIT, offset, "first stored index, at most";
            class <= 4 => 4, class, "class of a binding, at most";
            taken | stacked <= 1 => 1, taken | stacked, "axis taken, and whether experts have one, at most";
            padding < RANGE_LIMIT => RANGE_LIMIT, padding, "zeros after the last stored index, below";
        );
        i += 1;
    }
    let mut i = c0;
    while i < c0 + nc {
        section(f, i, index as u32, ns, nv, done, l);
        if failed!(l, 0) {
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

/// The value rows of a program.
const fn values(f: &Frame<'_>, first: u32, count: u32, statements: u32, l: &mut Ledger) {
    let ropes = f.ropes.len() as u32;
    let strings = f.string_bytes;
    let all = f.values;
    count!(l, count, 0 * 14);
    let mut i = first as usize;
    let end = i + count as usize;
    while i < end {
        let row = all[i];
        each!(l, 0 * 14, At(part::VALUES, i as u32), of [row: ValueRow, strings: u64, statements: u32, ropes: u32],
            row.name[0] as u64 + row.name[1] as u64 <= strings => strings, row.name[0] as u64 + row.name[1] as u64, "end of the name, at most";
            let 0..=4 = row.role => 4, row.role, "role of a value, at most";
            let 0..=6 = row.storage => 6, row.storage, "storage of a value, at most";
            let 0..=4 = row.sharding => 4, row.sharding, "sharding of a value, at most";
            let 1..=SHAPE_LIMIT = row.seqs => SHAPE_LIMIT, row.seqs, "copies, above 0 and at most";
            let 1..=SHAPE_LIMIT = row.rows => SHAPE_LIMIT, row.rows, "rows, above 0 and at most";
            let 1..=SHAPE_LIMIT = row.cols => SHAPE_LIMIT, row.cols, "columns, above 0 and at most";
            let 1..RANGE_LIMIT = row.parts => RANGE_LIMIT, row.parts, "parts, above 0 and below";
            let 1..RANGE_LIMIT = row.tile => RANGE_LIMIT, row.tile, "columns of a tile, above 0 and below";
            let 0..=2 | NONE = row.tier => 2, row.tier, "tier, at most";
            matches!(row.statement, NONE) || row.statement < statements => statements, row.statement, "statement, below";
            matches!(row.rope, NONE) || row.rope < ropes => ropes, row.rope, "rope recipe, below";
            let 0..=1 = row.flags => 1, row.flags, "flags of a value, at most";
            let [0, 0] = row.reserved => 0, row.reserved[0] | row.reserved[1], "reserved words of a value";
        );
        i += 1;
    }
}

/// The statement rows of a program.
const fn statements(f: &Frame<'_>, first: u32, count: u32, values: u32, l: &mut Ledger) {
    count!(l, count, 0 * 9);
    let mut i = first;
    let end = first + count;
    while i < end {
        let row = f.statements[i as usize];
        let [_, result, a, b, c, d, e, g, h, k, ..] = row;
        each!(l, 0 * 9, At(part::STATEMENTS, i),
            result < values => values, result, "result, below";
            a < values || a == NONE => values, a, "first operand, below";
            b < values || b == NONE => values, b, "second operand, below";
            c < values || c == NONE => values, c, "third operand, below";
            d < values || d == NONE => values, d, "fourth operand, below";
            e < values || e == NONE => values, e, "fifth operand, below";
            g < values || g == NONE => values, g, "sixth operand, below";
            h < values || h == NONE => values, h, "seventh operand, below";
            k < values || k == NONE => values, k, "eighth operand, below";
        );
        i += 1;
    }
}

const fn section(f: &Frame<'_>, i: u32, owner: u32, statements: u32, values: u32, done: &mut Progress, l: &mut Ledger) {
    let at = At(part::SECTIONS, i);
    let row = f.sections[i as usize];
    let [program, rows, groups, g0, ng, e0, ne, t0, nt, h, high_h, _, high_span, binder, _, high_bound] = row;
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
    if failed!(l, 0) {
        return;
    }
    stages(f, g0, ng, statements, nt, l);
    edges(f, e0, ne, ng, values, l);
    count!(l, nt, 0 * 4);
    let mut k = t0;
    while k < t0 + nt {
        let row = f.turns[k as usize];
        let [tier, r1, _, start, _, length, of, ahead, r8, r9, r10, r11, r12, r13, r14, r15] = row;
        let reserved = r1 | r8 | r9 | r10 | r11 | r12 | r13 | r14 | r15;
        each!(l, 0 * 4, At(part::TURNS, k),
            tier == 1 || tier == 2 => 2, tier, "tier of a turn: 1, or";
            start | length < HIGH => HIGH, start | length, "high words of start and length, below";
            ahead < RANGE_LIMIT && of < nt && (ahead > 0 || of == 0) => nt, of, "turn that a head is of, below";
            reserved == 0 => 0, reserved, "reserved words of a turn";
        );
        k += 1;
    }
    done.stages += ng;
    done.edges += ne;
    done.turns += nt;
}

/// The stage rows of a section.
const fn stages(f: &Frame<'_>, first: u32, count: u32, statements: u32, turns: u32, l: &mut Ledger) {
    count!(l, count, 0 * 10);
    let all = f.stages;
    let mut k = first as usize;
    let end = k + count as usize;
    while k < end {
        let row = all[k];
        each!(l, 0 * 10, At(part::STAGES, k as u32), of [row: StageRow, statements: u32, turns: u32],
            row.statement < statements => statements, row.statement, "statement of a stage, below";
            let 0..=15 = row.part => 15, row.part, "part of a stage, at most";
            let 0..=11 = row.primitive => 11, row.primitive, "primitive of a stage, at most";
            let 1..RANGE_LIMIT = row.firings => RANGE_LIMIT, row.firings, "firings, above 0 and below";
            let (1..RANGE_LIMIT, 1..RANGE_LIMIT) = (row.na, row.nb) => RANGE_LIMIT, row.na | row.nb, "cells, above 0 and below";
            let 0..RANGE_LIMIT = row.site => RANGE_LIMIT, row.site, "site, below";
            matches!(row.turn, NONE) || row.turn < turns => turns, row.turn, "turn of a stage, below";
            row.start | row.period | row.ii | row.bytes < CYCLES => CYCLES, row.start | row.period | row.ii | row.bytes, "cycles and bytes of a stage, below";
            let 1.. = row.period => 1, 0, "period, at least";
            let 1.. = row.ii => 1, 0, "initiation interval, at least";
        );
        k += 1;
    }
}

/// The edge rows of a section.
const fn edges(f: &Frame<'_>, first: u32, count: u32, stages: u32, values: u32, l: &mut Ledger) {
    count!(l, count, 0 * 7);
    let all = f.edges;
    let mut k = first as usize;
    let end = k + count as usize;
    while k < end {
        let row = all[k];
        each!(l, 0 * 7, At(part::EDGES, k as u32), of [row: EdgeRow, stages: u32, values: u32],
            row.from < row.to && row.to < stages => stages, row.to, "consumer of an edge, after its producer and below";
            row.p | row.q | row.groups | row.capacity < RANGE_LIMIT => RANGE_LIMIT, row.capacity, "tokens, groups and capacity, below";
            let 1.. = row.capacity => 1, row.capacity, "capacity, at least";
            let 1.. = row.slot_bytes => 1, row.slot_bytes, "bytes of a slot, at least";
            let EdgeRow { kind: 0, p: 1.., q: 1.., groups: 0, .. } | EdgeRow { kind: 1, p: 0, q: 0, groups: 1.., .. } = row => 1, row.kind, "kind of an edge with its numbers";
            matches!(row.value, NONE) || row.value < values => values, row.value, "value of an edge, below";
            let [0, 0, 0, 0, 0] = row.reserved => 0, 1, "reserved words of an edge";
        );
        k += 1;
    }
}
