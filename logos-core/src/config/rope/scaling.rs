//! The forms of scaling, each from the object that describes the embedding.

use crate::Code;
use crate::spec::Scaling;

use super::{Absent, Head, Keys, ORIGINAL, Type, disagree};

/// A scaling, the most positions it is made for, and [`super::Read::magnitude`].
pub(super) struct Scaled {
    pub(super) scaling: Scaling,
    pub(super) reach: u32,
    pub(super) magnitude: f64,
}

impl Scaled {
    pub(super) fn as_trained(scaling: Scaling, reach: u32) -> Self {
        Scaled { scaling, reach, magnitude: 1.0 }
    }
}

/// The scaling of a form. `None` after a refusal.
pub(super) fn scaling(
    keys: &Keys<'_>,
    inner: &Keys<'_>,
    form: Type,
    head: &Head<'_>,
    rotary: Option<u32>,
) -> Option<Scaled> {
    let reach = head.positions;
    match form {
        Type::Default => Some(Scaled::as_trained(Scaling::None, reach)),
        Type::Linear => Some(Scaled::as_trained(Scaling::Linear { factor: factor(inner, Absent::Refused)? }, reach)),
        Type::Dynamic => {
            // The reference stretches from `max_position_embeddings` on and does not read `original`.
            let scaling = Scaling::Dynamic { factor: factor(inner, Absent::Refused)?, original: reach };
            Some(Scaled::as_trained(scaling, reach))
        }
        Type::Llama3 => {
            let (factor, low, high) = (
                factor(inner, Absent::Refused),
                inner.positive("low_freq_factor", Absent::Refused),
                inner.positive("high_freq_factor", Absent::Refused),
            );
            let original = original(keys, inner, head);
            let (factor, low, high, original) = (factor?, low?, high?, original?);
            if high < low {
                inner.refuse_key(
                    Code::ConfigConflict,
                    "high_freq_factor",
                    format_args!("is {high}, expected at least `low_freq_factor`, {low}"),
                );
                return None;
            }
            Some(Scaled::as_trained(Scaling::Llama3 { factor, low, high, original }, reach))
        }
        Type::Yarn => yarn(keys, inner, head),
        Type::LongRope => {
            if rotary.is_none() {
                // How many factors there must be is not known, so they are not looked at.
                inner.raw("short_factor");
                inner.raw("long_factor");
            }
            longrope(keys, inner, head, rotary?)
        }
    }
}

/// `factor`, at least 1.
fn factor(inner: &Keys<'_>, absent: Absent<f64>) -> Option<f32> {
    inner
        .real("factor", absent, "a number of at least 1", |x| (1.0..=f64::from(f32::MAX)).contains(&x))
        .map(|x| x as f32)
}

/// The trained context: the outer key, else the inner, else the family's, else `max_position_embeddings`.
fn original(keys: &Keys<'_>, inner: &Keys<'_>, head: &Head<'_>) -> Option<u32> {
    // Its logarithm is divided by.
    let read = |from: &Keys<'_>, absent| from.count(ORIGINAL, absent, 2..=u32::MAX);
    let within = read(inner, Absent::Gives(head.style.original.unwrap_or(head.positions)))?;
    let outer = read(keys, Absent::OrNullGives(within))?;
    if inner.has(ORIGINAL) && outer != within {
        disagree((keys, ORIGINAL, outer), (inner, ORIGINAL, within));
        return None;
    }
    Some(outer)
}

fn yarn(keys: &Keys<'_>, inner: &Keys<'_>, head: &Head<'_>) -> Option<Scaled> {
    let original = original(keys, inner, head);
    let ratio = f64::from(head.positions) / f64::from(original.unwrap_or(head.positions).max(1));
    let factor = factor(inner, Absent::OrNullGives(ratio.max(1.0)));
    let beta_fast = inner.positive("beta_fast", Absent::OrNullGives(32.0));
    let beta_slow = inner.positive("beta_slow", Absent::OrNullGives(1.0));
    let truncate = inner.flag("truncate", Absent::Gives(true));
    let given = inner.real("attention_factor", Absent::OrNullGives(0.0), "a number above 0", |x| x > 0.0);
    let not_negative = |x: f64| x >= 0.0;
    let mscale = inner.real("mscale", Absent::OrNullGives(0.0), "a number of at least 0", not_negative);
    let all_dim = inner.real("mscale_all_dim", Absent::OrNullGives(0.0), "a number of at least 0", not_negative);
    let (original, factor, beta_fast, beta_slow) = (original?, factor?, beta_fast?, beta_slow?);
    let (truncate, given, mscale, all_dim) = (truncate?, given?, mscale?, all_dim?);
    if beta_fast < beta_slow {
        inner.refuse_key(
            Code::ConfigConflict,
            "beta_fast",
            format_args!("is {beta_fast}, expected at least `beta_slow`, {beta_slow}"),
        );
        return None;
    }
    let log = if factor > 1.0 { 0.1 * f64::from(factor).ln() } else { 0.0 };
    let (key, attention_factor) = if inner.has("attention_factor") {
        ("attention_factor", given)
    } else if mscale != 0.0 && all_dim != 0.0 {
        ("mscale", (log * mscale + 1.0) / (log * all_dim + 1.0))
    } else {
        ("factor", log + 1.0)
    };
    let attention_factor = single(inner, key, "rotary tables", attention_factor);
    let magnitude = log * all_dim + 1.0;
    let scores = single(inner, "mscale_all_dim", "scores", magnitude * magnitude);
    let (attention_factor, _) = (attention_factor?, scores?);
    // What the scaling was made to reach; some files leave `max_position_embeddings` as it was before.
    let reach = (f64::from(original) * f64::from(factor)) as u32;
    let scaling = Scaling::Yarn { factor, beta_fast, beta_slow, original, truncate, attention_factor };
    Some(Scaled { scaling, reach: reach.max(head.positions), magnitude })
}

/// A factor that computations take in single precision; refuses a key that makes it nothing they can multiply by.
fn single(inner: &Keys<'_>, key: &'static str, what: &str, factor: f64) -> Option<f32> {
    let narrow = factor as f32;
    if narrow.is_finite() && narrow > 0.0 {
        return Some(narrow);
    }
    let wrong = format!("multiplies {what} by {factor:e}, expected a factor above 0 that single precision holds");
    inner.refuse_key(Code::ConfigValue, key, wrong);
    None
}

fn longrope(keys: &Keys<'_>, inner: &Keys<'_>, head: &Head<'_>, rotary: u32) -> Option<Scaled> {
    let pairs = rotary as usize / 2;
    let short = inner.positives("short_factor", pairs);
    let long = inner.positives("long_factor", pairs);
    let original = original(keys, inner, head);
    let ratio = f64::from(head.positions) / f64::from(original.unwrap_or(head.positions).max(1));
    let factor = factor(inner, Absent::OrNullGives(ratio.max(1.0)));
    let given = inner.positive("attention_factor", Absent::OrNullGives(1.0));
    let (short, long, original, factor, given) = (short?, long?, original?, factor?, given?);
    let attention_factor = if inner.has("attention_factor") {
        given
    } else {
        (1.0 + f64::from(factor).ln() / f64::from(original).ln()).sqrt() as f32
    };
    Some(Scaled::as_trained(Scaling::LongRope { short, long, original, attention_factor }, head.positions))
}
