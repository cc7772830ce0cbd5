//! Stages and edges of a section matched one to one, in order, with what its statements decompose into.

use super::frame::Chip;
use super::ledger::{At, Ledger, count, each, equal, failed, hold, holds};
use super::parts::{self, Expected, expect, reload, spill};
use super::program::{Program, Statement, ceil, role};
use super::rows::StageRow;
use super::section::{Section, Stage, UNREACHED, UNREAD, log2};
use super::{edges, place};
use crate::table::layout::{NONE, op, primitive};
use crate::table::low_first;

/// Matches all stages and edges of a section. `false` where a row is not the one that must stand there: then the rows
/// after it have no meaning.
pub(super) const fn matched(p: &mut Program<'_>, s: &mut Section, l: &mut Ledger) -> bool {
    let mut e = Expected::new();
    let mut k = 0;
    let mut before = 0;
    let rows = p.frame.stages;
    let first = s.first_stage as usize;
    let end = s.count;
    while k < end {
        let row = rows[first + k];
        let index = row.statement;
        let part = row.part;
        let st = Statement::read(p, index as usize);
        let order = index * 16 + part + 1;
        each!(l, 1 * 1, s.stage_at(k), of [before: u32, order: u32], order > before => before, order, "statement and part, in ascending order";);
        before = order;
        let next = if st.op == op::INPUT {
            input(p, s, &st, k, part, &mut e, l)
        } else if part == parts::RELOAD {
            again(p, s, &st, k, &mut e, l)
        } else {
            own(p, s, &st, k, &mut e, l)
        };
        if failed!(l, 1 | 4) || next == k {
            return false;
        }
        k = next;
    }
    // Of each stage, of each edge, and of each kind of edge. Of a hold of one group both numbers of firings are multiples.
    count!(l, s.count, 1 * 5, 2 * 1, 3 * 3, 4 * 1, 9 * 1);
    count!(l, s.edges, 4 * 5, 9 * 3);
    count!(l, s.of_values, 4 * 1);
    count!(l, s.streams, 5 * 4, 6 * 3, 7 * 3);
    count!(l, s.singles, 5 * 2, 6 * 1, 7 * 1);
    equal!(l, 4, s.at(), s.edge_count, s.edges, "edges of the section");
    !failed!(l, 1 | 4)
}

/// The load of an input.
const fn input(
    p: &mut Program<'_>,
    s: &mut Section,
    st: &Statement,
    k: usize,
    part: u32,
    e: &mut Expected,
    l: &mut Ledger,
) -> usize {
    equal!(l, 1, s.stage_at(k), 0, part, "part of an input");
    equal!(l, 1, s.stage_at(k), p.m, p.values[st.result].rows, "rows of an input that has a load");
    reload(e, p, s, st.result as u32);
    stage(p, s, k, st.index, part, *e, &[0; parts::MOST], l);
    emits(p, s, st.result, k);
    s.input = k as u32;
    s.stages[k].last = 0;
    k + 1
}

/// The load of a value that an earlier section stored.
const fn again(
    p: &mut Program<'_>,
    s: &mut Section,
    st: &Statement,
    k: usize,
    e: &mut Expected,
    l: &mut Ledger,
) -> usize {
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
    reload(e, p, s, v as u32);
    stage(p, s, k, st.index, parts::RELOAD, *e, &[0; parts::MOST], l);
    emits(p, s, v, k);
    k + 1
}

/// The parts of the statement whose turn it is.
const fn own(
    p: &mut Program<'_>,
    s: &mut Section,
    st: &Statement,
    first: usize,
    e: &mut Expected,
    l: &mut Ledger,
) -> usize {
    let mut due = p.next;
    while due < p.statement_count && p.statements[due].op == op::INPUT {
        due += 1;
    }
    equal!(l, 1, s.stage_at(first), due, st.index, "statement that must be lowered next");
    if due != st.index {
        return first;
    }
    p.next = due + 1;
    p.section_of[due] = s.index;
    if let op::ATTENTION | op::LATENT_ATTENTION | op::EXPERTS = st.op {
        equal!(l, 3, s.stage_at(first), 1, s.groups, "groups of a section with attention or experts");
    }
    let mut k = first;
    let product_b = if let op::MATMUL = st.op { product_b(p, s, first + 1) } else { false };
    let mut stage_of = [NONE; parts::MOST];
    let (mut part, end) = parts::range(st.op);
    while part < end {
        expect(e, p, s, st, part, product_b);
        if e.primitive != NONE {
            if k >= s.count {
                l.fault(1, s.at(), st.index as i128, part as i128, "stages of the statement: this part is missing");
                return first;
            }
            stage_of[part as usize] = k as u32;
            if !stage(p, s, k, due, part, *e, &stage_of, l) {
                return first;
            }
            k += 1;
        }
        part += 1;
    }
    if let op::SHOW = st.op {
        s.shown = stage_of[0];
        return k;
    }
    if !st.binds() {
        return k;
    }
    emits(p, s, st.result, stage_of[parts::emitter(p, st) as usize] as usize);
    if k < s.count {
        let row = p.frame.stages[s.first_stage as usize + k];
        if row.part == parts::SPILL && row.statement as usize == due {
            let tier = p.values[st.result].tier;
            hold!(l, 9, tier != NONE, s.stage_at(k), 2, tier, "tier of a value that crosses sections, at most");
            spill(e, p, s, st.result as u32);
            stage(p, s, k, due, parts::SPILL, *e, &stage_of, l);
            p.values[st.result].spilled = 1;
            k += 1;
        }
    }
    k
}

/// Whether the section's stage `k` is a product that streams its input.
const fn product_b(p: &Program<'_>, s: &Section, k: usize) -> bool {
    k < s.count && p.frame.stages[s.first_stage as usize + k].primitive == primitive::GEMM_B
}

const fn emits(p: &mut Program<'_>, s: &Section, v: usize, k: usize) {
    let v = &mut p.values[v];
    v.section = s.index;
    v.stage = k as u32;
}

/// Matches one stage, which is to be of this statement and part, with its edges; the comparisons are counted for all of a
/// section's. `false` where the row is not of the part expected: it is read no further then.
#[expect(clippy::too_many_arguments, reason = "constant evaluation pays for every field written and read")]
const fn stage(
    p: &mut Program<'_>,
    s: &mut Section,
    k: usize,
    statement: usize,
    part: u32,
    e: Expected,
    stage_of: &[u32; parts::MOST],
    l: &mut Ledger,
) -> bool {
    let row = p.frame.stages[s.first_stage as usize + k];
    each!(l, 1 * 2, s.stage_at(k), of [row: StageRow, statement: usize, part: u32] else return false,
        statement == row.statement as usize => statement, row.statement, "statement of the stage";
        part == row.part => part, row.part, "part of the statement";
    );
    let c = &p.frame.chip;
    let moved = low_first!(row.bytes) as i128;
    let ii = low_first!(row.ii) as i128;
    let firings = row.firings as i128;
    let na = row.na as i128;
    let nb = row.nb as i128;
    // Canonical splits leave no cell empty and cover every unit once: whole shares but the last, and that not empty.
    let each_a = if let 1 = na { e.a } else { ceil!(e.a, na) };
    let each_b = if let 1 = nb { e.b } else { ceil!(e.b, nb) };
    let windowed = matches!(e, Expected { primitive: primitive::LOAD | primitive::GATHER, tier: 1 | 2, .. });
    let site = row.site as i128;
    let cells = na * nb;
    let end = site + cells;
    each!(l, 1 * 1, s.stage_at(k), of [row: StageRow, e: Expected], e.primitive == row.primitive => e.primitive, row.primitive, "primitive";);
    each!(l, 2 * 1, s.stage_at(k), of [e: Expected, moved: i128], e.bytes == moved => e.bytes, moved, "bytes of a token";);
    each!(l, 3 * 3, s.stage_at(k), of [e: Expected, firings: i128, na: i128, nb: i128, each_a: i128, each_b: i128],
        e.firings == firings => e.firings, firings, "firings";
        na == 1 || (na - 1) * each_a < e.a => ceil!(e.a, each_a), na, "cells over the A units";
        nb == 1 || (nb - 1) * each_b < e.b => ceil!(e.b, each_b), nb, "cells over the B units";
    );
    each!(l, 4 * 1, s.stage_at(k), of [row: StageRow, windowed: bool], (row.turn != NONE) == windowed => windowed, row.turn, "turn of a load from HBM or DDR, and of no other";);
    each!(l, 9 * 1, s.stage_at(k), of [c: &Chip, end: i128], end <= c.sites => c.sites, end, "end of the stage's sites, at most";);
    let tail = match e.primitive {
        primitive::LOAD | primitive::GATHER if e.tier <= 2 => c.load_tail[e.tier as usize],
        primitive::COLLECTIVE => c.link_tail,
        _ => c.tail,
    };
    let pace = if windowed && c.rate[e.tier as usize] > 0 {
        let pace = ceil!(e.bytes * 65536, c.rate[e.tier as usize]);
        if pace > 1 { pace } else { 1 }
    } else {
        ii
    };
    let mut v = Stage {
        primitive: e.primitive,
        firings,
        nb,
        cells,
        end,
        turn: row.turn,
        start: low_first!(row.start) as i128,
        period: low_first!(row.period) as i128,
        ii,
        pace,
        bytes: e.bytes,
        tier: e.tier,
        base: e.base,
        recurrence: e.recurrence,
        whole: e.whole,
        emits: e.emits,
        adds: e.adds,
        each_a,
        each_b,
        tail: if let 1 = nb { tail } else { tail + c.tree * log2(nb) },
        area: place::area(c, site, cells),
        taken: 0,
        given: UNREAD,
        first: UNREACHED,
        last: UNREACHED,
    };
    if e.count > 0 {
        v = edges::ports(p, s, k, v, e, stage_of, l);
    }
    s.stages[k] = v;
    if e.state != NONE {
        edges::carried(p, s, k, e.state, l);
    }
    true
}

/// What a program owes once all its sections have been gone through.
pub(super) const fn close(p: &Program<'_>, at: At, l: &mut Ledger) {
    let mut next = p.next;
    while next < p.statement_count && p.statements[next].op == op::INPUT {
        next += 1;
    }
    equal!(l, 1, at, p.statement_count, next, "statements lowered");
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
