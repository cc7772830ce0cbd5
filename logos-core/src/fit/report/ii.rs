//! The II view of a certified program: for each stage what its initiation interval is the largest of, for each edge its
//! latencies and depths. Schedule and depths are those of the certified rows; the terms of an interval are counted anew
//! from the stage's work, and a test holds them to the rows.

use logos_bundle::table::layout::Part;
use logos_bundle::view;

use super::frame::{Cited, Label, number};
use super::trace::{From, Row, modeled};
use crate::certify;
use crate::chip::{Chip, Field, UnitModel};
use crate::place::{self, Terms};
use crate::spatial::{Edge, Flow, Primitive, Recurrence, Section, SpatialProgram, Stage};

/// Bits of a lane.
///
/// Source: Plasticine, ISCA 2017, table 3: lanes of 32 bits.
const LANE_BITS: u64 = 32;

/// The II view of a program.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IiReport {
    /// The chip.
    pub chip: String,
    /// The program.
    pub program: String,
    /// Where the schedule comes from.
    pub source: &'static str,
    /// What a cell does in a cycle.
    pub unit_model: UnitBlock,
    /// How a scratchpad is banked.
    pub banking: Banking,
    /// Whether every buffer's depth is declared: it stands in the certificate, and its rules hold for it.
    pub credit_declared: bool,
    /// Cycles from one iteration to the next, over all sections.
    pub pipeline_ii: u64,
    /// The nets that are on the chip one after another.
    pub sections: Vec<SectionIi>,
    /// Stage by stage.
    pub stages: Vec<StageIi>,
    /// Buffer by buffer.
    pub buffer_depths: Vec<BufferDepth>,
    /// Edge by edge.
    pub credit_depths: Vec<CreditDepth>,
    /// What the cycles are.
    pub cycles_are: &'static str,
}

/// The unit model, figure by figure.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnitBlock {
    /// Pipeline stages of a PCU, cycles.
    pub pcu_stages: Option<Cited<u64>>,
    /// Lanes of a PCU.
    pub pcu_lanes: Option<Cited<u64>>,
    /// The multiply-accumulate array.
    pub pcu_envelope: Envelope,
    /// Bits that pass a PCU in a cycle: its lanes, 32 bits each.
    pub datapath_bits: Option<Cited<u64>>,
    /// Most tiles of sums that a cell of this program keeps from firing to firing.
    pub acc_tiles: u64,
    /// Columns of the mesh.
    pub mesh_columns: Option<Cited<u64>>,
    /// Elementwise operations in one pass.
    pub fusion_window: Option<Cited<u64>>,
    /// What a stage counts, outermost first.
    pub counter_nest: &'static [&'static str],
    /// The scratchpad of a cell.
    pub pmu: Pmu,
    /// What a token and its credit take.
    pub credit: Credit,
}

/// The multiply-accumulate array of a PCU.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Envelope {
    /// Rows.
    pub rows: Option<Cited<u64>>,
    /// Columns.
    pub columns: Option<Cited<u64>>,
}

/// A scratchpad.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pmu {
    /// Bytes.
    pub bytes: Option<Cited<u64>>,
    /// Bytes read, and written, a cycle.
    pub bytes_per_cycle: Option<Cited<u64>>,
}

/// What a token and its credit take, cycles.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Credit {
    /// Into and out of the network.
    pub inject: Option<Cited<u64>>,
    /// A hop.
    pub hop: Option<Cited<u64>>,
    /// A level of the tree that adds up the cells of a firing.
    pub tree_level: Option<Cited<u64>>,
}

/// How a scratchpad is banked.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Banking {
    /// Banks that are read together, a word of 32 bits each.
    pub banks: Option<Cited<u64>>,
    /// How conflicts are counted.
    pub rule: &'static str,
}

/// A net that is on the chip at a time.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SectionIi {
    /// Its number.
    pub section: u32,
    /// Row groups of an iteration.
    pub groups: u32,
    /// Rows of a group.
    pub group_rows: u32,
    /// Cells in use.
    pub cells: u64,
    /// Interval.
    pub interval_cycles: u64,
    /// First input to last result.
    pub span_cycles: u64,
    /// Bound on the interval.
    pub bound_cycles: u64,
    /// What the bound is.
    pub binder: String,
    /// Whether the interval is within 1/256 of the bound.
    pub tight: bool,
}

/// A stage.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StageIi {
    /// Its section.
    pub section: u32,
    /// Its number in the section.
    pub stage: u32,
    /// What it does to which value: `gemm A q3`.
    pub name: String,
    /// The operation whose part it is.
    pub op: &'static str,
    /// Whether it adds up, or takes the most, over an axis.
    pub reduce: bool,
    /// Whether a firing leaves something for the next.
    pub carried: bool,
    /// Lanes in use.
    pub lanes: u64,
    /// Cells.
    pub cells: u64,
    /// Firings an iteration.
    pub firings: u32,
    /// Cycles of its work on one cell.
    pub resource_ii: u64,
    /// Cycles of what it carries.
    pub recurrence_ii: u64,
    /// Cycles of the bytes it moves.
    pub memory_ii: u64,
    /// The interval in the certificate; of a load in a memory's turn its period there.
    pub ii: u64,
    /// Cycles from the start of a firing to its result.
    pub result_cycles: u64,
}

/// A buffer.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BufferDepth {
    /// Its section.
    pub section: u32,
    /// Its edge.
    pub edge: u32,
    /// The value it holds; absent between the parts of a statement.
    pub value: Option<String>,
    /// Slots.
    pub depth: u32,
    /// Bytes of a slot.
    pub slot_bytes: u32,
    /// Bytes.
    pub bytes: u64,
}

/// An edge.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CreditDepth {
    /// Its section.
    pub section: u32,
    /// Its number in the section.
    pub edge: u32,
    /// The producer.
    pub from: u32,
    /// The consumer.
    pub to: u32,
    /// `stream` or `hold`.
    pub flow: &'static str,
    /// Cycles of the way, with entering the network.
    pub hops: u64,
    /// From a firing to the earliest use of its token.
    pub forward_cycles: u64,
    /// From a use to the earliest reuse of its slot.
    pub backward_cycles: u64,
    /// Slots without which no firing could be: the tokens of one firing, or one group.
    pub n_buffer_depth: u64,
    /// Slots filled in the cycles a slot takes to come back, at the producer's period, an iteration's at most.
    pub credit_depth: u64,
    /// Slots in the certificate, with which the schedule holds.
    pub depth: u32,
}

const CYCLES_ARE: &str = "cycles of the unit model, never a time";

const SOURCE: &str = "the schedule that the certificate carries";

const RULE: &str =
    "a firing's bytes pass a scratchpad at its bytes a cycle; tiles lie so that the banks share them evenly";

const STAGES: From = From::Certificate(Part::Stages);
const EDGES: From = From::Certificate(Part::Edges);
const SECTIONS: From = From::Certificate(Part::Sections);

pub(super) const TRACE: &[Row] = &[
    modeled(
        "/unit_model/acc_tiles",
        &[STAGES, From::Fact(Field::ArrayRows), From::Fact(Field::ArrayColumns)],
        "of the stages that keep sums, the most row passes times units of the array's columns a cell",
    ),
    modeled("/pipeline_ii", &[SECTIONS], "the sum of the sections' intervals"),
    modeled("/sections/*/section", &[SECTIONS], "number of the row in its program"),
    modeled("/sections/*/groups", &[SECTIONS], "of the row"),
    modeled("/sections/*/group_rows", &[SECTIONS], "of the row"),
    modeled("/sections/*/cells", &[STAGES], "the sum of its stages' cells"),
    modeled("/sections/*/interval_cycles", &[SECTIONS], "of the row"),
    modeled("/sections/*/span_cycles", &[SECTIONS], "of the row"),
    modeled("/sections/*/bound_cycles", &[SECTIONS], "of the row"),
    modeled("/stages/*/section", &[STAGES], "number of the section's row in its program"),
    modeled("/stages/*/stage", &[STAGES], "number of the row in its section"),
    modeled("/stages/*/lanes", &[STAGES, From::Fact(Field::PcuLanes)], "cells times lanes"),
    modeled("/stages/*/cells", &[STAGES], "the product of its split"),
    modeled("/stages/*/firings", &[STAGES], "of the row"),
    modeled("/stages/*/resource_ii", &[STAGES], "cycles of a unit pair times the most unit pairs of a cell"),
    modeled(
        "/stages/*/recurrence_ii",
        &[STAGES, From::Fact(Field::PcuStages), From::Fact(Field::TreeLevel)],
        "cycles of the carried value",
    ),
    modeled(
        "/stages/*/memory_ii",
        &[
            STAGES,
            EDGES,
            From::Fact(Field::ScratchpadRate),
            From::Fact(Field::HbmBandwidth),
            From::Fact(Field::DdrBandwidth),
            From::Fact(Field::ScaleUpPerDirection),
        ],
        "bytes of a firing over the rate of the scratchpads, of the memory or between chips",
    ),
    modeled("/stages/*/ii", &[STAGES], "of the row"),
    modeled(
        "/stages/*/result_cycles",
        &[
            STAGES,
            From::Fact(Field::PcuStages),
            From::Fact(Field::TreeLevel),
            From::Fact(Field::HbmLatency),
            From::Fact(Field::DdrLatency),
            From::Fact(Field::LinkLatency),
        ],
        "interval, pipeline depth, adder tree and first byte",
    ),
    modeled("/buffer_depths/*/section", &[EDGES], "number of the section's row in its program"),
    modeled("/buffer_depths/*/edge", &[EDGES], "number of the row in its section"),
    modeled("/buffer_depths/*/depth", &[EDGES], "of the row"),
    modeled("/buffer_depths/*/slot_bytes", &[EDGES], "of the row"),
    modeled("/buffer_depths/*/bytes", &[EDGES], "depth times bytes of a slot"),
    modeled("/credit_depths/*/section", &[EDGES], "number of the section's row in its program"),
    modeled("/credit_depths/*/edge", &[EDGES], "number of the row in its section"),
    modeled("/credit_depths/*/from", &[EDGES], "of the row"),
    modeled("/credit_depths/*/to", &[EDGES], "of the row"),
    modeled(
        "/credit_depths/*/hops",
        &[STAGES, From::Fact(Field::Inject), From::Fact(Field::Hop)],
        "entering the network and the largest distance between the two stages' sites",
    ),
    modeled(
        "/credit_depths/*/forward_cycles",
        &[STAGES, From::Fact(Field::Inject), From::Fact(Field::Hop)],
        "the producer's cycles to a result, two for its buffer, the way",
    ),
    modeled(
        "/credit_depths/*/backward_cycles",
        &[STAGES, From::Fact(Field::Inject), From::Fact(Field::Hop)],
        "the consumer's interval, two for the credit, the way",
    ),
    modeled(
        "/credit_depths/*/n_buffer_depth",
        &[EDGES],
        "tokens a firing of either end, whichever are more; of a hold one group",
    ),
    modeled(
        "/credit_depths/*/credit_depth",
        &[EDGES, STAGES],
        "forward and backward cycles over the producer's period, times its tokens a firing; an iteration's tokens at most",
    ),
    modeled("/credit_depths/*/depth", &[EDGES], "of the row"),
];

/// The II view of a program of a bundle and its lowering.
pub(super) fn report(chip: &Chip, program: &view::Program<'_>, spatial: &SpatialProgram) -> IiReport {
    let unit = &chip.unit_at(program.bundle().chips());
    let mut view = IiReport {
        chip: chip.name.to_owned(),
        program: program.name().to_string(),
        source: SOURCE,
        unit_model: unit_block(chip, acc_tiles(spatial)),
        banking: banking(chip),
        credit_declared: true,
        pipeline_ii: 0,
        sections: Vec::new(),
        stages: Vec::new(),
        buffer_depths: Vec::new(),
        credit_depths: Vec::new(),
        cycles_are: CYCLES_ARE,
    };
    for (row, section) in program.sections().zip(&spatial.sections) {
        view.pipeline_ii = view.pipeline_ii.saturating_add(row.interval_cycles());
        let at = row.index();
        view.sections.push(section_ii(&row));
        let traffic = place::stream_bytes(&section.stages, &section.edges);
        let stages = row.stages().zip(section.stages.iter().zip(traffic));
        view.stages.extend(stages.map(|(row, (stage, traffic))| stage_ii(unit, at, &row, stage, traffic)));
        view.buffer_depths.extend(row.edges().map(|edge| buffer_depth(at, &edge)));
        let edges = row.edges().zip(&section.edges);
        view.credit_depths.extend(edges.map(|(row, edge)| credit_depth(unit, at, section, &row, edge)));
    }
    view
}

fn unit_block(chip: &Chip, acc_tiles: u64) -> UnitBlock {
    let cited = |field| number(chip.fact(field));
    UnitBlock {
        pcu_stages: cited(Field::PcuStages),
        pcu_lanes: cited(Field::PcuLanes),
        pcu_envelope: Envelope { rows: cited(Field::ArrayRows), columns: cited(Field::ArrayColumns) },
        datapath_bits: cited(Field::PcuLanes).map(|lanes| follows(lanes, |lanes| lanes.saturating_mul(LANE_BITS))),
        acc_tiles,
        mesh_columns: cited(Field::MeshColumns),
        fusion_window: cited(Field::Chain),
        counter_nest: &["iteration", "row group", "tile"],
        pmu: Pmu { bytes: cited(Field::SramBytesPerPmu), bytes_per_cycle: cited(Field::ScratchpadRate) },
        credit: Credit { inject: cited(Field::Inject), hop: cited(Field::Hop), tree_level: cited(Field::TreeLevel) },
    }
}

fn banking(chip: &Chip) -> Banking {
    let rate = number(chip.fact(Field::ScratchpadRate));
    Banking { banks: rate.map(|rate| follows(rate, |rate| rate / LANE_BITS.div_ceil(u64::from(u8::BITS)))), rule: RULE }
}

/// A figure by arithmetic from another: published ones become derived.
fn follows(from: Cited<u64>, by: impl FnOnce(u64) -> u64) -> Cited<u64> {
    let provenance = match from.provenance {
        Label::Published | Label::Derived => Label::Derived,
        Label::Modeled => Label::Modeled,
        Label::Measured => Label::Measured,
    };
    Cited { value: by(from.value), provenance, cite: from.cite }
}

fn acc_tiles(spatial: &SpatialProgram) -> u64 {
    let stages = spatial.sections.iter().flat_map(|section| &section.stages);
    let kept = stages.filter(|stage| matches!(stage.primitive, Primitive::GemmB | Primitive::Values));
    kept.map(|stage| stage.work.base.saturating_mul(stage.work.a.div_ceil(stage.split.0))).max().unwrap_or(0)
}

fn section_ii(row: &view::Section<'_>) -> SectionIi {
    SectionIi {
        section: row.index(),
        groups: row.groups(),
        group_rows: row.group_rows(),
        cells: row.cells(),
        interval_cycles: row.interval_cycles(),
        span_cycles: row.span_cycles(),
        bound_cycles: row.bound_cycles(),
        binder: row.binder().to_string(),
        tight: row.is_tight(),
    }
}

fn stage_ii(unit: &UnitModel, section: u32, row: &view::Stage<'_>, stage: &Stage, traffic: u64) -> StageIi {
    let terms = terms(unit, stage, traffic);
    StageIi {
        section,
        stage: row.index(),
        name: row.name().to_string(),
        op: row.statement().map_or("", |statement| statement.operation().name()),
        reduce: reduces(stage.primitive),
        carried: carries(stage),
        lanes: row.cells().saturating_mul(u64::from(unit.lanes)),
        cells: row.cells(),
        firings: row.firings(),
        resource_ii: terms.resource,
        recurrence_ii: terms.recurrence,
        memory_ii: terms.memory,
        ii: row.initiation_interval_cycles(),
        result_cycles: certify::result(unit, stage),
    }
}

/// What the interval of a stage is the largest of: of one that moves bytes, their cycles alone.
fn terms(unit: &UnitModel, stage: &Stage, traffic: u64) -> Terms {
    if stage.primitive.moves_bytes() {
        return Terms { resource: 1, recurrence: 0, memory: certify::least_interval(unit, stage) };
    }
    Terms::of(unit, stage, stage.split, traffic)
}

/// Whether a stage adds up, or takes the most, over an axis.
const fn reduces(primitive: Primitive) -> bool {
    match primitive {
        Primitive::GemmA
        | Primitive::GemmB
        | Primitive::Reduce
        | Primitive::Scores
        | Primitive::Softmax
        | Primitive::Values => true,
        Primitive::Load
        | Primitive::Store
        | Primitive::Gather
        | Primitive::Map
        | Primitive::Scan
        | Primitive::Collective => false,
    }
}

/// Whether a firing leaves something for the next: sums, the running maximum, a state.
fn carries(stage: &Stage) -> bool {
    match stage.primitive {
        Primitive::GemmB | Primitive::Scan | Primitive::Softmax | Primitive::Values | Primitive::Reduce => true,
        Primitive::Load
        | Primitive::Store
        | Primitive::Gather
        | Primitive::GemmA
        | Primitive::Map
        | Primitive::Scores
        | Primitive::Collective => stage.recurrence != Recurrence::None,
    }
}

fn buffer_depth(section: u32, edge: &view::Edge<'_>) -> BufferDepth {
    BufferDepth {
        section,
        edge: edge.index(),
        value: edge.value().map(|value| value.name().to_string()),
        depth: edge.capacity(),
        slot_bytes: edge.slot_bytes(),
        bytes: edge.buffer_bytes(),
    }
}

fn credit_depth(unit: &UnitModel, at: u32, section: &Section, row: &view::Edge<'_>, edge: &Edge) -> CreditDepth {
    let (from, to) = (section.stage(edge.from), section.stage(edge.to));
    let (forward, backward) = (certify::forward(unit, from, to), certify::release(unit, from, to));
    let around = forward.saturating_add(backward);
    let (flow, least, filled, all) = match edge.flow {
        Flow::Stream { p, q } => {
            ("stream", p.max(q), around.div_ceil(from.period).saturating_mul(p), from.firings.saturating_mul(p))
        }
        Flow::Hold { groups } => {
            let a_group = (from.firings / groups).max(1).saturating_mul(from.period);
            ("hold", 1, around.div_ceil(a_group), groups)
        }
    };
    CreditDepth {
        section: at,
        edge: row.index(),
        from: edge.from.0,
        to: edge.to.0,
        flow,
        hops: place::distance(unit, from, to),
        forward_cycles: forward,
        backward_cycles: backward,
        n_buffer_depth: least,
        credit_depth: filled.min(all).max(least),
        depth: row.capacity(),
    }
}
