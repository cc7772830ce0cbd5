//! See [`RmsNorm`].

use super::element_wise::{norm_shape, norm_sharding};
use super::form::{AttributeKind, Form, OperandKind, Piece, Range, attribute, operand};
use super::norm::{lower_head_norm, lower_row_norm};
use super::operation::{Operands, Operation, Words};
use crate::language::ast::{Element, Shape, Sharding};
use crate::language::error::Problem;
use crate::lower::{Bound, Lower, LowerError, Net};
use crate::reference::{Chips, Data, Evaluate, each_group};

/// Root-mean-square normalisation of a row, or of each head of it.
///
/// `y = x / sqrt(mean(x²) + eps) * (offset + w)`, summed in f32.
///
/// # Operands
/// `x: [m, n]`, optionally a weight `w: [1, n]`, or, where `heads > 0`, `[1, n / heads]` or `[heads, n / heads]`, a row for each.
/// # Text
/// `rmsnorm of x with weight w, eps 1e-6`, `..., offset 1`, `..., heads 24`
/// # Source
/// Zhang and Sennrich 2019, arXiv:1910.07467
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RmsNorm {
    /// Added under the root, in units of x².
    pub eps: f32,
    /// Added to the weight: 0 or 1.
    pub offset: f32,
    /// Heads normalised apart (whole count); 0: the whole row.
    pub heads: u32,
}

impl Operation for RmsNorm {
    const CODE: u32 = logos_bundle::table::layout::op::RMSNORM;
    const FORM: Form = Form {
        name: "rmsnorm",
        operands: &[operand("x", OperandKind::Value), operand("weight", OperandKind::Weight)],
        optional: &[&[1]],
        text: &[
            Piece::Word("rmsnorm"),
            Piece::Word("of"),
            Piece::Operand(0),
            Piece::Optional(0, &[Piece::Word("with"), Piece::Word("weight"), Piece::Operand(1)]),
        ],
        attributes: &[
            attribute("eps", 0, AttributeKind::Real(Range::NonNegative)),
            attribute("offset", 1, AttributeKind::OptionalReal(Range::Any)),
            attribute("heads", 2, AttributeKind::OptionalCount),
        ],
        result: Element::Real,
    };

    fn attributes(&self) -> Words {
        [self.eps.to_bits(), self.offset.to_bits(), self.heads, 0, 0, 0]
    }

    fn from_attributes(words: Words) -> Self {
        RmsNorm { eps: f32::from_bits(words[0]), offset: f32::from_bits(words[1]), heads: words[2] }
    }

    fn shape(&self, operands: Operands<'_>) -> Result<Shape, Problem> {
        norm_shape(self.heads, &["x", "weight"], operands)
    }

    fn sharding(&self, operands: Operands<'_>) -> Result<Sharding, Problem> {
        norm_sharding(Self::FORM.name, self.heads, &["x", "weight"], operands)
    }
}

impl Evaluate for RmsNorm {
    fn evaluate(&self, chips: &mut Chips<'_>) -> Vec<Data> {
        chips.each(|chip| {
            let (x, weights) = (chip.real(0), chip.optional(1));
            let mut group = 0;
            each_group(x, chip.head_columns(0, self.heads), |x, y| {
                // A chip's heads follow one another row by row, and so do their weights' rows.
                let weight = weights.map(|w| w.row(group % w.rows()));
                group += 1;
                let squares = x.iter().fold(0.0, |sum, x| sum + x * x);
                let root = (squares / x.len() as f32 + self.eps).sqrt();
                for (i, y) in y.iter_mut().enumerate() {
                    *y = x[i] / root * weight.map_or(1.0, |w| self.offset + w[i]);
                }
            })
        })
    }
}

impl Lower for RmsNorm {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        if self.heads == 0 { lower_row_norm(net, bound) } else { lower_head_norm(net, bound, self.heads) }
    }
}

#[cfg(any(test, feature = "simulate"))]
mod fire {
    use super::RmsNorm;
    use crate::ops::norm::fire_head_norm;
    use crate::reference::Data;
    use crate::simulate::machine::{Fire, Firing, Trouble};
    use std::sync::Arc;

    impl Fire for RmsNorm {
        fn fire(&self, firing: &mut Firing<'_>) -> Result<(), Trouble> {
            if self.heads > 0 {
                return fire_head_norm(self, self.heads, firing);
            }
            let n = firing.within();
            match firing.part {
                0 => {
                    let x = firing.real(0)?;
                    let sums = firing.memory_of_group(x.rows(), 1);
                    for row in 0..x.rows() {
                        sums.row_mut(row)[0] += x.row(row).iter().fold(0.0, |sum, x| sum + x * x);
                    }
                    firing.pass_group()
                }
                3 => {
                    let (x, sums) = (firing.real(0)?, firing.held(1)?);
                    let weight = if firing.has_port(2) { Some(firing.row(2, n)?) } else { None };
                    let columns = firing.cols(firing.operand(0)?) as f32;
                    let mut y = (*x).clone();
                    for row in 0..x.rows() {
                        let root = (sums.row(row)[0] / columns + self.eps).sqrt();
                        for (i, y) in y.row_mut(row).iter_mut().enumerate() {
                            *y = *y / root * weight.as_ref().map_or(1.0, |w| self.offset + w.row(0)[i]);
                        }
                    }
                    firing.emit(Data::Real(Arc::new(y)));
                    Ok(())
                }
                part @ (1 | 2) => {
                    let weight = firing.operand(part as usize)?;
                    firing.load_rows(weight, firing.operand(0)?, firing.index)
                }
                part => Err(Trouble::Part { part }),
            }
        }
    }
}
