//! Every weight of a specification, in one order: what takes stock of a model walks it here.

use super::{
    Arrangement, Attention, ExpertTensors, Experts, FeedForward, GatedDelta, LatentAttention, LayerSpec, Linear, Mixer,
    Mlp, Norm, QkNorm, Weight,
};

/// A weight where it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeightUse<'a> {
    /// The weight.
    pub weight: &'a Weight,
    /// How many tensors the name stands for: the experts where they are stored apart, else 1.
    pub copies: u32,
    /// Whether it was trained: a router's correction is saved with the weights but is no parameter.
    pub parameter: bool,
}

/// Takes weights in order; `copies` is that of the block being walked.
struct Walk<'a, 'f> {
    copies: u32,
    each: &'f mut dyn FnMut(WeightUse<'a>),
}

impl LayerSpec {
    /// Calls `each` for every weight of the layer: norms, mixer, feed-forward. A fused tensor comes once a part of it.
    pub fn each_weight<'a>(&'a self, each: &mut dyn FnMut(WeightUse<'a>)) {
        let mut walk = Walk { copies: 1, each };
        match &self.arrangement {
            Arrangement::Sequential { before_mixer, after_mixer, before_feed_forward, after_feed_forward } => {
                for norm in [before_mixer, after_mixer, before_feed_forward, after_feed_forward] {
                    walk.norms(norm.as_ref());
                }
            }
            Arrangement::Parallel { mixer, feed_forward } => {
                walk.norms([mixer]);
                walk.norms(feed_forward);
            }
        }
        match &self.mixer {
            Mixer::Attention(attention) => walk.attention(attention),
            Mixer::Latent(latent) => walk.latent(latent),
            Mixer::GatedDelta(delta) => walk.gated_delta(delta),
        }
        match &self.feed_forward {
            FeedForward::Dense(mlp) => walk.mlp(mlp),
            FeedForward::Experts(experts) => walk.experts(experts),
        }
    }
}

impl<'a> Walk<'a, '_> {
    fn weights(&mut self, weights: impl IntoIterator<Item = &'a Weight>) {
        for weight in weights {
            (self.each)(WeightUse { weight, copies: self.copies, parameter: true });
        }
    }

    fn linears(&mut self, linears: impl IntoIterator<Item = &'a Linear>) {
        for linear in linears {
            self.weights([&linear.weight]);
            self.weights(&linear.bias);
        }
    }

    fn norms(&mut self, norms: impl IntoIterator<Item = &'a Norm>) {
        for norm in norms {
            self.weights(&norm.weight);
            self.weights(&norm.bias);
        }
    }

    fn attention(&mut self, attention: &'a Attention) {
        let Attention { q, k, v, o, gate, qk_norm, sinks, .. } = attention;
        self.linears([q]);
        self.linears(gate);
        self.linears([k, v, o]);
        match qk_norm {
            Some(QkNorm::PerHead { q, k, after_rope: _ } | QkNorm::FullWidth { q, k }) => self.norms([q, k]),
            None => {}
        }
        self.weights(sinks);
    }

    fn latent(&mut self, latent: &'a LatentAttention) {
        let LatentAttention { q, q_down, kv_down, kv_norm, kv_up, o, .. } = latent;
        if let Some((down, norm)) = q_down {
            self.linears([down]);
            self.norms([norm]);
        }
        self.linears([q, kv_down]);
        self.norms([kv_norm]);
        self.linears([kv_up, o]);
    }

    fn gated_delta(&mut self, delta: &'a GatedDelta) {
        let GatedDelta { q, k, v, z, b, a, conv_q, conv_k, conv_v, a_log, dt_bias, norm, out, .. } = delta;
        self.linears([q, k, v, z, b, a]);
        self.weights([conv_q, conv_k, conv_v, a_log, dt_bias]);
        self.norms([norm]);
        self.linears([out]);
    }

    fn mlp(&mut self, mlp: &'a Mlp) {
        self.linears(&mlp.gate);
        self.linears([&mlp.up, &mlp.down]);
    }

    fn experts(&mut self, experts: &'a Experts) {
        let Experts { count, router, expert, stored, shared, shared_gate } = experts;
        self.linears([&router.linear]);
        if let Some(weight) = &router.correction {
            (self.each)(WeightUse { weight, copies: 1, parameter: false });
        }
        self.copies = match stored {
            ExpertTensors::Apart => *count,
            ExpertTensors::Stacked | ExpertTensors::StackedTransposed => 1,
        };
        self.mlp(expert);
        self.copies = 1;
        if let Some(shared) = shared {
            self.mlp(shared);
        }
        self.linears(shared_gate);
    }
}
