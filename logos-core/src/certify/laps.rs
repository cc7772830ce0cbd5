//! Turns that serve the iteration after: where the memory would wait for ids, it reads the next layer's weights, and of what it cannot read as a
//! whole so early the first tokens.
//!
//! Memory serves its turns in a cycle as long as the interval. A load may have its place there for an iteration that has not begun: it is
//! read an interval before its own turn, and its tokens wait in their buffers.

use std::ops::Range;

use crate::chip::UnitModel;
use crate::spatial::{Edge, Flow, Head, Primitive, Section, Stage, StageId, Turn};

use super::memory;

/// Turns whose loads are read an interval early, and a turn with the first firings of another's.
#[derive(Clone, Debug, Default)]
pub(super) struct Laps {
    turns: Range<usize>,
    /// The turn after these that is a head, with what it reads ahead, and how many firings the loads have that it reads ahead.
    head: Option<(usize, Head, u64)>,
}

/// What may be read an interval early.
#[derive(Clone, Copy, Debug)]
pub(super) struct Free<'a> {
    /// By stage, whether a load is followed by its readers.
    pub(super) followed: &'a [bool],
    /// Load and store of each state.
    pub(super) states: &'a [(StageId, StageId)],
    /// Layers that run the section: where one alone does, its states stay.
    pub(super) layers: u64,
    /// Whether turns may have heads.
    pub(super) heads: bool,
}

/// A wait of less than this part of the interval is not worth a head.
const SHORT: u64 = 2048;

impl Laps {
    /// Whether a turn is one of those whose loads are read early.
    pub(super) fn holds(&self, turn: u32) -> bool {
        self.turns.contains(&(turn as usize))
    }

    /// Firings of a load that are read in a head.
    pub(super) fn ahead(&self, stage: &Stage) -> u64 {
        let of = self.head.filter(|(_, head, firings)| stage.turn == Some(head.of) && stage.firings == *firings);
        of.map_or(0, |(_, head, _)| head.firings)
    }

    /// Whether there is a head.
    pub(super) fn has_head(&self) -> bool {
        self.head.is_some()
    }

    /// Moves the first turns of a memory into the time in which it would wait for ids that choose what it reads next, as many as fill it, and the
    /// first firings of the turn after them. What is followed by its readers moves in part alone. The loads keep their starts until
    /// [`Laps::settle`]: they are there no later.
    pub(super) fn fill(unit: &UnitModel, section: &mut Section, free: Free<'_>) -> Laps {
        for tier in memory::WINDOWED {
            let first = section.turns.iter().position(|turn| turn.tier == tier).unwrap_or(0);
            let count = section.turns.iter().filter(|turn| turn.tier == tier).count();
            let waits = (first + 1..first + count).find_map(|at| {
                let (before, turn) = (&section.turns[at - 1], &section.turns[at]);
                let wait = turn.start - (before.start + before.length);
                (wait > 0 && gathers(section, at)).then_some((at, wait))
            });
            let Some((gather, wait)) = waits else { continue };
            let whole = (first..gather - 1).take_while(|&at| !free.stays(section, at)).count();
            let moved = |turns: usize| section.turns[first + turns].start - section.turns[first].start;
            let enough = (1..=whole).find(|&turns| moved(turns) >= wait).unwrap_or(whole);
            let rest = wait.saturating_sub(moved(enough));
            let mut laps = if enough > 0 { Laps::rotate(section, first, enough, gather) } else { Laps::default() };
            if free.heads && rest > section.interval / SHORT {
                laps.head = behead(unit, section, first, gather, rest, free);
            }
            if enough > 0 || laps.has_head() {
                return laps;
            }
        }
        Laps::default()
    }

    fn rotate(section: &mut Section, first: usize, count: usize, gather: usize) -> Laps {
        let Section { turns, stages, .. } = section;
        let before = turns[gather - 1];
        let early = before.start + before.length - turns[first].start;
        for turn in &mut turns[first..first + count] {
            turn.start += early;
        }
        turns[first..gather].rotate_left(count);
        for turn in stages.iter_mut().filter_map(|stage| stage.turn.as_mut()) {
            let at = *turn as usize;
            if (first..first + count).contains(&at) {
                *turn = (at + gather - first - count) as u32;
            } else if (first + count..gather).contains(&at) {
                *turn = (at - count) as u32;
            }
        }
        Laps { turns: gather - count..gather, head: None }
    }

    /// When a load is first read again after the cycles of `layers` intervals: its start, and over how many intervals.
    pub(super) fn again(&self, section: &Section, load: StageId, layers: u64) -> (u64, u64) {
        let stage = section.stage(load);
        let early = stage.turn.filter(|&turn| self.holds(turn)).map(|turn| turn as usize);
        let head = self.head.filter(|_| self.ahead(stage) > 0).map(|(turn, ..)| turn);
        match early.or(head) {
            Some(turn) => (section.turns[turn].start, layers.saturating_sub(1).max(1)),
            None => (stage.start, layers),
        }
    }

    /// The least capacity of an edge of which firings are read in a head, where `least` is enough for the others; none where the head would have
    /// to wait for its own iteration's readers.
    pub(super) fn capacity(&self, section: &Section, edge: &Edge, release: u64, least: u64) -> Option<u64> {
        let (load, reader) = (section.stage(edge.from), section.stage(edge.to));
        let ahead = self.ahead(load);
        let Some((turn, ..)) = self.head.filter(|_| ahead > 0) else { return Some(least) };
        let (start, f) = (section.turns[turn].start as i64, load.firings as i64);
        // Token i of the next iteration takes the place of token i + f - c of this one.
        let slots = |i: i64| {
            let since = start + i * load.period as i64 - (reader.start + release) as i64;
            f + i - since.div_euclid(reader.period as i64)
        };
        let slots = slots(0).max(slots(ahead as i64 - 1)).max(ahead as i64).max(least as i64);
        (slots < f).then_some(slots as u64)
    }

    /// Gives the loads of these turns the starts at which the memory serves them, now that the interval is known. No start is below zero, so all
    /// others become later.
    pub(super) fn settle(&self, section: &mut Section) {
        let moved = (!self.turns.is_empty()).then_some(self.turns.start);
        let Some(first) = moved.or(self.head.map(|(turn, ..)| turn)) else { return };
        let later = section.interval.saturating_sub(section.turns[first].start);
        for turn in &mut section.turns {
            turn.start += later;
        }
        for stage in &mut section.stages {
            match stage.turn.filter(|&turn| self.holds(turn)) {
                Some(turn) => stage.start = section.turns[turn as usize].start - section.interval,
                None => stage.start += later,
            }
        }
    }
}

impl Free<'_> {
    /// Whether a turn has a load that is not read an interval early.
    fn stays(&self, section: &Section, turn: usize) -> bool {
        let mut loads = members(section, turn);
        loads.any(|(i, stage)| stage.primitive == Primitive::Gather || self.followed[i] || self.is_kept(i))
    }

    /// Whether a load is of a state that is the next iteration's too.
    fn is_kept(&self, load: usize) -> bool {
        self.layers == 1 && self.states.iter().any(|(of, _)| of.index() == load)
    }

    /// Whether the first firings of a load may be read ahead: each of its tokens is one firing's.
    fn is_plain(&self, section: &Section, load: usize) -> bool {
        let stage = &section.stages[load];
        let mut read = section.edges.iter().filter(|edge| edge.from.index() == load);
        let plain =
            |edge: &Edge| edge.flow == Flow::Stream { p: 1, q: 1 } && section.stage(edge.to).firings == stage.firings;
        stage.primitive == Primitive::Load && !self.is_kept(load) && read.all(plain)
    }
}

/// Gives the first firings of the turn `first` a turn of their own before the gather, as many as `wait` cycles hold: those of the loads with most
/// firings. What else is read in that turn is read in what is left of it.
fn behead(
    unit: &UnitModel,
    section: &mut Section,
    first: usize,
    gather: usize,
    wait: u64,
    free: Free<'_>,
) -> Option<(usize, Head, u64)> {
    let (_, most) = members(section, first).max_by_key(|(_, stage)| stage.firings)?;
    let (f, period) = (most.firings, most.period);
    let firings = (wait / period).min(f / 2);
    let alike = |stage: &Stage| stage.firings == f;
    let left = section.turns[first].length.checked_sub(firings * period)?;
    let mut rate = 0u64;
    for (i, stage) in members(section, first) {
        let period = if alike(stage) {
            if !free.is_plain(section, i) {
                return None;
            }
            period
        } else {
            left / stage.firings
        };
        if period == 0 || stage.primitive != Primitive::Load {
            return None;
        }
        rate = rate.saturating_add(memory::share(stage, period));
    }
    let tier = section.turns[first].tier;
    if firings == 0 || rate > memory::free(unit, &section.stages, tier, section.interval) {
        return None;
    }
    let head = Head { of: first as u32, firings };
    let Section { turns, stages, .. } = section;
    turns[first].start += firings * period;
    turns[first].length = left;
    for stage in stages.iter_mut().filter(|stage| stage.turn == Some(head.of) && !alike(stage)) {
        (stage.period, stage.ii, stage.start) = (left / stage.firings, left / stage.firings, turns[first].start);
    }
    let before = turns[gather - 1];
    let turn = Turn { tier, start: before.start + before.length, length: firings * period, head: Some(head) };
    turns.insert(gather, turn);
    for turn in stages.iter_mut().filter_map(|stage| stage.turn.as_mut()).filter(|turn| **turn as usize >= gather) {
        *turn += 1;
    }
    Some((gather, head, f))
}

fn members(section: &Section, turn: usize) -> impl Iterator<Item = (usize, &Stage)> + Clone {
    (0..).zip(&section.stages).filter(move |(_, stage)| stage.turn == Some(turn as u32))
}

fn gathers(section: &Section, turn: usize) -> bool {
    members(section, turn).any(|(_, stage)| stage.primitive == Primitive::Gather)
}
