//! The bound on a section's interval, and what binds (RULES.md section 6).

use crate::chip::UnitModel;
use crate::place::{PlaceError, initiation_interval, recurrence};
use crate::spatial::{Binder, Edge, Flow, Recurrence, Stage, StageId};

use super::{latency, memory};

/// The bound B and its binder. `ends` are the input's load and the result's store of a layer loop.
pub(super) fn of(
    unit: &UnitModel,
    stages: &[Stage],
    edges: &[Edge],
    ends: Option<(StageId, StageId)>,
) -> Result<(u64, Binder), PlaceError> {
    let mut best = (0, Binder::Memory);
    for tier in memory::WINDOWED {
        let bytes = memory::bound(unit, stages, tier).ok_or(PlaceError::Range)?;
        best.0 = best.0.max(bytes);
    }
    let work = busiest(unit, stages);
    if work.0 > best.0 {
        best = work;
    }
    if let Some((x, xo)) = ends {
        let around = loop_bound(unit, stages, edges, x, xo);
        if around > best.0 {
            best = (around, Binder::Loop);
        }
    }
    Ok(best)
}

/// The largest `f·II` outside the turns, and whether the recurrence of the one stage that reaches it gives it.
fn busiest(unit: &UnitModel, stages: &[Stage]) -> (u64, Binder) {
    let busy = |stage: &Stage| stage.firings.saturating_mul(stage.ii);
    let mut most = 0;
    let mut reached: Option<&Stage> = None;
    for stage in stages.iter().filter(|s| !s.is_windowed()) {
        if busy(stage) > most {
            most = busy(stage);
            reached = Some(stage);
        } else if busy(stage) == most {
            reached = None;
        }
    }
    let recurs = reached.is_some_and(|stage| {
        let plain = Stage { recurrence: Recurrence::None, ..stage.clone() };
        initiation_interval(unit, &plain, stage.split, 0) < stage.ii && carried(unit, stage) == stage.ii
    });
    (most, if recurs { Binder::Recurrence } else { Binder::Stage })
}

/// Cycles of a stage's recurrence under its split.
fn carried(unit: &UnitModel, stage: &Stage) -> u64 {
    let (na, nb) = stage.split;
    recurrence(unit, stage.recurrence, stage.work.a.div_ceil(na), stage.work.b.div_ceil(nb), nb)
}

/// Least distance around the layer loop that any schedule with these initiation intervals has.
fn loop_bound(unit: &UnitModel, stages: &[Stage], edges: &[Edge], x: StageId, xo: StageId) -> u64 {
    let mut first: Vec<Option<u64>> = vec![None; stages.len()];
    let mut last = first.clone();
    first[x.index()] = Some(0);
    last[x.index()] = Some(0);
    for edge in edges {
        let (Some(e), Some(z)) = (first[edge.from.index()], last[edge.from.index()]) else { continue };
        let (from, to) = (&stages[edge.from.index()], &stages[edge.to.index()]);
        let (own, taken) = (memory::least_interval(unit, from), memory::least_interval(unit, to));
        let cycles = latency::forward(unit, from, to) - from.ii + own;
        let (head, tail) = match edge.flow {
            Flow::Stream { .. } => (0, 0),
            Flow::Hold { groups } => ((from.firings / groups - 1) * own, (to.firings / groups - 1) * taken),
        };
        let to = edge.to.index();
        first[to] = first[to].max(Some(e + head + cycles));
        last[to] = last[to].max(Some(z + cycles + tail));
    }
    let back = latency::forward(unit, &stages[xo.index()], &stages[x.index()]);
    match (first[xo.index()], last[xo.index()]) {
        (Some(e), Some(z)) => e.max(z) + back,
        _ => 0,
    }
}
