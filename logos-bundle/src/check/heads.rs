//! Rules 6 and 7 on what a memory reads ahead: the head of a turn has the first firings of its loads, for the next iteration.

use super::ledger::{At, Ledger, hold, holds};
use super::program::Program;
use super::section::{Section, Stage, wide};
use crate::table::layout::{NONE, primitive};

/// The firings of a load that are in the head of its turn.
#[derive(Clone, Copy)]
pub(super) struct Ahead {
    pub(super) firings: i128,
    /// Start and end of the head, for the next iteration.
    pub(super) start: i128,
    pub(super) end: i128,
}

/// What of a load is read ahead: of one that starts before a turn with a head.
pub(super) const fn ahead(p: &Program<'_>, s: &Section, v: &Stage) -> Option<Ahead> {
    // A stage in a turn is of a memory, or has been found at fault.
    if v.turn == NONE || v.tier > 2 || s.heads[v.tier as usize] == NONE {
        return None;
    }
    let rows = p.frame.turns;
    let [_, _, s0, s1, n0, n1, of, firings, ..] = rows[(s.first_turn + s.heads[v.tier as usize]) as usize];
    if of != v.turn {
        return None;
    }
    let [_, _, of0, of1, ..] = rows[(s.first_turn + of) as usize];
    if v.start >= wide!(of0, of1) {
        return None;
    }
    let start = wide!(s0, s1);
    Some(Ahead { firings: firings as i128, start, end: start + wide!(n0, n1) })
}

/// A load in its turn and in the head of that: the head has no more firings than there are, and room for them.
pub(super) const fn load(at: At, v: &Stage, a: Ahead, l: &mut Ledger) {
    let end = a.start + a.firings * v.period;
    holds!(l, 6 * 3, at,
        v.primitive == primitive::LOAD => primitive::LOAD, v.primitive, "primitive of what is read ahead";
        a.firings < v.firings => v.firings, a.firings, "firings read ahead, below";
        end <= a.end => a.end, end, "end of the firings read ahead, at most the head's";
    );
}

/// A turn that is a head: it comes after its turn, is its memory's only one, and has no loads of its own.
pub(super) const fn turn(p: &Program<'_>, s: &Section, t: usize, at: At, loads: u32, l: &mut Ledger) {
    let rows = p.frame.turns;
    let [tier, _, _, _, _, _, of, ..] = rows[s.first_turn as usize + t];
    holds!(l, 4 * 3, at,
        (of as usize) < t && rows[(s.first_turn + of) as usize][0] == tier => t, of, "turn of the same memory that a head is of, below";
        s.heads[tier as usize] as usize == t => s.heads[tier as usize], t, "head of a memory, the only one";
        loads == 0 => 0, loads, "loads of a head";
    );
}

/// An edge whose producer is read ahead: token after token, and those read ahead have their slots before any of the next turn, each when the one
/// before in it has been used.
pub(super) const fn edge(
    at: At,
    (u, v): (&Stage, &Stage),
    a: Ahead,
    single: bool,
    (capacity, release): (i128, i128),
    l: &mut Ledger,
) {
    hold!(
        l,
        5,
        single && u.firings == v.firings,
        at,
        u.firings,
        v.firings,
        "one token a firing of what is read ahead: firings of its reader"
    );
    let first = v.start + (v.firings - capacity) * v.period + release;
    let last = first + (a.firings - 1) * v.period;
    let end = a.start + (a.firings - 1) * u.period;
    holds!(l, 7 * 4, at,
        a.firings <= capacity => a.firings, capacity, "capacity for what is read ahead, at least";
        capacity < v.firings => v.firings, capacity, "capacity for what is read ahead, below";
        a.start >= first => first, a.start, "start of what is read ahead, at least";
        end >= last => last, end, "start of the last token that is read ahead, at least";
    );
}
