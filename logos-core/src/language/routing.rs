//! What concerns a router and the experts that it chooses: ids and scores are nothing else's operand.

use super::ast::{Program, Statement, StatementId, ValueId};
use super::error::{Place, Problem, ProgramError};
use crate::ops::Op;

/// Everything wrong between routers and experts.
pub(super) fn check(program: &Program) -> Vec<ProgramError> {
    let mut errors = Vec::new();
    let routes =
        |statement: &&Statement| matches!(statement, Statement::Let { op: Op::RouterOp(_) | Op::ExpertsOp(_), .. });
    if !program.statements.iter().any(|statement| routes(&statement)) {
        return errors;
    }
    for (index, statement) in program.statements.iter().enumerate() {
        let (used, binder): (&[ValueId], ValueId) = match statement {
            Statement::Let { result, operands, .. } => (operands, *result),
            Statement::Append { value, state, .. } => (std::slice::from_ref(value), *state),
            Statement::Show { value } => (std::slice::from_ref(value), *value),
        };
        if let Err(problem) = of(program, statement, used) {
            let binder = Some(program.value(binder).name.as_str().into());
            errors.push(problem.at(Place { text: None, statement: Some(StatementId(index as u32)), binder }));
        }
    }
    errors
}

fn of(program: &Program, statement: &Statement, used: &[ValueId]) -> Result<(), Problem> {
    let experts = match statement {
        Statement::Let { op: Op::ExpertsOp(experts), .. } => Some(experts),
        Statement::Let { .. } | Statement::Append { .. } | Statement::Show { .. } => None,
    };
    for (place, &id) in used.iter().enumerate() {
        let name = || program.value(id).name.as_str().into();
        let choice = experts.filter(|_| place == 1);
        let problem = match (choice, chooses(program, id)) {
            (Some(experts), Some((top, count))) if (experts.top, experts.count) != (top, count) => Problem::Attribute {
                name: "count",
                expected: format!("{count} and top {top}, as of the router of `{}`", program.value(id).name).into(),
                found: format!("{} and top {}", experts.count, experts.top).into(),
            },
            (Some(_), None) => Problem::OperandKind {
                operand: "r",
                name: name(),
                expected: "a router's result",
                found: "another value",
            },
            (None, Some(_)) => Problem::OperandKind {
                operand: "its operand",
                name: name(),
                expected: "a value that anything may read",
                found: "a router's result, which only experts read",
            },
            (Some(_), Some(_)) | (None, None) => continue,
        };
        return Err(problem);
    }
    Ok(())
}

/// Of a router's result: how many experts it chooses, of how many.
fn chooses(program: &Program, id: ValueId) -> Option<(u32, u32)> {
    use super::ast::Origin;
    let Origin::Bound(statement) = program.value(id).origin else { return None };
    match program.statements.get(statement.0 as usize)? {
        Statement::Let { op: Op::RouterOp(router), operands, .. } => {
            Some((router.top, program.value(*operands.first()?).shape.cols))
        }
        Statement::Let { .. } | Statement::Append { .. } | Statement::Show { .. } => None,
    }
}
