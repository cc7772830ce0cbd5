//! A chip fact: a figure, its unit, where it comes from, and what we make of it.

use std::fmt;

/// Where a figure comes from. Nothing of ours ran on an RDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Provenance {
    /// Printed in a source.
    Published,
    /// Follows from published figures by arithmetic that the note states.
    Derived,
    /// Chosen by us, because no vendor publishes it; the note gives the reason.
    Modeled,
    /// Observed by running something.
    Measured,
}

impl Provenance {
    /// The label as printed.
    pub const fn as_str(self) -> &'static str {
        match self {
            Provenance::Published => "published",
            Provenance::Derived => "derived",
            Provenance::Modeled => "modeled",
            Provenance::Measured => "measured",
        }
    }
}

impl fmt::Display for Provenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Something a fact cites.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// Short key, `HC26`.
    pub key: &'static str,
    /// Title.
    pub title: &'static str,
    /// Who published it.
    pub publisher: &'static str,
    /// When, as precisely as known.
    pub date: &'static str,
    /// Where it is.
    pub url: &'static str,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}, {}, {}", self.title, self.publisher, self.date, self.url)
    }
}

/// The figure of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// A whole number in the field's unit.
    Number(u64),
    /// A name or a list of names.
    Text(&'static str),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(n) => n.fmt(f),
            Value::Text(t) => f.write_str(t),
        }
    }
}

/// The unit belongs to the field, so that two chips cannot state one field in two units.
macro_rules! fields {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $unit:literal;)*) => {
        /// What a fact is about.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Field { $($(#[$doc])* $name,)* }

        impl Field {
            /// All fields, in order.
            pub const ALL: &'static [Field] = &[$(Field::$name,)*];
            /// The field as printed.
            pub const fn as_str(self) -> &'static str { match self { $(Field::$name => $text,)* } }
            /// The unit of its figure.
            pub const fn unit(self) -> &'static str { match self { $(Field::$name => $unit,)* } }
        }
    };
}

fields! {
    /// Generation of the RDU.
    Generation = "generation", "count";
    /// Peak dense bf16 rate.
    PeakBf16 = "peak_bf16_tflops", "TFLOPS";
    /// Peak dense fp8 rate; 0 where the formats end at bf16.
    PeakFp8 = "peak_fp8_tflops", "TFLOPS";
    /// On-chip memory.
    SramBytes = "sram_bytes", "bytes";
    /// On-chip memory beside one PCU.
    SramBytesPerPmu = "sram_bytes_per_pmu", "bytes";
    /// On-chip memory rate.
    SramBandwidth = "sram_bandwidth", "bytes/s";
    /// High-bandwidth memory; 0 where there is none.
    HbmBytes = "hbm_bytes", "bytes";
    /// Its rate.
    HbmBandwidth = "hbm_bandwidth_bytes_per_s", "bytes/s";
    /// Its kind.
    HbmGeneration = "hbm_generation", "name";
    /// Least DDR a chip is sold with.
    DdrBytesMin = "ddr_bytes_min", "bytes";
    /// Most DDR a chip is sold with.
    DdrBytesMax = "ddr_bytes_max", "bytes";
    /// DDR that fit is computed against.
    DdrBytesSizing = "ddr_bytes_sizing_default", "bytes";
    /// DDR's rate.
    DdrBandwidth = "ddr_bandwidth", "bytes/s";
    /// DDR's kind.
    DdrGeneration = "ddr_generation", "name";
    /// Process node.
    NodeNm = "node_nm", "nm";
    /// Packaging.
    Packaging = "packaging", "name";
    /// Dies of a socket.
    Dies = "dies", "count";
    /// Pattern compute units.
    PcuCount = "pcu_count", "count";
    /// Pattern memory units.
    PmuCount = "pmu_count", "count";
    /// Chips of a node.
    ChipsPerNode = "chips_per_node", "count";
    /// Chips of a rack.
    ChipsPerRack = "chips_per_rack", "count";
    /// Most chips of a scale-up domain.
    ScaleUpChipsMax = "scale_up_chips_max", "count";
    /// A chip's rate into the scale-up network, one direction.
    ScaleUpPerDirection = "scale_up_bandwidth_per_direction", "bytes/s";
    /// The part of it that reaches the peers of its own node, one direction.
    ScaleUpIntraNode = "scale_up_intra_node_bandwidth", "bytes/s";
    /// The part of it that leaves the node, one direction.
    ScaleUpInterNode = "scale_up_inter_node_bandwidth", "bytes/s";
    /// Number formats with published rates or support.
    Precisions = "precisions", "list";
    /// Cooling.
    Cooling = "cooling", "name";
    /// Announcement or first availability.
    LaunchDate = "launch_date", "date";
    /// Mesh columns.
    MeshColumns = "mesh_columns", "count";
    /// Mesh rows.
    MeshRows = "mesh_rows", "count";
    /// Rows of a PCU's multiply-accumulate array.
    ArrayRows = "array_rows", "count";
    /// Columns of a PCU's multiply-accumulate array.
    ArrayColumns = "array_columns", "count";
    /// f32 lanes of a PCU.
    PcuLanes = "pcu_lanes", "count";
    /// Elementwise operations chained in one pass.
    Chain = "chain", "operations";
    /// Pipeline stages of a PCU.
    PcuStages = "pcu_stages", "cycles";
    /// A level of the tree that adds up the cells of one firing.
    TreeLevel = "tree_level", "cycles";
    /// Scratchpad bytes a PMU reads or writes a cycle.
    ScratchpadRate = "scratchpad_rate", "bytes/cycle";
    /// Entering the network.
    Inject = "inject", "cycles";
    /// A hop of the network.
    Hop = "hop", "cycles";
    /// HBM's first byte.
    HbmLatency = "hbm_latency", "cycles";
    /// DDR's first byte.
    DdrLatency = "ddr_latency", "cycles";
    /// Chip to chip.
    LinkLatency = "link_latency", "cycles";
    /// Context positions of an attention tile.
    ContextTile = "context_tile", "positions";
    /// Columns of an activation tile.
    Tile = "tile", "columns";
    /// PMUs that stage one access of the SRAM tier.
    SramPorts = "sram_ports", "count";
    /// Mesh rows of a strip of the site snake.
    Strip = "strip", "rows";
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fact {
    /// What it is about.
    pub field: Field,
    /// The figure, in [`Fact::unit`].
    pub value: Value,
    /// Where it comes from.
    pub provenance: Provenance,
    /// What it rests on; never empty.
    pub cite: &'static [Source],
    /// How it is read, derived or chosen. Never empty for a derived or modeled figure.
    pub note: &'static str,
}

impl Fact {
    /// The unit of the figure.
    pub const fn unit(&self) -> &'static str {
        self.field.unit()
    }

    /// The figure, where it is a number.
    pub const fn number(&self) -> Option<u64> {
        match self.value {
            Value::Number(n) => Some(n),
            Value::Text(_) => None,
        }
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} {} ({})", self.field, self.value, self.unit(), self.provenance)
    }
}

/// Shorthand for the tables: a number.
pub(super) const fn number(
    provenance: Provenance,
    field: Field,
    value: u64,
    cite: &'static [Source],
    note: &'static str,
) -> Fact {
    Fact { field, value: Value::Number(value), provenance, cite, note }
}

/// Shorthand for the tables: a name.
pub(super) const fn text(
    provenance: Provenance,
    field: Field,
    value: &'static str,
    cite: &'static [Source],
    note: &'static str,
) -> Fact {
    Fact { field, value: Value::Text(value), provenance, cite, note }
}

/// The number of `field` in `own`, else in `shared`.
pub(super) const fn find(own: &[Fact], shared: &[Fact], field: Field) -> Option<u64> {
    match find_in(own, field) {
        Some(n) => Some(n),
        None => find_in(shared, field),
    }
}

const fn find_in(facts: &[Fact], field: Field) -> Option<u64> {
    let mut i = 0;
    while i < facts.len() {
        if facts[i].field as u32 == field as u32 {
            return facts[i].number();
        }
        i += 1;
    }
    None
}
