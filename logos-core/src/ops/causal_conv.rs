//! See [`CausalConv`].

use super::form::{AttributeKind, Form, OperandKind, Piece, attribute, operand};
use super::operation::{
    Operands, Operation, Words, expect_shape, expect_sharding, product, wrong_shape, wrong_sharding,
};
use crate::language::ast::{Axis, Element, Shape, Sharding};
use crate::language::error::Problem;

/// Causal depthwise convolution along the rows of each sequence.
///
/// `y[t] = act(sum over i of w[i] x[t - (taps - 1) + i])`; inputs before the first row come from the state, or are 0.
///
/// # Operands
/// `x: [m, n]`, `taps: [taps, n]`, optionally the state `R: [seqs of taps - 1, n]` (the last inputs), read and then replaced.
/// # Text
/// `causal conv of x with taps W over R, silu`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CausalConv {
    /// Taps.
    pub taps: u32,
    /// Whether silu follows.
    pub silu: bool,
}

impl Operation for CausalConv {
    const CODE: u32 = logos_bundle::table::layout::op::CONV;
    const REPLACES_STATE: bool = true;
    const FORM: Form = Form {
        name: "causal conv",
        operands: &[
            operand("x", OperandKind::Value),
            operand("taps", OperandKind::Weight),
            operand("R", OperandKind::State),
        ],
        optional: 1,
        text: &[
            Piece::Word("causal"),
            Piece::Word("conv"),
            Piece::Word("of"),
            Piece::Operand(0),
            Piece::Word("with"),
            Piece::Word("taps"),
            Piece::Operand(1),
            Piece::Optional(&[Piece::Word("over"), Piece::Operand(2)]),
        ],
        attributes: &[attribute("taps", 0, AttributeKind::RowsOf(1)), attribute("silu", 1, AttributeKind::Flag)],
        result: Element::Real,
    };

    fn attributes(&self) -> Words {
        [self.taps, u32::from(self.silu), 0, 0, 0, 0]
    }

    fn from_attributes(words: Words) -> Self {
        CausalConv { taps: words[0], silu: words[1] != 0 }
    }

    fn shape(&self, operands: Operands<'_>) -> Result<Shape, Problem> {
        let x = operands.at(0);
        expect_shape("taps", operands.at(1), Shape::matrix(self.taps, x.shape.cols))?;
        if let Some(state) = operands.get(2) {
            let seqs = state.shape.seqs;
            if !x.shape.rows.is_multiple_of(seqs) {
                return Err(wrong_shape("R", state, format!("of sequences dividing the {} rows", x.shape.rows)));
            }
            expect_shape("R", state, Shape { seqs, rows: self.taps.saturating_sub(1), cols: x.shape.cols })?;
        }
        Ok(x.shape)
    }

    fn sharding(&self, operands: Operands<'_>) -> Result<Sharding, Problem> {
        let x = operands.at(0);
        match x.sharding {
            Sharding::Whole | Sharding::Split { axis: Axis::Columns, .. } => {}
            Sharding::Split { axis: Axis::Rows, .. } | Sharding::Partial => {
                return Err(wrong_sharding(Self::FORM.name, "x", x, "whole or split columns"));
            }
        }
        expect_sharding(Self::FORM.name, "taps", operands.at(1), x.sharding)?;
        if let Some(state) = operands.get(2) {
            expect_sharding(Self::FORM.name, "R", state, x.sharding)?;
        }
        Ok(x.sharding)
    }

    fn macs(&self, _: Operands<'_>, result: Shape) -> Option<u64> {
        product(&[self.taps, result.rows, result.cols])
    }
}
