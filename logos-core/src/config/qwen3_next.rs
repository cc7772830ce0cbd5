//! Qwen3-Next (`Qwen3NextForCausalLM`): Gated DeltaNet with gated attention between, experts beside a gated shared one.

use crate::spec::{Experts, FeedForward, ModelSpec, RouterScore};

use super::block::{Biases, Decoder, HeadNorms, Whole};
use super::delta::{self, Hybrid, Projections};
use super::experts::{Count, qwen_layers};
use super::inert::{Only, verdict};
use super::keys::{Absent, Keys};
use super::names::{GATED, MODEL, MlpForm, NormForm};
use super::sizes::{Defaults, HeadDim, KvHeads, Sizes, dtype};
use super::{layers, quantized, rope};

/// Keys of other families that change nothing here with one value.
const INERT: &[(&str, Only)] = &[
    ("attn_output_gate", Only::True),
    ("mlp_bias", Only::False),
    ("sliding_window", Only::Null),
    ("use_sliding_window", Only::False),
];

const STYLE: rope::Style = rope::Style { partial: Some(("partial_rotary_factor", 0.25)), ..rope::Style::LLAMA };

pub(super) fn read(keys: &Keys<'_>) -> Option<ModelSpec> {
    let defaults = Defaults {
        kv_heads: KvHeads::NotNull(2),
        head_dim: HeadDim::NotNull(256),
        positions: 32_768,
        ..Defaults::LLAMA
    };
    let read = Sizes::read(keys, &defaults);
    let rope = rope::read(keys, read.head, &STYLE);
    let hybrid = Hybrid::read(keys, read.sizes.as_ref(), Projections::Grouped);
    let sorts = delta::sorts(keys, read.depth);
    let count = Count::read(keys, "num_experts");
    let width = keys.size("moe_intermediate_size", Absent::Refused);
    let shared = keys.size("shared_expert_intermediate_size", Absent::Refused);
    let normalised = keys.flag("norm_topk_prob", Absent::Gives(true));
    let sparse = qwen_layers(keys, read.depth);
    let bias = keys.flag("attention_bias", Absent::Gives(false));
    let tied = keys.flag("tie_word_embeddings", Absent::Gives(false));
    let quantized = quantized::read(keys, &[("fp8", quantized::Method::Fp8)]);
    let dtype = dtype(keys, None);
    keys.finish(|key, value| verdict(INERT, key, value));

    let (sizes, rope, hybrid, bias) = (read.sizes?, rope?, hybrid?, bias?);
    quantized?;
    let (count, width, shared, normalised) = (count?, width?, shared?, normalised?);
    let decoder = Decoder {
        names: MODEL,
        sizes: &sizes,
        rope: rope.rope,
        biases: Biases { qkv: bias, o: bias, mlp: false },
        norm: NormForm::rms_one_plus(sizes.eps),
        head_norms: HeadNorms::PerHead,
    };
    let (layers, layer_of) = layers::distinct(sorts?.into_iter().zip(sparse?), |&(sort, sparse)| {
        let mixer = hybrid.mixer(&decoder, sort);
        if !sparse {
            return decoder.layer(mixer);
        }
        let router = count.router(MODEL, "mlp.gate", sizes.hidden, RouterScore::Softmax, normalised);
        let form = MlpForm { width, ..decoder.mlp_form() };
        let experts = Experts {
            shared: Some(MODEL.gated_mlp("mlp.shared_expert", GATED, MlpForm { width: shared, ..form })),
            shared_gate: Some(MODEL.linear("mlp.shared_expert_gate", 1, sizes.hidden, false)),
            ..count.apart(MODEL, "mlp.experts.{e}", GATED, form, router)
        };
        decoder.layer_of(mixer, FeedForward::Experts(experts))
    });
    Some(decoder.model("qwen3_next", Whole::new(dtype?, rope.reach, tied?), layers, layer_of))
}
