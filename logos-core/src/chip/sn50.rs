//! SN50, announced February 2026.

use super::Chip;
use super::fact::Provenance::{Derived, Modeled, Published};
use super::fact::{Fact, Field, number, text};
use super::source::{BLOG26, HC21, HC26, PLAST, PR26, PROD, RACK, SN40L, STH26};

pub(super) static CHIP: Chip = Chip::new("SN50", FACTS);

const FACTS: &[Fact] = &[
    number(Published, Field::Generation, 5, &[STH26, HC26], ""),
    number(Published, Field::PeakBf16, 1600, &[PROD, HC26], "a rack of 16 prints 25.6 PFLOPS, the same figure"),
    number(Published, Field::PeakFp8, 3200, &[HC26, PROD], "twice bf16; which fp8 is not said"),
    number(Derived, Field::SramBytes, 452_984_832, &[HC26, SN40L], "printed 432 MB, read as MiB: 864 PMUs of 512 KiB"),
    number(Derived, Field::SramBytesPerPmu, 524_288, &[HC26], "432 MiB over 864 PMUs"),
    number(
        Modeled,
        Field::SramBandwidth,
        202_500_000_000_000,
        &[HC21, HC26],
        "SN10's published rate a PMU, held constant; not published for this chip",
    ),
    number(Published, Field::HbmBytes, 64_000_000_000, &[HC26, PROD], "printed 64 GB; 128 chips are 8.2 decimal TB"),
    number(
        Published,
        Field::HbmBandwidth,
        1_840_000_000_000,
        &[HC26],
        "the launch said 1.8 TB/s; the deck's scale table recomputes to 1.84",
    ),
    text(
        Published,
        Field::HbmGeneration,
        "HBM2E",
        &[PROD, STH26],
        "surveys that say HBM3 contradict the vendor's page",
    ),
    number(Published, Field::DdrBytesMin, 256_000_000_000, &[HC26], "rack slide; it does not say per chip or per node"),
    number(Published, Field::DdrBytesMax, 2_000_000_000_000, &[HC26], "the other end of the same line"),
    number(Published, Field::DdrBytesSizing, 512_000_000_000, &[PROD], "the only figure the vendor gives per chip"),
    number(Published, Field::DdrBandwidth, 100_000_000_000, &[HC26], "CXL-attached DDR; split by direction not stated"),
    text(Published, Field::DdrGeneration, "DDR5", &[PROD, HC26], "attached by CXL"),
    number(Published, Field::NodeNm, 5, &[HC26, PROD], "an aggregator's 3 nm contradicts the vendor"),
    text(Published, Field::Packaging, "CoWoS-L", &[HC26], ""),
    number(Published, Field::Dies, 2, &[STH26], "two reticle-sized logic dies"),
    number(Published, Field::PcuCount, 864, &[HC26], "the slide's 864 PCUs and PMUs, read as 864 of each"),
    number(Published, Field::PmuCount, 864, &[HC26], "as the PCUs"),
    number(Published, Field::ChipsPerNode, 8, &[BLOG26, PROD], "a full mesh of eight"),
    number(Published, Field::ChipsPerRack, 16, &[RACK, HC26], "two nodes"),
    number(Published, Field::ScaleUpChipsMax, 256, &[PR26, RACK, HC26], "advertised; topologies drawn are 8 and 64"),
    number(
        Published,
        Field::ScaleUpPerDirection,
        1_000_000_000_000,
        &[HC26],
        "ten ports of 800 Gb/s; the headline 2 TB/s counts both directions",
    ),
    number(Derived, Field::ScaleUpIntraNode, 700_000_000_000, &[HC26], "seven of the ports, one to each peer"),
    number(Published, Field::ScaleUpInterNode, 200_000_000_000, &[HC26], "two ports; bounds a width above one node"),
    text(Published, Field::Precisions, "fp8, bf16", &[PROD, HC26], "formats with a published rate"),
    text(Published, Field::Cooling, "air", &[PR26, HC26], ""),
    text(Published, Field::LaunchDate, "2026-02-24", &[PR26], "announcement; shipments planned for the second half"),
    number(Modeled, Field::MeshColumns, 36, &[HC26, PLAST], "36 by 24 holds the 864 cells; no floor plan is published"),
    number(Modeled, Field::MeshRows, 24, &[HC26, PLAST], "see mesh_columns"),
    number(
        Modeled,
        Field::ArrayRows,
        18,
        &[HC26, PLAST],
        "chosen so that the peak of a PCU needs a cycle like SN40L's",
    ),
];
