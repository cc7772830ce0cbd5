//! See [`Sigmoid`].

/// Logistic function.
///
/// # Operands
/// `a: [m, n]`.
/// # Text
/// `sigmoid of a`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sigmoid;
