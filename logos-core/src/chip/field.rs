//! What facts are about: the fields of a chip file, each with its unit and the figures it takes.

use std::fmt;

use crate::language::MAX_CHIPS;

/// Words of the unit model are numbers below this, so that the checker's products stay inside 64 bits: rule 0 of the certificate.
const WORD: u64 = 1 << 22;

/// What a field's value looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A whole number in the field's unit, between these two, both included.
    Number {
        /// The least.
        least: u64,
        /// The most.
        most: u64,
    },
    /// A name, a date, or a few words.
    Text,
    /// A list of number formats: see [`Precision`](super::Precision).
    List,
}

impl Form {
    /// A number that a division or a product of the unit model takes.
    const WORD: Form = Form::Number { least: 1, most: WORD - 1 };
    /// Chips of a domain: as many as a program may be written for.
    const CHIPS: Form = Form::Number { least: 1, most: MAX_CHIPS as u64 };
    /// Bytes or a rate, 0 where there is none.
    const SIZE: Form = Form::Number { least: 0, most: i64::MAX as u64 };
    /// A peak rate, in units of 10^12 operations.
    const PEAK: Form = Form::Number { least: 0, most: WORD - 1 };
}

/// Whether a chip must have the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The unit model, the mesh or the memories follow from it.
    Always,
    /// It says more of the chip; the fit report and the lowering do without.
    Optional,
}

/// The unit belongs to the field, so that two chips cannot state one field in two units.
macro_rules! fields {
    ($($(#[doc = $doc:literal])* $name:ident = $text:literal, $unit:literal, $form:expr, $need:ident;)*) => {
        /// What a fact is about.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Field { $($(#[doc = $doc])* $name,)* }

        impl Field {
            /// All fields, in order.
            pub const ALL: &'static [Field] = &[$(Field::$name,)*];
            /// The field as printed, and as a chip file names it.
            pub const fn as_str(self) -> &'static str { match self { $(Field::$name => $text,)* } }
            /// The unit of its figure.
            pub const fn unit(self) -> &'static str { match self { $(Field::$name => $unit,)* } }
            /// What its value looks like.
            pub const fn form(self) -> Form { match self { $(Field::$name => $form,)* } }
            /// Whether a chip must have it.
            pub const fn need(self) -> Need { match self { $(Field::$name => Need::$need,)* } }
            /// What it means, as a sentence.
            pub const fn meaning(self) -> &'static str { match self { $(Field::$name => concat!($($doc,)*),)* } }
            /// The field of a name.
            pub fn from_name(name: &str) -> Option<Field> {
                match name { $($text => Some(Field::$name),)* _ => None }
            }
        }
    };
}

fields! {
    /// Generation of the RDU.
    Generation = "generation", "count", Form::WORD, Optional;
    /// Peak dense bf16 rate.
    PeakBf16 = "peak_bf16_tflops", "TFLOPS", Form::WORD, Always;
    /// Peak dense fp8 rate; 0 where the formats end at bf16.
    PeakFp8 = "peak_fp8_tflops", "TFLOPS", Form::PEAK, Optional;
    /// On-chip memory.
    SramBytes = "sram_bytes", "bytes", Form::SIZE, Always;
    /// On-chip memory beside one PCU.
    SramBytesPerPmu = "sram_bytes_per_pmu", "bytes", Form::WORD, Always;
    /// On-chip memory rate.
    SramBandwidth = "sram_bandwidth", "bytes/s", Form::SIZE, Optional;
    /// High-bandwidth memory; 0 where there is none.
    HbmBytes = "hbm_bytes", "bytes", Form::SIZE, Always;
    /// Its rate; a chip with high-bandwidth memory must have it.
    HbmBandwidth = "hbm_bandwidth_bytes_per_s", "bytes/s", Form::SIZE, Optional;
    /// Its kind.
    HbmGeneration = "hbm_generation", "name", Form::Text, Optional;
    /// Least DDR a chip is sold with.
    DdrBytesMin = "ddr_bytes_min", "bytes", Form::SIZE, Optional;
    /// Most DDR a chip is sold with.
    DdrBytesMax = "ddr_bytes_max", "bytes", Form::SIZE, Optional;
    /// DDR that fit is computed against; 0 where there is none.
    DdrBytesSizing = "ddr_bytes_sizing_default", "bytes", Form::SIZE, Always;
    /// DDR's rate; a chip with DDR must have it.
    DdrBandwidth = "ddr_bandwidth", "bytes/s", Form::SIZE, Optional;
    /// DDR's kind.
    DdrGeneration = "ddr_generation", "name", Form::Text, Optional;
    /// Process node.
    NodeNm = "node_nm", "nm", Form::WORD, Optional;
    /// Packaging.
    Packaging = "packaging", "name", Form::Text, Optional;
    /// Dies of a socket.
    Dies = "dies", "count", Form::WORD, Optional;
    /// Pattern compute units.
    PcuCount = "pcu_count", "count", Form::WORD, Always;
    /// Pattern memory units, one beside each compute unit.
    PmuCount = "pmu_count", "count", Form::WORD, Always;
    /// Chips of a node.
    ChipsPerNode = "chips_per_node", "count", Form::CHIPS, Always;
    /// Chips of a rack.
    ChipsPerRack = "chips_per_rack", "count", Form::CHIPS, Optional;
    /// Most chips of a scale-up domain.
    ScaleUpChipsMax = "scale_up_chips_max", "count", Form::CHIPS, Optional;
    /// A chip's rate into the scale-up network, one direction; without it no width above one chip can be had.
    ScaleUpPerDirection = "scale_up_bandwidth_per_direction", "bytes/s", Form::SIZE, Optional;
    /// The part of it that reaches the peers of its own node, one direction.
    ScaleUpIntraNode = "scale_up_intra_node_bandwidth", "bytes/s", Form::SIZE, Optional;
    /// The part of it that leaves the node, one direction; it bounds a width above one node.
    ScaleUpInterNode = "scale_up_inter_node_bandwidth", "bytes/s", Form::SIZE, Optional;
    /// How the scale-up network is wired.
    ScaleUpTopology = "scale_up_topology", "text", Form::Text, Optional;
    /// Number formats with published rates or support.
    Precisions = "precisions", "list", Form::List, Optional;
    /// Cooling.
    Cooling = "cooling", "name", Form::Text, Optional;
    /// Announcement or first availability.
    LaunchDate = "launch_date", "date", Form::Text, Optional;
    /// Mesh columns.
    MeshColumns = "mesh_columns", "count", Form::WORD, Always;
    /// Mesh rows.
    MeshRows = "mesh_rows", "count", Form::WORD, Always;
    /// Rows of a PCU's multiply-accumulate array.
    ArrayRows = "array_rows", "count", Form::WORD, Always;
    /// Columns of a PCU's multiply-accumulate array.
    ArrayColumns = "array_columns", "count", Form::WORD, Always;
    /// f32 lanes of a PCU.
    PcuLanes = "pcu_lanes", "count", Form::WORD, Always;
    /// Elementwise operations chained in one pass.
    Chain = "chain", "operations", Form::WORD, Always;
    /// Pipeline stages of a PCU.
    PcuStages = "pcu_stages", "cycles", Form::WORD, Always;
    /// A level of the tree that adds up the cells of one firing.
    TreeLevel = "tree_level", "cycles", Form::WORD, Always;
    /// Scratchpad bytes a PMU reads or writes a cycle.
    ScratchpadRate = "scratchpad_rate", "bytes/cycle", Form::WORD, Always;
    /// Entering the network.
    Inject = "inject", "cycles", Form::WORD, Always;
    /// A hop of the network.
    Hop = "hop", "cycles", Form::WORD, Always;
    /// HBM's first byte.
    HbmLatency = "hbm_latency", "cycles", Form::WORD, Always;
    /// DDR's first byte.
    DdrLatency = "ddr_latency", "cycles", Form::WORD, Always;
    /// Chip to chip.
    LinkLatency = "link_latency", "cycles", Form::WORD, Always;
    /// Context positions of an attention tile.
    ContextTile = "context_tile", "positions", Form::WORD, Always;
    /// Columns of an activation tile.
    Tile = "tile", "columns", Form::WORD, Always;
    /// PMUs that stage one access of the SRAM tier.
    SramPorts = "sram_ports", "count", Form::WORD, Always;
    /// Mesh rows of a strip of the site snake.
    Strip = "strip", "rows", Form::WORD, Always;
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
