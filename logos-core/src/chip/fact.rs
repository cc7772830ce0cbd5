//! A chip fact: a figure, its unit, where it comes from, and what we make of it.

use std::fmt;
use std::sync::Arc;

use super::field::Field;

/// Where a figure comes from. Nothing of ours ran on an RDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Provenance {
    /// Printed in a source.
    Published,
    /// Follows from published figures by arithmetic that the note states.
    Derived,
    /// Chosen, because no vendor publishes it; the note gives the reason.
    Modeled,
    /// Observed by running something; the note says what.
    Measured,
}

impl Provenance {
    /// All, in order.
    pub const ALL: [Provenance; 4] =
        [Provenance::Published, Provenance::Derived, Provenance::Modeled, Provenance::Measured];

    /// The label as printed.
    pub const fn as_str(self) -> &'static str {
        match self {
            Provenance::Published => "published",
            Provenance::Derived => "derived",
            Provenance::Modeled => "modeled",
            Provenance::Measured => "measured",
        }
    }

    /// The provenance of a label.
    pub fn from_name(name: &str) -> Option<Provenance> {
        Provenance::ALL.into_iter().find(|provenance| provenance.as_str() == name)
    }
}

impl fmt::Display for Provenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Something a fact cites.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Short key, `HC26`.
    pub key: String,
    /// Title.
    pub title: String,
    /// Who published it.
    pub publisher: String,
    /// When, as precisely as known.
    pub date: String,
    /// Where it is.
    pub url: String,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}, {}, {}", self.title, self.publisher, self.date, self.url)
    }
}

/// The figure of a fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A whole number in the field's unit.
    Number(u64),
    /// A name, a date, or a few words.
    Text(String),
    /// A list of names.
    List(Vec<String>),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(n) => n.fmt(f),
            Value::Text(t) => f.write_str(t),
            Value::List(names) => f.write_str(&names.join(", ")),
        }
    }
}

/// One fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// What it is about.
    pub field: Field,
    /// The figure, in [`Fact::unit`].
    pub value: Value,
    /// Where it comes from.
    pub provenance: Provenance,
    /// What it rests on; never empty.
    pub cite: Vec<Arc<Source>>,
    /// How it is read, derived or chosen. Empty for a published figure only.
    pub note: String,
}

impl Fact {
    /// The unit of the figure.
    pub const fn unit(&self) -> &'static str {
        self.field.unit()
    }

    /// The figure, where it is a number.
    pub const fn number(&self) -> Option<u64> {
        match self.value {
            Value::Number(n) => Some(n),
            Value::Text(_) | Value::List(_) => None,
        }
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} {} ({})", self.field, self.value, self.unit(), self.provenance)
    }
}
