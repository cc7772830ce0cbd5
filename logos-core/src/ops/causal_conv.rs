//! See [`CausalConv`].

use super::form::{AttributeKind, Form, OperandKind, Piece, attribute, operand};
use super::operation::{
    MacsOf, Operands, Operation, Words, expect_shape, expect_sharding, product, wrong_shape, wrong_sharding,
};
use super::silu::silu;
use crate::language::ast::{Axis, Element, Shape, Sharding};
use crate::language::error::Problem;
use crate::lower::{Bound, Lower, LowerError, Net, Slot, Want, storage_bytes};
use crate::reference::{Chip, Chips, Data, Evaluate, Matrix, State, accumulated};
use crate::spatial::{Emission, Primitive};

/// Causal depthwise convolution along the rows of each sequence.
///
/// `y[t] = act(sum over i of w[i] x[t - (taps - 1) + i])`; inputs before the first row come from the state, or are 0.
///
/// # Operands
/// `x: [m, n]`, `taps: [taps, n]`, optionally the state `R: [seqs of taps - 1, n]` (the last inputs), read and then replaced.
/// # Text
/// `causal conv of x with taps W over R, silu`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CausalConv {
    /// Taps.
    pub taps: u32,
    /// Whether silu follows.
    pub silu: bool,
}

impl Operation for CausalConv {
    const CODE: u32 = logos_bundle::table::layout::op::CONV;
    const REPLACES_STATE: bool = true;
    const FORM: Form = Form {
        name: "causal conv",
        operands: &[
            operand("x", OperandKind::Value),
            operand("taps", OperandKind::Weight),
            operand("R", OperandKind::State),
        ],
        optional: &[&[2]],
        text: &[
            Piece::Word("causal"),
            Piece::Word("conv"),
            Piece::Word("of"),
            Piece::Operand(0),
            Piece::Word("with"),
            Piece::Word("taps"),
            Piece::Operand(1),
            Piece::Optional(0, &[Piece::Word("over"), Piece::Operand(2)]),
        ],
        attributes: &[attribute("taps", 0, AttributeKind::RowsOf(1)), attribute("silu", 1, AttributeKind::Flag)],
        result: Element::Real,
    };

    fn attributes(&self) -> Words {
        [self.taps, u32::from(self.silu), 0, 0, 0, 0]
    }

    fn from_attributes(words: Words) -> Self {
        CausalConv { taps: words[0], silu: words[1] != 0 }
    }

    fn shape(&self, operands: Operands<'_>) -> Result<Shape, Problem> {
        let x = operands.at(0);
        expect_shape("taps", operands.at(1), Shape::matrix(self.taps, x.shape.cols))?;
        if let Some(state) = operands.get(2) {
            let seqs = state.shape.seqs;
            if !x.shape.rows.is_multiple_of(seqs) {
                return Err(wrong_shape("R", state, format!("of sequences dividing the {} rows", x.shape.rows)));
            }
            expect_shape("R", state, Shape { seqs, rows: self.taps.saturating_sub(1), cols: x.shape.cols })?;
        }
        Ok(x.shape)
    }

    fn sharding(&self, operands: Operands<'_>) -> Result<Sharding, Problem> {
        let x = operands.at(0);
        match x.sharding {
            Sharding::Whole | Sharding::Split { axis: Axis::Columns, .. } => {}
            Sharding::Split { axis: Axis::Rows | Axis::Experts, .. } | Sharding::Partial => {
                return Err(wrong_sharding(Self::FORM.name, "x", x, "whole or split columns"));
            }
        }
        expect_sharding(Self::FORM.name, "taps", operands.at(1), x.sharding)?;
        if let Some(state) = operands.get(2) {
            expect_sharding(Self::FORM.name, "R", state, x.sharding)?;
        }
        Ok(x.sharding)
    }

    const MACS_OF: MacsOf = MacsOf::Convolution;

    fn macs(&self, _: Operands<'_>, result: Shape, _: u32) -> Option<u64> {
        product(&[self.taps, result.rows, result.cols])
    }
}

impl Evaluate for CausalConv {
    fn evaluate(&self, chips: &mut Chips<'_>) -> Vec<Data> {
        chips.each_over(2, |chip, state| self.convolve(chip, state))
    }
}

impl CausalConv {
    /// One chip's channels, sequence by sequence; the state's rows are the last inputs, oldest first.
    fn convolve(&self, chip: Chip<'_>, mut state: Option<&mut State>) -> Matrix {
        let (x, weights) = (chip.real(0), chip.real(1));
        let (cols, before) = (x.cols(), (self.taps as usize).saturating_sub(1));
        let sequences = state.as_ref().map_or(1, |state| state.seqs());
        let tokens = x.rows() / sequences;
        let mut y = Matrix::zeros(x.rows(), cols);
        for sequence in 0..sequences {
            let mut inputs = match state.as_deref_mut() {
                Some(state) => state.sequence_mut(sequence).to_vec(),
                None => vec![0.0; before * cols],
            };
            inputs.extend_from_slice(&x.data()[sequence * tokens * cols..(sequence + 1) * tokens * cols]);
            for token in 0..tokens {
                let y = y.row_mut(sequence * tokens + token);
                for tap in 0..self.taps as usize {
                    let input = &inputs[(token + tap) * cols..];
                    for (y, (w, x)) in y.iter_mut().zip(weights.row(tap).iter().zip(input)) {
                        *y += w * x;
                    }
                    accumulated(y.len());
                }
                if self.silu {
                    y.iter_mut().for_each(|y| *y = silu(*y));
                }
            }
            if let Some(state) = state.as_deref_mut() {
                state.sequence_mut(sequence).copy_from_slice(&inputs[tokens * cols..]);
            }
        }
        y
    }
}

impl Lower for CausalConv {
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
        let (x, taps) = (bound.operands[0], bound.operands[1]);
        let ring = bound.operands.get(2).copied();
        let tile = net.tile(x);
        let tiles = net.tiles(x);
        let bytes = storage_bytes(u64::from(self.taps) * tile, net.value(taps).storage);
        let taps_load = net.load(0, taps, tiles, bytes);
        let ring_bytes = |columns: u64| {
            ring.map_or(0, |ring| {
                let rows = net.cx.seqs * net.cx.rows(ring);
                storage_bytes(rows.saturating_mul(columns), net.value(ring).storage)
            })
        };
        let (token, whole) = (ring_bytes(tile), ring_bytes(net.cx.cols(x)));
        let ring_load = ring.map(|ring| (net.load(1, ring, tiles, token), ring));
        let ops = 2 * u64::from(self.taps) + if self.silu { 4 } else { 0 };
        let conv = net.compute(2, Primitive::Map, tiles * net.groups, net.lanes(tile, ops), Emission::Stream(1));
        let port = net.weight_port();
        net.feed(conv, x, Want::Stream(1))?;
        net.feed_loaded(conv, taps_load, port)?;
        if let Some((load, ring)) = ring_load {
            net.feed_loaded(conv, load, port)?;
            let (firings, bytes) = if net.groups == 1 { (tiles, token) } else { (1, whole) };
            let store = net.store(3, ring, net.cx.tier(ring), firings, bytes);
            net.link(store, conv, port, Slot::one(bytes))?;
        }
        net.emit(bound.result, conv);
        net.mark_from_product(bound.result, net.is_from_product(x));
        Ok(())
    }
}

#[cfg(any(test, feature = "simulate"))]
mod fire {
    use super::CausalConv;
    use crate::ops::form::MAX_OPERANDS;
    use crate::reference::{Data, Matrix, State};
    use crate::simulate::machine::{Fire, Firing, Token, Trouble, part_of};
    use crate::spatial::Primitive;
    use std::sync::Arc;

    impl Fire for CausalConv {
        fn fire(&self, firing: &mut Firing<'_>) -> Result<(), Trouble> {
            let x = firing.operand(0)?;
            match (firing.primitive, firing.part) {
                (Primitive::Load, 0) => firing.load_rows(firing.operand(1)?, x, firing.index),
                (Primitive::Load, _) => {
                    let columns = firing.tile_columns(x, firing.index);
                    let ring = firing.operand(2)?;
                    let tile = firing.chip_state(ring)?.columns(columns);
                    firing.pass(Token::State(tile));
                    Ok(())
                }
                (Primitive::Store, _) => {
                    let ring = firing.operand(2)?;
                    // One tile a firing, or all of them in one.
                    for (n, state) in firing.states(0)?.into_iter().enumerate() {
                        let start = firing.tile_columns(x, firing.index + n).start;
                        firing.chip_state(ring)?.put_columns(start, &state);
                    }
                    Ok(())
                }
                _ => self.fire_tile(firing),
            }
        }
    }

    impl CausalConv {
        /// A tile of a group's rows: the inputs before them are the ring's, or those the group before left.
        fn fire_tile(&self, firing: &mut Firing<'_>) -> Result<(), Trouble> {
            let n = firing.within();
            let (x, taps) = (firing.real(0)?, firing.numbers(1, n)?);
            let carried = firing.has_port(2);
            if firing.group() == 0 {
                let state = if carried {
                    match firing.token(2, n)? {
                        Token::State(state) => state.clone(),
                        Token::Data(_) | Token::Weight(_) | Token::Empty => {
                            return Err(Trouble::Kind { expected: "a tile of a state" });
                        }
                    }
                } else {
                    let columns = firing.tile_columns(firing.operand(0)?, n).len();
                    State::new(firing.seqs, (self.taps as usize).saturating_sub(1), columns)
                };
                firing.memory.states.push(state);
            }
            let mut states = std::mem::take(&mut firing.memory.states);
            let state = states.get_mut(n).ok_or(Trouble::Absent { what: "ring" })?;
            let result = self.convolve_group(firing, &x, &taps, state)?;
            if carried && firing.groups == 1 {
                firing.pass(Token::State(state.clone()));
            } else if carried && firing.index + 1 == firing.firings {
                states.iter().for_each(|state| firing.pass(Token::State(state.clone())));
            }
            firing.memory.states = states;
            firing.emit(Data::Real(Arc::new(result)));
            Ok(())
        }

        /// The rows of a group, sequence by sequence: a group may begin and end within one.
        fn convolve_group(
            &self,
            firing: &mut Firing<'_>,
            x: &Matrix,
            taps: &Data,
            state: &mut State,
        ) -> Result<Matrix, Trouble> {
            let tokens = (firing.all_rows / firing.seqs).max(1);
            let rows = firing.rows();
            let mut y = Matrix::zeros(x.rows(), x.cols());
            let mut row = rows.start;
            while row < rows.end {
                let sequence = row / tokens;
                let end = ((sequence + 1) * tokens).min(rows.end);
                let part = row - rows.start..end - rows.start;
                let piece = Data::Real(Arc::new(part_of(x, part.clone(), 0..usize::MAX)));
                let mut carried = state.take_sequence(sequence);
                let mut data = [None; MAX_OPERANDS];
                (data[0], data[1]) = (Some(&piece), Some(taps));
                let Data::Real(made) = firing.evaluate(self, data, Some((2, &mut carried)))? else {
                    return Err(Trouble::Kind { expected: "numbers" });
                };
                state.give_sequence(sequence, carried);
                for (at, row) in part.enumerate() {
                    y.row_mut(row).copy_from_slice(made.row(at));
                }
                row = end;
            }
            Ok(y)
        }
    }
}
