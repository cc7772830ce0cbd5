//! Llama 4's text model: layers that rotate within chunks, layers without rotation that see all, experts in all layers or
//! some. Released in a vision model, its config under `text_config`, or by itself (`llama4_text`).

use crate::Code;
use crate::spec::{
    Attention, AttentionSpan, ExpertTensors, Experts, FeedForward, Mixer, ModelSpec, Norm, NormKind, Pairing, QkNorm,
    Router, RouterScore, Temperature,
};

use super::block::{Biases, Decoder, HeadNorms, Whole};
use super::experts::{Count, GateUp, Stack};
use super::inert::{Only, verdict};
use super::keys::{Absent, Keys};
use super::names::{GATED, MODEL, MlpForm, Names, NormForm};
use super::sizes::{Defaults, HeadDim, KvHeads, Sizes, dtype};
use super::{layers, nested, rope};

/// Keys that change nothing with one value.
const INERT: &[(&str, Only)] =
    &[("for_llm_compressor", Only::False), ("mlp_bias", Only::False), ("sliding_window", Only::Null)];

const STYLE: rope::Style = rope::Style { theta: ("rope_theta", 5e5), pairing: Pairing::Adjacent, ..rope::Style::LLAMA };

/// The text model of a vision model.
pub(super) fn read_nested(keys: &Keys<'_>) -> Option<ModelSpec> {
    let text = nested::text(keys, "llama4_text", false, &[])?;
    let names = Names { head: "language_model.lm_head", ..Names::under("language_model.model.") };
    read_text(&text.keys, Some(keys), text.tied, names)
}

/// The text model by itself.
pub(super) fn read_bare(keys: &Keys<'_>) -> Option<ModelSpec> {
    let tied = keys.flag("tie_word_embeddings", Absent::Gives(false));
    read_text(keys, None, tied, MODEL)
}

/// A layer's sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sort {
    rotates: bool,
    span: AttentionSpan,
    sparse: bool,
}

fn read_text(keys: &Keys<'_>, outer: Option<&Keys<'_>>, tied: Option<bool>, names: Names) -> Option<ModelSpec> {
    // `intermediate_size` is an expert's width.
    let defaults = Defaults {
        kv_heads: KvHeads::NotNull(8),
        head_dim: HeadDim::NotNull(128),
        positions: 131_072,
        eps: ("rms_norm_eps", 1e-5),
        ..Defaults::LLAMA
    };
    let read = Sizes::read(keys, &defaults);
    let dense_width = keys.size("intermediate_size_mlp", Absent::Gives(16_384));
    let rope = rope::read(keys, read.head, &STYLE);
    let sorts = sorts(keys, read.depth);
    let normed = keys.flag("use_qk_norm", Absent::Gives(true));
    let temperature = temperature(keys);
    let count = Count::read(keys, "num_local_experts");
    let stored = read.sizes.as_ref().and_then(|sizes| sizes.gate_and_up(keys));
    let bias = keys.flag("attention_bias", Absent::Gives(false));
    let dtype = dtype(keys, outer);
    keys.finish(|key, value| verdict(INERT, key, value));

    let (sizes, rope, sorts, normed, bias) = (read.sizes?, rope?, sorts?, normed?, bias?);
    let (dense_width, temperature, count, stored) = (dense_width?, temperature?, count?, stored?);
    let decoder = Decoder {
        names,
        sizes: &sizes,
        rope: rope.rope,
        biases: Biases { qkv: bias, o: bias, mlp: false },
        norm: NormForm::rms(sizes.eps),
        head_norms: HeadNorms::None,
    };
    let (layers, layer_of) = layers::distinct(sorts, |&Sort { rotates, span, sparse }| {
        let attention = decoder.attention(span);
        let attention = if rotates {
            Attention { qk_norm: normed.then(|| after_rope(sizes.eps)), ..attention }
        } else {
            Attention { rope: None, temperature, ..attention }
        };
        let form = decoder.mlp_form();
        let feed_forward = if sparse {
            let tensors = ExpertTensors::StackedTransposed;
            let module = "feed_forward.experts";
            let stack = Stack { names, module, experts: count.experts, stored, form, tensors };
            FeedForward::Experts(experts(&stack, count))
        } else {
            FeedForward::Dense(names.gated_mlp("feed_forward", GATED, MlpForm { width: dense_width, ..form }))
        };
        decoder.layer_of(Mixer::Attention(attention), feed_forward)
    });
    Some(decoder.model("llama4_text", Whole::new(dtype?, rope.reach, tied?), layers, layer_of))
}

/// Queries and keys by the root of their mean square, after they were rotated; without weights.
fn after_rope(eps: f32) -> QkNorm {
    let norm = Norm { kind: NormKind::Rms { one_plus: false }, eps, weight: None, bias: None };
    QkNorm::PerHead { q: norm.clone(), k: norm, after_rope: true }
}

/// Experts whose input is multiplied with the sigmoid of their logit, and a shared one as wide.
fn experts(stack: &Stack<'_>, count: Count) -> Experts {
    let Stack { names, form, tensors, .. } = *stack;
    let plain = count.router(names, "feed_forward.router", form.hidden, RouterScore::Sigmoid, false);
    let router = Router { on_input: true, ..plain };
    Experts {
        shared: Some(names.gated_mlp("feed_forward.shared_expert", GATED, form)),
        ..count.stored(stack.expert(GateUp::Halves), tensors, router)
    }
}

/// `attn_temperature_tuning` with its two constants. `None` after a refusal.
fn temperature(keys: &Keys<'_>) -> Option<Option<Temperature>> {
    let used = keys.flag("attn_temperature_tuning", Absent::Gives(true));
    let floor = keys.positive("floor_scale", Absent::Gives(8192.0));
    let scale = keys.positive("attn_scale", Absent::Gives(0.1));
    let temperature = Temperature { scale: scale?, floor: floor? };
    Some(used?.then_some(temperature))
}

/// The sort of each layer. `None` after a refusal.
fn sorts(keys: &Keys<'_>, depth: Option<u32>) -> Option<Vec<Sort>> {
    let chunk = keys.size_or_none("attention_chunk_size", Some(8192));
    let rotates = layers::rotating(keys, depth, layers::Unsaid::NullOrEmpty);
    let chunked = layers::types(keys, depth, &[("full_attention", false), ("chunked_attention", true)]);
    let sparse = sparse(keys, depth);
    let (chunk, rotates, chunked, sparse) = (chunk?, rotates?, chunked?, sparse?);
    if chunk.is_none() && chunked.as_ref().is_some_and(|chunked| chunked.contains(&true)) {
        let what = "has \"chunked_attention\", but `attention_chunk_size` is null";
        keys.refuse_key(Code::ConfigConflict, "layer_types", what);
        return None;
    }
    // Where the list does not say otherwise the layers that rotate are those within chunks.
    let chunked = chunked.unwrap_or_else(|| rotates.clone());
    let span = |chunked| match chunk {
        Some(size) if chunked => AttentionSpan::Chunked(size),
        Some(_) | None => AttentionSpan::Full,
    };
    let all = rotates.into_iter().zip(chunked).zip(sparse);
    Some(all.map(|((rotates, chunked), sparse)| Sort { rotates, span: span(chunked), sparse }).collect())
}

/// Which layers have experts: `moe_layers`, else every `interleave_moe_layer_step`-th. `None` after a refusal.
fn sparse(keys: &Keys<'_>, depth: Option<u32>) -> Option<Vec<bool>> {
    const KEY: &str = "moe_layers";
    let step = keys.size("interleave_moe_layer_step", Absent::Gives(1));
    let listed = keys.counts(KEY, 0..=u32::MAX);
    let (step, listed, depth) = (step?, listed?, depth?);
    let Some(listed) = listed else {
        return Some((1..=depth).map(|nth| nth.is_multiple_of(step)).collect());
    };
    let mut sparse = vec![false; depth as usize];
    for layer in listed {
        let Some(entry) = sparse.get_mut(layer as usize) else {
            let what = format_args!("has layer {layer}, expected less than `num_hidden_layers`, {depth}");
            keys.refuse_key(Code::ConfigConflict, KEY, what);
            return None;
        };
        *entry = true;
    }
    Some(sparse)
}
