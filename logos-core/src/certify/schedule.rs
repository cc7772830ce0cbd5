//! A periodic schedule with the least capacities: as early as data allows, then as late as readers allow.

use std::ops::Range;

use crate::chip::UnitModel;
use crate::lower::Lowered;
use crate::place::{Budget, PlaceError, allocate, assign_addresses, settle};
use crate::spatial::{Binder, Flow, Primitive, Section, Stage, StageId};

use super::capacity::Ends;
use super::laps::{Free, Laps};
use super::{bound, latency, levels, memory};

/// How often a section runs before another takes the chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Iteration after iteration: its next one is the next layer's.
    Loops {
        /// Layers that run it, one after another, in a step.
        layers: u64,
    },
    /// Iteration after iteration, without a loop between them.
    Repeats,
    /// Once a step, before another section takes the chip.
    Once,
}

/// Times at and beyond this are outside the range of the rules.
const RANGE: u64 = 1 << 40;
/// Firings at and beyond this are outside the range of the rules.
const FIRINGS: u64 = 1 << 22;

/// Places and schedules a net.
///
/// `resident` is the scratchpad bytes that are taken by what stays in SRAM. Where the buffers do not fit beside them, a `patient` search tries
/// schedules that take less.
///
/// # Errors
/// [`PlaceError`] where cells, scratchpad or the range of the rules do not suffice.
pub(super) fn certify(
    unit: &UnitModel,
    chips: u64,
    lowered: Lowered,
    order: Order,
    resident: u64,
    patient: bool,
) -> Result<Section, PlaceError> {
    let Lowered { rows, groups, mut stages, edges, ends, states } = lowered;
    if stages.iter().any(|s| s.firings == 0 || s.firings >= FIRINGS) {
        return Err(PlaceError::Range);
    }
    let phases = levels::of(&stages, &edges, groups);
    let budgets = if groups > 1 {
        vec![Budget::WHOLE; stages.len()]
    } else {
        let loops = matches!(order, Order::Loops { .. });
        let tied: Vec<u64> = stages.iter().map(|stage| if loops { tied(unit, stage) } else { 0 }).collect();
        levels::budgets(unit, &stages, &edges, &phases, &tied)
    };
    allocate(unit, &mut stages, &edges, &budgets)?;
    settle(&mut stages);
    memory::settle_movers(unit, chips, &mut stages);

    let ends = ends.filter(|_| matches!(order, Order::Loops { .. }));
    let floor = floor(unit, &stages)?;
    let floor = ends.map_or(floor, |ends| floor.max(bound::loop_at_least(unit, &stages, &edges, ends, floor)));
    let mut detours = if ends.is_some() && groups == 1 { bound::detours(unit, &stages) } else { Vec::new() };
    if let (Some(ends), Some(&longest)) = (ends, detours.iter().max()) {
        let own: Vec<u64> = stages.iter().map(|stage| memory::least_interval(unit, stage)).collect();
        // What makes the loop shorter makes the turns longer: as much as the loop is longer than they are.
        let around = bound::around(unit, &stages, &edges, ends, &own, floor);
        let most = (around + longest / 2 + around / 512).saturating_sub(floor);
        for detour in &mut detours {
            *detour = (*detour).min(most);
        }
    }
    let section = Section {
        group_rows: rows,
        groups,
        stages,
        edges,
        turns: Vec::new(),
        interval: floor,
        span: 0,
        binder: Binder::Span,
        bound: floor,
    };
    let mut schedule = Schedule {
        unit,
        section,
        phases,
        detours,
        floor,
        least: 0,
        behind: 0,
        lead: 0,
        laps: Laps::default(),
        heads: true,
        ends,
        states,
        order,
    };
    schedule.fit(resident, patient)?;
    let Schedule { mut section, ends, .. } = schedule;
    let (bound, binder) = bound::of(unit, &section.stages, &section.edges, ends, section.interval)?;
    section.bound = bound;
    section.binder = if order == Order::Once { Binder::Span } else { binder };
    Ok(section)
}

/// The most bytes of one load that are read before its reader begins: an eighth of the scratchpads.
fn ahead(unit: &UnitModel) -> u64 {
    u64::from(unit.cells) * u64::from(unit.scratchpad) / 8
}

/// Bytes of a stage in a turn that cannot be there before its reader begins: what ids choose, and of a large value what the scratchpads
/// do not hold.
fn tied(unit: &UnitModel, stage: &Stage) -> u64 {
    let bytes = stage.bytes.saturating_mul(stage.firings);
    let read_ahead = if stage.primitive == Primitive::Gather { 0 } else { ahead(unit) };
    if stage.is_windowed() { bytes.saturating_sub(read_ahead) } else { 0 }
}

/// The least interval that memory and stages allow.
fn floor(unit: &UnitModel, stages: &[Stage]) -> Result<u64, PlaceError> {
    let mut floor = 1;
    for tier in memory::WINDOWED {
        floor = floor.max(memory::bound(unit, stages, tier).ok_or(PlaceError::Range)?);
    }
    for stage in stages.iter().filter(|s| !s.is_windowed()) {
        floor = floor.max(stage.firings.saturating_mul(stage.ii));
    }
    if floor < RANGE { Ok(floor) } else { Err(PlaceError::Range) }
}

/// How often an interval whose buffers do not fit is made longer by a little; where latencies are far above the interval, steps then
/// double, so that a chip with such figures is answered as soon as others.
const SMALL_STEPS: u32 = 32;

pub(super) struct Schedule<'a> {
    pub(super) unit: &'a UnitModel,
    pub(super) section: Section,
    pub(super) phases: Vec<u32>,
    /// By gather, the cycles its tokens take longer than others of the statement to its last product.
    pub(super) detours: Vec<u64>,
    pub(super) floor: u64,
    /// Least interval to try, longer than what else allows where buffers would not fit.
    pub(super) least: u64,
    /// Cycles that readers of followed loads begin later than they could, so as to take less time.
    pub(super) behind: u64,
    /// Cycles by which what lies in the scratchpads is read before all else, where ids are waited for.
    pub(super) lead: u64,
    /// Turns that serve the iteration after.
    pub(super) laps: Laps,
    /// Whether turns may have heads.
    pub(super) heads: bool,
    pub(super) ends: Option<(StageId, StageId)>,
    pub(super) states: Vec<(StageId, StageId)>,
    pub(super) order: Order,
}

impl Schedule<'_> {
    /// Schedules so that the buffers fit: loads are read in bursts at the end of their window unless their readers follow
    /// them, which takes less scratchpad and may take more time; so the largest are followed first, and no more than needed. Only one
    /// schedule is made unless the search is patient.
    fn fit(&mut self, resident: u64, patient: bool) -> Result<(), PlaceError> {
        let mut followed: Vec<bool> = self
            .section
            .stages
            .iter()
            .map(|s| s.is_windowed() && s.bytes.saturating_mul(s.firings) > ahead(self.unit))
            .collect();
        self.lead = self.lead();
        // The most that readers of followed loads may be behind them.
        let mut behind = u64::MAX;
        let mut stretched: u32 = 0;
        loop {
            self.set_turns(&followed)?;
            self.behind = self.overrun(&followed).min(behind);
            self.set_periods();
            self.set_starts(&followed);
            let before = self.section.interval;
            self.set_interval()?;
            self.delay_turns();
            self.delay_appends();
            if self.order == Order::Once {
                // Its span may have become shorter.
                self.section.interval = before;
            }
            self.set_interval()?;
            self.laps.settle(&mut self.section);
            self.set_span();
            if !self.set_capacities()? {
                self.heads = false;
                continue;
            }
            let section = &mut self.section;
            match assign_addresses(self.unit, &section.stages, &mut section.edges, resident) {
                Ok(()) => return Ok(()),
                Err(error) if !patient => return Err(error),
                // Less than a 256th of the interval is not worth another schedule.
                Err(_) if self.behind > section.interval / 256 => behind = self.behind / 4,
                Err(_) if self.behind > 0 => behind = 0,
                Err(error) => {
                    let largest = section
                        .edges
                        .iter()
                        .filter(|e| section.stages[e.from.index()].is_windowed() && !followed[e.from.index()])
                        .filter(|e| matches!(e.flow, Flow::Stream { .. }))
                        .max_by_key(|e| e.capacity.saturating_mul(e.slot_bytes));
                    match largest {
                        Some(edge) if section.groups == 1 => followed[edge.from.index()] = true,
                        _ if section.groups > 1 || section.interval > 2 * section.span => return Err(error),
                        _ => {
                            let step = (section.interval / 32).max(1) << stretched.saturating_sub(SMALL_STEPS).min(16);
                            self.least = section.interval.saturating_add(step);
                            stretched += 1;
                        }
                    }
                }
            }
        }
    }

    /// Windows of the memory; a load that is followed is read no faster than its readers are.
    fn set_turns(&mut self, followed: &[bool]) -> Result<(), PlaceError> {
        let Section { stages, edges, turns, groups, interval, .. } = &mut self.section;
        let mut pace = vec![0; stages.len()];
        for edge in edges.iter().filter(|e| followed[e.from.index()] && matches!(e.flow, Flow::Stream { .. })) {
            let reader = &stages[edge.to.index()];
            let pace = &mut pace[edge.from.index()];
            *pace = (*pace).max(reader.firings.saturating_mul(reader.ii));
        }
        let steady = *groups > 1 && self.order != Order::Once;
        let lead = self.lead;
        let ranks = if steady { vec![0; stages.len()] } else { memory::ranks(stages, &self.phases, edges, followed) };
        self.laps = Laps::default();
        *turns = memory::take_turns(self.unit, stages, &ranks, &pace, steady, self.floor, &self.detours)?;
        for turn in turns.iter_mut() {
            turn.start += lead;
        }
        for load in stages.iter_mut().filter(|stage| stage.turn.is_some()) {
            load.start += lead;
        }
        *interval = memory::cover(turns).max(self.floor);
        Ok(())
    }

    pub(super) fn ends_of(&self, edge: usize) -> Ends {
        let edge = &self.section.edges[edge];
        let (from, to) = (self.section.stage(edge.from), self.section.stage(edge.to));
        let triple = |s: &Stage| (s.start as i64, s.firings as i64, s.period as i64);
        Ends {
            from: triple(from),
            to: triple(to),
            latency: latency::forward(self.unit, from, to) as i64,
            release: latency::release(self.unit, from, to) as i64,
            interval: self.section.interval as i64,
        }
    }

    /// Earliest starts, with the turns of gathers as late as their ids; then latest ones for all but loads in a turn.
    fn set_starts(&mut self, followed: &[bool]) {
        self.postpone_turns(followed);
        if self.section.groups == 1 && matches!(self.order, Order::Loops { .. }) {
            let free = Free { followed, states: &self.states, layers: self.layers(), heads: self.heads };
            self.laps = Laps::fill(self.unit, &mut self.section, free);
            self.postpone_turns(followed);
        }
        self.slow_down();
        let sinks = self.sinks();
        self.set_latest(&sinks);
        for (v, edges) in sinks {
            self.section.stages[v].start = self.earliest(edges);
        }
    }

    /// Turns no earlier than what their gathers need, and all else as early as that allows.
    fn postpone_turns(&mut self, followed: &[bool]) {
        // A turn that moves takes later turns and their readers along. Ids come from stages of a lower level, whose loads are in
        // earlier turns, so as many rounds as there are turns are enough.
        for _ in 0..=self.section.turns.len() {
            let ready = self.set_earliest(followed);
            if !memory::postpone(&mut self.section.stages, &mut self.section.turns, &ready, &self.laps) {
                break;
            }
        }
    }

    /// The earliest start of a stage that the edges into it allow.
    fn earliest(&self, edges: Range<usize>) -> u64 {
        let earliest = edges.map(|e| self.ends_of(e).earliest(self.section.edges[e].flow)).max();
        earliest.map_or(0, |start| start.max(0) as u64)
    }

    /// The stages that nothing reads, but for the end of the layer loop, with their edges in.
    fn sinks(&self) -> Vec<(usize, Range<usize>)> {
        let Section { stages, edges, .. } = &self.section;
        let mut read = vec![false; stages.len()];
        for edge in edges {
            read[edge.from.index()] = true;
        }
        let end = self.ends.map(|(_, xo)| xo.index());
        let sinks = (0..stages.len()).filter(|&v| !read[v] && Some(v) != end);
        let edges_into = |v| {
            let first = edges.partition_point(|e| e.to.index() < v);
            first..first + edges[first..].partition_point(|e| e.to.index() == v)
        };
        sinks.map(|v| (v, edges_into(v))).collect()
    }

    /// Every stage but loads in a turn as late as its readers allow; what nothing reads is done when the last stage is, and
    /// a state before it is loaded again.
    fn set_latest(&mut self, sinks: &[(usize, Range<usize>)]) {
        let stages = &self.section.stages;
        let end = stages.iter().map(|s| s.last() + s.ii).max().unwrap_or(0) as i64;
        let mut latest: Vec<i64> = vec![i64::MAX; stages.len()];
        for &(v, _) in sinks {
            let done = stages[v].last() + stages[v].ii - stages[v].start;
            latest[v] = end - done as i64;
        }
        for &(load, store) in &self.states {
            let (again, times) = self.laps.again(&self.section, load, self.layers());
            let again = again + times * self.section.interval;
            let latest = &mut latest[store.index()];
            let (load, store) = (&stages[load.index()], &stages[store.index()]);
            let done = store.last() - store.start + latency::forward(self.unit, store, load);
            *latest = (*latest).min(again as i64 - done as i64).max(store.start as i64);
        }
        // What ids choose is used as it comes.
        let mut stays = vec![false; self.section.stages.len()];
        for edge in &self.section.edges {
            let chosen = self.section.stage(edge.from).primitive == Primitive::Gather;
            stays[edge.to.index()] |= chosen && matches!(edge.flow, Flow::Stream { .. });
        }
        let mut e = self.section.edges.len();
        for v in (0..self.section.stages.len()).rev() {
            if self.section.stages[v].turn.is_none() && latest[v] != i64::MAX && !stays[v] {
                self.section.stages[v].start = latest[v].max(0) as u64;
            }
            while e > 0 && self.section.edges[e - 1].to.index() == v {
                e -= 1;
                let bound = self.ends_of(e).latest(self.section.edges[e].flow);
                let from = self.section.edges[e].from.index();
                latest[from] = latest[from].min(bound);
            }
        }
    }

    /// The earliest starts for the turns as they are, and when the data of each turn's gathers are there.
    fn set_earliest(&mut self, followed: &[bool]) -> Vec<u64> {
        let mut ready = vec![0; self.section.turns.len()];
        let mut next = 0;
        // Edges are in order of consumer, and a consumer stands after its producers.
        for v in 0..self.section.stages.len() {
            let first = next;
            while self.section.edges.get(next).is_some_and(|e| e.to.index() == v) {
                next += 1;
            }
            let turn = self.section.stages[v].turn;
            if self.section.groups == 1 && turn.is_none() {
                self.stretch(v, first..next, followed);
            }
            let input = self.ends.is_some_and(|(x, _)| x.index() == v);
            let earliest = if input { self.lead } else { self.earliest(first..next) };
            match turn {
                None => self.section.stages[v].start = earliest,
                Some(turn) => ready[turn as usize] = earliest.max(ready[turn as usize]),
            }
        }
        ready
    }

    /// Iterations after which a layer is the same one again.
    fn layers(&self) -> u64 {
        match self.order {
            Order::Loops { layers } => layers.max(1),
            Order::Repeats | Order::Once => 1,
        }
    }

    /// The least interval that the layer loop, the states and the turns allow.
    fn set_interval(&mut self) -> Result<(), PlaceError> {
        let stages = &self.section.stages;
        let mut interval = self.section.interval.max(self.least).max(memory::cover(&self.section.turns));
        let at = |id: StageId| &stages[id.index()];
        for stage in stages {
            interval = interval.max(stage.firings.saturating_mul(stage.period));
        }
        if let Some((x, xo)) = self.ends {
            let (x, xo) = (at(x), at(xo));
            let back = latency::forward(self.unit, xo, x);
            interval = interval.max((xo.start + back).saturating_sub(x.start));
            interval = interval.max((xo.last() + back).saturating_sub(x.last()));
        }
        let layers = self.layers();
        for &(load, store) in &self.states {
            let (again, times) = self.laps.again(&self.section, load, layers);
            let (load, store) = (at(load), at(store));
            let done = store.last() + latency::forward(self.unit, store, load);
            interval = interval.max(done.saturating_sub(again).div_ceil(times));
        }
        let end = self.set_span();
        if self.order == Order::Once {
            interval = interval.max(self.section.span);
        }
        self.section.interval = interval;
        if interval < RANGE && end < RANGE { Ok(()) } else { Err(PlaceError::Range) }
    }

    /// From the first start to the last result, whose cycle is returned.
    fn set_span(&mut self) -> u64 {
        let Section { stages, span, .. } = &mut self.section;
        let first = stages.iter().map(|s| s.start).min().unwrap_or(0);
        let end = stages.iter().map(|s| s.last() + s.ii).max().unwrap_or(0);
        *span = end - first;
        end
    }

    /// Each turn as late as the readers of its loads and the turn after it allow: what is loaded waits less in buffers.
    fn delay_turns(&mut self) {
        let mut slack: Vec<i64> = vec![i64::MAX; self.section.turns.len()];
        for (e, edge) in self.section.edges.iter().enumerate() {
            let load = self.section.stage(edge.from);
            if let Some(turn) = load.turn {
                if self.laps.holds(turn) {
                    slack[turn as usize] = 0;
                }
                let spare = self.ends_of(e).latest(edge.flow) - load.start as i64;
                slack[turn as usize] = slack[turn as usize].min(spare);
            }
        }
        let Section { stages, turns, interval, .. } = &mut self.section;
        for tier in memory::WINDOWED {
            let Some(first) = turns.iter().find(|turn| turn.tier == tier) else { continue };
            let mut until = first.start + *interval;
            for (at, turn) in turns.iter_mut().enumerate().rev().filter(|(_, turn)| turn.tier == tier) {
                let spare = until.saturating_sub(turn.start + turn.length);
                let delay = spare.min(slack[at].max(0) as u64);
                turn.start += delay;
                for load in stages.iter_mut().filter(|stage| stage.turn == Some(at as u32)) {
                    load.start += delay;
                }
                until = turn.start;
            }
        }
    }

    /// What is appended replaces what a ring held: not before the last of it has been read. Nothing reads a store, so no other
    /// start depends on it.
    fn delay_appends(&mut self) {
        let stages = &mut self.section.stages;
        for &(load, store) in &self.states {
            let (load, store) = (load.index(), store.index());
            if stages[load].statement != stages[store].statement {
                let read = stages[load].last() + stages[load].ii;
                stages[store].start = stages[store].start.max(read);
            }
        }
    }

    /// The least capacities; `false` where a head would have to wait for its own iteration's readers.
    fn set_capacities(&mut self) -> Result<bool, PlaceError> {
        for e in 0..self.section.edges.len() {
            let ends = self.ends_of(e);
            let edge = &self.section.edges[e];
            let least = ends.capacity(edge.flow).ok_or(PlaceError::Range)?;
            let Some(capacity) = self.laps.capacity(&self.section, edge, ends.release as u64, least) else {
                return Ok(false);
            };
            self.section.edges[e].capacity = capacity;
        }
        Ok(true)
    }
}
