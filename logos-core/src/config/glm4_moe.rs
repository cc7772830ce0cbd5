//! GLM-4.5 (`Glm4MoeForCausalLM`): grouped attention with a few dense layers, then DeepSeek V3's experts.

use crate::spec::{AttentionSpan, FeedForward, Mixer, ModelSpec};

use super::block::{Biases, Decoder, HeadNorms, Whole};
use super::experts::{self, DeepSeek, DeepSeekDefaults};
use super::inert::{Only, verdict};
use super::keys::{Absent, Keys};
use super::names::{GATED, MODEL, NormForm};
use super::sizes::{Defaults, KvHeads, Sizes, dtype};
use super::{layers, quantized, rope};

/// Keys of other families that change nothing here with one value.
const INERT: &[(&str, Only)] = &[("mlp_bias", Only::False)];

const STYLE: rope::Style = rope::Style { partial: Some(("partial_rotary_factor", 0.5)), ..rope::Style::LLAMA };

pub(super) fn read(keys: &Keys<'_>) -> Option<ModelSpec> {
    let defaults =
        Defaults { kv_heads: KvHeads::NotNull(8), positions: 131_072, eps: ("rms_norm_eps", 1e-5), ..Defaults::LLAMA };
    let read = Sizes::read(keys, &defaults);
    let rope = rope::read(keys, read.head, &STYLE);
    let normed = keys.flag("use_qk_norm", Absent::Gives(false));
    let defaults = DeepSeekDefaults { shared: 1, scale: 1.0, normalised: true, groups: (1, 1) };
    let experts = DeepSeek::corrected(keys, defaults);
    let sparse = experts::after_dense(keys, read.depth, 1);
    let bias = keys.flag("attention_bias", Absent::Gives(false));
    let tied = keys.flag("tie_word_embeddings", Absent::Gives(false));
    let quantized = quantized::read(keys, &[("fp8", quantized::Method::Fp8)]);
    let dtype = dtype(keys, None);
    keys.finish(|key, value| verdict(INERT, key, value));

    let (sizes, rope, experts, normed, bias) = (read.sizes?, rope?, experts?, normed?, bias?);
    quantized?;
    let decoder = Decoder {
        names: MODEL,
        sizes: &sizes,
        rope: rope.rope,
        // Never on the output, whatever `attention_bias` says.
        biases: Biases { qkv: bias, o: false, mlp: false },
        norm: NormForm::rms(sizes.eps),
        head_norms: if normed { HeadNorms::PerHead } else { HeadNorms::None },
    };
    let (layers, layer_of) = layers::distinct(sparse?, |&sparse| {
        let form = decoder.mlp_form();
        let feed_forward = if sparse {
            FeedForward::Experts(experts.experts(MODEL, form))
        } else {
            FeedForward::Dense(MODEL.gated_mlp("mlp", GATED, form))
        };
        decoder.layer_of(Mixer::Attention(decoder.attention(AttentionSpan::Full)), feed_forward)
    });
    Some(decoder.model("glm4_moe", Whole::new(dtype?, rope.reach, tied?), layers, layer_of))
}
