//! See [`Decay`].

/// `exp(-exp(A_log) * softplus(a + dt_bias))`.
///
/// # Operands
/// `a: [m, n]`, `A_log, dt_bias: [1, n]`.
/// # Text
/// `decay of a with rate A and bias dt`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decay;
