//! Mistral (`MistralForCausalLM`): Llama with one window for every layer.

use crate::spec::{AttentionSpan, Mixer, ModelSpec};

use super::block::{Biases, Decoder, HeadNorms, Whole};
use super::inert::{Only, verdict};
use super::keys::{Absent, Keys};
use super::names::{MODEL, NormForm};
use super::sizes::{Defaults, HeadDim, KvHeads, Sizes, dtype};
use super::{layers, rope};

/// Keys of other families that change nothing here with one value.
const INERT: &[(&str, Only)] = &[
    ("attention_bias", Only::False),
    ("layer_types", Only::Null),
    ("max_window_layers", Only::Null),
    ("mlp_bias", Only::False),
    ("use_sliding_window", Only::Null),
];

pub(super) fn read(keys: &Keys<'_>) -> Option<ModelSpec> {
    let defaults =
        Defaults { kv_heads: KvHeads::NotNull(8), head_dim: HeadDim::Divided, positions: 131_072, ..Defaults::LLAMA };
    let read = Sizes::read(keys, &defaults);
    let rope = rope::read(keys, read.head, &rope::Style::LLAMA);
    let window = keys.size_or_none("sliding_window", Some(4096));
    let tied = keys.flag("tie_word_embeddings", Absent::Gives(false));
    let dtype = dtype(keys, None);
    keys.finish(|key, value| verdict(INERT, key, value));

    let (sizes, rope) = (read.sizes?, rope?);
    let span = window?.map_or(AttentionSpan::Full, AttentionSpan::Window);
    let decoder = Decoder {
        names: MODEL,
        sizes: &sizes,
        rope: rope.rope,
        biases: Biases::NONE,
        norm: NormForm::rms(sizes.eps),
        head_norms: HeadNorms::None,
    };
    let whole = Whole::new(dtype?, rope.reach, tied?);
    let (layers, layer_of) = layers::distinct((0..sizes.depth).map(|_| span), |&span| {
        decoder.layer(Mixer::Attention(decoder.attention(span)))
    });
    Some(decoder.model("mistral", whole, layers, layer_of))
}
