//! `logos.rdu.fit` of a matrix product.

use logos_bundle::table::layout::Part;
use logos_bundle::view::Bundle;

use super::chip::{self, ChipBlock};
use super::frame::Document;
use super::ii::{self, IiReport};
use super::program::{self, CertificateSummary, ProgramSummary};
use super::trace::{From, Row, Rows, derived, modeled};
use crate::chip::{Chip, Field};
use crate::fit::gemm::{Gemm, Tile};
use crate::{At, Code, Refusal};

/// The members of the fit of a product.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GemmFit {
    /// What is computed.
    pub workload: Workload,
    /// The chip.
    pub chip: ChipBlock,
    /// Operands and their bytes.
    pub arithmetic: Arithmetic,
    /// Where they lie.
    pub residency: GemmResidency,
    /// The program.
    pub program: ProgramSummary,
    /// Its certificate.
    pub certificate: CertificateSummary,
    /// What is not said here, and why.
    pub gated: Vec<String>,
    /// Its II view.
    pub ii_report: IiReport,
}

/// A product.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Workload {
    /// Always `gemm`.
    pub kind: &'static str,
    /// Rows of the input and the result.
    pub m: u32,
    /// Columns of the weight and the result.
    pub n: u32,
    /// The contracted axis.
    pub k: u32,
    /// How the weight is stored.
    pub precision: &'static str,
    /// Multiply-accumulates.
    pub macs: u64,
    /// The target's tile.
    pub tile: Tile,
    /// Tiles of the workload.
    pub tiles: Tiles,
    /// The program's text.
    pub source: String,
}

/// Tiles of a product, the last of an axis cut off where it does not fill one.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tiles {
    /// Of the result's rows.
    pub rows_t: u32,
    /// Of the result's columns.
    pub cols_t: u32,
    /// Of the contracted axis.
    pub k_tiles: u32,
}

/// Operands and what a byte of them is worth.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Arithmetic {
    /// Input, weight, result.
    pub operands: Vec<Operand>,
    /// Bytes of all.
    pub bytes: u64,
    /// Multiply-accumulates a byte, each operand moved once.
    pub arithmetic_intensity_macs_per_byte: f64,
}

/// An operand.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Operand {
    /// Its name in the program.
    pub name: &'static str,
    /// `input`, `weight`, `result`.
    pub role: &'static str,
    /// Rows.
    pub rows: u32,
    /// Columns.
    pub cols: u32,
    /// How it is stored.
    pub dtype: &'static str,
    /// Bytes.
    pub bytes: u64,
}

/// Where a product's operands and buffers lie.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GemmResidency {
    /// Bytes of all operands.
    pub working_set_bytes: u64,
    /// On-chip memory of the chip.
    pub sram_bytes: u64,
    /// Whether the operands fit it.
    pub sram_fit: bool,
    /// On-chip memory beside one PCU.
    pub local_mem_bytes_per_pcu: u64,
    /// Whether the operands fit that.
    pub fits_one_pcu: bool,
    /// Bytes of all buffers of the largest section.
    pub buffer_bytes_on_mesh: u64,
    /// Cells of the largest section.
    pub sites_used: u64,
    /// Cells of the mesh.
    pub sites_available: u64,
}

const M: From = From::Request(&["m"]);
const N: From = From::Request(&["n"]);
const K: From = From::Request(&["k"]);
const PRECISION: From = From::Request(&["precision"]);

const TRACE: &[Row] = &[
    derived("/version", &[], "version of the document's schema"),
    derived("/workload/m", &[M], "as asked, or 8 tiles"),
    derived("/workload/n", &[N], "as asked, or 8 tiles"),
    derived("/workload/k", &[K], "as asked, or 4 tiles"),
    derived("/workload/macs", &[From::Operations(&["matmul"]), M, N, K], "m times n times k"),
    modeled("/workload/tile/rows", &[From::Fact(Field::ArrayRows)], "a pass of the array"),
    modeled("/workload/tile/cols", &[From::Fact(Field::Tile)], "columns of an activation tile"),
    modeled("/workload/tile/k", &[From::Fact(Field::Tile)], "columns of an activation tile"),
    modeled("/workload/tiles/rows_t", &[M, From::Fact(Field::ArrayRows)], "m over a tile's rows, rounded up"),
    modeled("/workload/tiles/cols_t", &[N, From::Fact(Field::Tile)], "n over a tile's columns, rounded up"),
    modeled("/workload/tiles/k_tiles", &[K, From::Fact(Field::Tile)], "k over a tile, rounded up"),
    derived("/arithmetic/operands/*/rows", &[From::Operations(&["matmul"]), M, K], "as the program declares it"),
    derived("/arithmetic/operands/*/cols", &[From::Operations(&["matmul"]), N, K], "as the program declares it"),
    derived(
        "/arithmetic/operands/*/bytes",
        &[M, N, K, PRECISION],
        "elements times their storage; q8_0 has 34 bytes for 32, mxfp4 17, f8_e4m3 four more for 128 by 128",
    ),
    derived("/arithmetic/bytes", &[M, N, K, PRECISION], "the sum of the operands'"),
    derived("/arithmetic/arithmetic_intensity_macs_per_byte", &[M, N, K, PRECISION], "macs over bytes"),
    derived("/residency/working_set_bytes", &[M, N, K, PRECISION], "the sum of the operands' bytes"),
    derived(
        "/residency/sram_bytes",
        &[From::Fact(Field::PcuCount), From::Fact(Field::SramBytesPerPmu)],
        "cells times scratchpad",
    ),
    derived("/residency/local_mem_bytes_per_pcu", &[From::Fact(Field::SramBytesPerPmu)], "the fact"),
    modeled(
        "/residency/buffer_bytes_on_mesh",
        &[From::Certificate(Part::Edges)],
        "depths times bytes of a slot, of the largest section",
    ),
    modeled("/residency/sites_used", &[From::Certificate(Part::Stages)], "cells of the largest section"),
    derived("/residency/sites_available", &[From::Fact(Field::PcuCount)], "the fact"),
];

pub(super) const TABLES: &[Rows] = &[
    Rows { under: "", rows: TRACE },
    Rows { under: "/program", rows: program::PROGRAM },
    Rows { under: "/certificate", rows: program::CERTIFICATE },
    Rows { under: "/ii_report", rows: ii::TRACE },
];

/// The fit of a product on a chip.
///
/// # Errors
/// Every size that is not possible; else what does not fit the chip, or does not lower.
pub fn gemm(chip: &Chip, gemm: &Gemm) -> Result<Document<GemmFit>, Vec<Refusal>> {
    let certified = gemm.certify(chip)?;
    let impossible = |what: String| vec![Refusal::new(Code::Bundle, At::Request, what)];
    let bundle = Bundle::read(&certified.words).map_err(|error| impossible(error.to_string()))?;
    let program = bundle.programs().next().ok_or_else(|| impossible("a bundle without a program".to_owned()))?;
    let (Some(macs), Some((x, w, y))) = (gemm.macs(), gemm.bytes()) else {
        return Err(impossible("sizes that leave 64 bits".to_owned()));
    };
    let unit = chip.unit();
    let tile = Tile::of(chip);
    let bytes = x.saturating_add(w).saturating_add(y);
    let (activations, weight) = (gemm.activations().as_str(), gemm.precision.as_str());
    let operand = |name, role, rows, cols, dtype, bytes| Operand { name, role, rows, cols, dtype, bytes };
    let largest = |of: &dyn Fn(&logos_bundle::view::Section<'_>) -> u64| {
        program.sections().map(|section| of(&section)).max().unwrap_or(0)
    };
    let body = GemmFit {
        workload: Workload {
            kind: "gemm",
            m: gemm.m,
            n: gemm.n,
            k: gemm.k,
            precision: weight,
            macs,
            tile,
            tiles: Tiles {
                rows_t: gemm.m.div_ceil(tile.rows),
                cols_t: gemm.n.div_ceil(tile.cols),
                k_tiles: gemm.k.div_ceil(tile.k),
            },
            source: program.text().to_string(),
        },
        chip: chip::block(chip),
        arithmetic: Arithmetic {
            operands: vec![
                operand("x", "input", gemm.m, gemm.k, activations, x),
                operand("W", "weight", gemm.k, gemm.n, weight, w),
                operand("y", "result", gemm.m, gemm.n, activations, y),
            ],
            bytes,
            arithmetic_intensity_macs_per_byte: macs as f64 / bytes as f64,
        },
        residency: GemmResidency {
            working_set_bytes: bytes,
            sram_bytes: unit.sram_bytes,
            sram_fit: bytes <= unit.sram_bytes,
            local_mem_bytes_per_pcu: u64::from(unit.scratchpad),
            fits_one_pcu: bytes <= u64::from(unit.scratchpad),
            buffer_bytes_on_mesh: largest(&|section| section.buffer_bytes()),
            sites_used: largest(&|section| section.cells()),
            sites_available: u64::from(unit.cells),
        },
        program: program::summary(&program),
        certificate: program::certificate(&bundle, &certified.words),
        gated: gated(chip, gemm),
        ii_report: ii::report(chip, &program, &certified.spatial),
    };
    Ok(Document::new("logos.rdu.fit", body, TABLES, &[]))
}

/// What a reader might look for and does not find.
fn gated(chip: &Chip, gemm: &Gemm) -> Vec<String> {
    let mut gated = vec!["a time or a rate: nothing ran on the chip, and no clock is published".to_owned()];
    if chip::witnesses(chip, gemm.precision) != Some(true) {
        gated.push(format!(
            "a witness that {} multiplies {}: its vendor names no such format",
            chip.name, gemm.precision
        ));
    }
    gated
}
