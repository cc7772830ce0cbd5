//! Phases of a section with one group: how many whole values stand between a stage and the section's inputs.

use crate::spatial::{Edge, Flow, Stage};

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

/// How time is shared between the phases of a section with one group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Budget {
    /// By the square root of a phase's work, which minimises a sum of phases where memory does not bind.
    Work,
    /// By that and by a phase's bytes, so that compute keeps up with its own window of the memory.
    WorkAndBytes,
}

/// Shares of time, in units of 2⁻²⁰, for the stages of a section with one group: phases follow one another, so each gets
/// a budget of its own.
pub(super) fn shares(stages: &[Stage], levels: &[u32], budget: Budget) -> Vec<u64> {
    const WHOLE: u128 = 1 << 20;
    let count = levels.iter().max().map_or(0, |&l| l as usize + 1);
    let (mut bytes, mut work) = (vec![0u128; count], vec![0u128; count]);
    for (stage, &level) in stages.iter().zip(levels) {
        let firings = u128::from(stage.firings);
        if stage.is_windowed() {
            bytes[level as usize] += u128::from(stage.bytes) * firings;
        }
        let units = u128::from(stage.work.base) * u128::from(stage.work.a) * u128::from(stage.work.b);
        work[level as usize] += units * firings;
    }
    let roots: Vec<u128> = work.iter().map(|&w| w.isqrt()).collect();
    let of = |part: u128, whole: u128| (WHOLE * part).checked_div(whole).unwrap_or(0);
    let (all_bytes, all_roots): (u128, u128) = (bytes.iter().sum(), roots.iter().sum());
    let share = |level: usize| {
        let by_work = of(roots[level], all_roots);
        let by_bytes = match budget {
            Budget::Work => 0,
            Budget::WorkAndBytes => of(bytes[level], all_bytes),
        };
        (by_work + by_bytes).max(1) as u64
    };
    let by_level: Vec<u64> = (0..count).map(share).collect();
    levels.iter().map(|&level| by_level[level as usize]).collect()
}
