//! Exact sizes: sums and products in 128 bits, checked, and what a value takes where it lies.

use crate::language::ast::{Axis, Shape, Sharding, Storage, Value};
use crate::spec::SCALE_BYTES;
use crate::{At, Code, Refusal};

/// A size left the bits it is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a size is too large to be counted")]
pub struct TooLarge;

impl From<TooLarge> for Refusal {
    fn from(TooLarge: TooLarge) -> Refusal {
        let message = "the model's bytes on one chip leave 64 bits";
        Refusal::new(Code::SizeOverflow, At::Model, message).help("check the sizes in the model's config")
    }
}

pub(super) type Size = Result<u128, TooLarge>;

pub(super) fn add(a: u128, b: u128) -> Size {
    a.checked_add(b).ok_or(TooLarge)
}

pub(super) fn mul(a: u128, b: u128) -> Size {
    a.checked_mul(b).ok_or(TooLarge)
}

/// A size that is to be shown.
pub(super) fn word(n: u128) -> Result<u64, TooLarge> {
    u64::try_from(n).map_err(|_| TooLarge)
}

/// The sum of two shown sizes.
pub(super) fn sum(a: u64, b: u64) -> Result<u64, TooLarge> {
    a.checked_add(b).ok_or(TooLarge)
}

/// The product of a shown size and a number of times.
pub(super) fn times(a: u64, n: u64) -> Result<u64, TooLarge> {
    a.checked_mul(n).ok_or(TooLarge)
}

/// Elements of a shape.
pub(super) fn elements(shape: Shape) -> Size {
    mul(u128::from(shape.seqs) * u128::from(shape.rows), u128::from(shape.cols))
}

/// Bytes of `runs` runs of `run` elements that are stored together, and of the scales beside them. The last block of a run has as many
/// quants as are left, and its scale.
pub(super) fn stored(runs: u128, run: u128, storage: Storage) -> Size {
    let (elements, bytes) = storage.block();
    let (elements, bytes) = (u128::from(elements), u128::from(bytes));
    // Of a block's bytes, what is not quants.
    let scale = match storage {
        Storage::Q8_0 => 2,
        Storage::Mxfp4 => 1,
        Storage::F32 | Storage::F16 | Storage::Bf16 | Storage::I32 | Storage::F8E4M3 => 0,
    };
    let rest = run % elements;
    let partial = if rest == 0 { 0 } else { (rest * (bytes - scale)).div_ceil(elements) + scale };
    let all = mul(runs, add(mul(run / elements, bytes)?, partial)?)?;
    let Some((along, across)) = storage.scaled() else { return Ok(all) };
    let scales = mul(run.div_ceil(u128::from(along)), runs.div_ceil(u128::from(across)))?;
    add(all, mul(scales, u128::from(SCALE_BYTES))?)
}

/// Bytes of a value of this shape: blocks lie along the rows.
pub(super) fn bytes_of(shape: Shape, storage: Storage) -> Size {
    mul(u128::from(shape.seqs), stored(u128::from(shape.cols), u128::from(shape.rows), storage)?)
}

/// The part of a value that one chip holds.
pub(super) fn share(value: &Value) -> Shape {
    let shape = value.shape;
    match value.sharding {
        Sharding::Whole | Sharding::Partial => shape,
        Sharding::Split { axis: Axis::Rows, parts } => Shape { rows: shape.rows.div_ceil(parts.max(1)), ..shape },
        Sharding::Split { axis: Axis::Columns, parts } => Shape { cols: shape.cols.div_ceil(parts.max(1)), ..shape },
        Sharding::Split { axis: Axis::Experts, parts } => Shape { seqs: shape.seqs.div_ceil(parts.max(1)), ..shape },
    }
}
