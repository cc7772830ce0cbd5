//! See [`Times`].

use super::element_wise::{equal_shape, equal_sharding};
use super::form::{Form, OperandKind, Piece, operand};
use super::map::lower_pair;
use super::operation::{Operands, Operation, Words};
use crate::language::ast::{Element, Shape, Sharding};
use crate::language::error::Problem;
use crate::lower::{Bound, Lower, LowerError, Net};
use crate::reference::{Chips, Data, Evaluate};

/// Elementwise product, or by a one-row weight.
///
/// # Operands
/// `a: [m, n]`, `b: [m, n]` or a weight `[1, n]`.
/// # Text
/// `a times b`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times;

const NAMES: [&str; 2] = ["a", "b"];

impl Operation for Times {
    const CODE: u32 = logos_bundle::table::layout::op::TIMES;
    const FORM: Form = Form {
        name: "times",
        operands: &[operand(NAMES[0], OperandKind::Value), operand(NAMES[1], OperandKind::ValueOrWeight)],
        optional: &[],
        text: &[Piece::Operand(0), Piece::Word("times"), Piece::Operand(1)],
        attributes: &[],
        result: Element::Real,
    };

    fn attributes(&self) -> Words {
        [0; 6]
    }

    fn from_attributes(_: Words) -> Self {
        Times
    }

    fn shape(&self, operands: Operands<'_>) -> Result<Shape, Problem> {
        equal_shape(&NAMES, operands)
    }

    fn sharding(&self, operands: Operands<'_>) -> Result<Sharding, Problem> {
        equal_sharding(Self::FORM.name, &NAMES, operands)
    }
}

impl Evaluate for Times {
    fn evaluate(&self, chips: &mut Chips<'_>) -> Vec<Data> {
        chips.each(|chip| chip.map_pair(|a, b| a * b))
    }
}

impl Lower for Times {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        lower_pair(net, bound, 1)
    }
}

#[cfg(any(test, feature = "simulate"))]
mod fire {
    use super::Times;
    use crate::ops::map::fire_pair;
    use crate::simulate::machine::{Fire, Firing, Trouble};

    impl Fire for Times {
        fn fire(&self, firing: &mut Firing<'_>) -> Result<(), Trouble> {
            fire_pair(self, firing)
        }
    }
}
