//! Programs, and the values and statements they are made of.

use core::fmt;

use super::{
    Attribute, Binding, Bundle, Hash, Layer, Operation, ProgramRole, Rope, Section, Storage, Text, Tier, ValueRole,
    view,
};
use crate::table::layout::{Part, digest, program as field, statement, value};

view! {
    /// One lowered program: the embedding, a layer kind, or the head.
    Program of bundle: Bundle
}

impl<'a> Program<'a> {
    /// Its number in the bundle.
    #[must_use]
    pub fn index(&self) -> u32 {
        self.index
    }

    /// The bundle it is in.
    #[must_use]
    pub fn bundle(&self) -> Bundle<'a> {
        self.bundle
    }

    /// `embed`, the kind's name, or `head`.
    #[must_use]
    pub fn name(&self) -> Text<'a> {
        self.bundle.text(self.row, field::NAME)
    }

    /// The program in LOGOS.
    #[must_use]
    pub fn text(&self) -> Text<'a> {
        self.bundle.text(self.row, field::TEXT)
    }

    /// What it computes.
    #[must_use]
    pub fn role(&self) -> ProgramRole {
        ProgramRole::from_code(self.row.get(field::ROLE))
    }

    /// How many layers run it (1 for embedding and head).
    #[must_use]
    pub fn layer_count(&self) -> u32 {
        self.row.get(field::LAYERS)
    }

    /// The first layer that runs it: the names in its text are that layer's.
    #[must_use]
    pub fn first_layer(&self) -> u32 {
        self.row.get(field::FIRST_LAYER)
    }

    /// The layers that run it; none for embedding and head.
    pub fn layers(&self) -> impl Iterator<Item = Layer<'a>> + Clone + use<'a> {
        let (index, layers) = (self.index, self.role() == ProgramRole::Layer);
        self.bundle.layers().filter(move |layer| layers && layer.program().is_some_and(|own| own.index == index))
    }

    /// Rows of an activation.
    #[must_use]
    pub fn rows(&self) -> u32 {
        self.row.get(field::ROWS)
    }

    /// Whether iterations follow one another on the chip: a layer program of one section, whose next iteration is the next layer.
    #[must_use]
    pub fn is_loop(&self) -> bool {
        self.role() == ProgramRole::Layer && self.row.get(field::SECTIONS + 1) == 1
    }

    /// Identity of its cut: the SHA-256 of the canonical specification and the cut.
    #[must_use]
    pub fn identity(&self) -> Hash {
        self.digest(digest::IDENTITY)
    }

    /// The SHA-256 that the table states of its text; [`Bundle::verify_text`] compares.
    #[must_use]
    pub fn text_digest(&self) -> Hash {
        self.digest(digest::TEXT)
    }

    fn digest(&self, field: usize) -> Hash {
        Hash::new(self.bundle.row(Part::Digests, self.index).map_or([0; 8], |row| row.hash(field)))
    }

    /// Its values, in binding order.
    pub fn values(&self) -> impl Iterator<Item = Value<'a>> + Clone + use<'a> {
        let program = *self;
        (0..self.held(Part::Values, field::VALUES)).filter_map(move |index| program.value(index))
    }

    /// One value.
    #[must_use]
    pub fn value(&self, index: u32) -> Option<Value<'a>> {
        Some(Value { program: *self, row: self.child(Part::Values, field::VALUES, index)?, index })
    }

    /// Its statements, in program order.
    pub fn statements(&self) -> impl Iterator<Item = Statement<'a>> + Clone + use<'a> {
        let program = *self;
        (0..self.held(Part::Statements, field::STATEMENTS)).filter_map(move |index| program.statement(index))
    }

    /// One statement.
    #[must_use]
    pub fn statement(&self, index: u32) -> Option<Statement<'a>> {
        Some(Statement { program: *self, row: self.child(Part::Statements, field::STATEMENTS, index)?, index })
    }

    /// Its sections, in the order they run.
    pub fn sections(&self) -> impl Iterator<Item = Section<'a>> + Clone + use<'a> {
        let program = *self;
        (0..self.held(Part::Sections, field::SECTIONS)).filter_map(move |index| program.section(index))
    }

    /// One section.
    #[must_use]
    pub fn section(&self, index: u32) -> Option<Section<'a>> {
        Some(Section { program: *self, row: self.child(Part::Sections, field::SECTIONS, index)?, index })
    }

    /// How its declared values are named and found, for any layer and chip.
    pub fn bindings(&self) -> impl Iterator<Item = Binding<'a>> + Clone + use<'a> {
        let program = *self;
        (0..self.held(Part::Bindings, field::BINDINGS)).filter_map(move |index| program.binding(index))
    }

    /// One binding.
    #[must_use]
    pub fn binding(&self, index: u32) -> Option<Binding<'a>> {
        Some(Binding { program: *self, row: self.child(Part::Bindings, field::BINDINGS, index)?, index })
    }

    /// Weights of one layer (or of the embedding, the head), bytes a chip; shared ones are counted where they belong.
    #[must_use]
    pub fn weight_bytes(&self) -> u64 {
        self.bytes_of(ValueRole::Weight)
    }

    /// Carried state of one layer, all sequences, bytes a chip.
    #[must_use]
    pub fn state_bytes(&self) -> u64 {
        self.bytes_of(ValueRole::State)
    }

    fn bytes_of(&self, role: ValueRole) -> u64 {
        self.values()
            .filter(|value| value.role() == role && !value.counted_elsewhere())
            .fold(0, |sum, value| sum.saturating_add(value.bytes()))
    }

    /// Rows of a part that this program claims, as far as there are any.
    fn held(&self, part: Part, field: usize) -> u32 {
        self.bundle.held(part, self.row.get(field), self.row.get(field + 1))
    }

    fn child(&self, part: Part, field: usize, index: u32) -> Option<super::source::Row<'a>> {
        if index >= self.row.get(field + 1) {
            return None;
        }
        self.bundle.row(part, self.row.get(field).checked_add(index)?)
    }
}

impl fmt::Display for Program<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.name())?;
        if self.role() == ProgramRole::Layer {
            counted(f, self.layer_count(), "layer")?;
            write!(f, " from {}, ", self.first_layer())?;
        }
        counted(f, self.rows(), "row")?;
        f.write_str(", ")?;
        counted(f, self.held(Part::Values, field::VALUES), "value")?;
        f.write_str(", ")?;
        counted(f, self.held(Part::Statements, field::STATEMENTS), "statement")?;
        f.write_str(", ")?;
        counted(f, self.held(Part::Sections, field::SECTIONS), "section")
    }
}

/// `1 layer`, `48 layers`.
fn counted(f: &mut fmt::Formatter<'_>, n: u32, what: &str) -> fmt::Result {
    write!(f, "{n} {what}{}", if n == 1 { "" } else { "s" })
}

view! {
    /// One tensor of a program.
    Value of program: Program
}

/// How a value lies on the chips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sharding {
    /// The same on every chip.
    Whole,
    /// The rows are split into parts; chip c holds part `c * parts / chips`.
    Rows {
        /// Parts.
        parts: u32,
    },
    /// The columns are split into parts; chip c holds part `c * parts / chips`.
    Columns {
        /// Parts.
        parts: u32,
    },
    /// The experts of a weight are split into parts; chip c holds those of part `c * parts / chips`, whole.
    Experts {
        /// Parts.
        parts: u32,
    },
    /// The sum over the chips is the value.
    Partial,
    /// A code this version does not know: the table is damaged.
    Unknown(u32),
}

impl fmt::Display for Sharding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sharding::Whole => f.pad("whole"),
            Sharding::Rows { parts } => write!(f, "rows/{parts}"),
            Sharding::Columns { parts } => write!(f, "columns/{parts}"),
            Sharding::Experts { parts } => write!(f, "experts/{parts}"),
            Sharding::Partial => f.pad("partial"),
            Sharding::Unknown(code) => write!(f, "unknown code {code}"),
        }
    }
}

/// A chip's share of a value: `sequences` tensors of `rows` by `columns`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Copies, one a sequence (states) or an expert (their weights); else 1.
    pub sequences: u32,
    /// Rows of a copy.
    pub rows: u32,
    /// Columns.
    pub columns: u32,
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.sequences != 1 {
            write!(f, "{} of ", self.sequences)?;
        }
        write!(f, "{} x {}", self.rows, self.columns)
    }
}

impl<'a> Value<'a> {
    /// Its number in the program.
    #[must_use]
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Its name in the program's text.
    #[must_use]
    pub fn name(&self) -> Text<'a> {
        self.program.bundle.text(self.row, value::NAME)
    }

    /// What it is.
    #[must_use]
    pub fn role(&self) -> ValueRole {
        ValueRole::from_code(self.row.get(value::ROLE))
    }

    /// How its elements are stored.
    #[must_use]
    pub fn storage(&self) -> Storage {
        Storage::from_code(self.row.get(value::STORAGE))
    }

    /// The whole shape, over all chips.
    #[must_use]
    pub fn shape(&self) -> Share {
        Share {
            sequences: self.row.get(value::SEQS),
            rows: self.row.get(value::ROWS),
            columns: self.row.get(value::COLS),
        }
    }

    /// How it lies on the chips.
    #[must_use]
    pub fn sharding(&self) -> Sharding {
        let parts = self.row.get(value::PARTS);
        match self.row.get(value::SHARDING) {
            0 => Sharding::Whole,
            1 => Sharding::Rows { parts },
            2 => Sharding::Columns { parts },
            3 => Sharding::Partial,
            4 => Sharding::Experts { parts },
            unknown => Sharding::Unknown(unknown),
        }
    }

    /// One chip's share (every chip's is the same size).
    #[must_use]
    pub fn share(&self) -> Share {
        let Share { sequences, rows, columns } = self.shape();
        match self.sharding() {
            Sharding::Whole | Sharding::Partial | Sharding::Unknown(_) => Share { sequences, rows, columns },
            Sharding::Rows { parts } => Share { sequences, rows: rows.checked_div(parts).unwrap_or(0), columns },
            Sharding::Columns { parts } => Share { sequences, rows, columns: columns.checked_div(parts).unwrap_or(0) },
            Sharding::Experts { parts } => {
                Share { sequences: sequences.checked_div(parts).unwrap_or(0), rows, columns }
            }
        }
    }

    /// The part of a split axis that a chip holds; 0 where none is split.
    #[must_use]
    pub fn part_of(&self, chip: u32) -> u32 {
        match self.sharding() {
            Sharding::Whole | Sharding::Partial | Sharding::Unknown(_) => 0,
            Sharding::Rows { parts } | Sharding::Columns { parts } | Sharding::Experts { parts } => {
                let chips = u64::from(self.program.bundle.chips());
                (u64::from(chip) * u64::from(parts)).checked_div(chips).unwrap_or(0) as u32
            }
        }
    }

    /// Bytes of one chip's share, all sequences.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let Share { sequences, rows, columns } = self.share();
        let of_blocks = |bytes: u128| bytes * u128::from(rows.div_ceil(32)) * u128::from(columns);
        let elements = u128::from(rows) * u128::from(columns);
        let one = match self.storage() {
            Storage::F32 | Storage::I32 => 4 * elements,
            Storage::F16 | Storage::Bf16 => 2 * elements,
            Storage::Q8_0 => of_blocks(34),
            Storage::Mxfp4 => of_blocks(17),
            Storage::F8E4M3 => elements + 4 * u128::from(rows.div_ceil(128)) * u128::from(columns.div_ceil(128)),
            Storage::Unknown(_) => 0,
        };
        let bytes = one.saturating_mul(u128::from(sequences));
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }

    /// Columns of a token of this value on one chip.
    #[must_use]
    pub fn tile(&self) -> u32 {
        self.row.get(value::TILE)
    }

    /// The memory it is kept in; [`None`] for a bound value that crosses no section.
    #[must_use]
    pub fn tier(&self) -> Option<Tier> {
        self.row.optional(value::TIER).map(Tier::from_code)
    }

    /// The statement that binds it; [`None`] for weights, states and tables.
    #[must_use]
    pub fn statement(&self) -> Option<Statement<'a>> {
        self.program.statement(self.row.optional(value::STATEMENT)?)
    }

    /// The recipe of a rotary table.
    #[must_use]
    pub fn rope(&self) -> Option<Rope<'a>> {
        let index = self.row.optional(value::ROPE)?;
        Some(Rope { row: self.program.bundle.row(Part::Ropes, index)?, index })
    }

    /// Whether another program counts the same bytes (a tied head).
    #[must_use]
    pub fn counted_elsewhere(&self) -> bool {
        self.row.get(value::FLAGS) & 1 == 1
    }
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} {} {}, {}", self.name(), self.role(), self.shape(), self.storage(), self.sharding())
    }
}

view! {
    /// One statement of a program.
    Statement of program: Program
}

impl<'a> Statement<'a> {
    /// Its number in the program.
    #[must_use]
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Its operation.
    #[must_use]
    pub fn operation(&self) -> Operation {
        Operation::from_code(self.row.get(statement::OP))
    }

    /// The value it binds, shows or appends to.
    #[must_use]
    pub fn result(&self) -> Option<Value<'a>> {
        self.program.value(self.row.optional(statement::RESULT)?)
    }

    /// One operand; [`None`] where it is absent.
    #[must_use]
    pub fn operand(&self, index: usize) -> Option<Value<'a>> {
        if index >= statement::OPERAND_COUNT {
            return None;
        }
        self.program.value(self.row.optional(statement::OPERANDS + index)?)
    }

    /// The operands that are there, in order.
    pub fn operands(&self) -> impl Iterator<Item = Value<'a>> + Clone + use<'a> {
        let statement = *self;
        (0..statement::OPERAND_COUNT).filter_map(move |index| statement.operand(index))
    }

    /// The attributes, by name.
    pub fn attributes(&self) -> impl Iterator<Item = (&'static str, Attribute)> + Clone + use<'a> {
        let statement = *self;
        (0..statement::ATTRIBUTE_COUNT).map_while(move |index| {
            statement.operation().attribute(index, statement.row.get(statement::ATTRIBUTES + index))
        })
    }
}

impl fmt::Display for Statement<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(result) = self.result() {
            write!(f, "{} = ", result.name())?;
        }
        write!(f, "{}(", self.operation())?;
        for (index, operand) in self.operands().enumerate() {
            write!(f, "{}{}", if index == 0 { "" } else { ", " }, operand.name())?;
        }
        write!(f, ")")?;
        self.attributes().try_for_each(|(name, value)| write!(f, ", {name} {value}"))
    }
}
