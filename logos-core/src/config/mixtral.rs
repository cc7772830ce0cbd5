//! Mixtral (`MixtralForCausalLM`): Mistral with experts in every layer.

use crate::spec::{AttentionSpan, FeedForward, Mixer, ModelSpec, RouterScore};

use super::block::{Biases, Decoder, HeadNorms, Whole};
use super::experts::Count;
use super::inert::{Only, verdict};
use super::keys::{Absent, Keys};
use super::names::{MODEL, NormForm};
use super::sizes::{Defaults, KvHeads, Sizes, dtype};
use super::{layers, rope};

/// Keys of other families that change nothing here with one value.
const INERT: &[(&str, Only)] = &[("attention_bias", Only::False), ("mlp_bias", Only::False)];

const STYLE: rope::Style = rope::Style { theta: ("rope_theta", 1e6), ..rope::Style::LLAMA };

pub(super) fn read(keys: &Keys<'_>) -> Option<ModelSpec> {
    let defaults =
        Defaults { kv_heads: KvHeads::NotNull(8), positions: 131_072, eps: ("rms_norm_eps", 1e-5), ..Defaults::LLAMA };
    let read = Sizes::read(keys, &defaults);
    let rope = rope::read(keys, read.head, &STYLE);
    let window = keys.size_or_none("sliding_window", None);
    let count = Count::read(keys, "num_local_experts");
    let tied = keys.flag("tie_word_embeddings", Absent::Gives(false));
    let dtype = dtype(keys, None);
    keys.finish(|key, value| verdict(INERT, key, value));

    let (sizes, rope, count) = (read.sizes?, rope?, count?);
    let span = window?.map_or(AttentionSpan::Full, AttentionSpan::Window);
    let decoder = Decoder {
        names: MODEL,
        sizes: &sizes,
        rope: rope.rope,
        biases: Biases::NONE,
        norm: NormForm::rms(sizes.eps),
        head_norms: HeadNorms::None,
    };
    let (layers, layer_of) = layers::distinct((0..sizes.depth).map(|_| span), |&span| {
        let router = count.router(MODEL, "block_sparse_moe.gate", sizes.hidden, RouterScore::Softmax, true);
        let parts = ["w1", "w3", "w2"];
        let experts = count.apart(MODEL, "block_sparse_moe.experts.{e}", parts, decoder.mlp_form(), router);
        decoder.layer_of(Mixer::Attention(decoder.attention(span)), FeedForward::Experts(experts))
    });
    Some(decoder.model("mixtral", Whole::new(dtype?, rope.reach, tied?), layers, layer_of))
}
