//! Follows given times of all firings and counts what is there at each.

use crate::chip::RATE_CYCLES;
use crate::spatial::{Primitive, StageId, Tier};

use super::{Fault, Lack, Net, Pace};

/// Start of every firing, by stage, over all iterations.
pub(super) type Times = Vec<Vec<u64>>;

impl Net<'_> {
    /// Follows the static schedule over `iterations`: each firing has its tokens, its slots, its stage and its turn, no buffer ever
    /// holds more than its capacity, and no memory moves more than its rate.
    ///
    /// # Errors
    /// The first [`Fault`] of the first edge, stage or turn that has one.
    pub fn follow(&self, iterations: u64) -> Result<(), Fault> {
        self.affordable(iterations)?;
        self.check_turns()?;
        self.check(&self.scheduled(iterations), &Pace::of(self))
    }

    /// The times of the static schedule.
    pub(super) fn scheduled(&self, iterations: u64) -> Times {
        let h = self.section.interval;
        let of_stage = self.section.stages.iter().map(|stage| {
            let (head, ahead) = self.section.ahead(stage).unwrap_or((0, 0));
            let start = |j: u64| {
                if j < ahead { self.section.turns[head as usize].start.saturating_sub(h) } else { stage.start }
            };
            let firings = (0..iterations).flat_map(|n| (0..stage.firings).map(move |j| (n, j)));
            firings.map(|(n, j)| start(j) + n * h + j * stage.period).collect()
        });
        of_stage.collect()
    }

    /// Whether all firings at these times have what they need.
    pub(super) fn check(&self, times: &Times, pace: &Pace) -> Result<(), Fault> {
        for edge in 0..self.channels.len() {
            self.check_tokens(edge, times, pace.latency[edge])?;
            self.check_slots(edge, times, pace.release[edge])?;
        }
        for (stage, times) in (0..).map(StageId).zip(times) {
            for (j, pair) in (1..).zip(times.windows(2)) {
                if pair[1] < pair[0] + pace.ii[stage.index()] {
                    return Err(self.early(Lack::Stage, None, stage, j, pair[1]));
                }
            }
        }
        for (precedence, &delay) in self.precedences.iter().zip(&pace.order) {
            let (from, to) = (precedence.from, precedence.to);
            let firings = (self.section.stage(from).firings, self.section.stage(to).firings);
            for (j, &time) in (0..).zip(&times[to.index()]) {
                let there = |&k: &u64| (k as usize) < times[from.index()].len();
                let awaited = precedence.awaits(j, firings).filter(there);
                if awaited.is_some_and(|k| time < times[from.index()][k as usize] + delay) {
                    return Err(self.early(Lack::Order(from), None, to, j, time));
                }
            }
        }
        Ok(())
    }

    fn check_tokens(&self, edge: usize, times: &Times, latency: u64) -> Result<(), Fault> {
        let channel = &self.channels[edge];
        let mut sent = (0u64..).zip(&times[channel.from.index()]).peekable();
        let (mut there, mut needed) = (0, 0);
        for (j, &now) in (0..).zip(&times[channel.to.index()]) {
            while let Some((k, _)) = sent.next_if(|&(_, &time)| time + latency <= now) {
                there += channel.sends(k);
            }
            needed += channel.needs(j);
            if needed > there {
                return Err(self.early(Lack::Token, Some(edge), channel.to, j, now));
            }
        }
        Ok(())
    }

    fn check_slots(&self, edge: usize, times: &Times, release: u64) -> Result<(), Fault> {
        let channel = &self.channels[edge];
        let mut read = (0u64..).zip(&times[channel.to.index()]).peekable();
        let (mut freed, mut claimed) = (0, 0);
        for (k, &now) in (0..).zip(&times[channel.from.index()]) {
            while let Some((j, _)) = read.next_if(|&(_, &time)| time + release <= now) {
                freed += channel.frees(j);
            }
            claimed += channel.claims(k);
            if claimed - freed > channel.capacity {
                return Err(self.early(Lack::Slot, Some(edge), channel.from, k, now));
            }
        }
        Ok(())
    }

    /// Turns follow each other, wrap, and hold their loads at a rate that the memory has beside the stores.
    fn check_turns(&self) -> Result<(), Fault> {
        let section = self.section;
        for tier in [Tier::Hbm, Tier::Ddr] {
            let turns: Vec<usize> = (0..section.turns.len()).filter(|&t| section.turns[t].tier == tier).collect();
            for (i, &turn) in turns.iter().enumerate() {
                let end = section.turns[turn].start + section.turns[turn].length;
                let (next, after) = match turns.get(i + 1) {
                    Some(&next) => (next, section.turns[next].start),
                    None => (turns[0], section.turns[turns[0]].start + section.interval),
                };
                if after < end {
                    return Err(Fault::Overlap { turn: next });
                }
            }
            for turn in turns {
                self.check_turn(turn, tier)?;
            }
        }
        Ok(())
    }

    fn check_turn(&self, turn: usize, tier: Tier) -> Result<(), Fault> {
        let section = self.section;
        let window = section.turns[turn];
        let mut busy: u128 = 0;
        let rate = match tier {
            Tier::Hbm => self.unit.hbm_rate,
            Tier::Ddr => self.unit.ddr_rate,
            Tier::Sram => return Ok(()),
        };
        let scaled = |bytes: u64| u128::from(bytes) * u128::from(RATE_CYCLES);
        for (id, stage) in (0..).map(StageId).zip(&section.stages) {
            if stage.turn.is_some_and(|t| t as usize == turn) {
                busy += scaled(stage.bytes).div_ceil(u128::from(stage.period));
                let ahead = section.ahead(stage);
                let early = if ahead.is_none() && stage.start < window.start { section.interval } else { 0 };
                let firing = ahead.map_or(0, |(_, firings)| firings);
                let begun = stage.start + early + firing * stage.period;
                if begun < window.start {
                    return Err(self.early(Lack::Turn, None, id, firing, stage.start));
                }
                if let Some((head, firings)) = ahead
                    && firings * stage.period > section.turns[head as usize].length
                {
                    return Err(self.early(Lack::Turn, None, id, firings - 1, stage.start));
                }
                if stage.last() + early + stage.period > window.start + window.length {
                    return Err(self.early(Lack::Turn, None, id, stage.firings - 1, stage.last()));
                }
            }
        }
        let stores = section.stages.iter().filter(|s| s.primitive == Primitive::Store && s.tier == Some(tier));
        let stored: u128 = stores.map(|s| scaled(s.bytes) * u128::from(s.firings)).sum();
        busy += stored.div_ceil(u128::from(section.interval));
        if busy > u128::from(rate) { Err(Fault::Rate { turn }) } else { Ok(()) }
    }

    /// A firing that cannot be, counted over all iterations.
    fn early(&self, lack: Lack, edge: Option<usize>, stage: StageId, firing: u64, cycle: u64) -> Fault {
        let firings = self.section.stage(stage).firings;
        Fault::Early { lack, edge, stage, firing: firing % firings, iteration: firing / firings, cycle }
    }
}
