//! Cycles between firings, from the words of RULES.md section 4 rather than from the code that placed the stages: a
//! stage's box is found by visiting each of its sites.

use crate::chip::UnitModel;
use crate::spatial::{Primitive, Stage, Tier};

/// Cycles from a firing of `u` to the first firing of `v` that may use its tokens.
pub(super) fn forward(unit: &UnitModel, u: &Stage, v: &Stage) -> u64 {
    let mut levels = 0;
    while 1u64 << levels < u.split.1 {
        levels += 1;
    }
    u.ii + u64::from(unit.depth) + u64::from(unit.tree) * levels + first_byte(unit, u) + 2 + hops(unit, u, v)
}

/// Cycles from a firing of `v` to the first firing of `u` that may use the slots it read.
pub(super) fn release(unit: &UnitModel, u: &Stage, v: &Stage) -> u64 {
    v.ii + 2 + hops(unit, u, v)
}

fn first_byte(unit: &UnitModel, stage: &Stage) -> u64 {
    let reads = matches!(stage.primitive, Primitive::Load | Primitive::Gather);
    u64::from(match stage.tier {
        Some(Tier::Hbm) if reads => unit.hbm_latency,
        Some(Tier::Ddr) if reads => unit.ddr_latency,
        Some(Tier::Sram | Tier::Hbm | Tier::Ddr) | None => {
            if stage.primitive == Primitive::Collective {
                unit.link_latency
            } else {
                0
            }
        }
    })
}

fn hops(unit: &UnitModel, u: &Stage, v: &Stage) -> u64 {
    let mut farthest = 0;
    for (x, y) in corners(unit, u) {
        for (s, t) in corners(unit, v) {
            farthest = farthest.max(x.abs_diff(s) + y.abs_diff(t));
        }
    }
    u64::from(unit.inject) + u64::from(unit.hop) * farthest
}

/// The four corners, column and row, of the box around a stage's sites.
fn corners(unit: &UnitModel, stage: &Stage) -> [(u64, u64); 4] {
    let (columns, rows, strip) = (u64::from(unit.columns), u64::from(unit.rows), u64::from(unit.strip));
    let (mut left, mut right, mut top, mut bottom) = (columns, 0, rows, 0);
    let mut strips = 0;
    let mut last_strip = None;
    for site in stage.site..stage.site + stage.cells() {
        let (mut number, mut index) = (0, site);
        let mut height = strip.min(rows);
        while index >= height * columns && number * strip + height < rows {
            index -= height * columns;
            number += 1;
            height = strip.min(rows - number * strip);
        }
        if last_strip != Some(number) {
            last_strip = Some(number);
            strips += 1;
        }
        left = left.min(index / height);
        right = right.max(index / height);
        top = top.min(number * strip);
        bottom = bottom.max(number * strip + height - 1);
    }
    if strips > 1 {
        (left, right) = (0, columns - 1);
    }
    [(left, top), (left, bottom), (right, top), (right, bottom)]
}
