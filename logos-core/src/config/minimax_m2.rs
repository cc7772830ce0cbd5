//! MiniMax-M2 (`MiniMaxM2ForCausalLM`): experts in every layer, queries and keys normalised over all heads together, part of
//! each head rotating.

use crate::Code;
use crate::spec::{AttentionSpan, FeedForward, Mixer, ModelSpec, Router, RouterScore, Weight};

use super::block::{Biases, Decoder, HeadNorms, Whole};
use super::experts::Count;
use super::inert::{Only, verdict};
use super::keys::{Absent, Keys};
use super::names::{MODEL, NormForm};
use super::sizes::{Defaults, HeadDim, KvHeads, Sizes, dtype};
use super::{layers, quantized, rope};

/// Keys that change nothing with one value: the reference has what they say whatever they say.
const INERT: &[(&str, Only)] = &[
    ("attention_bias", Only::False),
    ("layer_types", Only::Null),
    ("mlp_bias", Only::False),
    ("shared_intermediate_size", Only::Zero),
    ("sliding_window", Only::Null),
    ("use_qk_norm", Only::True),
    ("use_routing_bias", Only::True),
];

pub(super) fn read(keys: &Keys<'_>) -> Option<ModelSpec> {
    let defaults = Defaults {
        kv_heads: KvHeads::NotNull(8),
        head_dim: HeadDim::NotNull(128),
        positions: 196_608,
        ..Defaults::LLAMA
    };
    let read = Sizes::read(keys, &defaults);
    let part = rotating_part(keys, read.head);
    let style = rope::Style {
        theta: ("rope_theta", 5e6),
        partial: Some(("partial_rotary_factor", part.unwrap_or(1.0))),
        ..rope::Style::LLAMA
    };
    let rope = rope::read(keys, read.head, &style);
    let count = Count::read(keys, "num_local_experts");
    keys.word("qk_norm_type", Absent::Gives(()), &[("per_layer", ())]);
    keys.word("scoring_func", Absent::Gives(()), &[("sigmoid", ())]);
    all_attend(keys, read.depth);
    // Of the extra layers for drafting.
    for key in ["mtp_transformer_layers", "num_mtp_modules", "use_mtp"] {
        keys.raw(key);
    }
    let tied = keys.flag("tie_word_embeddings", Absent::Gives(false));
    let quantized = quantized::read(keys, &[("fp8", quantized::Method::Fp8)]);
    let dtype = dtype(keys, None);
    keys.finish(|key, value| verdict(INERT, key, value));

    let (sizes, rope, count) = (read.sizes?, rope?, count?);
    quantized?;
    let decoder = Decoder {
        names: MODEL,
        sizes: &sizes,
        rope: rope.rope,
        biases: Biases::NONE,
        norm: NormForm::rms(sizes.eps),
        head_norms: HeadNorms::FullWidth,
    };
    let (layers, layer_of) = layers::distinct((0..sizes.depth).map(|_| AttentionSpan::Full), |&span| {
        let correction = MODEL.layer("block_sparse_moe.e_score_correction_bias");
        let router = Router {
            correction: Some(Weight::whole(correction, &[count.experts])),
            ..count.router(MODEL, "block_sparse_moe.gate", sizes.hidden, RouterScore::Sigmoid, true)
        };
        let parts = ["w1", "w3", "w2"];
        let experts = count.apart(MODEL, "block_sparse_moe.experts.{e}", parts, decoder.mlp_form(), router);
        decoder.layer_of(Mixer::Attention(decoder.attention(span)), FeedForward::Experts(experts))
    });
    Some(decoder.model("minimax_m2", Whole::new(dtype?, rope.reach, tied?), layers, layer_of))
}

/// `rotary_dim` as a part of a head, which `partial_rotary_factor` would be as well. `None` where it is not given, or after
/// a refusal.
fn rotating_part(keys: &Keys<'_>, head: Option<(u32, u32)>) -> Option<f64> {
    const KEY: &str = "rotary_dim";
    if !keys.has(KEY) {
        return None;
    }
    let (dim, _) = head?;
    let rotary = keys.count(KEY, Absent::Refused, 1..=dim)?;
    let part = f64::from(rotary) / f64::from(dim);
    let said = keys.raw("partial_rotary_factor").and_then(serde_json::Value::as_f64);
    if said.is_some_and(|said| said != part) {
        let what = format_args!("is {rotary}, expected that part of {dim} that `partial_rotary_factor` says");
        keys.refuse_key(Code::ConfigConflict, KEY, what);
    }
    Some(part)
}

/// `attn_type_list`: a 1 a layer, for attention; the older models' linear attention was a 0.
fn all_attend(keys: &Keys<'_>, depth: Option<u32>) {
    const KEY: &str = "attn_type_list";
    let (Some(Some(types)), Some(depth)) = (keys.counts(KEY, 1..=1), depth) else { return };
    if types.len() != depth as usize {
        let what = format_args!("has length {}, expected `num_hidden_layers`, {depth}", types.len());
        keys.refuse_key(Code::ConfigConflict, KEY, what);
    }
}
