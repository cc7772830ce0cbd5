//! See [`ArgMax`].

use super::form::{Form, OperandKind, Piece, operand};
use super::operation::{Operands, Operation, Words, wrong_sharding};
use crate::language::ast::{Axis, Element, Shape, Sharding};
use crate::language::error::Problem;

/// The column of the largest element of each row; the lowest of equals. Over the chips where the operand is split.
///
/// # Operands
/// `x: [m, n]`. Result `[m, 1]` of Int.
/// # Text
/// `argmax of x`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArgMax;

impl Operation for ArgMax {
    const CODE: u32 = logos_bundle::table::layout::op::ARGMAX;
    const FORM: Form = Form {
        name: "argmax",
        operands: &[operand("x", OperandKind::Value)],
        optional: 0,
        text: &[Piece::Word("argmax"), Piece::Word("of"), Piece::Operand(0)],
        attributes: &[],
        result: Element::Int,
    };

    fn attributes(&self) -> Words {
        [0; 6]
    }

    fn from_attributes(_: Words) -> Self {
        ArgMax
    }

    fn shape(&self, operands: Operands<'_>) -> Result<Shape, Problem> {
        Ok(Shape::matrix(operands.at(0).shape.rows, 1))
    }

    fn sharding(&self, operands: Operands<'_>) -> Result<Sharding, Problem> {
        let (x, chips) = (operands.at(0), operands.chips());
        match x.sharding {
            Sharding::Whole => Ok(Sharding::Whole),
            Sharding::Split { axis: Axis::Columns, parts } if parts == chips => Ok(Sharding::Whole),
            Sharding::Split { .. } | Sharding::Partial => {
                Err(wrong_sharding(Self::FORM.name, "x", x, format!("whole or split columns {chips} ways")))
            }
        }
    }
}
