//! Gemma 2 (`Gemma2ForCausalLM`): norms before and after each block, soft caps, every other layer within a window.

use crate::Code;
use crate::spec::{Activation, Arrangement, Attention, AttentionSpan, Dtype, Head, LayerSpec, Mixer, ModelSpec};

use super::block::{Biases, Decoder, HeadNorms, Whole};
use super::inert::{Only, verdict};
use super::keys::{Absent, Keys};
use super::names::{MODEL, NormForm};
use super::sizes::{ActivationKey, Defaults, GELUS, HeadDim, KvHeads, Sizes, dtype};
use super::{layers, rope};

/// Keys that change nothing with one value.
const INERT: &[(&str, Only)] = &[("mlp_bias", Only::False)];

/// The class reads `hidden_activation`; `hidden_act` beside it is what the first release said by mistake.
pub(super) const ACTIVATION: ActivationKey =
    ActivationKey { key: "hidden_activation", absent: Activation::GeluTanh, known: GELUS };

pub(super) fn read(keys: &Keys<'_>) -> Option<ModelSpec> {
    let defaults = Defaults {
        kv_heads: KvHeads::NotNull(4),
        head_dim: HeadDim::NotNull(256),
        positions: 8192,
        activation: ACTIVATION,
        ..Defaults::LLAMA
    };
    let read = Sizes::read(keys, &defaults);
    keys.raw("hidden_act");
    let rope = rope::read(keys, read.head, &rope::Style::LLAMA);
    let window = window(keys);
    let types = layers::types(keys, read.depth, layers::REACHES);
    let scale = score_scale(keys);
    let attention_cap = cap(keys, "attn_logit_softcapping", Some(50.0));
    let final_cap = cap(keys, "final_logit_softcapping", Some(30.0));
    let bias = keys.flag("attention_bias", Absent::Gives(false));
    let tied = keys.flag("tie_word_embeddings", Absent::Gives(true));
    let dtype = dtype(keys, None);
    keys.finish(|key, value| verdict(INERT, key, value));

    let (sizes, rope, bias, dtype) = (read.sizes?, rope?, bias?, dtype?);
    let (window, scale, softcap, final_cap) = (window?, scale?, attention_cap?, final_cap?);
    let spans = layers::spans(types?, window, sizes.depth, |layer| layer % 2 == 0);
    let decoder = Decoder {
        names: MODEL,
        sizes: &sizes,
        rope: rope.rope,
        biases: Biases { qkv: bias, o: bias, mlp: false },
        norm: NormForm::rms_one_plus(sizes.eps),
        head_norms: HeadNorms::None,
    };
    let (layers, layer_of) =
        layers::distinct(spans, |&span| layer(&decoder, Attention { scale, softcap, ..decoder.attention(span) }));
    let model = decoder.model("gemma2", Whole::new(dtype, rope.reach, tied?), layers, layer_of);
    Some(finished(model, final_cap))
}

/// A layer with a norm before and after each block.
pub(super) fn layer(decoder: &Decoder<'_>, attention: Attention) -> LayerSpec {
    let arrangement = Arrangement::Sequential {
        before_mixer: Some(decoder.stream_norm("input_layernorm")),
        after_mixer: Some(decoder.stream_norm("post_attention_layernorm")),
        before_feed_forward: Some(decoder.stream_norm("pre_feedforward_layernorm")),
        after_feed_forward: Some(decoder.stream_norm("post_feedforward_layernorm")),
    };
    LayerSpec { arrangement, ..decoder.layer(Mixer::Attention(attention)) }
}

/// Gemma's factor on the embedding, and the cap on its logits.
pub(super) fn finished(model: ModelSpec, softcap: Option<f32>) -> ModelSpec {
    let embedding_scale = Some(rounded(f64::from(model.hidden).sqrt(), model.dtype));
    ModelSpec { embedding_scale, head: Head { softcap, ..model.head }, ..model }
}

/// `query_pre_attn_scalar^-0.5`. `None` after a refusal.
pub(super) fn score_scale(keys: &Keys<'_>) -> Option<f32> {
    let scalar = keys.positive("query_pre_attn_scalar", Absent::Gives(256.0))?;
    Some(f64::from(scalar).sqrt().recip() as f32)
}

/// The window of the layers that have one. Null would leave them without a mask. `None` after a refusal.
pub(super) fn window(keys: &Keys<'_>) -> Option<AttentionSpan> {
    let window = keys.size("sliding_window", Absent::Gives(4096));
    // The first releases wrote it twice; nothing reads the second.
    let repeated = keys.size("sliding_window_size", Absent::OrNullGives(window.unwrap_or(1)));
    let (window, repeated) = (window?, repeated?);
    if repeated != window {
        keys.refuse_key(
            Code::ConfigConflict,
            "sliding_window_size",
            format_args!("is {repeated}, expected `sliding_window`, {window}"),
        );
        return None;
    }
    Some(AttentionSpan::Window(window))
}

/// A soft cap, or null for none. `None` after a refusal.
fn cap(keys: &Keys<'_>, key: &'static str, absent: Option<f32>) -> Option<Option<f32>> {
    match (keys.raw(key), absent) {
        (None, absent) => Some(absent),
        (Some(serde_json::Value::Null), _) => Some(None),
        (Some(_), _) => keys.positive(key, Absent::Refused).map(Some),
    }
}

pub(super) fn cap_or_none(keys: &Keys<'_>, key: &'static str) -> Option<Option<f32>> {
    cap(keys, key, None)
}

/// A number as the dtype holds it, to the nearest, ties to even: the reference keeps the factor in the weights' dtype.
fn rounded(x: f64, dtype: Dtype) -> f32 {
    let significant = match dtype {
        Dtype::F32 => return x as f32,
        Dtype::F16 => 11,
        Dtype::Bf16 => 8,
    };
    // `x` is the root of a width: from 1 up, and far below what either dtype holds at most.
    let unit = 2f64.powi(x.log2().floor() as i32 + 1 - significant);
    ((x / unit).round_ties_even() * unit) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_rounded_as_the_dtype_holds_them() {
        // Gemma 2 9B's and Gemma 3 27B's: known from every other implementation.
        assert_eq!(rounded(3584f64.sqrt(), Dtype::Bf16), 59.75);
        assert_eq!(rounded(5376f64.sqrt(), Dtype::Bf16), 73.5);
        assert_eq!(rounded(1152f64.sqrt(), Dtype::Bf16), 34.0);
        assert_eq!(rounded(3584f64.sqrt(), Dtype::F16), 59.875);
        assert_eq!(rounded(64f64.sqrt(), Dtype::Bf16), 8.0);
        assert_eq!(rounded(3584f64.sqrt(), Dtype::F32), 59.866_52);
        assert_eq!(rounded(1.0, Dtype::Bf16), 1.0);
    }
}
