//! Stages and edges of a section matched one to one, in order, with what its statements decompose into.

use super::frame::Row;
use super::ledger::{At, Ledger, count, each, equal, failed, hold, holds};
use super::parts::{self, Expected, expect, reload, spill};
use super::program::{Program, Statement, ceil, role};
use super::section::{Section, Stage, UNREACHED, log2, wide};
use super::{edges, place};
use crate::table::layout::{NONE, op, primitive};

/// Matches all stages and edges of a section. `false` where a row is not the one that must stand there: then the rows
/// after it have no meaning.
pub(super) const fn matched(p: &mut Program<'_>, s: &mut Section, l: &mut Ledger) -> bool {
    let mut k = 0;
    let mut before = 0;
    while k < s.count {
        let row = p.frame.stages[s.first_stage as usize + k];
        let [index, part, ..] = row;
        let st = Statement::read(p, index as usize);
        let order = index * 16 + part + 1;
        hold!(l, 1, order > before, s.stage_at(k), before, order, "statement and part, in ascending order");
        before = order;
        let next = if st.op == op::INPUT {
            input(p, s, &st, k, part, l)
        } else if part == parts::RELOAD {
            again(p, s, &st, k, l)
        } else {
            own(p, s, &st, k, l)
        };
        if failed!(l, 1 | 4) || next == k {
            return false;
        }
        k = next;
    }
    // Of each stage and of each edge.
    count!(l, s.count, 1 * 4, 2 * 1, 3 * 3, 4 * 1, 9 * 1);
    count!(l, s.edges, 4 * 6, 9 * 3);
    equal!(l, 4, s.at(), s.edge_count, s.edges, "edges of the section");
    let mut k = 0;
    while k < s.count {
        let read = s.stages[k].read || s.stages[k].primitive == primitive::STORE;
        each!(l, 1 * 1, s.stage_at(k), read => 1, 0, "edges that read the stage, at least";);
        k += 1;
    }
    !failed!(l, 1 | 4)
}

/// The load of an input.
const fn input(p: &mut Program<'_>, s: &mut Section, st: &Statement, k: usize, part: u32, l: &mut Ledger) -> usize {
    equal!(l, 1, s.stage_at(k), 0, part, "part of an input");
    equal!(l, 1, s.stage_at(k), p.m, p.values[st.result].rows, "rows of an input that has a load");
    let mut e = Expected::new(st.index as u32, part);
    reload(&mut e, p, s, st.result as u32);
    stage(p, s, k, &e, &[0; parts::MOST], l);
    emits(p, s, st.result, k);
    s.input = k as u32;
    s.stages[k].last = 0;
    k + 1
}

/// The load of a value that an earlier section stored.
const fn again(p: &mut Program<'_>, s: &mut Section, st: &Statement, k: usize, l: &mut Ledger) -> usize {
    let at = s.stage_at(k);
    let stored = st.binds() && p.section_of[st.index] != NONE && p.section_of[st.index] < s.index;
    hold!(l, 1, stored, at, s.index, p.section_of[st.index], "section that binds what is loaded again, below");
    let v = st.result;
    hold!(l, 9, p.values[v].spilled != 0, at, 1, 0, "stores of the value in its own section");
    hold!(l, 9, p.values[v].tier != NONE, at, 2, p.values[v].tier, "tier of a value that crosses sections, at most");
    if p.values[v].tier == NONE {
        return k;
    }
    p.values[v].spilled = 2;
    let mut e = Expected::new(st.index as u32, parts::RELOAD);
    reload(&mut e, p, s, v as u32);
    stage(p, s, k, &e, &[0; parts::MOST], l);
    emits(p, s, v, k);
    k + 1
}

/// The parts of the statement whose turn it is.
const fn own(p: &mut Program<'_>, s: &mut Section, st: &Statement, first: usize, l: &mut Ledger) -> usize {
    while p.next < p.statements.len() && p.statements[p.next][0] == op::INPUT {
        p.next += 1;
    }
    equal!(l, 1, s.stage_at(first), p.next, st.index, "statement that must be lowered next");
    if p.next != st.index {
        return first;
    }
    p.next += 1;
    p.section_of[st.index] = s.index;
    if st.op == op::ATTENTION || st.op == op::LATENT_ATTENTION || st.op == op::EXPERTS {
        equal!(l, 3, s.stage_at(first), 1, s.groups, "groups of a section with attention or experts");
    }
    let mut k = first;
    let product_b = st.op == op::MATMUL && product_b(p, s, first + 1);
    let mut stage_of = [NONE; parts::MOST];
    let mut e = Expected::new(st.index as u32, 0);
    let (mut part, end) = parts::range(st.op);
    while part < end {
        e.part = part;
        expect(&mut e, p, s, st, part, product_b);
        if e.primitive != NONE {
            if k >= s.count {
                l.fault(1, s.at(), st.index as i128, part as i128, "stages of the statement: this part is missing");
                return first;
            }
            stage_of[part as usize] = k as u32;
            if !stage(p, s, k, &e, &stage_of, l) {
                return first;
            }
            k += 1;
        }
        part += 1;
    }
    if st.op == op::SHOW {
        s.shown = stage_of[0];
        return k;
    }
    if !st.binds() {
        return k;
    }
    emits(p, s, st.result, stage_of[parts::emitter(p, st) as usize] as usize);
    if k < s.count {
        let row = p.frame.stages[s.first_stage as usize + k];
        let [index, part, ..] = row;
        if index as usize == st.index && part == parts::SPILL {
            let tier = p.values[st.result].tier;
            hold!(l, 9, tier != NONE, s.stage_at(k), 2, tier, "tier of a value that crosses sections, at most");
            e.part = parts::SPILL;
            spill(&mut e, p, s, st.result as u32);
            stage(p, s, k, &e, &stage_of, l);
            p.values[st.result].spilled = 1;
            k += 1;
        }
    }
    k
}

/// Whether the section's stage `k` is a product that streams its input.
const fn product_b(p: &Program<'_>, s: &Section, k: usize) -> bool {
    k < s.count && p.frame.stages[s.first_stage as usize + k][2] == primitive::GEMM_B
}

const fn emits(p: &mut Program<'_>, s: &Section, v: usize, k: usize) {
    p.values[v].section = s.index;
    p.values[v].stage = k as u32;
}

/// Matches one stage with its edges; the comparisons are counted for all of a section's. `false` where the row is not of the
/// part expected: it is read no further then.
const fn stage(
    p: &mut Program<'_>,
    s: &mut Section,
    k: usize,
    e: &Expected,
    stage_of: &[u32; parts::MOST],
    l: &mut Ledger,
) -> bool {
    let row: Row = p.frame.stages[s.first_stage as usize + k];
    let [statement, part, primitive, f, na, nb, site, turn, s0, s1, t0, t1, i0, i1, y0, y1] = row;
    each!(l, 1 * 2, s.stage_at(k),
        e.statement == statement => e.statement, statement, "statement of the stage";
        e.part == part => e.part, part, "part of the statement";
    );
    if failed!(l, 1) {
        return false;
    }
    let c = &p.frame.chip;
    let moved = wide!(y0, y1);
    let f = f as i128;
    let na = na as i128;
    let nb = nb as i128;
    // Canonical splits leave no cell empty and cover every unit once: whole shares but the last, and that not empty.
    let each_a = if na == 1 { e.a } else { ceil!(e.a, na) };
    let each_b = if nb == 1 { e.b } else { ceil!(e.b, nb) };
    let load = e.primitive == primitive::LOAD || e.primitive == primitive::GATHER;
    let windowed = load && (e.tier == 1 || e.tier == 2);
    each!(l, 1 * 1, s.stage_at(k), e.primitive == primitive => e.primitive, primitive, "primitive";);
    each!(l, 2 * 1, s.stage_at(k), e.bytes == moved => e.bytes, moved, "bytes of a token";);
    each!(l, 3 * 3, s.stage_at(k),
        e.firings == f => e.firings, f, "firings";
        (na - 1) * each_a < e.a => ceil!(e.a, each_a), na, "cells over the A units";
        (nb - 1) * each_b < e.b => ceil!(e.b, each_b), nb, "cells over the B units";
    );
    each!(l, 4 * 1, s.stage_at(k), (turn != NONE) == windowed => windowed, turn, "turn of a load from HBM or DDR, and of no other";);
    let own = if load {
        if e.tier <= 2 { c.latency[e.tier as usize] } else { 0 }
    } else if e.primitive == primitive::COLLECTIVE {
        c.link_latency
    } else {
        0
    };
    let site = site as i128;
    let cells = na * nb;
    let end = site + cells;
    each!(l, 9 * 1, s.stage_at(k), end <= c.sites => c.sites, end, "end of the stage's sites, at most";);
    let area = place::area(c, site, cells);
    s.stages[k] = Stage {
        primitive: e.primitive,
        firings: f,
        na,
        nb,
        site,
        turn,
        start: wide!(s0, s1),
        period: wide!(t0, t1),
        ii: wide!(i0, i1),
        bytes: e.bytes,
        tier: e.tier,
        base: e.base,
        recurrence: e.recurrence,
        whole: e.whole,
        emits: e.emits,
        adds: e.adds,
        each_a,
        each_b,
        tail: c.depth + own + 2 + if nb == 1 { 0 } else { c.tree * log2(nb) },
        area,
        taken: 0,
        given: 0,
        read: false,
        first: UNREACHED,
        last: UNREACHED,
    };
    if e.count > 0 {
        edges::ports(p, s, k, e, stage_of, l);
    }
    if e.state != NONE {
        edges::carried(p, s, k, e.state, l);
    }
    true
}

/// What a program owes once all its sections have been gone through.
pub(super) const fn close(p: &Program<'_>, at: At, l: &mut Ledger) {
    let mut next = p.next;
    while next < p.statements.len() && p.statements[next][0] == op::INPUT {
        next += 1;
    }
    equal!(l, 1, at, p.statements.len(), next, "statements lowered");
    let mut i = 0;
    while i < p.count {
        let v = &p.values[i];
        if v.role == role::BOUND {
            let kept = v.shown || v.spilled != 0;
            holds!(l, 9 * 2, p.value_at(i),
                v.spilled != 1 => 2, 1, "a spilled value is loaded again";
                (v.tier != NONE) == kept => kept, v.tier, "tier of a value that is shown or crosses sections, and of no other";
            );
        }
        i += 1;
    }
}
