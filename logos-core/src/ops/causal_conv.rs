//! See [`CausalConv`].

/// Causal depthwise convolution along the rows of each sequence.
///
/// `y[t] = act(sum over i of w[i] x[t - (taps - 1) + i])`; inputs before the first row come from the state, or are 0.
///
/// # Operands
/// `x: [m, n]`, `taps: [taps, n]`, optionally the state `R: [seqs of taps - 1, n]` (the last inputs), read and then replaced.
/// # Text
/// `causal conv of x with taps W over R, silu`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CausalConv {
    /// Taps.
    pub taps: u32,
    /// Whether silu follows.
    pub silu: bool,
}
