//! Bytes that a step moves between the chips and their memory, at least.

use super::super::size::{TooLarge, add, bytes_of, share, sum, times, word};
use crate::language::ast::{Origin, Program, Role, Shape, Statement, Storage, Value, ValueId};
use crate::ops::operation::Operands;

/// Bytes that a step moves: every weight, state and table that it reads once, what it writes, what goes in and comes out. What lies
/// between two statements of a program stays on the chip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Weights read: of experts those that the rows can choose, of a table that is looked up its rows.
    pub weights: u64,
    /// Tables read.
    pub tables: u64,
    /// States read.
    pub states_read: u64,
    /// States written.
    pub states_written: u64,
    /// Inputs of the program.
    pub inputs: u64,
    /// What the program shows.
    pub outputs: u64,
}

impl Traffic {
    /// All of them.
    ///
    /// # Errors
    /// Where they leave 64 bits.
    pub fn total(&self) -> Result<u64, TooLarge> {
        let Traffic { weights, tables, states_read, states_written, inputs, outputs } = *self;
        [weights, tables, states_read, states_written, inputs, outputs].into_iter().try_fold(0, sum)
    }

    pub(super) fn add(&mut self, other: &Traffic, n: u64) -> Result<(), TooLarge> {
        let Traffic { weights, tables, states_read, states_written, inputs, outputs } = self;
        for (all, one) in [
            (weights, other.weights),
            (tables, other.tables),
            (states_read, other.states_read),
            (states_written, other.states_written),
            (inputs, other.inputs),
            (outputs, other.outputs),
        ] {
            *all = sum(*all, times(one, n)?)?;
        }
        Ok(())
    }
}

/// Of all chips together, each part of a value once.
pub(super) fn whole(program: &Program, ctx: u32) -> Result<Traffic, TooLarge> {
    traffic(program, ctx, |value| value.shape)
}

/// Of one chip.
pub(super) fn a_chip(program: &Program, ctx: u32) -> Result<Traffic, TooLarge> {
    traffic(program, ctx, share)
}

fn traffic(program: &Program, ctx: u32, held: impl Fn(&Value) -> Shape) -> Result<Traffic, TooLarge> {
    let mut sums = Sums::default();
    for (value, most) in program.values.iter().zip(most_read(program, ctx)?) {
        let Some(most) = most else { continue };
        let sum = match value.origin {
            Origin::Declared(Role::Weight) => &mut sums.weights,
            Origin::Declared(Role::Table(_)) => &mut sums.tables,
            Origin::Declared(Role::State) => &mut sums.states_read,
            Origin::Declared(Role::Input) => &mut sums.inputs,
            Origin::Bound(_) => continue,
        };
        let held = held(value);
        // No more than the chip has of it.
        let read =
            Shape { seqs: most.seqs.min(held.seqs), rows: most.rows.min(held.rows), cols: most.cols.min(held.cols) };
        *sum = add(*sum, bytes_of(read, value.storage)?)?;
    }
    for statement in &program.statements {
        let mut write = |value: Shape, storage: Storage| -> Result<(), TooLarge> {
            sums.states_written = add(sums.states_written, bytes_of(value, storage)?)?;
            Ok(())
        };
        match statement {
            Statement::Let { op, operands, .. } if op.replaces_state() => {
                let states = operands.iter().map(|&id| program.value(id));
                for state in states.filter(|value| matches!(value.origin, Origin::Declared(Role::State))) {
                    write(held(state), state.storage)?;
                }
            }
            Statement::Let { .. } => {}
            Statement::Append { value, state, pos: _ } => {
                let (value, state) = (program.value(*value), program.value(*state));
                // Of more rows than a ring has, the last ones stay.
                let places = state.shape.seqs.saturating_mul(state.shape.rows);
                let rows = value.shape.rows.min(places);
                write(Shape { rows, ..held(value) }, state.storage)?;
            }
            Statement::Show { value } => {
                let value = program.value(*value);
                sums.outputs = add(sums.outputs, bytes_of(held(value), value.storage)?)?;
            }
        }
    }
    Ok(Traffic {
        weights: word(sums.weights)?,
        tables: word(sums.tables)?,
        states_read: word(sums.states_read)?,
        states_written: word(sums.states_written)?,
        inputs: word(sums.inputs)?,
        outputs: word(sums.outputs)?,
    })
}

#[derive(Default)]
struct Sums {
    weights: u128,
    tables: u128,
    states_read: u128,
    states_written: u128,
    inputs: u128,
    outputs: u128,
}

/// The most that a statement reads of each value; what two statements read is read once.
fn most_read(program: &Program, ctx: u32) -> Result<Vec<Option<Shape>>, TooLarge> {
    let mut most: Vec<Option<Shape>> = vec![None; program.values.len()];
    let mut read = |id: ValueId, shape: Shape| {
        let Some(most) = most.get_mut(id.0 as usize) else { return };
        let before = most.unwrap_or(shape);
        *most = Some(Shape {
            seqs: before.seqs.max(shape.seqs),
            rows: before.rows.max(shape.rows),
            cols: before.cols.max(shape.cols),
        });
    };
    for statement in &program.statements {
        match statement {
            Statement::Let { op, operands, .. } => {
                let places = op.form().place(operands);
                let operands = Operands::new(&program.values, operands, program.chips).map_err(|_| TooLarge)?;
                for (id, shape) in places.into_iter().zip(op.reads(operands, ctx)) {
                    if let Some((id, shape)) = id.zip(shape) {
                        read(id, shape);
                    }
                }
            }
            Statement::Append { pos, .. } => read(*pos, program.value(*pos).shape),
            Statement::Show { .. } => {}
        }
    }
    Ok(most)
}
