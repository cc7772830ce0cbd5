//! Rotary embeddings: `rope_theta` with `rope_scaling` (old configs), or `rope_parameters` (transformers 5), as
//! `modeling_rope_utils.py` of transformers 5.24 reads them.

mod scaling;

use crate::Code;
use crate::spec::{Pairing, Rope, Scaling};

use super::inert::Verdict;
use super::keys::{Absent, Keys};
use scaling::{Scaled, scaling};

/// The trained context, in the object or beside it.
const ORIGINAL: &str = "original_max_position_embeddings";

/// How a family writes its rotary embedding.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    /// The key that a head's width is refused at.
    pub(super) head: &'static str,
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
        head: "head_dim",
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
        return even(keys, head.style.head, head.dim);
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
    even(keys, head.style.head, (f64::from(head.dim) * factor) as u32)
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
