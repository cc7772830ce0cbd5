//! Tensor parallelism: which widths a model admits, and which part of a checkpoint tensor a chip loads.
//!
//! In: a [`ModelSpec`](crate::spec::ModelSpec) and a width. Out: every reason against the width, or slices. Does not
//! know of deployments' contexts and batches, nor of memory: a width that is admitted may still not fit.
//!
#![doc = include_str!("differences.md")]

mod admission;
mod slice;

pub use admission::{SplitReason, admission, admits, padding_admits, widths};
pub use slice::{Slice, SliceError, Stored, experts, slice};

#[cfg(test)]
mod tests;
