//! SN40L, announced September 2023.

use super::Chip;
use super::fact::Provenance::{Derived, Modeled, Published};
use super::fact::{Fact, Field, number, text};
use super::source::{CS149, DAC25, HC21, HC24, HC26, PLAST, PR26, PR40, RACK40, SITE40, SN40L, STH24};

pub(super) static CHIP: Chip = Chip::new("SN40L", FACTS);

const FACTS: &[Fact] = &[
    number(Published, Field::Generation, 4, &[PR40], ""),
    number(Published, Field::PeakBf16, 638, &[SN40L, HC24, STH24], "16 chips print 10.2 PFLOPS, the same figure"),
    number(Derived, Field::PeakFp8, 0, &[SN40L, HC24], "no fp8 among the published formats"),
    number(Published, Field::SramBytes, 545_259_520, &[SN40L], "520 MiB in the paper's text: 1040 PMUs of 512 KiB"),
    number(Derived, Field::SramBytesPerPmu, 524_288, &[SN40L, CS149], "520 MiB over 1040 PMUs"),
    number(
        Modeled,
        Field::SramBandwidth,
        243_750_000_000_000,
        &[HC21, SN40L],
        "SN10's published rate a PMU, held constant; the paper says only hundreds of TB/s",
    ),
    number(Published, Field::HbmBytes, 68_719_476_736, &[SN40L], "64 GiB in the text, 64 GB in its table"),
    number(
        Published,
        Field::HbmBandwidth,
        1_800_000_000_000,
        &[SN40L],
        "the table's figure, which its comparisons use; the text says about 2 TB/s",
    ),
    number(Derived, Field::DdrBytesMin, 768_000_000_000, &[RACK40], "12 TB over 16 chips"),
    number(Published, Field::DdrBytesMax, 1_649_267_441_664, &[SN40L], "up to 1.5 TiB"),
    number(
        Derived,
        Field::DdrBytesSizing,
        768_000_000_000,
        &[RACK40],
        "12 TB over 16 chips: the smallest configuration the rack's data sheet prints",
    ),
    number(Published, Field::DdrBandwidth, 200_000_000_000, &[SN40L], "more than 200 GB/s; the bound is used"),
    number(Published, Field::NodeNm, 5, &[SN40L, HC24], ""),
    text(Published, Field::Packaging, "CoWoS", &[SN40L, DAC25], ""),
    number(Published, Field::Dies, 2, &[SN40L, DAC25], ""),
    number(Published, Field::PcuCount, 1040, &[SN40L, HC24], ""),
    number(Published, Field::PmuCount, 1040, &[SN40L, HC24], ""),
    number(Published, Field::ChipsPerNode, 8, &[SN40L], "a DataScale node; a SambaRack holds 16 in one"),
    number(Published, Field::ChipsPerRack, 16, &[RACK40, SITE40], ""),
    number(Published, Field::ScaleUpChipsMax, 16, &[HC24, RACK40], "the largest published single system"),
    number(
        Modeled,
        Field::ScaleUpPerDirection,
        250_000_000_000,
        &[PR26, HC26],
        "not published; SN50's 2 TB/s is said to be four times its predecessor's, halved for one direction",
    ),
    text(Published, Field::Precisions, "bf16, fp32, int32, int8", &[HC24, SN40L], "bf16 products accumulate in fp32"),
    text(Published, Field::Cooling, "air", &[RACK40], ""),
    text(Published, Field::LaunchDate, "2023-09-19", &[PR40], ""),
    number(
        Modeled,
        Field::MeshColumns,
        40,
        &[SN40L, PLAST],
        "40 by 26 holds the 1040 cells; no floor plan is published",
    ),
    number(Modeled, Field::MeshRows, 26, &[SN40L, PLAST], "see mesh_columns"),
    number(
        Modeled,
        Field::ArrayRows,
        6,
        &[SN40L, PLAST, CS149],
        "Plasticine's 6 stages; 192 MACs a PCU-cycle reach the peak below the paper's 2 GHz",
    ),
];
