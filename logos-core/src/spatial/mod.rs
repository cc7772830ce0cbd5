//! The spatial program: stages on cells, edges with buffers, sections with a schedule. Input of emission, output of
//! lowering, placing and certifying. Does not know operations or models; names are for people and live elsewhere.

use std::fmt;

use crate::lower::Row;

/// A stage of one section; prints as `g3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StageId(pub u32);

impl StageId {
    /// Its place in [`Section::stages`].
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for StageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "g{}", self.0)
    }
}

/// Where a tensor lives between sections and steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// The chip's scratchpads.
    Sram,
    /// High-bandwidth memory.
    Hbm,
    /// DDR memory.
    Ddr,
}

/// What a stage is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Primitive {
    /// Reads a tier.
    Load,
    /// Writes a tier.
    Store,
    /// A product that holds its input and streams output tiles.
    GemmA,
    /// A product that streams its input as K tiles and emits a whole group.
    GemmB,
    /// Elementwise.
    Map,
    /// A reduction over a row or a head.
    Reduce,
    /// A recurrence over rows.
    Scan,
    /// A load indexed by ids.
    Gather,
    /// Attention scores.
    Scores,
    /// Online softmax.
    Softmax,
    /// Attention values.
    Values,
    /// A sum or gather over the chips.
    Collective,
}

impl Primitive {
    /// Whether the stage occupies one cell and moves bytes rather than computes.
    pub const fn moves_bytes(self) -> bool {
        match self {
            Primitive::Load | Primitive::Store | Primitive::Gather | Primitive::Collective => true,
            Primitive::GemmA
            | Primitive::GemmB
            | Primitive::Map
            | Primitive::Reduce
            | Primitive::Scan
            | Primitive::Scores
            | Primitive::Softmax
            | Primitive::Values => false,
        }
    }

    /// Whether the stage reads a tier. A gather by computed ids has an edge in, which carries them.
    pub const fn is_source(self) -> bool {
        matches!(self, Primitive::Load | Primitive::Gather)
    }
}

/// What holds a stage's firings back besides its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recurrence {
    /// Nothing.
    None,
    /// A carried value that takes this many cycles.
    Cycles(u32),
    /// The delta rule's rows: each needs the state the row before it left.
    DeltaRows,
}

/// The two axes a stage may be split over, and the cycles of one pair of units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Units of axis A.
    pub a: u64,
    /// Units of axis B.
    pub b: u64,
    /// Cycles of a unit pair.
    pub base: u64,
}

/// How a stage's result leaves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emission {
    /// This many tokens a firing.
    Stream(u32),
    /// A whole group after the group's last firing.
    Whole,
}

/// A pipeline stage.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Row of the program's statement table.
    pub statement: u32,
    /// Part of the statement's decomposition.
    pub part: u32,
    /// What it is.
    pub primitive: Primitive,
    /// Firings an iteration.
    pub firings: u64,
    /// Work of a firing.
    pub work: Work,
    /// Recurrence.
    pub recurrence: Recurrence,
    /// Tokens out.
    pub emission: Emission,
    /// Bytes a load, store or collective moves a firing; else 0.
    pub bytes: u64,
    /// Whether a collective adds up what it passes on; else it passes on everyone's.
    pub adds: bool,
    /// Tier a load, gather or store touches.
    pub tier: Option<Tier>,
    /// Cells over A and B.
    pub split: (u64, u64),
    /// First site along the snake.
    pub site: u64,
    /// Initiation interval, cycles.
    pub ii: u64,
    /// Period, cycles.
    pub period: u64,
    /// Start of the first firing, cycles; where a head of its turn has that, the start it would have besides.
    pub start: u64,
    /// Turn of a load from HBM or DDR.
    pub turn: Option<u32>,
}

impl Stage {
    /// Cells it occupies.
    pub const fn cells(&self) -> u64 {
        self.split.0 * self.split.1
    }

    /// Start of the last firing.
    pub const fn last(&self) -> u64 {
        self.start + (self.firings - 1) * self.period
    }

    /// Whether it loads from HBM or DDR.
    pub fn is_windowed(&self) -> bool {
        self.primitive.is_source() && matches!(self.tier, Some(Tier::Hbm | Tier::Ddr))
    }
}

/// How tokens pass an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// `p` tokens a producer firing, `q` a consumer firing.
    Stream {
        /// Tokens a producer firing.
        p: u64,
        /// Tokens a consumer firing.
        q: u64,
    },
    /// A whole group is held from its consumer's first firing to its last.
    Hold {
        /// Groups an iteration.
        groups: u64,
    },
}

/// An edge with its own buffer.
#[derive(Clone, Debug)]
pub struct Edge {
    /// Producer.
    pub from: StageId,
    /// Consumer.
    pub to: StageId,
    /// Consumer's port.
    pub port: u32,
    /// How tokens pass.
    pub flow: Flow,
    /// Bytes of a token (stream) or of a group (hold).
    pub slot_bytes: u64,
    /// Value that flows; none between the parts of a statement.
    pub value: Option<u32>,
    /// Tokens (stream) or buffers (hold).
    pub capacity: u64,
    /// First byte in the scratchpad space.
    pub address: u64,
}

/// A window of a memory's cyclic order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The memory.
    pub tier: Tier,
    /// Start, cycles.
    pub start: u64,
    /// Length, cycles.
    pub length: u64,
    /// Where it has no loads of its own: whose firings it reads ahead.
    pub head: Option<Head>,
}

/// The first firings of an earlier turn's loads, read for the next iteration in a turn of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The turn whose loads they are.
    pub of: u32,
    /// Firings of each load that has more.
    pub firings: u64,
}

/// What keeps an interval from being shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binder {
    /// Off-chip bytes.
    Memory,
    /// A stage's work.
    Stage,
    /// A recurrence inside a stage.
    Recurrence,
    /// The layer loop.
    Loop,
    /// The section runs once, so its interval is its span.
    Span,
}

/// A net that is on the chip at a time.
#[derive(Clone, Debug)]
pub struct Section {
    /// Rows of a group.
    pub group_rows: u64,
    /// Groups of an iteration.
    pub groups: u64,
    /// Stages, in order of (statement, part).
    pub stages: Vec<Stage>,
    /// Edges, in order of (consumer, port).
    pub edges: Vec<Edge>,
    /// Turns, in window order per tier.
    pub turns: Vec<Turn>,
    /// Interval H, cycles.
    pub interval: u64,
    /// Last result minus first input, cycles.
    pub span: u64,
    /// What binds.
    pub binder: Binder,
    /// Bound B on the interval, cycles.
    pub bound: u64,
}

impl Section {
    /// Where the first firings of a load are read ahead, and how many: of one that starts before a turn with a head.
    pub fn ahead(&self, stage: &Stage) -> Option<(u32, u64)> {
        let of = stage.turn.filter(|&turn| stage.start < self.turns[turn as usize].start)?;
        let heads = (0u32..).zip(&self.turns).filter_map(|(at, turn)| Some((at, turn.head?)));
        heads.filter(|(_, head)| head.of == of).map(|(at, head)| (at, head.firings)).next()
    }
}

impl Binder {
    /// As a bundle's view names it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Binder::Memory => "memory",
            Binder::Stage => "stage",
            Binder::Recurrence => "recurrence",
            Binder::Loop => "loop",
            Binder::Span => "span",
        }
    }
}

impl Section {
    /// Whether the interval is proven to be as short as it can be, to a 256th.
    pub const fn is_tight(&self) -> bool {
        self.interval >= self.bound && 256 * (self.interval as u128 - self.bound as u128) <= self.bound as u128
    }

    /// A stage by id.
    pub fn stage(&self, id: StageId) -> &Stage {
        &self.stages[id.index()]
    }

    /// Scratchpad bytes of all buffers.
    pub fn buffer_bytes(&self) -> u64 {
        self.edges.iter().map(|e| e.capacity.saturating_mul(e.slot_bytes)).fold(0, u64::saturating_add)
    }
}

/// A lowered and certified program.
#[derive(Clone, Debug)]
pub struct SpatialProgram {
    /// Rows of an activation.
    pub rows: u64,
    /// The statement table that stages refer to.
    pub statements: Vec<Row>,
    /// Columns of a token, by value.
    pub tile: Vec<u64>,
    /// Tier of each value that lies in one between sections or steps.
    pub tier: Vec<Option<Tier>>,
    /// Sections, in order.
    pub sections: Vec<Section>,
}
