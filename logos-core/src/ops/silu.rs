//! See [`Silu`].

use super::element_wise::{OnPartial, unary_shape, unary_sharding};
use super::form::{Form, OperandKind, Piece, operand};
use super::map::lower_map;
use super::operation::{Operands, Operation, Words};
use super::sigmoid::sigmoid;
use crate::language::ast::{Element, Shape, Sharding};
use crate::language::error::Problem;
use crate::lower::{Bound, Lower, LowerError, Net};
use crate::reference::{Chips, Data, Evaluate};

/// `a * sigmoid(a)`.
///
/// # Operands
/// `a: [m, n]`.
/// # Text
/// `silu of a`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Silu;

impl Operation for Silu {
    const CODE: u32 = logos_bundle::table::layout::op::SILU;
    const FORM: Form = Form {
        name: "silu",
        operands: &[operand("a", OperandKind::Value)],
        optional: &[],
        text: &[Piece::Word("silu"), Piece::Word("of"), Piece::Operand(0)],
        attributes: &[],
        result: Element::Real,
    };

    fn attributes(&self) -> Words {
        [0; 6]
    }

    fn from_attributes(_: Words) -> Self {
        Silu
    }

    fn shape(&self, operands: Operands<'_>) -> Result<Shape, Problem> {
        Ok(unary_shape(operands))
    }

    fn sharding(&self, operands: Operands<'_>) -> Result<Sharding, Problem> {
        unary_sharding(Self::FORM.name, OnPartial::Refused, operands)
    }
}

impl Evaluate for Silu {
    fn evaluate(&self, chips: &mut Chips<'_>) -> Vec<Data> {
        chips.each(|chip| chip.map(silu))
    }
}

/// `a sigmoid(a)`.
pub(super) fn silu(a: f32) -> f32 {
    a * sigmoid(a)
}

impl Lower for Silu {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        lower_map(net, bound, 4)
    }
}

#[cfg(any(test, feature = "simulate"))]
mod fire {
    use super::Silu;
    use crate::ops::map::fire_map;
    use crate::simulate::machine::{Fire, Firing, Trouble};

    impl Fire for Silu {
        fn fire(&self, firing: &mut Firing<'_>) -> Result<(), Trouble> {
            fire_map(self, firing)
        }
    }
}
