//! A section under check, and its stages as they have been matched.

use super::ledger::{At, Ledger, equal, hold, part};
use super::parts::Recurrence;
use super::program::{Program, ceil};
use super::{MAX_STAGES, place};
use crate::table::layout::{NONE, turn};

/// A stage that has been matched: its row, and what the statement says of it.
#[derive(Clone, Copy)]
pub(super) struct Stage {
    pub(super) primitive: u32,
    pub(super) firings: i128,
    pub(super) nb: i128,
    /// Its cells, and the end of their sites.
    pub(super) cells: i128,
    pub(super) end: i128,
    pub(super) turn: u32,
    pub(super) start: i128,
    pub(super) period: i128,
    pub(super) ii: i128,
    /// The interval its bound counts with: a load's in a turn is the schedule's choice, and no choice is below its token's bytes
    /// at the memory's whole rate.
    pub(super) pace: i128,
    pub(super) bytes: i128,
    pub(super) tier: u32,
    /// A and B units of a cell.
    pub(super) each_a: i128,
    pub(super) each_b: i128,
    pub(super) base: i128,
    pub(super) recurrence: Recurrence,
    pub(super) whole: bool,
    pub(super) emits: i128,
    pub(super) adds: bool,
    /// Cycles from a start to the result's arrival but for the way and the initiation interval.
    pub(super) tail: i128,
    /// Bounding box on the mesh.
    pub(super) area: place::Area,
    /// Most bytes a firing that stream edges take in and out; of what no edge reads, [`UNREAD`] go out.
    pub(super) taken: i128,
    pub(super) given: i128,
    /// Least distances from the last firing of the input's load, at initiation intervals alone, to the first and to the last.
    pub(super) first: i128,
    pub(super) last: i128,
}

/// The distance of a stage that no edge leads to from the input's load.
pub(super) const UNREACHED: i128 = -1;

/// What goes out of a stage that no edge reads: less than nothing.
pub(super) const UNREAD: i128 = -1;

/// A section under check.
pub(super) struct Section {
    /// Place among all sections of the table.
    pub(super) index: u32,
    /// Rows R of a group, groups I.
    pub(super) rows: i128,
    pub(super) groups: i128,
    pub(super) interval: i128,
    pub(super) span: i128,
    pub(super) binder: u32,
    pub(super) bound: i128,
    pub(super) first_stage: u32,
    pub(super) first_edge: u32,
    pub(super) first_turn: u32,
    pub(super) count: usize,
    pub(super) edge_count: usize,
    pub(super) turn_count: usize,
    /// The head of a turn of each tier; NONE where there is none.
    pub(super) heads: [u32; 3],
    /// Whether there is any: most sections have none, and then no edge asks.
    pub(super) headed: bool,
    pub(super) stages: [Stage; MAX_STAGES],
    /// Edges matched so far, of them streams, holds of one group, and edges of a value; the end of the last one's buffer.
    pub(super) edges: usize,
    pub(super) streams: usize,
    pub(super) singles: usize,
    pub(super) of_values: usize,
    pub(super) end: i128,
    /// The input's load and the show's store, where there are.
    pub(super) input: u32,
    pub(super) shown: u32,
    /// Of the gathers since the last product that ends a statement: bytes by tier, and the least distance to a first firing.
    pub(super) gathered: [i128; 3],
    pub(super) ids: i128,
}

const UNMATCHED: Stage = Stage {
    primitive: NONE,
    firings: 1,
    nb: 1,
    cells: 1,
    end: 1,
    turn: NONE,
    start: 0,
    period: 1,
    ii: 1,
    pace: 1,
    bytes: 0,
    tier: NONE,
    each_a: 1,
    each_b: 1,
    base: 1,
    recurrence: Recurrence::None,
    whole: false,
    emits: 1,
    adds: false,
    tail: 0,
    area: place::Area { left: 0, right: 0, top: 0, bottom: 0 },
    taken: 0,
    given: UNREAD,
    first: UNREACHED,
    last: UNREACHED,
};

/// A 64-bit number of two words.
macro_rules! wide {
    ($low:expr, $high:expr) => {
        if let 0 = $high { $low as i128 } else { $low as i128 + $high as i128 * 0x1_0000_0000 }
    };
}

pub(super) use wide;

impl Section {
    /// Room for a section: one for all, as constant evaluation pays for every copy, and made here, as it checks every field of a
    /// constant.
    pub(super) const fn none() -> Section {
        Section {
            index: NONE,
            rows: 1,
            groups: 1,
            interval: 1,
            span: 0,
            binder: 0,
            bound: 0,
            first_stage: 0,
            first_edge: 0,
            first_turn: 0,
            count: 0,
            edge_count: 0,
            turn_count: 0,
            heads: [NONE; 3],
            headed: false,
            stages: [UNMATCHED; MAX_STAGES],
            edges: 0,
            streams: 0,
            singles: 0,
            of_values: 0,
            end: 0,
            input: NONE,
            shown: NONE,
            gathered: [0; 3],
            ids: UNREACHED,
        }
    }

    /// Reads a section's row; no stage or edge of it has been matched.
    pub(super) const fn open(&mut self, p: &Program<'_>, index: u32, l: &mut Ledger) {
        let row = p.frame.sections[index as usize];
        let [_, rows, groups, g0, ng, e0, ne, t0, nt, h0, h1, s0, s1, binder, b0, b1] = row;
        let at = At(part::SECTIONS, index);
        let rows = rows as i128;
        hold!(l, 3, rows <= p.m, at, p.m, rows, "rows of a group, at most");
        equal!(l, 3, at, ceil!(p.m, rows), groups as i128, "groups");
        self.index = index;
        self.rows = rows;
        self.groups = groups as i128;
        self.interval = wide!(h0, h1);
        self.span = wide!(s0, s1);
        self.binder = binder;
        self.bound = wide!(b0, b1);
        self.first_stage = g0;
        self.first_edge = e0;
        self.first_turn = t0;
        self.count = ng as usize;
        self.edge_count = ne as usize;
        self.turn_count = nt as usize;
        self.edges = 0;
        self.streams = 0;
        self.singles = 0;
        self.of_values = 0;
        self.end = 0;
        self.input = NONE;
        self.shown = NONE;
        self.heads = [NONE; 3];
        self.headed = false;
        let mut t = 0;
        while t < nt {
            let row = &p.frame.turns[(t0 + t) as usize];
            if row[turn::AHEAD] > 0 {
                self.heads[row[turn::TIER] as usize] = t;
                self.headed = true;
            }
            t += 1;
        }
    }

    /// The row of the section.
    pub(super) const fn at(&self) -> At {
        At(part::SECTIONS, self.index)
    }

    /// The row of an edge.
    pub(super) const fn edge_at(&self, k: usize) -> At {
        At(part::EDGES, self.first_edge + k as u32)
    }

    /// The row of a stage.
    pub(super) const fn stage_at(&self, k: usize) -> At {
        At(part::STAGES, self.first_stage + k as u32)
    }
}

/// Least `e` with `2^e >= n`, of a number between 1 and 2^22.
pub(super) const fn log2(n: i128) -> i128 {
    if n <= 1 { 0 } else { 32 - (n as u32 - 1).leading_zeros() as i128 }
}
