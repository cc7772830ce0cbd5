//! The commands that compile: what they print is read back from the bundle.

use std::fmt::Display;
use std::fs;
use std::io::Write;

use clap::ArgMatches;
use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table};
use logos_bundle::check::RULES;
use logos_bundle::view::{Bundle, Program, ProgramRole};
use logos_core::chip::Provenance;
use logos_core::{At, Code, Compiled, Refusal};

use super::opinion::Opinion;
use super::{Failure, document, own_bundle, request, unwritten};
use crate::describe::{grouped, signed};

/// Most columns of a table.
pub(super) const WIDTH: u16 = 80;

/// `cargo logos check`.
pub(super) fn check(matches: &ArgMatches, out: &mut dyn Write) -> Result<(), Failure> {
    let compiled = request::compile(matches)?;
    let bundle = read(&compiled)?;
    let opinion = Opinion::of(&compiled.words, &request::own_chips(matches)?);
    if matches.get_flag("json") {
        document::write(out, &document::check(&bundle, &opinion, &compiled.notes))?;
    } else {
        summary(out, &bundle, &opinion)?;
        compiled.notes.iter().try_for_each(|note| writeln!(out, "note: {note}"))?;
    }
    if opinion.holds() { Ok(()) } else { Err(Failure::Unchecked) }
}

/// `cargo logos kinds`.
pub(super) fn kinds(matches: &ArgMatches, out: &mut dyn Write) -> Result<(), Failure> {
    let compiled = request::compile(matches)?;
    let bundle = read(&compiled)?;
    if matches.get_flag("json") {
        document::write(out, &document::kinds(&bundle))?;
        return Ok(());
    }
    let mut table = table(["program", "layers", "which", "weight bytes", "state bytes"]);
    for program in bundle.programs() {
        let layers: Vec<u32> = program.layers().map(|layer| layer.index()).collect();
        row(
            &mut table,
            [
                &program.name() as &dyn Display,
                &layer_count(&program),
                &ranges(&layers),
                &grouped(program.weight_bytes()),
                &grouped(program.state_bytes()),
            ],
        );
    }
    align(&mut table, &[1, 3, 4]);
    print(out, &table)?;
    writeln!(out, "bytes are those of one layer on one chip")?;
    Ok(())
}

/// `cargo logos program`.
pub(super) fn program(matches: &ArgMatches, out: &mut dyn Write) -> Result<(), Failure> {
    let compiled = request::compile(matches)?;
    let bundle = read(&compiled)?;
    let role = |role| bundle.programs().find(|program| program.role() == role);
    let (program, missing, others) = if matches.get_flag("embed") {
        (
            role(ProgramRole::Embed),
            "this deployment has no embedding program: its first hidden state is an input".to_owned(),
            "write `--head` or `--layer 0`".to_owned(),
        )
    } else if matches.get_flag("head") {
        (role(ProgramRole::Head), "this deployment has no head program".to_owned(), "write `--layer 0`".to_owned())
    } else {
        let layer = matches.get_one::<u32>("layer").copied().unwrap_or(0);
        let program = bundle.layer(layer).and_then(|layer| layer.program());
        let last = bundle.layer_count().saturating_sub(1);
        (program, format!("there is no layer {layer}: the layers are 0 to {last}"), format!("write `--layer {last}`"))
    };
    let Some(program) = program else {
        return Err(Refusal::new(Code::RequestForm, At::Request, missing).help(others).into());
    };
    writeln!(out, "{}", program.text().to_string().trim_end())?;
    Ok(())
}

/// `cargo logos emit`.
pub(super) fn emit(matches: &ArgMatches, out: &mut dyn Write) -> Result<(), Failure> {
    let compiled = request::compile(matches)?;
    let bundle = read(&compiled)?;
    let file = matches.get_one::<String>("output").map_or("", String::as_str);
    let bytes: Vec<u8> = compiled.words.iter().flat_map(|word| word.to_le_bytes()).collect();
    fs::write(file, &bytes).map_err(|error| unwritten(file, &error))?;
    writeln!(out, "{file}: {} bytes, {bundle}", bytes.len())?;
    Ok(())
}

fn read(compiled: &Compiled) -> Result<Bundle<'_>, Failure> {
    Bundle::read(&compiled.words).map_err(|error| own_bundle(&error))
}

/// A bundle for people: fit, programs, certificate.
pub(super) fn summary(out: &mut dyn Write, bundle: &Bundle<'_>, opinion: &Opinion) -> Result<(), Failure> {
    writeln!(out, "{bundle}\n")?;
    let fit = bundle.fit();
    let mut facts = table(["bytes a chip", "", "from"]);
    let memory = if fit.hbm_bytes == 0 { "DDR" } else { "HBM" };
    for (name, value, source) in [
        ("weights", grouped(fit.weight_bytes), "derived"),
        ("  of them in DDR", grouped(fit.ddr_weight_bytes), "derived"),
        ("carried state", grouped(fit.state_bytes), "derived"),
        ("  of it KV cache", grouped(fit.kv_bytes), "derived"),
        ("  of it in SRAM", grouped(fit.sram_state_bytes), "derived"),
        (memory, grouped(fit.memory_bytes), opinion.memory.map_or("its own chip file", Provenance::as_str)),
        ("headroom", signed(fit.hbm_headroom_bytes), "derived"),
    ] {
        // Most deployments have nothing elsewhere.
        let elsewhere = name.starts_with("  of") && !name.ends_with("cache");
        if !(elsewhere && value == "0") {
            row(&mut facts, [&name as &dyn Display, &value, &source]);
        }
    }
    align(&mut facts, &[1]);
    print(out, &facts)?;
    writeln!(out)?;
    if fit.max_ctx > 0 {
        writeln!(out, "beside the weights where they lie, {memory} holds")?;
        writeln!(out, "  with these sequences a context of at most {}", grouped(u64::from(fit.max_ctx)))?;
        writeln!(out, "  at this context at most {} sequences\n", grouped(u64::from(fit.max_sequences)))?;
    }
    programs(out, bundle)?;
    certificate(out, bundle, opinion)
}

fn programs(out: &mut dyn Write, bundle: &Bundle<'_>) -> Result<(), Failure> {
    let mut table = table(["program", "layers", "stages", "cells", "interval", "bound", "binder"]);
    for program in bundle.programs() {
        let (name, layers) = (program.name().to_string(), layer_count(&program));
        let sections = program.sections().count();
        if sections > 1 {
            row(&mut table, [&name as &dyn Display, &layers, &"", &"", &"", &"", &""]);
        }
        for section in program.sections() {
            let part = format!("  {} of {sections}", section.index() + 1);
            let (name, layers) = if sections > 1 { (&part, "") } else { (&name, layers.as_str()) };
            row(
                &mut table,
                [
                    name as &dyn Display,
                    &layers,
                    &section.stages().count(),
                    &section.cells(),
                    &grouped(section.interval_cycles()),
                    &grouped(section.bound_cycles()),
                    &format!("{}{}", section.binder(), if section.is_tight() { ", tight" } else { "" }),
                ],
            );
        }
    }
    align(&mut table, &[1, 2, 3, 4, 5]);
    print(out, &table)?;
    writeln!(out, "\ninterval and bound in cycles of the unit model (modeled), never a time\n")?;
    Ok(())
}

/// Layers of a program; of the embedding and the head, which are none, a dash.
fn layer_count(program: &Program<'_>) -> String {
    match program.layers().count() {
        0 => "-".to_owned(),
        layers => layers.to_string(),
    }
}

fn certificate(out: &mut dyn Write, bundle: &Bundle<'_>, opinion: &Opinion) -> Result<(), Failure> {
    let Opinion { verdicts, mismatches, memory: _ } = opinion;
    let mut table = table(["rule", "obligations", "verdict"]);
    for (rule, name) in RULES.iter().enumerate() {
        let verdict = match &verdicts.faults[rule] {
            Some(fault) => fault.to_string(),
            None if verdicts.reached[rule] => "holds".to_owned(),
            None => "not reached".to_owned(),
        };
        row(&mut table, [name as &dyn Display, &grouped(verdicts.obligations[rule]), &verdict]);
    }
    align(&mut table, &[1]);
    print(out, &table)?;
    writeln!(out)?;
    if mismatches.is_empty() {
        writeln!(
            out,
            "every program's rows are its text's, and the text has the stored SHA-256; the chip rows are the chip's"
        )?;
    }
    for mismatch in mismatches {
        writeln!(out, "{mismatch}")?;
    }
    let holds = if opinion.holds() { "the certificate holds" } else { "THE CERTIFICATE DOES NOT HOLD" };
    writeln!(out, "{holds}; digest {:016x}", bundle.schedule_digest())?;
    Ok(())
}

/// A table without rules, as wide as a terminal at most: what is long breaks into lines, but no number does.
pub(super) fn table<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(WIDTH);
    table.set_header(header);
    table
}

/// Writes a table line by line, without the spaces that fill up the last column.
pub(super) fn print(out: &mut dyn Write, table: &Table) -> Result<(), Failure> {
    for line in table.to_string().lines() {
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

pub(super) fn row<const N: usize>(table: &mut Table, cells: [&dyn Display; N]) {
    table.add_row(cells.map(ToString::to_string));
}

pub(super) fn align(table: &mut Table, right: &[usize]) {
    for &column in right {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
}

/// `0-2, 4-6, 8`, shortened where a pattern goes on.
pub(super) fn ranges(layers: &[u32]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for &layer in layers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == layer => *last = layer,
            Some(_) | None => runs.push((layer, layer)),
        }
    }
    let shown: Vec<String> = runs
        .iter()
        .take(8)
        .map(|&(first, last)| if first == last { first.to_string() } else { format!("{first}-{last}") })
        .collect();
    let more = if runs.len() > 8 { format!(", … {}", layers.last().map_or(0, |last| *last)) } else { String::new() };
    shown.join(", ") + &more
}

#[cfg(test)]
mod tests {
    use super::ranges;

    #[test]
    fn layers_are_listed_as_runs() {
        assert_eq!(ranges(&[]), "");
        assert_eq!(ranges(&[0, 1, 2, 4, 5, 8]), "0-2, 4-5, 8");
        let every_fourth: Vec<u32> = (0..16).map(|n| n * 4 + 3).collect();
        assert_eq!(ranges(&every_fourth), "3, 7, 11, 15, 19, 23, 27, 31, … 63");
    }
}
