//! See [`ExpertsOp`].

use super::form::{AttributeKind, Form, OperandKind, Piece, Range, attribute, operand};
use super::gelu::gelu;
use super::operation::{
    MacsOf, Operands, Operation, Words, columns, expect_shape, expect_sharding, product, rows, wrong_shape,
};
use super::sigmoid::sigmoid;
use super::silu::silu;
use crate::language::ast::{Axis, Element, Shape, Sharding, ValueId};
use crate::language::error::Problem;
use crate::lower::{Bound, Lower, LowerError, Net, Slot, Want, matrix_bytes, storage_bytes};
use crate::reference::{Chip, Chips, Data, Evaluate, Matrix, matrix_product_from};
use crate::spatial::{Emission, Primitive, StageId, Work};
use crate::spec::Activation;

/// Each row through the experts that a router chose for it: the sum over them of `score * down(act(gate x) * up x)`.
///
/// # Operands
/// `x: [m, h]`, `r: [m, 2 k]` (a router's result); weights of `E` experts: `gate, up: E of [h, n]`, `down: E of [n, h']`,
/// and either none or all of their biases `E of [1, n]` (gate, up) and `E of [1, h']` (down). Result `[m, h']`. Over several chips
/// each has a part of every expert, or the weights are all split by experts and each has whole ones of its own; the result is partial.
/// # Text
/// `experts of x by r through Wg, Wu and Wd with bg, bu and bd, count 128, top 8, activation silu`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExpertsOp {
    /// Experts, `E`.
    pub count: u32,
    /// Experts a row, `k`.
    pub top: u32,
    /// Activation.
    pub activation: Activation,
    /// Whether the score multiplies the expert's input rather than its output.
    pub on_input: bool,
}

const NAMES: [&str; 8] = ["x", "r", "gate", "up", "down", "gate's bias", "up's bias", "down's bias"];
/// Rows of one expert that pass at a time, at most.
const BLOCK: u64 = 64;

impl Operation for ExpertsOp {
    const CODE: u32 = logos_bundle::table::layout::op::EXPERTS;
    const FORM: Form = Form {
        name: "experts",
        operands: &[
            operand(NAMES[0], OperandKind::Value),
            operand(NAMES[1], OperandKind::Value),
            operand(NAMES[2], OperandKind::Experts),
            operand(NAMES[3], OperandKind::Experts),
            operand(NAMES[4], OperandKind::Experts),
            operand(NAMES[5], OperandKind::Experts),
            operand(NAMES[6], OperandKind::Experts),
            operand(NAMES[7], OperandKind::Experts),
        ],
        optional: &[&[5, 6, 7]],
        text: &[
            Piece::Word("experts"),
            Piece::Word("of"),
            Piece::Operand(0),
            Piece::Word("by"),
            Piece::Operand(1),
            Piece::Word("through"),
            Piece::Operand(2),
            Piece::Comma,
            Piece::Operand(3),
            Piece::Word("and"),
            Piece::Operand(4),
            Piece::Optional(
                0,
                &[
                    Piece::Word("with"),
                    Piece::Operand(5),
                    Piece::Comma,
                    Piece::Operand(6),
                    Piece::Word("and"),
                    Piece::Operand(7),
                ],
            ),
        ],
        attributes: &[
            attribute("count", 0, AttributeKind::Count),
            attribute("top", 1, AttributeKind::Count),
            attribute("activation", 2, AttributeKind::OneOf(&["silu", "gelu", "gelu_tanh", "clamped"])),
            attribute("alpha", 3, AttributeKind::OptionalReal(Range::Positive)),
            attribute("limit", 4, AttributeKind::OptionalReal(Range::Positive)),
            attribute("input scaled", 5, AttributeKind::Flag),
        ],
        result: Element::Real,
    };

    fn attributes(&self) -> Words {
        let (activation, alpha, limit) = match self.activation {
            Activation::Silu => (0, 0, 0),
            Activation::Gelu => (1, 0, 0),
            Activation::GeluTanh => (2, 0, 0),
            Activation::SwigluClamped { alpha, limit } => (3, alpha.to_bits(), limit.to_bits()),
        };
        [self.count, self.top, activation, alpha, limit, u32::from(self.on_input)]
    }

    fn from_attributes(words: Words) -> Self {
        ExpertsOp {
            count: words[0],
            top: words[1],
            activation: match words[2] {
                0 => Activation::Silu,
                1 => Activation::Gelu,
                2 => Activation::GeluTanh,
                _ => Activation::SwigluClamped { alpha: f32::from_bits(words[3]), limit: f32::from_bits(words[4]) },
            },
            on_input: words[5] != 0,
        }
    }

    fn shape(&self, operands: Operands<'_>) -> Result<Shape, Problem> {
        if let Activation::SwigluClamped { alpha, limit } = self.activation {
            for (name, x) in [("alpha", alpha), ("limit", limit)] {
                if !Range::Positive.holds(x) {
                    let expected = Range::Positive.expected().into();
                    return Err(Problem::Attribute { name, expected, found: format!("{x}").into() });
                }
            }
        }
        let (x, r) = (operands.at(0), operands.at(1));
        let chosen = self.top.checked_mul(2).ok_or(Problem::Overflow { what: "the router's width" })?;
        expect_shape(NAMES[1], r, Shape::matrix(x.shape.rows, chosen))?;
        let (gate, down) = (operands.at(2), operands.at(4));
        let copies = |rows, cols| Shape { seqs: self.count, rows, cols };
        let inner = gate.shape.cols;
        expect_shape(NAMES[2], gate, copies(x.shape.cols, inner))?;
        expect_shape(NAMES[3], operands.at(3), gate.shape)?;
        if down.shape.seqs != self.count || down.shape.rows != inner {
            return Err(wrong_shape(NAMES[4], down, format!("{} of {inner} rows", self.count)));
        }
        for (index, cols) in [(5, inner), (6, inner), (7, down.shape.cols)] {
            if let Some(bias) = operands.get(index) {
                expect_shape(NAMES[index], bias, copies(1, cols))?;
            }
        }
        Ok(Shape::matrix(x.shape.rows, down.shape.cols))
    }

    fn sharding(&self, operands: Operands<'_>) -> Result<Sharding, Problem> {
        let (chips, whole) = (operands.chips(), Sharding::Whole);
        let (of_inner, of_down, bias_of_down, result) = match operands.at(2).sharding {
            Sharding::Whole => (whole, whole, whole, whole),
            Sharding::Split { axis: Axis::Experts, .. } => {
                let own = Sharding::Split { axis: Axis::Experts, parts: chips };
                (own, own, own, Sharding::Partial)
            }
            Sharding::Split { axis: Axis::Rows | Axis::Columns, .. } | Sharding::Partial => {
                (columns(chips), rows(chips), whole, Sharding::Partial)
            }
        };
        let expected = [whole, whole, of_inner, of_inner, of_down, of_inner, of_inner, bias_of_down];
        for (index, expected) in expected.into_iter().enumerate() {
            if let Some(operand) = operands.get(index) {
                expect_sharding(Self::FORM.name, NAMES[index], operand, expected)?;
            }
        }
        Ok(result)
    }

    const MACS_OF: MacsOf = MacsOf::Weights;

    /// Of the experts that rows are routed to alone: three products a row and choice.
    fn macs(&self, operands: Operands<'_>, result: Shape, _: u32) -> Option<u64> {
        let gate = operands.at(2).shape;
        let wide = 2 * u64::from(gate.rows) + u64::from(result.cols);
        product(&[result.rows, self.top, gate.cols])?.checked_mul(wide)
    }

    /// Of the weights those of as many experts as the rows can choose between them.
    fn reads(&self, operands: Operands<'_>, index: usize, _: u32) -> Shape {
        let whole = operands.at(index).shape;
        match Self::FORM.operands[index].kind {
            OperandKind::Experts => {
                let chosen = operands.at(0).shape.rows.saturating_mul(self.top);
                Shape { seqs: chosen.min(whole.seqs), ..whole }
            }
            OperandKind::Value
            | OperandKind::ValueOrWeight
            | OperandKind::Weight
            | OperandKind::State
            | OperandKind::Index
            | OperandKind::Input
            | OperandKind::Cosines
            | OperandKind::Sines
            | OperandKind::RowFactor => whole,
        }
    }
}

impl Evaluate for ExpertsOp {
    /// A row's experts are summed in ascending order. Where each is cut, each chip adds its part of down's bias, the
    /// bias over the chips.
    fn evaluate(&self, chips: &mut Chips<'_>) -> Vec<Data> {
        let down = chips.value(4).sharding;
        chips.each(|chip| {
            let mut y = Matrix::zeros(chip.real(0).rows(), chip.real(4).cols());
            for (place, expert) in own(self.count, down, chip.index()).enumerate() {
                self.expert(chip, (place, expert), bias_parts(down), &mut y);
            }
            y
        })
    }
}

/// The experts whose weights a chip has: all, or, where they lie whole over the chips, its own.
fn own(count: u32, sharding: Sharding, chip: usize) -> std::ops::Range<usize> {
    let each = count / expert_parts(sharding);
    let first = if each == count { 0 } else { chip * each as usize };
    first..first + each as usize
}

/// Parts that whole experts lie in.
fn expert_parts(sharding: Sharding) -> u32 {
    match sharding {
        Sharding::Split { axis: Axis::Experts, parts } => parts.max(1),
        Sharding::Split { axis: Axis::Rows | Axis::Columns, .. } | Sharding::Whole | Sharding::Partial => 1,
    }
}

/// Chips that each add a part of an expert's output bias.
fn bias_parts(sharding: Sharding) -> f32 {
    match sharding {
        Sharding::Split { axis: Axis::Rows | Axis::Columns, parts } => parts as f32,
        Sharding::Split { axis: Axis::Experts, .. } | Sharding::Whole | Sharding::Partial => 1.0,
    }
}

impl ExpertsOp {
    /// Adds what one expert, and the place of its weights among the chip's, makes of the rows that are routed to it.
    fn expert(&self, chip: Chip<'_>, (place, expert): (usize, usize), parts: f32, y: &mut Matrix) {
        let (x, r) = (chip.real(0), chip.real(1));
        let top = self.top as usize;
        let score = |row: usize| {
            let (ids, scores) = r.row(row).split_at(top);
            ids.iter().position(|&id| id as usize == expert).map(|place| scores[place])
        };
        let routed: Vec<(usize, f32)> = (0..x.rows()).filter_map(|row| Some((row, score(row)?))).collect();
        if routed.is_empty() {
            return;
        }
        let mut input = Matrix::zeros(routed.len(), x.cols());
        for (to, &(row, score)) in routed.iter().enumerate() {
            let factor = if self.on_input { score } else { 1.0 };
            input.row_mut(to).iter_mut().zip(x.row(row)).for_each(|(to, x)| *to = x * factor);
        }
        let product = |x: &Matrix, weight: usize| {
            let mut y = matrix_product_from(x, chip.real(weight), place * x.cols());
            if let Some(bias) = chip.optional(weight + 3) {
                let part = if weight == 4 { parts } else { 1.0 };
                for row in 0..y.rows() {
                    y.row_mut(row).iter_mut().zip(bias.row(place)).for_each(|(y, b)| *y += b / part);
                }
            }
            y
        };
        let (gate, up) = (product(&input, 2), product(&input, 3));
        let act = gate.data().iter().zip(up.data()).map(|(&gate, &up)| activated(self.activation, gate, up)).collect();
        let out = product(&gate.with_data(act), 4);
        for (from, &(row, score)) in routed.iter().enumerate() {
            let factor = if self.on_input { 1.0 } else { score };
            y.row_mut(row).iter_mut().zip(out.row(from)).for_each(|(y, out)| *y += factor * out);
        }
    }
}

/// `act(gate) * up`, or gpt-oss's form of it.
fn activated(activation: Activation, gate: f32, up: f32) -> f32 {
    match activation {
        Activation::Silu => silu(gate) * up,
        Activation::Gelu => gelu(gate, false) * up,
        Activation::GeluTanh => gelu(gate, true) * up,
        Activation::SwigluClamped { alpha, limit } => {
            let gate = gate.min(limit);
            (up.clamp(-limit, limit) + 1.0) * gate * sigmoid(alpha * gate)
        }
    }
}

impl Lower for ExpertsOp {
    /// Which experts a step needs is known once all its rows are routed.
    fn needs_all_groups(&self) -> bool {
        true
    }

    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        let [x, r, gate, up, down] = [0, 1, 2, 3, 4].map(|operand| bound.operands[operand]);
        if net.groups != 1 {
            return Err(LowerError::Form { what: "experts need all rows of a step in one group" });
        }
        let parts = expert_parts(net.value(up).sharding);
        let (block, slots) = slots(net.rows, u64::from(self.count / parts), u64::from(self.top));
        let inner = net.cx.cols(up);
        let tiles = inner.div_ceil(u64::from(net.cx.unit.tile)).max(1);
        let tile = inner.div_ceil(tiles);
        let (wide, outputs) = (net.cx.cols(x), net.cx.cols(down));
        let firings = slots.saturating_mul(tiles);

        let mut gather = |part, weight: ValueId, firings, (rows, cols): (u64, u64)| -> Result<StageId, LowerError> {
            let bytes = matrix_bytes(rows, cols, net.value(weight).storage);
            let stage = net.gather(part, weight, firings, bytes);
            net.feed(stage, r, Want::Hold)?;
            Ok(stage)
        };
        let loads = [
            gather(0, gate, firings, (wide, tile))?,
            gather(1, up, firings, (wide, tile))?,
            gather(2, down, firings, (tile, outputs))?,
        ];
        let biases = match bound.operands.get(5..8) {
            Some(&[of_gate, of_up, of_down]) => Some([
                gather(3, of_gate, firings, (1, tile))?,
                gather(4, of_up, firings, (1, tile))?,
                gather(5, of_down, slots, (1, outputs))?,
            ]),
            Some(_) | None => None,
        };

        let unit = net.cx.unit;
        let passes = net.passes(block);
        // An expert's rows, a tile of its columns at a time.
        let token = Slot::one(storage_bytes(block.saturating_mul(tile), net.value(x).storage));
        let mut products = [loads[0]; 2];
        for (side, stage) in products.iter_mut().enumerate() {
            let work = Work { a: net.columns(tile), b: wide, base: passes };
            *stage = net.compute(6 + side as u32, Primitive::GemmA, firings, work, Emission::Stream(1));
            net.feed(*stage, x, Want::Hold)?;
            net.feed(*stage, r, Want::Hold)?;
            net.feed_loaded(*stage, loads[side], Want::Stream(1))?;
            if let Some(biases) = biases {
                net.feed_loaded(*stage, biases[side], Want::Stream(1))?;
            }
        }
        let work = Work {
            a: block.saturating_mul(tile).div_ceil(u64::from(unit.lanes)),
            b: 1,
            base: ACTIVATION_OPS.div_ceil(u64::from(unit.chain)),
        };
        let act = net.compute(8, Primitive::Map, firings, work, Emission::Stream(1));
        for product in products {
            net.link(act, product, Want::Stream(1), token)?;
        }
        let work = Work { a: net.columns(outputs), b: tile, base: passes };
        let sum = net.compute(9, Primitive::GemmB, firings, work, Emission::Whole);
        net.link(sum, act, Want::Stream(1), token)?;
        net.feed(sum, r, Want::Hold)?;
        net.feed_loaded(sum, loads[2], Want::Stream(1))?;
        if let Some([_, _, bias]) = biases {
            net.feed_loaded(sum, bias, Want::HoldIn(slots))?;
        }
        net.emit(bound.result, sum);
        Ok(())
    }
}

/// Elementwise operations of an activation, an element.
const ACTIVATION_OPS: u64 = 9;

/// Rows of a block, and blocks of rows of one expert that a step of so many rows can make at most on a chip of so many
/// experts. Of experts that lie whole over the chips a chip may have all that every row chooses.
fn slots(rows: u64, experts: u64, top: u64) -> (u64, u64) {
    let routed = rows.saturating_mul(top.min(experts));
    let block = rows.min(BLOCK);
    let more = if rows > BLOCK { routed / BLOCK } else { 0 };
    (block, experts.min(routed).saturating_add(more))
}

#[cfg(any(test, feature = "simulate"))]
mod fire;

#[cfg(test)]
mod tests {
    use super::*;

    /// Most blocks over all ways to deal out the rows, by trying them all.
    fn most_blocks(rows: u64, experts: u64, top: u64, block: u64) -> u64 {
        fn deal(left: u64, experts: u64, rows: u64, block: u64) -> Option<u64> {
            if experts == 0 {
                return (left == 0).then_some(0);
            }
            (0..=left.min(rows))
                .filter_map(|n| Some(n.div_ceil(block) + deal(left - n, experts - 1, rows, block)?))
                .max()
        }
        deal(rows * top, experts, rows, block).unwrap_or(0)
    }

    #[test]
    fn slots_hold_every_way_to_route() {
        for (rows, experts, top) in [(1, 8, 2), (3, 8, 2), (4, 4, 2), (64, 4, 2), (65, 4, 1), (130, 3, 2), (200, 3, 1)]
        {
            let (block, slots) = slots(rows, experts, top);
            let most = most_blocks(rows, experts, top, block);
            assert!(slots >= most && slots <= most + 1, "{rows} rows, {top} of {experts}: {slots}, at most {most}");
        }
        assert_eq!(slots(1, 128, 8), (1, 8));
        assert_eq!(slots(8, 128, 8), (8, 64));
        assert_eq!(slots(512, 128, 8), (64, 128 + 64));
        // Of 16 of the 128 on a chip, at worst all that a row chooses; of four, four.
        assert_eq!((slots(1, 16, 8), slots(8, 16, 8), slots(512, 16, 8)), ((1, 8), (8, 16), (64, 16 + 64)));
        assert_eq!((slots(1, 4, 8), slots(512, 4, 8)), ((1, 4), (64, 4 + 32)));
    }
}
