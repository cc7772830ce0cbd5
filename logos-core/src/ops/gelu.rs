//! See [`Gelu`].

use super::element_wise::{OnPartial, unary_shape, unary_sharding};
use super::form::{AttributeKind, Form, OperandKind, Piece, attribute, operand};
use super::map::lower_map;
use super::operation::{Operands, Operation, Words};
use crate::language::ast::{Element, Shape, Sharding};
use crate::language::error::Problem;
use crate::lower::{Bound, Lower, LowerError, Net};

/// Gaussian error linear unit.
///
/// # Operands
/// `a: [m, n]`.
/// # Text
/// `gelu of a`, `gelu of a, tanh`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gelu {
    /// The tanh form.
    pub tanh: bool,
}

impl Operation for Gelu {
    const CODE: u32 = logos_bundle::table::layout::op::GELU;
    const FORM: Form = Form {
        name: "gelu",
        operands: &[operand("a", OperandKind::Value)],
        optional: 0,
        text: &[Piece::Word("gelu"), Piece::Word("of"), Piece::Operand(0)],
        attributes: &[attribute("tanh", 0, AttributeKind::Flag)],
        result: Element::Real,
    };

    fn attributes(&self) -> Words {
        [u32::from(self.tanh), 0, 0, 0, 0, 0]
    }

    fn from_attributes(words: Words) -> Self {
        Gelu { tanh: words[0] != 0 }
    }

    fn shape(&self, operands: Operands<'_>) -> Result<Shape, Problem> {
        Ok(unary_shape(operands))
    }

    fn sharding(&self, operands: Operands<'_>) -> Result<Sharding, Problem> {
        unary_sharding(Self::FORM.name, OnPartial::Refused, operands)
    }
}

impl Lower for Gelu {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        lower_map(net, bound, 8)
    }
}
