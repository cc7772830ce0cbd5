//! What every document begins with, and a figure with its source.

use std::collections::BTreeMap;

use crate::chip::{Fact, Provenance};

use super::trace::{self, Rows, Traced};

/// Version of every schema of this crate.
const VERSION: u32 = 1;

/// What every document says of itself.
const HONESTY: &str = "Nothing here ran on an RDU. Bytes and counts are derived from the model's config, its programs and cited \
    chip facts; cycles are cycles of a unit model; no figure is a time and no speed is claimed.";

/// A document: what all begin with, then its own members.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Document<B> {
    /// The schema's name, `logos.rdu.fit`.
    pub schema: &'static str,
    /// The schema's version.
    pub version: u32,
    /// What wrote the document.
    #[serde(rename = "_generated_by")]
    pub generated_by: &'static str,
    /// Where the figures come from.
    pub provenance: Origins,
    /// Always true.
    pub no_speed_claim: bool,
    /// What the figures are and are not.
    pub honesty: &'static str,
    /// The document's own members.
    #[serde(flatten)]
    pub body: B,
}

/// Where the figures of a document come from.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Origins {
    /// What the labels mean.
    pub labels: Labels,
    /// Keys of the config that decide on one thing, by path, for the rows of `trace` to name.
    pub keys: BTreeMap<&'static str, Vec<String>>,
    /// For every figure, its label and what it comes from.
    pub trace: Vec<Traced>,
}

impl Origins {
    /// Where the figure at a JSON pointer comes from; none where no row names it.
    pub fn of(&self, pointer: &str) -> Option<&Traced> {
        self.trace.iter().find(|row| trace::names(&row.figures, pointer))
    }
}

/// What the labels mean.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Labels {
    /// Of a figure that a source prints.
    pub published: &'static str,
    /// Of a figure that follows from others.
    pub derived: &'static str,
    /// Of a figure that is chosen.
    pub modeled: &'static str,
    /// Of a figure that was observed.
    pub measured: &'static str,
}

const LABELS: Labels = Labels {
    published: "printed in the source that is cited",
    derived: "follows by arithmetic from the config, the programs, the request or published figures",
    modeled: "counted with the unit model, whose figures no vendor publishes",
    measured: "observed by running something; nothing in this document is",
};

/// How a figure is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Label {
    /// Printed in a source.
    Published,
    /// Follows from others by arithmetic.
    Derived,
    /// Chosen, or counted with what is chosen.
    Modeled,
    /// Observed.
    Measured,
}

impl Label {
    /// The label as printed.
    pub const fn as_str(self) -> &'static str {
        match self {
            Label::Published => "published",
            Label::Derived => "derived",
            Label::Modeled => "modeled",
            Label::Measured => "measured",
        }
    }
}

impl From<Provenance> for Label {
    fn from(provenance: Provenance) -> Label {
        match provenance {
            Provenance::Published => Label::Published,
            Provenance::Derived => Label::Derived,
            Provenance::Modeled => Label::Modeled,
            Provenance::Measured => Label::Measured,
        }
    }
}

/// A figure of a chip with its label and the sources it cites.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cited<T> {
    /// The figure.
    pub value: T,
    /// How it is known.
    pub provenance: Label,
    /// Keys of the sources, as `chip.cites` spells them out.
    pub cite: String,
}

impl<T> Cited<T> {
    /// A figure that rests on a fact.
    pub(super) fn of(fact: &Fact, value: T) -> Cited<T> {
        let cite = keys(fact);
        Cited { value, provenance: fact.provenance.into(), cite }
    }
}

/// The number of a fact, with its label.
pub(super) fn number(fact: Option<&Fact>) -> Option<Cited<u64>> {
    let fact = fact?;
    Some(Cited::of(fact, fact.number()?))
}

fn keys(fact: &Fact) -> String {
    let keys: Vec<&str> = fact.cite.iter().map(|source| source.key.as_str()).collect();
    keys.join(", ")
}

impl<B: serde::Serialize> Document<B> {
    /// A document of these members, whose figures the tables trace.
    pub(super) fn new(schema: &'static str, body: B, tables: &[Rows], keys: &[String]) -> Document<B> {
        Document {
            schema,
            version: VERSION,
            generated_by: concat!("logos-core ", env!("CARGO_PKG_VERSION")),
            provenance: Origins { labels: LABELS, keys: trace::groups(tables, keys), trace: trace::spell(tables) },
            no_speed_claim: true,
            honesty: HONESTY,
            body,
        }
    }

    /// The document as JSON.
    pub fn to_value(&self) -> serde_json::Value {
        // Serialising these types cannot fail: no map has keys that are not strings. Nor can their text below.
        serde_json::to_value(self).unwrap_or_default()
    }

    /// The document as text: JSON for people, ending in one newline.
    pub fn to_text(&self) -> String {
        super::print::pretty(self).unwrap_or_default()
    }
}
