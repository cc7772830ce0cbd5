//! See [`L2Norm`].

/// `x / sqrt(sum(x²) + eps) * scale` of each head.
///
/// # Operands
/// `x: [m, n]`.
/// # Text
/// `l2norm of x, heads 16, eps 1e-6, scale 0.0883883461`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct L2Norm {
    /// Added under the root.
    pub eps: f32,
    /// Factor on the result.
    pub scale: f32,
    /// Heads (whole count).
    pub heads: u32,
}
