//! What an operation's arithmetic is given, and what it answers.

use std::sync::Arc;

use super::data::{Data, Matrix, State};
use crate::language::ast::{Program, ValueId};
use crate::ops::form::{Form, MAX_OPERANDS};

/// The arithmetic of an operation; each operation's own file implements it.
pub(crate) trait Evaluate {
    /// Every chip's share of the result, from the operands of a checked statement. An operation that is no collective
    /// answers with [`Chips::each`].
    fn evaluate(&self, chips: &mut Chips<'_>) -> Vec<Data>;
}

/// The operands of one statement on all chips.
pub(crate) struct Chips<'a> {
    program: &'a Program,
    operands: [Option<ValueId>; MAX_OPERANDS],
    held: Held<'a>,
}

/// What the chips hold.
#[cfg_attr(not(any(test, feature = "simulate")), allow(dead_code, reason = "given by firings"))]
enum Held<'a> {
    /// Every value and state, by value and chip; empty for values that are not held, or not yet.
    Whole { values: &'a [Vec<Data>], states: &'a mut [Vec<State>] },
    /// A tile of each operand, on one chip, and of the state among them.
    Tile { chip: usize, data: [Option<&'a Data>; MAX_OPERANDS], state: Option<(usize, &'a mut State)> },
}

/// The operands of one statement on one chip.
#[derive(Clone, Copy)]
pub(crate) struct Chip<'a> {
    program: &'a Program,
    operands: [Option<ValueId>; MAX_OPERANDS],
    data: [Option<&'a Data>; MAX_OPERANDS],
    states: [Option<&'a State>; MAX_OPERANDS],
    chip: usize,
}

impl<'a> Chips<'a> {
    /// `values` and `states` are by value, then by chip; empty for values that are not held, or not yet.
    pub(crate) fn new(
        program: &'a Program,
        form: &Form,
        operands: &[ValueId],
        values: &'a [Vec<Data>],
        states: &'a mut [Vec<State>],
    ) -> Self {
        Chips { program, operands: form.place(operands), held: Held::Whole { values, states } }
    }

    /// One chip with a tile of each operand, and possibly of the state at one of them.
    #[cfg_attr(not(any(test, feature = "simulate")), allow(dead_code, reason = "given by firings"))]
    pub(crate) fn tile(
        program: &'a Program,
        operands: [Option<ValueId>; MAX_OPERANDS],
        chip: usize,
        data: [Option<&'a Data>; MAX_OPERANDS],
        state: Option<(usize, &'a mut State)>,
    ) -> Self {
        Chips { program, operands, held: Held::Tile { chip, data, state } }
    }

    fn count(&self) -> usize {
        match &self.held {
            Held::Whole { .. } => self.program.chips as usize,
            Held::Tile { .. } => 1,
        }
    }

    fn chip<'b>(&'b self, chip: usize) -> Chip<'b> {
        let (program, operands) = (self.program, self.operands);
        match &self.held {
            Held::Whole { values, states } => Chip {
                program,
                operands,
                data: operands.map(|id| values[id?.0 as usize].get(chip)),
                states: operands.map(|id| states.get(id?.0 as usize)?.get(chip)),
                chip,
            },
            Held::Tile { chip, data, .. } => Chip { program, operands, data: *data, states: [None; _], chip: *chip },
        }
    }

    /// The operand on every chip.
    pub(crate) fn all(&self, operand: usize) -> Vec<&Matrix> {
        (0..self.count()).map(|chip| self.chip(chip).real(operand)).collect()
    }

    /// The operand's declaration or binding.
    pub(crate) fn value(&self, operand: usize) -> &'a crate::language::ast::Value {
        self.program.value(required(&self.operands, operand))
    }

    /// Works on each chip apart.
    pub(crate) fn each(&self, f: impl Fn(Chip<'_>) -> Matrix) -> Vec<Data> {
        (0..self.count()).map(|chip| Data::Real(Arc::new(f(self.chip(chip))))).collect()
    }

    /// Works on each chip apart, replacing the state at `operand` where one is given.
    pub(crate) fn each_over(
        &mut self,
        operand: usize,
        mut f: impl FnMut(Chip<'_>, Option<&mut State>) -> Matrix,
    ) -> Vec<Data> {
        let taken = match &mut self.held {
            Held::Tile { chip, data, state } => {
                let chip = Chip {
                    program: self.program,
                    operands: self.operands,
                    data: *data,
                    states: [None; _],
                    chip: *chip,
                };
                let state = state.as_mut().filter(|(at, _)| *at == operand).map(|(_, state)| &mut **state);
                return vec![Data::Real(Arc::new(f(chip, state)))];
            }
            Held::Whole { states, .. } => {
                self.operands[operand].map(|id| std::mem::take(&mut states[id.0 as usize])).unwrap_or_default()
            }
        };
        let mut states = taken;
        let mut results = Vec::with_capacity(self.count());
        for chip in 0..self.count() {
            results.push(Data::Real(Arc::new(f(self.chip(chip), states.get_mut(chip)))));
        }
        if let (Held::Whole { states: all, .. }, Some(id)) = (&mut self.held, self.operands[operand]) {
            all[id.0 as usize] = states;
        }
        results
    }

    /// The same result on every chip.
    pub(crate) fn same(&self, data: Data) -> Vec<Data> {
        vec![data; self.count()]
    }
}

impl<'a> Chip<'a> {
    /// The chip's share of an operand of Real.
    pub(crate) fn real(&self, operand: usize) -> &'a Matrix {
        match self.data(operand) {
            Data::Real(matrix) => matrix,
            Data::Int(_) => unreachable!("the statement's form asks for Real"),
        }
    }

    /// An operand of Real that may be left out.
    pub(crate) fn optional(&self, operand: usize) -> Option<&'a Matrix> {
        self.operands[operand].map(|_| self.real(operand))
    }

    /// An operand of Int that may be left out.
    pub(crate) fn optional_int(&self, operand: usize) -> Option<&'a [u32]> {
        self.operands[operand].map(|_| self.int(operand))
    }

    /// An operand of Int, one a row.
    pub(crate) fn int(&self, operand: usize) -> &'a [u32] {
        match self.data(operand) {
            Data::Int(ids) => ids,
            Data::Real(_) => unreachable!("the statement's form asks for Int"),
        }
    }

    /// A state that may be left out, as it was before the step.
    pub(crate) fn optional_state(&self, operand: usize) -> Option<&'a State> {
        self.states[operand]
    }

    /// Which chip this is.
    pub(crate) fn index(&self) -> usize {
        self.chip
    }

    /// Columns of a head of an operand that is `heads` heads wide on all chips together; of the whole row for 0 heads.
    pub(crate) fn head_columns(&self, operand: usize, heads: u32) -> usize {
        (self.program.value(required(&self.operands, operand)).shape.cols / heads.max(1)) as usize
    }

    /// Each element of the first operand.
    pub(crate) fn map(&self, mut f: impl FnMut(f32) -> f32) -> Matrix {
        let a = self.real(0);
        a.with_data(a.data().iter().map(|&a| f(a)).collect())
    }

    /// Each element of the first operand with that of the second, whose only row, if it is a weight's, serves every row.
    pub(crate) fn map_pair(&self, mut f: impl FnMut(f32, f32) -> f32) -> Matrix {
        let (a, b) = (self.real(0), self.real(1));
        a.with_data(a.data().iter().zip(b.data().iter().cycle()).map(|(&a, &b)| f(a, b)).collect())
    }

    fn data(&self, operand: usize) -> &'a Data {
        match self.data[operand] {
            Some(data) => data,
            // The program was checked: what its operations' forms ask for is given.
            None => unreachable!("operand {operand} is required"),
        }
    }
}

fn required(operands: &[Option<ValueId>; MAX_OPERANDS], operand: usize) -> ValueId {
    match operands[operand] {
        Some(id) => id,
        // The program was checked: what its operations' forms ask for is given.
        None => unreachable!("operand {operand} is required"),
    }
}
