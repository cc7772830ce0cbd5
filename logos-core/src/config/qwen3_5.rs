//! Qwen3.5, the dense text model: Gated DeltaNet layers with gated attention between. Released as part of a vision
//! model, its config under `text_config`, or by itself (`qwen3_5_text`).

use crate::spec::{
    Attention, AttentionSpan, Dtype, GatedDelta, Linear, Mixer, ModelSpec, Norm, NormKind, Take, Tensor, Weight,
};
use crate::{At, Code, Refusal};

use super::block::{Biases, Decoder, Names, RmsForm, Whole};
use super::inert::{Only, Verdict, verdict};
use super::keys::{Absent, Keys, shown};
use super::sizes::{DTYPES, Defaults, HeadDim, KvHeads, Sizes, dtype};
use super::{layers, rope};

/// Added under the root when queries and keys are normalised; a constant of the reference.
const L2_EPS: f32 = 1e-6;

/// Keys that change nothing in the text model with one value.
const INERT: &[(&str, Only)] = &[
    // The reference always has the gate.
    ("attn_output_gate", Only::True),
    ("mlp_bias", Only::False),
    ("mlp_only_layers", Only::Empty),
    ("output_gate_type", Only::Silu),
    ("sliding_window", Only::Null),
    ("use_sliding_window", Only::False),
];

/// The mixers of its layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Linear,
    Full,
}

/// The text model of a vision model.
pub(super) fn read_nested(keys: &Keys<'_>) -> Option<ModelSpec> {
    let text = keys.object("text_config");
    let outer = keys.flag("tie_word_embeddings", Absent::Gives(false));
    keys.raw("dtype");
    keys.raw("torch_dtype");
    keys.finish(|key, value| match key {
        // Another model's, which the text model never sees.
        "vision_config" => Verdict::Inert,
        _ => verdict(&[("language_model_only", Only::False)], key, value),
    });
    let text = text?;
    match text.raw("model_type") {
        Some(found) if found != "qwen3_5_text" => {
            let what = format!("is {}, expected \"qwen3_5_text\"", shown(found));
            text.refuse_key(Code::ConfigFamily, "model_type", what);
            return None;
        }
        Some(_) | None => {}
    }
    // The vision model ties by its own key; the text model's may repeat it.
    let inner = outer.and_then(|outer| text.flag("tie_word_embeddings", Absent::Gives(outer)));
    if let (Some(outer), Some(inner)) = (outer, inner)
        && outer != inner
    {
        let path = text.path("tie_word_embeddings");
        keys.refuse_key(
            Code::ConfigConflict,
            "tie_word_embeddings",
            format_args!("is {outer} but `{path}` is {inner}, expected one value"),
        );
    }
    read_text(&text, Some(keys), outer, Names { prefix: "model.language_model." })
}

/// The text model by itself.
pub(super) fn read_bare(keys: &Keys<'_>) -> Option<ModelSpec> {
    let tied = keys.flag("tie_word_embeddings", Absent::Gives(false));
    read_text(keys, None, tied, Names { prefix: "model." })
}

fn read_text(keys: &Keys<'_>, outer: Option<&Keys<'_>>, tied: Option<bool>, names: Names) -> Option<ModelSpec> {
    let defaults = Defaults { kv_heads: KvHeads::NotNull(4), head_dim: HeadDim::NotNull(256), positions: 32_768 };
    let read = Sizes::read(keys, &defaults);
    let rope = rope::read(keys, read.head, Some(0.25));
    let delta = DeltaSizes::read(keys);
    let sorts = sorts(keys, read.depth);
    let bias = keys.flag("attention_bias", Absent::Gives(false));
    let state_dtype = keys.word("mamba_ssm_dtype", Absent::Gives(Dtype::F32), DTYPES);
    let dtype = dtype(keys, outer);
    let stored_q = read.sizes.as_ref().and_then(|sizes| {
        keys.product(
            "num_attention_heads",
            "query and gate rows",
            &[2, sizes.attention.heads, sizes.attention.head_dim],
        )
    });
    keys.finish(|key, value| verdict(INERT, key, value));

    let (sizes, rope, delta, bias, stored_q) = (read.sizes?, rope?, delta?, bias?, stored_q?);
    let decoder = Decoder {
        names,
        sizes: &sizes,
        rope: rope.rope,
        biases: Biases { qkv: bias, o: bias, mlp: false },
        norm: RmsForm { eps: sizes.eps, one_plus: true },
        qk_norm: true,
    };
    let whole = Whole { dtype: dtype?, state_dtype: state_dtype?, max_context: rope.reach, tied: tied? };
    let (layers, layer_of) = layers::distinct(sorts?, |sort| {
        decoder.layer(match sort {
            Sort::Linear => Mixer::GatedDelta(delta.mixer(names, sizes.hidden, sizes.eps)),
            Sort::Full => Mixer::Attention(gated(&decoder, stored_q, bias)),
        })
    });
    Some(decoder.model("qwen3_5_text", whole, layers, layer_of))
}

/// The mixer of each layer: `layer_types`, else full attention at every `full_attention_interval`-th. `None` after a refusal.
fn sorts(keys: &Keys<'_>, depth: Option<u32>) -> Option<Vec<Sort>> {
    let interval = keys.size("full_attention_interval", Absent::OrNullGives(4));
    let types = layers::types(keys, depth, &[("linear_attention", Sort::Linear), ("full_attention", Sort::Full)]);
    let (interval, types, depth) = (interval?, types?, depth?);
    Some(types.unwrap_or_else(|| {
        (1..=depth).map(|nth| if nth.is_multiple_of(interval) { Sort::Full } else { Sort::Linear }).collect()
    }))
}

/// Attention whose query projection holds, a head, the query's rows and then its output gate's.
fn gated(decoder: &Decoder<'_>, stored_q: u32, bias: bool) -> Attention {
    let sizes = decoder.sizes.attention;
    let part = |offset| {
        let take = Take { offset, run: sizes.head_dim, stride: 2 * sizes.head_dim, count: sizes.heads };
        decoder.names.linear_part("self_attn.q_proj", stored_q, take, sizes.q_width, decoder.sizes.hidden, bias)
    };
    Attention { q: part(0), gate: Some(part(sizes.head_dim)), ..decoder.attention(AttentionSpan::Full) }
}

/// Sizes of Gated DeltaNet.
struct DeltaSizes {
    key_heads: u32,
    value_heads: u32,
    key_dim: u32,
    value_dim: u32,
    taps: u32,
    /// `key_heads * key_dim`
    keys: u32,
    /// `value_heads * value_dim`
    values: u32,
    /// Of q, k and v together.
    channels: u32,
}

impl DeltaSizes {
    fn read(keys: &Keys<'_>) -> Option<DeltaSizes> {
        let key_heads = keys.size("linear_num_key_heads", Absent::Gives(16));
        let value_heads = keys.size("linear_num_value_heads", Absent::Gives(32));
        let key_dim = keys.size("linear_key_head_dim", Absent::Gives(128));
        let value_dim = keys.size("linear_value_head_dim", Absent::Gives(128));
        // With one tap there would be nothing to carry; no model has that.
        let taps = keys.count("linear_conv_kernel_dim", Absent::Gives(4), 2..=1024);
        let (key_heads, value_heads, key_dim, value_dim, taps) =
            (key_heads?, value_heads?, key_dim?, value_dim?, taps?);
        if !value_heads.is_multiple_of(key_heads) {
            keys.refuse_key(
                Code::ConfigConflict,
                "linear_num_value_heads",
                format_args!("is {value_heads}, expected a multiple of `linear_num_key_heads`, {key_heads}"),
            );
            return None;
        }
        let key_columns = keys.product("linear_num_key_heads", "key columns", &[key_heads, key_dim]);
        let values = keys.product("linear_num_value_heads", "value columns", &[value_heads, value_dim]);
        let (key_columns, values) = (key_columns?, values?);
        let Some(channels) = key_columns.checked_mul(2).and_then(|both| both.checked_add(values)) else {
            keys.refuse(Refusal::new(
                Code::SizeOverflow,
                At::ConfigKey(keys.path("linear_num_key_heads")),
                format!("2 × {key_columns} + {values} convolution channels, expected at most {}", u32::MAX),
            ));
            return None;
        };
        Some(DeltaSizes { key_heads, value_heads, key_dim, value_dim, taps, keys: key_columns, values, channels })
    }

    fn mixer(&self, names: Names, hidden: u32, eps: f32) -> GatedDelta {
        let (keys, values, value_heads) = (self.keys, self.values, self.value_heads);
        // Rows and channels are all queries, all keys, all values; each by head.
        let [q, k, v] = [Take::range(0, keys), Take::range(keys, keys), Take::range(2 * keys, values)];
        let fused = |take: Take, out| -> Linear {
            names.linear_part("linear_attn.in_proj_qkv", self.channels, take, out, hidden, false)
        };
        let conv = |take| Weight {
            tensor: Tensor { name: names.layer("linear_attn.conv1d.weight"), shape: vec![self.channels, 1, self.taps] },
            take,
        };
        GatedDelta {
            key_heads: self.key_heads,
            value_heads,
            key_dim: self.key_dim,
            value_dim: self.value_dim,
            taps: self.taps,
            q: fused(q, keys),
            k: fused(k, keys),
            v: fused(v, values),
            z: names.linear("linear_attn.in_proj_z", values, hidden, false),
            b: names.linear("linear_attn.in_proj_b", value_heads, hidden, false),
            a: names.linear("linear_attn.in_proj_a", value_heads, hidden, false),
            conv_q: conv(q),
            conv_k: conv(k),
            conv_v: conv(v),
            a_log: Weight::whole(names.layer("linear_attn.A_log"), &[value_heads]),
            dt_bias: Weight::whole(names.layer("linear_attn.dt_bias"), &[value_heads]),
            // Unlike every other norm of the family its factor is the stored weight itself.
            norm: Norm {
                kind: NormKind::Rms { one_plus: false },
                eps,
                weight: Some(Weight::whole(names.layer("linear_attn.norm.weight"), &[self.value_dim])),
                bias: None,
            },
            out: names.linear("linear_attn.out_proj", hidden, values, false),
            l2_eps: L2_EPS,
        }
    }
}
