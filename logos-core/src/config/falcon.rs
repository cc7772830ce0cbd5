//! Falcon (`FalconForCausalLM`), both layouts: one KV head and one norm (7B), or KV groups and two norms (40B, 180B).

use crate::Code;
use crate::spec::{Activation, Arrangement, AttentionSpan, FeedForward, LayerSpec, Mixer, ModelSpec};

use super::block::{Biases, Decoder, HeadNorms, Whole};
use super::inert::{Only, verdict};
use super::keys::{Absent, Keys};
use super::names::{Names, NormForm};
use super::sizes::{ActivationKey, Defaults, GELUS, HeadDim, KvHeads, Sizes, Width, dtype};
use super::{layers, rope};

/// Keys that change nothing with one value.
const INERT: &[(&str, Only)] = &[
    // Positions by slopes on the scores rather than by rotation.
    ("alibi", Only::False),
    ("apply_residual_connection_post_layernorm", Only::False),
];

const NAMES: Names =
    Names { prefix: "transformer.", layers: "h", embedding: "word_embeddings", norm: "ln_f", head: "lm_head" };

pub(super) fn read(keys: &Keys<'_>) -> Option<ModelSpec> {
    let shape = Shape::read(keys);
    let defaults = Defaults {
        kv_heads: shape.as_ref().map_or(KvHeads::AsHeads, |shape| shape.kv_heads),
        kv_key: "num_kv_heads",
        head_dim: HeadDim::AlwaysDivided,
        width: Width::OrFourTimesHidden("ffn_hidden_size"),
        eps: ("layer_norm_epsilon", 1e-5),
        activation: ActivationKey { key: "activation", absent: Activation::Gelu, known: GELUS },
        ..Defaults::LLAMA
    };
    let read = Sizes::read(keys, &defaults);
    repeated(keys, "n_head", "num_attention_heads");
    repeated(keys, "n_layer", "num_hidden_layers");
    let rope = rope::read(keys, read.head, &rope::Style::LLAMA);
    let qkv = read.sizes.as_ref().and_then(|sizes| sizes.attention.qkv(keys));
    let bias = keys.flag("bias", Absent::Gives(false));
    let tied = keys.flag("tie_word_embeddings", Absent::Gives(true));
    let dtype = dtype(keys, None);
    keys.finish(|key, value| verdict(INERT, key, value));

    let (shape, sizes, rope, qkv, bias) = (shape?, read.sizes?, rope?, qkv?, bias?);
    let decoder = Decoder {
        names: NAMES,
        sizes: &sizes,
        rope: rope.rope,
        biases: Biases { qkv: bias, o: bias, mlp: bias },
        norm: NormForm::layer(sizes.eps),
        head_norms: HeadNorms::None,
    };
    let (layers, layer_of) = layers::distinct((0..sizes.depth).map(|_| AttentionSpan::Full), |&span| {
        let [q, k, v] = decoder.by_kv_head("self_attention.query_key_value", qkv);
        let o = NAMES.linear("self_attention.dense", sizes.hidden, sizes.attention.q_width, bias);
        let projections = ["mlp.dense_h_to_4h", "mlp.dense_4h_to_h"];
        LayerSpec {
            arrangement: shape.norms.arrangement(&decoder),
            mixer: Mixer::Attention(decoder.attention_of([q, k, v, o], span)),
            feed_forward: FeedForward::Dense(NAMES.plain_mlp(projections, decoder.mlp_form())),
            residual_scale: None,
        }
    });
    Some(decoder.model("falcon", Whole::new(dtype?, rope.reach, tied?), layers, layer_of))
}

/// The norms of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Norms {
    /// One before both blocks, which stand side by side.
    One,
    /// One before each, side by side.
    Two,
    /// One before each, one block behind the other.
    InTurn,
}

impl Norms {
    fn arrangement(self, decoder: &Decoder<'_>) -> Arrangement {
        match self {
            Norms::One => Arrangement::Parallel { mixer: decoder.stream_norm("input_layernorm"), feed_forward: None },
            Norms::Two => Arrangement::Parallel {
                mixer: decoder.stream_norm("ln_attn"),
                feed_forward: Some(decoder.stream_norm("ln_mlp")),
            },
            Norms::InTurn => decoder.before_both(),
        }
    }
}

/// What the layout depends on.
struct Shape {
    kv_heads: KvHeads,
    norms: Norms,
}

impl Shape {
    /// The new layout has KV groups and blocks side by side whatever `multi_query` and `parallel_attn` say; in the old one
    /// `num_kv_heads` counts only without `multi_query`, and then the checkpoint has a KV head a query head. `None` after a
    /// refusal.
    fn read(keys: &Keys<'_>) -> Option<Shape> {
        const NORMS: &str = "num_ln_in_parallel_attn";
        let new = keys.flag("new_decoder_architecture", Absent::Gives(false));
        let one_kv_head = keys.flag("multi_query", Absent::Gives(true));
        let parallel = keys.flag("parallel_attn", Absent::Gives(true));
        let (new, one_kv_head, parallel) = (new?, one_kv_head?, parallel?);
        let norms = keys.count(NORMS, Absent::OrNullGives(if new { 2 } else { 1 }), 1..=2)?;
        if !new && norms == 2 {
            let what = "is 2, expected 1 without `new_decoder_architecture`";
            keys.refuse_key(Code::ConfigConflict, NORMS, what);
            return None;
        }
        if new && !parallel {
            // The reference makes the norms of one and asks for those of the other.
            let what = "is false, expected true with `new_decoder_architecture`";
            keys.refuse_key(Code::ConfigConflict, "parallel_attn", what);
            return None;
        }
        let kv_heads = match (new, one_kv_head) {
            (true, _) => KvHeads::AsHeads,
            (false, true) => KvHeads::One,
            (false, false) => {
                repeated(keys, "num_kv_heads", "num_attention_heads");
                KvHeads::Every
            }
        };
        let norms = match (parallel, norms) {
            (false, _) => Norms::InTurn,
            (true, 2) => Norms::Two,
            (true, _) => Norms::One,
        };
        Some(Shape { kv_heads, norms })
    }
}

/// Refuses a key that is there and says another thing than the one it repeats.
fn repeated(keys: &Keys<'_>, key: &'static str, of: &'static str) {
    let (Some(found), Some(counts)) = (keys.raw(key), keys.raw(of)) else { return };
    if !found.is_null() && found != counts {
        keys.refuse_key(Code::ConfigConflict, key, format_args!("differs from `{of}`, expected the same"));
    }
}
