//! Which part of a checkpoint tensor a chip loads.

use std::ops::Range;

use crate::author::StoredAxis;
use crate::language::ast::{Axis, Sharding};
use crate::spec::Weight;

/// What one chip loads of a stored tensor, or of each expert of one: the given indices of axis 0, of each the given ones of
/// axis 1. Axes beyond the second are folded into axis 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Ranges of stored axis 0, in the order of the weight's own indices, adjacent ones joined.
    pub axis0: Vec<Range<u64>>,
    /// Ranges of stored axis 1, likewise.
    pub axis1: Vec<Range<u64>>,
    /// Zeros that the chip's share has after the indices loaded, along the axis that indices are taken of.
    pub zeros: u64,
}

/// A weight as its checkpoint stores it.
#[derive(Clone, Copy, Debug)]
pub struct Stored<'a> {
    /// The tensor and the indices taken.
    pub weight: &'a Weight,
    /// Whether the tensor has an axis of experts before the others.
    pub stacked: bool,
    /// The axis (of one expert) along which indices are taken.
    pub taken: StoredAxis,
    /// Whether the program's rows are stored axis 1, its columns stored axis 0; else the other way round.
    pub transposed: bool,
    /// Zeros that the weight has after the indices taken, along their axis.
    pub padding: u32,
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

/// The slice of a weight that chip `chip` of `chips` loads.
///
/// # Errors
/// [`SliceError`] where the sharding does not cut the weight evenly.
pub fn slice(stored: Stored<'_>, sharding: Sharding, chips: u32, chip: u32) -> Result<Slice, SliceError> {
    if chip >= chips {
        return Err(SliceError::Chip { chip, chips });
    }
    let Stored { weight, stacked, taken: along, transposed, padding } = stored;
    let shape = weight.tensor.shape.get(usize::from(stacked)..).unwrap_or_default();
    let other = match along {
        StoredAxis::Zero => inner_len(shape)?,
        StoredAxis::One => u64::from(shape.first().copied().unwrap_or(0)),
    };
    let (taken, other) = (0..weight.take.len() + u64::from(padding), 0..other);
    let (taken, other) = match sharding {
        Sharding::Whole => (taken, other),
        // Which experts is [`experts`]'s to say; of each it is all.
        Sharding::Split { axis: Axis::Experts, .. } => (taken, other),
        Sharding::Partial => return Err(SliceError::Partial),
        Sharding::Split { axis: axis @ (Axis::Rows | Axis::Columns), parts } => {
            let is_columns = axis == Axis::Columns;
            let cut = if is_columns == transposed { StoredAxis::Zero } else { StoredAxis::One };
            if cut == along {
                (part(taken, parts, chips, chip)?, other)
            } else {
                (taken, part(other, parts, chips, chip)?)
            }
        }
    };
    let stored = weight.take.len();
    let zeros = taken.end.saturating_sub(taken.start.max(stored));
    let (taken, other) = (indices(weight, taken.start..taken.end.min(stored)), vec![other]);
    Ok(match along {
        StoredAxis::Zero => Slice { axis0: taken, axis1: other, zeros },
        StoredAxis::One => Slice { axis0: other, axis1: taken, zeros },
    })
}

/// The experts, of `count`, that chip `chip` of `chips` loads of their weight: all, but where they lie whole over the chips.
///
/// # Errors
/// [`SliceError`] where they do not lie evenly.
pub fn experts(count: u32, sharding: Sharding, chips: u32, chip: u32) -> Result<Range<u32>, SliceError> {
    match sharding {
        Sharding::Split { axis: Axis::Experts, parts } => {
            let own = part(0..u64::from(count), parts, chips, chip)?;
            // No more than `count`.
            Ok(own.start as u32..own.end as u32)
        }
        Sharding::Split { axis: Axis::Rows | Axis::Columns, .. } | Sharding::Whole | Sharding::Partial => Ok(0..count),
    }
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
fn indices(weight: &Weight, range: Range<u64>) -> Vec<Range<u64>> {
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

    /// A tensor of its own, stored `[out, in]`.
    fn of(weight: &Weight) -> Stored<'_> {
        Stored { weight, stacked: false, taken: StoredAxis::Zero, transposed: true, padding: 0 }
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
        let got = slice(of(&w), columns(4), 4, 2).unwrap();
        assert_eq!(got, Slice { axis0: vec![6..9], axis1: vec![0..5], zeros: 0 });
    }

    #[test]
    fn input_features_are_cut_along_stored_axis_1() {
        let w = weight(&[12, 6], Take::range(0, 12));
        let got = slice(of(&w), rows(2), 2, 1).unwrap();
        assert_eq!(got, Slice { axis0: vec![0..12], axis1: vec![3..6], zeros: 0 });
    }

    #[test]
    fn fewer_parts_than_chips_replicate_over_neighbours() {
        let w = weight(&[4, 6], Take::range(0, 4));
        let chips: Vec<_> = (0..4).map(|c| slice(of(&w), columns(2), 4, c).unwrap().axis0).collect();
        assert_eq!(chips, [[0..2], [0..2], [2..4], [2..4]]);
    }

    #[test]
    fn strided_runs_are_followed_and_cut_inside() {
        // Heads of 2 columns of which every other one is a gate: q takes 0,1, 4,5, 8,9.
        let w = weight(&[12, 1], Take { offset: 0, run: 2, stride: 4, count: 3 });
        assert_eq!(slice(of(&w), columns(3), 3, 1).unwrap().axis0, [4..6]);
        assert_eq!(slice(of(&w), columns(2), 2, 1).unwrap().axis0, [5..6, 8..10]);
        let joined = weight(&[12, 1], Take { offset: 2, run: 2, stride: 2, count: 3 });
        assert_eq!(slice(of(&joined), Sharding::Whole, 1, 0).unwrap().axis0, [2..8]);
    }

    #[test]
    fn padding_is_loaded_from_nowhere() {
        // 7 rows of a vocabulary as 12, over 4 chips: whole, one of three, none, none.
        let w = weight(&[7, 5], Take::range(0, 7));
        let padded = Stored { padding: 5, ..of(&w) };
        let loads = |chip| slice(padded, columns(4), 4, chip).map(|s| (s.axis0, s.zeros)).unwrap();
        let expected = [(vec![0..3], 0), (vec![3..6], 0), (vec![6..7], 2), (vec![], 3)];
        assert_eq!([0, 1, 2, 3].map(loads), expected);
        let whole = slice(padded, Sharding::Whole, 1, 0).unwrap();
        assert_eq!((whole.axis0, whole.axis1, whole.zeros), (vec![0..7], vec![0..5], 5));
        assert_eq!(slice(padded, columns(5), 5, 0), Err(SliceError::Ragged { len: 12, parts: 5 }));
    }

    #[test]
    fn axes_beyond_the_second_fold() {
        let taps = weight(&[8, 1, 4], Take::range(0, 8));
        assert_eq!(
            slice(of(&taps), columns(2), 2, 0).unwrap(),
            Slice { axis0: vec![0..4], axis1: vec![0..4], zeros: 0 }
        );
    }

    #[test]
    fn experts_of_a_stack_are_cut_as_one_is() {
        // Three experts, gate and up features in halves of axis 0: up's.
        let w = weight(&[3, 8, 5], Take::range(4, 4));
        let stack = Stored { stacked: true, ..of(&w) };
        let got = slice(stack, columns(2), 2, 1).unwrap();
        assert_eq!(got, Slice { axis0: vec![6..8], axis1: vec![0..5], zeros: 0 });
        // The other way round, gate and up features in turn along axis 1: gate's.
        let w = weight(&[3, 5, 8], Take { offset: 0, run: 1, stride: 2, count: 4 });
        let stack = Stored { stacked: true, taken: StoredAxis::One, transposed: false, ..of(&w) };
        let got = slice(stack, columns(2), 2, 1).unwrap();
        assert_eq!(got, Slice { axis0: vec![0..5], axis1: vec![4..5, 6..7], zeros: 0 });
        // Down, rows cut: all output features of half the inputs.
        let w = weight(&[3, 4, 5], Take::range(0, 5));
        let stack = Stored { stacked: true, taken: StoredAxis::One, transposed: false, ..of(&w) };
        let got = slice(stack, rows(2), 2, 1).unwrap();
        assert_eq!(got, Slice { axis0: vec![2..4], axis1: vec![0..5], zeros: 0 });
        let apart = weight(&[5, 4], Take::range(0, 5));
        let got = slice(of(&apart), rows(2), 2, 1).unwrap();
        assert_eq!(got, Slice { axis0: vec![0..5], axis1: vec![2..4], zeros: 0 });
    }

    #[test]
    fn what_does_not_cut_is_refused() {
        let w = weight(&[12, 5], Take::range(0, 12));
        assert_eq!(slice(of(&w), columns(8), 8, 0), Err(SliceError::Ragged { len: 12, parts: 8 }));
        assert_eq!(slice(of(&w), columns(3), 4, 0), Err(SliceError::Parts { parts: 3, chips: 4 }));
        assert_eq!(slice(of(&w), columns(4), 4, 4), Err(SliceError::Chip { chip: 4, chips: 4 }));
        assert_eq!(slice(of(&w), Sharding::Partial, 4, 0), Err(SliceError::Partial));
    }
}
