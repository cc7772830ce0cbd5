//! What a model is, in the field's terms: the one description every family's config becomes and everything after
//! reads. Sizes are whole-model sizes; nothing here knows of chips, widths or deployments.

mod as_stored;
mod attention;
mod digest;
mod expert_split;
mod feed_forward;
mod gated_delta;
mod inventory;
mod norm;
mod rope;
mod tensor;
#[cfg(test)]
pub(crate) mod test_models;
mod vocabulary;
mod weights;

pub use as_stored::{AsStored, BLOCK_ROWS, Held, Parts, SCALE_BYTES, SCALED};
pub use attention::{Attention, AttentionSpan, LatentAttention, QkNorm, Temperature};
pub use expert_split::ExpertSplit;
pub use feed_forward::{Activation, ExpertTensors, Experts, FeedForward, Mlp, Router, RouterScore};
pub use gated_delta::GatedDelta;
pub use inventory::{Inventory, Stock, Stored, inventory};
pub use norm::{Norm, NormKind};
pub use rope::{Pairing, Rope, Scaling};
pub use tensor::{Dtype, Linear, Take, Tensor, Weight};
pub use vocabulary::Vocabulary;
pub use weights::WeightUse;

/// A decoder-only language model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelSpec {
    /// `model_type` of the config (the text model's).
    pub model_type: String,
    /// Width of the residual stream.
    pub hidden: u32,
    /// Rows of the embedding.
    pub vocab: u32,
    /// Most positions the model was made for.
    pub max_context: u32,
    /// The checkpoint's dtype, also that of activations and KV cache.
    pub dtype: Dtype,
    /// dtype of recurrent state.
    pub state_dtype: Dtype,
    /// The embedding table, `[vocab, hidden]`.
    pub embedding: Tensor,
    /// Factor on the embedded token (gemma: sqrt(hidden), granite: embedding_multiplier).
    pub embedding_scale: Option<f32>,
    /// Distinct layers, in order of first use.
    pub layers: Vec<LayerSpec>,
    /// For each layer of the model, its row of `layers`. Length is the model's depth.
    pub layer_of: Vec<u32>,
    /// Norm before the head.
    pub final_norm: Norm,
    /// The output head.
    pub head: Head,
    /// How the checkpoint stores tensors that are not stored in `dtype`; empty where none was looked at.
    pub as_stored: AsStored,
    /// Whether the vocabulary is padded to lie over the chips: the deployment's choice, not the config's.
    pub vocabulary: Vocabulary,
    /// How routed experts lie over the chips: the deployment's choice, not the config's.
    pub expert_split: ExpertSplit,
}

/// The output head.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// `[vocab, hidden]`; the embedding's own tensor where tied.
    pub linear: Linear,
    /// Whether the head is the embedding.
    pub tied: bool,
    /// Factor on the logits.
    pub scale: Option<f32>,
    /// `cap * tanh(logits / cap)`.
    pub softcap: Option<f32>,
}

/// One decoder layer.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerSpec {
    /// How the two blocks are joined to the residual stream.
    pub arrangement: Arrangement,
    /// The token mixer.
    pub mixer: Mixer,
    /// The feed-forward block.
    pub feed_forward: FeedForward,
    /// Factor on every block's output (granite).
    pub residual_scale: Option<f32>,
}

/// Where the norms of a layer stand.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrangement {
    /// `h += post(mix(pre(h)))`, `h += post(ff(pre(h)))`; any norm may be absent.
    Sequential {
        /// Before the mixer.
        before_mixer: Option<Norm>,
        /// On the mixer's output.
        after_mixer: Option<Norm>,
        /// Before the feed-forward.
        before_feed_forward: Option<Norm>,
        /// On the feed-forward's output.
        after_feed_forward: Option<Norm>,
    },
    /// `h += mix(n1(h)) + ff(n2(h))`; one norm serves both where `feed_forward` is absent.
    Parallel {
        /// Before the mixer.
        mixer: Norm,
        /// Before the feed-forward, where it is another.
        feed_forward: Option<Norm>,
    },
}

/// A token mixer.
#[derive(Clone, Debug, PartialEq)]
pub enum Mixer {
    /// Multi-head, grouped or multi-query attention.
    Attention(Attention),
    /// Multi-head latent attention (DeepSeek).
    Latent(LatentAttention),
    /// Gated DeltaNet.
    GatedDelta(GatedDelta),
}

impl ModelSpec {
    /// Layers of the model.
    pub fn depth(&self) -> usize {
        self.layer_of.len()
    }
}
