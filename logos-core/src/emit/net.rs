//! The rows of a program's sections: stages, edges and turns.

use logos_bundle::table::layout::{
    Part, edge as edge_row, primitive, section as section_row, stage as stage_row, turn as turn_row,
};

use crate::spatial::{Binder, Edge, Flow, Primitive, SpatialProgram, Stage};

use super::program::tier_word;
use super::table::{Table, blank, index, put_wide};

pub(super) fn write(table: &mut Table, program: u32, spatial: &SpatialProgram) {
    for section in &spatial.sections {
        let mut row = blank();
        row[section_row::PROGRAM] = program;
        row[section_row::GROUP_ROWS] = section.group_rows as u32;
        row[section_row::GROUPS] = section.groups as u32;
        row[section_row::STAGES] = table.count(Part::Stages);
        row[section_row::STAGES + 1] = section.stages.len() as u32;
        row[section_row::EDGES] = table.count(Part::Edges);
        row[section_row::EDGES + 1] = section.edges.len() as u32;
        row[section_row::TURNS] = table.count(Part::Turns);
        row[section_row::TURNS + 1] = section.turns.len() as u32;
        put_wide(&mut row, section_row::INTERVAL, section.interval);
        put_wide(&mut row, section_row::SPAN, section.span);
        row[section_row::BINDER] = match section.binder {
            Binder::Memory => 0,
            Binder::Stage => 1,
            Binder::Recurrence => 2,
            Binder::Loop => 3,
            Binder::Span => 4,
        };
        put_wide(&mut row, section_row::BOUND, section.bound);
        table.push(Part::Sections, row);
        for stage in &section.stages {
            write_stage(table, stage);
        }
        for edge in &section.edges {
            write_edge(table, edge);
        }
        for turn in &section.turns {
            let mut row = blank();
            row[turn_row::TIER] = tier_word(turn.tier);
            put_wide(&mut row, turn_row::START, turn.start);
            put_wide(&mut row, turn_row::LENGTH, turn.length);
            if let Some(head) = turn.head {
                (row[turn_row::OF], row[turn_row::AHEAD]) = (head.of, head.firings as u32);
            }
            table.push(Part::Turns, row);
        }
    }
}

fn write_stage(table: &mut Table, stage: &Stage) {
    let mut row = blank();
    row[stage_row::STATEMENT] = stage.statement;
    row[stage_row::PART] = stage.part;
    row[stage_row::PRIMITIVE] = match stage.primitive {
        Primitive::Load => primitive::LOAD,
        Primitive::Store => primitive::STORE,
        Primitive::GemmA => primitive::GEMM_A,
        Primitive::GemmB => primitive::GEMM_B,
        Primitive::Map => primitive::MAP,
        Primitive::Reduce => primitive::REDUCE,
        Primitive::Scan => primitive::SCAN,
        Primitive::Gather => primitive::GATHER,
        Primitive::Scores => primitive::SCORES,
        Primitive::Softmax => primitive::SOFTMAX,
        Primitive::Values => primitive::VALUES,
        Primitive::Collective => primitive::COLLECTIVE,
    };
    row[stage_row::FIRINGS] = stage.firings as u32;
    row[stage_row::NA] = stage.split.0 as u32;
    row[stage_row::NB] = stage.split.1 as u32;
    row[stage_row::SITE] = stage.site as u32;
    row[stage_row::TURN] = index(stage.turn);
    put_wide(&mut row, stage_row::START, stage.start);
    put_wide(&mut row, stage_row::PERIOD, stage.period);
    put_wide(&mut row, stage_row::II, stage.ii);
    put_wide(&mut row, stage_row::BYTES, stage.bytes);
    table.push(Part::Stages, row);
}

fn write_edge(table: &mut Table, edge: &Edge) {
    let mut row = blank();
    row[edge_row::FROM] = edge.from.0;
    row[edge_row::TO] = edge.to.0;
    row[edge_row::PORT] = edge.port;
    match edge.flow {
        Flow::Stream { p, q } => {
            row[edge_row::KIND] = 0;
            row[edge_row::P] = p as u32;
            row[edge_row::Q] = q as u32;
        }
        Flow::Hold { groups } => {
            row[edge_row::KIND] = 1;
            row[edge_row::GROUPS] = groups as u32;
        }
    }
    row[edge_row::CAPACITY] = edge.capacity as u32;
    row[edge_row::SLOT_BYTES] = edge.slot_bytes as u32;
    row[edge_row::ADDRESS] = edge.address as u32;
    row[edge_row::VALUE] = index(edge.value);
    table.push(Part::Edges, row);
}
