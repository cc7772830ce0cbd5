//! See [`Gelu`].

use super::element_wise::{OnPartial, unary_shape, unary_sharding};
use super::form::{AttributeKind, Form, OperandKind, Piece, attribute, operand};
use super::map::lower_map;
use super::operation::{Operands, Operation, Words};
use crate::language::ast::{Element, Shape, Sharding};
use crate::language::error::Problem;
use crate::lower::{Bound, Lower, LowerError, Net};
use crate::reference::{Chips, Data, Evaluate};

/// Gaussian error linear unit.
///
/// # Operands
/// `a: [m, n]`.
/// # Text
/// `gelu of a`, `gelu of a, tanh`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gelu {
    /// The tanh form.
    pub tanh: bool,
}

impl Operation for Gelu {
    const CODE: u32 = logos_bundle::table::layout::op::GELU;
    const FORM: Form = Form {
        name: "gelu",
        operands: &[operand("a", OperandKind::Value)],
        optional: &[],
        text: &[Piece::Word("gelu"), Piece::Word("of"), Piece::Operand(0)],
        attributes: &[attribute("tanh", 0, AttributeKind::Flag)],
        result: Element::Real,
    };

    fn attributes(&self) -> Words {
        [u32::from(self.tanh), 0, 0, 0, 0, 0]
    }

    fn from_attributes(words: Words) -> Self {
        Gelu { tanh: words[0] != 0 }
    }

    fn shape(&self, operands: Operands<'_>) -> Result<Shape, Problem> {
        Ok(unary_shape(operands))
    }

    fn sharding(&self, operands: Operands<'_>) -> Result<Sharding, Problem> {
        unary_sharding(Self::FORM.name, OnPartial::Refused, operands)
    }
}

impl Evaluate for Gelu {
    fn evaluate(&self, chips: &mut Chips<'_>) -> Vec<Data> {
        chips.each(|chip| chip.map(|a| gelu(a, self.tanh)))
    }
}

/// `a Φ(a)`, or its tanh form.
pub(super) fn gelu(a: f32, tanh: bool) -> f32 {
    if tanh {
        let root = (2.0 / std::f32::consts::PI).sqrt();
        0.5 * a * (1.0 + (root * (a + 0.044_715 * a * a * a)).tanh())
    } else {
        let a = f64::from(a);
        (0.5 * a * (1.0 + erf(a / std::f64::consts::SQRT_2))) as f32
    }
}

/// The error function, by `2/√π exp(-x²) Σ 2ⁿ x²ⁿ⁺¹ / (1·3···(2n+1))`: all terms have one sign, so none cancel.
fn erf(x: f64) -> f64 {
    if x.abs() > 6.0 {
        // 1 - erf(6) is 2e-17.
        return x.signum();
    }
    let (mut term, mut sum, mut odd) = (x, x, 1.0);
    while term.abs() > sum.abs() * 1e-17 {
        odd += 2.0;
        term *= 2.0 * x * x / odd;
        sum += term;
    }
    std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp() * sum
}

impl Lower for Gelu {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        lower_map(net, bound, 8)
    }
}

#[cfg(any(test, feature = "simulate"))]
mod fire {
    use super::Gelu;
    use crate::ops::map::fire_map;
    use crate::simulate::machine::{Fire, Firing, Trouble};

    impl Fire for Gelu {
        fn fire(&self, firing: &mut Firing<'_>) -> Result<(), Trouble> {
            fire_map(self, firing)
        }
    }
}
