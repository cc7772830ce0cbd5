//! See [`GeGlu`].

use super::element_wise::{equal_shape, equal_sharding};
use super::form::{AttributeKind, Form, OperandKind, Piece, attribute, operand};
use super::gelu::gelu;
use super::map::lower_pair;
use super::operation::{Operands, Operation, Words};
use crate::language::ast::{Element, Shape, Sharding};
use crate::language::error::Problem;
use crate::lower::{Bound, Lower, LowerError, Net};
use crate::reference::{Chips, Data, Evaluate};

/// `gelu(gate) * up`.
///
/// # Operands
/// `gate, up: [m, n]`.
/// # Text
/// `geglu of gate and up`, `geglu of gate and up, tanh`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeGlu {
    /// The tanh form.
    pub tanh: bool,
}

const NAMES: [&str; 2] = ["gate", "up"];

impl Operation for GeGlu {
    const CODE: u32 = logos_bundle::table::layout::op::GEGLU;
    const FORM: Form = Form {
        name: "geglu",
        operands: &[operand(NAMES[0], OperandKind::Value), operand(NAMES[1], OperandKind::Value)],
        optional: &[],
        text: &[Piece::Word("geglu"), Piece::Word("of"), Piece::Operand(0), Piece::Word("and"), Piece::Operand(1)],
        attributes: &[attribute("tanh", 0, AttributeKind::Flag)],
        result: Element::Real,
    };

    fn attributes(&self) -> Words {
        [u32::from(self.tanh), 0, 0, 0, 0, 0]
    }

    fn from_attributes(words: Words) -> Self {
        GeGlu { tanh: words[0] != 0 }
    }

    fn shape(&self, operands: Operands<'_>) -> Result<Shape, Problem> {
        equal_shape(&NAMES, operands)
    }

    fn sharding(&self, operands: Operands<'_>) -> Result<Sharding, Problem> {
        equal_sharding(Self::FORM.name, &NAMES, operands)
    }
}

impl Evaluate for GeGlu {
    fn evaluate(&self, chips: &mut Chips<'_>) -> Vec<Data> {
        chips.each(|chip| chip.map_pair(|gate, up| gelu(gate, self.tanh) * up))
    }
}

impl Lower for GeGlu {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        lower_pair(net, bound, 9)
    }
}

#[cfg(any(test, feature = "simulate"))]
mod fire {
    use super::GeGlu;
    use crate::ops::map::fire_pair;
    use crate::simulate::machine::{Fire, Firing, Trouble};

    impl Fire for GeGlu {
        fn fire(&self, firing: &mut Firing<'_>) -> Result<(), Trouble> {
            fire_pair(self, firing)
        }
    }
}
