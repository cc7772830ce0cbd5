//! Turns that serve the iteration after: where the memory would wait for ids, it reads the next layer's weights.
//!
//! Memory serves its turns in a cycle as long as the interval. A load may have its place there for an iteration that has not begun: it is
//! read an interval before its own turn, and its tokens wait in their buffers.

use std::ops::Range;

use crate::spatial::{Primitive, Section, StageId};

use super::memory;

/// Turns whose loads are read an interval early.
#[derive(Clone, Debug, Default)]
pub(super) struct Laps {
    turns: Range<usize>,
}

impl Laps {
    /// Whether a turn is one of these.
    pub(super) fn holds(&self, turn: u32) -> bool {
        self.turns.contains(&(turn as usize))
    }

    /// Moves the first turns of a memory into the time in which it would wait for ids that choose what it reads next, as many as fill it. What
    /// is followed by its readers stays, and, where one layer alone runs the section, so do `states`. The loads keep their starts until
    /// [`Laps::settle`]: they are there no later.
    pub(super) fn fill(section: &mut Section, followed: &[bool], states: &[(StageId, StageId)], layers: u64) -> Laps {
        for tier in memory::WINDOWED {
            let first = section.turns.iter().position(|turn| turn.tier == tier).unwrap_or(0);
            let count = section.turns.iter().filter(|turn| turn.tier == tier).count();
            let waits = (first + 1..first + count).find_map(|at| {
                let (before, turn) = (&section.turns[at - 1], &section.turns[at]);
                let wait = turn.start - (before.start + before.length);
                (wait > 0 && gathers(section, at)).then_some((at, wait))
            });
            let Some((gather, wait)) = waits else { continue };
            let stays = |at: usize| {
                let mut loads = (0..).zip(&section.stages).filter(|(_, stage)| stage.turn == Some(at as u32));
                loads.any(|(i, stage)| {
                    let state = states.iter().any(|(load, _)| load.index() == i);
                    stage.primitive == Primitive::Gather || followed[i] || (state && layers == 1)
                })
            };
            let free = (first..gather - 1).take_while(|&at| !stays(at)).count();
            let moved = |turns: usize| section.turns[first + turns].start - section.turns[first].start;
            let enough = (1..=free).find(|&turns| moved(turns) >= wait).unwrap_or(free);
            if enough > 0 {
                return Laps::rotate(section, first, enough, gather);
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
        Laps { turns: gather - count..gather }
    }

    /// When a load is first read again after the cycles of `layers` intervals: its start, and over how many intervals.
    pub(super) fn again(&self, section: &Section, load: StageId, layers: u64) -> (u64, u64) {
        let stage = section.stage(load);
        match stage.turn.filter(|&turn| self.holds(turn)) {
            Some(turn) => (section.turns[turn as usize].start, layers.saturating_sub(1).max(1)),
            None => (stage.start, layers),
        }
    }

    /// Gives the loads of these turns the starts at which the memory serves them, now that the interval is known. No start is below zero, so all
    /// others become later.
    pub(super) fn settle(&self, section: &mut Section) {
        let Some(first) = section.turns.get(self.turns.start).filter(|_| !self.turns.is_empty()) else { return };
        let later = section.interval.saturating_sub(first.start);
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

fn gathers(section: &Section, turn: usize) -> bool {
    section.stages.iter().any(|s| s.turn == Some(turn as u32) && s.primitive == Primitive::Gather)
}
