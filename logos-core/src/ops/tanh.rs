//! See [`Tanh`].

use super::element_wise::{OnPartial, unary_shape, unary_sharding};
use super::form::{Form, OperandKind, Piece, operand};
use super::map::lower_map;
use super::operation::{Operands, Operation, Words};
use crate::language::ast::{Element, Shape, Sharding};
use crate::language::error::Problem;
use crate::lower::{Bound, Lower, LowerError, Net};
use crate::reference::{Chips, Data, Evaluate};

/// Hyperbolic tangent.
///
/// # Operands
/// `a: [m, n]`.
/// # Text
/// `tanh of a`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tanh;

impl Operation for Tanh {
    const CODE: u32 = logos_bundle::table::layout::op::TANH;
    const FORM: Form = Form {
        name: "tanh",
        operands: &[operand("a", OperandKind::Value)],
        optional: &[],
        text: &[Piece::Word("tanh"), Piece::Word("of"), Piece::Operand(0)],
        attributes: &[],
        result: Element::Real,
    };

    fn attributes(&self) -> Words {
        [0; 6]
    }

    fn from_attributes(_: Words) -> Self {
        Tanh
    }

    fn shape(&self, operands: Operands<'_>) -> Result<Shape, Problem> {
        Ok(unary_shape(operands))
    }

    fn sharding(&self, operands: Operands<'_>) -> Result<Sharding, Problem> {
        unary_sharding(Self::FORM.name, OnPartial::Refused, operands)
    }
}

impl Evaluate for Tanh {
    fn evaluate(&self, chips: &mut Chips<'_>) -> Vec<Data> {
        chips.each(|chip| chip.map(f32::tanh))
    }
}

impl Lower for Tanh {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        lower_map(net, bound, 3)
    }
}

#[cfg(any(test, feature = "simulate"))]
mod fire {
    use super::Tanh;
    use crate::ops::map::fire_map;
    use crate::simulate::machine::{Fire, Firing, Trouble};

    impl Fire for Tanh {
        fn fire(&self, firing: &mut Firing<'_>) -> Result<(), Trouble> {
            fire_map(self, firing)
        }
    }
}
