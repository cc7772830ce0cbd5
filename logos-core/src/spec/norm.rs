//! Normalisations.

use super::Weight;

/// What is normalised away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NormKind {
    /// `x / sqrt(mean(x²) + eps) * (offset + w)`, offset 0 or 1.
    Rms {
        /// Whether the factor is `1 + w`.
        one_plus: bool,
    },
    /// `(x - mean) / sqrt(var + eps) * w + b`.
    Layer,
}

/// A normalisation with its weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Norm {
    /// Kind.
    pub kind: NormKind,
    /// Added under the root, in units of x².
    pub eps: f32,
    /// Factor; absent where the norm has none.
    pub weight: Option<Weight>,
    /// Bias of a layer norm.
    pub bias: Option<Weight>,
}
