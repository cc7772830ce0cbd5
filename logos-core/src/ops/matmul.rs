//! See [`MatMul`].

/// Matrix product `x W`.
///
/// # Operands
/// `x: [m, k]`, `W: [k, n]` (a weight). Result `[m, n]`.
/// # Text
/// `x matmul W`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MatMul;
