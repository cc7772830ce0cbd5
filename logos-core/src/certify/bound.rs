//! The bound on a section's interval, and what binds (RULES.md section 6).

use crate::chip::UnitModel;
use crate::place::{PlaceError, recurrence};
use crate::spatial::{Binder, Edge, Flow, Stage, StageId};

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

/// The largest `f·II` outside the turns, and whether a recurrence gives it.
fn busiest(unit: &UnitModel, stages: &[Stage]) -> (u64, Binder) {
    let mut best = (0, Binder::Stage);
    for stage in stages.iter().filter(|s| !s.is_windowed()) {
        let busy = stage.firings.saturating_mul(stage.ii);
        if busy > best.0 {
            let (a, b) = (stage.work.a.div_ceil(stage.split.0), stage.work.b.div_ceil(stage.split.1));
            let carried = recurrence(unit, stage.recurrence, a, b, stage.split.1);
            let recurs = carried == stage.ii && carried > stage.work.base * a * b;
            best = (busy, if recurs { Binder::Recurrence } else { Binder::Stage });
        }
    }
    best
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
        let cycles = latency::forward(unit, from, to);
        let (head, tail) = match edge.flow {
            Flow::Stream { .. } => (0, 0),
            Flow::Hold { groups } => {
                ((from.firings / groups - 1) * from.ii, (to.firings / groups - 1) * to.ii)
            }
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

