//! The rules that element-wise operations share.

use super::operation::{Operands, expect_shape, expect_sharding, rows, wrong_shape, wrong_sharding};
use crate::language::ast::{Axis, Origin, Role, Shape, Sharding, Value};
use crate::language::error::Problem;

/// What a one-operand operation does with a partial sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OnPartial {
    /// It is linear: the result is partial too.
    Linear,
    /// It is not: refused.
    Refused,
}

/// The shape of a one-operand operation: its operand's.
pub(super) fn unary_shape(operands: Operands<'_>) -> Shape {
    operands.at(0).shape
}

/// The sharding of a one-operand operation: its operand's.
pub(super) fn unary_sharding(
    op: &'static str,
    on_partial: OnPartial,
    operands: Operands<'_>,
) -> Result<Sharding, Problem> {
    let a = operands.at(0);
    match (a.sharding, on_partial) {
        (Sharding::Whole | Sharding::Split { axis: Axis::Columns, .. }, _) => Ok(a.sharding),
        (Sharding::Partial, OnPartial::Linear) => Ok(a.sharding),
        (Sharding::Partial, OnPartial::Refused) | (Sharding::Split { axis: Axis::Rows | Axis::Experts, .. }, _) => {
            Err(wrong_sharding(op, "its operand", a, "whole or split columns"))
        }
    }
}

/// The shape of an operation on equal shapes, where operands after the first may be one-row weights.
pub(super) fn equal_shape(names: &[&'static str], operands: Operands<'_>) -> Result<Shape, Problem> {
    let a = operands.at(0);
    for (index, name) in names.iter().enumerate().skip(1) {
        let b = operands.at(index);
        let shape = if is_weight(b) { Shape::matrix(1, a.shape.cols) } else { a.shape };
        expect_shape(name, b, shape)?;
    }
    Ok(a.shape)
}

/// The sharding of an operation on equal shardings.
pub(super) fn equal_sharding(
    op: &'static str,
    names: &[&'static str],
    operands: Operands<'_>,
) -> Result<Sharding, Problem> {
    let a = operands.at(0);
    for (index, name) in names.iter().enumerate().skip(1) {
        let b = operands.at(index);
        if a.sharding == Sharding::Partial && is_weight(b) {
            return Err(Problem::BiasOnPartial { name: a.name.as_str().into(), bias: b.name.as_str().into() });
        }
        if a.sharding == Sharding::Partial
            || matches!(a.sharding, Sharding::Split { axis: Axis::Rows | Axis::Experts, .. })
        {
            return Err(wrong_sharding(op, names[0], a, "whole or split columns"));
        }
        if b.sharding != a.sharding {
            return Err(wrong_sharding(op, name, b, format!("{} as `{}`", a.sharding, a.name)));
        }
    }
    Ok(a.sharding)
}

/// Columns of a head, where `heads` divides the columns.
pub(super) fn head_columns(operand: &'static str, value: &Value, heads: u32) -> Result<u32, Problem> {
    match value.shape.cols.checked_div(heads) {
        Some(columns) if columns > 0 && columns * heads == value.shape.cols => Ok(columns),
        Some(_) | None => Err(wrong_shape(operand, value, format!("a multiple of {heads} heads wide"))),
    }
}

/// The sharding of an operation that works on each head of `x` apart: whole, or whole heads on each chip.
pub(super) fn head_wise_sharding(op: &'static str, heads: u32, operands: Operands<'_>) -> Result<Sharding, Problem> {
    let x = operands.at(0);
    match x.sharding {
        Sharding::Whole => Ok(x.sharding),
        Sharding::Split { axis: Axis::Columns, parts } if parts > 0 && heads.is_multiple_of(parts) => Ok(x.sharding),
        Sharding::Split { axis: Axis::Columns, .. } => {
            Err(wrong_sharding(op, "x", x, format!("split into whole heads, and it has {heads}")))
        }
        Sharding::Split { axis: Axis::Rows | Axis::Experts, .. } | Sharding::Partial => {
            Err(wrong_sharding(op, "x", x, "whole or split columns"))
        }
    }
}

/// Refuses the operands from `first` on that are not whole.
pub(super) fn rest_whole(
    op: &'static str,
    names: &[&'static str],
    first: usize,
    operands: Operands<'_>,
) -> Result<(), Problem> {
    for (index, name) in names.iter().enumerate().skip(first) {
        let Some(value) = operands.get(index) else { continue };
        if value.sharding != Sharding::Whole {
            return Err(wrong_sharding(op, name, value, "whole"));
        }
    }
    Ok(())
}

/// The shape of a norm: `x`'s, with one-row weights as wide as the row, or, of heads, as wide as a head, one row for all of
/// them or a row for each.
pub(super) fn norm_shape(heads: u32, names: &[&'static str], operands: Operands<'_>) -> Result<Shape, Problem> {
    let x = operands.at(0);
    let width = if heads == 0 { x.shape.cols } else { head_columns("x", x, heads)? };
    for (index, name) in names.iter().enumerate().skip(1) {
        if let Some(value) = operands.get(index) {
            let rows = if value.shape.rows == heads { heads } else { 1 };
            expect_shape(name, value, Shape::matrix(rows.max(1), width))?;
        }
    }
    Ok(x.shape)
}

/// The sharding of a norm, over the whole row or over each head of it.
pub(super) fn norm_sharding(
    op: &'static str,
    heads: u32,
    names: &[&'static str],
    operands: Operands<'_>,
) -> Result<Sharding, Problem> {
    let x = operands.at(0);
    if heads > 0 {
        let sharding = head_wise_sharding(op, heads, operands)?;
        for (index, name) in names.iter().enumerate().skip(1) {
            let Some(value) = operands.get(index) else { continue };
            let expected = match sharding {
                Sharding::Split { parts, .. } if value.shape.rows > 1 => rows(parts),
                Sharding::Split { .. } | Sharding::Whole | Sharding::Partial => Sharding::Whole,
            };
            expect_sharding(op, name, value, expected)?;
        }
        return Ok(sharding);
    }
    rest_whole(op, names, 1, operands)?;
    match x.sharding {
        Sharding::Whole => Ok(Sharding::Whole),
        Sharding::Split { .. } | Sharding::Partial => {
            Err(wrong_sharding(op, "x", x, "whole, as the norm is over the whole row"))
        }
    }
}

/// Whether a value is a weight.
pub(super) fn is_weight(value: &Value) -> bool {
    matches!(value.origin, Origin::Declared(Role::Weight))
}
