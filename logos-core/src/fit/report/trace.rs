//! Which figures of a document come from what: no number stands bare.
//!
//! A table's rows name figures by JSON pointer, `*` for any one step, and say for each what it is made of. Tests walk
//! the documents: every number has a row, and every key, operation, fact and row of a certificate that is named exists.

use std::collections::BTreeMap;

use logos_bundle::table::layout::Part;

use crate::chip::Field;

use super::frame::Label;

/// What a figure is made of.
#[derive(Clone, Copy, Debug)]
pub(super) enum From {
    /// Keys of the config.
    Config(Keys),
    /// Statements of these operations in the authored programs, and what they declare.
    Operations(&'static [&'static str]),
    /// A fact of the chip.
    Fact(Field),
    /// Rows of the certificate.
    Certificate(Part),
    /// What was asked for, each by its key.
    Request(&'static [&'static str]),
}

/// Keys that decide on one thing, whatever the family, by the last step of their path. Documents list those that the config has and
/// its reader read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keys {
    pub(super) name: &'static str,
    pub(super) keys: &'static [&'static str],
}

/// A row of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) figures: &'static str,
    pub(super) label: Label,
    pub(super) from: &'static [From],
    pub(super) how: &'static str,
}

/// A derived figure.
pub(super) const fn derived(figures: &'static str, from: &'static [From], how: &'static str) -> Row {
    Row { figures, label: Label::Derived, from, how }
}

/// A modeled figure.
pub(super) const fn modeled(figures: &'static str, from: &'static [From], how: &'static str) -> Row {
    Row { figures, label: Label::Modeled, from, how }
}

/// A table and where its figures stand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows {
    pub(super) under: &'static str,
    pub(super) rows: &'static [Row],
}

/// A row as documents have it.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Traced {
    /// Which figures: a JSON pointer, `*` for any one step.
    pub figures: String,
    /// How they are known.
    pub label: Label,
    /// How they follow.
    pub how: &'static str,
    /// Groups of keys of the config: see `keys`.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub config: Vec<&'static str>,
    /// Operations of the authored programs.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub operations: Vec<&'static str>,
    /// Facts of the chip.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub facts: Vec<&'static str>,
    /// Parts of the certified table.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub certificate: Vec<&'static str>,
    /// What was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub request: Vec<&'static str>,
}

/// The groups of keys that the tables name, with the paths of those that were read (`keys`).
pub(super) fn groups(tables: &[Rows], keys: &[String]) -> BTreeMap<&'static str, Vec<String>> {
    let mut groups = BTreeMap::new();
    for from in tables.iter().flat_map(|table| table.rows).flat_map(|row| row.from) {
        if let From::Config(group) = from {
            groups
                .entry(group.name)
                .or_insert_with(|| keys.iter().filter(|key| group.keys.contains(&last_step(key))).cloned().collect());
        }
    }
    groups
}

/// The tables' rows with their places.
pub(super) fn spell(tables: &[Rows]) -> Vec<Traced> {
    let rows = tables.iter().flat_map(|table| table.rows.iter().map(|row| (table.under, row)));
    rows.map(|(under, row)| {
        let mut traced = Traced {
            figures: [under, row.figures].concat(),
            label: row.label,
            how: row.how,
            config: Vec::new(),
            operations: Vec::new(),
            facts: Vec::new(),
            certificate: Vec::new(),
            request: Vec::new(),
        };
        for from in row.from {
            match from {
                From::Config(group) => traced.config.push(group.name),
                From::Operations(names) => traced.operations.extend_from_slice(names),
                From::Fact(field) => traced.facts.push(field.as_str()),
                From::Certificate(part) => traced.certificate.push(part_name(*part)),
                From::Request(keys) => traced.request.extend_from_slice(keys),
            }
        }
        traced
    })
    .collect()
}

fn last_step(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

/// A part of the table as its layout calls it.
const fn part_name(part: Part) -> &'static str {
    match part {
        Part::Deployment => "deployment",
        Part::Chip => "chip",
        Part::Programs => "programs",
        Part::Sections => "sections",
        Part::Values => "values",
        Part::Statements => "statements",
        Part::Stages => "stages",
        Part::Edges => "edges",
        Part::Turns => "turns",
        Part::Ropes => "ropes",
        Part::Bindings => "bindings",
        Part::Layers => "layers",
        Part::Digests => "digests",
        Part::Strings => "strings",
        Part::Factors => "factors",
    }
}

/// Whether a pointer is one of those that a pattern names.
pub(super) fn names(pattern: &str, pointer: &str) -> bool {
    let (mut pattern, mut pointer) = (pattern.split('/'), pointer.split('/'));
    loop {
        match (pattern.next(), pointer.next()) {
            (None, None) => return true,
            (Some(step), Some(found)) if step == "*" || step == found => {}
            _ => return false,
        }
    }
}
