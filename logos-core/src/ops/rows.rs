//! See [`Rows`].

use super::form::{Form, OperandKind, Piece, operand};
use super::operation::{Operands, Operation, Words, expect_shape, wrong_sharding};
use crate::language::ast::{Axis, Element, Shape, Sharding, Storage};
use crate::language::error::Problem;
use crate::lower::{Bound, Lower, LowerError, Net, storage_bytes};
use crate::reference::{Chips, Data, Evaluate, Matrix};

/// Rows of a table, by id.
///
/// # Operands
/// `E: [n, d]` (a weight), `ids: [m, 1]` of Int. Result `[m, d]`.
/// # Text
/// `rows of E at token`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rows;

impl Operation for Rows {
    const CODE: u32 = logos_bundle::table::layout::op::ROWS;
    const FORM: Form = Form {
        name: "rows",
        operands: &[operand("E", OperandKind::Weight), operand("token", OperandKind::Index)],
        optional: &[],
        text: &[Piece::Word("rows"), Piece::Word("of"), Piece::Operand(0), Piece::Word("at"), Piece::Operand(1)],
        attributes: &[],
        result: Element::Real,
    };

    fn attributes(&self) -> Words {
        [0; 6]
    }

    fn from_attributes(_: Words) -> Self {
        Rows
    }

    fn shape(&self, operands: Operands<'_>) -> Result<Shape, Problem> {
        let (table, token) = (operands.at(0), operands.at(1));
        expect_shape("token", token, Shape::matrix(token.shape.rows, 1))?;
        if matches!(table.storage, Storage::F8E4M3 | Storage::Mxfp4) {
            return Err(Problem::Attribute {
                name: "stored",
                expected: "f32, f16, bf16 or q8_0 for a table of rows".into(),
                found: table.storage.to_string().into(),
            });
        }
        Ok(Shape::matrix(token.shape.rows, table.shape.cols))
    }

    /// Of the table a row for each id.
    fn reads(&self, operands: Operands<'_>, index: usize, _: u32) -> Shape {
        let (table, ids) = (operands.at(0), operands.at(1));
        match index {
            0 => Shape { rows: ids.shape.rows.min(table.shape.rows), ..table.shape },
            _ => ids.shape,
        }
    }

    fn sharding(&self, operands: Operands<'_>) -> Result<Sharding, Problem> {
        let (table, chips) = (operands.at(0), operands.chips());
        match table.sharding {
            Sharding::Whole => Ok(Sharding::Whole),
            Sharding::Split { axis: Axis::Rows, parts } if parts == chips => Ok(Sharding::Partial),
            Sharding::Split { .. } | Sharding::Partial => {
                Err(wrong_sharding(Self::FORM.name, "E", table, format!("whole or split rows {chips} ways")))
            }
        }
    }
}

impl Evaluate for Rows {
    fn evaluate(&self, chips: &mut Chips<'_>) -> Vec<Data> {
        chips.each(|chip| {
            let (table, ids) = (chip.real(0), chip.int(1));
            // Of a table split by rows, a chip has its own and gives zeros for the rest.
            let split = chips.value(0).sharding != Sharding::Whole;
            let first = if split { chip.index() * table.rows() } else { 0 };
            let mut y = Matrix::zeros(ids.len(), table.cols());
            for (row, &id) in ids.iter().enumerate() {
                if let Some(held) = (id as usize).checked_sub(first).filter(|&held| held < table.rows()) {
                    y.row_mut(row).copy_from_slice(table.row(held));
                }
            }
            y
        })
    }
}

impl Lower for Rows {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        let table = bound.operands[0];
        let bytes = storage_bytes(net.rows * net.tile(bound.result), net.value(table).storage);
        let gather = net.gather(0, table, net.tiles(bound.result) * net.groups, bytes);
        net.emit(bound.result, gather);
        Ok(())
    }
}

#[cfg(any(test, feature = "simulate"))]
mod fire {
    use super::Rows;
    use crate::language::Sharding;
    use crate::reference::{Data, Matrix};
    use crate::simulate::machine::{Fire, Firing, Trouble};
    use std::sync::Arc;

    impl Fire for Rows {
        fn fire(&self, firing: &mut Firing<'_>) -> Result<(), Trouble> {
            let (table, ids) = (firing.operand(0)?, firing.operand(1)?);
            let columns = firing.tile_columns(firing.result, firing.within());
            let split = firing.program.value(table).sharding != Sharding::Whole;
            let rows = firing.rows();
            let mut tile = Matrix::zeros(rows.len(), columns.len());
            let held = firing.chip_weight(table)?;
            let first = if split { firing.chip * held.rows() } else { 0 };
            let ids = firing.chip_ints(ids)?.get(rows).ok_or(Trouble::Absent { what: "id" })?;
            for (row, &id) in ids.iter().enumerate() {
                // A table split by rows gives zeros for the rows that other chips hold.
                if let Some(at) = (id as usize).checked_sub(first).filter(|&at| at < held.rows()) {
                    let found = held.tile(at..at + 1, columns.clone()).matrix();
                    tile.row_mut(row).copy_from_slice(found.row(0));
                }
            }
            firing.emit(Data::Real(Arc::new(tile)));
            Ok(())
        }
    }
}
