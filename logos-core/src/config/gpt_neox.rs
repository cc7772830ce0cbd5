//! GPT-NeoX and Pythia (`GPTNeoXForCausalLM`): two norms side by side, queries, keys and values fused head by head.

use crate::spec::{Activation, Arrangement, AttentionSpan, FeedForward, LayerSpec, Mixer, ModelSpec};

use super::block::{Biases, Decoder, HeadNorms, Whole};
use super::inert::{Only, verdict};
use super::keys::{Absent, Keys};
use super::names::{Names, NormForm};
use super::sizes::{ActivationKey, Defaults, GELUS, HeadDim, KvHeads, Sizes, dtype};
use super::{layers, rope};

/// Keys of other families that change nothing here with one value.
const INERT: &[(&str, Only)] = &[("is_decoder", Only::True), ("mlp_bias", Only::True)];

const STYLE: rope::Style =
    rope::Style { theta: ("rotary_emb_base", 10_000.0), partial: Some(("rotary_pct", 0.25)), ..rope::Style::LLAMA };

const NAMES: Names =
    Names { prefix: "gpt_neox.", layers: "layers", embedding: "embed_in", norm: "final_layer_norm", head: "embed_out" };

pub(super) fn read(keys: &Keys<'_>) -> Option<ModelSpec> {
    let defaults = Defaults {
        kv_heads: KvHeads::Every,
        head_dim: HeadDim::AlwaysDivided,
        eps: ("layer_norm_eps", 1e-5),
        activation: ActivationKey { key: "hidden_act", absent: Activation::Gelu, known: GELUS },
        ..Defaults::LLAMA
    };
    let read = Sizes::read(keys, &defaults);
    let rope = rope::read(keys, read.head, &STYLE);
    let qkv = read.sizes.as_ref().and_then(|sizes| sizes.attention.qkv(keys));
    let parallel = keys.flag("use_parallel_residual", Absent::Gives(true));
    let bias = keys.flag("attention_bias", Absent::Gives(true));
    let tied = keys.flag("tie_word_embeddings", Absent::Gives(false));
    let dtype = dtype(keys, None);
    keys.finish(|key, value| verdict(INERT, key, value));

    let (sizes, rope, qkv, parallel, bias) = (read.sizes?, rope?, qkv?, parallel?, bias?);
    let decoder = Decoder {
        names: NAMES,
        sizes: &sizes,
        rope: rope.rope,
        biases: Biases { qkv: bias, o: bias, mlp: true },
        norm: NormForm::layer(sizes.eps),
        head_norms: HeadNorms::None,
    };
    let (layers, layer_of) = layers::distinct((0..sizes.depth).map(|_| AttentionSpan::Full), |&span| {
        let [q, k, v] = decoder.by_kv_head("attention.query_key_value", qkv);
        let o = NAMES.linear("attention.dense", sizes.hidden, sizes.attention.q_width, bias);
        let arrangement = if parallel {
            Arrangement::Parallel {
                mixer: decoder.stream_norm("input_layernorm"),
                feed_forward: Some(decoder.stream_norm("post_attention_layernorm")),
            }
        } else {
            decoder.before_both()
        };
        let projections = ["mlp.dense_h_to_4h", "mlp.dense_4h_to_h"];
        LayerSpec {
            arrangement,
            mixer: Mixer::Attention(decoder.attention_of([q, k, v, o], span)),
            feed_forward: FeedForward::Dense(NAMES.plain_mlp(projections, decoder.mlp_form())),
            residual_scale: None,
        }
    });
    Some(decoder.model("gpt_neox", Whole::new(dtype?, rope.reach, tied?), layers, layer_of))
}
