//! Rotary position embedding.

/// Which entries of a head turn together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairing {
    /// `(x[m], x[m + r/2])`.
    Halves,
    /// `(x[2m], x[2m + 1])`.
    Adjacent,
}

/// How angles change beyond the trained context.
#[derive(Clone, Debug, PartialEq)]
pub enum Scaling {
    /// As trained.
    None,
    /// `f / factor`.
    Linear {
        /// factor
        factor: f32,
    },
    /// Theta grows with the length (dynamic NTK).
    Dynamic {
        /// factor
        factor: f32,
        /// original_max_position_embeddings
        original: u32,
    },
    /// Llama-3's smooth interpolation by wavelength; a step at it where `low` and `high` are one (Llama-4 Scout).
    Llama3 {
        /// factor
        factor: f32,
        /// low_freq_factor
        low: f32,
        /// high_freq_factor
        high: f32,
        /// original_max_position_embeddings
        original: u32,
    },
    /// YaRN.
    Yarn {
        /// factor
        factor: f32,
        /// beta_fast
        beta_fast: f32,
        /// beta_slow
        beta_slow: f32,
        /// original_max_position_embeddings
        original: u32,
        /// Whether the correction range is floored and ceiled.
        truncate: bool,
        /// Factor on cosines and sines.
        attention_factor: f32,
    },
    /// Phi-3's per-frequency factors.
    LongRope {
        /// Factors up to `original`.
        short: Vec<f32>,
        /// Factors beyond.
        long: Vec<f32>,
        /// original_max_position_embeddings
        original: u32,
        /// Factor on cosines and sines.
        attention_factor: f32,
    },
}

/// A rotary embedding. Frequencies use the rotary width: `f[m] = theta^(-2m/rotary)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Rope {
    /// Base.
    pub theta: f64,
    /// Entries of a head that rotate (even).
    pub rotary: u32,
    /// Pairs.
    pub pairing: Pairing,
    /// Scaling.
    pub scaling: Scaling,
}
