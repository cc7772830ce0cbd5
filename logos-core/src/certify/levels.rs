//! Phases of a section with one group: how many whole values stand between a stage and the section's inputs.

use std::ops::Range;

use crate::chip::UnitModel;
use crate::place::Budget;
use crate::spatial::{Edge, Flow, Primitive, Recurrence, Stage};

use super::memory;

/// For each stage the most holds on a path to it; a load has its reader's, and so has a gather, which waits for its ids. Where
/// ids are loaded, their load has the level before the gather's, so that the two are not in one turn of the memory.
pub(super) fn of(stages: &[Stage], edges: &[Edge], groups: u64) -> Vec<u32> {
    let mut levels = vec![0u32; stages.len()];
    let mut fed = vec![false; stages.len()];
    // Edges are in order of consumer and consumers come after their producers, so one pass sees final values.
    for edge in edges {
        fed[edge.to.index()] = true;
        let loaded = stages[edge.from.index()].primitive.is_source() && !fed[edge.from.index()];
        if loaded && !stages[edge.to.index()].primitive.is_source() {
            continue;
        }
        // What is held in parts of a group is used before all of it is there.
        let step = u32::from(matches!(edge.flow, Flow::Hold { groups: held } if held == 1 || held == groups));
        let level = levels[edge.from.index()] + step;
        let to = &mut levels[edge.to.index()];
        *to = (*to).max(level);
    }
    let mut first_reader = vec![u32::MAX; stages.len()];
    for edge in edges {
        let gathers = u32::from(stages[edge.to.index()].primitive.is_source());
        let reader = levels[edge.to.index()].saturating_sub(gathers);
        let first = &mut first_reader[edge.from.index()];
        *first = (*first).min(reader);
    }
    for (i, stage) in stages.iter().enumerate() {
        if stage.primitive.is_source() && first_reader[i] != u32::MAX {
            levels[i] = first_reader[i];
        }
    }
    levels
}

/// How much shorter a phase is for which the memory waits.
const HURRY: u128 = 4;

/// The phases between a load that is not read ahead and what ids choose after it: meanwhile the memory has little to read.
fn waited_for(stages: &[Stage], levels: &[u32], tied: &[u64]) -> Range<usize> {
    let loads = || stages.iter().zip(levels).zip(tied).filter(|((s, _), tied)| s.is_windowed() && **tied > 0);
    let level = |((_, level), _): ((&Stage, &u32), &u64)| *level as usize;
    let chosen = loads().filter(|((s, _), _)| s.primitive == Primitive::Gather).map(level).min();
    let read = chosen.and_then(|chosen| loads().map(level).filter(|&level| level < chosen).max());
    match (read, chosen) {
        (Some(read), Some(chosen)) => read + 1..chosen,
        _ => 0..0,
    }
}

/// Cycles within which a stage is soon enough where what it reads by this load takes `come` cycles: the more firings, the less are its first and its last of
/// the whole. Half of them where what is read is not chosen by ids: the memory reads it ahead of its reader, which catches up, as far as the
/// scratchpads hold it.
fn enough(come: u64, load: &Stage) -> u64 {
    let firings = if load.primitive == Primitive::Gather { load.firings } else { load.firings.min(FEW) };
    let parts = u128::from(come) * u128::from(firings) / u128::from(firings.max(FEW).saturating_add(FEW));
    u64::try_from(parts).unwrap_or(u64::MAX).min(come - come / 8)
}

/// Firings of which the first and the last are so much of the whole that twice the speed is worth its cells.
const FEW: u64 = 64;

/// What each stage of a section with one group may take: phases follow one another, so each has a budget of its own.
///
/// It is by the square root of the phase's work, which minimises a sum of phases. One whose loads cannot be there before it begins
/// takes as long as they do, and being much faster would gain it nothing, but for the firings with which it begins and ends ([`enough`]): `tied` has for
/// each load the bytes that are not read ahead.
///
/// A stage that takes tokens as others make them, or as ids choose them, adds one firing to its phase: where its firings are few, it is to be faster than the phase. What it adds is
/// least together with the phases where its time is by the root of its work times its firings.
pub(super) fn budgets(unit: &UnitModel, stages: &[Stage], edges: &[Edge], levels: &[u32], tied: &[u64]) -> Vec<Budget> {
    const WHOLE: u128 = 1 << 20;
    let count = levels.iter().max().map_or(0, |&l| l as usize + 1);
    let (mut least, mut work) = (vec![0u64; count], vec![0u128; count]);
    for ((stage, &level), &tied) in stages.iter().zip(levels).zip(tied) {
        if let (true, Some(tier)) = (tied > 0, stage.tier) {
            least[level as usize] += enough(memory::cycles(unit, tier, tied), stage);
        }
        let units = u128::from(stage.work.base) * u128::from(stage.work.a) * u128::from(stage.work.b);
        work[level as usize] += units * u128::from(stage.firings);
    }
    let mut roots: Vec<u128> = work.iter().map(|&w| w.isqrt()).collect();
    for level in waited_for(stages, levels, tied) {
        roots[level] = roots[level].div_ceil(HURRY);
    }
    let all: u128 = roots.iter().sum();
    let share = |root: u128| {
        let share = (WHOLE * root).checked_div(all).unwrap_or(0);
        u64::try_from(share.max(1)).unwrap_or(u64::MAX)
    };
    let by_level: Vec<Budget> =
        (0..count).map(|level| Budget { share: share(roots[level]), least: least[level], soon: None }).collect();
    let mut budgets: Vec<Budget> = levels.iter().map(|&level| by_level[level as usize]).collect();
    for edge in edges.iter().filter(|edge| matches!(edge.flow, Flow::Stream { .. })) {
        let (from, to) = (&stages[edge.from.index()], &stages[edge.to.index()]);
        let made = !from.primitive.moves_bytes() || from.primitive == Primitive::Gather;
        if made && !to.primitive.moves_bytes() && to.recurrence != Recurrence::DeltaRows {
            let units = u128::from(to.work.base) * u128::from(to.work.a) * u128::from(to.work.b);
            budgets[edge.to.index()].soon = Some(share(units.isqrt() * u128::from(to.firings)));
        }
    }
    budgets
}
