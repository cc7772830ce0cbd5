//! See [`RowScale`].

use super::element_wise::OnPartial;
use super::element_wise::unary_sharding;
use super::form::{Form, OperandKind, Piece, operand};
use super::operation::{Operands, Operation, Words, expect_shape, expect_sharding};
use crate::language::ast::{Element, Shape, Sharding};
use crate::language::error::Problem;
use crate::lower::{Bound, Lower, LowerError, Net, Want, storage_bytes};
use crate::reference::{Chips, Data, Evaluate};
use crate::spatial::{Emission, Primitive};

/// Each row times a number of its own.
///
/// # Operands
/// `y: [m, n]`, `g: [m, 1]`, a value or a table of temperatures. Result `[m, n]`.
/// # Text
/// `row scale of y by g`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowScale;

impl Operation for RowScale {
    const CODE: u32 = logos_bundle::table::layout::op::ROW_SCALE;
    const FORM: Form = Form {
        name: "row scale",
        operands: &[operand("y", OperandKind::Value), operand("g", OperandKind::RowFactor)],
        optional: &[],
        text: &[
            Piece::Word("row"),
            Piece::Word("scale"),
            Piece::Word("of"),
            Piece::Operand(0),
            Piece::Word("by"),
            Piece::Operand(1),
        ],
        attributes: &[],
        result: Element::Real,
    };

    fn attributes(&self) -> Words {
        [0; 6]
    }

    fn from_attributes(_: Words) -> Self {
        RowScale
    }

    fn shape(&self, operands: Operands<'_>) -> Result<Shape, Problem> {
        let y = operands.at(0);
        expect_shape("g", operands.at(1), Shape::matrix(y.shape.rows, 1))?;
        Ok(y.shape)
    }

    fn sharding(&self, operands: Operands<'_>) -> Result<Sharding, Problem> {
        expect_sharding(Self::FORM.name, "g", operands.at(1), Sharding::Whole)?;
        unary_sharding(Self::FORM.name, OnPartial::Linear, operands)
    }
}

impl Evaluate for RowScale {
    fn evaluate(&self, chips: &mut Chips<'_>) -> Vec<Data> {
        chips.each(|chip| {
            let (y, g) = (chip.real(0), chip.real(1));
            let rows = (0..y.rows()).flat_map(|row| y.row(row).iter().map(move |y| y * g.row(row)[0]));
            y.with_data(rows.collect())
        })
    }
}

impl Lower for RowScale {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        let (y, g) = (bound.operands[0], bound.operands[1]);
        let table = net.is_table(g).then(|| {
            let bytes = storage_bytes(net.rows, net.value(g).storage);
            net.load(0, g, net.groups, bytes)
        });
        let work = net.lanes(net.tile(y), 1);
        let map = net.compute(1, Primitive::Map, net.tiles(y) * net.groups, work, Emission::Stream(1));
        net.feed(map, y, Want::Stream(1))?;
        match table {
            Some(load) => net.feed_loaded(map, load, Want::Hold)?,
            None => net.feed(map, g, Want::Hold)?,
        }
        net.emit(bound.result, map);
        net.mark_from_product(bound.result, net.is_from_product(y));
        Ok(())
    }
}

#[cfg(any(test, feature = "simulate"))]
mod fire {
    use super::RowScale;
    use crate::ops::form::MAX_OPERANDS;
    use crate::reference::Data;
    use crate::simulate::machine::{Fire, Firing, Trouble};

    impl Fire for RowScale {
        fn fire(&self, firing: &mut Firing<'_>) -> Result<(), Trouble> {
            if firing.part == 0 {
                return firing.load_table(firing.operand(1)?);
            }
            let (y, g) = (firing.joined(0)?, Data::Real(firing.held(1)?));
            let mut data = [None; MAX_OPERANDS];
            (data[0], data[1]) = (Some(&y), Some(&g));
            let result = firing.evaluate(self, data, None)?;
            firing.emit(result);
            Ok(())
        }
    }
}
