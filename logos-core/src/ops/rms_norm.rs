//! See [`RmsNorm`].

/// Root-mean-square normalisation of a row, or of each head of it.
///
/// `y = x / sqrt(mean(x²) + eps) * (offset + w)`, summed in f32.
///
/// # Operands
/// `x: [m, n]`, optionally a weight `w: [1, n]`, or `[1, n / heads]` where `heads > 0`.
/// # Text
/// `rmsnorm of x with weight w, eps 1e-6`, `..., offset 1`, `..., heads 24`
/// # Source
/// Zhang and Sennrich 2019, arXiv:1910.07467
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RmsNorm {
    /// Added under the root, in units of x².
    pub eps: f32,
    /// Added to the weight: 0 or 1.
    pub offset: f32,
    /// Heads normalised apart (whole count); 0: the whole row.
    pub heads: u32,
}
