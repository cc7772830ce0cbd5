//! See [`Scaled`].

/// Product with a constant.
///
/// # Operands
/// `a: [m, n]`.
/// # Text
/// `a scaled by 0.5`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scaled {
    /// The factor.
    pub by: f32,
}
