//! What must hold of a program: each declaration, each statement, and the program as a whole.

use super::ast::{
    Axis, Element, Origin, Program, Role, RopeTable, Shape, Sharding, Statement, StatementId, Storage, Value, ValueId,
};
use super::builder::{MAX_CHIPS, MAX_VALUES, is_name};
use super::error::{Place, Problem, ProgramError};
use crate::ops::operation::{Operands, expect_shape, expect_sharding, wrong_shape, wrong_sharding};
use crate::ops::{Op, form::OperandKind};
use crate::spec::Scaling;

/// Rows that one block of Q8_0 holds, along the contracted axis.
const Q8_0_ROWS: u32 = 32;

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

/// What concerns one declared value: shape, storage and sharding for its role and element.
pub(super) fn declared(program: &Program, value: &Value) -> Result<(), Problem> {
    let Origin::Declared(role) = &value.origin else { return Ok(()) };
    let attribute = |name, expected: String, found: String| {
        Err(Problem::Attribute { name, expected: expected.into(), found: found.into() })
    };
    let Shape { seqs, rows, cols } = value.shape;
    if seqs == 0 || rows == 0 || cols == 0 {
        return Err(wrong_shape("the value", value, "above 0 in every extent"));
    }
    let elements = u64::from(rows).checked_mul(u64::from(cols)).and_then(|n| n.checked_mul(u64::from(seqs)));
    // Four bytes an element at most, and the bytes must stay below 2^63.
    if elements.is_none_or(|n| n >= 1 << 61) {
        return Err(Problem::Overflow { what: "the size in bytes" });
    }
    if seqs != 1 && *role != Role::State {
        return Err(wrong_shape("the value", value, "one matrix: only a state is one a sequence"));
    }
    match (value.element, value.storage) {
        (Element::Int, Storage::I32) | (Element::Real, Storage::F32 | Storage::F16 | Storage::Bf16) => {}
        (Element::Real, Storage::Q8_0) if *role == Role::Weight => {}
        (Element::Int, found) => return attribute("stored", "i32 for Int".into(), found.to_string()),
        (Element::Real, found) => {
            return attribute("stored", "f32, f16 or bf16 (weights also q8_0)".into(), found.to_string());
        }
    }
    if value.element == Element::Int && *role != Role::Input {
        return attribute("of", "Real for all but inputs".into(), "Int".into());
    }
    declared_sharding(program, value, role)?;
    match role {
        Role::Table(table) => rope_table(value, table),
        Role::Input | Role::Weight | Role::State => Ok(()),
    }
}

fn declared_sharding(program: &Program, value: &Value, role: &Role) -> Result<(), Problem> {
    if program.chips == 0 || program.chips > MAX_CHIPS {
        return Err(Problem::Chips { limit: MAX_CHIPS, found: program.chips });
    }
    let refuse = |expected: String| {
        let name = value.name.as_str().into();
        Err(Problem::Sharding { operand: "the value", name, expected: expected.into(), found: value.sharding })
    };
    let (extent, parts, axis) = match value.sharding {
        Sharding::Whole => return Ok(()),
        Sharding::Partial => return refuse("whole or split: no declared value is a partial sum".into()),
        Sharding::Split { axis: Axis::Rows, parts } => (value.shape.rows, parts, Axis::Rows),
        Sharding::Split { axis: Axis::Columns, parts } => (value.shape.cols, parts, Axis::Columns),
    };
    if parts == 0 || !program.chips.is_multiple_of(parts) {
        return refuse(format!("split into a divisor of the {} chips", program.chips));
    }
    if !extent.is_multiple_of(parts) {
        return refuse(format!("split into a divisor of {extent}"));
    }
    if value.element == Element::Int || matches!(role, Role::Table(_)) {
        return refuse("whole".into());
    }
    if value.storage == Storage::Q8_0 && axis == Axis::Rows && !(extent / parts).is_multiple_of(Q8_0_ROWS) {
        return refuse(format!("split at whole blocks of {Q8_0_ROWS} rows, as it is stored q8_0"));
    }
    Ok(())
}

fn rope_table(value: &Value, table: &RopeTable) -> Result<(), Problem> {
    let refuse = |name, expected: String, found: String| {
        Err(Problem::Attribute { name, expected: expected.into(), found: found.into() })
    };
    if !(table.theta.is_finite() && table.theta > 0.0) {
        return refuse("theta", "a finite number above 0".into(), table.theta.to_string());
    }
    if table.rotary == 0 || !table.rotary.is_multiple_of(2) {
        return refuse("rotary", "even and above 0".into(), table.rotary.to_string());
    }
    let pairs = table.rotary / 2;
    if value.shape.cols != pairs {
        return Err(wrong_shape("the table", value, format!("{pairs} wide, half the rotary width")));
    }
    let mut reals: Vec<(&'static str, f32)> = Vec::new();
    match &table.scaling {
        Scaling::None => {}
        Scaling::Linear { factor } | Scaling::Dynamic { factor, .. } => reals.push(("factor", *factor)),
        Scaling::Llama3 { factor, low, high, .. } => {
            reals.extend([("factor", *factor), ("low", *low), ("high", *high)]);
        }
        Scaling::Yarn { factor, beta_fast, beta_slow, attention_factor, .. } => reals.extend([
            ("factor", *factor),
            ("beta fast", *beta_fast),
            ("beta slow", *beta_slow),
            ("attention factor", *attention_factor),
        ]),
        Scaling::LongRope { short, long, attention_factor, .. } => {
            for (name, list) in [("short", short), ("long", long)] {
                if list.len() != pairs as usize {
                    return refuse(name, format!("{pairs} factors, one a pair"), list.len().to_string());
                }
                reals.extend(list.iter().map(|factor| (name, *factor)));
            }
            reals.push(("attention factor", *attention_factor));
        }
    }
    match reals.into_iter().find(|(_, x)| !(x.is_finite() && *x > 0.0)) {
        Some((name, x)) => refuse(name, "a finite number above 0".into(), x.to_string()),
        None => Ok(()),
    }
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

/// The storages an activation may have.
pub(super) fn activations(storage: Storage) -> Result<(), Problem> {
    match storage {
        Storage::F32 | Storage::F16 | Storage::Bf16 => Ok(()),
        Storage::Q8_0 | Storage::I32 => Err(Problem::Attribute {
            name: "activations",
            expected: "f32, f16 or bf16".into(),
            found: storage.to_string().into(),
        }),
    }
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
    let element = op.form().result;
    let storage = match element {
        Element::Real => program.activations,
        Element::Int => Storage::I32,
    };
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
