//! See [`MatMul`].

use super::form::{Form, OperandKind, Piece, operand};
use super::operation::{MacsOf, Operands, Operation, Words, product, wrong_shape, wrong_sharding};
use crate::language::ast::{Axis, Element, Shape, Sharding};
use crate::language::error::Problem;
use crate::lower::{Bound, Lower, LowerError, Net, Want, matrix_bytes};
use crate::reference::{Chips, Data, Evaluate, matrix_product};
use crate::spatial::{Emission, Primitive, Work};

/// Matrix product `x W`.
///
/// # Operands
/// `x: [m, k]`, `W: [k, n]` (a weight). Result `[m, n]`.
/// # Text
/// `x matmul W`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MatMul;

impl Operation for MatMul {
    const CODE: u32 = logos_bundle::table::layout::op::MATMUL;
    const FORM: Form = Form {
        name: "matmul",
        operands: &[operand("x", OperandKind::Value), operand("W", OperandKind::Weight)],
        optional: &[],
        text: &[Piece::Operand(0), Piece::Word("matmul"), Piece::Operand(1)],
        attributes: &[],
        result: Element::Real,
    };

    fn attributes(&self) -> Words {
        [0; 6]
    }

    fn from_attributes(_: Words) -> Self {
        MatMul
    }

    fn shape(&self, operands: Operands<'_>) -> Result<Shape, Problem> {
        let (x, w) = (operands.at(0), operands.at(1));
        if x.shape.cols != w.shape.rows {
            return Err(wrong_shape("W", w, format!("{} rows high, as `{}` is wide", x.shape.cols, x.name)));
        }
        Ok(Shape::matrix(x.shape.rows, w.shape.cols))
    }

    fn sharding(&self, operands: Operands<'_>) -> Result<Sharding, Problem> {
        let (x, w, chips) = (operands.at(0), operands.at(1), operands.chips());
        let refuse = |operand, value, expected: String| Err(wrong_sharding("matmul", operand, value, expected));
        match (x.sharding, w.sharding) {
            (Sharding::Whole, Sharding::Whole | Sharding::Split { axis: Axis::Columns, .. }) => Ok(w.sharding),
            (Sharding::Whole, Sharding::Split { axis: Axis::Rows, parts }) => {
                refuse("x", x, format!("split columns {parts} ways, as `{}` is split by rows", w.name))
            }
            (
                Sharding::Split { axis: Axis::Columns, parts },
                Sharding::Split { axis: Axis::Rows, parts: of_weight },
            ) => {
                if parts != chips {
                    // Replicated groups hold equal parts, and a sum over chips would add each of them more than once.
                    refuse("x", x, format!("split columns {chips} ways, one part a chip, to be contracted"))
                } else if of_weight != chips {
                    refuse("W", w, format!("split rows {chips} ways"))
                } else {
                    Ok(Sharding::Partial)
                }
            }
            (
                Sharding::Split { axis: Axis::Columns, parts },
                Sharding::Whole | Sharding::Split { axis: Axis::Columns, .. } | Sharding::Partial,
            ) => refuse("W", w, format!("split rows {parts} ways, as `{}` is split by columns", x.name)),
            (
                Sharding::Whole | Sharding::Split { axis: Axis::Columns, .. },
                Sharding::Split { axis: Axis::Experts, .. },
            ) => refuse("W", w, "whole or split by rows or columns".to_owned()),
            (Sharding::Whole, Sharding::Partial) => refuse("W", w, "whole or split".to_owned()),
            (Sharding::Split { axis: Axis::Rows | Axis::Experts, .. } | Sharding::Partial, _) => {
                refuse("x", x, "whole or split columns".to_owned())
            }
        }
    }

    const MACS_OF: MacsOf = MacsOf::Weights;

    fn macs(&self, operands: Operands<'_>, result: Shape, _: u32) -> Option<u64> {
        product(&[result.rows, operands.at(0).shape.cols, result.cols])
    }
}

impl Evaluate for MatMul {
    fn evaluate(&self, chips: &mut Chips<'_>) -> Vec<Data> {
        chips.each(|chip| matrix_product(chip.real(0), chip.real(1)))
    }
}

impl Lower for MatMul {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        let (x, w) = (bound.operands[0], bound.operands[1]);
        let storage = net.value(w).storage;
        let (inputs, outputs) = (net.cx.rows(w), net.cx.cols(w));
        let passes = net.passes(net.rows);
        let port = net.weight_port();
        if net.is_from_product(x) {
            // B: the operand streams in as K tiles; the whole output of a group stays in the array until the last one.
            let tile = net.tile(x);
            let bytes = matrix_bytes(tile, outputs, storage);
            let load = net.load(0, w, net.tiles(x), bytes);
            let work = Work { a: net.columns(outputs), b: tile, base: passes };
            let gemm = net.compute(1, Primitive::GemmB, net.tiles(x) * net.groups, work, Emission::Whole);
            net.feed(gemm, x, Want::Stream(1))?;
            net.feed_loaded(gemm, load, port)?;
            net.emit(bound.result, gemm);
        } else {
            // A: the operand is held and output tiles stream out, so that what follows starts at the first of them.
            let tile = net.tile(bound.result);
            let bytes = matrix_bytes(inputs, tile, storage);
            let load = net.load(0, w, net.tiles(bound.result), bytes);
            let work = Work { a: net.columns(tile), b: inputs, base: passes };
            let firings = net.tiles(bound.result) * net.groups;
            let gemm = net.compute(1, Primitive::GemmA, firings, work, Emission::Stream(1));
            net.feed(gemm, x, Want::Hold)?;
            net.feed_loaded(gemm, load, port)?;
            net.emit(bound.result, gemm);
            net.mark_from_product(bound.result, true);
        }
        Ok(())
    }
}

#[cfg(any(test, feature = "simulate"))]
mod fire {
    use super::MatMul;
    use crate::reference::{Data, Matrix};
    use crate::simulate::machine::{Fire, Firing, Trouble};
    use crate::spatial::Primitive;
    use std::sync::Arc;

    impl Fire for MatMul {
        fn fire(&self, firing: &mut Firing<'_>) -> Result<(), Trouble> {
            let (x, w) = (firing.operand(0)?, firing.operand(1)?);
            let n = firing.within();
            match (firing.primitive, firing.feeds) {
                (Primitive::Load, Some(Primitive::GemmA)) => {
                    let columns = firing.tile_columns(firing.result, firing.index);
                    firing.load_weight(w, 0..usize::MAX, columns)
                }
                (Primitive::Load, _) => {
                    let rows = firing.tile_columns(x, firing.index);
                    firing.load_weight(w, rows, 0..usize::MAX)
                }
                (Primitive::GemmA, _) => {
                    let x = firing.held(0)?;
                    let mut y = Matrix::zeros(x.rows(), firing.tile_columns(firing.result, n).len());
                    firing.weight(1, n)?.add_product(&x, &mut y);
                    firing.emit(Data::Real(Arc::new(y)));
                    Ok(())
                }
                (Primitive::GemmB, _) => {
                    let x = firing.real(0)?;
                    if n == 0 {
                        let columns = firing.cols(firing.result);
                        firing.memory.matrices = vec![Matrix::zeros(x.rows(), columns)];
                    }
                    let mut sum = firing.memory.matrices.pop().ok_or(Trouble::Absent { what: "sum" })?;
                    firing.weight(1, n)?.add_product(&x, &mut sum);
                    if firing.is_last() {
                        firing.emit(Data::Real(Arc::new(sum)));
                    } else {
                        firing.memory.matrices.push(sum);
                    }
                    Ok(())
                }
                _ => Err(Trouble::Part { part: firing.part }),
            }
        }
    }
}
