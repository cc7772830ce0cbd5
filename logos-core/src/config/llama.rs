//! Llama (`LlamaForCausalLM`).

use crate::spec::{AttentionSpan, Mixer, ModelSpec};

use super::block::{Biases, Decoder, HeadNorms, Whole};
use super::inert::{Only, verdict};
use super::keys::{Absent, Keys};
use super::names::{MODEL, NormForm};
use super::sizes::{Defaults, Sizes, dtype};
use super::{layers, rope};

/// Keys of other families that change nothing here with one value.
const INERT: &[(&str, Only)] = &[
    ("layer_types", Only::Null),
    ("max_window_layers", Only::Null),
    ("sliding_window", Only::Null),
    ("use_sliding_window", Only::False),
];

pub(super) fn read(keys: &Keys<'_>) -> Option<ModelSpec> {
    let defaults = Defaults::LLAMA;
    let read = Sizes::read(keys, &defaults);
    let rope = rope::read(keys, read.head, &rope::Style::LLAMA);
    let attention_bias = keys.flag("attention_bias", Absent::Gives(false));
    let mlp_bias = keys.flag("mlp_bias", Absent::Gives(false));
    let tied = keys.flag("tie_word_embeddings", Absent::Gives(false));
    let dtype = dtype(keys, None);
    keys.finish(|key, value| verdict(INERT, key, value));

    let (sizes, rope, attention_bias, mlp_bias) = (read.sizes?, rope?, attention_bias?, mlp_bias?);
    let decoder = Decoder {
        names: MODEL,
        sizes: &sizes,
        rope: rope.rope,
        biases: Biases { qkv: attention_bias, o: attention_bias, mlp: mlp_bias },
        norm: NormForm::rms(sizes.eps),
        head_norms: HeadNorms::None,
    };
    let whole = Whole::new(dtype?, rope.reach, tied?);
    let (layers, layer_of) = layers::distinct((0..sizes.depth).map(|_| AttentionSpan::Full), |&span| {
        decoder.layer(Mixer::Attention(decoder.attention(span)))
    });
    Some(decoder.model("llama", whole, layers, layer_of))
}
