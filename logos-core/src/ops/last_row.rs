//! See [`LastRow`].

use super::element_wise::{OnPartial, unary_sharding};
use super::form::{AttributeKind, Form, OperandKind, Piece, attribute, operand};
use super::operation::{Operands, Operation, Words, wrong_shape};
use crate::language::ast::{Element, Shape, Sharding};
use crate::language::error::Problem;
use crate::lower::{Bound, Lower, LowerError, Net, storage_bytes};
use crate::reference::{Chips, Data, Evaluate, Matrix};

/// The last row of each sequence.
///
/// # Operands
/// `x: [seqs * tokens, n]` (an input). Result `[seqs, n]`.
/// # Text
/// `last row of x, sequences 1`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LastRow {
    /// Sequences.
    pub sequences: u32,
}

impl Operation for LastRow {
    const CODE: u32 = logos_bundle::table::layout::op::LAST_ROW;
    const FORM: Form = Form {
        name: "last row",
        operands: &[operand("x", OperandKind::Input)],
        optional: &[],
        text: &[Piece::Word("last"), Piece::Word("row"), Piece::Word("of"), Piece::Operand(0)],
        attributes: &[attribute("sequences", 0, AttributeKind::Count)],
        result: Element::Real,
    };

    fn attributes(&self) -> Words {
        [self.sequences, 0, 0, 0, 0, 0]
    }

    fn from_attributes(words: Words) -> Self {
        LastRow { sequences: words[0] }
    }

    fn shape(&self, operands: Operands<'_>) -> Result<Shape, Problem> {
        let x = operands.at(0);
        if !x.shape.rows.is_multiple_of(self.sequences) {
            return Err(wrong_shape("x", x, format!("a multiple of {} sequences high", self.sequences)));
        }
        Ok(Shape::matrix(self.sequences, x.shape.cols))
    }

    fn sharding(&self, operands: Operands<'_>) -> Result<Sharding, Problem> {
        unary_sharding(Self::FORM.name, OnPartial::Refused, operands)
    }
}

impl Evaluate for LastRow {
    fn evaluate(&self, chips: &mut Chips<'_>) -> Vec<Data> {
        chips.each(|chip| {
            let x = chip.real(0);
            let tokens = x.rows() / self.sequences as usize;
            let mut y = Matrix::zeros(self.sequences as usize, x.cols());
            for sequence in 0..self.sequences as usize {
                y.row_mut(sequence).copy_from_slice(x.row((sequence + 1) * tokens - 1));
            }
            y
        })
    }
}

impl Lower for LastRow {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        let x = bound.operands[0];
        let bytes = storage_bytes(net.rows * net.tile(bound.result), net.value(x).storage);
        let load = net.load(0, x, net.tiles(bound.result) * net.groups, bytes);
        net.emit(bound.result, load);
        Ok(())
    }
}

#[cfg(any(test, feature = "simulate"))]
mod fire {
    use super::LastRow;
    use crate::reference::{Data, Matrix};
    use crate::simulate::machine::{Fire, Firing, Trouble};
    use std::sync::Arc;

    impl Fire for LastRow {
        fn fire(&self, firing: &mut Firing<'_>) -> Result<(), Trouble> {
            let columns = firing.tile_columns(firing.result, firing.within());
            let Data::Real(x) = firing.chip_value(firing.operand(0)?)? else {
                return Err(Trouble::Kind { expected: "numbers" });
            };
            let tokens = x.rows() / self.sequences as usize;
            let rows = firing.rows();
            let mut tile = Matrix::zeros(rows.len(), columns.len());
            for (at, sequence) in rows.enumerate() {
                tile.row_mut(at).copy_from_slice(&x.row((sequence + 1) * tokens - 1)[columns.clone()]);
            }
            firing.emit(Data::Real(Arc::new(tile)));
            Ok(())
        }
    }
}
