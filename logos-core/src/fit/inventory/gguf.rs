//! Weights as a GGUF file of Q8_0 matrices stores them.
//!
//! Source: `convert_hf_to_gguf.py` of ggml-org/llama.cpp, `--outtype q8_0`: a matrix of products and the embedding are Q8_0, or F16 where
//! a row is not whole blocks; vectors, norms, convolution taps, routers and gates of shared experts are F32.

use super::super::size::{TooLarge, stored, sum, times, word};
use crate::language::ast::{Program, Statement, Storage};
use crate::ops::form::OperandKind;
use crate::ops::operation::MacsOf;

/// Tensors and bytes of a GGUF file, headers and padding left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gguf {
    /// Tensors stored Q8_0.
    pub q8_0_tensors: u64,
    /// Their bytes.
    pub q8_0_bytes: u64,
    /// Tensors stored F16: matrices whose rows are not whole blocks.
    pub f16_tensors: u64,
    /// Their bytes.
    pub f16_bytes: u64,
    /// Tensors stored F32.
    pub f32_tensors: u64,
    /// Their bytes.
    pub f32_bytes: u64,
    /// All bytes.
    pub bytes: u64,
}

impl Gguf {
    /// Of `count` tensors of one name, `runs` of `run` elements in all.
    pub(super) fn of(is_matrix: bool, (runs, run): (u128, u128), count: u32) -> Result<Gguf, TooLarge> {
        let count = u64::from(count);
        let (block, _) = Storage::Q8_0.block();
        let bytes = |storage| word(stored(runs, run, storage)?);
        let none = Gguf::default();
        Ok(match is_matrix {
            true if run.is_multiple_of(u128::from(block)) => {
                let bytes = bytes(Storage::Q8_0)?;
                Gguf { q8_0_tensors: count, q8_0_bytes: bytes, bytes, ..none }
            }
            true => {
                let bytes = bytes(Storage::F16)?;
                Gguf { f16_tensors: count, f16_bytes: bytes, bytes, ..none }
            }
            false => {
                let bytes = bytes(Storage::F32)?;
                Gguf { f32_tensors: count, f32_bytes: bytes, bytes, ..none }
            }
        })
    }

    pub(super) fn add(&mut self, other: &Gguf, n: u64) -> Result<(), TooLarge> {
        let Gguf { q8_0_tensors, q8_0_bytes, f16_tensors, f16_bytes, f32_tensors, f32_bytes, bytes } = self;
        for (sum_of, one) in [
            (q8_0_tensors, other.q8_0_tensors),
            (q8_0_bytes, other.q8_0_bytes),
            (f16_tensors, other.f16_tensors),
            (f16_bytes, other.f16_bytes),
            (f32_tensors, other.f32_tensors),
            (f32_bytes, other.f32_bytes),
            (bytes, other.bytes),
        ] {
            *sum_of = sum(*sum_of, times(one, n)?)?;
        }
        Ok(())
    }
}

/// For each value of a program, whether it is the matrix of a product with weights.
pub(super) fn products(program: &Program) -> Vec<bool> {
    let mut products = vec![false; program.values.len()];
    for statement in &program.statements {
        let Statement::Let { op, operands, .. } = statement else { continue };
        if op.macs_of() != MacsOf::Weights {
            continue;
        }
        for (operand, id) in op.form().operands.iter().zip(op.form().place(operands)) {
            let is_weight = matches!(operand.kind, OperandKind::Weight | OperandKind::Experts);
            let Some((value, product)) =
                id.and_then(|id| program.values.get(id.0 as usize).zip(products.get_mut(id.0 as usize)))
            else {
                continue;
            };
            // A bias is one row.
            *product |= is_weight && value.shape.rows > 1;
        }
    }
    products
}
