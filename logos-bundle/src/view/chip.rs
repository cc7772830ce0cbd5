//! [`Chip`]: the facts and the unit model a deployment was lowered for.

use core::fmt;

use super::source::Row;
use super::{Bundle, Text};
use crate::table::layout::chip as field;

/// The chip. Capacities are published; rates in cycles are of the unit model ("modeled", never a time).
#[derive(Clone, Copy)]
pub struct Chip<'a> {
    pub(super) bundle: Bundle<'a>,
    pub(super) row: Row<'a>,
}

impl fmt::Debug for Chip<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Chip({self})")
    }
}

macro_rules! facts {
    ($($(#[$doc:meta])* $name:ident: $field:ident,)*) => {
        $($(#[$doc])*
        #[must_use]
        pub fn $name(&self) -> u32 {
            self.row.get(field::$field)
        })*
    };
}

impl<'a> Chip<'a> {
    /// Part name, e.g. `SN50`.
    #[must_use]
    pub fn name(&self) -> Text<'a> {
        self.bundle.text(self.row, field::NAME)
    }

    /// HBM, bytes; 0 where the chip has none.
    #[must_use]
    pub fn hbm_bytes(&self) -> u64 {
        self.row.wide(field::HBM_BYTES)
    }

    /// DDR, bytes.
    #[must_use]
    pub fn ddr_bytes(&self) -> u64 {
        self.row.wide(field::DDR_BYTES)
    }

    /// Scratchpad of the whole chip, bytes.
    #[must_use]
    pub fn scratchpad_bytes(&self) -> u64 {
        u64::from(self.cells()) * u64::from(self.cell_scratchpad_bytes())
    }

    facts! {
        /// Cells: a PCU with its PMU.
        cells: CELLS,
        /// Mesh columns.
        columns: COLUMNS,
        /// Mesh rows.
        rows: ROWS,
        /// Rows of a PCU's multiply-accumulate array.
        array_rows: ARRAY_ROWS,
        /// Columns of a PCU's multiply-accumulate array.
        array_columns: ARRAY_COLUMNS,
        /// f32 lanes of a PCU.
        lanes: LANES,
        /// Chained elementwise operations a pass.
        chain: CHAIN,
        /// Pipeline depth, cycles.
        depth_cycles: DEPTH,
        /// Cycles a level of the tree that adds up the cells of one firing.
        tree_cycles: TREE,
        /// Scratchpad bytes a cell.
        cell_scratchpad_bytes: SCRATCHPAD,
        /// Scratchpad bytes a cell reads or writes a cycle.
        scratchpad_bytes_per_cycle: SCRATCHPAD_RATE,
        /// Cycles to inject into the network.
        inject_cycles: INJECT,
        /// Cycles a hop.
        hop_cycles: HOP,
        /// HBM bytes per 65,536 cycles; 0 where the chip has none.
        hbm_bytes_per_65536_cycles: HBM_RATE,
        /// DDR bytes per 65,536 cycles.
        ddr_bytes_per_65536_cycles: DDR_RATE,
        /// Chip-to-chip bytes per 65,536 cycles, one direction.
        link_bytes_per_65536_cycles: LINK_RATE,
        /// Cycles to HBM's first byte.
        hbm_latency_cycles: HBM_LATENCY,
        /// Cycles to DDR's first byte.
        ddr_latency_cycles: DDR_LATENCY,
        /// Cycles from chip to chip.
        link_latency_cycles: LINK_LATENCY,
        /// Context positions of an attention tile.
        context_tile: CONTEXT_TILE,
        /// Columns of an activation tile (a value's own tile may differ).
        tile: TILE,
        /// Cells whose scratchpads stage one SRAM-tier access.
        sram_ports: SRAM_PORTS,
        /// Mesh rows of a strip of the site snake.
        strip_rows: STRIP,
    }
}

impl fmt::Display for Chip<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {} cells ({} x {}), {} B scratchpad, {} B HBM, {} B DDR",
            self.name(),
            self.cells(),
            self.columns(),
            self.rows(),
            self.scratchpad_bytes(),
            self.hbm_bytes(),
            self.ddr_bytes()
        )
    }
}
