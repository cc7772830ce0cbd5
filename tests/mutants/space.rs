//! Space: capacities, slots, addresses, sites.

use logos_bundle::table::layout::{Part, chip, edge, stage};

use super::places::SectionRows;
use super::trial::{Kind, Trial};

pub(crate) fn run(trial: &mut Trial<'_>) {
    for s in trial.table().sections() {
        for e in s.edges.clone() {
            buffer(trial, &s, e);
        }
        for g in s.stages.clone() {
            site(trial, &s, g);
        }
    }
}

fn buffer(trial: &mut Trial<'_>, s: &SectionRows, e: usize) {
    let table = trial.table();
    let [capacity, slot, address] =
        [edge::CAPACITY, edge::SLOT_BYTES, edge::ADDRESS].map(|field| table.get(Part::Edges, e, field));
    let mut put = |kind, field, word| {
        trial.reject(kind, format_args!("edge {e}"), |t| t.set(Part::Edges, e, field, word));
    };
    put(Kind("a credit less", &[0, 7]), edge::CAPACITY, capacity - 1);
    put(Kind("slots of half the bytes", &[0, 9]), edge::SLOT_BYTES, slot / 2);
    put(Kind("slots of a byte more", &[9]), edge::SLOT_BYTES, slot + 1);
    put(Kind("buffer off its 64 bytes", &[9]), edge::ADDRESS, address + 1);
    if e > s.edges.start {
        put(Kind("buffers overlap", &[9]), edge::ADDRESS, (table.buffer_end(e - 1) - 1) / 64 * 64);
        trial.reject(Kind("buffers exchanged", &[9]), format_args!("edge {e}"), |t| {
            t.set(Part::Edges, e - 1, edge::ADDRESS, address);
            let before = table.get(Part::Edges, e - 1, edge::ADDRESS);
            t.set(Part::Edges, e, edge::ADDRESS, before);
        });
    }
    let [cells, scratchpad] = [chip::CELLS, chip::SCRATCHPAD].map(|field| table.get(Part::Chip, 0, field));
    trial.reject(Kind("buffer past the scratchpads", &[9]), format_args!("edge {e}"), |t| {
        t.set(Part::Edges, e, edge::ADDRESS, cells * scratchpad / 64 * 64);
    });
}

fn site(trial: &mut Trial<'_>, s: &SectionRows, g: usize) {
    let table = trial.table();
    let cells = table.get(Part::Chip, 0, chip::CELLS);
    let of = |g| table.get(Part::Stages, g, stage::SITE);
    if g > s.stages.start {
        trial.reject(Kind("stages on one site", &[9]), format_args!("stage {g}"), |t| {
            t.set(Part::Stages, g, stage::SITE, of(g - 1) + table.cells(g - 1) - 1);
        });
        trial.reject(Kind("sites out of order", &[9]), format_args!("stage {g}"), |t| {
            t.set(Part::Stages, g - 1, stage::SITE, of(g));
            t.set(Part::Stages, g, stage::SITE, of(g - 1));
        });
    }
    trial.reject(Kind("stage off the mesh", &[9]), format_args!("stage {g}"), |t| {
        t.set(Part::Stages, g, stage::SITE, cells - table.cells(g) + 1);
    });
}
