//! See [`SumOverChips`].

/// All-reduce: the sum of every chip's part.
///
/// # Operands
/// `x: [m, n]`, partial. Result whole.
/// # Text
/// `sum of x over chips`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SumOverChips;
