//! See [`Plus`].

use super::element_wise::{equal_shape, equal_sharding};
use super::form::{Form, OperandKind, Piece, operand};
use super::map::lower_pair;
use super::operation::{Operands, Operation, Words};
use crate::language::ast::{Element, Shape, Sharding};
use crate::language::error::Problem;
use crate::lower::{Bound, Lower, LowerError, Net};
use crate::reference::{Chips, Data, Evaluate};

/// Sum of equal shapes, or of a value and a one-row weight added to every row. The sum of two partial sums is one.
///
/// # Operands
/// `a: [m, n]`, `b: [m, n]` or a weight `[1, n]`.
/// # Text
/// `a plus b`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plus;

const NAMES: [&str; 2] = ["a", "b"];

impl Operation for Plus {
    const CODE: u32 = logos_bundle::table::layout::op::PLUS;
    const FORM: Form = Form {
        name: "plus",
        operands: &[operand(NAMES[0], OperandKind::Value), operand(NAMES[1], OperandKind::ValueOrWeight)],
        optional: &[],
        text: &[Piece::Operand(0), Piece::Word("plus"), Piece::Operand(1)],
        attributes: &[],
        result: Element::Real,
    };

    fn attributes(&self) -> Words {
        [0; 6]
    }

    fn from_attributes(_: Words) -> Self {
        Plus
    }

    fn shape(&self, operands: Operands<'_>) -> Result<Shape, Problem> {
        equal_shape(&NAMES, operands)
    }

    fn sharding(&self, operands: Operands<'_>) -> Result<Sharding, Problem> {
        let (a, b) = (operands.at(0), operands.at(1));
        if (a.sharding, b.sharding) == (Sharding::Partial, Sharding::Partial) {
            return Ok(Sharding::Partial);
        }
        equal_sharding(Self::FORM.name, &NAMES, operands)
    }
}

impl Evaluate for Plus {
    fn evaluate(&self, chips: &mut Chips<'_>) -> Vec<Data> {
        chips.each(|chip| chip.map_pair(|a, b| a + b))
    }
}

impl Lower for Plus {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        lower_pair(net, bound, 1)
    }
}

#[cfg(any(test, feature = "simulate"))]
mod fire {
    use super::Plus;
    use crate::ops::map::fire_pair;
    use crate::simulate::machine::{Fire, Firing, Trouble};

    impl Fire for Plus {
        fn fire(&self, firing: &mut Firing<'_>) -> Result<(), Trouble> {
            fire_pair(self, firing)
        }
    }
}
