//! Cycles between firings at the two ends of an edge.

use crate::chip::UnitModel;
use crate::place::distance;
use crate::spatial::{Primitive, Stage, Tier};

use super::memory;

/// From a firing of `from` to the earliest firing of `to` that uses its tokens.
pub(crate) fn forward(unit: &UnitModel, from: &Stage, to: &Stage) -> u64 {
    result(unit, from) + 2 + distance(unit, from, to)
}

/// From the start of a firing to its result, where the stage is.
pub(crate) fn result(unit: &UnitModel, stage: &Stage) -> u64 {
    let tree = u64::from(unit.tree) * crate::place::ceil_log2(stage.split.1);
    stage.ii + u64::from(unit.depth) + tree + own(unit, stage)
}

/// From a firing of `to` to the earliest reuse of the slots it read.
pub(crate) fn release(unit: &UnitModel, from: &Stage, to: &Stage) -> u64 {
    to.ii + 2 + distance(unit, from, to)
}

/// From the start of a gather of so many bytes in all, at a rate, to the earliest use of the last of them.
pub(super) fn through(unit: &UnitModel, tier: Tier, rate: u64, bytes: u64) -> u64 {
    past(unit, tier, memory::cycles_at(rate, bytes))
}

/// From the start of loads that take so many cycles to the earliest use of the last of them.
pub(super) fn past(unit: &UnitModel, tier: Tier, cycles: u64) -> u64 {
    cycles.saturating_add(u64::from(unit.depth) + first_byte(unit, tier) + 2 + u64::from(unit.inject))
}

/// Cycles to the first byte of a tier.
fn first_byte(unit: &UnitModel, tier: Tier) -> u64 {
    match tier {
        Tier::Hbm => u64::from(unit.hbm_latency),
        Tier::Ddr => u64::from(unit.ddr_latency),
        Tier::Sram => 0,
    }
}

/// Latency of what a stage moves bytes over.
fn own(unit: &UnitModel, stage: &Stage) -> u64 {
    match stage.primitive {
        Primitive::Collective => u64::from(unit.link_latency),
        Primitive::Load | Primitive::Gather => stage.tier.map_or(0, |tier| first_byte(unit, tier)),
        Primitive::Store
        | Primitive::GemmA
        | Primitive::GemmB
        | Primitive::Map
        | Primitive::Reduce
        | Primitive::Scan
        | Primitive::Scores
        | Primitive::Softmax
        | Primitive::Values => 0,
    }
}
