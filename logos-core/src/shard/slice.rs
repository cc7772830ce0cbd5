//! Which part of a checkpoint tensor a chip loads.

use std::ops::Range;

use crate::language::ast::{Axis, Sharding};
use crate::spec::Weight;

/// What one chip loads of a stored tensor: the given indices of axis 0, of each the given range of axis 1. Axes beyond
/// the second are folded into axis 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Ranges of stored axis 0, in the order of the weight's own indices, adjacent ones joined.
    pub axis0: Vec<Range<u64>>,
    /// Range of stored axis 1.
    pub axis1: Range<u64>,
}

/// A slice that does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SliceError {
    /// The chip is not one of the deployment's.
    #[error("chip {chip} of {chips} does not exist: chips are counted from 0")]
    Chip {
        /// Asked for.
        chip: u32,
        /// Chips of the deployment.
        chips: u32,
    },
    /// The axis is not a multiple of the parts.
    #[error("{len} indices do not divide into {parts} parts")]
    Ragged {
        /// Indices.
        len: u64,
        /// Parts.
        parts: u32,
    },
    /// The parts do not divide the chips.
    #[error("{parts} parts do not lie evenly over {chips} chips")]
    Parts {
        /// Parts.
        parts: u32,
        /// Chips.
        chips: u32,
    },
    /// Stored tensors are whole or split.
    #[error("a stored tensor is not a partial sum")]
    Partial,
    /// A stored axis has more than 2^64 indices.
    #[error("the stored tensor is too large")]
    Overflow,
}

/// The slice of `weight` that chip `chip` of `chips` loads. Where `transposed`, the program's rows are stored axis 1 and its
/// columns the taken indices of axis 0; else the other way round.
///
/// # Errors
/// [`SliceError`] where the sharding does not cut the weight evenly.
pub fn slice(
    weight: &Weight,
    transposed: bool,
    sharding: Sharding,
    chips: u32,
    chip: u32,
) -> Result<Slice, SliceError> {
    if chip >= chips {
        return Err(SliceError::Chip { chip, chips });
    }
    let taken = 0..weight.take.len();
    let inner = 0..inner_len(&weight.tensor.shape)?;
    let (taken, inner) = match sharding {
        Sharding::Whole => (taken, inner),
        Sharding::Partial => return Err(SliceError::Partial),
        Sharding::Split { axis, parts } => match (axis, transposed) {
            (Axis::Columns, true) | (Axis::Rows, false) => (part(taken, parts, chips, chip)?, inner),
            (Axis::Rows, true) | (Axis::Columns, false) => (taken, part(inner, parts, chips, chip)?),
        },
    };
    Ok(Slice { axis0: stored(weight, taken), axis1: inner })
}

/// Length of stored axis 1, further axes folded in; 1 for a vector.
fn inner_len(shape: &[u32]) -> Result<u64, SliceError> {
    let inner = shape.get(1..).unwrap_or_default();
    inner.iter().try_fold(1u64, |n, &d| n.checked_mul(u64::from(d))).ok_or(SliceError::Overflow)
}

/// The part of an axis that a chip holds: part `chip * parts / chips`.
fn part(axis: Range<u64>, parts: u32, chips: u32, chip: u32) -> Result<Range<u64>, SliceError> {
    if parts == 0 || !chips.is_multiple_of(parts) {
        return Err(SliceError::Parts { parts, chips });
    }
    let len = axis.end;
    if !len.is_multiple_of(u64::from(parts)) {
        return Err(SliceError::Ragged { len, parts });
    }
    let each = len / u64::from(parts);
    let index = u64::from(chip / (chips / parts));
    Ok(index * each..(index + 1) * each)
}

/// The stored indices of a range of a weight's own: run by run, adjacent ones joined.
fn stored(weight: &Weight, range: Range<u64>) -> Vec<Range<u64>> {
    let take = weight.take;
    let (run, stride, offset) = (u64::from(take.run), u64::from(take.stride), u64::from(take.offset));
    let mut ranges: Vec<Range<u64>> = Vec::new();
    let mut index = range.start;
    while index < range.end {
        // An empty run takes no index, so `range` is empty and the loop is never entered.
        let (which, within) = (index / run, index % run);
        let len = (run - within).min(range.end - index);
        let start = offset + which * stride + within;
        match ranges.last_mut() {
            Some(last) if last.end == start => last.end = start + len,
            Some(_) | None => ranges.push(start..start + len),
        }
        index += len;
    }
    ranges
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init, reason = "a list of ranges that has one")]
mod tests {
    use super::*;
    use crate::spec::{Take, Tensor};

    fn weight(shape: &[u32], take: Take) -> Weight {
        Weight { tensor: Tensor { name: "w".into(), shape: shape.to_vec() }, take }
    }

    fn columns(parts: u32) -> Sharding {
        Sharding::Split { axis: Axis::Columns, parts }
    }

    fn rows(parts: u32) -> Sharding {
        Sharding::Split { axis: Axis::Rows, parts }
    }

    #[test]
    fn output_features_are_cut_along_stored_axis_0() {
        let w = weight(&[12, 5], Take::range(0, 12));
        let got = slice(&w, true, columns(4), 4, 2).unwrap();
        assert_eq!(got, Slice { axis0: vec![6..9], axis1: 0..5 });
    }

    #[test]
    fn input_features_are_cut_along_stored_axis_1() {
        let w = weight(&[12, 6], Take::range(0, 12));
        let got = slice(&w, true, rows(2), 2, 1).unwrap();
        assert_eq!(got, Slice { axis0: vec![0..12], axis1: 3..6 });
    }

    #[test]
    fn fewer_parts_than_chips_replicate_over_neighbours() {
        let w = weight(&[4, 6], Take::range(0, 4));
        let chips: Vec<_> = (0..4).map(|c| slice(&w, true, columns(2), 4, c).unwrap().axis0).collect();
        assert_eq!(chips, [[0..2], [0..2], [2..4], [2..4]]);
    }

    #[test]
    fn strided_runs_are_followed_and_cut_inside() {
        // Heads of 2 columns of which every other one is a gate: q takes 0,1, 4,5, 8,9.
        let w = weight(&[12, 1], Take { offset: 0, run: 2, stride: 4, count: 3 });
        assert_eq!(slice(&w, true, columns(3), 3, 1).unwrap().axis0, [4..6]);
        assert_eq!(slice(&w, true, columns(2), 2, 1).unwrap().axis0, [5..6, 8..10]);
        let joined = weight(&[12, 1], Take { offset: 2, run: 2, stride: 2, count: 3 });
        assert_eq!(slice(&joined, true, Sharding::Whole, 1, 0).unwrap().axis0, [2..8]);
    }

    #[test]
    fn axes_beyond_the_second_fold() {
        let taps = weight(&[8, 1, 4], Take::range(0, 8));
        assert_eq!(slice(&taps, true, columns(2), 2, 0).unwrap(), Slice { axis0: vec![0..4], axis1: 0..4 });
    }

    #[test]
    fn what_does_not_cut_is_refused() {
        let w = weight(&[12, 5], Take::range(0, 12));
        assert_eq!(slice(&w, true, columns(8), 8, 0), Err(SliceError::Ragged { len: 12, parts: 8 }));
        assert_eq!(slice(&w, true, columns(3), 4, 0), Err(SliceError::Parts { parts: 3, chips: 4 }));
        assert_eq!(slice(&w, true, columns(4), 4, 4), Err(SliceError::Chip { chip: 4, chips: 4 }));
        assert_eq!(slice(&w, true, Sharding::Partial, 4, 0), Err(SliceError::Partial));
    }
}
