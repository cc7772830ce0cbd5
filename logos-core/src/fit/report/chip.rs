//! The chip of a document: its facts, each with its label and the sources it cites.

use std::collections::BTreeMap;

use super::frame::{Cited, Label, number};
use crate::chip::{Chip, Field};
use crate::language::ast::Storage;

/// A chip.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChipBlock {
    /// The part, in words.
    pub part: String,
    /// The name it is asked for by.
    pub chip: String,
    /// The target of lowering.
    pub target: String,
    /// Peak dense bf16 rate, TFLOPS: the vendor's, of the chip, not of any program here.
    pub peak_bf16_tflops: Option<Cited<u64>>,
    /// Peak dense fp8 rate, TFLOPS, likewise; 0 where the formats end at bf16.
    pub peak_fp8_tflops: Option<Cited<u64>>,
    /// On-chip memory.
    pub sram_bytes: Option<Cited<u64>>,
    /// High-bandwidth memory; 0 where there is none.
    pub hbm_bytes: Option<Cited<u64>>,
    /// Most DDR it is sold with.
    pub ddr_bytes_max: Option<Cited<u64>>,
    /// DDR that fit is computed against.
    pub ddr_bytes: Option<Cited<u64>>,
    /// Process node.
    pub node_nm: Option<Cited<u64>>,
    /// Dies of a socket.
    pub dies: Option<Cited<u64>>,
    /// Chips of a node.
    pub chips_per_node: Option<Cited<u64>>,
    /// Chips of a rack.
    pub chips_per_rack: Option<Cited<u64>>,
    /// The widest tensor-parallel width that is taken where none is asked for: the rack, else the node.
    pub tensor_parallel_width: Option<Cited<u64>>,
    /// The network that joins chips to one machine.
    pub scale_up: ScaleUp,
    /// Pattern compute units.
    pub pcu_count: Option<Cited<u64>>,
    /// Pattern memory units.
    pub pmu_count: Option<Cited<u64>>,
    /// On-chip memory beside one PCU.
    pub local_mem_bytes_per_pcu: Option<Cited<u64>>,
    /// Number formats that the vendor names.
    pub witnessed_precisions: Option<Cited<Vec<String>>>,
    /// Number formats that programs are lowered with and the vendor does not name.
    pub witness_pending_precisions: Vec<&'static str>,
    /// Facts that no vendor publishes.
    pub modeled_fields: Vec<&'static str>,
    /// Every source that is cited, by key.
    pub cites: BTreeMap<String, String>,
}

/// The network that joins chips to one machine.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScaleUp {
    /// Most chips; absent where it is not published.
    pub chips_max: Option<Cited<u64>>,
    /// A chip's published rate into it, one direction, bytes a second: the vendor's, of the network.
    pub vendor_bytes_per_s_per_direction: Option<Cited<u64>>,
}

/// The block of a chip.
pub(super) fn block(chip: &Chip) -> ChipBlock {
    let cited = |field| number(chip.fact(field));
    let rack = cited(Field::ChipsPerRack);
    let node = cited(Field::ChipsPerNode);
    let width = match (&rack, &node) {
        (Some(rack), Some(node)) if node.value > rack.value => Some(node.clone()),
        (Some(rack), _) => Some(rack.clone()),
        (None, node) => node.clone(),
    };
    // Where nothing limits the domain it is a node, once chips are joined at all.
    let domain = cited(Field::ScaleUpChipsMax).or_else(|| node.clone().filter(|_| chip.has_link()));
    let width = match (width, domain) {
        (Some(width), Some(domain)) if domain.value < width.value => Some(domain),
        (width, _) => width,
    };
    let mut cites = BTreeMap::new();
    for source in chip.facts().iter().flat_map(|fact| &fact.cite) {
        cites.insert(source.key.clone(), source.to_string());
    }
    ChipBlock {
        part: chip.part.clone(),
        chip: chip.name.clone(),
        target: chip.target.clone(),
        peak_bf16_tflops: cited(Field::PeakBf16),
        peak_fp8_tflops: cited(Field::PeakFp8),
        sram_bytes: cited(Field::SramBytes),
        hbm_bytes: cited(Field::HbmBytes),
        ddr_bytes_max: cited(Field::DdrBytesMax),
        ddr_bytes: cited(Field::DdrBytesSizing),
        node_nm: cited(Field::NodeNm),
        dies: cited(Field::Dies),
        tensor_parallel_width: width.map(|width| Cited { provenance: derived_at_most(width.provenance), ..width }),
        chips_per_node: node,
        chips_per_rack: rack,
        scale_up: ScaleUp {
            chips_max: cited(Field::ScaleUpChipsMax),
            vendor_bytes_per_s_per_direction: cited(Field::ScaleUpPerDirection),
        },
        pcu_count: cited(Field::PcuCount),
        pmu_count: cited(Field::PmuCount),
        local_mem_bytes_per_pcu: cited(Field::SramBytesPerPmu),
        witnessed_precisions: precisions(chip),
        witness_pending_precisions: pending(chip),
        modeled_fields: chip.modeled_fields().map(Field::as_str).collect(),
        cites,
    }
}

fn derived_at_most(label: Label) -> Label {
    match label {
        Label::Published | Label::Derived => Label::Derived,
        Label::Modeled => Label::Modeled,
        Label::Measured => Label::Measured,
    }
}

fn precisions(chip: &Chip) -> Option<Cited<Vec<String>>> {
    let fact = chip.fact(Field::Precisions)?;
    Some(Cited::of(fact, chip.precisions().map(|precision| precision.to_string()).collect()))
}

/// What vendors call the format that a storage is multiplied in; none of what is no format of products.
const fn format_of(storage: Storage) -> Option<&'static str> {
    match storage {
        Storage::F32 => Some("fp32"),
        Storage::F16 => Some("fp16"),
        Storage::Bf16 => Some("bf16"),
        Storage::Q8_0 => Some("int8"),
        Storage::F8E4M3 => Some("fp8"),
        Storage::Mxfp4 => Some("mxfp4"),
        Storage::I32 => None,
    }
}

fn pending(chip: &Chip) -> Vec<&'static str> {
    let formats = Storage::ALL.into_iter().filter(|&storage| witnesses(chip, storage) == Some(false));
    formats.filter_map(format_of).collect()
}

/// Whether the chip's vendor names the format of a storage; none where the storage is no format of products.
pub(super) fn witnesses(chip: &Chip, storage: Storage) -> Option<bool> {
    let format = format_of(storage)?;
    Some(precisions(chip).is_some_and(|named| named.value.iter().any(|name| name == format)))
}
