//! See [`RopeOp`].

use crate::spec::Pairing;

/// Rotary embedding of each head.
///
/// # Operands
/// `x: [m, n]`, tables `cos, sin: [m, rotary / 2]`.
/// # Text
/// `rope of x with cos and sin, heads 24, rotary 64, halves`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RopeOp {
    /// Heads (whole count).
    pub heads: u32,
    /// Columns of a head that rotate; the rest pass.
    pub rotary: u32,
    /// Which columns turn together.
    pub pairing: Pairing,
}
