//! What a firing of the experts' stages computes.

use super::{ExpertsOp, activated, bias_parts, own, slots};
use crate::reference::{Data, Matrix};
use crate::simulate::machine::{Fire, Firing, Token, Trouble};
use crate::spatial::Primitive;
use std::ops::Range;
use std::sync::Arc;

/// A block of rows that are routed to one expert: each row with its score.
struct Block {
    expert: usize,
    rows: Vec<(usize, f32)>,
}

impl Fire for ExpertsOp {
    fn fire(&self, firing: &mut Firing<'_>) -> Result<(), Trouble> {
        let own = own(self.count, firing.program.value(firing.operand(4)?).sharding, firing.chip);
        let (_, slots) = slots(firing.group_rows as u64, own.len() as u64, u64::from(self.top));
        let tiles = (firing.firings / slots as usize).max(1);
        let (slot, n) = (firing.index / tiles, firing.index % tiles);
        match (firing.primitive, firing.part) {
            (Primitive::Gather, part) => {
                let block = self.block(&*firing.held(0)?, firing.group_rows, own.clone(), slot);
                let Some(block) = block else { return nothing(firing) };
                self.gather(firing, part as usize, block.expert - own.start, n, tiles)
            }
            (Primitive::GemmA, _) => {
                let block = self.block(&*firing.held(1)?, firing.group_rows, own.clone(), slot);
                let Some(block) = block else { return nothing(firing) };
                let x = firing.held(0)?;
                let mut input = Matrix::zeros(block.rows.len(), x.cols());
                for (to, &(row, score)) in block.rows.iter().enumerate() {
                    let factor = if self.on_input { score } else { 1.0 };
                    input.row_mut(to).iter_mut().zip(x.row(row)).for_each(|(to, x)| *to = x * factor);
                }
                let weight = firing.weight(2, 0)?;
                let mut y = Matrix::zeros(input.rows(), weight.cols());
                weight.add_product(&input, &mut y);
                if firing.has_port(3) {
                    let bias = firing.row(3, 0)?;
                    for row in 0..y.rows() {
                        y.row_mut(row).iter_mut().zip(bias.row(0)).for_each(|(y, b)| *y += b);
                    }
                }
                firing.pass(y);
                Ok(())
            }
            (Primitive::Map, _) => {
                let (Token::Data(Data::Real(gate)), Token::Data(Data::Real(up))) =
                    (firing.token(0, 0)?.clone(), firing.token(1, 0)?.clone())
                else {
                    return nothing(firing);
                };
                let act = gate.data().iter().zip(up.data());
                let act = act.map(|(&gate, &up)| activated(self.activation, gate, up)).collect();
                firing.pass(gate.with_data(act));
                Ok(())
            }
            (Primitive::GemmB, _) => self.add_down(firing, own, slot, n),
            _ => Err(Trouble::Part { part: firing.part }),
        }
    }
}

/// A slot that no rows were routed to.
fn nothing(firing: &mut Firing<'_>) -> Result<(), Trouble> {
    firing.pass(Token::Empty);
    Ok(())
}

impl ExpertsOp {
    /// The block of a slot: the chip's own experts in ascending order, the rows of each in blocks.
    fn block(&self, routed: &Matrix, group_rows: usize, own: Range<usize>, slot: usize) -> Option<Block> {
        let (size, _) = slots(group_rows as u64, own.len() as u64, u64::from(self.top));
        let mut of_expert: Vec<Vec<(usize, f32)>> = vec![Vec::new(); self.count as usize];
        for row in 0..routed.rows() {
            let (ids, scores) = routed.row(row).split_at(self.top as usize);
            for (id, score) in ids.iter().zip(scores) {
                of_expert.get_mut(*id as usize)?.push((row, *score));
            }
        }
        let blocks = of_expert.iter().enumerate().take(own.end).skip(own.start);
        let mut blocks = blocks.flat_map(|(expert, rows)| rows.chunks(size as usize).map(move |rows| (expert, rows)));
        blocks.nth(slot).map(|(expert, rows)| Block { expert, rows: rows.to_vec() })
    }

    /// A tile of the weight of an expert, by its place among the chip's, or of its bias.
    fn gather(
        &self,
        firing: &mut Firing<'_>,
        part: usize,
        expert: usize,
        n: usize,
        tiles: usize,
    ) -> Result<(), Trouble> {
        let inner = firing.cols(firing.operand(3)?);
        let tile = inner.div_ceil(tiles);
        let columns = n * tile..((n + 1) * tile).min(inner);
        let weight = firing.chip_expert(firing.operand(2 + part)?, expert)?;
        let token: Token = match part {
            0 | 1 => Token::Weight(weight.tile(0..usize::MAX, columns)),
            2 => Token::Weight(weight.tile(columns, 0..usize::MAX)),
            3 | 4 => weight.tile(0..usize::MAX, columns).matrix().into(),
            _ => weight.matrix().into(),
        };
        firing.pass(token);
        Ok(())
    }

    /// Adds a tile's share of a block's result to its rows; the bias with the block's first tile.
    fn add_down(&self, firing: &mut Firing<'_>, own: Range<usize>, slot: usize, n: usize) -> Result<(), Trouble> {
        let columns = firing.cols(firing.result);
        if firing.index == 0 {
            firing.memory.matrices = vec![Matrix::zeros(firing.all_rows, columns)];
        }
        let mut sum = firing.memory.matrices.pop().ok_or(Trouble::Absent { what: "sum" })?;
        if let Token::Data(Data::Real(act)) = firing.token(0, 0)?.clone()
            && let Some(block) = self.block(&*firing.held(1)?, firing.group_rows, own, slot)
        {
            let mut out = Matrix::zeros(act.rows(), columns);
            firing.weight(2, 0)?.add_product(&act, &mut out);
            if n == 0 && firing.has_port(3) {
                // Where experts are cut, each chip adds its part of the bias, which is whole on all of them.
                let parts = bias_parts(firing.program.value(firing.operand(4)?).sharding);
                let bias = firing.row(3, 0)?;
                for row in 0..out.rows() {
                    let out = out.row_mut(row).iter_mut();
                    out.zip(bias.row(0)).for_each(|(out, b)| *out += b / parts);
                }
            }
            for (from, &(row, score)) in block.rows.iter().enumerate() {
                let factor = if self.on_input { 1.0 } else { score };
                sum.row_mut(row).iter_mut().zip(out.row(from)).for_each(|(sum, out)| *sum += factor * out);
            }
        }
        if firing.index + 1 == firing.firings {
            firing.emit(Data::Real(Arc::new(sum)));
        } else {
            firing.memory.matrices.push(sum);
        }
        Ok(())
    }
}
