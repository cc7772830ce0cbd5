//! Parts of a decoder as Hugging Face checkpoints name them, for families that follow Llama's names.

use crate::spec::{
    Activation, Arrangement, Attention, AttentionSpan, Dtype, FeedForward, Head, LayerSpec, Linear, Mixer, Mlp,
    ModelSpec, Norm, NormKind, QkNorm, Rope, Take, Tensor, Weight,
};

use super::sizes::{AttentionSizes, Sizes};

/// How a checkpoint's names begin: `model.` or `model.language_model.`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Names {
    pub(super) prefix: &'static str,
}

impl Names {
    /// The name of a tensor of the model.
    pub(super) fn model(self, tail: &str) -> String {
        format!("{}{tail}", self.prefix)
    }

    /// The name of a tensor of each layer.
    pub(super) fn layer(self, tail: &str) -> String {
        format!("{}layers.{{l}}.{tail}", self.prefix)
    }

    /// A projection of each layer.
    pub(super) fn linear(self, module: &str, out: u32, input: u32, bias: bool) -> Linear {
        self.linear_part(module, out, Take::range(0, out), out, input, bias)
    }

    /// `out` rows of a projection of each layer that is stored with `stored` rows, those of `take`.
    pub(super) fn linear_part(self, module: &str, stored: u32, take: Take, out: u32, input: u32, bias: bool) -> Linear {
        let part = |name: &str, shape: Vec<u32>| Weight {
            tensor: Tensor { name: self.layer(&format!("{module}.{name}")), shape },
            take,
        };
        let bias = bias.then(|| part("bias", vec![stored]));
        Linear { out, input, weight: part("weight", vec![stored, input]), bias }
    }

    /// A root-mean-square norm of each layer.
    pub(super) fn norm(self, module: &str, width: u32, norm: RmsForm) -> Norm {
        norm.with(self.layer(&format!("{module}.weight")), width)
    }
}

/// The root-mean-square norm of a family.
#[derive(Clone, Copy, Debug)]
pub(super) struct RmsForm {
    pub(super) eps: f32,
    /// Whether the factor is `1 + w`.
    pub(super) one_plus: bool,
}

impl RmsForm {
    fn with(self, name: String, width: u32) -> Norm {
        let weight = Some(Weight::whole(name, &[width]));
        Norm { kind: NormKind::Rms { one_plus: self.one_plus }, eps: self.eps, weight, bias: None }
    }
}

/// Which projections of a block have a bias.
#[derive(Clone, Copy, Debug)]
pub(super) struct Biases {
    pub(super) qkv: bool,
    pub(super) o: bool,
    pub(super) mlp: bool,
}

/// What the layers of a decoder like Llama have in common.
pub(super) struct Decoder<'a> {
    pub(super) names: Names,
    pub(super) sizes: &'a Sizes,
    pub(super) rope: Rope,
    pub(super) biases: Biases,
    pub(super) norm: RmsForm,
    /// Whether queries and keys are normalised a head.
    pub(super) qk_norm: bool,
}

impl Decoder<'_> {
    /// Grouped attention.
    pub(super) fn attention(&self, span: AttentionSpan) -> Attention {
        let hidden = self.sizes.hidden;
        let AttentionSizes { heads, kv_heads, head_dim, q_width, kv_width } = self.sizes.attention;
        let names = self.names;
        let qk_norm = self.qk_norm.then(|| QkNorm::PerHead {
            q: names.norm("self_attn.q_norm", head_dim, self.norm),
            k: names.norm("self_attn.k_norm", head_dim, self.norm),
            after_rope: false,
        });
        Attention {
            heads,
            kv_heads,
            head_dim,
            q: names.linear("self_attn.q_proj", q_width, hidden, self.biases.qkv),
            k: names.linear("self_attn.k_proj", kv_width, hidden, self.biases.qkv),
            v: names.linear("self_attn.v_proj", kv_width, hidden, self.biases.qkv),
            o: names.linear("self_attn.o_proj", hidden, q_width, self.biases.o),
            gate: None,
            qk_norm,
            rope: Some(self.rope.clone()),
            span,
            scale: self.sizes.attention.score_scale(),
            softcap: None,
            sinks: None,
            temperature: None,
        }
    }

    /// A layer: norm, mixer, norm, SwiGLU.
    pub(super) fn layer(&self, mixer: Mixer) -> LayerSpec {
        let Sizes { hidden, width, .. } = *self.sizes;
        let (names, bias) = (self.names, self.biases.mlp);
        LayerSpec {
            arrangement: Arrangement::Sequential {
                before_mixer: Some(names.norm("input_layernorm", hidden, self.norm)),
                after_mixer: None,
                before_feed_forward: Some(names.norm("post_attention_layernorm", hidden, self.norm)),
                after_feed_forward: None,
            },
            mixer,
            feed_forward: FeedForward::Dense(Mlp {
                width,
                gate: Some(names.linear("mlp.gate_proj", width, hidden, bias)),
                up: names.linear("mlp.up_proj", width, hidden, bias),
                down: names.linear("mlp.down_proj", hidden, width, bias),
                activation: Activation::Silu,
            }),
            residual_scale: None,
        }
    }

    /// The model, its layers given.
    pub(super) fn model(
        &self,
        model_type: &str,
        whole: Whole,
        layers: Vec<LayerSpec>,
        layer_of: Vec<u32>,
    ) -> ModelSpec {
        let Sizes { hidden, vocab, .. } = *self.sizes;
        let embedding = Tensor { name: self.names.model("embed_tokens.weight"), shape: vec![vocab, hidden] };
        let head = if whole.tied { embedding.name.clone() } else { "lm_head.weight".to_owned() };
        ModelSpec {
            model_type: model_type.to_owned(),
            hidden,
            vocab,
            max_context: whole.max_context,
            dtype: whole.dtype,
            state_dtype: whole.state_dtype,
            embedding,
            embedding_scale: None,
            layers,
            layer_of,
            final_norm: self.norm.with(self.names.model("norm.weight"), hidden),
            head: Head {
                linear: Linear { out: vocab, input: hidden, weight: Weight::whole(head, &[vocab, hidden]), bias: None },
                tied: whole.tied,
                scale: None,
                softcap: None,
            },
        }
    }
}

/// What is not of the layers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Whole {
    pub(super) dtype: Dtype,
    pub(super) state_dtype: Dtype,
    pub(super) max_context: u32,
    pub(super) tied: bool,
}
