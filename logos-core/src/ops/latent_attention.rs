//! See [`LatentAttentionOp`].

use super::attend::{Context, Reach, Sight, softmax};
use super::element_wise::head_columns;
use super::form::{AttributeKind, Form, OperandKind, Piece, Range, attribute, operand};
use super::operation::{
    MacsOf, Operands, Operation, Words, expect_shape, expect_sharding, wrong_shape, wrong_sharding,
};
use crate::language::ast::{Axis, Element, Shape, Sharding};
use crate::language::error::Problem;
use crate::lower::{Bound, Lower, LowerError, Net, Want};
use crate::reference::{Chip, Chips, Data, Evaluate, Matrix, accumulated};
use crate::spatial::{Emission, Primitive, Work};

/// Causal attention of many query heads over one latent head, which is key and value at once.
///
/// The score of a query head is `scale * (q . c + qp . p)`: the projection of the keys out of the latent is absorbed into `q`,
/// and that of the values is left to what reads the result.
///
/// # Operands
/// `q: [m, heads * latent]`, `qp: [m, heads * rotary]`, `c: [m, latent]`, `p: [m, rotary]`, and, unless stateless, `pos: [m, 1]`
/// and the caches `C: [seqs of rows, latent]`, `P: [seqs of rows, rotary]`, read as they were before this step. Result
/// `[m, heads * latent]`.
/// # Text
/// `latent attention of q and qp over C and P with c and p at pos, heads 16, scale 0.1`; stateless:
/// `latent attention of q and qp with c and p, heads 16, ...`
/// # Source
/// DeepSeek-AI 2024, arXiv:2405.04434, section 2.1
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatentAttentionOp {
    /// Query heads (whole count).
    pub heads: u32,
    /// Factor on scores.
    pub scale: f32,
}

impl Operation for LatentAttentionOp {
    const CODE: u32 = logos_bundle::table::layout::op::LATENT_ATTENTION;
    const FORM: Form = Form {
        name: "latent attention",
        operands: &[
            operand("q", OperandKind::Value),
            operand("qp", OperandKind::Value),
            operand("c", OperandKind::Value),
            operand("p", OperandKind::Value),
            operand("pos", OperandKind::Index),
            operand("C", OperandKind::State),
            operand("P", OperandKind::State),
        ],
        optional: &[&[4, 5, 6]],
        text: &[
            Piece::Word("latent"),
            Piece::Word("attention"),
            Piece::Word("of"),
            Piece::Operand(0),
            Piece::Word("and"),
            Piece::Operand(1),
            Piece::Optional(0, &[Piece::Word("over"), Piece::Operand(5), Piece::Word("and"), Piece::Operand(6)]),
            Piece::Word("with"),
            Piece::Operand(2),
            Piece::Word("and"),
            Piece::Operand(3),
            Piece::Optional(0, &[Piece::Word("at"), Piece::Operand(4)]),
        ],
        attributes: &[
            attribute("heads", 0, AttributeKind::Count),
            attribute("scale", 1, AttributeKind::Real(Range::Positive)),
        ],
        result: Element::Real,
    };

    fn attributes(&self) -> Words {
        [self.heads, self.scale.to_bits(), 0, 0, 0, 0]
    }

    fn from_attributes(words: Words) -> Self {
        LatentAttentionOp { heads: words[0], scale: f32::from_bits(words[1]) }
    }

    fn shape(&self, operands: Operands<'_>) -> Result<Shape, Problem> {
        let (q, qp) = (operands.at(0), operands.at(1));
        let rows = q.shape.rows;
        let latent = head_columns("q", q, self.heads)?;
        let rotary = head_columns("qp", qp, self.heads)?;
        if qp.shape.rows != rows {
            return Err(wrong_shape("qp", qp, format!("{rows} rows high")));
        }
        expect_shape("c", operands.at(2), Shape::matrix(rows, latent))?;
        expect_shape("p", operands.at(3), Shape::matrix(rows, rotary))?;
        if let (Some(pos), Some(latents), Some(positions)) = (operands.get(4), operands.get(5), operands.get(6)) {
            expect_shape("pos", pos, Shape::matrix(rows, 1))?;
            let Shape { seqs, rows: cached, cols } = latents.shape;
            if cols != latent || !rows.is_multiple_of(seqs) {
                let expected = format!("{latent} wide, of sequences dividing the {rows} rows");
                return Err(wrong_shape("C", latents, expected));
            }
            expect_shape("P", positions, Shape { seqs, rows: cached, cols: rotary })?;
        }
        Ok(q.shape)
    }

    fn sharding(&self, operands: Operands<'_>) -> Result<Sharding, Problem> {
        let (q, chips) = (operands.at(0), operands.chips());
        match q.sharding {
            Sharding::Whole => {}
            Sharding::Split { axis: Axis::Columns, parts } if parts == chips && self.heads.is_multiple_of(chips) => {}
            Sharding::Split { .. } | Sharding::Partial => {
                let expected = format!("split columns {chips} ways in whole heads of {}, or whole", self.heads);
                return Err(wrong_sharding(Self::FORM.name, "q", q, expected));
            }
        }
        expect_sharding(Self::FORM.name, "qp", operands.at(1), q.sharding)?;
        for (index, name) in [(2, "c"), (3, "p"), (5, "C"), (6, "P")] {
            if let Some(value) = operands.get(index) {
                expect_sharding(Self::FORM.name, name, value, Sharding::Whole)?;
            }
        }
        Ok(q.sharding)
    }

    const MACS_OF: MacsOf = MacsOf::Attention;

    /// Scores, of latent and of turned columns, and values of each row over the positions that it sees.
    fn macs(&self, operands: Operands<'_>, result: Shape, ctx: u32) -> Option<u64> {
        let rotary = operands.at(1).shape.cols;
        reach(operands, ctx).seen()?.checked_mul(2 * u64::from(result.cols) + u64::from(rotary))
    }

    /// Of a cache what the rows see of it.
    fn reads(&self, operands: Operands<'_>, index: usize, ctx: u32) -> Shape {
        let whole = operands.at(index).shape;
        if CACHES.contains(&index) { reach(operands, ctx).cached(whole) } else { whole }
    }
}

/// The operands that are caches.
const CACHES: [usize; 2] = [5, 6];

fn reach(operands: Operands<'_>, ctx: u32) -> Reach {
    Reach::new(operands.at(0), operands.get(CACHES[0]), ctx, (None, None))
}

impl Evaluate for LatentAttentionOp {
    fn evaluate(&self, chips: &mut Chips<'_>) -> Vec<Data> {
        chips.each(|chip| self.attend(chip))
    }
}

impl LatentAttentionOp {
    /// One chip's query heads, row by row, in the order of positions.
    fn attend(&self, chip: Chip<'_>) -> Matrix {
        let [q, qp, c, p] = [0, 1, 2, 3].map(|operand| chip.real(operand));
        let (latents, positions) = (chip.optional_state(5), chip.optional_state(6));
        let (latent, rotary) = (c.cols(), p.cols());
        let sight = Sight::new(q.rows(), chip.optional_int(4), latents);
        let mut y = Matrix::zeros(q.rows(), q.cols());
        for row in 0..q.rows() {
            let seen = sight.of(row, 0);
            let (content, turned) = (seen.rows(latents, c), seen.rows(positions, p));
            for head in 0..q.cols() / latent {
                let query = &q.row(row)[head * latent..(head + 1) * latent];
                let rotated = &qp.row(row)[head * rotary..(head + 1) * rotary];
                let scores = content.iter().zip(&turned).map(|(c, p)| (dot(query, c) + dot(rotated, p)) * self.scale);
                let mut weights: Vec<f32> = scores.collect();
                softmax(&mut weights);
                let y = &mut y.row_mut(row)[head * latent..(head + 1) * latent];
                for (weight, c) in weights.iter().zip(&content) {
                    for (y, c) in y.iter_mut().zip(*c) {
                        *y += weight * c;
                    }
                    accumulated(y.len());
                }
            }
        }
        y
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    accumulated(a.len());
    a.iter().zip(b).fold(0.0, |sum, (a, b)| sum + a * b)
}

impl Lower for LatentAttentionOp {
    fn needs_all_groups(&self) -> bool {
        true
    }

    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        let [q, qp, c, p] = [0, 1, 2, 3].map(|operand| bound.operands[operand]);
        let [_, _, _, _, _, latents, positions, ..] = Self::FORM.place(bound.operands);
        if net.groups != 1 {
            return Err(LowerError::Form { what: "latent attention needs all rows of a step in one group" });
        }
        let context = Context::of(net, latents);
        let firings = context.firings;
        let (latent, rotary) = (net.cx.cols(c), net.cx.cols(p));
        let queries = net.cx.tokens() * (net.cx.cols(q) / latent);
        let base = net.passes(queries);
        let caches = latents.zip(positions);
        let loads = caches.map(|(latents, positions)| (context.load(net, 0, latents), context.load(net, 1, positions)));
        let work = Work { a: net.columns(context.tile), b: latent + rotary, base };
        let scores = net.compute(3, Primitive::Scores, firings, work, Emission::Stream(1));
        for operand in [q, qp, c, p] {
            net.feed(scores, operand, Want::HoldAll)?;
        }
        if let Some((latents, positions)) = loads {
            net.feed_loaded(scores, latents, Want::Stream(1))?;
            net.feed_loaded(scores, positions, Want::Stream(1))?;
        }
        let softmax = context.softmax(net, scores, queries, None)?;
        let work = Work { a: net.columns(latent), b: context.tile, base };
        let values = net.compute(5, Primitive::Values, firings, work, Emission::Whole);
        net.link(values, softmax, Want::Stream(1), context.probabilities(queries, net.value(q).storage))?;
        net.feed(values, c, Want::HoldAll)?;
        if let Some((latents, _)) = loads {
            net.feed_loaded(values, latents, Want::Stream(1))?;
        }
        net.emit(bound.result, values);
        Ok(())
    }
}

#[cfg(any(test, feature = "simulate"))]
mod fire {
    use super::{LatentAttentionOp, dot};
    use crate::ops::context::{Heads, add_values, fire_scores, fire_softmax};
    use crate::simulate::machine::{Fire, Firing, Trouble};
    use crate::spatial::Primitive;

    impl Fire for LatentAttentionOp {
        fn fire(&self, firing: &mut Firing<'_>) -> Result<(), Trouble> {
            match (firing.primitive, firing.part) {
                (Primitive::Load, part) => {
                    let state = firing.operand(5 + part as usize)?;
                    firing.load_context(state)
                }
                (Primitive::Scores, _) => {
                    let [q, turned] = [firing.held(0)?, firing.held(1)?];
                    let [c, p] = [firing.held(2)?, firing.held(3)?];
                    let (latent, rotary) = (c.cols(), p.cols());
                    let heads = q.cols() / latent;
                    fire_scores(
                        firing,
                        heads,
                        &[&c, &p],
                        |_| 0,
                        |row, head, keys| {
                            let query = &q.row(row)[head * latent..(head + 1) * latent];
                            let turned = &turned.row(row)[head * rotary..(head + 1) * rotary];
                            (dot(query, keys[0]) + dot(turned, keys[1])) * self.scale
                        },
                    )
                }
                (Primitive::Softmax, _) => fire_softmax(firing),
                (Primitive::Values, _) => {
                    let width = firing.cols(firing.operand(2)?);
                    let heads = firing.cols(firing.result) / width;
                    add_values(firing, Heads { heads, width })
                }
                _ => Err(Trouble::Part { part: firing.part }),
            }
        }
    }
}
