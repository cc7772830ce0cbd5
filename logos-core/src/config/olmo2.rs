//! OLMo 2 (`Olmo2ForCausalLM`): norms on what the blocks give, queries and keys normalised over all heads together.

use crate::spec::{Arrangement, AttentionSpan, LayerSpec, Mixer, ModelSpec};

use super::block::{Biases, Decoder, HeadNorms, Whole};
use super::inert::{Only, verdict};
use super::keys::{Absent, Keys};
use super::names::{MODEL, NormForm};
use super::sizes::{Defaults, Sizes, dtype};
use super::{layers, rope};

/// Keys of other families that change nothing here with one value.
const INERT: &[(&str, Only)] = &[
    // The first OLMo clipped queries, keys and values; this one has no such key.
    ("clip_qkv", Only::Null),
    ("mlp_bias", Only::False),
    ("sliding_window", Only::Null),
];

pub(super) fn read(keys: &Keys<'_>) -> Option<ModelSpec> {
    let defaults = Defaults { eps: ("rms_norm_eps", 1e-5), ..Defaults::LLAMA };
    let read = Sizes::read(keys, &defaults);
    let rope = rope::read(keys, read.head, &rope::Style::LLAMA);
    let bias = keys.flag("attention_bias", Absent::Gives(false));
    let tied = keys.flag("tie_word_embeddings", Absent::Gives(false));
    let dtype = dtype(keys, None);
    keys.finish(|key, value| verdict(INERT, key, value));

    let (sizes, rope, bias) = (read.sizes?, rope?, bias?);
    let decoder = Decoder {
        names: MODEL,
        sizes: &sizes,
        rope: rope.rope,
        biases: Biases { qkv: bias, o: bias, mlp: false },
        norm: NormForm::rms(sizes.eps),
        head_norms: HeadNorms::FullWidth,
    };
    let (layers, layer_of) = layers::distinct((0..sizes.depth).map(|_| AttentionSpan::Full), |&span| LayerSpec {
        arrangement: Arrangement::Sequential {
            before_mixer: None,
            after_mixer: Some(decoder.stream_norm("post_attention_layernorm")),
            before_feed_forward: None,
            after_feed_forward: Some(decoder.stream_norm("post_feedforward_layernorm")),
        },
        ..decoder.layer(Mixer::Attention(decoder.attention(span)))
    });
    Some(decoder.model("olmo2", Whole::new(dtype?, rope.reach, tied?), layers, layer_of))
}
