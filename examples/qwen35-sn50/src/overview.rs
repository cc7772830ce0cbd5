//! Deployments, memory, kinds, programs.

use std::io::{self, Write};

use logos_rdu::Deployment;
use logos_rdu::view::{Bundle, ProgramRole, Section};

use crate::certificate;
use crate::text::{Align, bytes, counted, grouped, runs, table};

/// Prints every deployment; whether every certificate holds.
pub fn print(out: &mut impl Write, deployments: &[(&str, Deployment)]) -> io::Result<bool> {
    let mut all_hold = true;
    for (index, (name, deployment)) in deployments.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        let bundle = deployment.bundle();
        head(out, name, &bundle)?;
        memory(out, deployment)?;
        kinds(out, &bundle)?;
        programs(out, &bundle)?;
        all_hold &= certificate::print(out, deployment)?;
    }
    writeln!(out, "\nCycles are of the unit model (modeled), not a time. Nothing here ran on an RDU.")?;
    Ok(all_hold)
}

fn head(out: &mut impl Write, name: &str, bundle: &Bundle<'_>) -> io::Result<()> {
    writeln!(
        out,
        "{name}: {} {}, context {}, a step: {} of {}",
        bundle.model(),
        bundle.form(),
        grouped(bundle.ctx()),
        counted(bundle.sequences(), "sequence"),
        counted(bundle.tokens(), "token")
    )?;
    if let Some(chip) = bundle.chip() {
        writeln!(
            out,
            "  chips: {} {} of {} cells ({} x {} mesh), {} scratchpad, {} HBM, {} DDR each",
            bundle.chips(),
            chip.name(),
            grouped(chip.cells()),
            chip.columns(),
            chip.rows(),
            bytes(chip.scratchpad_bytes()),
            bytes(chip.hbm_bytes()),
            bytes(chip.ddr_bytes())
        )?;
    }
    let words = bundle.len() as u64;
    writeln!(out, "  table: {} words ({}), digest {:016x}", grouped(words), bytes(words * 4), bundle.schedule_digest())
}

fn memory(out: &mut impl Write, deployment: &Deployment) -> io::Result<()> {
    let fit = deployment.fit();
    let row = |what: &str, size: i128| [what.to_owned(), grouped(size), bytes(size)];
    writeln!(out, "\n  bytes a chip: {}", if fit.fits { "fits" } else { "does NOT fit" })?;
    table(
        out,
        [("", Align::Left), ("bytes", Align::Right), ("", Align::Right)],
        &[
            row("weights", fit.weight_bytes.into()),
            row("state", fit.state_bytes.into()),
            row("of which KV cache", fit.kv_bytes.into()),
            row("need", fit.need_bytes.into()),
            row("memory", fit.memory_bytes.into()),
            row("headroom", fit.hbm_headroom_bytes.into()),
        ],
    )?;
    writeln!(
        out,
        "  largest context with these sequences {}, most sequences at this context {}",
        grouped(fit.max_ctx),
        grouped(fit.max_sequences)
    )
}

fn kinds(out: &mut impl Write, bundle: &Bundle<'_>) -> io::Result<()> {
    let rows: Vec<[String; 5]> = bundle
        .programs()
        .map(|program| {
            let layers = runs(program.layers().map(|layer| layer.index()));
            let count = if program.role() == ProgramRole::Layer { grouped(program.layer_count()) } else { "-".into() };
            [program.name().to_string(), count, bytes(program.weight_bytes()), bytes(program.state_bytes()), layers]
        })
        .collect();
    writeln!(out, "\n  kinds: one program each, however many layers run it")?;
    table(
        out,
        [
            ("program", Align::Left),
            ("layers", Align::Right),
            ("weights each", Align::Right),
            ("state each", Align::Right),
            ("at", Align::Left),
        ],
        &rows,
    )
}

fn programs(out: &mut impl Write, bundle: &Bundle<'_>) -> io::Result<()> {
    let sections = bundle.programs().flat_map(|program| program.sections());
    let rows: Vec<[String; 13]> = sections.map(|section| row(&section)).collect();
    writeln!(out, "\n  programs: nets and schedules, a line a section (cycles of the unit model)")?;
    let right = |heading| (heading, Align::Right);
    table(
        out,
        [
            ("program", Align::Left),
            right("section"),
            right("groups x rows"),
            right("stages"),
            right("edges"),
            right("places"),
            right("transitions"),
            right("cells"),
            right("buffers"),
            right("interval"),
            right("bound"),
            ("binder", Align::Left),
            right("span"),
        ],
        &rows,
    )
}

fn row(section: &Section<'_>) -> [String; 13] {
    let tight = if section.is_tight() { ", tight" } else { "" };
    [
        section.program().name().to_string(),
        section.index().to_string(),
        format!("{} x {}", section.groups(), section.group_rows()),
        section.stages().count().to_string(),
        section.edges().count().to_string(),
        section.places().to_string(),
        section.transitions().to_string(),
        grouped(section.cells()),
        bytes(section.buffer_bytes()),
        grouped(section.interval_cycles()),
        grouped(section.bound_cycles()),
        format!("{}{tight}", section.binder()),
        grouped(section.span_cycles()),
    ]
}
