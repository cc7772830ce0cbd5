//! Requirements of a deployment: verdicts that a build fails without, `hbm_fit, ctx >= 131_072`.
//!
//! In: the words of a requirement, from a macro's tokens, a build script's string or a command line. Out: typed requirements, or what
//! is wrong at which word. Whether they hold is [`fit`](crate::fit)'s to say, and rustc's once more.

mod contradiction;
mod words;

#[cfg(test)]
mod tests;

use std::fmt;

pub use contradiction::contradictions;
pub use words::WordFault;

use crate::{At, Refusal};

/// A verdict on a deployment that its build fails without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requirement {
    /// `hbm_fit`: HBM holds all weights and states; no expert lies in DDR.
    HbmFit,
    /// `tight`: the interval of every program that is one section is within 1/256 of its bound.
    Tight,
    /// `ctx >= 131_072`: a figure against a value.
    Figure {
        /// The figure.
        figure: Figure,
        /// How it is compared.
        compare: Compare,
        /// With what.
        value: u64,
    },
}

/// A figure of a deployment's fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// `ctx`: the largest context that fits with the deployment's sequences, positions.
    Ctx,
    /// `sequences`: the most sequences that fit at the deployment's context.
    Sequences,
    /// `hbm_headroom`: what weights and states leave of a chip's HBM, bytes.
    HbmHeadroom,
}

/// How a figure is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// `>=`.
    AtLeast,
    /// `<=`.
    AtMost,
    /// `==`.
    Equal,
    /// `>`.
    Above,
    /// `<`.
    Below,
}

impl Figure {
    /// Every figure.
    pub const ALL: [Figure; 3] = [Figure::Ctx, Figure::Sequences, Figure::HbmHeadroom];

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Figure::Ctx => "ctx",
            Figure::Sequences => "sequences",
            Figure::HbmHeadroom => "hbm_headroom",
        }
    }

    /// The requirement that it is at least `value`.
    pub const fn at_least(self, value: u64) -> Requirement {
        Requirement::Figure { figure: self, compare: Compare::AtLeast, value }
    }
}

impl Compare {
    /// Every comparison.
    pub const ALL: [Compare; 5] = [Compare::AtLeast, Compare::AtMost, Compare::Equal, Compare::Above, Compare::Below];

    /// The operator, as Rust has it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Compare::AtLeast => ">=",
            Compare::AtMost => "<=",
            Compare::Equal => "==",
            Compare::Above => ">",
            Compare::Below => "<",
        }
    }

    /// Whether `found` stands so to `value`.
    pub const fn holds(self, found: u64, value: u64) -> bool {
        match self {
            Compare::AtLeast => found >= value,
            Compare::AtMost => found <= value,
            Compare::Equal => found == value,
            Compare::Above => found > value,
            Compare::Below => found < value,
        }
    }
}

impl Requirement {
    /// Reads a list, `hbm_fit, ctx >= 131_072`. Refusals are at the requirements of the deployment `name`, counted from `first`.
    ///
    /// # Errors
    /// What is wrong with each that cannot be read; a list without any.
    pub fn list(text: &str, name: &str, first: usize) -> Result<Vec<Requirement>, Vec<Refusal>> {
        let mut entries: Vec<&str> = text.split(',').collect();
        // A comma may end a list.
        if entries.len() > 1 && entries.last().is_some_and(|last| last.trim().is_empty()) {
            entries.pop();
        }
        let (mut read, mut refusals) = (Vec::new(), Vec::new());
        for (i, entry) in entries.into_iter().enumerate() {
            match Requirement::from_words(&words::split(entry)) {
                Ok(requirement) => read.push(requirement),
                Err(fault) => refusals.push(fault.refusal(at(name, first + i))),
            }
        }
        if refusals.is_empty() { Ok(read) } else { Err(refusals) }
    }
}

/// The place of a deployment's requirement.
pub(crate) fn at(name: &str, index: usize) -> At {
    At::Require(name.to_owned(), index)
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Requirement::HbmFit => f.write_str("hbm_fit"),
            Requirement::Tight => f.write_str("tight"),
            Requirement::Figure { figure, compare, value } => {
                write!(f, "{} {} {value}", figure.as_str(), compare.as_str())
            }
        }
    }
}
