//! See [`SumOverChips`].

use std::sync::Arc;

use super::element_wise::unary_shape;
use super::form::{Form, OperandKind, Piece, operand};
use super::operation::{Operands, Operation, Words};
use crate::language::ast::{Element, Shape, Sharding};
use crate::language::error::Problem;
use crate::lower::{Bound, Lower, LowerError, Net, Want, storage_bytes};
use crate::reference::{Chips, Data, Evaluate};
use crate::spatial::Emission;

/// All-reduce: the sum of every chip's part.
///
/// # Operands
/// `x: [m, n]`, partial. Result whole.
/// # Text
/// `sum of x over chips`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SumOverChips;

impl Operation for SumOverChips {
    const CODE: u32 = logos_bundle::table::layout::op::SUM_CHIPS;
    const FORM: Form = Form {
        name: "sum over chips",
        operands: &[operand("x", OperandKind::Value)],
        optional: &[],
        text: &[Piece::Word("sum"), Piece::Word("of"), Piece::Operand(0), Piece::Word("over"), Piece::Word("chips")],
        attributes: &[],
        result: Element::Real,
    };

    fn attributes(&self) -> Words {
        [0; 6]
    }

    fn from_attributes(_: Words) -> Self {
        SumOverChips
    }

    fn shape(&self, operands: Operands<'_>) -> Result<Shape, Problem> {
        Ok(unary_shape(operands))
    }

    fn sharding(&self, operands: Operands<'_>) -> Result<Sharding, Problem> {
        let x = operands.at(0);
        match x.sharding {
            Sharding::Partial => Ok(Sharding::Whole),
            Sharding::Whole | Sharding::Split { .. } => {
                Err(Problem::DoubledSum { name: x.name.as_str().into(), found: x.sharding })
            }
        }
    }
}

impl Evaluate for SumOverChips {
    fn evaluate(&self, chips: &mut Chips<'_>) -> Vec<Data> {
        let shares = chips.all(0);
        let mut sum = shares[0].clone();
        for share in &shares[1..] {
            sum.data_mut().iter_mut().zip(share.data()).for_each(|(sum, x)| *sum += x);
        }
        chips.same(Data::Real(Arc::new(sum)))
    }
}

impl Lower for SumOverChips {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        let x = bound.operands[0];
        let bytes = storage_bytes(net.rows * net.tile(x), net.value(x).storage);
        let sum = net.all_reduce(0, net.tiles(x) * net.groups, bytes, Emission::Stream(1));
        net.feed(sum, x, Want::Stream(1))?;
        net.emit(bound.result, sum);
        Ok(())
    }
}

#[cfg(any(test, feature = "simulate"))]
pub(super) use fire::sum_of;

#[cfg(any(test, feature = "simulate"))]
mod fire {
    use super::SumOverChips;
    use crate::reference::Data;
    use crate::simulate::machine::{Fire, Firing, Trouble};
    use std::sync::Arc;

    impl Fire for SumOverChips {
        fn fire(&self, firing: &mut Firing<'_>) -> Result<(), Trouble> {
            Err(Trouble::Part { part: firing.part })
        }

        fn combine(&self, part: u32, chips: &[Data]) -> Result<Data, Trouble> {
            sum_of(part, chips)
        }
    }

    /// The sum of every chip's token.
    pub(in crate::ops) fn sum_of(part: u32, chips: &[Data]) -> Result<Data, Trouble> {
        let mut sum = None;
        for chip in chips {
            let Data::Real(share) = chip else { return Err(Trouble::Part { part }) };
            sum = Some(match sum {
                None => (**share).clone(),
                Some(sum) => add(sum, share),
            });
        }
        sum.map(|sum| Data::Real(Arc::new(sum))).ok_or(Trouble::Part { part })
    }

    fn add(mut sum: crate::reference::Matrix, share: &crate::reference::Matrix) -> crate::reference::Matrix {
        sum.data_mut().iter_mut().zip(share.data()).for_each(|(sum, x)| *sum += x);
        sum
    }
}
