//! Gemma 3's text model: Gemma 2 without its caps, queries and keys normalised, five layers within a window (with a rotary
//! embedding of their own) to one that sees all. Released in a vision model, its config under `text_config`, or by itself
//! (`gemma3_text`).

use crate::Code;
use crate::spec::{Attention, AttentionSpan, ModelSpec};

use super::block::{Biases, Decoder, HeadNorms, Whole};
use super::gemma2::{ACTIVATION, cap_or_none, finished, layer, score_scale, window};
use super::inert::{Only, Verdict, verdict};
use super::keys::{Absent, Keys};
use super::names::{MODEL, Names, NormForm};
use super::sizes::{Defaults, HeadDim, KvHeads, Sizes, dtype};
use super::{layers, nested, rope};

/// Keys that change nothing with one value.
const INERT: &[(&str, Only)] = &[
    // Kept by the class, and read by nothing.
    ("attn_logit_softcapping", Only::Null),
    ("mlp_bias", Only::False),
];

const GLOBAL: rope::Style = rope::Style { theta: ("rope_theta", 1e6), ..rope::Style::LLAMA };
const LOCAL: rope::Style = rope::Style { theta: ("rope_local_base_freq", 1e4), ..rope::Style::LLAMA };

/// The text model of a vision model.
pub(super) fn read_nested(keys: &Keys<'_>) -> Option<ModelSpec> {
    let text = nested::text(keys, "gemma3_text", true, &[])?;
    let names = Names { head: "language_model.lm_head", ..Names::under("language_model.model.") };
    read_text(&text.keys, Some(keys), text.tied, names)
}

/// The text model by itself.
pub(super) fn read_bare(keys: &Keys<'_>) -> Option<ModelSpec> {
    let tied = keys.flag("tie_word_embeddings", Absent::Gives(true));
    read_text(keys, None, tied, MODEL)
}

fn read_text(keys: &Keys<'_>, outer: Option<&Keys<'_>>, tied: Option<bool>, names: Names) -> Option<ModelSpec> {
    // The released vision models leave out what the class has: vocabulary, heads, KV heads and their width.
    let defaults = Defaults {
        vocab: Absent::Gives(262_208),
        heads: Absent::Gives(8),
        kv_heads: KvHeads::NotNull(4),
        head_dim: HeadDim::NotNull(256),
        positions: 131_072,
        activation: ACTIVATION,
        ..Defaults::LLAMA
    };
    let read = Sizes::read(keys, &defaults);
    let ropes = ropes(keys, read.head);
    let window = window(keys);
    let types = layers::types(keys, read.depth, layers::REACHES);
    let every = keys.size("sliding_window_pattern", Absent::Gives(6));
    let scale = score_scale(keys);
    let final_cap = cap_or_none(keys, "final_logit_softcapping");
    let bias = keys.flag("attention_bias", Absent::Gives(false));
    let dtype = dtype(keys, outer);
    keys.finish(|key, value| verdict(INERT, key, value));

    let (sizes, bias, dtype, (global, local)) = (read.sizes?, bias?, dtype?, ropes?);
    let (window, every, scale, final_cap) = (window?, every?, scale?, final_cap?);
    let spans = layers::spans(types?, window, sizes.depth, |layer| !(layer + 1).is_multiple_of(every));
    let decoder = Decoder {
        names,
        sizes: &sizes,
        rope: global.rope,
        biases: Biases { qkv: bias, o: bias, mlp: false },
        norm: NormForm::rms_one_plus(sizes.eps),
        head_norms: HeadNorms::PerHead,
    };
    let (layers, layer_of) = layers::distinct(spans, |&span| {
        let attention = Attention { scale, ..decoder.attention(span) };
        let attention = match span {
            AttentionSpan::Full => attention,
            AttentionSpan::Window(_) | AttentionSpan::Chunked(_) => {
                Attention { rope: Some(local.rope.clone()), ..attention }
            }
        };
        layer(&decoder, attention)
    });
    let model = decoder.model("gemma3_text", Whole::new(dtype, global.reach, tied?), layers, layer_of);
    Some(finished(model, final_cap))
}

/// The rotary embeddings of the layers that see all and of those within a window: `rope_theta` with `rope_scaling` and
/// `rope_local_base_freq`, or `rope_parameters` with an object a sort of layer. `None` after a refusal.
fn ropes(keys: &Keys<'_>, head: Option<(u32, u32)>) -> Option<(rope::Read, rope::Read)> {
    if !keys.has("rope_parameters") {
        let global = rope::read(keys, head, &GLOBAL);
        let local = rope::read_in(keys, None, head, &LOCAL);
        return Some((global?, local?));
    }
    if keys.has("rope_scaling") {
        keys.refuse_key(Code::ConfigConflict, "rope_scaling", "and `rope_parameters` are both given, expected one");
        return None;
    }
    let sorts = keys.object("rope_parameters")?;
    let of = |sort, style: &rope::Style| {
        let inner = if sorts.has(sort) { Some(sorts.object(sort)?) } else { None };
        rope::read_in(keys, inner, head, style)
    };
    let global = of("full_attention", &GLOBAL);
    let local = of("sliding_attention", &LOCAL);
    sorts.finish(|_, _| Verdict::Unknown);
    Some((global?, local?))
}
