//! Sections: the nets that are on the chip, with their stages, edges and memory turns.
//!
//! All times are cycles of the unit model in the chip's rows: modeled, counted from a section's own zero.

use core::fmt;

use super::{Binder, Primitive, Program, Statement, Tier, Value, ValueRole, view};
use crate::table::layout::{Part, edge, op, part, section as field, stage, turn};

view! {
    /// A net that is on the chip at a time.
    Section of program: Program
}

impl<'a> Section<'a> {
    /// Its number in the program.
    #[must_use]
    pub fn index(&self) -> u32 {
        self.index
    }

    /// The program it is of.
    #[must_use]
    pub fn program(&self) -> Program<'a> {
        self.program
    }

    /// Rows of a group.
    #[must_use]
    pub fn group_rows(&self) -> u32 {
        self.row.get(field::GROUP_ROWS)
    }

    /// Groups of an iteration.
    #[must_use]
    pub fn groups(&self) -> u32 {
        self.row.get(field::GROUPS)
    }

    /// The interval: cycles from one iteration to the next.
    #[must_use]
    pub fn interval_cycles(&self) -> u64 {
        self.row.wide(field::INTERVAL)
    }

    /// The span: cycles from the first input to the last result.
    #[must_use]
    pub fn span_cycles(&self) -> u64 {
        self.row.wide(field::SPAN)
    }

    /// The bound: cycles that no schedule on this net and unit model goes below.
    #[must_use]
    pub fn bound_cycles(&self) -> u64 {
        self.row.wide(field::BOUND)
    }

    /// What the bound is.
    #[must_use]
    pub fn binder(&self) -> Binder {
        Binder::from_code(self.row.get(field::BINDER))
    }

    /// Whether the interval is within 1/256 of the bound.
    #[must_use]
    pub fn is_tight(&self) -> bool {
        let (interval, bound) = (u128::from(self.interval_cycles()), u128::from(self.bound_cycles()));
        interval >= bound && 256 * (interval - bound) <= bound
    }

    /// Its stages, in order of (statement, part).
    pub fn stages(&self) -> impl Iterator<Item = Stage<'a>> + Clone + use<'a> {
        let section = *self;
        (0..self.held(Part::Stages, field::STAGES)).filter_map(move |index| section.stage(index))
    }

    /// One stage.
    #[must_use]
    pub fn stage(&self, index: u32) -> Option<Stage<'a>> {
        Some(Stage { section: *self, row: self.child(Part::Stages, field::STAGES, index)?, index })
    }

    /// Its edges, in order of (consumer, port).
    pub fn edges(&self) -> impl Iterator<Item = Edge<'a>> + Clone + use<'a> {
        let section = *self;
        (0..self.held(Part::Edges, field::EDGES)).filter_map(move |index| section.edge(index))
    }

    /// One edge.
    #[must_use]
    pub fn edge(&self, index: u32) -> Option<Edge<'a>> {
        Some(Edge { section: *self, row: self.child(Part::Edges, field::EDGES, index)?, index })
    }

    /// The windows of its memories, in order per tier.
    pub fn turns(&self) -> impl Iterator<Item = Turn<'a>> + Clone + use<'a> {
        let section = *self;
        (0..self.held(Part::Turns, field::TURNS)).filter_map(move |index| section.turn(index))
    }

    /// One window.
    #[must_use]
    pub fn turn(&self, index: u32) -> Option<Turn<'a>> {
        Some(Turn { section: *self, row: self.child(Part::Turns, field::TURNS, index)?, index })
    }

    /// Stores of states in this section: each has to be over before the next step's load.
    pub fn state_stores(&self) -> impl Iterator<Item = Stage<'a>> + Clone + use<'a> {
        self.stages().filter(|stage| {
            stage.primitive() == Primitive::Store && stage.moved().is_some_and(|value| value.role() == ValueRole::State)
        })
    }

    /// Transitions of the net: one a stage.
    #[must_use]
    pub fn transitions(&self) -> u32 {
        self.held(Part::Stages, field::STAGES)
    }

    /// Places of the net: a self-loop a stage (no stage runs twice at once), a data place and a space place an edge, one a
    /// memory window, one for the layer loop, and one a state written here.
    #[must_use]
    pub fn places(&self) -> u32 {
        let edges = self.held(Part::Edges, field::EDGES);
        let turns = self.held(Part::Turns, field::TURNS);
        self.transitions()
            .saturating_add(edges.saturating_mul(2))
            .saturating_add(turns)
            .saturating_add(u32::from(self.program.is_loop()))
            .saturating_add(self.state_stores().count() as u32)
    }

    /// Cells in use.
    #[must_use]
    pub fn cells(&self) -> u64 {
        self.stages().fold(0, |sum, stage| sum.saturating_add(stage.cells()))
    }

    /// Scratchpad bytes of all edge buffers.
    #[must_use]
    pub fn buffer_bytes(&self) -> u64 {
        self.edges().fold(0, |sum, edge| sum.saturating_add(edge.buffer_bytes()))
    }

    fn held(&self, part: Part, field: usize) -> u32 {
        self.program.bundle.held(part, self.row.get(field), self.row.get(field + 1))
    }

    fn child(&self, part: Part, field: usize, index: u32) -> Option<super::source::Row<'a>> {
        if index >= self.row.get(field + 1) {
            return None;
        }
        self.program.bundle.row(part, self.row.get(field).checked_add(index)?)
    }
}

impl fmt::Display for Section<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "section {}: {} groups of {} rows, {} stages, {} edges, {} turns, interval {} cycles ({}), bound {}",
            self.index,
            self.groups(),
            self.group_rows(),
            self.transitions(),
            self.held(Part::Edges, field::EDGES),
            self.held(Part::Turns, field::TURNS),
            self.interval_cycles(),
            if self.is_tight() { "tight" } else { "not tight" },
            self.bound_cycles()
        )?;
        match self.binder() {
            // Nothing follows it on the chip, so that its interval is its span, and the bound is that of its work alone.
            Binder::Span => write!(f, ", runs once"),
            binder => write!(f, " by {binder}, span {}", self.span_cycles()),
        }
    }
}

view! {
    /// One pipeline stage: a run of cells that does one part of a statement.
    Stage of section: Section
}

impl<'a> Stage<'a> {
    /// Its number in the section.
    #[must_use]
    pub fn index(&self) -> u32 {
        self.index
    }

    /// The statement it implements a part of.
    #[must_use]
    pub fn statement(&self) -> Option<Statement<'a>> {
        self.section.program.statement(self.row.get(stage::STATEMENT))
    }

    /// Which part of the operation's decomposition it is.
    #[must_use]
    pub fn part(&self) -> u32 {
        self.row.get(stage::PART)
    }

    /// What it does.
    #[must_use]
    pub fn primitive(&self) -> Primitive {
        Primitive::from_code(self.row.get(stage::PRIMITIVE))
    }

    /// The value that a load, a store or a gather moves; [`None`] for other stages.
    #[must_use]
    pub fn moved(&self) -> Option<Value<'a>> {
        let (Primitive::Load | Primitive::Store | Primitive::Gather) = self.primitive() else { return None };
        let statement = self.statement()?;
        let own = matches!(self.part(), part::SPILL | part::RELOAD)
            || matches!(statement.operation().code(), op::INPUT | op::SHOW | op::APPEND);
        if own {
            return statement.result();
        }
        statement.operand(statement.operation().moved_operand(self.part())?)
    }

    /// What it does to which value, as in `load Wq3`, `spill k3`, `gemm A q3`.
    pub fn name(&self) -> impl fmt::Display + use<'a> {
        let stage = *self;
        fmt::from_fn(move |f| {
            match (stage.part(), stage.primitive()) {
                (part::SPILL, Primitive::Store) => write!(f, "spill")?,
                (part::RELOAD, Primitive::Load) => write!(f, "reload")?,
                (_, primitive) => write!(f, "{primitive}")?,
            }
            match stage.moved().or_else(|| stage.statement()?.result()) {
                Some(value) => write!(f, " {}", value.name()),
                None => write!(f, " ?"),
            }
        })
    }

    /// Firings an iteration.
    #[must_use]
    pub fn firings(&self) -> u32 {
        self.row.get(stage::FIRINGS)
    }

    /// Cells over the two axes it is split over.
    #[must_use]
    pub fn split(&self) -> (u32, u32) {
        (self.row.get(stage::NA), self.row.get(stage::NB))
    }

    /// Cells.
    #[must_use]
    pub fn cells(&self) -> u64 {
        let (na, nb) = self.split();
        u64::from(na) * u64::from(nb)
    }

    /// First site along the snake; its cells follow it.
    #[must_use]
    pub fn first_site(&self) -> u32 {
        self.row.get(stage::SITE)
    }

    /// The memory window of a load from HBM or DDR.
    #[must_use]
    pub fn turn(&self) -> Option<Turn<'a>> {
        self.section.turn(self.row.optional(stage::TURN)?)
    }

    /// Start of the first firing, cycles.
    #[must_use]
    pub fn start_cycles(&self) -> u64 {
        self.row.wide(stage::START)
    }

    /// Cycles from firing to firing.
    #[must_use]
    pub fn period_cycles(&self) -> u64 {
        self.row.wide(stage::PERIOD)
    }

    /// Initiation interval: the least period its cells can keep, cycles.
    #[must_use]
    pub fn initiation_interval_cycles(&self) -> u64 {
        self.row.wide(stage::II)
    }

    /// Bytes of the token that a load, store or collective moves a firing; 0 for the rest.
    #[must_use]
    pub fn token_bytes(&self) -> u64 {
        self.row.wide(stage::BYTES)
    }
}

impl fmt::Display for Stage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (na, nb) = self.split();
        write!(
            f,
            "{} {}: {} firings on {na} x {nb} cells from site {}, start {}, period {}, II {}",
            self.index,
            self.name(),
            self.firings(),
            self.first_site(),
            self.start_cycles(),
            self.period_cycles(),
            self.initiation_interval_cycles()
        )
    }
}

view! {
    /// One edge: the only reader of its own buffer.
    Edge of section: Section
}

/// How tokens go over an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Flow {
    /// Token by token.
    Stream {
        /// Tokens a producer firing.
        produced: u32,
        /// Tokens a consumer firing.
        consumed: u32,
    },
    /// The consumer needs a whole group before its first firing and keeps it to its last.
    Hold {
        /// Groups an iteration.
        groups: u32,
    },
    /// A code this version does not know: the table is damaged.
    Unknown(u32),
}

impl fmt::Display for Flow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Flow::Stream { produced, consumed } => write!(f, "stream {produced}:{consumed}"),
            Flow::Hold { groups } => write!(f, "hold {groups}"),
            Flow::Unknown(code) => write!(f, "unknown code {code}"),
        }
    }
}

impl<'a> Edge<'a> {
    /// Its number in the section.
    #[must_use]
    pub fn index(&self) -> u32 {
        self.index
    }

    /// The producer.
    #[must_use]
    pub fn from(&self) -> Option<Stage<'a>> {
        self.section.stage(self.row.get(edge::FROM))
    }

    /// The consumer.
    #[must_use]
    pub fn to(&self) -> Option<Stage<'a>> {
        self.section.stage(self.row.get(edge::TO))
    }

    /// The consumer's port.
    #[must_use]
    pub fn port(&self) -> u32 {
        self.row.get(edge::PORT)
    }

    /// How tokens go over it.
    #[must_use]
    pub fn flow(&self) -> Flow {
        match self.row.get(edge::KIND) {
            0 => Flow::Stream { produced: self.row.get(edge::P), consumed: self.row.get(edge::Q) },
            1 => Flow::Hold { groups: self.row.get(edge::GROUPS) },
            unknown => Flow::Unknown(unknown),
        }
    }

    /// Capacity: tokens of a stream, groups of a hold.
    #[must_use]
    pub fn capacity(&self) -> u32 {
        self.row.get(edge::CAPACITY)
    }

    /// Bytes of one token (stream) or one group (hold).
    #[must_use]
    pub fn slot_bytes(&self) -> u32 {
        self.row.get(edge::SLOT_BYTES)
    }

    /// Bytes of its buffer.
    #[must_use]
    pub fn buffer_bytes(&self) -> u64 {
        u64::from(self.capacity()) * u64::from(self.slot_bytes())
    }

    /// First byte of its buffer in the chip's linear scratchpad space.
    #[must_use]
    pub fn address(&self) -> u32 {
        self.row.get(edge::ADDRESS)
    }

    /// The value that flows; [`None`] between parts of one statement.
    #[must_use]
    pub fn value(&self) -> Option<Value<'a>> {
        self.section.program.value(self.row.optional(edge::VALUE)?)
    }
}

impl fmt::Display for Edge<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} -> {}.{}: {}, {} x {} B at {:#x}",
            self.row.get(edge::FROM),
            self.row.get(edge::TO),
            self.port(),
            self.flow(),
            self.capacity(),
            self.slot_bytes(),
            self.address()
        )?;
        match self.value() {
            Some(value) => write!(f, ", {}", value.name()),
            None => Ok(()),
        }
    }
}

view! {
    /// One window of a memory's cyclic order.
    Turn of section: Section
}

impl<'a> Turn<'a> {
    /// Its number in the section.
    #[must_use]
    pub fn index(&self) -> u32 {
        self.index
    }

    /// The memory.
    #[must_use]
    pub fn tier(&self) -> Tier {
        Tier::from_code(self.row.get(turn::TIER))
    }

    /// Start, cycles.
    #[must_use]
    pub fn start_cycles(&self) -> u64 {
        self.row.wide(turn::START)
    }

    /// Length, cycles.
    #[must_use]
    pub fn length_cycles(&self) -> u64 {
        self.row.wide(turn::LENGTH)
    }

    /// The window whose loads' first firings are read in this one, for the next iteration, and how many of each load that starts before
    /// its window; none where this one has loads of its own.
    #[must_use]
    pub fn head_of(&self) -> Option<(Turn<'a>, u32)> {
        let ahead = self.row.get(turn::AHEAD);
        let of = self.section.turn(self.row.get(turn::OF))?;
        (ahead > 0).then_some((of, ahead))
    }

    /// The loads of this window.
    pub fn loads(&self) -> impl Iterator<Item = Stage<'a>> + Clone + use<'a> {
        let index = self.index;
        self.section.stages().filter(move |of| of.row.optional(stage::TURN) == Some(index))
    }
}

impl fmt::Display for Turn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} + {}", self.tier(), self.start_cycles(), self.length_cycles())
    }
}
