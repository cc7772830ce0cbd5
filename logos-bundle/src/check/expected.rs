//! A stage a statement must have, and the kinds of stage that operations are made of.

use super::program::{Program, bytes, ceil, matrix_bytes};
use super::section::Section;
use crate::table::layout::{NONE, primitive};

/// How a port takes tokens.
#[derive(Clone, Copy)]
pub(super) enum Take {
    /// So many a firing, as a stream.
    Stream(i128),
    /// A whole group, held.
    Hold,
    /// The whole value, held for all groups.
    HoldAll,
    /// Held in so many groups of the stage's own.
    HoldIn(i128),
}

/// A port a stage must have.
#[derive(Clone, Copy)]
pub(super) struct Port {
    /// The value read, or [`NONE`] for a part of the same statement.
    pub(super) value: u32,
    /// That part.
    pub(super) part: usize,
    pub(super) take: Take,
    /// Slot bytes from a part that is no load; the others' follow from load or value.
    pub(super) slot: i128,
}

/// What may recur inside a stage.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Recurrence {
    None,
    Softmax,
    Delta,
}

/// A stage a statement must have.
#[derive(Clone, Copy)]
pub(super) struct Expected {
    pub(super) primitive: u32,
    pub(super) firings: i128,
    pub(super) a: i128,
    pub(super) b: i128,
    pub(super) base: i128,
    pub(super) recurrence: Recurrence,
    /// Token bytes and tier of what touches a memory or a link.
    pub(super) bytes: i128,
    pub(super) tier: u32,
    /// Whether the statement's result leaves whole, group by group; else so many tokens a firing.
    pub(super) whole: bool,
    pub(super) emits: i128,
    /// Whether a collective adds up what it passes on.
    pub(super) adds: bool,
    /// The state a load or store carries.
    pub(super) state: u32,
    pub(super) ports: [Port; 6],
    pub(super) count: usize,
}

/// No stage yet: what [`expect`](super::parts::expect) and its like are given to fill.
const NOTHING: Expected = Expected {
    primitive: NONE,
    firings: 1,
    a: 1,
    b: 1,
    base: 1,
    recurrence: Recurrence::None,
    bytes: 0,
    tier: NONE,
    whole: false,
    emits: 1,
    adds: false,
    state: NONE,
    ports: [Port { value: NONE, part: 0, take: Take::Hold, slot: 0 }; 6],
    count: 0,
};

/// Starts a stage over: one copy, where field by field would be as many steps as there are fields.
pub(super) const fn stage(e: &mut Expected, primitive: u32, firings: i128) {
    *e = NOTHING;
    e.primitive = primitive;
    e.firings = firings;
}

/// A stage that moves tokens of so many bytes.
pub(super) const fn moves(e: &mut Expected, primitive: u32, firings: i128, bytes: i128, tier: u32) {
    stage(e, primitive, firings);
    e.bytes = bytes;
    e.tier = tier;
}

/// A load of a declared value: tokens of so many of its elements.
pub(super) const fn load(e: &mut Expected, p: &Program<'_>, v: u32, firings: i128, elements: i128) {
    let v = &p.values[v as usize];
    moves(e, primitive::LOAD, firings, bytes(v.storage, elements), v.tier);
}

/// The same of so many of its rows and columns.
pub(super) const fn load_matrix(e: &mut Expected, p: &Program<'_>, v: u32, firings: i128, rows: i128, cols: i128) {
    let v = &p.values[v as usize];
    moves(e, primitive::LOAD, firings, matrix_bytes(v.storage, rows, cols), v.tier);
}

/// An elementwise stage: `n` elements of so many operations a firing.
pub(super) const fn lanes(e: &mut Expected, p: &Program<'_>, primitive: u32, firings: i128, n: i128, ops: i128) {
    let c = &p.frame.chip;
    stage(e, primitive, firings);
    e.a = ceil!(n, c.lanes);
    e.base = if ops <= c.chain { 1 } else { ceil!(ops, c.chain) };
}

impl Expected {
    pub(super) const fn port(&mut self, value: u32, part: usize, take: Take, slot: i128) {
        self.ports[self.count] = Port { value, part, take, slot };
        self.count += 1;
    }

    pub(super) const fn reads(&mut self, value: u32, take: Take) {
        self.ports[self.count] = Port { value, part: 0, take, slot: 0 };
        self.count += 1;
    }

    /// A port from a part of the statement that loads.
    pub(super) const fn loads(&mut self, part: usize, take: Take) {
        self.ports[self.count] = Port { value: NONE, part, take, slot: 0 };
        self.count += 1;
    }

    /// No stage yet.
    pub(super) const fn new() -> Expected {
        NOTHING
    }

    /// The statement has no such part.
    pub(super) const fn none(&mut self) {
        self.primitive = NONE;
    }
}

/// A weight or state that a stage of `I = 1` takes as it comes, and one of more groups holds for all of them.
pub(super) const fn once(s: &Section) -> Take {
    if s.groups == 1 { Take::Stream(1) } else { Take::HoldAll }
}

pub(super) const fn map(e: &mut Expected, p: &Program<'_>, s: &Section, v: u32, ops: i128) {
    let x = &p.values[v as usize];
    lanes(e, p, primitive::MAP, x.tiles * s.groups, s.rows * x.tile, ops);
    e.reads(v, Take::Stream(1));
}

/// A stage that takes whole heads: so many tokens a firing, or a token of so many heads.
pub(super) const fn head_wise(
    e: &mut Expected,
    p: &Program<'_>,
    s: &Section,
    v: u32,
    heads: u32,
    primitive: u32,
    ops: i128,
) {
    let x = &p.values[v as usize];
    let d = x.cols / heads as i128;
    let k = if d > x.tile { d / x.tile } else { 1 };
    let w = if d > x.tile { d } else { x.tile };
    lanes(e, p, primitive, s.groups * ceil!(x.cols_l, w), s.rows * w, ops);
    e.emits = k;
    e.reads(v, Take::Stream(k));
}
