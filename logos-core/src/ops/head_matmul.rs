//! See [`HeadMatMul`].

use super::element_wise::head_columns;
use super::form::{AttributeKind, Form, OperandKind, Piece, attribute, operand};
use super::operation::{MacsOf, Operands, Operation, Words, expect_sharding, product, wrong_shape, wrong_sharding};
use crate::language::ast::{Axis, Element, Shape, Sharding};
use crate::language::error::Problem;
use crate::lower::{Bound, Lower, LowerError, Net, Want, storage_bytes};
use crate::reference::{Chips, Data, Evaluate, Matrix, accumulated};
use crate::spatial::{Emission, Primitive, Work};

/// A matrix product of each head by a block of its own.
///
/// # Operands
/// `x: [m, heads * a]`, `W`, a weight: `[heads * a, b]`, its blocks one under the other (`rows`), or `[a, heads * b]`, side by
/// side (`columns`). Result `[m, heads * b]`.
/// # Text
/// `per head matmul of x by W, heads 16, rows`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeadMatMul {
    /// Heads (whole count).
    pub heads: u32,
    /// The axis of `W` that its blocks lie along.
    pub along: Along,
}

/// The axis of a weight that heads' blocks follow one another along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Along {
    /// Rows.
    Rows,
    /// Columns.
    Columns,
}

impl Along {
    /// The axis, of any value.
    pub const fn axis(self) -> Axis {
        match self {
            Along::Rows => Axis::Rows,
            Along::Columns => Axis::Columns,
        }
    }
}

impl HeadMatMul {
    /// Columns of a head of the result.
    fn width(&self, operands: Operands<'_>) -> Result<u32, Problem> {
        let (x, w) = (operands.at(0), operands.at(1));
        let inner = head_columns("x", x, self.heads)?;
        match self.along {
            Along::Rows if w.shape.rows == x.shape.cols => Ok(w.shape.cols),
            Along::Rows => Err(wrong_shape("W", w, format!("{} rows high, as `{}` is wide", x.shape.cols, x.name))),
            Along::Columns if w.shape.rows == inner => head_columns("W", w, self.heads),
            Along::Columns => Err(wrong_shape("W", w, format!("{inner} rows high, as a head of `{}` is wide", x.name))),
        }
    }
}

impl Operation for HeadMatMul {
    const CODE: u32 = logos_bundle::table::layout::op::HEAD_MATMUL;
    const FORM: Form = Form {
        name: "head matmul",
        operands: &[operand("x", OperandKind::Value), operand("W", OperandKind::Weight)],
        optional: &[],
        text: &[
            Piece::Word("per"),
            Piece::Word("head"),
            Piece::Word("matmul"),
            Piece::Word("of"),
            Piece::Operand(0),
            Piece::Word("by"),
            Piece::Operand(1),
        ],
        attributes: &[
            attribute("heads", 0, AttributeKind::Count),
            attribute("columns or rows", 1, AttributeKind::Choice(["columns", "rows"])),
        ],
        result: Element::Real,
    };

    fn attributes(&self) -> Words {
        let along = match self.along {
            Along::Columns => 0,
            Along::Rows => 1,
        };
        [self.heads, along, 0, 0, 0, 0]
    }

    fn from_attributes(words: Words) -> Self {
        HeadMatMul { heads: words[0], along: if words[1] == 0 { Along::Columns } else { Along::Rows } }
    }

    fn shape(&self, operands: Operands<'_>) -> Result<Shape, Problem> {
        let (x, w) = (operands.at(0), operands.at(1));
        let width = self.width(operands)?;
        if w.storage.in_blocks() {
            return Err(Problem::Attribute {
                name: "stored",
                expected: "f32, f16 or bf16 for the weight of a head matmul".into(),
                found: w.storage.to_string().into(),
            });
        }
        let cols = self.heads.checked_mul(width).ok_or(Problem::Overflow { what: "the result's width" })?;
        Ok(Shape::matrix(x.shape.rows, cols))
    }

    fn sharding(&self, operands: Operands<'_>) -> Result<Sharding, Problem> {
        let (x, w) = (operands.at(0), operands.at(1));
        let of_weight = match x.sharding {
            Sharding::Whole => Sharding::Whole,
            Sharding::Split { axis: Axis::Columns, parts } if self.heads.is_multiple_of(parts.max(1)) => {
                Sharding::Split { axis: self.along.axis(), parts }
            }
            Sharding::Split { .. } | Sharding::Partial => {
                let expected = format!("whole, or split into whole heads, and it has {}", self.heads);
                return Err(wrong_sharding(Self::FORM.name, "x", x, expected));
            }
        };
        expect_sharding(Self::FORM.name, "W", w, of_weight)?;
        Ok(x.sharding)
    }

    const MACS_OF: MacsOf = MacsOf::Weights;

    fn macs(&self, operands: Operands<'_>, result: Shape, _: u32) -> Option<u64> {
        let inner = operands.at(0).shape.cols / self.heads.max(1);
        product(&[result.rows, inner, result.cols])
    }
}

impl Evaluate for HeadMatMul {
    fn evaluate(&self, chips: &mut Chips<'_>) -> Vec<Data> {
        chips.each(|chip| {
            let (x, w) = (chip.real(0), chip.real(1));
            let inner = chip.head_columns(0, self.heads);
            let heads = x.cols() / inner;
            let width = match self.along {
                Along::Rows => w.cols(),
                Along::Columns => w.cols() / heads,
            };
            let mut y = Matrix::zeros(x.rows(), heads * width);
            for row in 0..x.rows() {
                for head in 0..heads {
                    let y = &mut y.row_mut(row)[head * width..(head + 1) * width];
                    for (k, x) in x.row(row)[head * inner..(head + 1) * inner].iter().enumerate() {
                        let block = match self.along {
                            Along::Rows => w.row(head * inner + k),
                            Along::Columns => &w.row(k)[head * width..(head + 1) * width],
                        };
                        for (y, w) in y.iter_mut().zip(block) {
                            *y += x * w;
                        }
                        accumulated(block.len());
                    }
                }
            }
            y
        })
    }
}

impl Lower for HeadMatMul {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        let (x, w) = (bound.operands[0], bound.operands[1]);
        let heads = u64::from(self.heads);
        let inner = u64::from(net.value(x).shape.cols) / heads;
        let width = u64::from(net.value(bound.result).shape.cols) / heads;
        let local = net.cx.cols(x) / inner;
        let tile = net.tile(bound.result);
        if !width.is_multiple_of(tile) {
            return Err(LowerError::Tile { value: net.value(bound.result).name.clone(), one: width, other: tile });
        }
        let bytes = storage_bytes(inner.saturating_mul(width), net.value(w).storage);
        let load = net.load(0, w, local, bytes);
        let work = Work { a: net.columns(width), b: inner, base: net.passes(net.rows) };
        let emission = Emission::Stream((width / tile) as u32);
        let gemm = net.compute(1, Primitive::GemmA, local * net.groups, work, emission);
        net.feed(gemm, x, Want::Hold)?;
        net.feed_loaded(gemm, load, net.weight_port())?;
        net.emit(bound.result, gemm);
        net.mark_from_product(bound.result, true);
        Ok(())
    }
}

#[cfg(any(test, feature = "simulate"))]
mod fire {
    use super::Along;
    use super::HeadMatMul;
    use crate::reference::{Data, Matrix};
    use crate::simulate::machine::{Fire, Firing, Trouble, part_of};
    use crate::spatial::Primitive;
    use std::sync::Arc;

    impl Fire for HeadMatMul {
        fn fire(&self, firing: &mut Firing<'_>) -> Result<(), Trouble> {
            let (x, w) = (firing.operand(0)?, firing.operand(1)?);
            let of_head = |columns: u32| (columns / self.heads) as usize;
            let inner = of_head(firing.program.value(x).shape.cols);
            let width = of_head(firing.program.value(firing.result).shape.cols);
            match firing.primitive {
                Primitive::Load => {
                    let head = firing.index;
                    match self.along {
                        Along::Rows => firing.load_weight(w, head * inner..(head + 1) * inner, 0..usize::MAX),
                        Along::Columns => firing.load_weight(w, 0..usize::MAX, head * width..(head + 1) * width),
                    }
                }
                Primitive::GemmA => {
                    let head = firing.within();
                    let held = firing.held(0)?;
                    let x = part_of(&held, 0..held.rows(), head * inner..(head + 1) * inner);
                    let mut y = Matrix::zeros(x.rows(), width);
                    firing.weight(1, head)?.add_product(&x, &mut y);
                    firing.emit(Data::Real(Arc::new(y)));
                    Ok(())
                }
                _ => Err(Trouble::Part { part: firing.part }),
            }
        }
    }
}
