//! The bound on a section's interval, and what binds (RULES.md section 6).

use crate::chip::UnitModel;
use crate::place::{PlaceError, initiation_interval, recurrence};
use crate::spatial::{Binder, Edge, Flow, Primitive, Recurrence, Stage, StageId, Tier};

use super::{latency, memory};

/// The bound B on `interval` and its binder. `ends` are the input's load and the result's store of a layer loop.
///
/// The longer the interval, the less of the rate do stores take and the less is the loop's bound: it is a bound on shorter intervals too.
pub(super) fn of(
    unit: &UnitModel,
    stages: &[Stage],
    edges: &[Edge],
    ends: Option<(StageId, StageId)>,
    interval: u64,
) -> Result<(u64, Binder), PlaceError> {
    let mut best = (0, Binder::Memory);
    for tier in memory::WINDOWED {
        let bytes = memory::bound(unit, stages, tier).ok_or(PlaceError::Range)?;
        best.0 = best.0.max(bytes);
    }
    let own: Vec<u64> = stages.iter().map(|stage| memory::least_interval(unit, stage)).collect();
    for (stage, own) in stages.iter().zip(&own).filter(|(stage, _)| stage.is_windowed()) {
        best.0 = best.0.max(stage.firings.saturating_mul(*own));
    }
    let work = busiest(unit, stages);
    if work.0 > best.0 {
        best = work;
    }
    if let Some(ends) = ends {
        let around = around(unit, stages, edges, ends, &own, interval);
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

/// A bound of the layer loop on every interval of at least `floor` cycles, where stores slow down what ids choose; else none is needed before the
/// schedule is made.
///
/// What the stores leave of the rate grows with the interval, and with it the loop becomes shorter: the loop at a bound from above is one from below.
pub(super) fn loop_at_least(
    unit: &UnitModel,
    stages: &[Stage],
    edges: &[Edge],
    ends: (StageId, StageId),
    floor: u64,
) -> u64 {
    let on = |primitive: Primitive, tier: Tier| stages.iter().any(|s| s.primitive == primitive && s.tier == Some(tier));
    if !memory::WINDOWED.into_iter().any(|tier| on(Primitive::Gather, tier) && on(Primitive::Store, tier)) {
        return 0;
    }
    let own: Vec<u64> = stages.iter().map(|stage| memory::least_interval(unit, stage)).collect();
    let above = around(unit, stages, edges, ends, &own, floor).max(floor);
    around(unit, stages, edges, ends, &own, above)
}

/// Least distance around the layer loop, from the input's last firing to the next input's, of any schedule whose initiation
/// intervals are no less than `own`.
pub(super) fn around(
    unit: &UnitModel,
    stages: &[Stage],
    edges: &[Edge],
    (x, xo): (StageId, StageId),
    own: &[u64],
    interval: u64,
) -> u64 {
    // Least cycles from the input's last firing to each stage's first and to its last.
    let mut first: Vec<Option<u64>> = vec![None; stages.len()];
    let mut last = first.clone();
    last[x.index()] = Some(0);
    let mut chosen = Chosen::default();
    // Edges are in order of consumer, and a consumer stands after its producers.
    for (at, edge) in edges.iter().enumerate() {
        let (u, v) = (edge.from.index(), edge.to.index());
        let Some(ended) = last[u] else { continue };
        let cycles = latency::forward(unit, &stages[u], &stages[v]) - stages[u].ii + own[u];
        let (begun, ended) = match edge.flow {
            Flow::Stream { .. } => (first[u].map(|e| e + cycles), ended + cycles),
            Flow::Hold { groups: 1 } => (Some(ended + cycles), 0),
            Flow::Hold { groups } => {
                let (a, b) = (stages[u].firings / groups, stages[v].firings / groups);
                (first[u].map(|e| e + cycles + (a - 1) * own[u]), ended + cycles + (b - 1) * own[v])
            }
        };
        first[v] = first[v].max(begun);
        let through = first[v].map_or(0, |e| e + (stages[v].firings - 1) * own[v]);
        last[v] = last[v].max(Some(ended.max(through)));
        if edges.get(at + 1).is_none_or(|next| next.to != edge.to) {
            last[v] = last[v].max(chosen.pass(unit, &stages[..=v], first[v], interval));
        }
    }
    last[xo.index()].map_or(0, |z| z + latency::forward(unit, &stages[xo.index()], &stages[x.index()]))
}

/// What a statement gathers: it comes through its memories in some order, all of it before the last firing of the product that ends the statement.
#[derive(Default)]
struct Chosen {
    /// Bytes by tier.
    bytes: [(Option<Tier>, u64); 2],
    /// Least cycles to a first firing.
    ids: Option<u64>,
}

impl Chosen {
    /// Counts a gather; of a product of experts the least cycles to its last firing. `stages` are all up to the stage in question: what those before it
    /// store leaves less of the memory's rate.
    fn pass(&mut self, unit: &UnitModel, stages: &[Stage], first: Option<u64>, interval: u64) -> Option<u64> {
        let (stage, before) = stages.split_last()?;
        if let (Primitive::Gather, true, Some(first)) = (stage.primitive, stage.is_windowed(), first) {
            let own = self.bytes.iter_mut().find(|(tier, _)| tier.is_none() || *tier == stage.tier)?;
            *own = (stage.tier, own.1.saturating_add(stage.bytes.saturating_mul(stage.firings)));
            self.ids = Some(self.ids.map_or(first, |ids| ids.min(first)));
        }
        if stage.primitive != Primitive::GemmB {
            return None;
        }
        let ids = self.ids?;
        let through = |(tier, bytes): (Option<Tier>, u64)| {
            let tier = tier?;
            let rate = memory::free(unit, before, tier, interval);
            let ends = ids + latency::through(unit, tier, rate, bytes);
            let parted = Parts::of(unit, stages, tier).least(rate).map(|least| ids + latency::past(unit, tier, least));
            (rate > 0).then(|| ends.max(parted.unwrap_or(0)))
        };
        std::mem::take(self).bytes.into_iter().filter_map(through).max()
    }
}

/// By stage, the cycles that the tokens of gate and up take longer than those of down to the product of experts; none where nothing is chosen.
pub(super) fn detours(unit: &UnitModel, stages: &[Stage]) -> Vec<u64> {
    let mut detours = Vec::new();
    for (at, product) in stages.iter().enumerate().filter(|(_, stage)| stage.primitive == Primitive::GemmB) {
        let chosen =
            |s: &Stage| s.statement == product.statement && s.primitive == Primitive::Gather && s.is_windowed();
        if !stages[..at].iter().any(chosen) {
            continue;
        }
        let [.., gate, up, map] = &stages[..at] else { continue };
        let to_map = latency::forward(unit, gate, map).max(latency::forward(unit, up, map));
        let detour = to_map + latency::forward(unit, map, product);
        detours.resize(stages.len(), 0);
        for (own, stage) in detours.iter_mut().zip(&stages[..at]) {
            // Gate and up, and their biases.
            if chosen(stage) && matches!(stage.part, 0 | 1 | 3 | 4) {
                *own = detour;
            }
        }
    }
    detours
}

/// What an experts' product gathers of one memory: of gate and up, which pass two more stages, and of down.
struct Parts {
    /// Bytes of gate and of up.
    early: [u64; 2],
    /// Bytes of down, and of one of its tokens.
    late: (u64, u64),
    /// Cycles by which gate and up are used later than down.
    detour: u64,
    /// Cycles from the product's first firing to its last.
    product: u64,
}

impl Parts {
    /// Of the product that `stages` end with, and of the parts of its statement before it.
    fn of(unit: &UnitModel, stages: &[Stage], tier: Tier) -> Parts {
        let mut parts = Parts { early: [0; 2], late: (0, 0), detour: 0, product: 0 };
        let [.., gate, up, map, product] = stages else { return parts };
        let gathers = |s: &&Stage| s.statement == product.statement && s.primitive == Primitive::Gather;
        for stage in stages.iter().filter(gathers).filter(|stage| stage.tier == Some(tier)) {
            let bytes = stage.bytes.saturating_mul(stage.firings);
            match stage.part {
                part @ (0 | 1) => parts.early[part as usize] = bytes,
                2 => parts.late = (bytes, stage.bytes),
                _ => {}
            }
        }
        let to_map = latency::forward(unit, gate, map).min(latency::forward(unit, up, map));
        parts.detour = to_map + latency::forward(unit, map, product);
        parts.product = (product.firings - 1).saturating_mul(product.ii);
        parts
    }

    /// Cycles from the ids to the end of what down's last firing could as well have come with: RULES.md section 6 says why no order of reading takes
    /// less.
    fn least(&self, rate: u64) -> Option<u64> {
        let early: u64 = self.early.iter().sum();
        let least = self.early.into_iter().filter(|&bytes| bytes > 0).min()?;
        let (late, token) = self.late;
        let share = u128::from(self.detour) * u128::from(least) / (u128::from(least) + u128::from(late));
        let together = memory::cycles_at(rate, early + late).saturating_add(share as u64);
        if late == 0 {
            return Some(together);
        }
        let apart = memory::cycles_at(rate, early) + memory::cycles_at(rate, token);
        Some(together.min(apart.saturating_add(self.product)))
    }
}
