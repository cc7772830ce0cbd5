//! What must hold of a program: each declaration, each statement, and the program as a whole.

use super::ast::{Origin, Program, Role, Shape, Sharding, Statement, StatementId, Value, ValueId};
use super::builder::{MAX_CHIPS, MAX_VALUES, is_name};
use super::declared::{activations, declared};
use super::error::{Place, Problem, ProgramError};
use super::routing;
use crate::ops::operation::{Operands, expect_shape, expect_sharding, wrong_shape, wrong_sharding};
use crate::ops::{Op, form::OperandKind};

/// Checks a program afresh: every declaration, every derived shape and sharding, names, states and use.
///
/// # Errors
/// Everything that is wrong.
pub fn check(program: &Program) -> Result<(), Vec<ProgramError>> {
    let mut errors = each_value_and_statement(program);
    if errors.is_empty() {
        errors = whole_program(program);
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// What concerns one `Append` or `Show`; nothing for a `Let`.
pub(super) fn effect(program: &Program, statement: &Statement) -> Result<(), Problem> {
    let of = |operand, value: &Value, kind: OperandKind| crate::ops::operation::expect_kind(operand, value, kind);
    match statement {
        Statement::Let { .. } => Ok(()),
        Statement::Append { value, state, pos } => {
            let ids = [*value, *state, *pos];
            let operands = Operands::new(&program.values, &ids, program.chips)?;
            let (value, state, pos) = (operands.at(0), operands.at(1), operands.at(2));
            of("the value appended", value, OperandKind::Value)?;
            of("the state", state, OperandKind::State)?;
            of("pos", pos, OperandKind::Index)?;
            if value.shape.cols != state.shape.cols || !value.shape.rows.is_multiple_of(state.shape.seqs) {
                let expected =
                    format!("{} wide, of sequences dividing the {} rows", value.shape.cols, value.shape.rows);
                return Err(wrong_shape("the state", state, expected));
            }
            expect_shape("pos", pos, Shape::matrix(value.shape.rows, 1))?;
            expect_sharding("Append", "the value appended", value, state.sharding)
        }
        Statement::Show { value } => {
            let operands = Operands::new(&program.values, std::slice::from_ref(value), program.chips)?;
            let value = operands.at(0);
            match (&value.origin, value.sharding) {
                (Origin::Bound(_), Sharding::Whole) => Ok(()),
                (Origin::Bound(_), _) => Err(wrong_sharding("Show", "the value shown", value, "whole")),
                (Origin::Declared(_), _) => Err(Problem::OperandKind {
                    operand: "the value shown",
                    name: value.name.as_str().into(),
                    expected: "bound by a statement",
                    found: "declared",
                }),
            }
        }
    }
}

/// Re-derives every value and statement of a program that may come from anywhere.
fn each_value_and_statement(program: &Program) -> Vec<ProgramError> {
    let mut errors = Vec::new();
    if program.chips == 0 || program.chips > MAX_CHIPS {
        errors.push(Problem::Chips { limit: MAX_CHIPS, found: program.chips }.at(Place::default()));
    }
    for (what, count) in [("values", program.values.len()), ("statements", program.statements.len())] {
        if count > MAX_VALUES as usize {
            errors.push(Problem::Limit { what, limit: u64::from(MAX_VALUES) }.at(Place::default()));
        }
    }
    if let Err(problem) = activations(program.activations) {
        errors.push(problem.at(Place::default()));
    }
    let mut names: Vec<&str> = Vec::with_capacity(program.values.len());
    let mut declared_over = false;
    for value in &program.values {
        names.push(&value.name);
        let problem = match &value.origin {
            Origin::Declared(_) if declared_over => Err(Problem::DeclarationLate),
            Origin::Declared(_) => declared(program, value),
            Origin::Bound(_) => {
                declared_over = true;
                Ok(())
            }
        };
        let problem = problem.and_then(|()| {
            if is_name(&value.name) { Ok(()) } else { Err(Problem::Name { name: value.name.as_str().into() }) }
        });
        if let Err(problem) = problem {
            errors.push(problem.declaring(&value.name));
        }
    }
    names.sort_unstable();
    for pair in names.windows(2).filter(|pair| pair[0] == pair[1]) {
        errors.push(Problem::NameTwice { name: pair[0].into() }.declaring(pair[0]));
    }
    if errors.is_empty() { statements(program) } else { errors }
}

fn statements(program: &Program) -> Vec<ProgramError> {
    let mut errors = Vec::new();
    // Bound values follow the declared ones in the order of their statements, so the next to be bound is a number.
    let mut next = program.values.iter().take_while(|value| matches!(value.origin, Origin::Declared(_))).count();
    for (index, statement) in program.statements.iter().enumerate() {
        let id = StatementId(index as u32);
        let used: &[ValueId] = match statement {
            Statement::Let { operands, .. } => operands,
            Statement::Append { value, state, pos } => &[*value, *state, *pos],
            Statement::Show { value } => &[*value],
        };
        let early = used.iter().find(|operand| operand.0 as usize >= next);
        let outcome = match (early, statement) {
            (Some(operand), _) => Err(Problem::Foreign { index: operand.0 }),
            (None, Statement::Let { result, op, operands }) => {
                let outcome = recorded(program, id, *result, op, operands, next);
                next += 1;
                outcome
            }
            (None, Statement::Append { .. } | Statement::Show { .. }) => effect(program, statement),
        };
        if let Err(problem) = outcome {
            errors.push(problem.at(Place { text: None, statement: Some(id), binder: binder(program, statement) }));
        }
    }
    if errors.is_empty() && next != program.values.len() {
        errors.push(Problem::Foreign { index: next as u32 }.at(Place::default()));
    }
    errors
}

fn recorded(
    program: &Program,
    statement: StatementId,
    result: ValueId,
    op: &Op,
    operands: &[ValueId],
    next: usize,
) -> Result<(), Problem> {
    let value = match program.values.get(next) {
        Some(value) if result.0 as usize == next && value.origin == Origin::Bound(statement) => value,
        Some(_) | None => return Err(Problem::Foreign { index: result.0 }),
    };
    let (shape, sharding) = op.derive(Operands::new(&program.values, operands, program.chips)?)?;
    let (element, storage) = (op.form().result, op.storage(program.activations));
    if (value.shape, value.sharding, value.element, value.storage) == (shape, sharding, element, storage) {
        return Ok(());
    }
    Err(Problem::Recorded {
        name: value.name.as_str().into(),
        expected: format!("{shape}, {sharding}, {storage}").into(),
        found: format!("{}, {}, {}", value.shape, value.sharding, value.storage).into(),
    })
}

/// The name a statement binds, shows or writes.
fn binder(program: &Program, statement: &Statement) -> Option<Box<str>> {
    let id = match statement {
        Statement::Let { result, .. } => result,
        Statement::Append { state, .. } => state,
        Statement::Show { value } => value,
    };
    program.values.get(id.0 as usize).map(|value| value.name.as_str().into())
}

/// State rules and use, of a program whose values and statements hold each for itself.
pub(super) fn whole_program(program: &Program) -> Vec<ProgramError> {
    let mut errors = Vec::new();
    let count = program.values.len();
    let (mut reader, mut writer): (Vec<Option<StatementId>>, Vec<Option<StatementId>>) =
        (vec![None; count], vec![None; count]);
    let (mut read, mut shown) = (vec![false; count], vec![false; count]);
    if program.chips == 0 || program.chips > MAX_CHIPS {
        errors.push(Problem::Chips { limit: MAX_CHIPS, found: program.chips }.at(Place::default()));
    }
    if let Err(problem) = activations(program.activations) {
        errors.push(problem.at(Place::default()));
    }
    for (index, statement) in program.statements.iter().enumerate() {
        let id = StatementId(index as u32);
        let mut refuse = |problem: Problem| {
            errors.push(problem.at(Place { text: None, statement: Some(id), binder: binder(program, statement) }));
        };
        match statement {
            Statement::Let { op, operands, .. } => {
                for operand in operands {
                    let at = operand.0 as usize;
                    read[at] = true;
                    if !is_state(&program.values[at]) {
                        continue;
                    }
                    let state = program.values[at].name.as_str().into();
                    if let Some(writer) = writer[at] {
                        refuse(Problem::StateReadLate { state, writer });
                    } else if let Some(first) = reader[at] {
                        refuse(Problem::StateReadTwice { state, first });
                    }
                    reader[at] = Some(id);
                    if op.replaces_state() {
                        writer[at] = Some(id);
                    }
                }
            }
            Statement::Append { value, state, pos } => {
                let at = state.0 as usize;
                read[value.0 as usize] = true;
                read[pos.0 as usize] = true;
                if let Some(first) = writer[at] {
                    let state = program.values[at].name.as_str().into();
                    refuse(Problem::StateWrittenTwice { state, first });
                }
                writer[at] = Some(id);
            }
            Statement::Show { value } => {
                let at = value.0 as usize;
                if shown[at] {
                    refuse(Problem::ShownTwice { name: program.values[at].name.as_str().into() });
                }
                shown[at] = true;
            }
        }
    }
    errors.extend(routing::check(program));
    // Where nothing is shown, that each value leads nowhere would only say the same again.
    if shown.contains(&true) {
        dead_values(program, &mut errors);
    } else {
        errors.push(Problem::NothingShown.at(Place::default()));
    }
    for (value, (read, writer)) in program.values.iter().zip(read.iter().zip(&writer)) {
        let Origin::Declared(role) = &value.origin else { continue };
        let name: Box<str> = value.name.as_str().into();
        match role {
            Role::State if writer.is_none() => {
                errors.push(Problem::StateUnwritten { state: name }.declaring(&value.name));
            }
            Role::Weight | Role::Table(_) if !read => errors.push(Problem::Unread { name }.declaring(&value.name)),
            Role::Input | Role::State | Role::Weight | Role::Table(_) => {}
        }
    }
    errors
}

/// Bound values that reach no `Show`, no `Append` and no recurrence.
fn dead_values(program: &Program, errors: &mut Vec<ProgramError>) {
    let mut live = vec![false; program.values.len()];
    let mut dead = Vec::new();
    for (index, statement) in program.statements.iter().enumerate().rev() {
        let used: &[ValueId] = match statement {
            Statement::Let { result, op, operands } => {
                let stateful = op.replaces_state() && operands.iter().any(|id| is_state(program.value(*id)));
                if !live[result.0 as usize] && !stateful {
                    dead.push((StatementId(index as u32), *result));
                    continue;
                }
                operands
            }
            Statement::Append { value, state, pos } => &[*value, *state, *pos],
            Statement::Show { value } => &[*value],
        };
        for id in used {
            live[id.0 as usize] = true;
        }
    }
    for (statement, result) in dead.into_iter().rev() {
        let name = &program.value(result).name;
        errors.push(Problem::Dead { name: name.as_str().into() }.stating(statement, name));
    }
}

fn is_state(value: &Value) -> bool {
    matches!(value.origin, Origin::Declared(Role::State))
}
