//! GLM-4 (`Glm4ForCausalLM`): norms before and after each block, a fused gate and up projection, half of each head rotating.

use crate::spec::{Arrangement, AttentionSpan, FeedForward, LayerSpec, Mixer, ModelSpec, Pairing};

use super::block::{Biases, Decoder, HeadNorms, Whole};
use super::inert::{Only, verdict};
use super::keys::{Absent, Keys};
use super::names::{MODEL, NormForm};
use super::sizes::{Defaults, HeadDim, KvHeads, Sizes, dtype};
use super::{layers, rope};

/// Keys of other families that change nothing here with one value.
const INERT: &[(&str, Only)] = &[("mlp_bias", Only::False)];

const STYLE: rope::Style =
    rope::Style { partial: Some(("partial_rotary_factor", 0.5)), pairing: Pairing::Adjacent, ..rope::Style::LLAMA };

pub(super) fn read(keys: &Keys<'_>) -> Option<ModelSpec> {
    let defaults = Defaults {
        kv_heads: KvHeads::NotNull(2),
        head_dim: HeadDim::NotNull(128),
        positions: 131_072,
        eps: ("rms_norm_eps", 1.562_5e-7),
        ..Defaults::LLAMA
    };
    let read = Sizes::read(keys, &defaults);
    let rope = rope::read(keys, read.head, &STYLE);
    let stored = read.sizes.as_ref().and_then(|sizes| sizes.gate_and_up(keys));
    let bias = keys.flag("attention_bias", Absent::Gives(true));
    let tied = keys.flag("tie_word_embeddings", Absent::Gives(false));
    let dtype = dtype(keys, None);
    keys.finish(|key, value| verdict(INERT, key, value));

    let (sizes, rope, stored, bias) = (read.sizes?, rope?, stored?, bias?);
    let decoder = Decoder {
        names: MODEL,
        sizes: &sizes,
        rope: rope.rope,
        // Never on the output, whatever `attention_bias` says.
        biases: Biases { qkv: bias, o: false, mlp: false },
        norm: NormForm::rms(sizes.eps),
        head_norms: HeadNorms::None,
    };
    let (layers, layer_of) = layers::distinct((0..sizes.depth).map(|_| AttentionSpan::Full), |&span| LayerSpec {
        arrangement: Arrangement::Sequential {
            before_mixer: Some(decoder.stream_norm("input_layernorm")),
            after_mixer: Some(decoder.stream_norm("post_self_attn_layernorm")),
            before_feed_forward: Some(decoder.stream_norm("post_attention_layernorm")),
            after_feed_forward: Some(decoder.stream_norm("post_mlp_layernorm")),
        },
        mixer: Mixer::Attention(decoder.attention(span)),
        feed_forward: FeedForward::Dense(MODEL.fused_mlp("mlp", stored, decoder.mlp_form())),
        residual_scale: None,
    });
    Some(decoder.model("glm4", Whole::new(dtype?, rope.reach, tied?), layers, layer_of))
}
