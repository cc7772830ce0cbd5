//! A program's statements to stages and edges, section by section.
//!
//! Input: a program whose shapes and shardings are checked, and the chip's unit model. Output: nets without a
//! schedule. Does not know cells, sites or times; RULES.md section 3 is the table that it follows, and each operation's
//! own file has its row.

mod homes;
mod net;
mod parts;
mod table;
mod tiles;

pub use homes::Homes;
pub use net::{Net, Slot, Want, matrix_bytes, share, storage_bytes};
pub use parts::{Bound, Lower};
pub use table::{Row, rows_of};

use crate::chip::UnitModel;
use crate::language::ast::{Axis, Element, Origin, Program, Role, Statement, ValueId};
use crate::spatial::{Edge, Primitive, Stage, StageId, Tier};
use logos_bundle::table::layout::part::{RELOAD, SPILL};

/// Why a statement does not lower.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LowerError {
    /// A value that no stage of the section emits.
    #[error("`{value}` is read where nothing emits it")]
    NoEmitter {
        /// Its name.
        value: String,
    },
    /// A hold whose groups do not divide the firings at its ends.
    #[error("{groups} groups do not divide {producer} firings of the producer and {consumer} of the consumer")]
    Ragged {
        /// Groups.
        groups: u64,
        /// Firings.
        producer: u64,
        /// Firings.
        consumer: u64,
    },
    /// A buffer slot beyond 32 bits.
    #[error("a buffer slot of {bytes} bytes exceeds the scratchpad")]
    Slot {
        /// Bytes.
        bytes: u64,
    },
    /// Heads of different widths in one elementwise statement.
    #[error("`{value}` is cut into heads of {one} columns and of {other} columns")]
    Tile {
        /// A value of the statement.
        value: String,
        /// Columns of a head.
        one: u64,
        /// Columns of a head elsewhere.
        other: u64,
    },
    /// An operation with no lowering of this form.
    #[error("{what}")]
    Form {
        /// What is missing.
        what: &'static str,
    },
}

/// A statement that did not lower.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementError {
    /// Row of the statement table.
    pub statement: u32,
    /// Name it binds, stores or shows.
    pub binder: String,
    /// Why.
    pub error: LowerError,
}

/// What is the same for every section of a program.
pub struct Context<'a> {
    /// The program.
    pub program: &'a Program,
    /// The chip.
    pub unit: &'a UnitModel,
    /// Rows M of an activation.
    pub rows_of_program: u64,
    /// Sequences S.
    pub seqs: u64,
    /// Statement table: Real inputs first, then the program's statements.
    pub statements: Vec<Row>,
    /// Columns of a token, by value.
    pub tile: Vec<u64>,
    /// Memories of weights, states and the hidden state.
    pub homes: &'a Homes,
}

impl<'a> Context<'a> {
    /// Facts of a program whose activations have `rows` rows of `seqs` sequences.
    ///
    /// # Errors
    /// [`LowerError::Tile`].
    pub fn new(
        program: &'a Program,
        unit: &'a UnitModel,
        rows: u64,
        seqs: u64,
        homes: &'a Homes,
    ) -> Result<Self, LowerError> {
        let tile = tiles::assign(program, u64::from(unit.tile))?;
        Ok(Context { program, unit, rows_of_program: rows, seqs, statements: rows_of(program), tile, homes })
    }

    /// Columns of a value on one chip.
    pub fn cols(&self, value: ValueId) -> u64 {
        share(self.program.value(value), Axis::Columns)
    }

    /// Rows of a value on one chip.
    pub fn rows(&self, value: ValueId) -> u64 {
        share(self.program.value(value), Axis::Rows)
    }

    /// Tokens of a value's row on one chip.
    pub fn tiles(&self, value: ValueId) -> u64 {
        self.cols(value).div_ceil(self.tile[value.0 as usize].max(1))
    }

    /// Tokens of a sequence in a step.
    pub fn tokens(&self) -> u64 {
        self.rows_of_program / self.seqs.max(1)
    }

    /// Tier of a value: a bound one lies in main memory when it crosses sections.
    pub fn tier(&self, id: ValueId) -> Tier {
        let value = self.program.value(id);
        match (&value.origin, value.element) {
            (_, Element::Int) | (Origin::Declared(Role::Table(_)), _) => Tier::Sram,
            (Origin::Declared(Role::Input), Element::Real) => self.homes.hidden,
            (Origin::Declared(Role::Weight | Role::State), Element::Real) => self.homes.of(id),
            (Origin::Bound(_), Element::Real) => self.homes.main,
        }
    }

    /// Whether a row is the statement that binds a value.
    pub fn binds(&self, statement: u32, value: ValueId) -> bool {
        match self.statements[statement as usize] {
            Row::Input(_) => false,
            Row::Statement(index) => matches!(
                self.program.statements[index as usize],
                Statement::Let { result, .. } if result == value
            ),
        }
    }

    /// The name a row binds, stores or shows.
    pub fn binder(&self, statement: u32) -> &str {
        let id = match &self.statements[statement as usize] {
            Row::Input(value) => *value,
            Row::Statement(index) => match &self.program.statements[*index as usize] {
                Statement::Let { result, .. } => *result,
                Statement::Append { state, .. } => *state,
                Statement::Show { value } => *value,
            },
        };
        &self.program.value(id).name
    }

    /// Bytes kept in SRAM beside the buffers: see [`resident_bytes`].
    pub fn resident_bytes(&self) -> u64 {
        resident_bytes(self.program, self.homes)
    }

    /// Tier a shown value is stored to; none for values that are not shown.
    pub fn shown_tier(&self, value: ValueId) -> Option<Tier> {
        shown_tier(self.program, self.homes, value)
    }
}

/// Tier a shown value is stored to; none for values that are not shown.
fn shown_tier(program: &Program, homes: &Homes, value: ValueId) -> Option<Tier> {
    let shown = program.statements.iter().any(|s| matches!(s, Statement::Show { value: v } if *v == value));
    let element = program.value(value).element;
    shown.then_some(if element == Element::Int { Tier::Sram } else { homes.hidden })
}

/// Bytes of SRAM that a program takes beside its buffers: inputs, tables and shown values that lie there, and the states that stay.
pub fn resident_bytes(program: &Program, homes: &Homes) -> u64 {
    let mut bytes = homes.kept;
    for (i, value) in program.values.iter().enumerate() {
        let counted = match &value.origin {
            Origin::Declared(Role::Input) => value.element == Element::Int || homes.hidden == Tier::Sram,
            Origin::Declared(Role::Table(_)) => true,
            Origin::Declared(Role::Weight | Role::State) => false,
            Origin::Bound(_) => shown_tier(program, homes, ValueId(i as u32)) == Some(Tier::Sram),
        };
        if counted {
            let elements = share(value, Axis::Rows).saturating_mul(share(value, Axis::Columns));
            bytes = bytes.saturating_add(storage_bytes(elements, value.storage));
        }
    }
    bytes
}

/// A net with its groups, ready to be placed and scheduled.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// Rows of a group.
    pub rows: u64,
    /// Groups.
    pub groups: u64,
    /// Stages in order.
    pub stages: Vec<Stage>,
    /// Edges in order.
    pub edges: Vec<Edge>,
    /// The load of the one input and the store of the one shown value, where there are just these.
    pub ends: Option<(StageId, StageId)>,
    /// Load and store of each state that the section both reads and writes.
    pub states: Vec<(StageId, StageId)>,
}

/// Which statement rows each section holds: ascending, disjoint, together all but the inputs'.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cuts(pub Vec<std::ops::Range<u32>>);

impl Cuts {
    /// One section for all statements.
    pub fn single(cx: &Context<'_>) -> Self {
        Cuts(std::iter::once(first_statement(cx)..cx.statements.len() as u32).collect())
    }

    /// A section of its own for every operation that needs all groups before its first firing.
    pub fn around_barriers(cx: &Context<'_>) -> Self {
        let mut cuts = Vec::new();
        let mut from = first_statement(cx);
        for (i, row) in cx.statements.iter().enumerate() {
            let i = i as u32;
            if is_barrier(cx, row) {
                if from < i {
                    cuts.push(from..i);
                }
                cuts.push(i..i + 1);
                from = i + 1;
            }
        }
        if from < cx.statements.len() as u32 {
            cuts.push(from..cx.statements.len() as u32);
        }
        Cuts(cuts)
    }
}

fn first_statement(cx: &Context<'_>) -> u32 {
    cx.statements.iter().take_while(|row| matches!(row, Row::Input(_))).count() as u32
}

fn is_barrier(cx: &Context<'_>, row: &Row) -> bool {
    match row {
        Row::Input(_) => false,
        Row::Statement(index) => match &cx.program.statements[*index as usize] {
            Statement::Let { op, .. } => op.needs_all_groups(),
            Statement::Append { .. } | Statement::Show { .. } => false,
        },
    }
}

/// Whether a range of statements holds an operation that needs all groups at once.
pub fn has_barrier(cx: &Context<'_>, range: &std::ops::Range<u32>) -> bool {
    range.clone().any(|i| is_barrier(cx, &cx.statements[i as usize]))
}

/// Lowers the statements of one section over groups of `rows` rows.
///
/// # Errors
/// The first statement that does not lower.
pub fn lower(cx: &Context<'_>, cuts: &Cuts, section: usize, rows: u64) -> Result<Lowered, StatementError> {
    let range = cuts.0[section].clone();
    let groups = cx.rows_of_program.div_ceil(rows.max(1));
    let mut net = Net::new(cx, rows, groups);
    let at = |statement: u32| move |error: LowerError| (statement, error);
    let wrap = |(statement, error): (u32, LowerError)| StatementError {
        statement,
        binder: cx.binder(statement).to_owned(),
        error,
    };

    let bound_at = table::binding_rows(cx);
    let crossing = table::crossing(cx, cuts, &bound_at);
    // Inputs first, then what earlier sections spilled, both in statement order.
    for (i, row) in cx.statements.iter().enumerate().take(range.start as usize) {
        let i = i as u32;
        net.begin(i);
        match row {
            Row::Input(value) => {
                if table::reads(cx, &range, *value) {
                    let stage = net.load(0, *value, net.tiles(*value) * groups, token_bytes(&net, *value));
                    net.emit(*value, stage);
                }
            }
            Row::Statement(index) => {
                if let Statement::Let { result, .. } = &cx.program.statements[*index as usize]
                    && table::reads(cx, &range, *result)
                {
                    let stage = net.load(RELOAD, *result, net.tiles(*result) * groups, token_bytes(&net, *result));
                    net.emit(*result, stage);
                }
            }
        }
    }
    for i in range {
        net.begin(i);
        let Row::Statement(index) = cx.statements[i as usize] else { continue };
        match &cx.program.statements[index as usize] {
            Statement::Let { result, op, operands } => {
                let bound = Bound { result: *result, operands };
                op.lower(&mut net, &bound).map_err(at(i)).map_err(wrap)?;
                if crossing[result.0 as usize] {
                    let store = net.store(
                        SPILL,
                        *result,
                        cx.homes.main,
                        net.tiles(*result) * groups,
                        token_bytes(&net, *result),
                    );
                    net.feed(store, *result, Want::Stream(1)).map_err(at(i)).map_err(wrap)?;
                }
            }
            Statement::Append { value, state, .. } => {
                let bytes = storage_bytes(rows * net.tile(*value), cx.program.value(*state).storage);
                let store = net.store(0, *state, cx.tier(*state), net.tiles(*value) * groups, bytes);
                net.feed(store, *value, Want::Stream(1)).map_err(at(i)).map_err(wrap)?;
            }
            Statement::Show { value } => {
                let tier = cx.shown_tier(*value).unwrap_or(cx.homes.hidden);
                let store = net.store(0, *value, tier, net.tiles(*value) * groups, token_bytes(&net, *value));
                net.feed(store, *value, Want::Stream(1)).map_err(at(i)).map_err(wrap)?;
            }
        }
    }
    let ends = ends(&net);
    let states = states(&net);
    Ok(Lowered { rows, groups, stages: net.stages, edges: net.edges, ends, states })
}

fn ends(net: &Net<'_>) -> Option<(StageId, StageId)> {
    let is_input = |stage: &Stage| matches!(net.cx.statements[stage.statement as usize], Row::Input(_));
    let is_show = |stage: &Stage| match net.cx.statements[stage.statement as usize] {
        Row::Input(_) => false,
        Row::Statement(index) => matches!(net.program().statements[index as usize], Statement::Show { .. }),
    };
    let only = |which: &dyn Fn(&Stage) -> bool| {
        let mut found = net.stages.iter().enumerate().filter(|(_, stage)| which(stage));
        let first = found.next()?.0;
        found.next().is_none().then_some(StageId(first as u32))
    };
    Some((only(&is_input)?, only(&is_show)?))
}

fn states(net: &Net<'_>) -> Vec<(StageId, StageId)> {
    let is_state = |value: ValueId| matches!(net.value(value).origin, Origin::Declared(Role::State));
    let mut pairs = Vec::new();
    for (i, (load, moved)) in net.stages.iter().zip(&net.moves).enumerate() {
        let Some(value) = moved.filter(|&v| load.primitive.is_source() && is_state(v)) else { continue };
        let stores = net.stages.iter().zip(&net.moves).enumerate();
        for (j, _) in stores.filter(|(_, (s, v))| s.primitive == Primitive::Store && **v == Some(value)) {
            pairs.push((StageId(i as u32), StageId(j as u32)));
        }
    }
    pairs
}

fn token_bytes(net: &Net<'_>, value: ValueId) -> u64 {
    storage_bytes(net.rows * net.tile(value), net.value(value).storage)
}

/// Stages of a net that nothing reads and that write nothing: none, in a program that is well formed.
pub fn dangling(lowered: &Lowered) -> Option<StageId> {
    let mut read = vec![false; lowered.stages.len()];
    for edge in &lowered.edges {
        read[edge.from.index()] = true;
    }
    let stage =
        lowered.stages.iter().zip(&read).position(|(stage, read)| !read && stage.primitive != Primitive::Store)?;
    Some(StageId(stage as u32))
}
