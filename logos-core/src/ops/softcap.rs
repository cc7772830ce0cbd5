//! See [`SoftCap`].

use super::element_wise::{OnPartial, unary_shape, unary_sharding};
use super::form::{AttributeKind, Form, OperandKind, Piece, Range, attribute, operand};
use super::map::lower_map;
use super::operation::{Operands, Operation, Words};
use crate::language::ast::{Element, Shape, Sharding};
use crate::language::error::Problem;
use crate::lower::{Bound, Lower, LowerError, Net};
use crate::reference::{Chips, Data, Evaluate};

/// `cap * tanh(a / cap)`.
///
/// # Operands
/// `a: [m, n]`.
/// # Text
/// `softcap of a, cap 30`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftCap {
    /// The cap.
    pub cap: f32,
}

impl Operation for SoftCap {
    const CODE: u32 = logos_bundle::table::layout::op::SOFTCAP;
    const FORM: Form = Form {
        name: "softcap",
        operands: &[operand("a", OperandKind::Value)],
        optional: &[],
        text: &[Piece::Word("softcap"), Piece::Word("of"), Piece::Operand(0)],
        attributes: &[attribute("cap", 0, AttributeKind::Real(Range::Positive))],
        result: Element::Real,
    };

    fn attributes(&self) -> Words {
        [self.cap.to_bits(), 0, 0, 0, 0, 0]
    }

    fn from_attributes(words: Words) -> Self {
        SoftCap { cap: f32::from_bits(words[0]) }
    }

    fn shape(&self, operands: Operands<'_>) -> Result<Shape, Problem> {
        Ok(unary_shape(operands))
    }

    fn sharding(&self, operands: Operands<'_>) -> Result<Sharding, Problem> {
        unary_sharding(Self::FORM.name, OnPartial::Refused, operands)
    }
}

impl Evaluate for SoftCap {
    fn evaluate(&self, chips: &mut Chips<'_>) -> Vec<Data> {
        chips.each(|chip| chip.map(|a| softcap(a, self.cap)))
    }
}

/// `cap tanh(a / cap)`.
pub(super) fn softcap(a: f32, cap: f32) -> f32 {
    cap * (a / cap).tanh()
}

impl Lower for SoftCap {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        lower_map(net, bound, 5)
    }
}

#[cfg(any(test, feature = "simulate"))]
mod fire {
    use super::SoftCap;
    use crate::ops::map::fire_map;
    use crate::simulate::machine::{Fire, Firing, Trouble};

    impl Fire for SoftCap {
        fn fire(&self, firing: &mut Firing<'_>) -> Result<(), Trouble> {
            fire_map(self, firing)
        }
    }
}
