//! See [`GatedDeltaOp`].

/// The gated delta rule, row by row: `S *= g; d = beta (v - Sᵀ k); S += k dᵀ; o = Sᵀ q`.
///
/// # Operands
/// `q, k: [m, key_heads * dk]`, `v: [m, heads * dv]`, `g, beta: [m, heads]`, optionally the state
/// `S: [seqs of heads * dk, dv]`, read and then replaced. Result `[m, heads * dv]`.
/// # Text
/// `gated delta of q, k, v, g and beta over S, heads 48, key heads 16`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GatedDeltaOp {
    /// Value heads (whole count).
    pub heads: u32,
    /// Key heads (whole count).
    pub key_heads: u32,
}
