//! Qwen3.5, the text model: Gated DeltaNet layers with gated attention between, dense or with experts. Released as part of
//! a vision model, its config under `text_config`, or by itself (`qwen3_5_text`, `qwen3_5_moe_text`).

use crate::spec::{Dtype, ExpertTensors, Experts, FeedForward, ModelSpec, RouterScore};

use super::block::{Biases, Decoder, HeadNorms, Whole};
use super::delta::{self, Hybrid, Projections};
use super::experts::{Count, GateUp, Stack};
use super::inert::{Only, verdict};
use super::keys::{Absent, Keys};
use super::names::{GATED, MODEL, MlpForm, Names, NormForm};
use super::sizes::{DTYPES, Defaults, HeadDim, KvHeads, Sizes, Width, dtype};
use super::{layers, nested, rope};

/// Keys that change nothing in the text model with one value.
const INERT: &[(&str, Only)] = &[
    // The reference always has the gate.
    ("attn_output_gate", Only::True),
    ("mlp_bias", Only::False),
    ("mlp_only_layers", Only::Empty),
    // With experts the chosen scores are always divided by their sum.
    ("norm_topk_prob", Only::True),
    ("output_gate_type", Only::Silu),
    ("sliding_window", Only::Null),
    ("use_sliding_window", Only::False),
];

/// The same around the text model.
const OUTER: &[(&str, Only)] = &[("language_model_only", Only::False)];

const STYLE: rope::Style =
    rope::Style { partial: Some(("partial_rotary_factor", 0.25)), sections: true, ..rope::Style::LLAMA };

/// Names in a vision model.
const NESTED: Names = Names::under("model.language_model.");

/// The dense text model of a vision model.
pub(super) fn read_nested(keys: &Keys<'_>) -> Option<ModelSpec> {
    let text = nested::text(keys, "qwen3_5_text", false, OUTER)?;
    read_dense(&text.keys, Some(keys), text.tied, NESTED)
}

/// The dense text model by itself.
pub(super) fn read_bare(keys: &Keys<'_>) -> Option<ModelSpec> {
    let tied = keys.flag("tie_word_embeddings", Absent::Gives(false));
    read_dense(keys, None, tied, MODEL)
}

/// The text model with experts of a vision model.
pub(super) fn read_moe_nested(keys: &Keys<'_>) -> Option<ModelSpec> {
    let text = nested::text(keys, "qwen3_5_moe_text", false, OUTER)?;
    read_moe(&text.keys, Some(keys), text.tied, NESTED)
}

/// The text model with experts by itself.
pub(super) fn read_moe_bare(keys: &Keys<'_>) -> Option<ModelSpec> {
    let tied = keys.flag("tie_word_embeddings", Absent::Gives(false));
    read_moe(keys, None, tied, MODEL)
}

fn read_dense(keys: &Keys<'_>, outer: Option<&Keys<'_>>, tied: Option<bool>, names: Names) -> Option<ModelSpec> {
    let defaults = Defaults {
        kv_heads: KvHeads::NotNull(4),
        head_dim: HeadDim::NotNull(256),
        positions: 32_768,
        ..Defaults::LLAMA
    };
    let stem = Stem::read(keys, outer, tied, &defaults);
    keys.finish(|key, value| verdict(INERT, key, value));
    stem?.model(names, "qwen3_5_text", |decoder| FeedForward::Dense(names.gated_mlp("mlp", GATED, decoder.mlp_form())))
}

fn read_moe(keys: &Keys<'_>, outer: Option<&Keys<'_>>, tied: Option<bool>, names: Names) -> Option<ModelSpec> {
    let defaults = Defaults {
        kv_heads: KvHeads::NotNull(2),
        head_dim: HeadDim::NotNull(256),
        width: Width::Key("moe_intermediate_size"),
        positions: 32_768,
        ..Defaults::LLAMA
    };
    let stem = Stem::read(keys, outer, tied, &defaults);
    let count = Count::read(keys, "num_experts");
    let shared = keys.size("shared_expert_intermediate_size", Absent::Refused);
    let width = stem.as_ref().map(|stem| stem.sizes.width);
    let stored = width.and_then(|width| keys.product("moe_intermediate_size", "gate and up rows", &[2, width]));
    keys.finish(|key, value| verdict(INERT, key, value));

    let (stem, count, shared, stored) = (stem?, count?, shared?, stored?);
    stem.model(names, "qwen3_5_moe_text", |decoder| {
        let form = decoder.mlp_form();
        let tensors = ExpertTensors::Stacked;
        let stack = Stack { names, module: "mlp.experts", experts: count.experts, stored, form, tensors };
        let router = count.router(names, "mlp.gate", form.hidden, RouterScore::Softmax, true);
        FeedForward::Experts(Experts {
            shared: Some(names.gated_mlp("mlp.shared_expert", GATED, MlpForm { width: shared, ..form })),
            shared_gate: Some(names.linear("mlp.shared_expert_gate", 1, form.hidden, false)),
            ..count.stored(stack.expert(GateUp::Halves), tensors, router)
        })
    })
}

/// What both have in common: all but the feed-forward.
struct Stem {
    sizes: Sizes,
    rope: rope::Read,
    hybrid: Hybrid,
    sorts: Vec<delta::Sort>,
    bias: bool,
    state_dtype: Dtype,
    dtype: Dtype,
    tied: bool,
}

impl Stem {
    fn read(keys: &Keys<'_>, outer: Option<&Keys<'_>>, tied: Option<bool>, defaults: &Defaults) -> Option<Stem> {
        let read = Sizes::read(keys, defaults);
        let rope = rope::read(keys, read.head, &STYLE);
        let hybrid = Hybrid::read(keys, read.sizes.as_ref(), Projections::Split);
        let sorts = delta::sorts(keys, read.depth);
        let bias = keys.flag("attention_bias", Absent::Gives(false));
        let state_dtype = keys.word("mamba_ssm_dtype", Absent::Gives(Dtype::F32), DTYPES);
        let dtype = dtype(keys, outer);
        Some(Stem {
            sizes: read.sizes?,
            rope: rope?,
            hybrid: hybrid?,
            sorts: sorts?,
            bias: bias?,
            state_dtype: state_dtype?,
            dtype: dtype?,
            tied: tied?,
        })
    }

    fn model(
        self,
        names: Names,
        model_type: &str,
        feed_forward: impl Fn(&Decoder<'_>) -> FeedForward,
    ) -> Option<ModelSpec> {
        let Stem { sizes, rope, hybrid, sorts, bias, state_dtype, dtype, tied } = self;
        let decoder = Decoder {
            names,
            sizes: &sizes,
            rope: rope.rope,
            biases: Biases { qkv: bias, o: bias, mlp: false },
            norm: NormForm::rms_one_plus(sizes.eps),
            head_norms: HeadNorms::PerHead,
        };
        let whole = Whole { state_dtype, ..Whole::new(dtype, rope.reach, tied) };
        let (layers, layer_of) =
            layers::distinct(sorts, |&sort| decoder.layer_of(hybrid.mixer(&decoder, sort), feed_forward(&decoder)));
        Some(decoder.model(model_type, whole, layers, layer_of))
    }
}
