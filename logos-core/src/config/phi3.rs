//! Phi-3 and Phi-4 (`Phi3ForCausalLM`): Llama with fused projections, a window in some, longrope in others.

use crate::spec::{Attention, AttentionSpan, FeedForward, Mixer, ModelSpec, Take};

use super::block::{Biases, Decoder, HeadNorms, Whole};
use super::inert::{Only, verdict};
use super::keys::{Absent, Keys};
use super::names::{MODEL, NormForm};
use super::rope::Type;
use super::sizes::{AttentionSizes, Defaults, Sizes, dtype};
use super::{layers, rope};

/// Keys of other families that change nothing here with one value.
const INERT: &[(&str, Only)] = &[("attention_bias", Only::False), ("mlp_bias", Only::False)];

const STYLE: rope::Style = rope::Style {
    partial: Some(("partial_rotary_factor", 1.0)),
    // `su` is what the first releases called it.
    types: &[("default", Type::Default), ("longrope", Type::LongRope), ("su", Type::LongRope)],
    original: Some(4096),
    ..rope::Style::LLAMA
};

pub(super) fn read(keys: &Keys<'_>) -> Option<ModelSpec> {
    let defaults = Defaults { positions: 4096, eps: ("rms_norm_eps", 1e-5), ..Defaults::LLAMA };
    let read = Sizes::read(keys, &defaults);
    let rope = rope::read(keys, read.head, &STYLE);
    // Every file has it; it counts with longrope only.
    keys.raw("original_max_position_embeddings");
    let window = keys.size_or_none("sliding_window", None);
    let qkv = read.sizes.as_ref().and_then(|sizes| sizes.attention.qkv(keys));
    let gate_and_up = read.sizes.as_ref().and_then(|sizes| sizes.gate_and_up(keys));
    let tied = keys.flag("tie_word_embeddings", Absent::Gives(false));
    let dtype = dtype(keys, None);
    keys.finish(|key, value| verdict(INERT, key, value));

    let (sizes, rope, qkv, gate_and_up) = (read.sizes?, rope?, qkv?, gate_and_up?);
    let span = window?.map_or(AttentionSpan::Full, AttentionSpan::Window);
    let decoder = Decoder {
        names: MODEL,
        sizes: &sizes,
        rope: rope.rope,
        biases: Biases::NONE,
        norm: NormForm::rms(sizes.eps),
        head_norms: HeadNorms::None,
    };
    let (layers, layer_of) = layers::distinct((0..sizes.depth).map(|_| span), |&span| {
        let feed_forward = MODEL.fused_mlp("mlp", gate_and_up, decoder.mlp_form());
        decoder.layer_of(Mixer::Attention(attention(&decoder, qkv, span)), FeedForward::Dense(feed_forward))
    });
    Some(decoder.model("phi3", Whole::new(dtype?, rope.reach, tied?), layers, layer_of))
}

/// Attention whose projection holds all queries, all keys, all values.
fn attention(decoder: &Decoder<'_>, qkv: u32, span: AttentionSpan) -> Attention {
    let AttentionSizes { q_width, kv_width, .. } = decoder.sizes.attention;
    let hidden = decoder.sizes.hidden;
    let part = |offset, out| MODEL.linear_part("self_attn.qkv_proj", qkv, Take::range(offset, out), out, hidden, false);
    let o = MODEL.linear("self_attn.o_proj", hidden, q_width, false);
    decoder.attention_of([part(0, q_width), part(q_width, kv_width), part(q_width + kv_width, kv_width), o], span)
}
