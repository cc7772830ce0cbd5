//! See [`Times`].

/// Elementwise product, or by a one-row weight.
///
/// # Operands
/// `a: [m, n]`, `b: [m, n]` or a weight `[1, n]`.
/// # Text
/// `a times b`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times;
