//! See [`LayerNorm`].

use super::element_wise::{norm_shape, norm_sharding};
use super::form::{AttributeKind, Form, OperandKind, Piece, Range, attribute, operand};
use super::norm::{lower_head_norm, lower_row_norm};
use super::operation::{Operands, Operation, Words};
use crate::language::ast::{Element, Shape, Sharding};
use crate::language::error::Problem;
use crate::lower::{Bound, Lower, LowerError, Net};
use crate::reference::{Chips, Data, Evaluate, each_group};

/// Layer normalisation of a row, or of each head of it.
///
/// `y = (x - mean) / sqrt(var + eps) * w + b`, population variance.
///
/// # Operands
/// `x: [m, n]`, optionally `w: [1, n]` (heads: `[1, n / heads]`, or `[heads, n / heads]`, a row for each), and with it optionally
/// `b` alike.
/// # Text
/// `layernorm of x with weight w and bias b, eps 1e-5`; `layernorm of x, eps 1e-5`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayerNorm {
    /// Added under the root.
    pub eps: f32,
    /// Heads normalised apart (whole count); 0: the whole row.
    pub heads: u32,
}

impl Operation for LayerNorm {
    const CODE: u32 = logos_bundle::table::layout::op::LAYERNORM;
    const FORM: Form = Form {
        name: "layernorm",
        operands: &[
            operand("x", OperandKind::Value),
            operand("weight", OperandKind::Weight),
            operand("bias", OperandKind::Weight),
        ],
        optional: &[&[1], &[2]],
        text: &[
            Piece::Word("layernorm"),
            Piece::Word("of"),
            Piece::Operand(0),
            Piece::Optional(
                0,
                &[
                    Piece::Word("with"),
                    Piece::Word("weight"),
                    Piece::Operand(1),
                    Piece::Optional(1, &[Piece::Word("and"), Piece::Word("bias"), Piece::Operand(2)]),
                ],
            ),
        ],
        attributes: &[
            attribute("eps", 0, AttributeKind::Real(Range::NonNegative)),
            attribute("heads", 1, AttributeKind::OptionalCount),
        ],
        result: Element::Real,
    };

    fn attributes(&self) -> Words {
        [self.eps.to_bits(), self.heads, 0, 0, 0, 0]
    }

    fn from_attributes(words: Words) -> Self {
        LayerNorm { eps: f32::from_bits(words[0]), heads: words[1] }
    }

    fn shape(&self, operands: Operands<'_>) -> Result<Shape, Problem> {
        norm_shape(self.heads, &["x", "weight", "bias"], operands)
    }

    fn sharding(&self, operands: Operands<'_>) -> Result<Sharding, Problem> {
        norm_sharding(Self::FORM.name, self.heads, &["x", "weight", "bias"], operands)
    }
}

impl Evaluate for LayerNorm {
    fn evaluate(&self, chips: &mut Chips<'_>) -> Vec<Data> {
        chips.each(|chip| {
            let (x, width) = (chip.real(0), chip.head_columns(0, self.heads));
            let (weights, biases) = (chip.optional(1), chip.optional(2));
            let mut group = 0;
            each_group(x, width, |x, y| {
                let [weight, bias] = [weights, biases].map(|w| w.map(|w| w.row(group % w.rows())));
                group += 1;
                let count = x.len() as f32;
                let mean = x.iter().fold(0.0, |sum, x| sum + x) / count;
                let variance = x.iter().fold(0.0, |sum, x| sum + (x - mean) * (x - mean)) / count;
                let root = (variance + self.eps).sqrt();
                for (i, y) in y.iter_mut().enumerate() {
                    *y = (x[i] - mean) / root * weight.map_or(1.0, |w| w[i]) + bias.map_or(0.0, |b| b[i]);
                }
            })
        })
    }
}

impl Lower for LayerNorm {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        if self.heads == 0 { lower_row_norm(net, bound, false) } else { lower_head_norm(net, bound, self.heads) }
    }
}

#[cfg(any(test, feature = "simulate"))]
mod fire {
    use super::LayerNorm;
    use crate::ops::norm::fire_head_norm;
    use crate::reference::Data;
    use crate::simulate::machine::{Fire, Firing, Trouble};
    use std::sync::Arc;

    impl Fire for LayerNorm {
        fn fire(&self, firing: &mut Firing<'_>) -> Result<(), Trouble> {
            if self.heads > 0 {
                return fire_head_norm(self, self.heads, firing);
            }
            let n = firing.within();
            match firing.part {
                0 => {
                    // Count, mean and sum of squared distances of the tiles so far, merged tile by tile (Chan et al. 1979): no
                    // difference of large sums.
                    let x = firing.real(0)?;
                    let state = firing.memory_of_group(x.rows(), 3);
                    for row in 0..x.rows() {
                        let tile = x.row(row);
                        let count = tile.len() as f32;
                        let mean = tile.iter().fold(0.0, |sum, x| sum + x) / count;
                        let squares = tile.iter().fold(0.0, |sum, x| sum + (x - mean) * (x - mean));
                        let [n, m, s] = state.row_mut(row) else { continue };
                        let (all, distance) = (*n + count, mean - *m);
                        *s += squares + distance * distance * *n * count / all;
                        *m += distance * count / all;
                        *n = all;
                    }
                    firing.pass_group()
                }
                3 => {
                    let (x, state) = (firing.real(0)?, firing.held(1)?);
                    let weight = if firing.has_port(2) { Some(firing.row(2, n)?) } else { None };
                    let bias = if firing.has_port(3) { Some(firing.row(3, n)?) } else { None };
                    let mut y = (*x).clone();
                    for row in 0..x.rows() {
                        let [n, mean, squares] = state.row(row) else { continue };
                        let root = (squares / n + self.eps).sqrt();
                        for (i, y) in y.row_mut(row).iter_mut().enumerate() {
                            let factor = weight.as_ref().map_or(1.0, |w| w.row(0)[i]);
                            *y = (*y - mean) / root * factor + bias.as_ref().map_or(0.0, |b| b.row(0)[i]);
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
