//! A compiled deployment to the bundle's words.
//!
//! Input: programs with their certified lowerings, facts of fit, the chip. Output: the word table of
//! `logos_bundle::table::layout`, the same for the same request on any machine. Decides nothing.

mod manifest;
mod net;
mod program;
mod table;

use logos_bundle::table::layout::{Part, ROW, chip as chip_row, deployment as deployment_row};

use crate::chip::Chip;
use crate::fit::FitFacts;
use crate::kinds::KindProgram;
use crate::refusal::Refusal;
use crate::request::Form;
use crate::spatial::SpatialProgram;
pub(crate) use program::{recipe_row, statement_row};
pub(crate) use table::Row;
use table::{Table, put_pair, put_wide};

/// A program with its lowering.
#[derive(Clone, Copy, Debug)]
pub struct Lowering<'a> {
    /// The program.
    pub kind: &'a KindProgram,
    /// Its lowering.
    pub spatial: &'a SpatialProgram,
}

/// What a bundle is written from.
#[derive(Clone, Copy)]
pub struct Contents<'a> {
    /// The model's name.
    pub model: &'a str,
    /// The chip.
    pub chip: &'a Chip,
    /// Form and sizes.
    pub form: Form,
    /// Chips.
    pub tp: u32,
    /// Layers of the model.
    pub depth: u32,
    /// Facts of fit.
    pub fit: &'a FitFacts,
    /// The programs, in order.
    pub programs: &'a [Lowering<'a>],
    /// Identity of a layer's cut.
    pub identity: &'a dyn Fn(u32) -> [u8; 32],
}

/// The words of a bundle.
///
/// # Errors
/// A refusal where something of the deployment has no place in a bundle.
pub fn bundle(contents: &Contents<'_>) -> Result<Vec<u32>, Refusal> {
    let mut table = Table::new();
    write_deployment(&mut table, contents);
    write_chip(&mut table, contents.chip, contents.tp);
    for part in contents.programs {
        program::write(&mut table, contents, part)?;
    }
    manifest::write_layers(&mut table, contents);
    Ok(table.finish())
}

fn write_deployment(table: &mut Table, contents: &Contents<'_>) {
    let mut row = [0; 2 * ROW];
    put_pair(&mut row, deployment_row::MODEL, table.string(contents.model));
    row[deployment_row::FORM] = match contents.form {
        Form::Forward { .. } => 0,
        Form::Decode { .. } => 1,
        Form::Prefill { .. } => 2,
    };
    row[deployment_row::CHIPS] = contents.tp;
    row[deployment_row::SEQS] = contents.form.sequences();
    row[deployment_row::TOKENS] = contents.form.tokens();
    row[deployment_row::CTX] = contents.form.context().unwrap_or(0);
    row[deployment_row::LAYERS] = contents.depth;
    put_wide(&mut row, deployment_row::WEIGHT_BYTES, contents.fit.weight_bytes);
    put_wide(&mut row, deployment_row::STATE_BYTES, contents.fit.state_bytes);
    put_wide(&mut row, deployment_row::KV_BYTES, contents.fit.kv_bytes);
    row[deployment_row::MAX_CTX] = contents.fit.max_ctx;
    row[deployment_row::MAX_SEQS] = contents.fit.max_seqs;
    put_wide(&mut row, deployment_row::DDR_WEIGHT_BYTES, contents.fit.ddr_weight_bytes);
    put_wide(&mut row, deployment_row::SRAM_STATE_BYTES, contents.fit.sram_state_bytes);
    for row in row.as_chunks().0 {
        table.push(Part::Deployment, *row);
    }
}

fn write_chip(table: &mut Table, chip: &Chip, tp: u32) {
    let mut words = chip_words(chip, tp);
    put_pair(&mut words, chip_row::NAME, table.string(&chip.name));
    let rows = words.as_chunks().0;
    table.push(Part::Chip, rows[0]);
    table.push(Part::Chip, rows[1]);
}

/// The words of a chip's two rows at a width, but for its name.
pub(crate) fn chip_words(chip: &Chip, tp: u32) -> [u32; 2 * ROW] {
    let unit = chip.unit_at(tp);
    let mut words = [0; 2 * ROW];
    for (word, value) in [
        (chip_row::CELLS, unit.cells),
        (chip_row::COLUMNS, unit.columns),
        (chip_row::ROWS, unit.rows),
        (chip_row::ARRAY_ROWS, unit.array_rows),
        (chip_row::ARRAY_COLUMNS, unit.array_columns),
        (chip_row::LANES, unit.lanes),
        (chip_row::CHAIN, unit.chain),
        (chip_row::DEPTH, unit.depth),
        (chip_row::TREE, unit.tree),
        (chip_row::SCRATCHPAD, unit.scratchpad),
        (chip_row::SCRATCHPAD_RATE, unit.scratchpad_rate),
        (chip_row::INJECT, unit.inject),
        (chip_row::HOP, unit.hop),
        (chip_row::HBM_RATE, unit.hbm_rate),
        (chip_row::DDR_RATE, unit.ddr_rate),
        (chip_row::LINK_RATE, unit.link_rate),
        (chip_row::HBM_LATENCY, unit.hbm_latency),
        (chip_row::DDR_LATENCY, unit.ddr_latency),
        (chip_row::LINK_LATENCY, unit.link_latency),
        (chip_row::CONTEXT_TILE, unit.context_tile),
        (chip_row::TILE, unit.tile),
        (chip_row::SRAM_PORTS, unit.sram_ports),
        (chip_row::STRIP, unit.strip),
    ] {
        words[word] = value;
    }
    put_wide(&mut words, chip_row::HBM_BYTES, unit.hbm_bytes);
    put_wide(&mut words, chip_row::DDR_BYTES, unit.ddr_bytes);
    words
}
