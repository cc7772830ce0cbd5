//! From the words of one requirement to its value. The macro makes words of tokens, the other two of text: the sentences are the same.

use super::{Compare, Figure, Requirement};
use crate::{At, Code, Refusal, nearest};

/// What is wrong with a requirement, and at which of its words; past the last where one is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordFault {
    /// Index of the word.
    pub word: usize,
    code: Code,
    message: String,
    help: String,
}

impl WordFault {
    fn form(word: usize, message: impl Into<String>, help: impl Into<String>) -> Self {
        WordFault { word, code: Code::RequestForm, message: message.into(), help: help.into() }
    }

    /// As a refusal at a place.
    pub fn refusal(self, at: At) -> Refusal {
        Refusal::new(self.code, at, self.message).help(self.help)
    }
}

/// Of each name that a requirement may begin with, what it is.
const NAMES: [(&str, Name); 5] = [
    ("hbm_fit", Name::Alone(Requirement::HbmFit)),
    ("ctx", Name::Compared(Figure::Ctx)),
    ("sequences", Name::Compared(Figure::Sequences)),
    ("hbm_headroom", Name::Compared(Figure::HbmHeadroom)),
    ("tight", Name::Alone(Requirement::Tight)),
];

#[derive(Clone, Copy)]
enum Name {
    Alone(Requirement),
    Compared(Figure),
}

/// Units of bytes: binary as vendors of memory count, decimal as vendors of chips do.
const UNITS: [(&str, u64); 10] = [
    ("B", 1),
    ("bytes", 1),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
];

impl Requirement {
    /// Reads `hbm_fit`, `tight`, or a figure, an operator, a whole number and, of bytes, a unit; each a word.
    ///
    /// # Errors
    /// The first word that is wrong, and what to write.
    pub fn from_words(words: &[&str]) -> Result<Requirement, WordFault> {
        let names = || NAMES.iter().map(|(name, _)| *name);
        let all = || listed(names());
        let Some(&word) = words.first() else {
            return Err(WordFault::form(0, "a requirement is missing", format!("write one of {}", all())));
        };
        match NAMES.iter().find(|(name, _)| *name == word) {
            Some((name, Name::Alone(requirement))) => match words.get(1) {
                None => Ok(*requirement),
                Some(more) => {
                    let message = format!("`{name}` is compared with nothing, found `{}`", more.escape_debug());
                    Err(WordFault::form(1, message, format!("write `{name}` and a comma")))
                }
            },
            Some((_, Name::Compared(figure))) => compared(*figure, words),
            None => {
                let help = match nearest(word, names()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("known: {}", all()),
                };
                let message = format!("unknown requirement `{}`", word.escape_debug());
                Err(WordFault { code: Code::RequestUnknownKey, ..WordFault::form(0, message, help) })
            }
        }
    }
}

/// A figure with its operator, number and unit.
fn compared(figure: Figure, words: &[&str]) -> Result<Requirement, WordFault> {
    let name = figure.as_str();
    let example = match figure {
        Figure::Ctx => "`ctx >= 131_072`",
        Figure::Sequences => "`sequences >= 8`",
        Figure::HbmHeadroom => "`hbm_headroom >= 8 GiB`",
    };
    let write = format!("write it as in {example}");
    let Some(&sign) = words.get(1) else {
        return Err(WordFault::form(1, format!("`{name}` is compared with no number"), write));
    };
    let Some(compare) = Compare::ALL.into_iter().find(|compare| compare.as_str() == sign) else {
        let help = match sign {
            "=" => "write `==`".to_owned(),
            "=>" => "write `>=`".to_owned(),
            "=<" => "write `<=`".to_owned(),
            _ => format!("an operator is one of {}", listed(Compare::ALL.map(Compare::as_str))),
        };
        let message = format!("expected an operator after `{name}`, found `{}`", sign.escape_debug());
        return Err(WordFault::form(1, message, help));
    };
    let Some(&digits) = words.get(2) else {
        return Err(WordFault::form(2, format!("`{name} {sign}` is followed by no number"), write));
    };
    let number = number(name, digits, &write)?;
    let value = match (figure, words.get(3)) {
        (_, None) => number,
        (Figure::HbmHeadroom, Some(unit)) => bytes(number, unit)?,
        (Figure::Ctx | Figure::Sequences, Some(more)) => {
            return Err(WordFault::form(3, format!("expected a comma, found `{}`", more.escape_debug()), write));
        }
    };
    if let Some(more) = words.get(4) {
        return Err(WordFault::form(4, format!("expected a comma, found `{}`", more.escape_debug()), write));
    }
    Ok(Requirement::Figure { figure, compare, value })
}

/// A whole number, with underscores or without.
fn number(name: &str, word: &str, write: &str) -> Result<u64, WordFault> {
    let digits: String = word.chars().filter(|&c| c != '_').collect();
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        let message = format!("`{name}` is compared with a whole number, found `{}`", word.escape_debug());
        return Err(WordFault::form(2, message, write));
    }
    digits.parse().map_err(|_| {
        let help = format!("the most that can be written is {}", u64::MAX);
        too_large(2, format!("`{name}` is compared with {digits}, which leaves 64 bits"), help)
    })
}

/// A number of units, in bytes.
fn bytes(number: u64, unit: &str) -> Result<u64, WordFault> {
    let Some((unit, size)) = UNITS.iter().find(|(name, _)| *name == unit) else {
        let names = || UNITS.iter().map(|(name, _)| *name);
        let help = match nearest(unit, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("a unit is one of {}; without one it is bytes", listed(names())),
        };
        let message = format!("unknown unit `{}`", unit.escape_debug());
        return Err(WordFault { code: Code::RequestUnknownKey, ..WordFault::form(3, message, help) });
    };
    number.checked_mul(*size).ok_or_else(|| {
        let help = format!("the most that can be written is {} {unit}", u64::MAX / size);
        too_large(2, format!("{number} {unit} are more bytes than 64 bits count"), help)
    })
}

fn too_large(word: usize, message: String, help: String) -> WordFault {
    WordFault { code: Code::SizeOverflow, ..WordFault::form(word, message, help) }
}

fn listed<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    words.join(", ")
}

/// The words of a text: names and numbers, runs of signs, and of `8GiB` the number and the unit.
pub(super) fn split(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let class = class(first);
        let length = rest.find(|c: char| !goes_on(class, c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(length.max(first.len_utf8()));
        words.push(word);
        rest = after.trim_start();
    }
    words
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Digits,
    Letters,
    Signs,
}

fn class(c: char) -> Class {
    match c {
        '0'..='9' => Class::Digits,
        '_' => Class::Letters,
        _ if c.is_alphanumeric() => Class::Letters,
        _ => Class::Signs,
    }
}

/// Whether a character goes on with a word that began so. A fraction is one word, to be refused as one.
fn goes_on(begun: Class, c: char) -> bool {
    match begun {
        Class::Digits => c == '_' || c == '.' || class(c) == Class::Digits,
        Class::Letters => class(c) != Class::Signs,
        Class::Signs => class(c) == Class::Signs && !c.is_whitespace(),
    }
}
