//! Tables by position, filled as the host of a deployment fills them.

use std::f64::consts::TAU;

use super::data::Matrix;
use crate::language::ast::{RopePart, RopeTable};
use crate::spec::{Scaling, Temperature};

/// The length of a sequence that a scaling which depends on it (dynamic, longrope) reckons with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum RopeLength {
    /// What the sequence has reached at the end of each step. A prompt in one step then reads as in transformers; keys that
    /// are cached keep the angles of their own step.
    #[default]
    Reached,
    /// This many positions, for every step: what the sequence will reach, or the context, as serving stacks have it.
    Fixed(u32),
}

impl RopeLength {
    pub(crate) fn of(self, reached: u32) -> u32 {
        match self {
            RopeLength::Reached => reached,
            RopeLength::Fixed(length) => length,
        }
    }
}

/// The table for rows at these positions, of sequences of these lengths: `[rows, rotary / 2]`. Angles are f64.
pub(crate) fn table(recipe: &RopeTable, positions: &[u32], lengths: &[u32]) -> Matrix {
    let mut table = Matrix::zeros(positions.len(), (recipe.rotary / 2) as usize);
    let mut of_length: Option<(u32, Vec<f64>)> = None;
    let factor = factor(&recipe.scaling);
    for (row, (&position, &length)) in positions.iter().zip(lengths).enumerate() {
        let frequencies = match of_length.take() {
            Some((same, frequencies)) if same == length => frequencies,
            Some(_) | None => frequencies(recipe, length),
        };
        for (entry, frequency) in table.row_mut(row).iter_mut().zip(&frequencies) {
            let angle = f64::from(position) * frequency;
            let value = match recipe.part {
                RopePart::Cos => angle.cos(),
                RopePart::Sin => angle.sin(),
            };
            *entry = (value * factor) as f32;
        }
        of_length = Some((length, frequencies));
    }
    table
}

/// A factor for each row: `[rows, 1]`.
pub(crate) fn temperatures(temperature: &Temperature, positions: &[u32]) -> Matrix {
    let (scale, floor) = (f64::from(temperature.scale), f64::from(temperature.floor));
    let mut table = Matrix::zeros(positions.len(), 1);
    for (entry, &position) in table.data_mut().iter_mut().zip(positions) {
        *entry = (1.0 + scale * (1.0 + ((f64::from(position) + 1.0) / floor).floor()).ln()) as f32;
    }
    table
}

/// Factor on cosines and sines.
fn factor(scaling: &Scaling) -> f64 {
    match scaling {
        Scaling::Yarn { attention_factor, .. } | Scaling::LongRope { attention_factor, .. } => {
            f64::from(*attention_factor)
        }
        Scaling::None | Scaling::Linear { .. } | Scaling::Dynamic { .. } | Scaling::Llama3 { .. } => 1.0,
    }
}

/// Radians a position of each pair, `theta^(-2m/rotary)` as scaled.
///
/// # Source
/// `modeling_rope_utils.py` of transformers 5.24.
fn frequencies(recipe: &RopeTable, length: u32) -> Vec<f64> {
    let rotary = f64::from(recipe.rotary);
    let of = |theta: f64| move |m: u32| theta.powf(-2.0 * f64::from(m) / rotary);
    let plain = of(recipe.theta);
    let pairs = 0..recipe.rotary / 2;
    match &recipe.scaling {
        Scaling::None => pairs.map(plain).collect(),
        Scaling::Linear { factor } => pairs.map(|m| plain(m) / f64::from(*factor)).collect(),
        Scaling::Dynamic { factor, original } => {
            // Lengths up to the trained one leave theta as it is.
            let stretch = f64::from(length.max(*original)) / f64::from(*original);
            let grown = f64::from(*factor) * stretch - (f64::from(*factor) - 1.0);
            pairs.map(of(recipe.theta * grown.powf(rotary / (rotary - 2.0)))).collect()
        }
        Scaling::Llama3 { factor, low, high, original } => {
            let (factor, low, high) = (f64::from(*factor), f64::from(*low), f64::from(*high));
            let smooth = |f: f64| {
                // How often the pair turns in the trained context: below `low` it is stretched, above `high` kept.
                let turns = f64::from(*original) * f / TAU;
                let kept = ((turns - low) / (high - low)).clamp(0.0, 1.0);
                (1.0 - kept) * f / factor + kept * f
            };
            pairs.map(|m| smooth(plain(m))).collect()
        }
        Scaling::Yarn { factor, beta_fast, beta_slow, original, truncate, attention_factor: _ } => {
            // The pair that turns `n` times in the trained context.
            let pair_of = |turns: f32| {
                rotary * (f64::from(*original) / (f64::from(turns) * TAU)).ln() / (2.0 * recipe.theta.ln())
            };
            let (low, high) = (pair_of(*beta_fast), pair_of(*beta_slow));
            let (low, high) = if *truncate { (low.floor(), high.ceil()) } else { (low, high) };
            let (low, high) = (low.max(0.0), high.min(rotary - 1.0));
            let high = if low == high { high + 0.001 } else { high };
            let ramped = |m: u32| {
                let ramp = ((f64::from(m) - low) / (high - low)).clamp(0.0, 1.0);
                plain(m) / f64::from(*factor) * ramp + plain(m) * (1.0 - ramp)
            };
            pairs.map(ramped).collect()
        }
        Scaling::LongRope { short, long, original, attention_factor: _ } => {
            let factors = if length > *original { long } else { short };
            pairs.zip(factors).map(|(m, factor)| plain(m) / f64::from(*factor)).collect()
        }
    }
}
