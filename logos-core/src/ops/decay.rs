//! See [`Decay`].

use super::element_wise::{equal_shape, equal_sharding};
use super::form::{Form, OperandKind, Piece, operand};
use super::operation::{Operands, Operation, Words};
use crate::language::ast::{Element, Shape, Sharding};
use crate::language::error::Problem;
use crate::lower::{Bound, Lower, LowerError, Net, Want, storage_bytes};
use crate::reference::{Chips, Data, Evaluate, each_group};
use crate::spatial::{Emission, Primitive};

/// `exp(-exp(A_log) * softplus(a + dt_bias))`.
///
/// # Operands
/// `a: [m, n]`, `A_log, dt_bias: [1, n]`.
/// # Text
/// `decay of a with rate A and bias dt`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decay;

const NAMES: [&str; 3] = ["a", "A_log", "dt_bias"];

impl Operation for Decay {
    const CODE: u32 = logos_bundle::table::layout::op::DECAY;
    const FORM: Form = Form {
        name: "decay",
        operands: &[
            operand(NAMES[0], OperandKind::Value),
            operand(NAMES[1], OperandKind::Weight),
            operand(NAMES[2], OperandKind::Weight),
        ],
        optional: &[],
        text: &[
            Piece::Word("decay"),
            Piece::Word("of"),
            Piece::Operand(0),
            Piece::Word("with"),
            Piece::Word("rate"),
            Piece::Operand(1),
            Piece::Word("and"),
            Piece::Word("bias"),
            Piece::Operand(2),
        ],
        attributes: &[],
        result: Element::Real,
    };

    fn attributes(&self) -> Words {
        [0; 6]
    }

    fn from_attributes(_: Words) -> Self {
        Decay
    }

    fn shape(&self, operands: Operands<'_>) -> Result<Shape, Problem> {
        equal_shape(&NAMES, operands)
    }

    fn sharding(&self, operands: Operands<'_>) -> Result<Sharding, Problem> {
        equal_sharding(Self::FORM.name, &NAMES, operands)
    }
}

impl Evaluate for Decay {
    fn evaluate(&self, chips: &mut Chips<'_>) -> Vec<Data> {
        chips.each(|chip| {
            let (a, rate, bias) = (chip.real(0), chip.real(1).row(0), chip.real(2).row(0));
            each_group(a, a.cols(), |a, g| {
                for (i, g) in g.iter_mut().enumerate() {
                    *g = (-rate[i].exp() * softplus(a[i] + bias[i])).exp();
                }
            })
        })
    }
}

/// `ln(1 + exp(a))`, exact where `exp(a)` would overflow.
fn softplus(a: f32) -> f32 {
    a.max(0.0) + (-a.abs()).exp().ln_1p()
}

impl Lower for Decay {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        let a = bound.operands[0];
        let (tile, tiles) = (net.tile(a), net.tiles(a));
        let mut load = |part, weight| {
            let bytes = storage_bytes(tile, net.value(weight).storage);
            net.load(part, weight, tiles, bytes)
        };
        let loads = [load(0, bound.operands[1]), load(1, bound.operands[2])];
        let map = net.compute(2, Primitive::Map, tiles * net.groups, net.lanes(tile, 8), Emission::Stream(1));
        net.feed(map, a, Want::Stream(1))?;
        for stage in loads {
            net.feed_loaded(map, stage, net.weight_port())?;
        }
        net.emit(bound.result, map);
        net.mark_from_product(bound.result, net.is_from_product(a));
        Ok(())
    }
}

#[cfg(any(test, feature = "simulate"))]
mod fire {
    use super::Decay;
    use crate::ops::form::MAX_OPERANDS;
    use crate::simulate::machine::{Fire, Firing, Trouble};

    impl Fire for Decay {
        fn fire(&self, firing: &mut Firing<'_>) -> Result<(), Trouble> {
            let a = firing.operand(0)?;
            if firing.part < 2 {
                let weight = firing.operand(firing.part as usize + 1)?;
                return firing.load_rows(weight, a, firing.index);
            }
            let n = firing.within();
            let (a, rate, bias) = (firing.joined(0)?, firing.numbers(1, n)?, firing.numbers(2, n)?);
            let mut data = [None; MAX_OPERANDS];
            (data[0], data[1], data[2]) = (Some(&a), Some(&rate), Some(&bias));
            let result = firing.evaluate(self, data, None)?;
            firing.emit(result);
            Ok(())
        }
    }
}
