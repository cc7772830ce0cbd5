//! How fast each stage of a schedule fires: as fast as it can, unless what it reads comes more slowly.

use std::ops::Range;

use crate::spatial::{Edge, Flow, Primitive, Section, Stage};

use super::schedule::{Order, Schedule};
use super::{bound, memory};

impl Schedule<'_> {
    /// Whether an edge brings its tokens no faster than a load that is followed, or one of what lies in the scratchpads, reads them.
    pub(super) fn paces(&self, edge: &Edge, followed: &[bool]) -> bool {
        let load = self.section.stage(edge.from);
        let input = self.ends.map(|(x, _)| x) == Some(edge.from);
        let read = if load.is_windowed() { followed[edge.from.index()] } else { load.primitive == Primitive::Load };
        read && !input && matches!(edge.flow, Flow::Stream { .. })
    }

    /// What the largest value in the scratchpads takes longer to read than its reader takes to use it, in a section with a gather: the memory
    /// would wait for the ids that depend on it.
    pub(super) fn lead(&self) -> u64 {
        let Section { stages, edges, groups, .. } = &self.section;
        let gathers = stages.iter().any(|stage| stage.primitive == Primitive::Gather && stage.is_windowed());
        if *groups > 1 || self.ends.is_none() || !gathers {
            return 0;
        }
        let busy = |stage: &Stage| stage.firings.saturating_mul(stage.ii);
        let kept = edges.iter().filter(|e| !self.section.stage(e.from).is_windowed() && self.paces(e, &[]));
        let longer = |e: &Edge| busy(self.section.stage(e.from)).saturating_sub(busy(self.section.stage(e.to)));
        kept.map(longer).max().unwrap_or(0)
    }

    /// Cycles by which the layer loop would be longer than the interval if the readers of followed loads began with them.
    pub(super) fn overrun(&self, followed: &[bool]) -> u64 {
        let Section { stages, edges, interval, groups: 1, .. } = &self.section else { return 0 };
        let Some(ends) = self.ends else { return 0 };
        let mut own: Vec<u64> = stages.iter().map(|stage| memory::least_interval(self.unit, stage)).collect();
        for edge in edges.iter().filter(|e| self.paces(e, followed)) {
            let (load, reader) = (&stages[edge.from.index()], edge.to.index());
            let period = if load.is_windowed() { load.period } else { load.ii };
            own[reader] = own[reader].max(load.firings * period / stages[reader].firings);
        }
        bound::around(self.unit, stages, edges, ends, &own, *interval).saturating_sub(*interval)
    }

    /// A stage is as fast as it can be; where groups are pipelined, as slow as its producers.
    ///
    /// With one group, [`Schedule::stretch`] decides once it is known when tokens come.
    pub(super) fn set_periods(&mut self) {
        let Section { stages, edges, groups, interval, .. } = &mut self.section;
        let computed = || stages.iter().filter(|s| !s.is_windowed()).map(|s| s.firings * s.ii).max().unwrap_or(0);
        let pace = if self.order == Order::Once { computed() } else { *interval };
        for stage in stages.iter_mut().filter(|s| !s.is_windowed()) {
            let source = *groups > 1 && stage.primitive.is_source();
            stage.period = if source { stage.ii.max(pace / stage.firings) } else { stage.ii };
        }
        for edge in edges.iter().filter(|_| *groups > 1) {
            let (u, v) = (edge.from.index(), edge.to.index());
            if edge.flow != (Flow::Hold { groups: 1 }) {
                let pace = stages[u].firings * stages[u].period / stages[v].firings;
                stages[v].period = stages[v].period.max(pace);
            }
        }
    }

    /// Loads of what lies in the scratchpads as slow as what reads them, where each of their tokens is one firing's: they wait less in buffers.
    pub(super) fn slow_down(&mut self) {
        if self.section.groups > 1 {
            return;
        }
        let Section { stages, edges, .. } = &mut self.section;
        let mut pace: Vec<Option<u64>> = vec![None; stages.len()];
        for edge in edges.iter() {
            let reader = &stages[edge.to.index()];
            let alike = edge.flow == Flow::Stream { p: 1, q: 1 } && reader.firings == stages[edge.from.index()].firings;
            let slowest = if alike { reader.period } else { 0 };
            let pace = &mut pace[edge.from.index()];
            *pace = Some(pace.map_or(slowest, |pace| pace.min(slowest)));
        }
        let input = self.ends.map(|(x, _)| x.index());
        for (v, (stage, pace)) in stages.iter_mut().zip(pace).enumerate() {
            if stage.primitive == Primitive::Load && stage.turn.is_none() && input != Some(v) {
                stage.period = stage.period.max(pace.unwrap_or(0));
            }
        }
    }

    /// Slows a stage down as far as its last firing is not delayed: it takes tokens as they come rather than when all are
    /// nearly there, so its readers start earlier and its buffers stay small.
    ///
    /// Not a stage that streams from nothing but loads that are read in bursts: what it would gain in buffers, the layer loop
    /// would lose, as all before it would have to be earlier. A section that runs once has no loop.
    pub(super) fn stretch(&mut self, v: usize, edges: Range<usize>, followed: &[bool]) {
        let Section { stages, edges: all, .. } = &self.section;
        let streams_in = all[edges.clone()].iter().any(|e| {
            let from = e.from.index();
            let at_once = followed[from] || !stages[from].is_windowed() || stages[from].primitive == Primitive::Gather;
            matches!(e.flow, Flow::Stream { .. }) && at_once
        });
        if !streams_in && self.order != Order::Once {
            return;
        }
        let (firings, ii) = (stages[v].firings as i64, stages[v].ii as i64);
        let mut ready: Vec<(i64, i64)> = Vec::with_capacity(4 * edges.len());
        for e in edges.clone() {
            self.ends_of(e).data(self.section.edges[e].flow, |j, at| ready.push((j, at)));
        }
        let last = ready.iter().map(|&(j, at)| at + (firings - 1 - j) * ii).max().unwrap_or(0);
        let before_last = ready.iter().filter(|&&(j, _)| j < firings - 1);
        let slowest = before_last.map(|&(j, at)| (last - at) / (firings - 1 - j)).min().unwrap_or(ii);
        let mut most = self.section.interval / stages[v].firings;
        // The slowest of the loads sets the pace; of one that is faster the reader is not behind.
        let paced = all[edges].iter().filter(|e| self.behind > 0 && self.paces(e, followed));
        let span = paced.map(|e| &stages[e.from.index()]).map(|load| load.firings * load.period).max();
        if let Some(span) = span {
            most = most.min(span.saturating_sub(self.behind) / stages[v].firings);
        }
        self.section.stages[v].period = slowest.min(most as i64).max(ii) as u64;
    }
}
