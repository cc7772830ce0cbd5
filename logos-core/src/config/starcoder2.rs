//! StarCoder2 (`Starcoder2ForCausalLM`): layer norms, biases, a feed-forward without a gate.

use crate::spec::{Activation, AttentionSpan, FeedForward, Mixer, ModelSpec};

use super::block::{Biases, Decoder, HeadNorms, Whole};
use super::inert::{Only, verdict};
use super::keys::{Absent, Keys};
use super::names::{MODEL, NormForm};
use super::sizes::{ActivationKey, Defaults, GELUS, KvHeads, Sizes, dtype};
use super::{layers, rope};

/// Keys that change nothing with one value.
const INERT: &[(&str, Only)] = &[("use_sliding_window", Only::Null)];

pub(super) fn read(keys: &Keys<'_>) -> Option<ModelSpec> {
    let defaults = Defaults {
        kv_heads: KvHeads::NotNull(2),
        positions: 4096,
        eps: ("norm_epsilon", 1e-5),
        activation: ActivationKey { key: "hidden_act", absent: Activation::GeluTanh, known: GELUS },
        ..Defaults::LLAMA
    };
    let read = Sizes::read(keys, &defaults);
    let rope = rope::read(keys, read.head, &rope::Style::LLAMA);
    let window = keys.size_or_none("sliding_window", None);
    let bias = keys.flag("use_bias", Absent::Gives(true));
    // The first release could have had others.
    keys.word("norm_type", Absent::Gives(()), &[("layer_norm", ())]);
    keys.word("mlp_type", Absent::Gives(()), &[("default", ())]);
    // There is no such norm here; the eps that counts is `norm_epsilon`.
    keys.raw("rms_norm_eps");
    let tied = keys.flag("tie_word_embeddings", Absent::Gives(true));
    let dtype = dtype(keys, None);
    keys.finish(|key, value| verdict(INERT, key, value));

    let (sizes, rope, bias) = (read.sizes?, rope?, bias?);
    let span = window?.map_or(AttentionSpan::Full, AttentionSpan::Window);
    let decoder = Decoder {
        names: MODEL,
        sizes: &sizes,
        rope: rope.rope,
        biases: Biases { qkv: bias, o: bias, mlp: bias },
        norm: NormForm::layer(sizes.eps),
        head_norms: HeadNorms::None,
    };
    let (layers, layer_of) = layers::distinct((0..sizes.depth).map(|_| span), |&span| {
        let feed_forward = MODEL.plain_mlp(["mlp.c_fc", "mlp.c_proj"], decoder.mlp_form());
        decoder.layer_of(Mixer::Attention(decoder.attention(span)), FeedForward::Dense(feed_forward))
    });
    Some(decoder.model("starcoder2", Whole::new(dtype?, rope.reach, tied?), layers, layer_of))
}
