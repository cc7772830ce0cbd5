//! DeepSeek V2 and V3, and Kimi K2, which is V3 under another name: latent attention, a few dense layers, then experts.

use crate::Code;
use crate::spec::{Dtype, FeedForward, LatentAttention, Mixer, ModelSpec, Pairing};

use super::block::{Biases, Decoder, HeadNorms, Whole};
use super::experts::{self, Count, DeepSeek, DeepSeekDefaults, Method};
use super::inert::{Only, verdict};
use super::keys::{Absent, Keys};
use super::names::{GATED, MODEL, NormForm};
use super::sizes::{Defaults, HeadDim, KvHeads, Sizes, dtype};
use super::{layers, quantized, rope};

/// Of the norms of the latents, whatever `rms_norm_eps` says: the reference gives them no other.
const LATENT_EPS: f32 = 1e-6;

/// Keys that change nothing in V2 with one value.
const INERT_V2: &[(&str, Only)] = &[
    ("mlp_bias", Only::False),
    // The reference does not read it, the first release's own code does.
    ("norm_topk_prob", Only::False),
];

/// Keys that change nothing in V3 with one value.
const INERT_V3: &[(&str, Only)] = &[("mlp_bias", Only::False)];

const STYLE: rope::Style = rope::Style { head: "qk_rope_head_dim", pairing: Pairing::Adjacent, ..rope::Style::LLAMA };

/// DeepSeek V2 (`DeepseekV2ForCausalLM`).
pub(super) fn read_v2(keys: &Keys<'_>) -> Option<ModelSpec> {
    let stem = Stem::read(keys, 2048, &STYLE);
    let experts = softmax(keys);
    let sparse = experts::after_dense(keys, stem.depth, 0);
    keys.finish(|key, value| verdict(INERT_V2, key, value));
    stem.model("deepseek_v2", experts?, sparse?)
}

/// DeepSeek V3 and R1 (`DeepseekV3ForCausalLM`).
pub(super) fn read_v3(keys: &Keys<'_>) -> Option<ModelSpec> {
    read_like_v3(keys, "deepseek_v3")
}

/// Kimi K2, whose `model_type` the reference reads as DeepSeek V3's.
pub(super) fn read_kimi_k2(keys: &Keys<'_>) -> Option<ModelSpec> {
    read_like_v3(keys, "kimi_k2")
}

fn read_like_v3(keys: &Keys<'_>, model_type: &str) -> Option<ModelSpec> {
    let adjacent = keys.flag("rope_interleave", Absent::OrNullGives(true));
    let pairing = if adjacent == Some(false) { Pairing::Halves } else { Pairing::Adjacent };
    let stem = Stem::read(keys, 4096, &rope::Style { pairing, ..STYLE });
    let defaults = DeepSeekDefaults { shared: 1, scale: 2.5, normalised: true, groups: (8, 4) };
    let experts = DeepSeek::corrected(keys, defaults);
    let sparse = experts::after_dense(keys, stem.depth, 3);
    keys.finish(|key, value| verdict(INERT_V3, key, value));
    stem.model(model_type, experts?, sparse?)
}

/// V2's mixture. `None` after a refusal.
fn softmax(keys: &Keys<'_>) -> Option<DeepSeek> {
    let count = Count::read(keys, "n_routed_experts");
    let widths = experts::widths(keys, 2);
    let scale = keys.positive("routed_scaling_factor", Absent::Gives(1.0));
    keys.word("scoring_func", Absent::Gives(()), &[("softmax", ())]);
    let limited = keys.word("topk_method", Absent::Gives(false), &[("greedy", false), ("group_limited_greedy", true)]);
    keys.raw("n_group");
    keys.raw("topk_group");
    // Without the method all experts compete, whatever their groups.
    let groups = if limited? { experts::groups(keys, count, (1, 1), 1) } else { Some((1, 1)) };
    let (width, shared) = widths?;
    let (count, groups, scale) = (count?, groups?, scale?);
    Some(DeepSeek { count, width, shared, groups, scale, normalised: false, method: Method::Softmax })
}

/// All but the experts.
struct Stem {
    sizes: Option<Sizes>,
    depth: Option<u32>,
    latent: Option<LatentSizes>,
    rope: Option<rope::Read>,
    bias: Option<bool>,
    dtype: Option<Dtype>,
    tied: Option<bool>,
}

impl Stem {
    fn read(keys: &Keys<'_>, positions: u32, style: &rope::Style) -> Stem {
        let dims = Dims::read(keys);
        let head_dim = dims.and_then(|dims| dims.head(keys));
        let defaults =
            Defaults { kv_heads: KvHeads::AsHeads, head_dim: HeadDim::Read(head_dim), positions, ..Defaults::LLAMA };
        let read = Sizes::read(keys, &defaults);
        let head = dims.zip(read.head).map(|(dims, (_, positions))| (dims.rotary, positions));
        let rope = rope::read(keys, head, style);
        let sizes = read.sizes.filter(|sizes| each_head_has_keys(keys, sizes));
        let latent = dims.zip(sizes.as_ref()).and_then(|(dims, sizes)| LatentSizes::new(keys, dims, sizes));
        let bias = keys.flag("attention_bias", Absent::Gives(false));
        let tied = keys.flag("tie_word_embeddings", Absent::Gives(false));
        let quantized = quantized::read(keys, &[("fp8", quantized::Method::Fp8)]);
        let dtype = quantized.and(dtype(keys, None));
        Stem { sizes, depth: read.depth, latent, rope, bias, dtype, tied }
    }

    fn model(self, model_type: &str, experts: DeepSeek, sparse: Vec<bool>) -> Option<ModelSpec> {
        let (sizes, latent, rope, bias) = (self.sizes?, self.latent?, self.rope?, self.bias?);
        let magnitude = rope.magnitude;
        let decoder = Decoder {
            names: MODEL,
            sizes: &sizes,
            rope: rope.rope,
            biases: Biases { qkv: bias, o: bias, mlp: false },
            norm: NormForm::rms(sizes.eps),
            head_norms: HeadNorms::None,
        };
        let (layers, layer_of) = layers::distinct(sparse, |&sparse| {
            let feed_forward = if sparse {
                FeedForward::Experts(experts.experts(MODEL, decoder.mlp_form()))
            } else {
                FeedForward::Dense(MODEL.gated_mlp("mlp", GATED, decoder.mlp_form()))
            };
            decoder.layer_of(Mixer::Latent(latent.attention(&decoder, magnitude)), feed_forward)
        });
        Some(decoder.model(model_type, Whole::new(self.dtype?, rope.reach, self.tied?), layers, layer_of))
    }
}

/// Keys and values are made of the latent for each query head.
fn each_head_has_keys(keys: &Keys<'_>, sizes: &Sizes) -> bool {
    let (heads, kv_heads) = (sizes.attention.heads, sizes.attention.kv_heads);
    if heads != kv_heads {
        keys.refuse_key(
            Code::ConfigConflict,
            "num_key_value_heads",
            format_args!("is {kv_heads}, expected `num_attention_heads`, {heads}"),
        );
    }
    heads == kv_heads
}

/// Widths of a head's parts and of the latents.
#[derive(Clone, Copy)]
struct Dims {
    nope: u32,
    rotary: u32,
    value: u32,
    latent: u32,
    query: Option<u32>,
}

impl Dims {
    fn read(keys: &Keys<'_>) -> Option<Dims> {
        let nope = keys.size("qk_nope_head_dim", Absent::Gives(128));
        let rotary = keys.size("qk_rope_head_dim", Absent::Gives(64));
        let value = keys.size("v_head_dim", Absent::Gives(128));
        let latent = keys.size("kv_lora_rank", Absent::Gives(512));
        let query = keys.size_or_none("q_lora_rank", Some(1536));
        Some(Dims { nope: nope?, rotary: rotary?, value: value?, latent: latent?, query: query? })
    }

    /// Columns of a query head. Files that the reference saved repeat it, and the rotating part as `head_dim`.
    fn head(&self, keys: &Keys<'_>) -> Option<u32> {
        let both = keys.sum("qk_nope_head_dim", "columns of a head", &[self.nope, self.rotary])?;
        let mut agree = true;
        for (key, expected) in [("head_dim", self.rotary), ("qk_head_dim", both)] {
            let found = keys.size(key, Absent::OrNullGives(expected))?;
            if found != expected {
                let what = format_args!("is {found}, expected {expected} by `qk_nope_head_dim` and `qk_rope_head_dim`");
                keys.refuse_key(Code::ConfigConflict, key, what);
                agree = false;
            }
        }
        agree.then_some(both)
    }
}

/// Widths of the projections.
struct LatentSizes {
    dims: Dims,
    /// Of the latent and the rotating key together.
    down: u32,
    /// `heads * (nope + value)`
    up: u32,
    /// `heads * value`
    values: u32,
}

impl LatentSizes {
    fn new(keys: &Keys<'_>, dims: Dims, sizes: &Sizes) -> Option<LatentSizes> {
        let heads = sizes.attention.heads;
        let down = keys.sum("kv_lora_rank", "latent columns", &[dims.latent, dims.rotary]);
        let both = keys.sum("v_head_dim", "columns of a key and value", &[dims.nope, dims.value])?;
        let up = keys.product("num_attention_heads", "key and value columns", &[heads, both]);
        let values = keys.product("num_attention_heads", "value columns", &[heads, dims.value]);
        Some(LatentSizes { dims, down: down?, up: up?, values: values? })
    }

    fn attention(&self, decoder: &Decoder<'_>, magnitude: f64) -> LatentAttention {
        let Dims { nope, rotary, value, latent, query } = self.dims;
        let (names, hidden, sizes) = (decoder.names, decoder.sizes.hidden, decoder.sizes.attention);
        let Biases { qkv: bias, o, mlp: _ } = decoder.biases;
        let norm = |name, width| names.norm(name, width, NormForm { eps: LATENT_EPS, ..decoder.norm });
        let (q, q_down) = match query {
            None => (names.linear("self_attn.q_proj", sizes.q_width, hidden, false), None),
            Some(rank) => {
                let down = names.linear("self_attn.q_a_proj", rank, hidden, bias);
                let up = names.linear("self_attn.q_b_proj", sizes.q_width, rank, false);
                (up, Some((down, norm("self_attn.q_a_layernorm", rank))))
            }
        };
        let scale = f64::from(sizes.head_dim).sqrt().recip() * magnitude * magnitude;
        LatentAttention {
            heads: sizes.heads,
            nope,
            rotary,
            value_dim: value,
            latent,
            q,
            q_down,
            kv_down: names.linear("self_attn.kv_a_proj_with_mqa", self.down, hidden, bias),
            kv_norm: norm("self_attn.kv_a_layernorm", latent),
            kv_up: names.linear("self_attn.kv_b_proj", self.up, latent, false),
            o: names.linear("self_attn.o_proj", hidden, self.values, o),
            rope: decoder.rope.clone(),
            scale: scale as f32,
        }
    }
}
