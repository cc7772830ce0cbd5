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
    /// Experts a token; chosen by the corrected scores, of the kept groups.
    pub top_k: u32,
    /// Whether the chosen scores are divided by their sum.
    pub normalised: bool,
    /// Factor on the scores.
    pub scale: f32,
    /// Whether the score multiplies the expert's input (llama4) rather than its output.
    pub on_input: bool,
}

/// How a checkpoint stores the experts of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpertTensors {
    /// One tensor an expert, `{e}` in its name: weights `[out, in]`, biases `[out]`.
    Apart,
    /// All experts in one tensor: weights `[experts, out, in]`, biases `[experts, out]`.
    Stacked,
    /// All experts in one tensor, each transposed: weights `[experts, in, out]`, biases `[experts, out]`.
    StackedTransposed,
}

/// A mixture of experts: `y = sum over the chosen e of score_e * expert_e(x)`, plus the shared expert.
#[derive(Clone, Debug, PartialEq)]
pub struct Experts {
    /// Experts.
    pub count: u32,
    /// The router.
    pub router: Router,
    /// One expert. Its tensors are as `stored` says; a weight's `take` is of the output features of each expert, whichever
    /// stored axis they are. See [`Experts::one`].
    pub expert: Mlp,
    /// How the checkpoint stores the experts.
    pub stored: ExpertTensors,
    /// An expert every token passes.
    pub shared: Option<Mlp>,
    /// Its gate, `[1, hidden]`, through a sigmoid.
    pub shared_gate: Option<Linear>,
}

impl Experts {
    /// One expert with its tensors as they would be if it were stored by itself: weights `[out, in]`, biases `[out]`.
    pub fn one(&self) -> Mlp {
        let alone = |weight: &Weight| {
            let mut weight = weight.clone();
            match self.stored {
                ExpertTensors::Apart => {}
                ExpertTensors::Stacked | ExpertTensors::StackedTransposed => {
                    weight.tensor.shape = weight.tensor.shape.split_off(weight.tensor.shape.len().min(1));
                }
            }
            match self.stored {
                ExpertTensors::Apart | ExpertTensors::Stacked => {}
                ExpertTensors::StackedTransposed => weight.tensor.shape.reverse(),
            }
            weight
        };
        let linear = |linear: &Linear| Linear {
            out: linear.out,
            input: linear.input,
            weight: alone(&linear.weight),
            bias: linear.bias.as_ref().map(alone),
        };
        let Mlp { width, gate, up, down, activation } = &self.expert;
        Mlp {
            width: *width,
            gate: gate.as_ref().map(linear),
            up: linear(up),
            down: linear(down),
            activation: *activation,
        }
    }
}

/// A feed-forward block.
#[derive(Clone, Debug, PartialEq)]
pub enum FeedForward {
    /// One MLP.
    Dense(Mlp),
    /// A mixture.
    Experts(Experts),
}
