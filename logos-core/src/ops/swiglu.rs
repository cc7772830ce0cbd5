//! See [`SwiGlu`].

use super::element_wise::{equal_shape, equal_sharding};
use super::form::{Form, OperandKind, Piece, operand};
use super::map::lower_pair;
use super::operation::{Operands, Operation, Words};
use super::silu::silu;
use crate::language::ast::{Element, Shape, Sharding};
use crate::language::error::Problem;
use crate::lower::{Bound, Lower, LowerError, Net};
use crate::reference::{Chips, Data, Evaluate};

/// `silu(gate) * up`.
///
/// # Operands
/// `gate, up: [m, n]`.
/// # Text
/// `swiglu of gate and up`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SwiGlu;

const NAMES: [&str; 2] = ["gate", "up"];

impl Operation for SwiGlu {
    const CODE: u32 = logos_bundle::table::layout::op::SWIGLU;
    const FORM: Form = Form {
        name: "swiglu",
        operands: &[operand(NAMES[0], OperandKind::Value), operand(NAMES[1], OperandKind::Value)],
        optional: &[],
        text: &[Piece::Word("swiglu"), Piece::Word("of"), Piece::Operand(0), Piece::Word("and"), Piece::Operand(1)],
        attributes: &[],
        result: Element::Real,
    };

    fn attributes(&self) -> Words {
        [0; 6]
    }

    fn from_attributes(_: Words) -> Self {
        SwiGlu
    }

    fn shape(&self, operands: Operands<'_>) -> Result<Shape, Problem> {
        equal_shape(&NAMES, operands)
    }

    fn sharding(&self, operands: Operands<'_>) -> Result<Sharding, Problem> {
        equal_sharding(Self::FORM.name, &NAMES, operands)
    }
}

impl Evaluate for SwiGlu {
    fn evaluate(&self, chips: &mut Chips<'_>) -> Vec<Data> {
        chips.each(|chip| chip.map_pair(|gate, up| silu(gate) * up))
    }
}

impl Lower for SwiGlu {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        lower_pair(net, bound, 5)
    }
}

#[cfg(any(test, feature = "simulate"))]
mod fire {
    use super::SwiGlu;
    use crate::ops::map::fire_pair;
    use crate::simulate::machine::{Fire, Firing, Trouble};

    impl Fire for SwiGlu {
        fn fire(&self, firing: &mut Firing<'_>) -> Result<(), Trouble> {
            fire_pair(self, firing)
        }
    }
}
