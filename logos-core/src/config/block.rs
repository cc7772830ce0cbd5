//! Decoders like Llama: what their layers have in common, for families that differ in a few parts.

use crate::spec::{
    Arrangement, AsStored, Attention, AttentionSpan, Dtype, FeedForward, Head, LayerSpec, Linear, Mixer, ModelSpec,
    Norm, QkNorm, Rope, Take, Tensor, Vocabulary, Weight,
};

use super::names::{GATED, MlpForm, Names, NormForm};
use super::sizes::{AttentionSizes, Sizes};

/// Which projections of a block have a bias.
#[derive(Clone, Copy, Debug)]
pub(super) struct Biases {
    pub(super) qkv: bool,
    pub(super) o: bool,
    pub(super) mlp: bool,
}

impl Biases {
    pub(super) const NONE: Biases = Biases { qkv: false, o: false, mlp: false };
    pub(super) const ALL: Biases = Biases { qkv: true, o: true, mlp: true };
}

/// How queries and keys are normalised, by `self_attn.q_norm` and `self_attn.k_norm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeadNorms {
    /// Not.
    None,
    /// Head by head, one weight row for all.
    PerHead,
    /// Head by head, a weight row each.
    RowAHead,
    /// All heads together.
    FullWidth,
}

/// What the layers of a decoder like Llama have in common.
pub(super) struct Decoder<'a> {
    pub(super) names: Names,
    pub(super) sizes: &'a Sizes,
    pub(super) rope: Rope,
    pub(super) biases: Biases,
    pub(super) norm: NormForm,
    pub(super) head_norms: HeadNorms,
}

impl Decoder<'_> {
    /// Grouped attention.
    pub(super) fn attention(&self, span: AttentionSpan) -> Attention {
        let hidden = self.sizes.hidden;
        let AttentionSizes { q_width, kv_width, .. } = self.sizes.attention;
        let names = self.names;
        self.attention_of(
            [
                names.linear("self_attn.q_proj", q_width, hidden, self.biases.qkv),
                names.linear("self_attn.k_proj", kv_width, hidden, self.biases.qkv),
                names.linear("self_attn.v_proj", kv_width, hidden, self.biases.qkv),
                names.linear("self_attn.o_proj", hidden, q_width, self.biases.o),
            ],
            span,
        )
    }

    /// Grouped attention by these projections.
    pub(super) fn attention_of(&self, [q, k, v, o]: [Linear; 4], span: AttentionSpan) -> Attention {
        let AttentionSizes { heads, kv_heads, head_dim, .. } = self.sizes.attention;
        Attention {
            heads,
            kv_heads,
            head_dim,
            q,
            k,
            v,
            o,
            gate: None,
            qk_norm: self.qk_norm(),
            rope: Some(self.rope.clone()),
            span,
            scale: self.sizes.attention.score_scale(),
            softcap: None,
            sinks: None,
            temperature: None,
        }
    }

    /// Queries, keys and values of one projection to `stored` rows: for each KV head those of the query heads that read it,
    /// its key's, its value's.
    pub(super) fn by_kv_head(&self, module: &str, stored: u32) -> [Linear; 3] {
        let AttentionSizes { heads, kv_heads, head_dim, q_width, kv_width } = self.sizes.attention;
        let queries = heads / kv_heads * head_dim;
        [(0, queries, q_width), (queries, head_dim, kv_width), (queries + head_dim, head_dim, kv_width)].map(
            |(offset, run, out)| {
                let take = Take { offset, run, stride: queries + 2 * head_dim, count: kv_heads };
                self.names.linear_part(module, stored, take, out, self.sizes.hidden, self.biases.qkv)
            },
        )
    }

    fn qk_norm(&self) -> Option<QkNorm> {
        let AttentionSizes { heads, kv_heads, head_dim, q_width, kv_width } = self.sizes.attention;
        let of = |name: &str, shape: &[u32]| self.norm.with(&self.names.layer(name), shape);
        let pair = |q: &[u32], k: &[u32]| (of("self_attn.q_norm", q), of("self_attn.k_norm", k));
        let (q, k) = match self.head_norms {
            HeadNorms::None => return None,
            HeadNorms::PerHead => pair(&[head_dim], &[head_dim]),
            HeadNorms::RowAHead => pair(&[heads, head_dim], &[kv_heads, head_dim]),
            HeadNorms::FullWidth => {
                let (q, k) = pair(&[q_width], &[kv_width]);
                return Some(QkNorm::FullWidth { q, k });
            }
        };
        Some(QkNorm::PerHead { q, k, after_rope: false })
    }

    /// The form of the family's dense feed-forward block.
    pub(super) fn mlp_form(&self) -> MlpForm {
        let Sizes { hidden, width, activation, .. } = *self.sizes;
        MlpForm { width, hidden, bias: self.biases.mlp, activation }
    }

    /// A norm of each layer, as wide as the residual stream.
    pub(super) fn stream_norm(&self, module: &str) -> Norm {
        self.names.norm(module, self.sizes.hidden, self.norm)
    }

    /// A norm before the mixer, one before the feed-forward.
    pub(super) fn before_both(&self) -> Arrangement {
        Arrangement::Sequential {
            before_mixer: Some(self.stream_norm("input_layernorm")),
            after_mixer: None,
            before_feed_forward: Some(self.stream_norm("post_attention_layernorm")),
            after_feed_forward: None,
        }
    }

    /// A layer: norm, mixer, norm, feed-forward.
    pub(super) fn layer_of(&self, mixer: Mixer, feed_forward: FeedForward) -> LayerSpec {
        LayerSpec { arrangement: self.before_both(), mixer, feed_forward, residual_scale: None }
    }

    /// A layer with Llama's gated feed-forward.
    pub(super) fn layer(&self, mixer: Mixer) -> LayerSpec {
        self.layer_of(mixer, FeedForward::Dense(self.names.gated_mlp("mlp", GATED, self.mlp_form())))
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
        let names = self.names;
        let embedding =
            Tensor { name: names.model(&format!("{}.weight", names.embedding)), shape: vec![vocab, hidden] };
        let head = if whole.tied { embedding.name.clone() } else { format!("{}.weight", names.head) };
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
            final_norm: self.norm.with(&names.model(names.norm), &[hidden]),
            head: Head {
                linear: Linear { out: vocab, input: hidden, weight: Weight::whole(head, &[vocab, hidden]), bias: None },
                tied: whole.tied,
                scale: None,
                softcap: None,
            },
            as_stored: AsStored::default(),
            vocabulary: Vocabulary::default(),
            expert_split: crate::spec::ExpertSplit::Columns,
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

impl Whole {
    /// Of a model without recurrent state.
    pub(super) const fn new(dtype: Dtype, max_context: u32, tied: bool) -> Self {
        Whole { dtype, state_dtype: Dtype::F32, max_context, tied }
    }
}
