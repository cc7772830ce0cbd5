//! Gated DeltaNet.

use super::{Linear, Norm, Weight};

/// A Gated DeltaNet mixer. Value head `h` belongs to key head `h / (value_heads / key_heads)`.
#[derive(Clone, Debug, PartialEq)]
pub struct GatedDelta {
    /// Key (and query) heads.
    pub key_heads: u32,
    /// Value heads.
    pub value_heads: u32,
    /// Columns of a key head.
    pub key_dim: u32,
    /// Columns of a value head.
    pub value_dim: u32,
    /// Taps of the causal convolution.
    pub taps: u32,
    /// Projections, each a part of the checkpoint's own (fused) tensors.
    pub q: Linear,
    /// Keys.
    pub k: Linear,
    /// Values.
    pub v: Linear,
    /// Output gate.
    pub z: Linear,
    /// Write strength, one column a value head.
    pub b: Linear,
    /// Decay, one column a value head.
    pub a: Linear,
    /// Convolution taps of q, k and v channels: `[channels, 1, taps]` as stored.
    pub conv_q: Weight,
    /// Of k.
    pub conv_k: Weight,
    /// Of v.
    pub conv_v: Weight,
    /// `[value_heads]`.
    pub a_log: Weight,
    /// `[value_heads]`.
    pub dt_bias: Weight,
    /// Norm of each value head's result, before the gate.
    pub norm: Norm,
    /// Output projection.
    pub out: Linear,
    /// Added under the root when q and k are normalised.
    pub l2_eps: f32,
}
