//! The unit model: what one chip does in a cycle. A cycle is the unit model's own; no clock is published, none is
//! assumed, and no figure here is a time.

use super::fact::{Fact, Field, find};
use super::plasticine;

/// Cycles over which memory and link rates are stated, so that a rate is a whole number of bytes.
pub const RATE_CYCLES: u64 = 65_536;

/// The chip as the lowering and the checker see it: one word of the bundle's chip rows each.
///
/// Every field is resolved from a [`Fact`] while the compiler itself is compiled; the label is that fact's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitModel {
    /// Cells: a PCU with its PMU. Published (the PCU count).
    pub cells: u32,
    /// Mesh columns. Modeled: a grid of the published count, no floor plan is published.
    pub columns: u32,
    /// Mesh rows. Modeled, likewise.
    pub rows: u32,
    /// Rows of a PCU's multiply-accumulate array. Modeled.
    pub array_rows: u32,
    /// Columns of a PCU's multiply-accumulate array. Modeled: two bf16 a lane.
    pub array_columns: u32,
    /// f32 lanes of a PCU. Published for Plasticine.
    pub lanes: u32,
    /// Chained elementwise operations a pass. Modeled: one a pipeline stage.
    pub chain: u32,
    /// Pipeline depth, cycles. Published for Plasticine.
    pub depth: u32,
    /// Cycles a level of the tree that adds up the cells of one firing. Modeled.
    pub tree: u32,
    /// Scratchpad bytes a cell. Derived: SRAM over PMUs.
    pub scratchpad: u32,
    /// Scratchpad bytes a cell reads, and writes, a cycle. Modeled.
    pub scratchpad_rate: u32,
    /// Cycles to enter the network. Modeled.
    pub inject: u32,
    /// Cycles a hop. Modeled.
    pub hop: u32,
    /// HBM bytes per [`RATE_CYCLES`] cycles; 0 where the chip has none. Modeled: the published ratio of bytes to MACs.
    pub hbm_rate: u32,
    /// DDR bytes per [`RATE_CYCLES`] cycles. Modeled, likewise.
    pub ddr_rate: u32,
    /// Chip-to-chip bytes per [`RATE_CYCLES`] cycles, one direction; 0 where no rate is known. Modeled, likewise.
    pub link_rate: u32,
    /// Cycles to HBM's first byte. Modeled.
    pub hbm_latency: u32,
    /// Cycles to DDR's first byte. Modeled.
    pub ddr_latency: u32,
    /// Cycles from chip to chip. Modeled.
    pub link_latency: u32,
    /// Context positions of an attention tile. Modeled.
    pub context_tile: u32,
    /// Columns of an activation tile. Modeled.
    pub tile: u32,
    /// Cells whose scratchpads stage one SRAM-tier access. Modeled.
    pub sram_ports: u32,
    /// Mesh rows of a strip of the site snake. Modeled.
    pub strip: u32,
    /// HBM bytes; 0 where the chip has none. Published.
    pub hbm_bytes: u64,
    /// DDR bytes that fit is computed against. Published or derived, see [`Field::DdrBytesSizing`].
    pub ddr_bytes: u64,
    /// SRAM bytes: cells times scratchpad. Derived.
    pub sram_bytes: u64,
}

impl UnitModel {
    /// The unit model of a chip's own facts. Runs in a constant only: a fact that is missing or does not fit its word
    /// is an error where the chip's table is compiled, never one at a user's.
    pub(super) const fn resolve(own: &[Fact]) -> UnitModel {
        let cells = need(own, Field::PcuCount);
        let scratchpad = need(own, Field::SramBytesPerPmu);
        UnitModel {
            cells,
            columns: need(own, Field::MeshColumns),
            rows: need(own, Field::MeshRows),
            array_rows: need(own, Field::ArrayRows),
            array_columns: need(own, Field::ArrayColumns),
            lanes: need(own, Field::PcuLanes),
            chain: need(own, Field::Chain),
            depth: need(own, Field::PcuStages),
            tree: need(own, Field::TreeLevel),
            scratchpad,
            scratchpad_rate: need(own, Field::ScratchpadRate),
            inject: need(own, Field::Inject),
            hop: need(own, Field::Hop),
            hbm_rate: rate_of(own, Field::HbmBandwidth),
            ddr_rate: rate_of(own, Field::DdrBandwidth),
            link_rate: rate_of(own, Field::ScaleUpPerDirection),
            hbm_latency: need(own, Field::HbmLatency),
            ddr_latency: need(own, Field::DdrLatency),
            link_latency: need(own, Field::LinkLatency),
            context_tile: need(own, Field::ContextTile),
            tile: need(own, Field::Tile),
            sram_ports: need(own, Field::SramPorts),
            strip: need(own, Field::Strip),
            hbm_bytes: or_zero(own, Field::HbmBytes),
            ddr_bytes: or_zero(own, Field::DdrBytesSizing),
            sram_bytes: cells as u64 * scratchpad as u64,
        }
    }
}

/// The rate of `field` as bytes per [`RATE_CYCLES`] cycles, 0 where there is none.
///
/// Bytes a MAC is a ratio of published figures, MACs a cycle is the unit model's; their product needs no clock. Rounded
/// down, so that a modeled rate is never above the published one.
pub(super) const fn rate_of(own: &[Fact], field: Field) -> u32 {
    let macs_a_cycle = need(own, Field::PcuCount) as u128
        * need(own, Field::ArrayRows) as u128
        * need(own, Field::ArrayColumns) as u128;
    // A multiply-accumulate is two of the operations that a peak counts.
    let macs_a_second = need(own, Field::PeakBf16) as u128 * 1_000_000_000_000 / 2;
    let rate = RATE_CYCLES as u128 * or_zero(own, field) as u128 * macs_a_cycle / macs_a_second;
    assert!(rate <= u32::MAX as u128, "a rate leaves its word");
    rate as u32
}

const fn need(own: &[Fact], field: Field) -> u32 {
    match find(own, plasticine::FACTS, field) {
        Some(n) if n > 0 && n <= u32::MAX as u64 => n as u32,
        Some(_) => panic!("a figure of the chip is 0 or leaves its word"),
        None => panic!("a chip lacks a figure that the unit model needs"),
    }
}

const fn or_zero(own: &[Fact], field: Field) -> u64 {
    match find(own, plasticine::FACTS, field) {
        Some(n) => n,
        None => 0,
    }
}
