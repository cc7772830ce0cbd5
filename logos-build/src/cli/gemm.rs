//! `cargo logos gemm`: the fit of a matrix product on a chip.

use std::fmt::Display;
use std::io::Write;

use clap::ArgMatches;
use logos_core::fit::Gemm;
use logos_core::fit::report::{self, Document, GemmFit};
use logos_core::language::Storage;

use super::report::{align, print, row, table};
use super::request::ChipArgument;
use super::{Failure, document};
use crate::describe::grouped;

/// `cargo logos gemm`.
pub(super) fn gemm(matches: &ArgMatches, out: &mut dyn Write) -> Result<(), Failure> {
    let argument = ChipArgument::read(matches)?;
    let chip = &*argument.request().chip().map_err(Failure::Refused)?;
    let size = |name, default| matches.get_one::<u32>(name).copied().unwrap_or(default);
    let tiles = Gemm::of_tiles(chip);
    let precision = matches.get_one::<String>("precision").and_then(|name| precision(name));
    let product = Gemm {
        m: size("m", tiles.m),
        n: size("n", tiles.n),
        k: size("k", tiles.k),
        precision: precision.unwrap_or(tiles.precision),
    };
    let document = report::gemm(chip, &product).map_err(Failure::Refused)?;
    if matches.get_flag("json") || matches.contains_id("output") {
        return document::deliver(matches, out, &document.to_text());
    }
    people(out, &document)
}

/// The precisions, as they are asked for: formats of chips by the storage that programs keep them in, and storages by their own names.
const ALIASES: [(&str, Storage); 2] = [("int8", Storage::Q8_0), ("fp8", Storage::F8E4M3)];

/// All names of a precision, the first that of the default.
pub(super) fn precisions() -> Vec<&'static str> {
    let aliases = ALIASES.into_iter().map(|(name, _)| name);
    aliases.chain(Gemm::PRECISIONS.iter().map(|storage| storage.as_str())).collect()
}

fn precision(name: &str) -> Option<Storage> {
    let alias = ALIASES.into_iter().find(|(alias, _)| *alias == name).map(|(_, storage)| storage);
    alias.or_else(|| Gemm::PRECISIONS.iter().copied().find(|storage| storage.as_str() == name))
}

fn people(out: &mut dyn Write, document: &Document<GemmFit>) -> Result<(), Failure> {
    let GemmFit { workload, chip, arithmetic, residency, certificate, gated, ii_report, .. } = &document.body;
    writeln!(
        out,
        "{} x {} x {} {} on one {}: {} multiply-accumulates\n",
        workload.m,
        workload.n,
        workload.k,
        workload.precision,
        chip.chip,
        grouped(workload.macs)
    )?;
    let mut operands = table(["operand", "", "rows", "columns", "stored", "bytes"]);
    for operand in &arithmetic.operands {
        let (rows, cols, bytes) = (operand.rows, operand.cols, grouped(operand.bytes));
        row(&mut operands, [&operand.name as &dyn Display, &operand.role, &rows, &cols, &operand.dtype, &bytes]);
    }
    align(&mut operands, &[2, 3, 5]);
    print(out, &operands)?;
    let yes = |fits| if fits { "fits" } else { "does not fit" };
    writeln!(
        out,
        "\n{} bytes; {} the {} bytes of SRAM, {} the {} beside one PCU",
        grouped(residency.working_set_bytes),
        yes(residency.sram_fit),
        grouped(residency.sram_bytes),
        yes(residency.fits_one_pcu),
        grouped(residency.local_mem_bytes_per_pcu)
    )?;
    writeln!(
        out,
        "{:.1} multiply-accumulates a byte; buffers of {} bytes; {} of {} sites\n",
        arithmetic.arithmetic_intensity_macs_per_byte,
        grouped(residency.buffer_bytes_on_mesh),
        residency.sites_used,
        residency.sites_available
    )?;
    let mut stages = table(["stage", "cells", "firings", "resource", "recurrence", "memory", "II", "to result"]);
    for stage in &ii_report.stages {
        row(
            &mut stages,
            [
                &stage.name as &dyn Display,
                &stage.cells,
                &stage.firings,
                &grouped(stage.resource_ii),
                &grouped(stage.recurrence_ii),
                &grouped(stage.memory_ii),
                &grouped(stage.ii),
                &grouped(stage.result_cycles),
            ],
        );
    }
    align(&mut stages, &[1, 2, 3, 4, 5, 6, 7]);
    print(out, &stages)?;
    writeln!(out, "\npipeline II {}, in {}", grouped(ii_report.pipeline_ii), ii_report.cycles_are)?;
    let holds = if certificate.rechecked { "the certificate holds" } else { "THE CERTIFICATE DOES NOT HOLD" };
    writeln!(out, "{holds}; digest {}", certificate.digest_hex)?;
    gated.iter().try_for_each(|what| writeln!(out, "not said: {what}"))?;
    Ok(())
}
