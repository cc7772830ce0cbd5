//! A section's net, token by token.
//!
//! In: a section with its schedule, and what surrounds it (how its iterations follow each other, which stages carry a
//! state). Out: whether the schedule, firing by firing, ever lacks a token, a slot or a turn ([`Net::follow`]), and when
//! each firing happens if every stage fires as soon as it can ([`Net::run`]). Both count tokens one firing at a time; the
//! inequalities that the compiler solves and the checker verifies appear nowhere here. Semantics: `logos-bundle/RULES.md`
//! sections 2 to 5.

mod delay;
mod fault;
mod follow;
mod pace;
mod precede;
mod run;

#[cfg(test)]
mod deployments;
#[cfg(test)]
mod tests;

pub use fault::{Fault, Lack};
pub use pace::Pace;
pub use run::Run;

use crate::certify::Duty;
use crate::chip::UnitModel;
use crate::language::ast::Program;
use crate::spatial::{Edge, Flow, Section, SpatialProgram, StageId};
use precede::Precedence;

/// Firings of a run, all stages and iterations together, beyond which nothing is executed.
pub const MOST_FIRINGS: u64 = 1 << 24;

/// Layers up to which a run comes back to the first one.
const FEW_LAYERS: u64 = 8;

/// An edge, with the firings at its ends.
#[derive(Clone, Copy, Debug)]
struct Channel {
    from: StageId,
    to: StageId,
    flow: Flow,
    capacity: u64,
    /// Firings of producer and consumer an iteration.
    firings: (u64, u64),
}

/// A section's net, ready to be executed.
#[derive(Clone, Debug)]
pub struct Net<'a> {
    section: &'a Section,
    unit: &'a UnitModel,
    channels: Vec<Channel>,
    precedences: Vec<Precedence>,
    once: bool,
}

impl<'a> Net<'a> {
    /// The net of one section of a program.
    ///
    /// `duty` is what the program is for: a layer's only section is a loop, whose next iteration is the next layer.
    pub fn new(
        unit: &'a UnitModel,
        program: &Program,
        spatial: &'a SpatialProgram,
        section: &'a Section,
        duty: Duty,
    ) -> Self {
        let once = spatial.sections.len() > 1;
        let channel = |edge: &Edge| {
            let firings = (section.stage(edge.from).firings, section.stage(edge.to).firings);
            Channel { from: edge.from, to: edge.to, flow: edge.flow, capacity: edge.capacity, firings }
        };
        let mut precedences = precede::turns(section);
        let layers = match duty {
            Duty::Layers(layers) if !once => {
                precedences.extend(precede::layer_loop(unit, spatial, program, section));
                layers
            }
            Duty::Layers(_) | Duty::OnceAStep => 1,
        };
        precedences.extend(precede::states(unit, spatial, program, section, layers));
        Net { section, unit, channels: section.edges.iter().map(channel).collect(), precedences, once }
    }

    /// Whether the section runs once a step, so that it has one iteration.
    pub const fn runs_once(&self) -> bool {
        self.once
    }

    /// Iterations that reach what is periodic: enough to fill every buffer and come back, and one more; and where a few layers
    /// share the net, enough to come back to the first.
    pub fn warm_up(&self) -> u64 {
        if self.once {
            return 1;
        }
        let deepest = self.channels.iter().map(|c| c.capacity / c.a_value()).max().unwrap_or(0);
        let layers = self
            .precedences
            .iter()
            .filter_map(|p| u64::try_from(p.lag).ok())
            .filter(|&lag| lag <= FEW_LAYERS)
            .max()
            .unwrap_or(0);
        (deepest + self.section.span / self.section.interval.max(1)).max(layers) + 3
    }

    /// Firings of an iteration, all stages together.
    pub fn firings(&self) -> u64 {
        self.section.stages.iter().map(|stage| stage.firings).fold(0, u64::saturating_add)
    }

    fn affordable(&self, iterations: u64) -> Result<(), Fault> {
        let firings = self.firings().saturating_mul(iterations);
        if firings > MOST_FIRINGS { Err(Fault::TooLong { firings }) } else { Ok(()) }
    }
}

impl Channel {
    /// Tokens, or held groups, that pass in an iteration.
    fn a_value(&self) -> u64 {
        match self.flow {
            Flow::Stream { p, .. } => p * self.firings.0,
            Flow::Hold { groups } => groups,
        }
    }

    /// Slots that firing `j` of the producer fills first.
    fn claims(&self, j: u64) -> u64 {
        match self.flow {
            Flow::Stream { p, .. } => p,
            Flow::Hold { groups } => u64::from(j.is_multiple_of(self.firings.0 / groups)),
        }
    }

    /// Tokens that are there for use after firing `j` of the producer.
    fn sends(&self, j: u64) -> u64 {
        match self.flow {
            Flow::Stream { p, .. } => p,
            Flow::Hold { groups } => u64::from((j + 1).is_multiple_of(self.firings.0 / groups)),
        }
    }

    /// Tokens that firing `j` of the consumer is the first to need.
    fn needs(&self, j: u64) -> u64 {
        match self.flow {
            Flow::Stream { q, .. } => q.min(self.a_value() - j % self.firings.1 * q),
            Flow::Hold { groups } => u64::from(j.is_multiple_of(self.firings.1 / groups)),
        }
    }

    /// Slots that firing `j` of the consumer is the last to need.
    fn frees(&self, j: u64) -> u64 {
        match self.flow {
            Flow::Stream { .. } => self.needs(j),
            Flow::Hold { groups } => u64::from((j + 1).is_multiple_of(self.firings.1 / groups)),
        }
    }
}
