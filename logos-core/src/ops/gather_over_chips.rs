//! See [`GatherOverChips`].

use std::sync::Arc;

use super::element_wise::unary_shape;
use super::form::{Form, OperandKind, Piece, operand};
use super::operation::{Operands, Operation, Words, columns, expect_sharding};
use crate::language::ast::{Element, Shape, Sharding};
use crate::language::error::Problem;
use crate::lower::{Bound, Lower, LowerError, Net};
use crate::reference::{Chips, Data, Evaluate, beside};

/// All-gather along the columns.
///
/// # Operands
/// `x: [m, n]`, split by columns. Result whole.
/// # Text
/// `gather of x over chips`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GatherOverChips;

impl Operation for GatherOverChips {
    const CODE: u32 = logos_bundle::table::layout::op::GATHER_CHIPS;
    const FORM: Form = Form {
        name: "gather over chips",
        operands: &[operand("x", OperandKind::Value)],
        optional: &[],
        text: &[Piece::Word("gather"), Piece::Word("of"), Piece::Operand(0), Piece::Word("over"), Piece::Word("chips")],
        attributes: &[],
        result: Element::Real,
    };

    fn attributes(&self) -> Words {
        [0; 6]
    }

    fn from_attributes(_: Words) -> Self {
        GatherOverChips
    }

    fn shape(&self, operands: Operands<'_>) -> Result<Shape, Problem> {
        Ok(unary_shape(operands))
    }

    fn sharding(&self, operands: Operands<'_>) -> Result<Sharding, Problem> {
        let chips = operands.chips();
        expect_sharding(Self::FORM.name, "x", operands.at(0), columns(chips))?;
        Ok(Sharding::Whole)
    }
}

impl Evaluate for GatherOverChips {
    fn evaluate(&self, chips: &mut Chips<'_>) -> Vec<Data> {
        chips.same(Data::Real(Arc::new(beside(&chips.all(0)))))
    }
}

impl Lower for GatherOverChips {
    fn lower(&self, _: &mut Net<'_>, _: &Bound<'_>) -> Result<(), LowerError> {
        Err(LowerError::Form { what: "a gather over chips reorders its tokens, which no stage does yet" })
    }
}

#[cfg(any(test, feature = "simulate"))]
mod fire {
    use super::GatherOverChips;
    use crate::simulate::machine::{Fire, Firing, Trouble};

    impl Fire for GatherOverChips {
        fn fire(&self, firing: &mut Firing<'_>) -> Result<(), Trouble> {
            Err(Trouble::Part { part: firing.part })
        }
    }
}
