//! JSON documents: what a bundle says, with where each kind of figure comes from.

use std::fs;
use std::io::{self, Write};

use clap::ArgMatches;
use logos_bundle::check::RULES;
use logos_bundle::view::{Bundle, Program, Section};
use logos_core::Refusal;
use serde_json::{Map, Value, json};

use super::opinion::Opinion;
use super::{Failure, unwritten};

/// Pretty, with one trailing newline.
pub(super) fn write(out: &mut dyn Write, document: &Value) -> io::Result<()> {
    let text = serde_json::to_string_pretty(document).map_err(io::Error::other)?;
    writeln!(out, "{text}")
}

/// Writes a document's text to the file that the command line names, else to the output.
pub(super) fn deliver(matches: &ArgMatches, out: &mut dyn Write, text: &str) -> Result<(), Failure> {
    let Some(file) = matches.get_one::<String>("output") else {
        out.write_all(text.as_bytes())?;
        return Ok(());
    };
    fs::write(file, text).map_err(|error| unwritten(file, &error))?;
    writeln!(out, "{file}: {} bytes", text.len())?;
    Ok(())
}

/// What every document begins with.
fn document(schema: &str, entries: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    let mut map = Map::new();
    map.insert("schema".to_owned(), schema.into());
    map.insert("version".to_owned(), 1.into());
    map.insert("_generated_by".to_owned(), concat!("cargo-logos ", env!("CARGO_PKG_VERSION")).into());
    map.insert(
        "provenance".to_owned(),
        json!({
            "bytes": "derived from the config and the deployment",
            "memory_bytes": "a fact of the chip, labelled and cited in its file: `cargo logos chips`",
            "cycles": "modeled: cycles of the unit model in the bundle's chip rows, never a time",
        }),
    );
    map.insert("no_speed_claim".to_owned(), true.into());
    map.insert("honesty".to_owned(), "nothing here ran on an RDU; no speed is claimed".into());
    map.extend(entries.into_iter().map(|(name, value)| (name.to_owned(), value)));
    Value::Object(map)
}

/// `cargo logos check --json`.
pub(super) fn check(bundle: &Bundle<'_>, opinion: &Opinion, notes: &[String]) -> Value {
    let notes = (!notes.is_empty()).then(|| ("notes", notes.into()));
    document("logos.rdu.check", bundle_entries(bundle, opinion).into_iter().chain(notes))
}

/// `cargo logos check --explain-widths --json`.
pub(super) fn widths(entries: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    document("logos.rdu.widths", entries)
}

/// `cargo logos inspect --json`.
pub(super) fn inspect(bundles: Vec<Value>) -> Value {
    document("logos.rdu.inspect", [("bundles", bundles.into())])
}

/// `cargo logos chips --json`.
pub(super) fn chips(chips: Vec<Value>) -> Value {
    document("logos.rdu.chips", [("chips", chips.into())])
}

/// `cargo logos chips NAME --json`.
pub(super) fn chip(chip: Value) -> Value {
    document("logos.rdu.chip", [("chip", chip)])
}

/// `cargo logos kinds --json`.
pub(super) fn kinds(bundle: &Bundle<'_>) -> Value {
    document(
        "logos.rdu.kinds",
        [("deployment", deployment(bundle)), ("programs", bundle.programs().map(|p| kind(&p)).collect())],
    )
}

/// One bundle of several.
pub(super) fn bundle(bundle: &Bundle<'_>, opinion: &Opinion) -> Value {
    Value::Object(bundle_entries(bundle, opinion).into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

fn bundle_entries(bundle: &Bundle<'_>, opinion: &Opinion) -> [(&'static str, Value); 4] {
    [
        ("deployment", deployment(bundle)),
        ("fit", fit(bundle)),
        ("programs", bundle.programs().map(|program| self::program(&program)).collect()),
        ("certificate", certificate(bundle, opinion)),
    ]
}

fn deployment(bundle: &Bundle<'_>) -> Value {
    json!({
        "model": bundle.model().to_string(),
        "form": bundle.form().to_string(),
        "chip": bundle.chip().map(|chip| chip.name().to_string()),
        "chips": bundle.chips(),
        "ctx": bundle.ctx(),
        "sequences": bundle.sequences(),
        "tokens": bundle.tokens(),
        "layers": bundle.layer_count(),
        "bundle_bytes": bundle.len() as u64 * 4,
    })
}

fn fit(bundle: &Bundle<'_>) -> Value {
    let fit = bundle.fit();
    json!({
        "weights_per_chip_bytes": fit.weight_bytes,
        "state_bytes_per_chip": fit.state_bytes,
        "kv_cache_bytes_per_chip": fit.kv_bytes,
        "ddr_weight_bytes_per_chip": fit.ddr_weight_bytes,
        "sram_state_bytes_per_chip": fit.sram_state_bytes,
        "need_bytes_per_chip": fit.need_bytes,
        "memory_bytes_per_chip": fit.memory_bytes,
        "hbm_headroom_bytes": fit.hbm_headroom_bytes,
        "fits": fit.fits,
        "max_ctx_in_hbm": fit.max_ctx,
        "max_sequences": fit.max_sequences,
    })
}

fn program(program: &Program<'_>) -> Value {
    json!({
        "name": program.name().to_string(),
        "role": program.role().to_string(),
        "layers": program.layer_count(),
        "first_layer": program.first_layer(),
        "identity": program.identity().to_string(),
        "statements": program.statements().count(),
        "sections": program.sections().map(|section| self::section(&section)).collect::<Vec<_>>(),
    })
}

fn section(section: &Section<'_>) -> Value {
    json!({
        "stages": section.stages().count(),
        "edges": section.edges().count(),
        "places": section.places(),
        "transitions": section.transitions(),
        "cells": section.cells(),
        "interval_cycles": section.interval_cycles(),
        "span_cycles": section.span_cycles(),
        "bound_cycles": section.bound_cycles(),
        "binder": section.binder().to_string(),
        "tight": section.is_tight(),
    })
}

fn kind(program: &Program<'_>) -> Value {
    json!({
        "name": program.name().to_string(),
        "role": program.role().to_string(),
        "layers": program.layers().map(|layer| layer.index()).collect::<Vec<_>>(),
        "first_layer": program.first_layer(),
        "identity": program.identity().to_string(),
        "weight_bytes_per_chip": program.weight_bytes(),
        "state_bytes_per_chip": program.state_bytes(),
    })
}

fn certificate(bundle: &Bundle<'_>, opinion: &Opinion) -> Value {
    let Opinion { verdicts, mismatches, memory: _ } = opinion;
    let rules: Vec<Value> = RULES
        .iter()
        .zip(verdicts.faults.iter().zip(verdicts.obligations.iter().zip(&verdicts.reached)))
        .map(|(name, (fault, (obligations, reached)))| {
            json!({
                "rule": name,
                "holds": fault.is_none() && *reached,
                "obligations": obligations,
                "fault": fault.map(|fault| fault.to_string()),
            })
        })
        .collect();
    json!({
        "schedule_digest": bundle.schedule_digest(),
        "digest_hex": format!("{:016x}", bundle.schedule_digest()),
        "rechecked": opinion.holds(),
        "rules": rules,
        "mismatches": mismatches.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

/// `cargo logos simulate --json`. Logits are written as f32 have them, in one line: there may be millions.
pub(super) fn simulated(out: &mut dyn Write, prompt: &[u32], tokens: &[u32], logits: &[Vec<f32>]) -> io::Result<()> {
    let json = |error: serde_json::Error| io::Error::other(error);
    let parts = [
        ("schema", serde_json::to_string("logos.rdu.simulate")),
        ("version", serde_json::to_string(&1)),
        ("_generated_by", serde_json::to_string(concat!("cargo-logos ", env!("CARGO_PKG_VERSION")))),
        (
            "honesty",
            serde_json::to_string("computed in f32 on the host; nothing here ran on an RDU; no speed is claimed"),
        ),
        ("prompt", serde_json::to_string(prompt)),
        ("tokens", serde_json::to_string(tokens)),
        ("logits", serde_json::to_string(logits)),
    ];
    for (at, (name, text)) in parts.into_iter().enumerate() {
        let before = if at == 0 { '{' } else { ',' };
        write!(out, "{before}\"{name}\":{}", text.map_err(json)?)?;
    }
    writeln!(out, "}}")
}

/// What a refused command prints with `--json`.
pub(super) fn refusals(refusals: &[Refusal]) -> Value {
    let refusals: Vec<Value> = refusals
        .iter()
        .map(|refusal| {
            let facts: Map<String, Value> =
                refusal.facts.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
            json!({
                "code": refusal.code.as_str(),
                "at": super::request::place(&refusal.at),
                "message": refusal.message,
                "facts": facts,
                "help": refusal.help,
            })
        })
        .collect();
    document("logos.rdu.refusals", [("refusals", refusals.into())])
}
