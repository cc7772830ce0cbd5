//! Attention: grouped heads, and latent.

use super::{Linear, Norm, Rope, Take, Weight};

/// Which earlier positions a query sees (always causal).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttentionSpan {
    /// All.
    Full,
    /// The token itself and `width - 1` before it.
    Window(u32),
    /// Those of its own chunk of this many positions.
    Chunked(u32),
}

/// Normalisation of queries and keys.
#[derive(Clone, Debug, PartialEq)]
pub enum QkNorm {
    /// Per head, before rope: one weight row of `head_dim` (or a row a head, cohere).
    PerHead {
        /// Of queries.
        q: Norm,
        /// Of keys.
        k: Norm,
        /// Whether it comes after rope (llama4; then without weight).
        after_rope: bool,
    },
    /// Over the whole projection (olmo2).
    FullWidth {
        /// Of queries, `heads * head_dim` wide.
        q: Norm,
        /// Of keys, `kv_heads * head_dim` wide.
        k: Norm,
    },
}

/// Llama-4's temperature on NoPE layers: `q *= 1 + scale * ln(1 + floor((pos + 1) / floor))`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Temperature {
    /// attn_scale
    pub scale: f32,
    /// floor_scale
    pub floor: f32,
}

/// Multi-head, grouped or multi-query attention. Query head `h` reads KV head `h / (heads / kv_heads)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Attention {
    /// Query heads.
    pub heads: u32,
    /// Key and value heads.
    pub kv_heads: u32,
    /// Columns of a head.
    pub head_dim: u32,
    /// Query projection.
    pub q: Linear,
    /// Key projection.
    pub k: Linear,
    /// Value projection.
    pub v: Linear,
    /// Output projection.
    pub o: Linear,
    /// Projection of an output gate, `o(attn * sigmoid(gate))`.
    pub gate: Option<Linear>,
    /// Normalisation of q and k.
    pub qk_norm: Option<QkNorm>,
    /// Rotary embedding; none on NoPE layers.
    pub rope: Option<Rope>,
    /// What is seen.
    pub span: AttentionSpan,
    /// Factor on scores.
    pub scale: f32,
    /// `cap * tanh(s / cap)` on scores, before the mask.
    pub softcap: Option<f32>,
    /// One extra logit a head, dropped after the softmax (gpt-oss): `[heads]`.
    pub sinks: Option<Weight>,
    /// Temperature by position.
    pub temperature: Option<Temperature>,
}

/// Multi-head latent attention.
#[derive(Clone, Debug, PartialEq)]
pub struct LatentAttention {
    /// Query heads.
    pub heads: u32,
    /// Columns of a head without position.
    pub nope: u32,
    /// Columns of a head that rotate.
    pub rotary: u32,
    /// Columns of a value head.
    pub value_dim: u32,
    /// Width of the latent.
    pub latent: u32,
    /// Query projection: direct, or down, norm and up.
    pub q: Linear,
    /// Down projection and norm of the queries, where there is one (then `q` reads its result).
    pub q_down: Option<(Linear, Norm)>,
    /// `[latent + rotary, hidden]`.
    pub kv_down: Linear,
    /// Norm of the latent.
    pub kv_norm: Norm,
    /// `[heads * (nope + value_dim), latent]`.
    pub kv_up: Linear,
    /// Output projection.
    pub o: Linear,
    /// Rotary embedding of the `rotary` columns.
    pub rope: Rope,
    /// Factor on scores.
    pub scale: f32,
}

impl LatentAttention {
    /// Which of the query projection's outputs are each head's without position, and which are turned, head by head; none where a head
    /// is wider than 2^32.
    pub fn query_outputs(&self) -> Option<[Take; 2]> {
        let stride = self.nope.checked_add(self.rotary)?;
        let heads = |offset, run| Take { offset, run, stride, count: self.heads };
        Some([heads(0, self.nope), heads(self.nope, self.rotary)])
    }

    /// Which of the down projection's outputs are the latent, and which the one key that is turned.
    pub fn latent_outputs(&self) -> [Take; 2] {
        [Take::range(0, self.latent), Take::range(self.latent, self.rotary)]
    }
}
