//! The columns of a token, value by value.
//!
//! Values that an elementwise statement reads or binds together have equal tiles; a value cut into heads has a tile
//! that holds whole heads, or divides one. Everything else takes the chip's own tile.

use crate::language::ast::{Axis, Program, Statement, ValueId};
use crate::ops::Op;

use super::LowerError;
use super::net::share;

/// For each value its tile.
///
/// # Errors
/// [`LowerError::Tile`] where heads of different widths meet in one elementwise statement.
pub(super) fn assign(program: &Program, most: u64) -> Result<Vec<u64>, LowerError> {
    let n = program.values.len();
    let mut class: Vec<u32> = (0..n as u32).collect();
    let mut heads: Vec<Heads> = Vec::new();
    for statement in &program.statements {
        match statement {
            Statement::Let { result, op, operands } => {
                for &operand in tile_mates(op, operands) {
                    union(&mut class, operand.0, result.0);
                }
                head_columns(program, op, operands, *result, &mut heads);
            }
            Statement::Append { value, state, .. } => union(&mut class, value.0, state.0),
            Statement::Show { .. } => {}
        }
    }
    let mut width: Vec<Option<Heads>> = vec![None; n];
    for heads in heads {
        let root = find(&mut class, heads.value.0) as usize;
        match &mut width[root] {
            None => width[root] = Some(heads),
            Some(others) if others.columns == heads.columns => others.apart |= heads.apart,
            Some(others) => {
                let value = program.value(heads.value).name.clone();
                return Err(LowerError::Tile { value, one: others.columns, other: heads.columns });
            }
        }
    }
    let mut tiles = Vec::with_capacity(n);
    for (i, value) in program.values.iter().enumerate() {
        let root = find(&mut class, i as u32) as usize;
        let columns = share(value, Axis::Columns).max(1);
        let tile = width[root].map_or(most, |heads| head_tile(heads, most));
        tiles.push(tile.min(columns));
    }
    Ok(tiles)
}

/// A value cut into heads.
#[derive(Clone, Copy)]
struct Heads {
    value: ValueId,
    columns: u64,
    /// Whether a token is of one head.
    apart: bool,
}

/// Whole heads up to the chip's tile, or an even part of a wider head.
fn head_tile(heads: Heads, most: u64) -> u64 {
    let head = heads.columns.max(1);
    if head <= most {
        return if heads.apart { head } else { head * (most / head) };
    }
    let parts = head.div_ceil(most);
    if head.is_multiple_of(parts) { head / parts } else { head }
}

/// The operands whose tokens are the result's.
fn tile_mates<'a>(op: &Op, operands: &'a [ValueId]) -> &'a [ValueId] {
    match op {
        Op::Plus(_) | Op::Times(_) | Op::SwiGlu(_) | Op::GeGlu(_) | Op::Decay(_) => operands,
        Op::Scaled(_)
        | Op::Silu(_)
        | Op::Gelu(_)
        | Op::Sigmoid(_)
        | Op::Tanh(_)
        | Op::SoftCap(_)
        | Op::L2Norm(_)
        | Op::RopeOp(_)
        | Op::LastRow(_)
        | Op::RowScale(_)
        | Op::SumOverChips(_) => &operands[..1],
        Op::RmsNorm(norm) => row_norm_mates(norm.heads, operands),
        Op::LayerNorm(norm) => row_norm_mates(norm.heads, operands),
        Op::CausalConv(_) => operands,
        Op::MatMul(_)
        | Op::AttentionOp(_)
        | Op::GatedDeltaOp(_)
        | Op::Rows(_)
        | Op::ArgMax(_)
        | Op::GatherOverChips(_)
        | Op::RouterOp(_)
        | Op::ExpertsOp(_)
        | Op::HeadMatMul(_)
        | Op::LatentAttentionOp(_) => &[],
    }
}

/// A row norm's weights go tile by tile with the row; a head-wise norm's are one row for all heads.
fn row_norm_mates(heads: u32, operands: &[ValueId]) -> &[ValueId] {
    if heads == 0 { operands } else { &operands[..1] }
}

/// The values an operation reads or binds head by head, with the columns of a head.
fn head_columns(program: &Program, op: &Op, operands: &[ValueId], result: ValueId, heads: &mut Vec<Heads>) {
    let of = |value: ValueId, count: u32| {
        let columns = u64::from(program.value(value).shape.cols) / u64::from(count.max(1));
        Heads { value, columns, apart: false }
    };
    match op {
        Op::RmsNorm(norm) if norm.heads > 0 => heads.push(of(operands[0], norm.heads)),
        Op::LayerNorm(norm) if norm.heads > 0 => heads.push(of(operands[0], norm.heads)),
        Op::L2Norm(norm) => heads.push(of(operands[0], norm.heads)),
        Op::RopeOp(rope) => heads.push(of(operands[0], rope.heads)),
        Op::AttentionOp(attention) => {
            heads.push(of(operands[0], attention.heads));
            heads.push(of(operands[1], attention.kv_heads));
            heads.push(of(operands[2], attention.kv_heads));
            heads.push(of(result, attention.heads));
        }
        Op::GatedDeltaOp(delta) => {
            heads.push(of(operands[0], delta.key_heads));
            heads.push(of(operands[1], delta.key_heads));
            heads.push(of(operands[2], delta.heads));
            heads.push(of(result, delta.heads));
        }
        Op::HeadMatMul(product) => heads.push(Heads { apart: true, ..of(result, product.heads) }),
        Op::LatentAttentionOp(attention) => {
            heads.extend([operands[0], operands[1], result].map(|value| of(value, attention.heads)));
        }
        Op::RmsNorm(_)
        | Op::LayerNorm(_)
        | Op::MatMul(_)
        | Op::Plus(_)
        | Op::Times(_)
        | Op::Scaled(_)
        | Op::Silu(_)
        | Op::Gelu(_)
        | Op::Sigmoid(_)
        | Op::Tanh(_)
        | Op::SoftCap(_)
        | Op::SwiGlu(_)
        | Op::GeGlu(_)
        | Op::CausalConv(_)
        | Op::Decay(_)
        | Op::Rows(_)
        | Op::LastRow(_)
        | Op::ArgMax(_)
        | Op::SumOverChips(_)
        | Op::GatherOverChips(_)
        | Op::RouterOp(_)
        | Op::ExpertsOp(_)
        | Op::RowScale(_) => {}
    }
}

fn find(class: &mut [u32], mut i: u32) -> u32 {
    while class[i as usize] != i {
        class[i as usize] = class[class[i as usize] as usize];
        i = class[i as usize];
    }
    i
}

fn union(class: &mut [u32], a: u32, b: u32) {
    let (a, b) = (find(class, a), find(class, b));
    // The older value stays the root, so that the answer does not depend on the order of unions.
    if a < b { class[b as usize] = a } else { class[a as usize] = b }
}
