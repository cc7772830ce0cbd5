//! How checkpoints name the parts of a decoder: projections, norms and feed-forward blocks by their modules.

use crate::spec::{Activation, Linear, Mlp, Norm, NormKind, Take, Tensor, Weight};

/// How a checkpoint names the parts of a model. Modules are without `.weight`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Names {
    /// How all but the head's name begin: `model.` or `model.language_model.`.
    pub(super) prefix: &'static str,
    /// The list of layers.
    pub(super) layers: &'static str,
    /// The embedding.
    pub(super) embedding: &'static str,
    /// The norm before the head.
    pub(super) norm: &'static str,
    /// The head, where it is not the embedding; in full.
    pub(super) head: &'static str,
}

/// Of a model by itself.
pub(super) const MODEL: Names = Names::under("model.");

impl Names {
    /// Llama's names behind a prefix.
    pub(super) const fn under(prefix: &'static str) -> Names {
        Names { prefix, layers: "layers", embedding: "embed_tokens", norm: "norm", head: "lm_head" }
    }

    /// The name of a tensor of the model.
    pub(super) fn model(self, tail: &str) -> String {
        format!("{}{tail}", self.prefix)
    }

    /// The name of a tensor of each layer.
    pub(super) fn layer(self, tail: &str) -> String {
        format!("{}{}.{{l}}.{tail}", self.prefix, self.layers)
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

    /// A norm of each layer.
    pub(super) fn norm(self, module: &str, width: u32, norm: NormForm) -> Norm {
        norm.with(&self.layer(module), &[width])
    }

    /// A feed-forward block with a gate: its gate, up and down projections below `module`.
    pub(super) fn gated_mlp(self, module: &str, [gate, up, down]: [&str; 3], form: MlpForm) -> Mlp {
        let MlpForm { width, hidden, bias, activation } = form;
        let named = |name: &str, out, input| self.linear(&format!("{module}.{name}"), out, input, bias);
        Mlp {
            width,
            gate: Some(named(gate, width, hidden)),
            up: named(up, width, hidden),
            down: named(down, hidden, width),
            activation,
        }
    }

    /// A feed-forward block whose gate and up projections are one tensor of `stored` rows, the gate's first.
    pub(super) fn fused_mlp(self, module: &str, stored: u32, form: MlpForm) -> Mlp {
        let MlpForm { width, hidden, bias, activation } = form;
        let fused = |offset| {
            let take = Take::range(offset, width);
            self.linear_part(&format!("{module}.gate_up_proj"), stored, take, width, hidden, bias)
        };
        Mlp {
            width,
            gate: Some(fused(0)),
            up: fused(width),
            down: self.linear(&format!("{module}.down_proj"), hidden, width, bias),
            activation,
        }
    }

    /// A feed-forward block without a gate.
    pub(super) fn plain_mlp(self, [up, down]: [&str; 2], form: MlpForm) -> Mlp {
        let MlpForm { width, hidden, bias, activation } = form;
        Mlp {
            width,
            gate: None,
            up: self.linear(up, width, hidden, bias),
            down: self.linear(down, hidden, width, bias),
            activation,
        }
    }
}

/// Llama's names of the three projections of a feed-forward block.
pub(super) const GATED: [&str; 3] = ["gate_proj", "up_proj", "down_proj"];

/// What a feed-forward block is but its names.
#[derive(Clone, Copy, Debug)]
pub(super) struct MlpForm {
    pub(super) width: u32,
    pub(super) hidden: u32,
    pub(super) bias: bool,
    pub(super) activation: Activation,
}

/// The norm of a family.
#[derive(Clone, Copy, Debug)]
pub(super) struct NormForm {
    pub(super) kind: NormKind,
    pub(super) eps: f32,
    /// Whether it has a bias beside its weight.
    pub(super) bias: bool,
}

impl NormForm {
    /// A root-mean-square norm.
    pub(super) const fn rms(eps: f32) -> Self {
        NormForm { kind: NormKind::Rms { one_plus: false }, eps, bias: false }
    }

    /// A root-mean-square norm whose factor is `1 + w`.
    pub(super) const fn rms_one_plus(eps: f32) -> Self {
        NormForm { kind: NormKind::Rms { one_plus: true }, eps, bias: false }
    }

    /// A layer norm with a bias.
    pub(super) const fn layer(eps: f32) -> Self {
        NormForm { kind: NormKind::Layer, eps, bias: true }
    }

    /// The norm of this module.
    pub(super) fn with(self, module: &str, shape: &[u32]) -> Norm {
        let part = |name: &str| Some(Weight::whole(format!("{module}.{name}"), shape));
        Norm {
            kind: self.kind,
            eps: self.eps,
            weight: part("weight"),
            bias: if self.bias { part("bias") } else { None },
        }
    }
}
