//! See [`Silu`].

/// `a * sigmoid(a)`.
///
/// # Operands
/// `a: [m, n]`.
/// # Text
/// `silu of a`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Silu;
