//! The unit model: what one chip does in a cycle. A cycle is the unit model's own; no clock is published, none is
//! assumed, and no figure here is a time.

use super::field::Field;
use super::figures::Figures;

/// Cycles over which memory and link rates are stated, so that a rate is a whole number of bytes.
pub const RATE_CYCLES: u64 = 65_536;

/// The chip as the lowering and the checker see it: one word of the bundle's chip rows each.
///
/// Every field is resolved from a [`Fact`](super::Fact) of the chip's file; the label is that fact's. The labels below are those of the chips
/// that come with the compiler.
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
    /// The unit model of a chip's figures; none where one that it needs is missing, or a rate leaves its word.
    pub(super) fn resolve(figures: &Figures) -> Option<UnitModel> {
        let word = |field| figures.word(field);
        let (cells, scratchpad) = (word(Field::PcuCount)?, word(Field::SramBytesPerPmu)?);
        Some(UnitModel {
            cells,
            columns: word(Field::MeshColumns)?,
            rows: word(Field::MeshRows)?,
            array_rows: word(Field::ArrayRows)?,
            array_columns: word(Field::ArrayColumns)?,
            lanes: word(Field::PcuLanes)?,
            chain: word(Field::Chain)?,
            depth: word(Field::PcuStages)?,
            tree: word(Field::TreeLevel)?,
            scratchpad,
            scratchpad_rate: word(Field::ScratchpadRate)?,
            inject: word(Field::Inject)?,
            hop: word(Field::Hop)?,
            hbm_rate: rate_of(figures, Field::HbmBandwidth)?,
            ddr_rate: rate_of(figures, Field::DdrBandwidth)?,
            link_rate: rate_of(figures, Field::ScaleUpPerDirection)?,
            hbm_latency: word(Field::HbmLatency)?,
            ddr_latency: word(Field::DdrLatency)?,
            link_latency: word(Field::LinkLatency)?,
            context_tile: word(Field::ContextTile)?,
            tile: word(Field::Tile)?,
            sram_ports: word(Field::SramPorts)?,
            strip: word(Field::Strip)?,
            hbm_bytes: figures.get(Field::HbmBytes)?,
            ddr_bytes: figures.get(Field::DdrBytesSizing)?,
            sram_bytes: u64::from(cells) * u64::from(scratchpad),
        })
    }
}

/// The rate of `field` as bytes per [`RATE_CYCLES`] cycles, 0 where there is none, no number where it leaves its word.
///
/// Bytes a MAC is a ratio of published figures, MACs a cycle is the unit model's; their product needs no clock. Rounded
/// down, so that a modeled rate is never above the published one.
pub(super) fn rate_of(figures: &Figures, field: Field) -> Option<u32> {
    let Some(rate @ 1..) = figures.get(field) else { return Some(0) };
    let word = |field| figures.word(field).map(u128::from);
    let macs_a_cycle = word(Field::PcuCount)? * word(Field::ArrayRows)? * word(Field::ArrayColumns)?;
    // A multiply-accumulate is two of the operations that a peak counts.
    let macs_a_second = word(Field::PeakBf16)? * 1_000_000_000_000 / 2;
    let bytes = u128::from(RATE_CYCLES).checked_mul(u128::from(rate))?.checked_mul(macs_a_cycle)? / macs_a_second;
    // A rate of 0 would say that there is no such memory.
    u32::try_from(bytes).ok().filter(|&bytes| bytes > 0)
}
