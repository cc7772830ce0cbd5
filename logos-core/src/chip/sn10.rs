//! SN10, available by February 2021.

use super::Chip;
use super::fact::Provenance::{Derived, Modeled, Published};
use super::fact::{Fact, Field, number, text};
use super::source::{ALCF, HC21, ISSCC22, PLAST, TNP21, TNP22};

pub(super) static CHIP: Chip = Chip::new("SN10", FACTS);

const FACTS: &[Fact] = &[
    number(Published, Field::Generation, 1, &[HC21, ISSCC22], ""),
    number(Published, Field::PeakBf16, 320, &[TNP22], "the Hot Chips slide says more than 300"),
    number(Derived, Field::PeakFp8, 0, &[HC21], "no fp8 among the published formats"),
    number(Derived, Field::SramBytes, 335_544_320, &[TNP22, HC21], "printed 320 MB, read as MiB: 640 PMUs of 512 KiB"),
    number(Derived, Field::SramBytesPerPmu, 524_288, &[TNP22, HC21], "320 MiB over 640 PMUs"),
    number(Published, Field::SramBandwidth, 150_000_000_000_000, &[HC21, TNP22], "the only published on-chip rate"),
    number(Published, Field::HbmBytes, 0, &[HC21], "DDR only"),
    number(Published, Field::DdrBytesMax, 1_500_000_000_000, &[HC21, TNP22], "12 TB over 8 chips"),
    number(Published, Field::DdrBytesSizing, 1_500_000_000_000, &[HC21, TNP22], "12 TB over 8 chips, the only figure"),
    number(Derived, Field::DdrBandwidth, 128_000_000_000, &[HC21, ALCF], "six channels of DDR4-2667"),
    text(Published, Field::DdrGeneration, "DDR4", &[HC21], ""),
    number(Published, Field::NodeNm, 7, &[HC21], ""),
    number(Published, Field::Dies, 1, &[TNP22], ""),
    number(Published, Field::PcuCount, 640, &[HC21], "four tiles of 160"),
    number(Published, Field::PmuCount, 640, &[HC21], "four tiles of 160"),
    number(Published, Field::ChipsPerNode, 8, &[HC21], ""),
    number(Published, Field::ChipsPerRack, 8, &[HC21], "the quarter-rack system"),
    number(
        Derived,
        Field::ScaleUpPerDirection,
        128_000_000_000,
        &[ALCF, HC21],
        "four PCIe 4 links of 32 GB/s, shared with the host: an upper bound",
    ),
    text(Published, Field::Precisions, "bf16, fp32, int32, int16, int8", &[HC21], "bf16 accumulates in fp32"),
    text(Published, Field::LaunchDate, "2021-02", &[TNP21], "described as recent on 2021-02-16"),
    number(Modeled, Field::MeshColumns, 32, &[HC21, PLAST], "32 by 20 holds the 640 cells; no floor plan is published"),
    number(Modeled, Field::MeshRows, 20, &[HC21, PLAST], "see mesh_columns"),
    number(Modeled, Field::ArrayRows, 6, &[PLAST], "Plasticine's 6 stages, two bf16 values a lane"),
];
