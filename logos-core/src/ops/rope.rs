//! See [`RopeOp`].

use super::element_wise::{head_columns, head_wise_sharding, rest_whole};
use super::form::{AttributeKind, Form, OperandKind, Piece, attribute, operand};
use super::heads::HeadFirings;
use super::operation::{Operands, Operation, Words, expect_shape};
use crate::language::ast::{Element, Origin, Recipe, Role, Shape, Sharding, Value};
use crate::language::error::Problem;
use crate::lower::{Bound, Lower, LowerError, Net, Want, storage_bytes};
use crate::reference::{Chips, Data, Evaluate, each_group};
use crate::spatial::{Emission, Primitive};
use crate::spec::Pairing;

/// Rotary embedding of each head.
///
/// # Operands
/// `x: [m, n]`, tables `cos, sin: [m, rotary / 2]`.
/// # Text
/// `rope of x with cos and sin, heads 24, rotary 64, halves`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RopeOp {
    /// Heads (whole count).
    pub heads: u32,
    /// Columns of a head that rotate; the rest pass.
    pub rotary: u32,
    /// Which columns turn together.
    pub pairing: Pairing,
}

/// Cosines and sines of different angles would turn nothing.
fn same_recipe(cos: &Value, sin: &Value) -> Result<(), Problem> {
    match (&cos.origin, &sin.origin) {
        (Origin::Declared(Role::Table(Recipe::Rope(of_cos))), Origin::Declared(Role::Table(Recipe::Rope(of_sin))))
            if (of_cos.theta, of_cos.rotary, &of_cos.scaling) == (of_sin.theta, of_sin.rotary, &of_sin.scaling) =>
        {
            Ok(())
        }
        _ => Err(Problem::OperandKind {
            operand: "sin",
            name: sin.name.as_str().into(),
            expected: "a table of the cosines' own recipe",
            found: "a table of another",
        }),
    }
}

impl Operation for RopeOp {
    const CODE: u32 = logos_bundle::table::layout::op::ROPE;
    const FORM: Form = Form {
        name: "rope",
        operands: &[
            operand("x", OperandKind::Value),
            operand("cos", OperandKind::Cosines),
            operand("sin", OperandKind::Sines),
        ],
        optional: &[],
        text: &[
            Piece::Word("rope"),
            Piece::Word("of"),
            Piece::Operand(0),
            Piece::Word("with"),
            Piece::Operand(1),
            Piece::Word("and"),
            Piece::Operand(2),
        ],
        attributes: &[
            attribute("heads", 0, AttributeKind::Count),
            attribute("rotary", 1, AttributeKind::Count),
            attribute("pairing", 2, AttributeKind::Choice(["halves", "adjacent"])),
        ],
        result: Element::Real,
    };

    fn attributes(&self) -> Words {
        let pairing = match self.pairing {
            Pairing::Halves => 0,
            Pairing::Adjacent => 1,
        };
        [self.heads, self.rotary, pairing, 0, 0, 0]
    }

    fn from_attributes(words: Words) -> Self {
        let pairing = if words[2] == 0 { Pairing::Halves } else { Pairing::Adjacent };
        RopeOp { heads: words[0], rotary: words[1], pairing }
    }

    fn shape(&self, operands: Operands<'_>) -> Result<Shape, Problem> {
        let x = operands.at(0);
        let width = head_columns("x", x, self.heads)?;
        if self.rotary > width || !self.rotary.is_multiple_of(2) {
            return Err(Problem::Attribute {
                name: "rotary",
                expected: format!("even and at most {width}, the columns of a head").into(),
                found: self.rotary.to_string().into(),
            });
        }
        let table = Shape::matrix(x.shape.rows, self.rotary / 2);
        expect_shape("cos", operands.at(1), table)?;
        expect_shape("sin", operands.at(2), table)?;
        same_recipe(operands.at(1), operands.at(2))?;
        Ok(x.shape)
    }

    fn sharding(&self, operands: Operands<'_>) -> Result<Sharding, Problem> {
        rest_whole(Self::FORM.name, &["x", "cos", "sin"], 1, operands)?;
        head_wise_sharding(Self::FORM.name, self.heads, operands)
    }
}

impl Evaluate for RopeOp {
    fn evaluate(&self, chips: &mut Chips<'_>) -> Vec<Data> {
        chips.each(|chip| {
            let (x, cos, sin) = (chip.real(0), chip.real(1), chip.real(2));
            let (width, half) = (chip.head_columns(0, self.heads), self.rotary as usize / 2);
            let heads = x.cols() / width;
            let mut head = 0;
            each_group(x, width, |x, y| {
                let row = head / heads;
                head += 1;
                y.copy_from_slice(x);
                for (m, (cos, sin)) in cos.row(row).iter().zip(sin.row(row)).enumerate() {
                    let (a, b) = match self.pairing {
                        Pairing::Halves => (m, m + half),
                        Pairing::Adjacent => (2 * m, 2 * m + 1),
                    };
                    y[a] = x[a] * cos - x[b] * sin;
                    y[b] = x[b] * cos + x[a] * sin;
                }
            })
        })
    }
}

impl Lower for RopeOp {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        let (x, cos, sin) = (bound.operands[0], bound.operands[1], bound.operands[2]);
        let head = HeadFirings::of(net, x, self.heads);
        let mut load = |part, table| {
            let bytes = storage_bytes(net.rows * net.cx.cols(table), net.value(table).storage);
            net.load(part, table, net.groups, bytes)
        };
        let (cosines, sines) = (load(0, cos), load(1, sin));
        let map =
            net.compute(2, Primitive::Map, head.firings, net.lanes(head.columns, 4), Emission::Stream(head.tokens));
        net.feed(map, x, Want::Stream(u64::from(head.tokens)))?;
        net.feed_loaded(map, cosines, Want::Hold)?;
        net.feed_loaded(map, sines, Want::Hold)?;
        net.emit(bound.result, map);
        net.mark_from_product(bound.result, net.is_from_product(x));
        Ok(())
    }
}

#[cfg(any(test, feature = "simulate"))]
mod fire {
    use super::RopeOp;
    use crate::ops::form::MAX_OPERANDS;
    use crate::reference::Data;
    use crate::simulate::machine::{Fire, Firing, Trouble};

    impl Fire for RopeOp {
        fn fire(&self, firing: &mut Firing<'_>) -> Result<(), Trouble> {
            if firing.part < 2 {
                let table = firing.operand(firing.part as usize + 1)?;
                return firing.load_table(table);
            }
            let x = firing.joined(0)?;
            let (cos, sin) = (Data::Real(firing.held(1)?), Data::Real(firing.held(2)?));
            let mut data = [None; MAX_OPERANDS];
            (data[0], data[1], data[2]) = (Some(&x), Some(&cos), Some(&sin));
            let result = firing.evaluate(self, data, None)?;
            firing.emit(result);
            Ok(())
        }
    }
}
