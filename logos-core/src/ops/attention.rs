//! See [`AttentionOp`].

use super::attend::{Context, Reach, Sight, softmax};
use super::element_wise::head_columns;
use super::form::{AttributeKind, Form, OperandKind, Piece, Range, attribute, operand};
use super::operation::{
    MacsOf, Operands, Operation, Words, expect_shape, expect_sharding, wrong_shape, wrong_sharding,
};
use super::softcap::softcap;
use crate::language::ast::{Axis, Element, Shape, Sharding};
use crate::language::error::Problem;
use crate::lower::{Bound, Lower, LowerError, Net, Want, storage_bytes};
use crate::reference::{Chip, Chips, Data, Evaluate, Matrix, accumulated};
use crate::spatial::{Emission, Primitive, Work};

/// Causal attention over a cache and the fresh rows.
///
/// # Operands
/// `q: [m, heads * D]`, `k: [m, kv_heads * D]`, `v: [m, kv_heads * Dv]`, and, unless stateless, `pos: [m, 1]` and the caches
/// `K, V: [seqs of rows, kv_heads * D]`, read as they were before this step; optionally `sinks: [1, heads]`, one more logit a
/// head that takes its share of the softmax and no value. Result `[m, heads * Dv]`.
/// # Text
/// `attention of q over Kc and Vc with k and v at pos, heads 24, kv heads 4, scale 0.0625`; stateless:
/// `attention of q with k and v, heads 24, ...`; optional `and sinks s` before the attributes, `window 4096`, `chunk 8192`,
/// `softcap 50`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AttentionOp {
    /// Query heads (whole count).
    pub heads: u32,
    /// Key and value heads (whole count).
    pub kv_heads: u32,
    /// Factor on scores.
    pub scale: f32,
    /// The token itself and `window - 1` before it.
    pub window: Option<u32>,
    /// Positions of the same chunk.
    pub chunk: Option<u32>,
    /// Soft cap on scores, before the mask.
    pub softcap: Option<f32>,
}

impl AttentionOp {
    /// A window, chunk or cap that is given and 0 would read as one that is not given.
    fn optional_attributes(&self) -> Result<(), Problem> {
        for (name, given) in [("window", self.window), ("chunk", self.chunk)] {
            if given == Some(0) {
                return Err(Problem::Attribute { name, expected: "above 0".into(), found: "0".into() });
            }
        }
        if self.softcap == Some(0.0) {
            return Err(Problem::Attribute { name: "softcap", expected: "above 0".into(), found: "0".into() });
        }
        Ok(())
    }

    /// Whether each chip's query heads read only KV heads of the part it holds: chip `c` has query heads from
    /// `c * heads / chips`, query head `h` reads KV head `h * kv_heads / heads`, and chip `c` holds part `c * parts / chips`.
    fn group_is_local(&self, chips: u32, parts: u32) -> bool {
        let held = self.kv_heads.is_multiple_of(parts) && (parts == chips || parts == self.kv_heads);
        held && (0..chips).all(|chip| {
            let [chip, chips, parts] = [chip, chips, parts].map(u64::from);
            let [heads, kv_heads] = [self.heads, self.kv_heads].map(u64::from);
            let [first, last] = [chip * heads / chips, (chip + 1) * heads / chips - 1].map(|h| h * kv_heads / heads);
            let part = chip * parts / chips;
            first >= part * kv_heads / parts && last < (part + 1) * kv_heads / parts
        })
    }
}

impl Operation for AttentionOp {
    const CODE: u32 = logos_bundle::table::layout::op::ATTENTION;
    const FORM: Form = Form {
        name: "attention",
        operands: &[
            operand("q", OperandKind::Value),
            operand("k", OperandKind::Value),
            operand("v", OperandKind::Value),
            operand("pos", OperandKind::Index),
            operand("K", OperandKind::State),
            operand("V", OperandKind::State),
            operand("sinks", OperandKind::Weight),
        ],
        optional: &[&[3, 4, 5], &[6]],
        text: &[
            Piece::Word("attention"),
            Piece::Word("of"),
            Piece::Operand(0),
            Piece::Optional(0, &[Piece::Word("over"), Piece::Operand(4), Piece::Word("and"), Piece::Operand(5)]),
            Piece::Word("with"),
            Piece::Operand(1),
            Piece::Word("and"),
            Piece::Operand(2),
            Piece::Optional(0, &[Piece::Word("at"), Piece::Operand(3)]),
            Piece::Optional(1, &[Piece::Word("and"), Piece::Word("sinks"), Piece::Operand(6)]),
        ],
        attributes: &[
            attribute("heads", 0, AttributeKind::Count),
            attribute("kv heads", 1, AttributeKind::Count),
            attribute("scale", 2, AttributeKind::Real(Range::Any)),
            attribute("window", 3, AttributeKind::OptionalCount),
            attribute("chunk", 4, AttributeKind::OptionalCount),
            attribute("softcap", 5, AttributeKind::OptionalReal(Range::Positive)),
        ],
        result: Element::Real,
    };

    fn attributes(&self) -> Words {
        let softcap = self.softcap.map_or(0, f32::to_bits);
        [self.heads, self.kv_heads, self.scale.to_bits(), self.window.unwrap_or(0), self.chunk.unwrap_or(0), softcap]
    }

    fn from_attributes(words: Words) -> Self {
        let given = |word: u32| (word != 0).then_some(word);
        AttentionOp {
            heads: words[0],
            kv_heads: words[1],
            scale: f32::from_bits(words[2]),
            window: given(words[3]),
            chunk: given(words[4]),
            softcap: given(words[5]).map(f32::from_bits),
        }
    }

    fn shape(&self, operands: Operands<'_>) -> Result<Shape, Problem> {
        self.optional_attributes()?;
        let (q, k, v) = (operands.at(0), operands.at(1), operands.at(2));
        if !self.heads.is_multiple_of(self.kv_heads) {
            return Err(Problem::Attribute {
                name: "kv heads",
                expected: format!("a divisor of the {} heads", self.heads).into(),
                found: self.kv_heads.to_string().into(),
            });
        }
        let width = head_columns("q", q, self.heads)?;
        let values = head_columns("v", v, self.kv_heads)?;
        if k.shape.rows != q.shape.rows || head_columns("k", k, self.kv_heads)? != width {
            return Err(wrong_shape("k", k, format!("{} rows of {} heads of {width}", q.shape.rows, self.kv_heads)));
        }
        if v.shape.rows != q.shape.rows {
            return Err(wrong_shape("v", v, format!("{} rows high", q.shape.rows)));
        }
        if let (Some(pos), Some(keys), Some(cached)) = (operands.get(3), operands.get(4), operands.get(5)) {
            expect_shape("pos", pos, Shape::matrix(q.shape.rows, 1))?;
            let Shape { seqs, rows, .. } = keys.shape;
            if keys.shape.cols != k.shape.cols || !q.shape.rows.is_multiple_of(seqs) {
                let expected = format!("{} wide, of sequences dividing the {} rows", k.shape.cols, q.shape.rows);
                return Err(wrong_shape("K", keys, expected));
            }
            expect_shape("V", cached, Shape { seqs, rows, cols: v.shape.cols })?;
        }
        if let Some(sinks) = operands.get(6) {
            expect_shape("sinks", sinks, Shape::matrix(1, self.heads))?;
        }
        let cols = self.heads.checked_mul(values).ok_or(Problem::Overflow { what: "the result's width" })?;
        Ok(Shape::matrix(q.shape.rows, cols))
    }

    fn sharding(&self, operands: Operands<'_>) -> Result<Sharding, Problem> {
        let (q, k, chips) = (operands.at(0), operands.at(1), operands.chips());
        let parts = match (q.sharding, k.sharding) {
            (Sharding::Whole, Sharding::Whole) => 1,
            (Sharding::Whole, _) => return Err(wrong_sharding(Self::FORM.name, "k", k, "whole as q")),
            (Sharding::Split { axis: Axis::Columns, parts }, of_k)
                if parts == chips && self.heads.is_multiple_of(chips) =>
            {
                match of_k {
                    Sharding::Whole => 1,
                    Sharding::Split { axis: Axis::Columns, parts } => parts,
                    Sharding::Split { axis: Axis::Rows | Axis::Experts, .. } | Sharding::Partial => {
                        return Err(wrong_sharding(Self::FORM.name, "k", k, "split columns"));
                    }
                }
            }
            (Sharding::Split { .. } | Sharding::Partial, _) => {
                let expected = format!("split columns {chips} ways in whole heads of {}, or whole", self.heads);
                return Err(wrong_sharding(Self::FORM.name, "q", q, expected));
            }
        };
        for (index, name) in [(2, "v"), (4, "K"), (5, "V")] {
            let Some(value) = operands.get(index) else { continue };
            if value.sharding != k.sharding {
                let expected = format!("{} as `{}`", k.sharding, k.name);
                return Err(wrong_sharding(Self::FORM.name, name, value, expected));
            }
        }
        if let Some(sinks) = operands.get(6) {
            expect_sharding(Self::FORM.name, "sinks", sinks, q.sharding)?;
        }
        if q.sharding != Sharding::Whole && k.sharding == Sharding::Whole && self.kv_heads > 1 {
            // Every chip would hold the heads, but which of them it reads would differ from chip to chip.
            let parts = if self.kv_heads.is_multiple_of(chips) { chips } else { self.kv_heads };
            let expected = format!("split columns {parts} ways, each KV group with its query heads");
            return Err(wrong_sharding(Self::FORM.name, "k", k, expected));
        }
        if q.sharding != Sharding::Whole && !self.group_is_local(chips, parts) {
            return Err(Problem::ForeignGroup { heads: self.heads, chips, kv_heads: self.kv_heads, parts });
        }
        Ok(q.sharding)
    }

    const MACS_OF: MacsOf = MacsOf::Attention;

    /// Scores and values of each row over the positions that it sees.
    fn macs(&self, operands: Operands<'_>, result: Shape, ctx: u32) -> Option<u64> {
        let (q, v) = (operands.at(0).shape.cols, result.cols);
        self.reach(operands, ctx).seen()?.checked_mul(u64::from(q) + u64::from(v))
    }

    /// Of a cache what the rows see of it.
    fn reads(&self, operands: Operands<'_>, index: usize, ctx: u32) -> Shape {
        let whole = operands.at(index).shape;
        if CACHES.contains(&index) { self.reach(operands, ctx).cached(whole) } else { whole }
    }
}

impl Evaluate for AttentionOp {
    fn evaluate(&self, chips: &mut Chips<'_>) -> Vec<Data> {
        chips.each(|chip| self.attend(chip))
    }
}

/// The operands that are caches.
const CACHES: [usize; 2] = [4, 5];

impl AttentionOp {
    fn reach(&self, operands: Operands<'_>, ctx: u32) -> Reach {
        Reach::new(operands.at(0), operands.get(CACHES[0]), ctx, (self.window, self.chunk))
    }

    /// One chip's query heads, row by row, over what the row sees of the cache as it was and of the fresh rows, in the order
    /// of positions.
    fn attend(&self, chip: Chip<'_>) -> Matrix {
        let [q, k, v] = [0, 1, 2].map(|operand| chip.real(operand));
        let (keys, values) = (chip.optional_state(4), chip.optional_state(5));
        let sinks = chip.optional(6).map(|sinks| sinks.row(0));
        let (width, of_values) = (chip.head_columns(0, self.heads), chip.head_columns(2, self.kv_heads));
        let heads = q.cols() / width;
        // The chip's KV heads are those its query heads read, so they group as the whole model's do.
        let group = heads / (k.cols() / width);
        let sight = Sight::new(q.rows(), chip.optional_int(3), keys);
        let mut y = Matrix::zeros(q.rows(), heads * of_values);
        for row in 0..q.rows() {
            let seen = sight.of(row, self.first_seen(sight.position(row)));
            let (key_rows, value_rows) = (seen.rows(keys, k), seen.rows(values, v));
            for head in 0..heads {
                let query = &q.row(row)[head * width..(head + 1) * width];
                let kv = head / group;
                let mut weights = Vec::with_capacity(key_rows.len() + 1);
                weights.extend(key_rows.iter().map(|key| self.score(query, &key[kv * width..(kv + 1) * width])));
                // The sink takes its share last, and no value goes with it.
                weights.extend(sinks.map(|sinks| sinks[head]));
                softmax(&mut weights);
                let y = &mut y.row_mut(row)[head * of_values..(head + 1) * of_values];
                for (weight, value) in weights.iter().zip(&value_rows) {
                    for (y, v) in y.iter_mut().zip(&value[kv * of_values..(kv + 1) * of_values]) {
                        *y += weight * v;
                    }
                    accumulated(y.len());
                }
            }
        }
        y
    }

    /// The first position that a query at `position` sees.
    fn first_seen(&self, position: usize) -> usize {
        let window = self.window.map_or(0, |width| (position + 1).saturating_sub(width as usize));
        let chunk = self.chunk.map_or(0, |positions| position - position % positions as usize);
        window.max(chunk)
    }

    fn score(&self, query: &[f32], key: &[f32]) -> f32 {
        let product = query.iter().zip(key).fold(0.0, |sum, (q, k)| sum + q * k);
        accumulated(query.len());
        let score = product * self.scale;
        self.softcap.map_or(score, |cap| softcap(score, cap))
    }
}

impl Lower for AttentionOp {
    fn needs_all_groups(&self) -> bool {
        true
    }

    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        let [q, k, v] = [bound.operands[0], bound.operands[1], bound.operands[2]];
        let [_, _, _, _, keys, values, sinks, ..] = Self::FORM.place(bound.operands);
        let cache = keys.zip(values);
        if net.groups != 1 {
            return Err(LowerError::Form { what: "attention needs all rows of a step in one group" });
        }
        let context = Context::of(net, keys);
        let (firings, tokens) = (context.firings, net.cx.tokens());
        let dk = u64::from(net.value(q).shape.cols) / u64::from(self.heads);
        let dv = u64::from(net.value(v).shape.cols) / u64::from(self.kv_heads);
        let (heads, kv_heads) = (net.cx.cols(q) / dk, net.cx.cols(k) / dk);
        let base = kv_heads * net.passes(tokens * (heads / kv_heads.max(1)));
        let loads = cache.map(|(keys, values)| (context.load(net, 0, keys), context.load(net, 1, values)));
        let sinks = sinks.map(|sinks| {
            let bytes = storage_bytes(net.cx.cols(sinks), net.value(sinks).storage);
            net.load(2, sinks, 1, bytes)
        });
        let work = Work { a: net.columns(context.tile), b: dk, base };
        let scores = net.compute(3, Primitive::Scores, firings, work, Emission::Stream(1));
        net.feed(scores, q, Want::HoldAll)?;
        net.feed(scores, k, Want::HoldAll)?;
        if let Some((load, _)) = loads {
            net.feed_loaded(scores, load, Want::Stream(1))?;
        }
        let queries = heads * tokens;
        let softmax = context.softmax(net, scores, queries, sinks)?;
        let work = Work { a: net.columns(dv), b: context.tile, base };
        let stage = net.compute(5, Primitive::Values, firings, work, Emission::Whole);
        net.link(stage, softmax, Want::Stream(1), context.probabilities(queries, net.value(q).storage))?;
        net.feed(stage, v, Want::HoldAll)?;
        if let Some((_, load)) = loads {
            net.feed_loaded(stage, load, Want::Stream(1))?;
        }
        net.emit(bound.result, stage);
        Ok(())
    }
}

#[cfg(any(test, feature = "simulate"))]
mod fire {
    use super::AttentionOp;
    use crate::ops::context::{Heads, add_values, fire_scores, fire_softmax};
    use crate::simulate::machine::{Fire, Firing, Trouble};
    use crate::spatial::Primitive;

    impl Fire for AttentionOp {
        fn fire(&self, firing: &mut Firing<'_>) -> Result<(), Trouble> {
            match (firing.primitive, firing.part) {
                (Primitive::Load, part @ (0 | 1)) => {
                    let state = firing.operand(4 + part as usize)?;
                    firing.load_context(state)
                }
                (Primitive::Load, _) => firing.load_all(firing.operand(6)?),
                (Primitive::Scores, _) => {
                    let (q, k) = (firing.held(0)?, firing.held(1)?);
                    let width = (firing.program.value(firing.operand(0)?).shape.cols / self.heads) as usize;
                    let heads = q.cols() / width;
                    let group = heads / (k.cols() / width);
                    let seen = |position| self.first_seen(position);
                    fire_scores(firing, heads, &[&k], seen, |row, head, keys| {
                        let kv = head / group * width;
                        self.score(&q.row(row)[head * width..(head + 1) * width], &keys[0][kv..kv + width])
                    })
                }
                (Primitive::Softmax, _) => fire_softmax(firing),
                (Primitive::Values, _) => {
                    let columns = firing.program.value(firing.operand(2)?).shape.cols;
                    let width = (columns / self.kv_heads) as usize;
                    let heads = firing.cols(firing.result) / width;
                    add_values(firing, Heads { heads, width })
                }
                _ => Err(Trouble::Part { part: firing.part }),
            }
        }
    }
}
