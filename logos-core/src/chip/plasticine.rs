//! The unit model's constants that all chips share. Vendors publish none of them for an RDU; they are taken from the
//! architecture the RDU descends from (Plasticine, ISCA 2017), or chosen, and each says why.

use super::fact::Provenance::{Modeled, Published};
use super::fact::{Fact, Field, number};
use super::source::{HC24, HC26, PLAST};

pub(super) const FACTS: &[Fact] = &[
    number(Modeled, Field::ArrayColumns, 32, &[PLAST], "two bf16 values in each of Plasticine's 16 lanes of 32 bits"),
    number(Published, Field::PcuLanes, 16, &[PLAST], "lanes of 32 bits; 512 bits wide"),
    number(Modeled, Field::Chain, 6, &[PLAST], "one elementwise operation in each of Plasticine's 6 stages"),
    number(Published, Field::PcuStages, 6, &[PLAST], "pipeline depth of Plasticine's PCU; no RDU's is published"),
    number(
        Modeled,
        Field::TreeLevel,
        3,
        &[PLAST],
        "one add between neighbours: a lane's stage, and a hop there and back",
    ),
    number(
        Modeled,
        Field::ScratchpadRate,
        64,
        &[PLAST],
        "16 banks of one 32-bit word; no RDU's bank count is published",
    ),
    number(Modeled, Field::Inject, 2, &[HC24], "into and out of the packet network, a cycle each; not published"),
    number(Modeled, Field::Hop, 1, &[PLAST], "pipelined switches, one cycle each, without congestion"),
    number(
        Modeled,
        Field::HbmLatency,
        64,
        &[HC26],
        "first byte; not published; covered by prefetch, so only recurrences see it",
    ),
    number(Modeled, Field::DdrLatency, 128, &[HC26], "first byte; not published; twice HBM's"),
    number(Modeled, Field::LinkLatency, 1024, &[HC26], "no vendor publishes a latency from chip to chip"),
    number(
        Modeled,
        Field::ContextTile,
        1024,
        &[PLAST],
        "long enough that a firing split over hundreds of cells keeps its ceilings small",
    ),
    number(Modeled, Field::Tile, 128, &[PLAST], "divides the hidden and head widths of the models at hand"),
    number(
        Modeled,
        Field::SramPorts,
        8,
        &[PLAST],
        "an access of the SRAM tier is spread over the scratchpads of eight neighbours",
    ),
    number(
        Modeled,
        Field::Strip,
        8,
        &[PLAST],
        "sites run along strips of 8 rows, so that a stage is a compact patch of the mesh",
    ),
];
