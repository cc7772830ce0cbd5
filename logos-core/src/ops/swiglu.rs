//! See [`SwiGlu`].

/// `silu(gate) * up`.
///
/// # Operands
/// `gate, up: [m, n]`.
/// # Text
/// `swiglu of gate and up`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SwiGlu;
