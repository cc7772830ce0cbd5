//! Phi-1 and Phi-2 (`PhiForCausalLM`): attention and feed-forward side by side behind one norm, biases everywhere.

use crate::spec::{
    Activation, Arrangement, AttentionSpan, FeedForward, Head, LayerSpec, Linear, Mixer, ModelSpec, QkNorm, Weight,
};

use super::block::{Biases, Decoder, HeadNorms, Whole};
use super::inert::{Only, verdict};
use super::keys::{Absent, Keys};
use super::names::{Names, NormForm};
use super::sizes::{ActivationKey, Defaults, GELUS, Sizes, dtype};
use super::{layers, rope};

/// Keys of other families that change nothing here with one value.
const INERT: &[(&str, Only)] = &[("attention_bias", Only::True), ("mlp_bias", Only::True)];

const STYLE: rope::Style = rope::Style { partial: Some(("partial_rotary_factor", 0.5)), ..rope::Style::LLAMA };

const NAMES: Names = Names { norm: "final_layernorm", ..Names::under("model.") };

pub(super) fn read(keys: &Keys<'_>) -> Option<ModelSpec> {
    let defaults = Defaults {
        eps: ("layer_norm_eps", 1e-5),
        activation: ActivationKey { key: "hidden_act", absent: Activation::GeluTanh, known: GELUS },
        ..Defaults::LLAMA
    };
    let read = Sizes::read(keys, &defaults);
    let rope = rope::read(keys, read.head, &STYLE);
    let normed = keys.flag("qk_layernorm", Absent::Gives(false));
    let tied = keys.flag("tie_word_embeddings", Absent::Gives(false));
    let dtype = dtype(keys, None);
    keys.finish(|key, value| verdict(INERT, key, value));

    let (sizes, rope, normed) = (read.sizes?, rope?, normed?);
    let decoder = Decoder {
        names: NAMES,
        sizes: &sizes,
        rope: rope.rope,
        biases: Biases::ALL,
        norm: NormForm::layer(sizes.eps),
        head_norms: HeadNorms::None,
    };
    let (layers, layer_of) = layers::distinct((0..sizes.depth).map(|_| AttentionSpan::Full), |&span| {
        let mut attention = decoder.attention(span);
        attention.o = NAMES.linear("self_attn.dense", sizes.hidden, sizes.attention.q_width, true);
        if normed {
            let norm = |module| NAMES.norm(module, sizes.attention.head_dim, decoder.norm);
            let (q, k) = (norm("self_attn.q_layernorm"), norm("self_attn.k_layernorm"));
            attention.qk_norm = Some(QkNorm::PerHead { q, k, after_rope: false });
        }
        LayerSpec {
            arrangement: Arrangement::Parallel { mixer: decoder.stream_norm("input_layernorm"), feed_forward: None },
            mixer: Mixer::Attention(attention),
            feed_forward: FeedForward::Dense(NAMES.plain_mlp(["mlp.fc1", "mlp.fc2"], decoder.mlp_form())),
            residual_scale: None,
        }
    });
    let model = decoder.model("phi", Whole::new(dtype?, rope.reach, tied?), layers, layer_of);
    // The head has a bias of its own even where its weight is the embedding.
    let bias = Some(Weight::whole("lm_head.bias", &[sizes.vocab]));
    Some(ModelSpec { head: Head { linear: Linear { bias, ..model.head.linear }, ..model.head }, ..model })
}
