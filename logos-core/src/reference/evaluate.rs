//! One program, statement by statement.

use super::chips::Chips;
use super::data::{Data, State};
use super::tally;
use crate::language::ast::{Program, Statement};

/// Evaluates a checked program. `values` holds the declared inputs, weights and tables, by value and chip, and is given back
/// with every bound value; `states`, by value and chip, are replaced by what the step leaves.
pub(super) fn evaluate(program: &Program, mut values: Vec<Vec<Data>>, states: &mut [Vec<State>]) -> Vec<Vec<Data>> {
    values.resize_with(program.values.len(), Vec::new);
    for statement in &program.statements {
        match statement {
            Statement::Let { result, op, operands } => {
                values[result.0 as usize] = op.evaluate(&mut Chips::new(program, op.form(), operands, &values, states));
                tally::ends(op.form().name);
            }
            Statement::Append { value, state, pos } => {
                let (rows, pos) = (&values[value.0 as usize], &values[pos.0 as usize]);
                for ((state, rows), pos) in states[state.0 as usize].iter_mut().zip(rows).zip(pos) {
                    append(state, rows, pos);
                }
            }
            Statement::Show { .. } => {}
        }
    }
    values
}

/// Writes rows, in order, at their positions: of more rows than a ring has, the last ones stay.
fn append(state: &mut State, rows: &Data, pos: &Data) {
    let (Data::Real(rows), Data::Int(pos)) = (rows, pos) else {
        unreachable!("Real rows are appended at Int positions");
    };
    let tokens = rows.rows() / state.seqs();
    for (row, &position) in pos.iter().enumerate() {
        state.append(row / tokens, position as usize, rows.row(row));
    }
}
