//! Rotary embeddings: `rope_theta` with `rope_scaling` (old configs), or `rope_parameters` (transformers 5), as
//! `modeling_rope_utils.py` of transformers 5.24 reads them.

use crate::Code;
use crate::spec::{Pairing, Rope, Scaling};

use super::inert::Verdict;
use super::keys::{Absent, Keys};

/// The trained context, in the object or beside it.
const ORIGINAL: &str = "original_max_position_embeddings";

/// How a family writes its rotary embedding.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    /// Key of the base beside the object (in it, it is `rope_theta`), and the base where no key gives one.
    pub(super) theta: (&'static str, f64),
    /// Key of the rotating part of a head beside the object (in it, it is `partial_rotary_factor`), and the part where no
    /// key gives one; none where the family rotates whole heads only.
    pub(super) partial: Option<(&'static str, f64)>,
    /// Which entries turn together.
    pub(super) pairing: Pairing,
    /// The words for the forms of scaling that the family has.
    pub(super) types: &'static [(&'static str, Type)],
    /// The trained context where no key gives one; none where it is `max_position_embeddings` then.
    pub(super) original: Option<u32>,
    /// Whether sections of positions in three dimensions may be given, which are one and the same for text.
    pub(super) sections: bool,
}

impl Style {
    /// Of Llama and most others.
    pub(super) const LLAMA: Style = Style {
        theta: ("rope_theta", 10_000.0),
        partial: None,
        pairing: Pairing::Halves,
        types: TYPES,
        original: None,
        sections: false,
    };
}

/// What the embedding depends on: the model's heads, and how its family writes the rest.
struct Head<'s> {
    dim: u32,
    positions: u32,
    style: &'s Style,
}

/// A rotary embedding and how far it carries.
pub(super) struct Read {
    pub(super) rope: Rope,
    /// Most positions, where the scaling names more than `max_position_embeddings` (YaRN: `factor` times `original`).
    pub(super) reach: u32,
    /// `0.1 mscale_all_dim ln(factor) + 1` (YaRN), with whose square DeepSeek's scores are multiplied; else 1.
    pub(super) magnitude: f64,
}

/// The forms of scaling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Default,
    Linear,
    Dynamic,
    Llama3,
    Yarn,
    LongRope,
}

const TYPES: &[(&str, Type)] = &[
    ("default", Type::Default),
    ("linear", Type::Linear),
    ("dynamic", Type::Dynamic),
    ("llama3", Type::Llama3),
    ("yarn", Type::Yarn),
    ("longrope", Type::LongRope),
];

/// Reads the rotary embedding of a model with heads like `head`, columns and `max_position_embeddings`; without them the
/// keys are checked as far as they can be. `None` after a refusal.
pub(super) fn read(keys: &Keys<'_>, head: Option<(u32, u32)>, style: &Style) -> Option<Read> {
    let inner = inner(keys, style);
    read_from(keys, inner, head, style)
}

/// As [`read`], of an embedding described by `inner`, or by nothing but its base.
pub(super) fn read_in(
    keys: &Keys<'_>,
    inner: Option<Keys<'_>>,
    head: Option<(u32, u32)>,
    style: &Style,
) -> Option<Read> {
    keys.raw(style.theta.0);
    read_from(keys, Ok(inner), head, style)
}

fn read_from(
    keys: &Keys<'_>,
    inner: Result<Option<Keys<'_>>, Refused>,
    head: Option<(u32, u32)>,
    style: &Style,
) -> Option<Read> {
    let theta = match &inner {
        // Which base counts is not known, so neither is looked at.
        Err(Refused) => None,
        Ok(inner) => theta(keys, inner.as_ref(), style),
    };
    if let Some((key, _)) = style.partial {
        keys.raw(key);
    }
    let form = match &inner {
        Err(Refused) => None,
        Ok(None) => Some(Type::Default),
        Ok(Some(inner)) => form(inner, style),
    };
    if form.is_none_or(|form| matches!(form, Type::Llama3 | Type::Yarn | Type::LongRope)) {
        keys.raw(ORIGINAL);
    }
    let (Ok(inner), Some(form), Some((dim, positions))) = (inner, form, head) else { return None };
    let head = &Head { dim, positions, style };
    let rotary = rotary(keys, inner.as_ref(), head);
    let scaled = match inner {
        None => Scaled::as_trained(Scaling::None, positions),
        Some(inner) => {
            let scaled = scaling(keys, &inner, form, head, rotary);
            inner.finish(|key, _| match key {
                "mrope_section" | "mrope_interleaved" if style.sections => Verdict::Inert,
                _ => Verdict::Unknown,
            });
            scaled?
        }
    };
    let rope = Rope { theta: theta?, rotary: rotary?, pairing: style.pairing, scaling: scaled.scaling };
    Some(Read { rope, reach: scaled.reach, magnitude: scaled.magnitude })
}

/// There was a refusal, so there is nothing to go on with.
struct Refused;

/// The object that describes the embedding, where there is one.
fn inner<'a>(keys: &Keys<'a>, style: &Style) -> Result<Option<Keys<'a>>, Refused> {
    keys.raw(style.theta.0);
    let (old, new) = (keys.has("rope_scaling"), keys.has("rope_parameters"));
    let key = match (old, new) {
        (false, false) => return Ok(None),
        (true, false) => "rope_scaling",
        (false, true) => "rope_parameters",
        (true, true) => {
            // The reference takes the first and drops the second, base included: that is never what the author meant.
            keys.refuse_key(Code::ConfigConflict, "rope_scaling", "and `rope_parameters` are both given, expected one");
            return Err(Refused);
        }
    };
    keys.object(key).map(Some).ok_or(Refused)
}

/// The form of scaling, by its new name or its old one; where both are given they must agree. `None` after a refusal.
fn form(inner: &Keys<'_>, style: &Style) -> Option<Type> {
    let (new, old) = (inner.has("rope_type"), inner.has("type"));
    let form = inner.word("rope_type", Absent::Gives(Type::Default), style.types)?;
    let other = inner.word("type", Absent::Gives(form), style.types)?;
    if new && old && form != other {
        let path = inner.path("rope_type");
        inner.refuse_key(Code::ConfigConflict, "type", format_args!("and `{path}` differ, expected one form"));
        return None;
    }
    Some(if new { form } else { other })
}

/// The base: the inner object's, else the outer one's.
fn theta(keys: &Keys<'_>, inner: Option<&Keys<'_>>, style: &Style) -> Option<f64> {
    let (key, default) = style.theta;
    let read = |from: &Keys<'_>, key, absent| from.real(key, absent, "a number above 1", |x| x > 1.0);
    let outer = read(keys, key, Absent::Gives(default))?;
    match inner {
        Some(inner) => {
            let theta = read(inner, "rope_theta", Absent::Gives(outer))?;
            if keys.has(key) && theta != outer {
                disagree((keys, key, outer), (inner, "rope_theta", theta));
                return None;
            }
            Some(theta)
        }
        None => Some(outer),
    }
}

/// Refuses a key for which the inner object has another value.
fn disagree<T: std::fmt::Display>(
    (keys, key, outer): (&Keys<'_>, &str, T),
    (inner, name, found): (&Keys<'_>, &str, T),
) {
    let path = inner.path(name);
    keys.refuse_key(Code::ConfigConflict, key, format_args!("is {outer} but `{path}` is {found}, expected one value"));
}

/// Entries of a head that rotate: `int(dim * partial_rotary_factor)`.
fn rotary(keys: &Keys<'_>, inner: Option<&Keys<'_>>, head: &Head<'_>) -> Option<u32> {
    const INNER: &str = "partial_rotary_factor";
    let Some((key, default)) = head.style.partial else {
        let factor = match inner {
            Some(inner) => inner.real(INNER, Absent::Gives(1.0), "1: whole heads rotate", |x| x == 1.0),
            None => Some(1.0),
        };
        factor?;
        return even(keys, "head_dim", head.dim);
    };
    let expected = "a number above 0, at most 1";
    let read = |from: &Keys<'_>, key, absent| from.real(key, absent, expected, |x| x > 0.0 && x <= 1.0);
    let outer = read(keys, key, Absent::Gives(default))?;
    let mut factor = outer;
    if let Some(inner) = inner {
        factor = read(inner, INNER, Absent::Gives(outer))?;
        if keys.has(key) && factor != outer {
            disagree((keys, key, outer), (inner, INNER, factor));
            return None;
        }
    }
    // At most `dim`, and truncation is the reference's own.
    even(keys, "head_dim", (f64::from(head.dim) * factor) as u32)
}

/// Rotating entries come in pairs.
fn even(keys: &Keys<'_>, key: &str, rotary: u32) -> Option<u32> {
    if rotary == 0 || !rotary.is_multiple_of(2) {
        keys.refuse_key(
            Code::ConfigConflict,
            key,
            format_args!("makes {rotary} entries of a head rotate, expected an even number above 0"),
        );
        return None;
    }
    Some(rotary)
}

/// A scaling, the most positions it is made for, and [`Read::magnitude`].
struct Scaled {
    scaling: Scaling,
    reach: u32,
    magnitude: f64,
}

impl Scaled {
    fn as_trained(scaling: Scaling, reach: u32) -> Self {
        Scaled { scaling, reach, magnitude: 1.0 }
    }
}

/// The scaling of a form. `None` after a refusal.
fn scaling(keys: &Keys<'_>, inner: &Keys<'_>, form: Type, head: &Head<'_>, rotary: Option<u32>) -> Option<Scaled> {
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
        Type::LongRope => longrope(keys, inner, head, rotary?),
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
    let attention_factor = if inner.has("attention_factor") {
        given
    } else if mscale != 0.0 && all_dim != 0.0 {
        (log * mscale + 1.0) / (log * all_dim + 1.0)
    } else {
        log + 1.0
    } as f32;
    // What the scaling was made to reach; some files leave `max_position_embeddings` as it was before.
    let reach = (f64::from(original) * f64::from(factor)) as u32;
    let scaling = Scaling::Yarn { factor, beta_fast, beta_slow, original, truncate, attention_factor };
    Some(Scaled { scaling, reach: reach.max(head.positions), magnitude: log * all_dim + 1.0 })
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
