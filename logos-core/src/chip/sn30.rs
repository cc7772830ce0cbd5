//! SN30, announced September 2022. Its chip-to-chip rate is not published.

use super::Chip;
use super::fact::Provenance::{Derived, Modeled, Published};
use super::fact::{Fact, Field, number, text};
use super::source::{ALCF, HC21, HPCW22, PLAST, STH21, TNP22, TRANS30};

pub(super) static CHIP: Chip = Chip::new("SN30", FACTS);

const FACTS: &[Fact] = &[
    number(Published, Field::Generation, 2, &[TNP22], "two dies of the first generation's class in a socket"),
    number(Published, Field::PeakBf16, 688, &[TNP22, HPCW22], ""),
    number(Derived, Field::PeakFp8, 0, &[ALCF, TRANS30], "no fp8 among the published formats"),
    number(Derived, Field::SramBytes, 671_088_640, &[TNP22], "printed 640 MB, read as MiB: 1280 PMUs of 512 KiB"),
    number(Derived, Field::SramBytesPerPmu, 524_288, &[TNP22, TRANS30], "640 MiB over 1280 PMUs"),
    number(Derived, Field::SramBandwidth, 300_000_000_000_000, &[TNP22, HC21], "twice SN10's: two such dies"),
    number(Published, Field::HbmBytes, 0, &[TNP22], "DDR only"),
    number(Derived, Field::DdrBytesMin, 1_099_511_627_776, &[ALCF], "eight channels of 128 GB, as installed"),
    number(Published, Field::DdrBytesMax, 1_099_511_627_776, &[TNP22, ALCF], "1 TB a socket"),
    number(Published, Field::DdrBytesSizing, 1_099_511_627_776, &[TNP22, ALCF], "1 TB a socket"),
    number(
        Modeled,
        Field::DdrBandwidth,
        204_800_000_000,
        &[ALCF, STH21],
        "eight channels of DDR4-3200; the speed grade is assumed from SN10's",
    ),
    text(Published, Field::DdrGeneration, "DDR4", &[HPCW22], ""),
    number(Published, Field::NodeNm, 7, &[TNP22], ""),
    number(Published, Field::Dies, 2, &[TNP22], ""),
    number(Published, Field::PcuCount, 1280, &[ALCF], ""),
    number(Derived, Field::PmuCount, 1280, &[TRANS30, HC21], "eight tiles of SN10's 160"),
    number(Published, Field::ChipsPerNode, 8, &[TRANS30, TNP22], ""),
    number(Derived, Field::ChipsPerRack, 16, &[ALCF], "eight nodes in four racks"),
    text(Published, Field::Precisions, "bf16, fp32, int32, int16", &[ALCF], ""),
    text(Published, Field::LaunchDate, "2022-09-14", &[HPCW22], ""),
    number(
        Modeled,
        Field::MeshColumns,
        40,
        &[ALCF, PLAST],
        "40 by 32 holds the 1280 cells; no floor plan is published",
    ),
    number(Modeled, Field::MeshRows, 32, &[ALCF, PLAST], "see mesh_columns"),
    number(Modeled, Field::ArrayRows, 6, &[PLAST], "Plasticine's 6 stages, two bf16 values a lane"),
];
