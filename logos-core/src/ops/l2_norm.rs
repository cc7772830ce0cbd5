//! See [`L2Norm`].

use super::element_wise::{head_columns, head_wise_sharding};
use super::form::{AttributeKind, Form, OperandKind, Piece, Range, attribute, operand};
use super::norm::lower_head_norm;
use super::operation::{Operands, Operation, Words};
use crate::language::ast::{Element, Shape, Sharding};
use crate::language::error::Problem;
use crate::lower::{Bound, Lower, LowerError, Net};
use crate::reference::{Chips, Data, Evaluate, each_group};

/// `x / sqrt(sum(x²) + eps) * scale` of each head.
///
/// # Operands
/// `x: [m, n]`.
/// # Text
/// `l2norm of x, heads 16, eps 1e-6, scale 0.0883883461`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct L2Norm {
    /// Added under the root.
    pub eps: f32,
    /// Factor on the result.
    pub scale: f32,
    /// Heads (whole count).
    pub heads: u32,
}

impl Operation for L2Norm {
    const CODE: u32 = logos_bundle::table::layout::op::L2NORM;
    const FORM: Form = Form {
        name: "l2norm",
        operands: &[operand("x", OperandKind::Value)],
        optional: &[],
        text: &[Piece::Word("l2norm"), Piece::Word("of"), Piece::Operand(0)],
        attributes: &[
            attribute("heads", 2, AttributeKind::Count),
            attribute("eps", 0, AttributeKind::Real(Range::NonNegative)),
            attribute("scale", 1, AttributeKind::Real(Range::Any)),
        ],
        result: Element::Real,
    };

    fn attributes(&self) -> Words {
        [self.eps.to_bits(), self.scale.to_bits(), self.heads, 0, 0, 0]
    }

    fn from_attributes(words: Words) -> Self {
        L2Norm { eps: f32::from_bits(words[0]), scale: f32::from_bits(words[1]), heads: words[2] }
    }

    fn shape(&self, operands: Operands<'_>) -> Result<Shape, Problem> {
        head_columns("x", operands.at(0), self.heads)?;
        Ok(operands.at(0).shape)
    }

    fn sharding(&self, operands: Operands<'_>) -> Result<Sharding, Problem> {
        head_wise_sharding(Self::FORM.name, self.heads, operands)
    }
}

impl Evaluate for L2Norm {
    fn evaluate(&self, chips: &mut Chips<'_>) -> Vec<Data> {
        chips.each(|chip| {
            each_group(chip.real(0), chip.head_columns(0, self.heads), |x, y| {
                let squares = x.iter().fold(0.0, |sum, x| sum + x * x);
                let factor = self.scale / (squares + self.eps).sqrt();
                for (x, y) in x.iter().zip(y) {
                    *y = x * factor;
                }
            })
        })
    }
}

impl Lower for L2Norm {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        lower_head_norm(net, bound, self.heads)
    }
}

#[cfg(any(test, feature = "simulate"))]
mod fire {
    use super::L2Norm;
    use crate::ops::map::fire_map;
    use crate::simulate::machine::{Fire, Firing, Trouble};

    impl Fire for L2Norm {
        fn fire(&self, firing: &mut Firing<'_>) -> Result<(), Trouble> {
            fire_map(self, firing)
        }
    }
}
