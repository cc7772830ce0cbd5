//! A cursor over a config's object: reads typed values, collects every refusal with its path, and remembers which keys
//! were asked for, so that what nobody read can be refused rather than ignored.

use std::cell::RefCell;
use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use crate::{At, Code, Refusal, nearest};

use super::inert::Verdict;

/// What an absent or null key means.
#[derive(Clone, Copy, Debug)]
pub(super) enum Absent<T> {
    /// The key must be there.
    Refused,
    /// The class default of the reference; null is refused.
    Gives(T),
    /// The class default of the reference, for null too.
    OrNullGives(T),
}

/// Most unknown keys of an object that are refused one by one; the rest are counted.
const MOST_UNKNOWN: usize = 16;

/// One object of a config.
pub(super) struct Keys<'a> {
    object: &'a Map<String, Value>,
    /// Path of the object with a trailing dot, empty for the config itself.
    prefix: String,
    asked: RefCell<Vec<&'static str>>,
    refusals: &'a RefCell<Vec<Refusal>>,
    /// Paths of the keys that were read and are there, where somebody wants to know.
    read: Option<&'a RefCell<Vec<String>>>,
}

impl<'a> Keys<'a> {
    pub(super) fn new(object: &'a Map<String, Value>, refusals: &'a RefCell<Vec<Refusal>>) -> Self {
        Keys { object, prefix: String::new(), asked: RefCell::default(), refusals, read: None }
    }

    /// The same, noting the paths of the keys that are read.
    pub(super) fn noting(self, read: &'a RefCell<Vec<String>>) -> Self {
        Keys { read: Some(read), ..self }
    }

    /// The path of a key, as refusals name it.
    pub(super) fn path(&self, key: &str) -> String {
        format!("{}{key}", self.prefix)
    }

    pub(super) fn refuse(&self, refusal: Refusal) {
        self.refusals.borrow_mut().push(refusal);
    }

    /// Refuses a key: the message is its path in backquotes and `what`.
    pub(super) fn refuse_key(&self, code: Code, key: &str, what: impl std::fmt::Display) {
        self.refuse(self.refusal(code, key, what));
    }

    /// As [`Keys::refuse_key`], for help to be added.
    pub(super) fn refusal(&self, code: Code, key: &str, what: impl std::fmt::Display) -> Refusal {
        let path = self.path(key);
        let message = format!("`{path}` {what}");
        Refusal::new(code, At::ConfigKey(path), message)
    }

    /// The value of a key, null included; the key counts as read.
    pub(super) fn raw(&self, key: &'static str) -> Option<&'a Value> {
        let mut asked = self.asked.borrow_mut();
        if !asked.contains(&key) {
            asked.push(key);
            if let Some(read) = self.read.filter(|_| self.object.contains_key(key)) {
                read.borrow_mut().push(self.path(key));
            }
        }
        self.object.get(key)
    }

    /// Whether the key is there and not null; the key counts as read.
    pub(super) fn has(&self, key: &'static str) -> bool {
        self.raw(key).is_some_and(|value| !value.is_null())
    }

    /// The value of a key through `convert`, `expected` in words. `None` after a refusal.
    fn value<T>(
        &self,
        key: &'static str,
        absent: Absent<T>,
        expected: impl Fn() -> String,
        convert: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Option<T> {
        self.value_or(key, absent, expected, convert, |_| Code::ConfigValue)
    }

    /// As [`Keys::value`], `code` for a value that is there and does not convert.
    fn value_or<T>(
        &self,
        key: &'static str,
        absent: Absent<T>,
        expected: impl Fn() -> String,
        convert: impl FnOnce(&'a Value) -> Option<T>,
        code: impl FnOnce(&'a Value) -> Code,
    ) -> Option<T> {
        match (self.raw(key), absent) {
            (None, Absent::Refused) => {
                self.refuse_key(Code::ConfigMissing, key, format_args!("is missing, expected {}", expected()));
                None
            }
            (None, Absent::Gives(default) | Absent::OrNullGives(default))
            | (Some(Value::Null), Absent::OrNullGives(default)) => Some(default),
            (Some(value), Absent::Refused | Absent::Gives(_) | Absent::OrNullGives(_)) => {
                let converted = convert(value);
                if converted.is_none() {
                    self.refuse_key(code(value), key, format_args!("is {}, expected {}", shown(value), expected()));
                }
                converted
            }
        }
    }

    /// A whole number within `range`.
    pub(super) fn count(&self, key: &'static str, absent: Absent<u32>, range: RangeInclusive<u32>) -> Option<u32> {
        let expected = || match (range.start(), range.end()) {
            (start, end) if start == end => start.to_string(),
            (start, end) => format!("a whole number from {start} to {end}"),
        };
        self.value(key, absent, expected, |value| {
            value.as_u64().and_then(|n| u32::try_from(n).ok()).filter(|n| range.contains(n))
        })
    }

    /// A size: a whole number from 1.
    pub(super) fn size(&self, key: &'static str, absent: Absent<u32>) -> Option<u32> {
        self.count(key, absent, 1..=u32::MAX)
    }

    /// A size or null, which means none. `None` after a refusal.
    pub(super) fn size_or_none(&self, key: &'static str, absent: Option<u32>) -> Option<Option<u32>> {
        let expected = || format!("a whole number from 1 to {}, or null", u32::MAX);
        self.value(key, Absent::Gives(absent), expected, |value| match value {
            Value::Null => Some(None),
            other => other.as_u64().and_then(|n| u32::try_from(n).ok()).filter(|&n| n > 0).map(Some),
        })
    }

    /// A finite number that `accept` accepts, described by `expected`.
    pub(super) fn real(
        &self,
        key: &'static str,
        absent: Absent<f64>,
        expected: &str,
        accept: impl Fn(f64) -> bool,
    ) -> Option<f64> {
        self.value(key, absent, || expected.to_owned(), |value| value.as_f64().filter(|&x| x.is_finite() && accept(x)))
    }

    /// As [`Keys::real`], rounded to the f32 it is computed with; must stay a normal number above zero.
    pub(super) fn positive(&self, key: &'static str, absent: Absent<f32>) -> Option<f32> {
        let expected = || "a number above 0 that an f32 holds".to_owned();
        self.value(key, absent, expected, positive_f32)
    }

    /// A list of numbers above zero.
    pub(super) fn positives(&self, key: &'static str, count: usize) -> Option<Vec<f32>> {
        let expected = || format!("a list of {count} numbers above 0");
        self.value(key, Absent::Refused, expected, |value| {
            let list = value.as_array().filter(|list| list.len() == count)?;
            list.iter().map(positive_f32).collect()
        })
    }

    /// `true` or `false`.
    pub(super) fn flag(&self, key: &'static str, absent: Absent<bool>) -> Option<bool> {
        self.value(key, absent, || "true or false".to_owned(), Value::as_bool)
    }

    /// One of the known words, as what it stands for. Another word may well mean something, but nothing implemented.
    pub(super) fn word<T: Copy>(&self, key: &'static str, absent: Absent<T>, known: &[(&str, T)]) -> Option<T> {
        let expected = || match known {
            [(one, _)] => format!("\"{one}\""),
            several => format!("one of {}", listed(several.iter().map(|&(word, _)| word))),
        };
        let convert = |value: &Value| {
            let word = value.as_str()?;
            known.iter().find(|&&(name, _)| name == word).map(|&(_, meaning)| meaning)
        };
        let code = |value: &Value| if value.is_string() { Code::ConfigUnsupported } else { Code::ConfigValue };
        self.value_or(key, absent, expected, convert, code)
    }

    /// A list of strings, or null or nothing.
    pub(super) fn texts(&self, key: &'static str) -> Option<Option<Vec<&'a str>>> {
        let expected = || "a list of strings".to_owned();
        self.value(key, Absent::OrNullGives(None), expected, |value| {
            value.as_array()?.iter().map(Value::as_str).collect::<Option<Vec<_>>>().map(Some)
        })
    }

    /// A list of whole numbers within `range`, or null or nothing.
    pub(super) fn counts(&self, key: &'static str, range: RangeInclusive<u32>) -> Option<Option<Vec<u32>>> {
        let expected = || match (range.start(), range.end()) {
            (start, end) if start == end => format!("a list of which every item is {start}"),
            (start, end) => format!("a list of whole numbers from {start} to {end}"),
        };
        let number = |value: &Value| value.as_u64().and_then(|n| u32::try_from(n).ok()).filter(|n| range.contains(n));
        self.value(key, Absent::OrNullGives(None), expected, |value| {
            value.as_array()?.iter().map(number).collect::<Option<Vec<_>>>().map(Some)
        })
    }

    /// The object under a key. Its keys must be [finished](Keys::finish) apart.
    pub(super) fn object(&self, key: &'static str) -> Option<Keys<'a>> {
        let expected = || "an object".to_owned();
        let object = self.value(key, Absent::Refused, expected, Value::as_object)?;
        Some(Keys {
            object,
            prefix: self.path(key) + ".",
            asked: RefCell::default(),
            refusals: self.refusals,
            read: self.read,
        })
    }

    /// A product of sizes that must itself be a size, named by the key it is about.
    pub(super) fn product(&self, key: &str, what: &str, factors: &[u32]) -> Option<u32> {
        let product = factors.iter().try_fold(1u32, |product, &factor| product.checked_mul(factor));
        if product.is_none() {
            let written = factors.iter().map(u32::to_string).collect::<Vec<_>>().join(" × ");
            self.refuse_key(
                Code::SizeOverflow,
                key,
                format_args!("makes {written} {what}, expected at most {}", u32::MAX),
            );
        }
        product
    }

    /// A sum of sizes that must itself be a size, named by the key it is about.
    pub(super) fn sum(&self, key: &str, what: &str, parts: &[u32]) -> Option<u32> {
        let sum = parts.iter().try_fold(0u32, |sum, &part| sum.checked_add(part));
        if sum.is_none() {
            let written = parts.iter().map(u32::to_string).collect::<Vec<_>>().join(" + ");
            self.refuse_key(
                Code::SizeOverflow,
                key,
                format_args!("makes {written} {what}, expected at most {}", u32::MAX),
            );
        }
        sum
    }

    /// Refuses every key that was not read and is not `allowed` to be passed over.
    pub(super) fn finish(&self, allowed: impl Fn(&str, &Value) -> Verdict) {
        let asked = self.asked.borrow();
        let mut unknown = 0usize;
        for (key, value) in self.object {
            if asked.contains(&key.as_str()) {
                continue;
            }
            match allowed(key, value) {
                Verdict::Inert => {}
                Verdict::Unsupported(expected) => self.refuse_key(
                    Code::ConfigUnsupported,
                    key,
                    format_args!("is {}, and only {expected} is implemented for this family", shown(value)),
                ),
                Verdict::Quantized => self.refuse(
                    self.refusal(
                        Code::ConfigUnsupported,
                        key,
                        "is given, and quantized checkpoints are not implemented",
                    )
                    .help("give the config of the model before it was quantized"),
                ),
                Verdict::Unknown if unknown >= MOST_UNKNOWN => unknown += 1,
                Verdict::Unknown => {
                    unknown += 1;
                    let refusal = self.refusal(
                        Code::ConfigUnsupported,
                        key,
                        format_args!(
                            "is {}: the key is not known for this family and may change what is computed",
                            shown(value)
                        ),
                    );
                    let help = match nearest(key, asked.iter().copied()) {
                        Some(known) => format!("did you mean `{}`?", self.path(known)),
                        None => "remove the key if the model computes the same without it".to_owned(),
                    };
                    self.refuse(refusal.help(help));
                }
            }
        }
        if let Some(more @ 1..) = unknown.checked_sub(MOST_UNKNOWN) {
            let at = match self.prefix.strip_suffix('.') {
                Some(object) => At::ConfigKey(object.to_owned()),
                None => At::Model,
            };
            self.refuse(Refusal::new(Code::ConfigUnsupported, at, format!("{more} more keys are not known either")));
        }
    }
}

fn positive_f32(value: &Value) -> Option<f32> {
    value.as_f64().map(|x| x as f32).filter(|x| x.is_normal() && *x > 0.0)
}

/// Words in quotes, with commas.
pub(super) fn listed<'w>(words: impl Iterator<Item = &'w str>) -> String {
    words.map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", ")
}

/// A value for people: short, with its type where that is the point.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) if text.chars().count() > 40 => {
            format!("{:?}…", text.chars().take(40).collect::<String>())
        }
        Value::String(text) => format!("{text:?}"),
        Value::Array(list) => match list.len() {
            0 => "an empty list".to_owned(),
            1 => "a list of 1 item".to_owned(),
            n => format!("a list of {n} items"),
        },
        Value::Object(object) => match object.len() {
            0 => "an empty object".to_owned(),
            _ => "an object".to_owned(),
        },
    }
}
