//! Qwen's hybrid layers: Gated DeltaNet, and attention with an output gate between, as Qwen3-Next and Qwen3.5 store them.

use crate::spec::{Attention, AttentionSpan, GatedDelta, Linear, Mixer, Norm, NormKind, Take, Tensor, Weight};
use crate::{At, Code, Refusal};

use super::block::Decoder;
use super::keys::{Absent, Keys};
use super::layers;
use super::names::Names;
use super::sizes::Sizes;

/// Added under the root when queries and keys are normalised; a constant of the reference.
const L2_EPS: f32 = 1e-6;

/// The mixers of hybrid layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Linear,
    Full,
}

/// The mixer of each layer: `layer_types`, else full attention at every `full_attention_interval`-th. `None` after a refusal.
pub(super) fn sorts(keys: &Keys<'_>, depth: Option<u32>) -> Option<Vec<Sort>> {
    let interval = keys.size("full_attention_interval", Absent::OrNullGives(4));
    let types = layers::types(keys, depth, &[("linear_attention", Sort::Linear), ("full_attention", Sort::Full)]);
    let (interval, types, depth) = (interval?, types?, depth?);
    Some(types.unwrap_or_else(|| {
        (1..=depth).map(|nth| if nth.is_multiple_of(interval) { Sort::Full } else { Sort::Linear }).collect()
    }))
}

/// How a checkpoint stores the projections of Gated DeltaNet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Projections {
    /// `in_proj_qkv` (all queries, all keys, all values), `in_proj_z`, `in_proj_b`, `in_proj_a`.
    Split,
    /// `in_proj_qkvz` and `in_proj_ba`, each a group of rows a key head.
    Grouped,
}

/// What of hybrid layers is worked out from keys.
pub(super) struct Hybrid {
    delta: DeltaSizes,
    /// Rows of the query projection: queries and gates.
    stored_q: u32,
    projections: Projections,
}

impl Hybrid {
    /// Reads them all. `None` after a refusal.
    pub(super) fn read(keys: &Keys<'_>, sizes: Option<&Sizes>, projections: Projections) -> Option<Hybrid> {
        let delta = DeltaSizes::read(keys);
        let stored_q = sizes.and_then(|sizes| {
            let factors = [2, sizes.attention.heads, sizes.attention.head_dim];
            keys.product("num_attention_heads", "query and gate rows", &factors)
        });
        Some(Hybrid { delta: delta?, stored_q: stored_q?, projections })
    }

    /// The mixer of a layer.
    pub(super) fn mixer(&self, decoder: &Decoder<'_>, sort: Sort) -> Mixer {
        match sort {
            Sort::Linear => Mixer::GatedDelta(self.delta.mixer(self.projections, decoder.names, decoder.sizes)),
            Sort::Full => Mixer::Attention(self.gated(decoder)),
        }
    }

    /// Attention whose query projection holds, a head, the query's rows and then its output gate's.
    fn gated(&self, decoder: &Decoder<'_>) -> Attention {
        let sizes = decoder.sizes.attention;
        let (stored, hidden, bias) = (self.stored_q, decoder.sizes.hidden, decoder.biases.qkv);
        let part = |offset| {
            let take = Take { offset, run: sizes.head_dim, stride: 2 * sizes.head_dim, count: sizes.heads };
            decoder.names.linear_part("self_attn.q_proj", stored, take, sizes.q_width, hidden, bias)
        };
        Attention { q: part(0), gate: Some(part(sizes.head_dim)), ..decoder.attention(AttentionSpan::Full) }
    }
}

/// Sizes of Gated DeltaNet.
struct DeltaSizes {
    key_heads: u32,
    value_heads: u32,
    key_dim: u32,
    value_dim: u32,
    taps: u32,
    /// `key_heads * key_dim`
    keys: u32,
    /// `value_heads * value_dim`
    values: u32,
    /// Of q, k and v together.
    channels: u32,
    /// Of q, k, v and z together.
    all: u32,
    /// Of b and a together.
    gates: u32,
}

impl DeltaSizes {
    fn read(keys: &Keys<'_>) -> Option<DeltaSizes> {
        let key_heads = keys.size("linear_num_key_heads", Absent::Gives(16));
        let value_heads = keys.size("linear_num_value_heads", Absent::Gives(32));
        let key_dim = keys.size("linear_key_head_dim", Absent::Gives(128));
        let value_dim = keys.size("linear_value_head_dim", Absent::Gives(128));
        // With one tap there would be nothing to carry; no model has that.
        let taps = keys.count("linear_conv_kernel_dim", Absent::Gives(4), 2..=1024);
        let (key_heads, value_heads, key_dim, value_dim, taps) =
            (key_heads?, value_heads?, key_dim?, value_dim?, taps?);
        if !value_heads.is_multiple_of(key_heads) {
            keys.refuse_key(
                Code::ConfigConflict,
                "linear_num_value_heads",
                format_args!("is {value_heads}, expected a multiple of `linear_num_key_heads`, {key_heads}"),
            );
            return None;
        }
        let key_columns = keys.product("linear_num_key_heads", "key columns", &[key_heads, key_dim]);
        let values = keys.product("linear_num_value_heads", "value columns", &[value_heads, value_dim]);
        let (key_columns, values) = (key_columns?, values?);
        let Some(channels) = key_columns.checked_mul(2).and_then(|both| both.checked_add(values)) else {
            keys.refuse(Refusal::new(
                Code::SizeOverflow,
                At::ConfigKey(keys.path("linear_num_key_heads")),
                format!("2 × {key_columns} + {values} convolution channels, expected at most {}", u32::MAX),
            ));
            return None;
        };
        let all = keys.sum("linear_num_value_heads", "projected columns", &[channels, values]);
        let gates = keys.product("linear_num_value_heads", "gate columns", &[2, value_heads]);
        let (all, gates) = (all?, gates?);
        Some(DeltaSizes {
            key_heads,
            value_heads,
            key_dim,
            value_dim,
            taps,
            keys: key_columns,
            values,
            channels,
            all,
            gates,
        })
    }

    fn mixer(&self, projections: Projections, names: Names, sizes: &Sizes) -> GatedDelta {
        let (keys, values, value_heads) = (self.keys, self.values, self.value_heads);
        let [q, k, v, z, b, a] = match projections {
            Projections::Split => self.split(names, sizes.hidden),
            Projections::Grouped => self.grouped(names, sizes.hidden),
        };
        // Channels are all queries, all keys, all values; each by head.
        let conv = |offset, len| Weight {
            tensor: Tensor { name: names.layer("linear_attn.conv1d.weight"), shape: vec![self.channels, 1, self.taps] },
            take: Take::range(offset, len),
        };
        GatedDelta {
            key_heads: self.key_heads,
            value_heads,
            key_dim: self.key_dim,
            value_dim: self.value_dim,
            taps: self.taps,
            q,
            k,
            v,
            z,
            b,
            a,
            conv_q: conv(0, keys),
            conv_k: conv(keys, keys),
            conv_v: conv(2 * keys, values),
            a_log: Weight::whole(names.layer("linear_attn.A_log"), &[value_heads]),
            dt_bias: Weight::whole(names.layer("linear_attn.dt_bias"), &[value_heads]),
            // Unlike every other norm of the family its factor is the stored weight itself.
            norm: Norm {
                kind: NormKind::Rms { one_plus: false },
                eps: sizes.eps,
                weight: Some(Weight::whole(names.layer("linear_attn.norm.weight"), &[self.value_dim])),
                bias: None,
            },
            out: names.linear("linear_attn.out_proj", sizes.hidden, values, false),
            l2_eps: L2_EPS,
        }
    }

    /// Rows are all queries, all keys, all values; each by head.
    fn split(&self, names: Names, hidden: u32) -> [Linear; 6] {
        let (keys, values, value_heads) = (self.keys, self.values, self.value_heads);
        let fused = |offset, out| {
            let take = Take::range(offset, out);
            names.linear_part("linear_attn.in_proj_qkv", self.channels, take, out, hidden, false)
        };
        [
            fused(0, keys),
            fused(keys, keys),
            fused(2 * keys, values),
            names.linear("linear_attn.in_proj_z", values, hidden, false),
            names.linear("linear_attn.in_proj_b", value_heads, hidden, false),
            names.linear("linear_attn.in_proj_a", value_heads, hidden, false),
        ]
    }

    /// For each key head the rows of its query, its key, its value heads, their output gates; in the other tensor the write
    /// strengths of its value heads, then their decays.
    fn grouped(&self, names: Names, hidden: u32) -> [Linear; 6] {
        let heads = self.value_heads / self.key_heads;
        let (key, value) = (self.key_dim, heads * self.value_dim);
        let part = |module, stored, stride, offset, run, out| {
            let take = Take { offset, run, stride, count: self.key_heads };
            names.linear_part(module, stored, take, out, hidden, false)
        };
        let qkvz = |offset, run, out| part("linear_attn.in_proj_qkvz", self.all, 2 * key + 2 * value, offset, run, out);
        let ba = |offset| part("linear_attn.in_proj_ba", self.gates, 2 * heads, offset, heads, self.value_heads);
        [
            qkvz(0, key, self.keys),
            qkvz(key, key, self.keys),
            qkvz(2 * key, value, self.values),
            qkvz(2 * key + value, value, self.values),
            ba(0),
            ba(heads),
        ]
    }
}
