//! See [`ArgMax`].

/// The column of the largest element of each row; the lowest of equals. Over the chips where the operand is split.
///
/// # Operands
/// `x: [m, n]`. Result `[m, 1]` of Int.
/// # Text
/// `argmax of x`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArgMax;
