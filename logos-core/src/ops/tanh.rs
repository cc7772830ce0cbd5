//! See [`Tanh`].

/// Hyperbolic tangent.
///
/// # Operands
/// `a: [m, n]`.
/// # Text
/// `tanh of a`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tanh;
