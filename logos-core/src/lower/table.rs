//! The statement table of a program: inputs that are loaded, then its statements; and which values cross sections.

use std::ops::Range;

use crate::language::ast::{Element, Origin, Program, Role, Statement, ValueId};
use crate::ops::Op;

use super::{Context, Cuts};

/// One row of the statement table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    /// A Real input; loaded in every section that reads it through a port.
    Input(ValueId),
    /// A statement of the program, by index.
    Statement(u32),
}

/// The statement table of a program.
pub fn rows_of(program: &Program) -> Vec<Row> {
    let mut rows = Vec::with_capacity(program.statements.len() + 2);
    for (i, value) in program.values.iter().enumerate() {
        if matches!(value.origin, Origin::Declared(Role::Input)) && value.element == Element::Real {
            rows.push(Row::Input(ValueId(i as u32)));
        }
    }
    rows.extend((0..program.statements.len() as u32).map(Row::Statement));
    rows
}

/// Whether a statement takes a value through a port (rather than by address).
fn streams(statement: &Statement, value: ValueId) -> bool {
    match statement {
        Statement::Let { op: Op::LastRow(_), .. } => false,
        Statement::Let { operands, .. } => operands.contains(&value),
        Statement::Append { value: v, .. } | Statement::Show { value: v } => *v == value,
    }
}

/// Whether any statement of a range takes a value through a port.
pub(super) fn reads(cx: &Context<'_>, range: &Range<u32>, value: ValueId) -> bool {
    range.clone().any(|i| match cx.statements[i as usize] {
        Row::Input(_) => false,
        Row::Statement(index) => streams(&cx.program.statements[index as usize], value),
    })
}

/// For each value the row that binds it.
pub(super) fn binding_rows(cx: &Context<'_>) -> Vec<Option<u32>> {
    let mut rows = vec![None; cx.program.values.len()];
    for (i, row) in cx.statements.iter().enumerate() {
        if let Row::Statement(index) = row
            && let Statement::Let { result, .. } = &cx.program.statements[*index as usize]
        {
            rows[result.0 as usize] = Some(i as u32);
        }
    }
    rows
}

/// For each value whether a section other than its own reads it.
pub(super) fn crossing(cx: &Context<'_>, cuts: &Cuts, bound_at: &[Option<u32>]) -> Vec<bool> {
    let mut crossing = vec![false; cx.program.values.len()];
    if cuts.0.len() < 2 {
        return crossing;
    }
    for (i, row) in bound_at.iter().enumerate() {
        let Some(row) = row else { continue };
        let value = ValueId(i as u32);
        crossing[i] = cuts.0.iter().any(|range| !range.contains(row) && reads(cx, range, value));
    }
    crossing
}
