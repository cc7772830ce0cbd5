//! Granite (`GraniteForCausalLM`): Llama with factors on the embedding, the scores, each block's output and the logits.

use crate::spec::{Attention, AttentionSpan, Head, LayerSpec, Mixer, ModelSpec};

use super::block::{Biases, Decoder, HeadNorms, Whole};
use super::inert::{Only, verdict};
use super::keys::{Absent, Keys};
use super::names::{MODEL, NormForm};
use super::sizes::{Defaults, Sizes, dtype};
use super::{layers, rope};

/// Keys of other families that change nothing here with one value.
const INERT: &[(&str, Only)] = &[("sliding_window", Only::Null)];

pub(super) fn read(keys: &Keys<'_>) -> Option<ModelSpec> {
    let read = Sizes::read(keys, &Defaults::LLAMA);
    let rope = rope::read(keys, read.head, &rope::Style::LLAMA);
    let factor = |key| keys.positive(key, Absent::Gives(1.0));
    let embedding = factor("embedding_multiplier");
    // In place of `head_dim^-0.5`, and 1 where absent.
    let scores = factor("attention_multiplier");
    let blocks = factor("residual_multiplier");
    // Divides.
    let logits = factor("logits_scaling");
    let attention_bias = keys.flag("attention_bias", Absent::Gives(false));
    let mlp_bias = keys.flag("mlp_bias", Absent::Gives(false));
    let tied = keys.flag("tie_word_embeddings", Absent::Gives(false));
    let dtype = dtype(keys, None);
    keys.finish(|key, value| verdict(INERT, key, value));

    let (sizes, rope, attention_bias, mlp_bias) = (read.sizes?, rope?, attention_bias?, mlp_bias?);
    let (embedding, scores, blocks, logits) = (embedding?, scores?, blocks?, logits?);
    let decoder = Decoder {
        names: MODEL,
        sizes: &sizes,
        rope: rope.rope,
        biases: Biases { qkv: attention_bias, o: attention_bias, mlp: mlp_bias },
        norm: NormForm::rms(sizes.eps),
        head_norms: HeadNorms::None,
    };
    let (layers, layer_of) = layers::distinct((0..sizes.depth).map(|_| AttentionSpan::Full), |&span| {
        let attention = Attention { scale: scores, ..decoder.attention(span) };
        LayerSpec { residual_scale: unless_one(blocks), ..decoder.layer(Mixer::Attention(attention)) }
    });
    let model = decoder.model("granite", Whole::new(dtype?, rope.reach, tied?), layers, layer_of);
    let scale = unless_one(f64::from(logits).recip() as f32);
    Some(ModelSpec { embedding_scale: unless_one(embedding), head: Head { scale, ..model.head }, ..model })
}

/// A factor that changes something.
pub(super) fn unless_one(factor: f32) -> Option<f32> {
    (factor != 1.0).then_some(factor)
}
