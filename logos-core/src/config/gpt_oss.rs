//! gpt-oss (`GptOssForCausalLM`): sinks beside the scores, every other layer within a window, experts with clamps and biases.

use crate::Code;
use crate::spec::{
    Activation, Attention, AttentionSpan, Dtype, ExpertTensors, FeedForward, Linear, Mixer, ModelSpec, Router,
    RouterScore, Weight,
};

use super::block::{Biases, Decoder, HeadNorms, Whole};
use super::experts::{Count, GateUp, Stack};
use super::inert::{Only, verdict};
use super::keys::{Absent, Keys};
use super::names::{MODEL, MlpForm, NormForm};
use super::quantized::{self, Method};
use super::sizes::{self, Defaults, HeadDim, KvHeads, Sizes};
use super::{layers, rope};

/// Keys that change nothing with one value.
const INERT: &[(&str, Only)] = &[("mlp_bias", Only::True)];

const STYLE: rope::Style = rope::Style { theta: ("rope_theta", 150_000.0), ..rope::Style::LLAMA };

pub(super) fn read(keys: &Keys<'_>) -> Option<ModelSpec> {
    let defaults = Defaults {
        kv_heads: KvHeads::NotNull(8),
        head_dim: HeadDim::NotNull(64),
        positions: 131_072,
        eps: ("rms_norm_eps", 1e-5),
        ..Defaults::LLAMA
    };
    let read = Sizes::read(keys, &defaults);
    let rope = scaled_rope(keys, read.head);
    let window = keys.size("sliding_window", Absent::Gives(128));
    let types = layers::types(keys, read.depth, layers::REACHES);
    let count = Count::read(keys, "num_local_experts");
    repeated_top_k(keys, count);
    // The length of training before it was stretched; the scaling has the number that counts.
    keys.raw("initial_context_length");
    let alpha = keys.positive("swiglu_alpha", Absent::Gives(1.702));
    let limit = keys.positive("swiglu_limit", Absent::Gives(7.0));
    let stored = read.sizes.as_ref().and_then(|sizes| sizes.gate_and_up(keys));
    let bias = keys.flag("attention_bias", Absent::Gives(true));
    let tied = keys.flag("tie_word_embeddings", Absent::Gives(false));
    let dtype = dtype(keys);
    keys.finish(|key, value| verdict(INERT, key, value));

    let (sizes, rope, count, stored, bias) = (read.sizes?, rope?, count?, stored?, bias?);
    let activation = Activation::SwigluClamped { alpha: alpha?, limit: limit? };
    let window = AttentionSpan::Window(window?);
    let spans = layers::spans(types?, window, sizes.depth, |layer| layer % 2 == 0);
    let decoder = Decoder {
        names: MODEL,
        sizes: &sizes,
        rope: rope.rope,
        biases: Biases { qkv: bias, o: bias, mlp: true },
        norm: NormForm::rms(sizes.eps),
        head_norms: HeadNorms::None,
    };
    let (layers, layer_of) = layers::distinct(spans, |&span| {
        let sinks = Some(Weight::whole(MODEL.layer("self_attn.sinks"), &[sizes.attention.heads]));
        let attention = Attention { sinks, ..decoder.attention(span) };
        let form = MlpForm { activation, ..decoder.mlp_form() };
        let tensors = ExpertTensors::StackedTransposed;
        let stack = Stack { names: MODEL, module: "mlp.experts", experts: count.experts, stored, form, tensors };
        let plain = count.router(MODEL, "mlp.router", sizes.hidden, RouterScore::SoftmaxChosen, false);
        let bias = Some(Weight::whole(MODEL.layer("mlp.router.bias"), &[count.experts]));
        let router = Router { linear: Linear { bias, ..plain.linear }, ..plain };
        let experts = count.stored(stack.expert(GateUp::Interleaved), tensors, router);
        decoder.layer_of(Mixer::Attention(attention), FeedForward::Experts(experts))
    });
    Some(decoder.model("gpt_oss", Whole::new(dtype?, rope.reach, tied?), layers, layer_of))
}

/// The embedding. Without a scaling the class takes that of the released models, which is not to be guessed.
fn scaled_rope(keys: &Keys<'_>, head: Option<(u32, u32)>) -> Option<rope::Read> {
    let rope = rope::read(keys, head, &STYLE);
    if !keys.has("rope_scaling") && !keys.has("rope_parameters") {
        let refusal = keys.refusal(Code::ConfigMissing, "rope_scaling", "is missing, expected an object");
        keys.refuse(
            refusal.help("write the scaling of the released model, or `{\"rope_type\": \"default\"}` for none"),
        );
        return None;
    }
    rope
}

/// The release's own name for `num_experts_per_tok`, which the reference does not read.
fn repeated_top_k(keys: &Keys<'_>, count: Option<Count>) {
    const KEY: &str = "experts_per_token";
    let Some(Count { top_k, .. }) = count else {
        keys.raw(KEY);
        return;
    };
    let Some(found) = keys.size(KEY, Absent::OrNullGives(top_k)) else { return };
    if found != top_k {
        let what = format_args!("is {found}, expected `num_experts_per_tok`, {top_k}");
        keys.refuse_key(Code::ConfigConflict, KEY, what);
    }
}

/// The dtype. Where the checkpoint is MXFP4 and names none, what is not quantized is bfloat16, and so is the rest when read
/// back: the reference's own rule.
fn dtype(keys: &Keys<'_>) -> Option<Dtype> {
    match quantized::read(keys, &[("mxfp4", Method::Mxfp4)])? {
        Some(Method::Mxfp4) if !keys.has("dtype") && !keys.has("torch_dtype") => Some(Dtype::Bf16),
        Some(Method::Mxfp4 | Method::Fp8) | None => sizes::dtype(keys, None),
    }
}
