//! See [`LayerNorm`].

/// Layer normalisation of a row, or of each head of it.
///
/// `y = (x - mean) / sqrt(var + eps) * w + b`, population variance.
///
/// # Operands
/// `x: [m, n]`, `w: [1, n]` (heads: `[1, n / heads]`), optionally `b` alike.
/// # Text
/// `layernorm of x with weight w and bias b, eps 1e-5`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayerNorm {
    /// Added under the root.
    pub eps: f32,
    /// Heads normalised apart (whole count); 0: the whole row.
    pub heads: u32,
}
