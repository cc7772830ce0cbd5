//! See [`GeGlu`].

/// `gelu(gate) * up`.
///
/// # Operands
/// `gate, up: [m, n]`.
/// # Text
/// `geglu of gate and up`, `geglu of gate and up, tanh`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeGlu {
    /// The tanh form.
    pub tanh: bool,
}
