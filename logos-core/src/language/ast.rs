//! The tree of a program: values, declared or bound, and statements over them.

use std::fmt;

use crate::ops::Op;
use crate::ops::operation::Operands;
use crate::spec::{BLOCK_ROWS, Rope, SCALED, Scaling, Temperature};

/// A value of one program; prints as `v3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ValueId(pub u32);

/// A statement of one program; prints as `s3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StatementId(pub u32);

impl fmt::Display for ValueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", self.0)
    }
}

impl fmt::Display for StatementId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s{}", self.0)
    }
}

/// A whole shape: `seqs of rows by cols`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shape {
    /// Copies: of a state one a sequence, of a weight of experts one an expert; 1 for all else.
    pub seqs: u32,
    /// Rows.
    pub rows: u32,
    /// Columns.
    pub cols: u32,
}

impl Shape {
    /// `rows by cols`.
    pub const fn matrix(rows: u32, cols: u32) -> Self {
        Shape { seqs: 1, rows, cols }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.seqs != 1 {
            write!(f, "{} of ", self.seqs)?;
        }
        write!(f, "{} by {}", self.rows, self.cols)
    }
}

/// What the elements are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Element {
    /// Numbers: `of Real`.
    Real,
    /// Token ids and positions: `of Int`.
    Int,
}

/// How elements are stored. Printed as the attribute `stored bf16`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Storage {
    /// 4 bytes, `f32`.
    F32,
    /// 2 bytes, `f16`.
    F16,
    /// 2 bytes, `bf16`.
    Bf16,
    /// 34 bytes for 32 elements along the rows (the contracted axis), `q8_0`.
    Q8_0,
    /// 4 bytes, `i32`.
    I32,
    /// A byte, and 4 for a scale of 128 rows by 128 columns, `f8_e4m3`.
    F8E4M3,
    /// 17 bytes for 32 elements along the rows, `mxfp4`.
    Mxfp4,
}

impl Storage {
    /// Every storage.
    pub const ALL: [Storage; 7] =
        [Storage::F32, Storage::F16, Storage::Bf16, Storage::Q8_0, Storage::I32, Storage::F8E4M3, Storage::Mxfp4];

    /// Elements of the smallest unit that is stored by itself, and its bytes: one element, but for Q8_0 a block of 32 int8 quants
    /// and an f16 scale, and for MXFP4 one of 32 elements of four bits and a power of two.
    pub const fn block(self) -> (u32, u32) {
        match self {
            Storage::F32 | Storage::I32 => (1, 4),
            Storage::F16 | Storage::Bf16 => (1, 2),
            Storage::Q8_0 => (BLOCK_ROWS, 34),
            Storage::F8E4M3 => (1, 1),
            Storage::Mxfp4 => (BLOCK_ROWS, 17),
        }
    }

    /// Rows and columns that share a scale beside the elements, of [`SCALE_BYTES`](crate::spec::SCALE_BYTES); none where there is none.
    pub const fn scaled(self) -> Option<(u32, u32)> {
        match self {
            Storage::F8E4M3 => Some((SCALED, SCALED)),
            Storage::F32 | Storage::F16 | Storage::Bf16 | Storage::Q8_0 | Storage::I32 | Storage::Mxfp4 => None,
        }
    }

    /// As the text writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Storage::F32 => "f32",
            Storage::F16 => "f16",
            Storage::Bf16 => "bf16",
            Storage::Q8_0 => "q8_0",
            Storage::I32 => "i32",
            Storage::F8E4M3 => "f8_e4m3",
            Storage::Mxfp4 => "mxfp4",
        }
    }

    /// Whether elements share bytes or scales: only weights of products are stored so.
    pub const fn in_blocks(self) -> bool {
        match self {
            Storage::Q8_0 | Storage::F8E4M3 | Storage::Mxfp4 => true,
            Storage::F32 | Storage::F16 | Storage::Bf16 | Storage::I32 => false,
        }
    }
}

impl fmt::Display for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The axis a value is cut along.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Axis {
    /// Rows.
    Rows,
    /// Columns.
    Columns,
    /// The experts of their weight, which are copies of it.
    Experts,
}

/// How a value lies over the chips.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sharding {
    /// The same on every chip.
    Whole,
    /// Chip `c` of `n` holds part `c * parts / n`.
    Split {
        /// Cut along.
        axis: Axis,
        /// Parts; divides the chips.
        parts: u32,
    },
    /// The sum over the chips is the value.
    Partial,
}

impl fmt::Display for Sharding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sharding::Whole => f.write_str("whole"),
            Sharding::Split { axis: Axis::Rows, parts } => write!(f, "split rows {parts} ways"),
            Sharding::Split { axis: Axis::Columns, parts } => write!(f, "split columns {parts} ways"),
            Sharding::Split { axis: Axis::Experts, parts } => write!(f, "split experts {parts} ways"),
            Sharding::Partial => f.write_str("partial"),
        }
    }
}

/// What a declaration says a value is for.
#[derive(Clone, Debug, PartialEq)]
pub enum Role {
    /// Given each step.
    Input,
    /// Of the checkpoint.
    Weight,
    /// Carried from one step to the next.
    State,
    /// Filled by the host each step.
    Table(Recipe),
}

/// What the host fills a table with, row by row.
#[derive(Clone, Debug, PartialEq)]
pub enum Recipe {
    /// Cosines or sines.
    Rope(RopeTable),
    /// One factor a row: `1 + scale * ln(1 + floor((position + 1) / floor))`.
    Temperature(Temperature),
}

/// A table of cosines or sines, `[rows, rotary / 2]`: entry `(i, m)` belongs to row `i`'s position.
#[derive(Clone, Debug, PartialEq)]
pub struct RopeTable {
    /// Cosines or sines.
    pub part: RopePart,
    /// Base.
    pub theta: f64,
    /// Rotary width.
    pub rotary: u32,
    /// Scaling.
    pub scaling: Scaling,
}

impl RopeTable {
    /// The table of one part of a rotary embedding.
    pub fn of(rope: &Rope, part: RopePart) -> Self {
        RopeTable { part, theta: rope.theta, rotary: rope.rotary, scaling: rope.scaling.clone() }
    }
}

/// Cosines or sines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RopePart {
    /// Cosines.
    Cos,
    /// Sines.
    Sin,
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// `Let x be ... input of Real.`
    Declared(Role),
    /// Bound by a statement.
    Bound(StatementId),
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// Its name; unique in the program.
    pub name: String,
    /// Whole shape.
    pub shape: Shape,
    /// Elements.
    pub element: Element,
    /// Storage: of a declared value as declared; of a bound one the activations' (the program's), `I32`, or what its
    /// operation keeps ([`Op::storage`]).
    pub storage: Storage,
    /// How it lies over the chips: of a declared value as declared, of a bound one derived.
    pub sharding: Sharding,
    /// Where it comes from.
    pub origin: Origin,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// `Let r be ....`
    Let {
        /// The value bound.
        result: ValueId,
        /// The operation.
        op: Op,
        /// Its operands, in the order of the operation's own documentation.
        operands: Vec<ValueId>,
    },
    /// `Append v to S at pos.`
    Append {
        /// Rows to write.
        value: ValueId,
        /// The state.
        state: ValueId,
        /// Positions, one a row.
        pos: ValueId,
    },
    /// `Show y.`
    Show {
        /// The result.
        value: ValueId,
    },
}

/// A program: `## Main`, or `## Main over 8 chips`.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// Chips it is written for.
    pub chips: u32,
    /// Storage of every bound Real value.
    pub activations: Storage,
    /// Declared values first, then the bound ones, each in order of appearance.
    pub values: Vec<Value>,
    /// Statements, in order.
    pub statements: Vec<Statement>,
}

impl Program {
    /// The value of an id of this program.
    pub fn value(&self, id: ValueId) -> &Value {
        &self.values[id.0 as usize]
    }

    /// Multiply-accumulates of a statement in a step that ends at `ctx` positions, all chips together, what several of them compute
    /// alike once; none if that leaves 64 bits or an id is not of this program.
    pub fn statement_macs(&self, statement: StatementId, ctx: u32) -> Option<u64> {
        match self.statements.get(statement.0 as usize)? {
            Statement::Let { result, op, operands } => {
                let operands = Operands::new(&self.values, operands, self.chips).ok()?;
                op.macs(operands, self.values.get(result.0 as usize)?.shape, ctx)
            }
            Statement::Append { .. } | Statement::Show { .. } => Some(0),
        }
    }

    /// Multiply-accumulates of all statements in a step that ends at `ctx` positions, as [`Program::statement_macs`] counts them;
    /// none if that leaves 64 bits.
    pub fn macs(&self, ctx: u32) -> Option<u64> {
        let statements = 0..self.statements.len() as u32;
        statements.map(StatementId).try_fold(0_u64, |n, at| n.checked_add(self.statement_macs(at, ctx)?))
    }
}
