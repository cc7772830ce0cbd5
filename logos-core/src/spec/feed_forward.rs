//! Feed-forward blocks: dense and mixtures of experts.

use super::{Linear, Weight};

/// Activation of a feed-forward block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Activation {
    /// `x * sigmoid(x)`
    Silu,
    /// erf form
    Gelu,
    /// tanh form
    GeluTanh,
    /// gpt-oss: `(clip(up) + 1) * g * sigmoid(alpha * g)`, `g = min(gate, limit)`.
    SwigluClamped {
        /// alpha
        alpha: f32,
        /// limit
        limit: f32,
    },
}

/// `down(act(gate(x)) * up(x))`, or `down(act(up(x)))` without a gate.
#[derive(Clone, Debug, PartialEq)]
pub struct Mlp {
    /// Width.
    pub width: u32,
    /// Gate projection, absent in plain MLPs.
    pub gate: Option<Linear>,
    /// Up projection.
    pub up: Linear,
    /// Down projection.
    pub down: Linear,
    /// Activation.
    pub activation: Activation,
}

/// What the router makes of its logits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouterScore {
    /// Softmax over all experts, then top-k.
    Softmax,
    /// Top-k of the logits, then softmax over the chosen.
    SoftmaxChosen,
    /// Sigmoid, then top-k.
    Sigmoid,
}

/// A router.
#[derive(Clone, Debug, PartialEq)]
pub struct Router {
    /// Logits, `[experts, hidden]`.
    pub linear: Linear,
    /// Scores.
    pub score: RouterScore,
    /// Added to the scores for the choice only, `[experts]`.
    pub correction: Option<Weight>,
    /// Groups of experts, and how many of them are kept (1 and 1: no grouping).
    pub groups: (u32, u32),
    /// Whether a group's score is the sum of its two best (else its best).
    pub group_sum_of_two: bool,
    /// Experts a token.
    pub top_k: u32,
    /// Whether the chosen scores are divided by their sum.
    pub normalised: bool,
    /// Factor on the scores.
    pub scale: f32,
    /// Whether the score multiplies the expert's input (llama4) rather than its output.
    pub on_input: bool,
}

/// A mixture of experts.
#[derive(Clone, Debug, PartialEq)]
pub struct Experts {
    /// Experts.
    pub count: u32,
    /// The router.
    pub router: Router,
    /// One expert; tensor names have `{e}` where the checkpoint stores experts apart, and a leading axis `count` where it fuses them.
    pub expert: Mlp,
    /// An expert every token passes.
    pub shared: Option<Mlp>,
    /// Its gate, `[1, hidden]`, through a sigmoid.
    pub shared_gate: Option<Linear>,
}

/// A feed-forward block.
#[derive(Clone, Debug, PartialEq)]
pub enum FeedForward {
    /// One MLP.
    Dense(Mlp),
    /// A mixture.
    Experts(Experts),
}
