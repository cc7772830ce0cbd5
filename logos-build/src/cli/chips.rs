//! `cargo logos chips`: the chips that there are, a chip's facts with their labels and sources, and its file.

use std::io::Write;

use clap::ArgMatches;
use logos_core::chip::{self, Chip, Fact, Field, NAMES, Source, Value};
use serde_json::json;

use super::explain::wrapped;
use super::request::ChipArgument;
use super::{Failure, document};
use crate::describe::grouped;

/// Width of a line of a note or a source.
const WIDTH: usize = 76;

pub(super) fn chips(matches: &ArgMatches, out: &mut dyn Write) -> Result<(), Failure> {
    let json = matches.get_flag("json");
    if matches.get_one::<String>("chip").is_none() && matches.get_one::<String>("chip-file").is_none() {
        return list(json, out);
    }
    let argument = ChipArgument::read(matches)?;
    let chip = argument.request().chip().map_err(Failure::Refused)?;
    if matches.get_flag("toml") {
        match &argument {
            ChipArgument::Named(name) => out.write_all(chip::text(name)?.as_bytes())?,
            ChipArgument::File { text, .. } => out.write_all(text)?,
        }
        return Ok(());
    }
    if json { Ok(document::write(out, &document::chip(whole(&chip)))?) } else { facts(&chip, out) }
}

/// The chips that come with the compiler.
fn list(json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let mut documents = Vec::new();
    for name in NAMES {
        let chip = chip::lookup(name)?;
        if json {
            documents.push(whole(chip));
            continue;
        }
        let text = |field| chip.fact(field).map_or_else(String::new, |fact| fact.value.to_string());
        let (bytes, memory) = chip.main_memory();
        let (peak, date) = (text(Field::PeakBf16), text(Field::LaunchDate));
        writeln!(out, "{name:<6} {peak:>5} TFLOPS bf16, {:>17} bytes of {memory}; {date}", grouped(bytes))?;
    }
    if json {
        return Ok(document::write(out, &document::chips(documents))?);
    }
    writeln!(
        out,
        "\n`cargo logos chips NAME` shows every fact with its sources; `--toml` prints its file, to start one's own"
    )?;
    Ok(())
}

fn facts(chip: &Chip, out: &mut dyn Write) -> Result<(), Failure> {
    writeln!(out, "{}: {}, target {}\n", chip.name, chip.part, chip.target)?;
    for fact in chip.facts() {
        let value = match &fact.value {
            Value::Number(n) => grouped(*n),
            value @ (Value::Text(_) | Value::List(_)) => value.to_string(),
        };
        let keys: Vec<&str> = fact.cite.iter().map(|source| source.key.as_str()).collect();
        let line = format!("{}: {value} {} ({}; {})", fact.field, fact.unit(), fact.provenance, keys.join(", "));
        for line in wrapped(&line, WIDTH) {
            writeln!(out, "{line}")?;
        }
        for line in wrapped(&fact.note, WIDTH).iter().filter(|line| !line.is_empty()) {
            writeln!(out, "    {line}")?;
        }
    }
    writeln!(out, "\nsources")?;
    for source in chip.sources() {
        for (i, line) in wrapped(&format!("{}: {source}", source.key), WIDTH).iter().enumerate() {
            writeln!(out, "{}{line}", if i == 0 { "" } else { "    " })?;
        }
    }
    Ok(())
}

/// All of a chip, as JSON.
fn whole(chip: &Chip) -> serde_json::Value {
    let source = |source: &Source| {
        let Source { key, title, publisher, date, url } = source;
        json!({ "key": key, "title": title, "publisher": publisher, "date": date, "url": url })
    };
    json!({
        "name": chip.name,
        "part": chip.part,
        "target": chip.target,
        "tensor_parallel_width": chip.tensor_parallel_width(),
        "modeled_fields": chip.modeled_fields().map(Field::as_str).collect::<Vec<_>>(),
        "facts": chip.facts().iter().map(fact).collect::<Vec<_>>(),
        "sources": chip.sources().iter().map(|one| source(one)).collect::<Vec<_>>(),
    })
}

fn fact(fact: &Fact) -> serde_json::Value {
    json!({
        "field": fact.field.as_str(),
        "value": match &fact.value {
            Value::Number(n) => json!(n),
            Value::Text(text) => json!(text),
            Value::List(names) => json!(names),
        },
        "unit": fact.unit(),
        "provenance": fact.provenance.as_str(),
        "cite": fact.cite.iter().map(|source| source.key.as_str()).collect::<Vec<_>>(),
        "note": fact.note,
    })
}
