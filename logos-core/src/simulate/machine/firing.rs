//! One firing of a stage on one chip: what it is given, and what it hands on.

use std::rc::Rc;
use std::sync::Arc;

use super::token::{Group, Token, join};
use super::trouble::Trouble;
use crate::language::ast::{Axis, Element, Program, Sharding, ValueId};
use crate::lower::share;
use crate::ops::form::MAX_OPERANDS;
use crate::reference::{Chips, Data, Evaluate, Matrix, State};
use crate::simulate::weights::{ChipTensor, WeightTile};
use crate::spatial::Primitive;

/// An operation's stages, firing by firing; each operation's own file implements it.
pub(crate) trait Fire: Evaluate {
    /// Executes one firing of one part.
    ///
    /// # Errors
    /// Tokens of another kind, or a part that the operation does not have.
    fn fire(&self, firing: &mut Firing<'_>) -> Result<(), Trouble>;

    /// What a collective makes of every chip's tokens; the same for all of them.
    ///
    /// # Errors
    /// A part that is no collective.
    fn combine(&self, part: u32, chips: &[Data]) -> Result<Data, Trouble> {
        let _ = chips;
        Err(Trouble::Part { part })
    }
}

/// What a chip holds beside the buffers.
pub(crate) struct Chest {
    /// Weights, by value: one, or one an expert; none for other values.
    pub(crate) weights: Vec<Vec<ChipTensor>>,
    /// States, by value.
    pub(crate) states: Vec<Option<State>>,
    /// Inputs, tables, and what sections leave each other, by value.
    pub(crate) values: Vec<Option<Data>>,
}

/// What a port is given: the tokens of this firing, or a whole group.
pub(super) enum Given {
    Tokens(Vec<Token>),
    Group(Rc<Group>, std::ops::Range<usize>),
}

/// What a stage keeps from firing to firing.
#[derive(Default)]
pub(crate) struct Memory {
    /// Matrices, as the part uses them.
    pub(crate) matrices: Vec<Matrix>,
    /// States, tile by tile.
    pub(crate) states: Vec<State>,
}

/// A firing.
pub(crate) struct Firing<'a> {
    /// The program.
    pub(crate) program: &'a Program,
    /// Operands of the statement, in the operation's places.
    pub(crate) operands: [Option<ValueId>; MAX_OPERANDS],
    /// The value it binds.
    pub(crate) result: ValueId,
    /// The part, and what kind of stage it is.
    pub(crate) part: u32,
    /// What kind of stage.
    pub(crate) primitive: Primitive,
    /// The firing, in the iteration.
    pub(crate) index: usize,
    /// Firings of an iteration.
    pub(crate) firings: usize,
    /// Rows of a group, groups, rows of the program, sequences.
    pub(crate) group_rows: usize,
    /// Groups.
    pub(crate) groups: usize,
    /// Rows of the program's activations.
    pub(crate) all_rows: usize,
    /// Sequences of a step.
    pub(crate) seqs: usize,
    /// The chip.
    pub(crate) chip: usize,
    /// Positions of an attention tile.
    pub(crate) context_tile: usize,
    /// What the stage's first reader is.
    pub(crate) feeds: Option<Primitive>,
    /// Whether a part of the statement reads what another hands on.
    pub(super) within_statement: bool,
    pub(super) tile: &'a [usize],
    pub(super) ports: &'a [Given],
    /// What the stage keeps.
    pub(crate) memory: &'a mut Memory,
    /// What the chip holds.
    pub(crate) chest: &'a mut Chest,
    pub(super) results: &'a mut Vec<Token>,
    pub(super) internals: &'a mut Vec<Token>,
}

impl<'a> Firing<'a> {
    /// Firings of a group; a load that serves all groups has none, and counts its firings by `index`.
    pub(crate) fn per_group(&self) -> usize {
        (self.firings / self.groups).max(1)
    }

    /// The group.
    pub(crate) fn group(&self) -> usize {
        self.index / self.per_group()
    }

    /// The firing, in its group.
    pub(crate) fn within(&self) -> usize {
        self.index % self.per_group()
    }

    /// Whether the firing is its group's last.
    pub(crate) fn is_last(&self) -> bool {
        self.within() + 1 == self.per_group()
    }

    /// Rows of the program that the group holds; the last group may hold fewer than the others.
    pub(crate) fn rows(&self) -> std::ops::Range<usize> {
        let start = self.group() * self.group_rows;
        start..(start + self.group_rows).min(self.all_rows)
    }

    /// The operand at a place.
    pub(crate) fn operand(&self, place: usize) -> Result<ValueId, Trouble> {
        self.operands[place].ok_or(Trouble::Absent { what: "operand" })
    }

    /// Columns of a value on this chip.
    pub(crate) fn cols(&self, value: ValueId) -> usize {
        share(self.program.value(value), Axis::Columns) as usize
    }

    /// Columns of a token of a value.
    pub(crate) fn tile(&self, value: ValueId) -> usize {
        self.tile[value.0 as usize]
    }

    /// Columns of the `n`th token of a value's row.
    pub(crate) fn tile_columns(&self, value: ValueId, n: usize) -> std::ops::Range<usize> {
        let (tile, cols) = (self.tile(value), self.cols(value));
        n * tile..((n + 1) * tile).min(cols)
    }

    /// What this firing takes at a port, side by side.
    pub(crate) fn joined(&self, port: usize) -> Result<Data, Trouble> {
        match self.given(port)? {
            Given::Tokens(tokens) => join(tokens),
            Given::Group(group, range) => join(&group.tokens[range.clone()]),
        }
    }

    /// What this firing takes at a port, of Real.
    pub(crate) fn real(&self, port: usize) -> Result<Arc<Matrix>, Trouble> {
        real(self.joined(port)?)
    }

    /// The whole group at a port, of Real.
    pub(crate) fn held(&self, port: usize) -> Result<Arc<Matrix>, Trouble> {
        match self.given(port)? {
            Given::Tokens(tokens) => real(join(tokens)?),
            Given::Group(group, _) => real(group.joined()?),
        }
    }

    /// The token at a port that goes with tile `n` of a row: of a weight that is held, the tile's own.
    pub(crate) fn token(&self, port: usize, n: usize) -> Result<&Token, Trouble> {
        let token = match self.given(port)? {
            Given::Tokens(tokens) => tokens.first(),
            Given::Group(group, _) => group.tokens.get(n),
        };
        token.ok_or(Trouble::Token { port })
    }

    /// The weight's tile at a port that goes with tile `n` of a row.
    pub(crate) fn weight(&self, port: usize, n: usize) -> Result<&WeightTile, Trouble> {
        match self.token(port, n)? {
            Token::Weight(tile) => Ok(tile),
            Token::Data(_) | Token::State(_) | Token::Empty => Err(Trouble::Kind { expected: "a tile of a weight" }),
        }
    }

    /// The numbers at a port that go with tile `n` of a row.
    pub(crate) fn numbers(&self, port: usize, n: usize) -> Result<Data, Trouble> {
        match self.token(port, n)? {
            Token::Data(data) => Ok(data.clone()),
            Token::Weight(_) | Token::State(_) | Token::Empty => Err(Trouble::Kind { expected: "numbers" }),
        }
    }

    /// The matrix at a port that goes with tile `n` of a row.
    pub(crate) fn row(&self, port: usize, n: usize) -> Result<Arc<Matrix>, Trouble> {
        real(self.numbers(port, n)?)
    }

    /// The states at a port.
    pub(crate) fn states(&self, port: usize) -> Result<Vec<State>, Trouble> {
        let tokens = match self.given(port)? {
            Given::Tokens(tokens) => &tokens[..],
            Given::Group(group, _) => &group.tokens[..],
        };
        let states = tokens.iter().map(|token| match token {
            Token::State(state) => Ok(state.clone()),
            Token::Data(_) | Token::Weight(_) | Token::Empty => Err(Trouble::Kind { expected: "a state" }),
        });
        states.collect()
    }

    /// Whether the stage has this port.
    pub(crate) fn has_port(&self, port: usize) -> bool {
        port < self.ports.len()
    }

    fn given(&self, port: usize) -> Result<&Given, Trouble> {
        self.ports.get(port).ok_or(Trouble::Port { port })
    }

    /// A weight that the chip holds.
    pub(crate) fn chip_weight(&self, value: ValueId) -> Result<&ChipTensor, Trouble> {
        self.chip_expert(value, 0)
    }

    /// One expert's weight.
    pub(crate) fn chip_expert(&self, value: ValueId, expert: usize) -> Result<&ChipTensor, Trouble> {
        self.chest.weights[value.0 as usize].get(expert).ok_or(Trouble::Absent { what: "weight" })
    }

    /// An input, a table, or what another section left.
    pub(crate) fn chip_value(&self, value: ValueId) -> Result<&Data, Trouble> {
        self.chest.values[value.0 as usize].as_ref().ok_or(Trouble::Absent { what: "input" })
    }

    /// Positions or ids, one a row of the program.
    pub(crate) fn chip_ints(&self, value: ValueId) -> Result<&[u32], Trouble> {
        match self.chip_value(value)? {
            Data::Int(ids) => Ok(ids),
            Data::Real(_) => Err(Trouble::Kind { expected: "ids" }),
        }
    }

    /// A state that the chip holds.
    pub(crate) fn chip_state(&mut self, value: ValueId) -> Result<&mut State, Trouble> {
        self.chest.states[value.0 as usize].as_mut().ok_or(Trouble::Absent { what: "state" })
    }

    /// Hands on part of a weight within the statement.
    pub(crate) fn load_weight(
        &mut self,
        value: ValueId,
        rows: std::ops::Range<usize>,
        cols: std::ops::Range<usize>,
    ) -> Result<(), Trouble> {
        let tile = self.chip_weight(value)?.tile(rows, cols);
        self.internals.push(Token::Weight(tile));
        Ok(())
    }

    /// Hands on a weight of few rows as numbers: all its rows, the columns of tile `n` of `like`.
    pub(crate) fn load_rows(&mut self, value: ValueId, like: ValueId, n: usize) -> Result<(), Trouble> {
        let cols = self.tile_columns(like, n);
        let matrix = WeightTile::matrix(&self.chip_weight(value)?.tile(0..usize::MAX, cols));
        self.internals.push(matrix.into());
        Ok(())
    }

    /// Hands on a whole weight as numbers.
    pub(crate) fn load_all(&mut self, value: ValueId) -> Result<(), Trouble> {
        let matrix = self.chip_weight(value)?.matrix();
        self.internals.push(matrix.into());
        Ok(())
    }

    /// Hands on the group's rows of a table.
    pub(crate) fn load_table(&mut self, value: ValueId) -> Result<(), Trouble> {
        let rows = self.rows();
        let table = match self.chip_value(value)? {
            Data::Real(matrix) => part_of(matrix, rows, 0..usize::MAX),
            Data::Int(_) => return Err(Trouble::Kind { expected: "a table" }),
        };
        self.internals.push(table.into());
        Ok(())
    }

    /// Hands on a tile of a cache: the written rows of the firing's sequence, or nothing beside the fresh rows.
    pub(crate) fn load_context(&mut self, state: ValueId) -> Result<(), Trouble> {
        let (tile, tokens) = (self.context_tile, (self.all_rows / self.seqs).max(1));
        let cached = self.chip_state(state)?.rows().div_ceil(tile);
        let of_sequence = cached + tokens.div_ceil(tile);
        let (sequence, number) = (self.index / of_sequence, self.index % of_sequence);
        let rows = if number < cached {
            self.chip_state(state)?.written(sequence, number * tile..(number + 1) * tile)
        } else {
            Matrix::default()
        };
        self.internals.push(if rows.rows() == 0 { Token::Empty } else { rows.into() });
        Ok(())
    }

    /// Rows of the caches that the statement reads; 0 where it is stateless.
    pub(crate) fn cache_rows(&self) -> usize {
        let state = self.operands.iter().flatten().find_map(|value| self.chest.states[value.0 as usize].as_ref());
        state.map_or(0, State::rows)
    }

    /// Positions of the program's rows, where the statement has them.
    pub(crate) fn positions(&self) -> Result<Option<&[u32]>, Trouble> {
        let ints = self.operands.iter().flatten();
        let mut ints = ints.filter(|value| self.program.value(**value).element == Element::Int);
        ints.next().map(|value| self.chip_ints(*value)).transpose()
    }

    /// Whether an operand is a weight.
    pub(crate) fn is_weight(&self, value: ValueId) -> bool {
        !self.chest.weights[value.0 as usize].is_empty()
    }

    /// First column of the whole value that the chip holds.
    pub(crate) fn chip_columns(&self, value: ValueId) -> usize {
        match self.program.value(value).sharding {
            Sharding::Split { axis: Axis::Columns, parts } => {
                self.chip * parts as usize / self.program.chips as usize * self.cols(value)
            }
            Sharding::Split { axis: Axis::Rows | Axis::Experts, .. } | Sharding::Whole | Sharding::Partial => 0,
        }
    }

    /// What the stage keeps of the group: zeros at its first firing.
    pub(crate) fn memory_of_group(&mut self, rows: usize, cols: usize) -> &mut Matrix {
        if self.within() == 0 || self.memory.matrices.is_empty() {
            self.memory.matrices = vec![Matrix::zeros(rows, cols)];
        }
        &mut self.memory.matrices[0]
    }

    /// Hands what the stage keeps on within the statement, at the group's last firing.
    pub(crate) fn pass_group(&mut self) -> Result<(), Trouble> {
        if self.is_last() {
            let matrix = self.memory.matrices.pop().ok_or(Trouble::Absent { what: "memory" })?;
            self.pass(matrix);
        }
        Ok(())
    }

    /// Whether another part of the statement reads what this one hands on.
    pub(crate) fn hands_within(&self) -> bool {
        self.within_statement
    }

    /// Keeps a tile of a value for whoever asks after the step.
    pub(crate) fn observe(&mut self, value: ValueId, tile: &Matrix, column: usize) {
        let (rows, cols) = (self.rows(), self.cols(value));
        let slot = &mut self.chest.values[value.0 as usize];
        let mut all = match slot.take() {
            Some(Data::Real(all)) if self.index > 0 => Arc::unwrap_or_clone(all),
            Some(_) | None => Matrix::zeros(self.all_rows, cols),
        };
        for (at, row) in rows.enumerate() {
            all.row_mut(row)[column..column + tile.cols()].copy_from_slice(tile.row(at));
        }
        *slot = Some(Data::Real(Arc::new(all)));
    }

    /// Hands on within the statement.
    pub(crate) fn pass(&mut self, token: impl Into<Token>) {
        self.internals.push(token.into());
    }

    /// Hands on the result's tokens: columns are cut into tiles.
    pub(crate) fn emit(&mut self, result: Data) {
        let Data::Real(matrix) = result else {
            self.results.push(Token::Data(result));
            return;
        };
        let tile = self.tile(self.result).max(1);
        if matrix.cols() <= tile {
            self.results.push(Token::Data(Data::Real(matrix)));
            return;
        }
        for start in (0..matrix.cols()).step_by(tile) {
            let cols = start..(start + tile).min(matrix.cols());
            self.results.push(part_of(&matrix, 0..matrix.rows(), cols).into());
        }
    }

    /// The operation's own arithmetic on a tile of each operand, one chip's.
    pub(crate) fn evaluate<E: Evaluate>(
        &mut self,
        op: &E,
        data: [Option<&Data>; MAX_OPERANDS],
        state: Option<(usize, &mut State)>,
    ) -> Result<Data, Trouble> {
        let mut chips = Chips::tile(self.program, self.operands, self.chip, data, state);
        op.evaluate(&mut chips).pop().ok_or(Trouble::Absent { what: "result" })
    }
}

/// Rows and columns of a matrix; ranges are cut at its ends.
pub(crate) fn part_of(matrix: &Matrix, rows: std::ops::Range<usize>, cols: std::ops::Range<usize>) -> Matrix {
    let rows = rows.start.min(matrix.rows())..rows.end.min(matrix.rows());
    let cols = cols.start.min(matrix.cols())..cols.end.min(matrix.cols());
    let mut part = Matrix::zeros(rows.len(), cols.len().max(1));
    for (at, row) in rows.enumerate() {
        part.row_mut(at)[..cols.len()].copy_from_slice(&matrix.row(row)[cols.clone()]);
    }
    part
}

fn real(data: Data) -> Result<Arc<Matrix>, Trouble> {
    match data {
        Data::Real(matrix) => Ok(matrix),
        Data::Int(_) => Err(Trouble::Kind { expected: "numbers" }),
    }
}
