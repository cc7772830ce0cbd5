//! Qwen3 (`Qwen3ForCausalLM`): queries and keys are normalised a head, windows by layer.

use crate::spec::{Mixer, ModelSpec};

use super::block::{Biases, Decoder, HeadNorms, Whole};
use super::inert::{Only, verdict};
use super::keys::{Absent, Keys};
use super::names::{MODEL, NormForm};
use super::sizes::{Defaults, HeadDim, KvHeads, Sizes, dtype};
use super::{layers, quantized, rope};

/// Keys of other families that change nothing here with one value.
const INERT: &[(&str, Only)] = &[("mlp_bias", Only::False)];

pub(super) fn read(keys: &Keys<'_>) -> Option<ModelSpec> {
    let defaults = Defaults {
        kv_heads: KvHeads::NullAsHeads(32),
        head_dim: HeadDim::NotNull(128),
        positions: 32_768,
        ..Defaults::LLAMA
    };
    let read = Sizes::read(keys, &defaults);
    let rope = rope::read(keys, read.head, &rope::Style::LLAMA);
    let spans = layers::qwen_spans(keys, read.depth);
    let attention_bias = keys.flag("attention_bias", Absent::Gives(false));
    let tied = keys.flag("tie_word_embeddings", Absent::Gives(false));
    let quantized = quantized::read(keys, &[("fp8", quantized::Method::Fp8)]);
    let dtype = dtype(keys, None);
    keys.finish(|key, value| verdict(INERT, key, value));

    let (sizes, rope, bias) = (read.sizes?, rope?, attention_bias?);
    quantized?;
    let decoder = Decoder {
        names: MODEL,
        sizes: &sizes,
        rope: rope.rope,
        biases: Biases { qkv: bias, o: bias, mlp: false },
        norm: NormForm::rms(sizes.eps),
        head_norms: HeadNorms::PerHead,
    };
    let whole = Whole::new(dtype?, rope.reach, tied?);
    let (layers, layer_of) = layers::distinct(spans?, |&span| decoder.layer(Mixer::Attention(decoder.attention(span))));
    Some(decoder.model("qwen3", whole, layers, layer_of))
}
