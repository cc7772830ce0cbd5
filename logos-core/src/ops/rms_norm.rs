//! See [`RmsNorm`].

use super::element_wise::{norm_shape, norm_sharding};
use super::form::{AttributeKind, Form, OperandKind, Piece, Range, attribute, operand};
use super::norm::{lower_head_norm, lower_row_norm};
use super::operation::{Operands, Operation, Words, expect_sharding, wrong_sharding};
use crate::language::ast::{Axis, Element, Shape, Sharding};
use crate::language::error::Problem;
use crate::lower::{Bound, Lower, LowerError, Net};
use crate::reference::{Chips, Data, Evaluate, each_group};

/// Root-mean-square normalisation of a row, or of each head of it.
///
/// `y = x / sqrt(mean(x²) + eps) * (offset + w)`, summed in f32. Over chips, each of them adds up the squares of the columns it
/// holds, and the mean is that of all chips' columns: where groups of chips hold the same columns, each of the row's is
/// counted as often as any other.
///
/// # Operands
/// `x: [m, n]`, optionally a weight `w: [1, n]`, or, where `heads > 0`, `[1, n / heads]` or `[heads, n / heads]`, a row for each.
/// Over chips `x` is split by columns, and `w: [1, n]` alike.
/// # Text
/// `rmsnorm of x with weight w, eps 1e-6`, `..., offset 1`, `..., heads 24`, `..., over chips`
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
    /// Whether the row lies over the chips, which sum its squares; of whole rows only.
    pub over_chips: bool,
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
            attribute("over chips", 3, AttributeKind::Flag),
        ],
        result: Element::Real,
    };

    fn attributes(&self) -> Words {
        [self.eps.to_bits(), self.offset.to_bits(), self.heads, u32::from(self.over_chips), 0, 0]
    }

    fn from_attributes(words: Words) -> Self {
        RmsNorm {
            eps: f32::from_bits(words[0]),
            offset: f32::from_bits(words[1]),
            heads: words[2],
            over_chips: words[3] != 0,
        }
    }

    fn shape(&self, operands: Operands<'_>) -> Result<Shape, Problem> {
        if self.over_chips && self.heads > 0 {
            let expected = "left out where heads are normalised apart".into();
            return Err(Problem::Attribute {
                name: "over chips",
                expected,
                found: format!("heads {}", self.heads).into(),
            });
        }
        norm_shape(self.heads, &["x", "weight"], operands)
    }

    fn sharding(&self, operands: Operands<'_>) -> Result<Sharding, Problem> {
        if self.over_chips {
            return spread_sharding(Self::FORM.name, operands);
        }
        norm_sharding(Self::FORM.name, self.heads, &["x", "weight"], operands)
    }
}

/// The sharding of a norm whose rows lie over the chips: columns, the weight's alike.
fn spread_sharding(op: &'static str, operands: Operands<'_>) -> Result<Sharding, Problem> {
    let x = operands.at(0);
    if !matches!(x.sharding, Sharding::Split { axis: Axis::Columns, .. }) {
        return Err(wrong_sharding(op, "x", x, "split columns, as the norm is over chips"));
    }
    if let Some(weight) = operands.get(1) {
        expect_sharding(op, "weight", weight, x.sharding)?;
    }
    Ok(x.sharding)
}

/// Sum of the squares of a row's columns.
fn squares(row: &[f32]) -> f32 {
    row.iter().fold(0.0, |sum, x| sum + x * x)
}

impl Evaluate for RmsNorm {
    fn evaluate(&self, chips: &mut Chips<'_>) -> Vec<Data> {
        if self.over_chips {
            let shares = chips.all(0);
            let columns: usize = shares.iter().map(|share| share.cols()).sum();
            let all = |row| shares.iter().fold(0.0, |sum, share| sum + squares(share.row(row)));
            let roots: Vec<f32> =
                (0..shares[0].rows()).map(|row| (all(row) / columns as f32 + self.eps).sqrt()).collect();
            return chips.each(|chip| {
                let (mut y, weight) = (chip.real(0).clone(), chip.optional(1));
                for (row, root) in roots.iter().enumerate() {
                    self.scale(y.row_mut(row), *root, weight.map(|weight| weight.row(0)));
                }
                y
            });
        }
        chips.each(|chip| {
            let (x, weights) = (chip.real(0), chip.optional(1));
            let mut group = 0;
            each_group(x, chip.head_columns(0, self.heads), |x, y| {
                // A chip's heads follow one another row by row, and so do their weights' rows.
                let weight = weights.map(|w| w.row(group % w.rows()));
                group += 1;
                y.copy_from_slice(x);
                self.scale(y, (squares(x) / x.len() as f32 + self.eps).sqrt(), weight);
            })
        })
    }
}

impl RmsNorm {
    /// Columns of a row over its root, times their weights.
    fn scale(&self, columns: &mut [f32], root: f32, weight: Option<&[f32]>) {
        for (i, y) in columns.iter_mut().enumerate() {
            *y = *y / root * weight.map_or(1.0, |w| self.offset + w[i]);
        }
    }
}

impl Lower for RmsNorm {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        if self.heads == 0 {
            lower_row_norm(net, bound, self.over_chips)
        } else {
            lower_head_norm(net, bound, self.heads)
        }
    }
}

#[cfg(any(test, feature = "simulate"))]
mod fire {
    use super::{RmsNorm, squares};
    use crate::ops::norm::fire_head_norm;
    use crate::ops::sum_over_chips::sum_of;
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
                        sums.row_mut(row)[0] += squares(x.row(row));
                    }
                    firing.pass_group()
                }
                3 => {
                    let (x, sums) = (firing.real(0)?, firing.held(1)?);
                    let weight = if firing.has_port(2) { Some(firing.row(2, n)?) } else { None };
                    let chips = if self.over_chips { firing.program.chips as usize } else { 1 };
                    let columns = (firing.cols(firing.operand(0)?) * chips) as f32;
                    let mut y = (*x).clone();
                    for row in 0..x.rows() {
                        let root = (sums.row(row)[0] / columns + self.eps).sqrt();
                        self.scale(y.row_mut(row), root, weight.as_ref().map(|weight| weight.row(0)));
                    }
                    firing.emit(Data::Real(Arc::new(y)));
                    Ok(())
                }
                1 => {
                    let weight = firing.operand(1)?;
                    firing.load_rows(weight, firing.operand(0)?, firing.index)
                }
                part => Err(Trouble::Part { part }),
            }
        }

        /// The chips' sums of squares.
        fn combine(&self, part: u32, chips: &[Data]) -> Result<Data, Trouble> {
            sum_of(part, chips)
        }
    }
}
