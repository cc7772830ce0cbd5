//! See [`GatedDeltaOp`].

use super::element_wise::head_columns;
use super::form::{AttributeKind, Form, OperandKind, Piece, attribute, operand};
use super::operation::{
    MacsOf, Operands, Operation, Words, expect_shape, expect_sharding, product, rows, wrong_shape, wrong_sharding,
};
use crate::language::ast::{Axis, Element, Shape, Sharding};
use crate::language::error::Problem;
use crate::lower::{Bound, Lower, LowerError, Net, Slot, Want, storage_bytes};
use crate::reference::{Chip, Chips, Data, Evaluate, Matrix, State, accumulated};
use crate::spatial::{Emission, Primitive, Recurrence, Work};

/// The gated delta rule, row by row: `S *= g; d = beta (v - Sᵀ k); S += k dᵀ; o = Sᵀ q`.
///
/// # Operands
/// `q, k: [m, key_heads * dk]`, `v: [m, heads * dv]`, `g, beta: [m, heads]`, optionally the state
/// `S: [seqs of heads * dk, dv]`, read and then replaced. Result `[m, heads * dv]`.
/// # Text
/// `gated delta of q, k, v, g and beta over S, heads 48, key heads 16`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GatedDeltaOp {
    /// Value heads (whole count).
    pub heads: u32,
    /// Key heads (whole count).
    pub key_heads: u32,
}

impl Operation for GatedDeltaOp {
    const CODE: u32 = logos_bundle::table::layout::op::DELTA;
    const REPLACES_STATE: bool = true;
    const FORM: Form = Form {
        name: "gated delta",
        operands: &[
            operand("q", OperandKind::Value),
            operand("k", OperandKind::Value),
            operand("v", OperandKind::Value),
            operand("g", OperandKind::Value),
            operand("beta", OperandKind::Value),
            operand("S", OperandKind::State),
        ],
        optional: &[&[5]],
        text: &[
            Piece::Word("gated"),
            Piece::Word("delta"),
            Piece::Word("of"),
            Piece::Operand(0),
            Piece::Comma,
            Piece::Operand(1),
            Piece::Comma,
            Piece::Operand(2),
            Piece::Comma,
            Piece::Operand(3),
            Piece::Word("and"),
            Piece::Operand(4),
            Piece::Optional(0, &[Piece::Word("over"), Piece::Operand(5)]),
        ],
        attributes: &[attribute("heads", 0, AttributeKind::Count), attribute("key heads", 1, AttributeKind::Count)],
        result: Element::Real,
    };

    fn attributes(&self) -> Words {
        [self.heads, self.key_heads, 0, 0, 0, 0]
    }

    fn from_attributes(words: Words) -> Self {
        GatedDeltaOp { heads: words[0], key_heads: words[1] }
    }

    fn shape(&self, operands: Operands<'_>) -> Result<Shape, Problem> {
        let (q, v) = (operands.at(0), operands.at(2));
        if !self.heads.is_multiple_of(self.key_heads) {
            return Err(Problem::Attribute {
                name: "key heads",
                expected: format!("a divisor of the {} heads", self.heads).into(),
                found: self.key_heads.to_string().into(),
            });
        }
        let key = head_columns("q", q, self.key_heads)?;
        let value = head_columns("v", v, self.heads)?;
        expect_shape("k", operands.at(1), q.shape)?;
        expect_shape("v", v, Shape::matrix(q.shape.rows, v.shape.cols))?;
        expect_shape("g", operands.at(3), Shape::matrix(q.shape.rows, self.heads))?;
        expect_shape("beta", operands.at(4), Shape::matrix(q.shape.rows, self.heads))?;
        if let Some(state) = operands.get(5) {
            let seqs = state.shape.seqs;
            if !q.shape.rows.is_multiple_of(seqs) {
                return Err(wrong_shape("S", state, format!("of sequences dividing the {} rows", q.shape.rows)));
            }
            let rows = self.heads.checked_mul(key).ok_or(Problem::Overflow { what: "the state's height" })?;
            expect_shape("S", state, Shape { seqs, rows, cols: value })?;
        }
        Ok(v.shape)
    }

    fn sharding(&self, operands: Operands<'_>) -> Result<Sharding, Problem> {
        let (q, chips) = (operands.at(0), operands.chips());
        let state = match q.sharding {
            Sharding::Whole => Sharding::Whole,
            Sharding::Split { axis: Axis::Columns, parts }
                if parts == chips && self.heads.is_multiple_of(chips) && self.key_heads.is_multiple_of(chips) =>
            {
                rows(chips)
            }
            Sharding::Split { .. } | Sharding::Partial => {
                let (heads, keys) = (self.heads, self.key_heads);
                let expected = format!("split columns {chips} ways in whole heads of {heads} and {keys}, or whole");
                return Err(wrong_sharding(Self::FORM.name, "q", q, expected));
            }
        };
        for (index, name) in [(1, "k"), (2, "v"), (3, "g"), (4, "beta")] {
            expect_sharding(Self::FORM.name, name, operands.at(index), q.sharding)?;
        }
        if let Some(memory) = operands.get(5) {
            expect_sharding(Self::FORM.name, "S", memory, state)?;
        }
        Ok(q.sharding)
    }

    const MACS_OF: MacsOf = MacsOf::Recurrence;

    /// Four passes over each value head's memory a row: decay, `Sᵀ k`, `k dᵀ`, `Sᵀ q`.
    fn macs(&self, operands: Operands<'_>, result: Shape, _: u32) -> Option<u64> {
        let key = operands.at(0).shape.cols / self.key_heads;
        product(&[4, result.rows, result.cols, key])
    }
}

impl Evaluate for GatedDeltaOp {
    fn evaluate(&self, chips: &mut Chips<'_>) -> Vec<Data> {
        chips.each_over(5, |chip, state| self.scan(chip, state))
    }
}

impl GatedDeltaOp {
    /// One chip's heads, sequence by sequence and row by row, from the state or from zero.
    fn scan(&self, chip: Chip<'_>, mut state: Option<&mut State>) -> Matrix {
        let [q, k, v, g, beta] = [0, 1, 2, 3, 4].map(|operand| chip.real(operand));
        let (dk, dv) = (chip.head_columns(0, self.key_heads), chip.head_columns(2, self.heads));
        let heads = v.cols() / dv;
        // A key head serves as many neighbouring value heads.
        let group = heads / (q.cols() / dk);
        let sequences = state.as_ref().map_or(1, |state| state.seqs());
        let tokens = v.rows() / sequences;
        let mut fresh = vec![0.0; if state.is_none() { heads * dk * dv } else { 0 }];
        let mut y = Matrix::zeros(v.rows(), v.cols());
        for row in 0..v.rows() {
            let memory = match state.as_deref_mut() {
                Some(state) => state.sequence_mut(row / tokens),
                None => &mut fresh[..],
            };
            for (head, memory) in memory.chunks_exact_mut(dk * dv).enumerate() {
                let key = head / group * dk;
                let (q, k) = (&q.row(row)[key..key + dk], &k.row(row)[key..key + dk]);
                let values = head * dv..(head + 1) * dv;
                let (g, beta) = (g.row(row)[head], beta.row(row)[head]);
                memory.iter_mut().for_each(|s| *s *= g);
                accumulated(memory.len());
                let recalled = transposed_product(memory, k, dv);
                let v = &v.row(row)[values.clone()];
                for (s, k) in memory.chunks_exact_mut(dv).zip(k) {
                    for ((s, v), recalled) in s.iter_mut().zip(v).zip(&recalled) {
                        *s += k * (beta * (v - recalled));
                    }
                    accumulated(s.len());
                }
                y.row_mut(row)[values].copy_from_slice(&transposed_product(memory, q, dv));
            }
        }
        y
    }
}

/// `Sᵀ x` of `S: [dk, dv]`, summed over the rows in order.
fn transposed_product(s: &[f32], x: &[f32], dv: usize) -> Vec<f32> {
    let mut y = vec![0.0; dv];
    for (s, x) in s.chunks_exact(dv).zip(x) {
        for (y, s) in y.iter_mut().zip(s) {
            *y += s * x;
        }
        accumulated(s.len());
    }
    y
}

impl Lower for GatedDeltaOp {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        let (q, v) = (bound.operands[0], bound.operands[2]);
        let state = bound.operands.get(5).copied();
        let one_token = net.cx.tokens() == 1;
        let dk = u64::from(net.value(q).shape.cols) / u64::from(self.key_heads);
        let dv = u64::from(net.value(v).shape.cols) / u64::from(self.heads);
        let heads = net.cx.cols(v) / dv;
        let rows = net.rows * net.groups;
        // One token a sequence: every firing has a state of its own. Else all states stay in the stage, which goes through one
        // sequence after the other.
        let (firings, port, held) =
            if one_token { (rows, Want::Stream(1), 1) } else { (1, Want::HoldAll, net.cx.seqs) };
        let elements = (heads * dk * dv).saturating_mul(held);
        let bytes = state.map_or(0, |s| storage_bytes(elements, net.value(s).storage));
        let load = state.map(|s| (net.load(0, s, firings, bytes), s));
        let lanes = u64::from(net.cx.unit.lanes);
        let work = Work { a: (heads * dv).div_ceil(lanes), b: dk, base: 2 };
        let scan = net.compute(1, Primitive::Scan, rows, work, Emission::Whole);
        if !one_token {
            net.recur(scan, Recurrence::DeltaRows);
        }
        for &operand in &bound.operands[..5] {
            net.feed(scan, operand, Want::Hold)?;
        }
        if let Some((load, s)) = load {
            net.feed_loaded(scan, load, port)?;
            let store = net.store(2, s, net.cx.tier(s), firings, bytes);
            net.link_tokens(store, scan, port, Slot::one(bytes))?;
        }
        net.emit(bound.result, scan);
        Ok(())
    }
}

#[cfg(any(test, feature = "simulate"))]
mod fire {
    use super::GatedDeltaOp;
    use crate::ops::form::MAX_OPERANDS;
    use crate::reference::{Data, Matrix, State};
    use crate::simulate::machine::{Fire, Firing, Token, Trouble, part_of};
    use crate::spatial::Primitive;
    use std::sync::Arc;

    impl Fire for GatedDeltaOp {
        fn fire(&self, firing: &mut Firing<'_>) -> Result<(), Trouble> {
            let one_token = firing.all_rows == firing.seqs;
            match firing.primitive {
                Primitive::Load => {
                    let value = firing.operand(5)?;
                    let index = firing.index;
                    let state = firing.chip_state(value)?;
                    let token = if one_token { state.sequence(index) } else { state.clone() };
                    firing.pass(Token::State(token));
                    Ok(())
                }
                Primitive::Store => {
                    let value = firing.operand(5)?;
                    let (states, index) = (firing.states(0)?, firing.index);
                    let state = states.first().ok_or(Trouble::Token { port: 0 })?;
                    let held = firing.chip_state(value)?;
                    if one_token {
                        held.put_sequence(index, state)
                    } else {
                        held.clone_from(state)
                    }
                    Ok(())
                }
                Primitive::Scan => self.fire_row(firing, one_token),
                _ => Err(Trouble::Part { part: firing.part }),
            }
        }
    }

    impl GatedDeltaOp {
        /// One row of the group, all heads.
        fn fire_row(&self, firing: &mut Firing<'_>, one_token: bool) -> Result<(), Trouble> {
            let row = firing.within();
            let rows = firing.rows().len();
            let columns = firing.cols(firing.result);
            if row == 0 {
                firing.memory.matrices = vec![Matrix::zeros(rows, columns)];
            }
            // The last group may have fewer rows than firings.
            if row < rows {
                let sequence = (firing.rows().start + row) / (firing.all_rows / firing.seqs).max(1);
                let mut state = if one_token {
                    self.given(firing, 1)?
                } else {
                    if firing.index == 0 {
                        firing.memory.states = vec![self.given(firing, firing.seqs)?];
                    }
                    held(firing)?.take_sequence(sequence)
                };
                let mut given = Vec::with_capacity(5);
                for port in 0..5 {
                    given.push(Data::Real(Arc::new(part_of(&*firing.held(port)?, row..row + 1, 0..usize::MAX))));
                }
                let mut data = [None; MAX_OPERANDS];
                for (data, given) in data.iter_mut().zip(&given) {
                    *data = Some(given);
                }
                let Data::Real(y) = firing.evaluate(self, data, Some((5, &mut state)))? else {
                    return Err(Trouble::Kind { expected: "numbers" });
                };
                if let Some(all) = firing.memory.matrices.first_mut() {
                    all.row_mut(row).copy_from_slice(y.row(0));
                }
                if !one_token {
                    held(firing)?.give_sequence(sequence, state);
                } else if firing.has_port(5) {
                    firing.pass(Token::State(state));
                }
            }
            if firing.index + 1 == firing.firings && !one_token && firing.has_port(5) {
                let state = firing.memory.states.pop().ok_or(Trouble::Absent { what: "state" })?;
                firing.pass(Token::State(state));
            }
            if firing.is_last() {
                let all = firing.memory.matrices.pop().ok_or(Trouble::Absent { what: "result" })?;
                firing.emit(Data::Real(Arc::new(all)));
            }
            Ok(())
        }

        /// The state before the step, of so many sequences: what the port gives, or zero.
        fn given(&self, firing: &Firing<'_>, sequences: usize) -> Result<State, Trouble> {
            if firing.has_port(5) {
                return match firing.token(5, 0)? {
                    Token::State(state) => Ok(state.clone()),
                    Token::Data(_) | Token::Weight(_) | Token::Empty => Err(Trouble::Kind { expected: "a state" }),
                };
            }
            let (q, v) = (firing.operand(0)?, firing.operand(2)?);
            let dk = firing.program.value(q).shape.cols / self.key_heads;
            let dv = firing.program.value(v).shape.cols / self.heads;
            let heads = firing.cols(v) / dv as usize;
            Ok(State::new(sequences, heads * dk as usize, dv as usize))
        }
    }

    /// The states of all sequences, as the rows so far left them.
    fn held<'f>(firing: &'f mut Firing<'_>) -> Result<&'f mut State, Trouble> {
        firing.memory.states.first_mut().ok_or(Trouble::Absent { what: "state" })
    }
}
