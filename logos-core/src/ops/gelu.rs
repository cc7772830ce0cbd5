//! See [`Gelu`].

/// Gaussian error linear unit.
///
/// # Operands
/// `a: [m, n]`.
/// # Text
/// `gelu of a`, `gelu of a, tanh`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gelu {
    /// The tanh form.
    pub tanh: bool,
}
