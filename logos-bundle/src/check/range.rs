//! Rule 0, the rows: every index inside what it points into, groups contiguous and covering, every number inside the
//! limits that let the other rules multiply.

use super::frame::Frame;
use super::ledger::{At, Ledger, count, each, equal, failed, hold, holds, part};
use super::rows::{EdgeRow, ProgramRow, SectionRow, StageRow, StatementRow, ValueRow};
use super::{MAX_STAGES, MAX_STATEMENTS, MAX_TURNS, MAX_VALUES, RANGE_LIMIT, SHAPE_LIMIT};
use crate::table::layout::NONE;
use crate::table::low_first;

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
    holds!(l, 0 * 7, last, of [f: &Frame<'_>, done: Progress],
        f.values.len() == done.values as usize => f.values.len(), done.values, "values of all programs";
        f.statements.len() == done.statements as usize => f.statements.len(), done.statements, "statements of all programs";
        f.sections.len() == done.sections as usize => f.sections.len(), done.sections, "sections of all programs";
        f.bindings.len() == done.bindings as usize => f.bindings.len(), done.bindings, "bindings of all programs";
        f.stages.len() == done.stages as usize => f.stages.len(), done.stages, "stages of all sections";
        f.edges.len() == done.edges as usize => f.edges.len(), done.edges, "edges of all sections";
        f.turns.len() == done.turns as usize => f.turns.len(), done.turns, "turns of all sections";
    );
    let n = f.ropes.len();
    let mut i = 0;
    while i < n {
        let row = f.ropes[i];
        let [part, _, theta, rotary, scaling, _, _, _, _, _, _, _, _, _, factors, reserved] = row;
        let at = At(part::ROPES, i as u32);
        holds!(l, 0 * 5, at, of [part: u32, theta: u32, rotary: u32, scaling: u32, reserved: u32],
            part <= 2 => 2, part, "part of a rotary table, at most";
            part == 2 || theta > 0 && theta < 0x7ff0_0000 => 0x7ff0_0000, theta, "high word of theta, positive and finite";
            rotary < RANGE_LIMIT => RANGE_LIMIT, rotary, "rotary width, below";
            reserved == 0 => 0, reserved, "reserved words of a rope";
            scaling <= 5 => 5, scaling, "rope scaling, at most";
        );
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
    let row = ProgramRow::of(f.programs)[index];
    let strings = f.string_bytes;
    let name = end(row.name);
    let text = end(row.text);
    holds!(l, 0 * 4, at, of [row: ProgramRow, strings: u64, name: u64, text: u64],
        name <= strings => strings, name, "end of the first string, at most";
        text <= strings => strings, text, "end of the second string, at most";
        row.role <= 2 => 2, row.role, "program role, at most";
        let 1..RANGE_LIMIT = row.rows => RANGE_LIMIT, row.rows, "rows of an activation, above 0 and below";
    );
    let ([v0, nv], [s0, ns], [c0, nc], [b0, nb]) = (row.values, row.statements, row.sections, row.bindings);
    let at_most = [f.values.len() as u64, f.statements.len() as u64, f.sections.len() as u64, f.bindings.len() as u64];
    holds!(l, 0 * 12, at, of [row: ProgramRow, done: &mut Progress, at_most: [u64; 4], nv: u32, ns: u32, nc: u32, nb: u32],
        done.values == row.values[0] => done.values, row.values[0], "first value";
        done.statements == row.statements[0] => done.statements, row.statements[0], "first statement";
        done.sections == row.sections[0] => done.sections, row.sections[0], "first section";
        done.bindings == row.bindings[0] => done.bindings, row.bindings[0], "first binding";
        nv > 0 && nv <= MAX_VALUES as u32 => MAX_VALUES, nv, "values of a program, above 0 and at most";
        ns > 0 && ns <= MAX_STATEMENTS as u32 => MAX_STATEMENTS, ns, "statements, above 0 and at most";
        nc > 0 && nc <= ns => ns, nc, "sections of a program, above 0 and at most";
        nb <= nv => nv, nb, "bindings of a program, at most";
        end(row.values) <= at_most[0] => at_most[0], end(row.values), "end of a group of rows, at most";
        end(row.statements) <= at_most[1] => at_most[1], end(row.statements), "end of a group of rows, at most";
        end(row.sections) <= at_most[2] => at_most[2], end(row.sections), "end of a group of rows, at most";
        end(row.bindings) <= at_most[3] => at_most[3], end(row.bindings), "end of a group of rows, at most";
    );
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
        each!(l, 0 * 8, At(part::BINDINGS, i), of [value: u32, nv: u32, bytes: u64, name_end: u64, tensor_end: u64, transposed: u32, offset: u32, class: u32, taken: u32, stacked: u32, padding: u32],
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

/// One past the last of so many from a first on.
const fn end([first, count]: [u32; 2]) -> u64 {
    first as u64 + count as u64
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
            let (..=4) = row.role => 4, row.role, "role of a value, at most";
            let (..=6) = row.storage => 6, row.storage, "storage of a value, at most";
            let (..=4) = row.sharding => 4, row.sharding, "sharding of a value, at most";
            let 1..=SHAPE_LIMIT = row.seqs => SHAPE_LIMIT, row.seqs, "copies, above 0 and at most";
            let 1..=SHAPE_LIMIT = row.rows => SHAPE_LIMIT, row.rows, "rows, above 0 and at most";
            let 1..=SHAPE_LIMIT = row.cols => SHAPE_LIMIT, row.cols, "columns, above 0 and at most";
            let 1..RANGE_LIMIT = row.parts => RANGE_LIMIT, row.parts, "parts, above 0 and below";
            let 1..RANGE_LIMIT = row.tile => RANGE_LIMIT, row.tile, "columns of a tile, above 0 and below";
            let NONE | ..=2 = row.tier => 2, row.tier, "tier, at most";
            matches!(row.statement, NONE) || row.statement < statements => statements, row.statement, "statement, below";
            matches!(row.rope, NONE) || row.rope < ropes => ropes, row.rope, "rope recipe, below";
            let (..=1) = row.flags => 1, row.flags, "flags of a value, at most";
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
        let [a, b, c, d, e, g, h, k] = row.operands;
        each!(l, 0 * 9, At(part::STATEMENTS, i), of [row: StatementRow, values: u32, a: u32, b: u32, c: u32, d: u32, e: u32, g: u32, h: u32, k: u32],
            row.result < values => values, row.result, "result, below";
            a < values || a == NONE => values, a, "first operand, below";
            b < values || b == NONE => values, b, "second operand, below";
            c < values || c == NONE => values, c, "third operand, below";
            matches!(d, NONE) || d < values => values, d, "fourth operand, below";
            matches!(e, NONE) || e < values => values, e, "fifth operand, below";
            matches!(g, NONE) || g < values => values, g, "sixth operand, below";
            matches!(h, NONE) || h < values => values, h, "seventh operand, below";
            matches!(k, NONE) || k < values => values, k, "eighth operand, below";
        );
        i += 1;
    }
}

const fn section(f: &Frame<'_>, i: u32, owner: u32, statements: u32, values: u32, done: &mut Progress, l: &mut Ledger) {
    let at = At(part::SECTIONS, i);
    let row = SectionRow::of(f.sections)[i as usize];
    let cycles = low_first!(row.interval) | low_first!(row.span) | low_first!(row.bound);
    holds!(l, 0 * 6, at, of [row: SectionRow, owner: u32, cycles: u64],
        owner == row.program => owner, row.program, "program of a section";
        let 1..RANGE_LIMIT = row.group_rows => RANGE_LIMIT, row.group_rows, "rows of a group, above 0 and below";
        let 1..RANGE_LIMIT = row.groups => RANGE_LIMIT, row.groups, "groups, above 0 and below";
        cycles < CYCLES => CYCLES, cycles, "interval, span, bound, below";
        let 1.. = row.interval => 1, 0, "interval, at least";
        row.binder <= 4 => 4, row.binder, "binder, at most";
    );
    let ([g0, ng], [e0, ne], [t0, nt]) = (row.stages, row.edges, row.turns);
    let at_most = [f.stages.len() as u64, f.edges.len() as u64, f.turns.len() as u64];
    holds!(l, 0 * 8, at, of [row: SectionRow, done: &mut Progress, at_most: [u64; 3], ng: u32, nt: u32],
        done.stages == row.stages[0] => done.stages, row.stages[0], "first stage";
        done.edges == row.edges[0] => done.edges, row.edges[0], "first edge";
        done.turns == row.turns[0] => done.turns, row.turns[0], "first turn";
        ng > 0 && ng <= MAX_STAGES as u32 => MAX_STAGES, ng, "stages of a section, above 0 and at most";
        nt <= MAX_TURNS as u32 => MAX_TURNS, nt, "turns of a section, at most";
        end(row.stages) <= at_most[0] => at_most[0], end(row.stages), "end of a group of rows, at most";
        end(row.edges) <= at_most[1] => at_most[1], end(row.edges), "end of a group of rows, at most";
        end(row.turns) <= at_most[2] => at_most[2], end(row.turns), "end of a group of rows, at most";
    );
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
        each!(l, 0 * 4, At(part::TURNS, k), of [tier: u32, start: u32, length: u32, ahead: u32, of: u32, nt: u32, reserved: u32],
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
            let (..=15) = row.part => 15, row.part, "part of a stage, at most";
            let (..=11) = row.primitive => 11, row.primitive, "primitive of a stage, at most";
            let 1..RANGE_LIMIT = row.firings => RANGE_LIMIT, row.firings, "firings, above 0 and below";
            let StageRow { na: 1..RANGE_LIMIT, nb: 1..RANGE_LIMIT, .. } = row => RANGE_LIMIT, row.na | row.nb, "cells, above 0 and below";
            let (..RANGE_LIMIT) = row.site => RANGE_LIMIT, row.site, "site, below";
            matches!(row.turn, NONE) || row.turn < turns => turns, row.turn, "turn of a stage, below";
            low_first!(row.start) | low_first!(row.period) | low_first!(row.ii) | low_first!(row.bytes) < CYCLES => CYCLES, low_first!(row.start) | low_first!(row.period) | low_first!(row.ii) | low_first!(row.bytes), "cycles and bytes of a stage, below";
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
