//! Off-chip memory as an engine of the net: turns in a fixed cyclic order.

use crate::chip::{RATE_CYCLES, UnitModel};
use crate::place::PlaceError;
use crate::spatial::{Edge, Flow, Primitive, Stage, Tier, Turn};

use super::laps::Laps;

/// The tiers that loads take turns on.
pub(super) const WINDOWED: [Tier; 2] = [Tier::Hbm, Tier::Ddr];

/// Bytes of a tier per 65,536 cycles.
pub(super) fn rate(unit: &UnitModel, tier: Tier) -> u64 {
    match tier {
        Tier::Sram => u64::from(unit.scratchpad_rate) * u64::from(unit.sram_ports) * RATE_CYCLES,
        Tier::Hbm => u64::from(unit.hbm_rate),
        Tier::Ddr => u64::from(unit.ddr_rate),
    }
}

/// Initiation intervals of the stages that move bytes outside the turns (RULES.md section 4).
pub(super) fn settle_movers(unit: &UnitModel, chips: u64, stages: &mut [Stage]) {
    for stage in stages.iter_mut().filter(|s| s.primitive.moves_bytes() && !s.is_windowed()) {
        let cycles = |bytes: u128, per: u128| u64::try_from(bytes.div_ceil(per.max(1))).unwrap_or(u64::MAX);
        let scaled = u128::from(RATE_CYCLES) * u128::from(stage.bytes);
        let link = u128::from(unit.link_rate);
        stage.ii = match (stage.primitive, stage.tier) {
            // An all-reduce moves each byte nearly twice, a gather of argmax pairs everyone else's once.
            (Primitive::Collective, _) if stage.adds => {
                cycles(scaled * 2 * u128::from(chips - 1), u128::from(chips) * link)
            }
            (Primitive::Collective, _) => cycles(scaled * u128::from(chips - 1), link),
            (_, Some(tier)) => cycles(scaled, u128::from(rate(unit, tier))),
            (_, None) => 1,
        }
        .max(1);
    }
}

/// `⌈65536·bytes/rate⌉` of all that a section moves to and from a tier.
pub(super) fn bound(unit: &UnitModel, stages: &[Stage], tier: Tier) -> Option<u64> {
    let bytes: u128 = moved(stages, tier, |_| true);
    if bytes == 0 {
        return Some(0);
    }
    let rate = u128::from(rate(unit, tier));
    if rate == 0 {
        return None;
    }
    u64::try_from((bytes * u128::from(RATE_CYCLES)).div_ceil(rate)).ok()
}

fn moved(stages: &[Stage], tier: Tier, which: impl Fn(&Stage) -> bool) -> u128 {
    let of_tier = stages.iter().filter(|s| s.tier == Some(tier) && which(s));
    of_tier.map(|s| u128::from(s.bytes) * u128::from(s.firings)).sum()
}

/// What the stores among `stages` leave of a tier's rate, in an interval of so many cycles.
pub(super) fn free(unit: &UnitModel, stages: &[Stage], tier: Tier, interval: u64) -> u64 {
    let stores = moved(stages, tier, |s| s.primitive == Primitive::Store);
    let stored = (u128::from(RATE_CYCLES) * stores).div_ceil(u128::from(interval.max(1)));
    u128::from(rate(unit, tier)).saturating_sub(stored) as u64
}

/// A load's place in the order of turns: its phase, and within it what is held whole before what streams, and that before what is
/// `followed`.
///
/// A reader that holds one operand and streams another would otherwise wait for the held one as long as for the stream, and what is not followed
/// is read before its reader begins.
pub(super) fn ranks(stages: &[Stage], levels: &[u32], edges: &[Edge], followed: &[bool]) -> Vec<u32> {
    let mut ranks: Vec<u32> = levels.iter().map(|&level| 3 * level).collect();
    for edge in edges {
        if matches!(edge.flow, Flow::Stream { .. }) {
            let load = edge.from.index();
            let last = followed[load] && stages[load].primitive != Primitive::Gather;
            ranks[load] = 3 * levels[load] + 1 + u32::from(last);
        }
    }
    ranks
}

/// Puts every load of HBM and DDR into a turn and gives it its period.
///
/// One turn a rank, its loads sharing the window at an even rate, no window shorter than the pace of its loads' readers
/// (`pace`, cycles an iteration); what whole cycles a token leave of a turn's rate is given to loads of the next ranks that are content with it. In a
/// `steady` pipeline of groups there is one rank, whose turn lasts the interval. `interval` is a lower bound on H. Returns the turns, each as early as
/// those before it allow: see [`postpone`].
///
/// # Errors
/// [`PlaceError::Range`] where the stores alone exceed the tier's rate or times leave the range of the rules.
pub(super) fn take_turns(
    unit: &UnitModel,
    stages: &mut [Stage],
    ranks: &[u32],
    pace: &[u64],
    steady: bool,
    interval: u64,
    detours: &[u64],
) -> Result<Vec<Turn>, PlaceError> {
    let mut turns: Vec<Turn> = Vec::new();
    for tier in WINDOWED {
        let free = free(unit, stages, tier, interval);
        let mut loads: Vec<usize> =
            (0..stages.len()).filter(|&i| stages[i].is_windowed() && stages[i].tier == Some(tier)).collect();
        loads.sort_by_key(|&i| ranks[i]);
        let mut start = 0u64;
        let mut spare = 0;
        for rank in loads.chunk_by(|&i, &j| ranks[i] == ranks[j]) {
            let mut members = rank.to_vec();
            members.retain(|&i| pace[i] > 0 || !join(&mut stages[i], turns.last(), turns.len(), &mut spare));
            if members.is_empty() {
                continue;
            }
            let bytes: u128 =
                members.iter().map(|&i| u128::from(stages[i].bytes) * u128::from(stages[i].firings)).sum();
            // Each load's rate is rounded up by less than one unit; leave room for that.
            let even = free.saturating_sub(members.len() as u64);
            if even == 0 {
                return Err(PlaceError::Range);
            }
            let even = (bytes * u128::from(RATE_CYCLES)).div_ceil(u128::from(even)).max(1);
            let least = members.iter().map(|&i| pace[i]).max().unwrap_or(0);
            let least = if steady { least.max(interval) } else { least };
            let window = u64::try_from(even).ok().filter(|&w| w < 1 << 40).ok_or(PlaceError::Range)?.max(least);
            let (window, earlier) = ending_earlier(stages, &members, detours, free, window);
            let turn = turns.len() as u32;
            let mut length = 0;
            spare = free;
            for &i in &members {
                let stage = &mut stages[i];
                stage.period = (window - earlier.min(detours.get(i).copied().unwrap_or(0))).div_ceil(stage.firings);
                stage.ii = stage.period;
                stage.start = start;
                stage.turn = Some(turn);
                length = length.max(stage.period * stage.firings);
                spare = spare.saturating_sub(share(stage, stage.period));
            }
            turns.push(Turn { tier, start, length, head: None });
            start += length;
        }
    }
    Ok(turns)
}

/// A turn's window in which loads whose tokens make a detour end by that much earlier than the others, and by how many cycles: nothing but the rate makes it
/// longer.
fn ending_earlier(stages: &[Stage], members: &[usize], detours: &[u64], free: u64, window: u64) -> (u64, u64) {
    let detour = |i: usize| detours.get(i).copied().unwrap_or(0);
    let least = members.iter().map(|&i| detour(i)).min().unwrap_or(0);
    let most = members.iter().map(|&i| detour(i)).max().unwrap_or(0);
    if most == least || least > 0 || most > window / 4 {
        return (window, 0);
    }
    let bytes = |i: usize| u128::from(stages[i].bytes) * u128::from(stages[i].firings);
    let all: u128 = members.iter().map(|&i| bytes(i)).sum();
    let early: u128 = members.iter().filter(|&&i| detour(i) > 0).map(|&i| bytes(i)).sum();
    let mut longer = window + (u128::from(most) * early).div_ceil(all.max(1)) as u64;
    for _ in 0..4 {
        let asked = members.iter().map(|&i| share(&stages[i], (longer - detour(i)).div_ceil(stages[i].firings)));
        let asked = asked.fold(0, u64::saturating_add);
        if asked <= free {
            return (longer, most);
        }
        longer += (u128::from(longer) * u128::from(asked - free)).div_ceil(u128::from(free)) as u64;
    }
    (window, 0)
}

/// What of the memory's rate a load with this period takes.
pub(super) fn share(stage: &Stage, period: u64) -> u64 {
    u64::try_from((u128::from(RATE_CYCLES) * u128::from(stage.bytes)).div_ceil(u128::from(period))).unwrap_or(u64::MAX)
}

/// Gives a load all of the turn before at the rate that is left of it, where that is enough. What ids choose comes in a turn of its own.
fn join(stage: &mut Stage, turn: Option<&Turn>, turns: usize, spare: &mut u64) -> bool {
    let Some(turn) = turn.filter(|t| stage.tier == Some(t.tier) && stage.primitive == Primitive::Load) else {
        return false;
    };
    let period = turn.length / stage.firings;
    if period == 0 || share(stage, period) > *spare {
        return false;
    }
    *spare -= share(stage, period);
    (stage.period, stage.ii, stage.start, stage.turn) = (period, period, turn.start, Some(turns as u32 - 1));
    true
}

/// Moves turns back to what their members' data allow (`ready`, by turn), and the turns after them along; their order
/// stays, and the loads of those of an iteration after (`laps`) have starts of their own. Whether any moved.
pub(super) fn postpone(stages: &mut [Stage], turns: &mut [Turn], ready: &[u64], laps: &Laps) -> bool {
    let mut moved = false;
    for tier in WINDOWED {
        let mut end = 0;
        for (turn, &ready) in turns.iter_mut().zip(ready).filter(|(turn, _)| turn.tier == tier) {
            let start = turn.start.max(ready).max(end);
            moved |= start != turn.start;
            turn.start = start;
            end = start + turn.length;
        }
    }
    if moved {
        for stage in stages {
            if let Some(turn) = stage.turn.filter(|&turn| !laps.holds(turn)) {
                stage.start = turns[turn as usize].start - laps.ahead(stage) * stage.period;
            }
        }
    }
    moved
}

/// Cycles from the first turn's start to the last one's end, of the tier where that is more.
pub(super) fn cover(turns: &[Turn]) -> u64 {
    let of = |tier| {
        let mut of_tier = turns.iter().filter(|turn| turn.tier == tier);
        let first = of_tier.next()?;
        let last = of_tier.next_back().unwrap_or(first);
        Some((last.start + last.length).saturating_sub(first.start))
    };
    WINDOWED.into_iter().filter_map(of).max().unwrap_or(0)
}

/// Initiation interval that a stage's bound counts with: a load's in a turn is the schedule's choice, and no choice is below
/// its token's bytes at the memory's whole rate.
pub(crate) fn least_interval(unit: &UnitModel, stage: &Stage) -> u64 {
    let windowed = stage.tier.filter(|_| stage.is_windowed());
    windowed.map_or(stage.ii, |tier| cycles(unit, tier, stage.bytes).max(1))
}

/// Cycles that so many bytes of a tier take at its whole rate.
pub(super) fn cycles(unit: &UnitModel, tier: Tier, bytes: u64) -> u64 {
    cycles_at(rate(unit, tier), bytes)
}

/// Cycles that so many bytes take at a rate.
pub(super) fn cycles_at(rate: u64, bytes: u64) -> u64 {
    let scaled = u128::from(RATE_CYCLES) * u128::from(bytes);
    u64::try_from(scaled.div_ceil(u128::from(rate.max(1)))).unwrap_or(u64::MAX)
}
