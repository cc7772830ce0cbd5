//! What a certified program consists of, and its certificate, checked again as the document is made.

use std::collections::BTreeMap;

use logos_bundle::check::{self, RULES};
use logos_bundle::table::layout::Part;
use logos_bundle::view::{Bundle, Program, Section};

use super::trace::{From, Row, derived};
use crate::inspect;

/// What a program consists of.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProgramSummary {
    /// `embed`, the kind's name, `head`.
    pub name: String,
    /// The step it is of: `decode`, `prefill`, `forward`.
    pub phase: String,
    /// Layers that run it; 1 of embedding and head.
    pub layers: u32,
    /// Identity of its cut, hexadecimal.
    pub identity: String,
    /// Values, declared or bound.
    pub tensors: u64,
    /// Statements.
    pub statements: u64,
    /// Nets that are on the chip one after another.
    pub sections: u64,
    /// Pipeline stages.
    pub stages: u64,
    /// Buffers: one an edge, at the end that reads it.
    pub buffers: u64,
    /// Places that hold a stage back besides data: a buffer's free slots, a memory's turns, the layer loop, a state's
    /// store before its next load.
    pub semaphores: u64,
    /// Edges.
    pub edges: u64,
    /// Stages by what they do.
    pub census: BTreeMap<String, u64>,
}

/// A certificate.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CertificateSummary {
    /// The digest that the table states of everything else in it.
    pub schedule_digest: u64,
    /// The same, hexadecimal.
    pub digest_hex: String,
    /// Whether every rule held as this document was made, and the rows are their own text's and chip's.
    pub rechecked: bool,
    /// Places of all nets.
    pub places: u64,
    /// Transitions of all nets.
    pub transitions: u64,
    /// Rule by rule.
    pub rules: Vec<Rule>,
}

/// What a rule found.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rule {
    /// Its name.
    pub rule: &'static str,
    /// Whether it holds.
    pub holds: bool,
}

pub(super) const PROGRAM: &[Row] = &[
    derived("/layers", &[From::Certificate(Part::Layers)], "layer rows that name the program"),
    derived("/tensors", &[From::Certificate(Part::Values)], "its value rows"),
    derived("/statements", &[From::Certificate(Part::Statements)], "its statement rows"),
    derived("/sections", &[From::Certificate(Part::Sections)], "its section rows"),
    derived("/stages", &[From::Certificate(Part::Stages)], "its stage rows"),
    derived("/buffers", &[From::Certificate(Part::Edges)], "one an edge row"),
    derived(
        "/semaphores",
        &[From::Certificate(Part::Edges), From::Certificate(Part::Turns), From::Certificate(Part::Stages)],
        "places of its nets less one a stage and one an edge",
    ),
    derived("/edges", &[From::Certificate(Part::Edges)], "its edge rows"),
    derived("/census/*", &[From::Certificate(Part::Stages)], "its stage rows, by primitive"),
];

pub(super) const CERTIFICATE: &[Row] = &[
    derived("/schedule_digest", &[From::Certificate(Part::Digests)], "FNV over all rows of the table"),
    derived(
        "/places",
        &[From::Certificate(Part::Edges), From::Certificate(Part::Turns), From::Certificate(Part::Stages)],
        "one a stage, two an edge, one a turn, one for a layer loop, one a state that is stored",
    ),
    derived("/transitions", &[From::Certificate(Part::Stages)], "one a stage"),
];

/// What a program of a bundle consists of.
pub(super) fn summary(program: &Program<'_>) -> ProgramSummary {
    let sum = |of: &dyn Fn(&Section<'_>) -> u64| program.sections().map(|section| of(&section)).sum::<u64>();
    let (stages, edges) = (sum(&|s| u64::from(s.transitions())), sum(&|s| s.edges().count() as u64));
    let mut census = BTreeMap::new();
    for stage in program.sections().flat_map(|section| section.stages()) {
        *census.entry(stage.primitive().to_string()).or_default() += 1;
    }
    ProgramSummary {
        name: program.name().to_string(),
        phase: program.bundle().form().to_string(),
        layers: program.layer_count(),
        identity: program.identity().to_string(),
        tensors: program.values().count() as u64,
        statements: program.statements().count() as u64,
        sections: program.sections().count() as u64,
        stages,
        buffers: edges,
        semaphores: sum(&|s| u64::from(s.places())).saturating_sub(stages).saturating_sub(edges),
        edges,
        census,
    }
}

/// The certificate of a bundle: every rule again, and its rows against their text and chip.
pub(super) fn certificate(bundle: &Bundle<'_>, words: &[u32]) -> CertificateSummary {
    let verdicts = check::all(words);
    let sections = || bundle.programs().flat_map(|program| program.sections());
    let rules = RULES
        .iter()
        .enumerate()
        .map(|(rule, &name)| Rule { rule: name, holds: verdicts.faults[rule].is_none() && verdicts.reached[rule] });
    CertificateSummary {
        schedule_digest: bundle.schedule_digest(),
        digest_hex: format!("{:016x}", bundle.schedule_digest()),
        rechecked: verdicts.hold() && inspect::verify(words).is_ok(),
        places: sections().map(|section| u64::from(section.places())).sum(),
        transitions: sections().map(|section| u64::from(section.transitions())).sum(),
        rules: rules.collect(),
    }
}
