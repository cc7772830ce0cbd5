//! Command R (`CohereForCausalLM`): attention and feed-forward side by side behind one layer norm without bias.

use crate::spec::{Arrangement, AttentionSpan, Head, LayerSpec, Mixer, ModelSpec, NormKind, Pairing};

use super::block::{Biases, Decoder, HeadNorms, Whole};
use super::granite::unless_one;
use super::inert::{Only, verdict};
use super::keys::{Absent, Keys};
use super::names::{MODEL, NormForm};
use super::sizes::{Defaults, Sizes, dtype};
use super::{layers, rope};

/// Keys of other families that change nothing here with one value.
const INERT: &[(&str, Only)] = &[("mlp_bias", Only::False), ("sliding_window", Only::Null)];

const STYLE: rope::Style = rope::Style { theta: ("rope_theta", 5e5), pairing: Pairing::Adjacent, ..rope::Style::LLAMA };

pub(super) fn read(keys: &Keys<'_>) -> Option<ModelSpec> {
    let defaults = Defaults { positions: 8192, eps: ("layer_norm_eps", 1e-5), ..Defaults::LLAMA };
    let read = Sizes::read(keys, &defaults);
    let rope = rope::read(keys, read.head, &STYLE);
    let scale = keys.positive("logit_scale", Absent::Gives(0.0625));
    let normed = keys.flag("use_qk_norm", Absent::Gives(false));
    let bias = keys.flag("attention_bias", Absent::Gives(false));
    let tied = keys.flag("tie_word_embeddings", Absent::Gives(true));
    let dtype = dtype(keys, None);
    keys.finish(|key, value| verdict(INERT, key, value));

    let (sizes, rope, scale, normed, bias) = (read.sizes?, rope?, scale?, normed?, bias?);
    let decoder = Decoder {
        names: MODEL,
        sizes: &sizes,
        rope: rope.rope,
        biases: Biases { qkv: bias, o: bias, mlp: false },
        norm: NormForm { kind: NormKind::Layer, eps: sizes.eps, bias: false },
        head_norms: if normed { HeadNorms::RowAHead } else { HeadNorms::None },
    };
    let (layers, layer_of) = layers::distinct((0..sizes.depth).map(|_| AttentionSpan::Full), |&span| LayerSpec {
        arrangement: Arrangement::Parallel { mixer: decoder.stream_norm("input_layernorm"), feed_forward: None },
        ..decoder.layer(Mixer::Attention(decoder.attention(span)))
    });
    let model = decoder.model("cohere", Whole::new(dtype?, rope.reach, tied?), layers, layer_of);
    Some(ModelSpec { head: Head { scale: unless_one(scale), ..model.head }, ..model })
}
