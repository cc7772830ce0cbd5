//! See [`Scaled`].

use super::element_wise::{OnPartial, unary_shape, unary_sharding};
use super::form::{AttributeKind, Form, OperandKind, Piece, Range, attribute, operand};
use super::map::lower_map;
use super::operation::{Operands, Operation, Words};
use crate::language::ast::{Element, Shape, Sharding};
use crate::language::error::Problem;
use crate::lower::{Bound, Lower, LowerError, Net};
use crate::reference::{Chips, Data, Evaluate};

/// Product with a constant.
///
/// # Operands
/// `a: [m, n]`.
/// # Text
/// `a scaled by 0.5`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scaled {
    /// The factor.
    pub by: f32,
}

impl Operation for Scaled {
    const CODE: u32 = logos_bundle::table::layout::op::SCALED;
    const FORM: Form = Form {
        name: "scaled",
        operands: &[operand("a", OperandKind::Value)],
        optional: &[],
        text: &[Piece::Operand(0), Piece::Word("scaled"), Piece::Word("by"), Piece::Number(0)],
        attributes: &[attribute("factor", 0, AttributeKind::Inline(Range::Any))],
        result: Element::Real,
    };

    fn attributes(&self) -> Words {
        [self.by.to_bits(), 0, 0, 0, 0, 0]
    }

    fn from_attributes(words: Words) -> Self {
        Scaled { by: f32::from_bits(words[0]) }
    }

    fn shape(&self, operands: Operands<'_>) -> Result<Shape, Problem> {
        Ok(unary_shape(operands))
    }

    fn sharding(&self, operands: Operands<'_>) -> Result<Sharding, Problem> {
        unary_sharding(Self::FORM.name, OnPartial::Linear, operands)
    }
}

impl Evaluate for Scaled {
    fn evaluate(&self, chips: &mut Chips<'_>) -> Vec<Data> {
        chips.each(|chip| chip.map(|a| a * self.by))
    }
}

impl Lower for Scaled {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        lower_map(net, bound, 1)
    }
}

#[cfg(any(test, feature = "simulate"))]
mod fire {
    use super::Scaled;
    use crate::ops::map::fire_map;
    use crate::simulate::machine::{Fire, Firing, Trouble};

    impl Fire for Scaled {
        fn fire(&self, firing: &mut Firing<'_>) -> Result<(), Trouble> {
            fire_map(self, firing)
        }
    }
}
