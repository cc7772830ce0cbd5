//! See [`AttentionOp`].

/// Causal attention over a cache and the fresh rows.
///
/// # Operands
/// `q: [m, heads * D]`, `k: [m, kv_heads * D]`, `v: [m, kv_heads * Dv]`, and, unless stateless, `pos: [m, 1]` and the caches
/// `K, V: [seqs of rows, kv_heads * D]`, read as they were before this step. Result `[m, heads * Dv]`.
/// # Text
/// `attention of q over Kc and Vc with k and v at pos, heads 24, kv heads 4, scale 0.0625`; stateless:
/// `attention of q with k and v, heads 24, ...`; optional `window 4096`, `chunk 8192`, `softcap 50`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AttentionOp {
    /// Query heads (whole count).
    pub heads: u32,
    /// Key and value heads (whole count).
    pub kv_heads: u32,
    /// Factor on scores.
    pub scale: f32,
    /// The token itself and `window - 1` before it.
    pub window: Option<u32>,
    /// Positions of the same chunk.
    pub chunk: Option<u32>,
    /// Soft cap on scores, before the mask.
    pub softcap: Option<f32>,
}
