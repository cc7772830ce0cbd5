//! See [`SoftCap`].

/// `cap * tanh(a / cap)`.
///
/// # Operands
/// `a: [m, n]`.
/// # Text
/// `softcap of a, cap 30`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftCap {
    /// The cap.
    pub cap: f32,
}
