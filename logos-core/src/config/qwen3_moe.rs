//! Qwen3 with experts (`Qwen3MoeForCausalLM`), in all layers or some.

use crate::spec::{AttentionSpan, FeedForward, Mixer, ModelSpec, RouterScore};

use super::block::{Biases, Decoder, HeadNorms, Whole};
use super::experts::{Count, qwen_layers};
use super::inert::{Only, verdict};
use super::keys::{Absent, Keys};
use super::names::{GATED, MODEL, MlpForm, NormForm};
use super::sizes::{Defaults, KvHeads, Sizes, dtype};
use super::{layers, quantized, rope};

/// Keys of other families that change nothing here with one value.
const INERT: &[(&str, Only)] = &[("mlp_bias", Only::False)];

pub(super) fn read(keys: &Keys<'_>) -> Option<ModelSpec> {
    let defaults = Defaults { kv_heads: KvHeads::NotNull(4), positions: 32_768, ..Defaults::LLAMA };
    let read = Sizes::read(keys, &defaults);
    let rope = rope::read(keys, read.head, &rope::Style::LLAMA);
    let windowed = keys.flag("use_sliding_window", Absent::Gives(false));
    let window = keys.size_or_none("sliding_window", Some(4096));
    // Of the dense model, whose window may begin at a layer; here it is for all of them.
    keys.raw("max_window_layers");
    let count = Count::read(keys, "num_experts");
    let width = keys.size("moe_intermediate_size", Absent::Refused);
    let normalised = keys.flag("norm_topk_prob", Absent::Gives(false));
    let sparse = qwen_layers(keys, read.depth);
    let bias = keys.flag("attention_bias", Absent::Gives(false));
    let tied = keys.flag("tie_word_embeddings", Absent::Gives(false));
    let quantized = quantized::read(keys, &[("fp8", quantized::Method::Fp8)]);
    let dtype = dtype(keys, None);
    keys.finish(|key, value| verdict(INERT, key, value));

    let (sizes, rope, bias) = (read.sizes?, rope?, bias?);
    quantized?;
    let (count, width, normalised, windowed) = (count?, width?, normalised?, windowed?);
    let span = window?.filter(|_| windowed).map_or(AttentionSpan::Full, AttentionSpan::Window);
    let decoder = Decoder {
        names: MODEL,
        sizes: &sizes,
        rope: rope.rope,
        biases: Biases { qkv: bias, o: bias, mlp: false },
        norm: NormForm::rms(sizes.eps),
        head_norms: HeadNorms::PerHead,
    };
    let (layers, layer_of) = layers::distinct(sparse?, |&sparse| {
        let mixer = Mixer::Attention(decoder.attention(span));
        if !sparse {
            return decoder.layer(mixer);
        }
        let router = count.router(MODEL, "mlp.gate", sizes.hidden, RouterScore::Softmax, normalised);
        let form = MlpForm { width, ..decoder.mlp_form() };
        let experts = count.apart(MODEL, "mlp.experts.{e}", GATED, form, router);
        decoder.layer_of(mixer, FeedForward::Experts(experts))
    });
    Some(decoder.model("qwen3_moe", Whole::new(dtype?, rope.reach, tied?), layers, layer_of))
}
