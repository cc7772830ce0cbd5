//! The net: edges, their ends, ports, kinds and values; stages; which load is in which turn.

use logos_bundle::table::layout::{NONE, Part, edge, stage, turn};

use super::places::SectionRows;
use super::trial::{Kind, Trial};

pub(crate) fn run(trial: &mut Trial<'_>) {
    for s in trial.table().sections() {
        for e in s.edges.clone() {
            ends(trial, &s, e);
            kinds(trial, e);
            neighbours(trial, &s, e);
        }
        for g in s.stages.clone() {
            stages(trial, &s, g);
            turns(trial, &s, g);
        }
        idle_turn(trial, &s);
    }
}

/// Edges missing, twice, or between other stages.
fn ends(trial: &mut Trial<'_>, s: &SectionRows, e: usize) {
    let site = format_args!("edge {e}").to_string();
    trial.reject(Kind("edge dropped", &[4]), &site, |t| {
        t.remove(Part::Edges, s.index, e);
    });
    trial.reject(Kind("edge doubled", &[4]), &site, |t| {
        let row = t.rows(Part::Edges)[e];
        t.insert(Part::Edges, s.index, e, row);
    });
    trial.reject(Kind("edge turned round", &[0]), &site, |t| t.row(Part::Edges, e).swap(edge::FROM, edge::TO));
    for by in [1, u32::MAX] {
        for (field, kind) in [
            (edge::FROM, Kind("edge from another stage", &[0, 4])),
            (edge::TO, Kind("edge to another stage", &[0, 4])),
            (edge::PORT, Kind("edge to another port", &[4])),
        ] {
            trial.reject(kind, &site, |t| {
                let word = t.get(Part::Edges, e, field).wrapping_add(by);
                t.set(Part::Edges, e, field, word);
            });
        }
    }
}

/// Streams for holds, other tokens, other values.
fn kinds(trial: &mut Trial<'_>, e: usize) {
    let stream = trial.table().get(Part::Edges, e, edge::KIND) == 0;
    let put = |trial: &mut Trial<'_>, kind, words: &[(usize, u32)]| {
        trial.reject(kind, format_args!("edge {e}"), |t| {
            for &(field, word) in words {
                t.set(Part::Edges, e, field, word);
            }
        });
    };
    let more = |field| trial.table().get(Part::Edges, e, field) + 1;
    let (p, q, groups) = (more(edge::P), more(edge::Q), more(edge::GROUPS));
    let value = trial.table().get(Part::Edges, e, edge::VALUE);
    if stream {
        let hold = [(edge::KIND, 1), (edge::P, 0), (edge::Q, 0), (edge::GROUPS, 1)];
        put(trial, Kind("hold for a stream", &[4]), &hold);
        put(trial, Kind("tokens a producer firing", &[5]), &[(edge::P, p)]);
        put(trial, Kind("tokens a consumer firing", &[5]), &[(edge::Q, q)]);
    } else {
        let stream = [(edge::KIND, 0), (edge::P, 1), (edge::Q, 1), (edge::GROUPS, 0)];
        put(trial, Kind("stream for a hold", &[4]), &stream);
        put(trial, Kind("groups of a hold", &[4]), &[(edge::GROUPS, groups)]);
    }
    let other = if value == NONE { 0 } else { NONE };
    put(trial, Kind("value of an edge", &[4]), &[(edge::VALUE, other)]);
    if value != NONE {
        put(trial, Kind("value of an edge", &[4]), &[(edge::VALUE, value.saturating_sub(1))]);
    }
}

/// Two edges of one consumer exchanged.
fn neighbours(trial: &mut Trial<'_>, s: &SectionRows, e: usize) {
    let table = trial.table();
    if e + 1 == s.edges.end || table.get(Part::Edges, e, edge::TO) != table.get(Part::Edges, e + 1, edge::TO) {
        return;
    }
    trial.reject(Kind("edges out of order", &[4]), format_args!("edge {e}"), |t| {
        let (a, b) = (t.rows(Part::Edges)[e], t.rows(Part::Edges)[e + 1]);
        *t.row(Part::Edges, e) = b;
        *t.row(Part::Edges, e + 1) = a;
    });
    trial.reject(Kind("operands at each other's ports", &[4]), format_args!("edge {e}"), |t| {
        for field in [edge::FROM, edge::VALUE] {
            let (a, b) = (t.get(Part::Edges, e, field), t.get(Part::Edges, e + 1, field));
            t.set(Part::Edges, e, field, b);
            t.set(Part::Edges, e + 1, field, a);
        }
    });
}

/// A stage taken out with its edges, or put in twice; the edges of the others renumbered.
fn stages(trial: &mut Trial<'_>, s: &SectionRows, g: usize) {
    let own = (g - s.stages.start) as u32;
    trial.reject(Kind("stage dropped", &[0, 1, 4]), format_args!("stage {g}"), |t| {
        t.remove(Part::Stages, s.index, g);
        for e in s.edges.clone().rev() {
            let ends = [edge::FROM, edge::TO].map(|field| t.get(Part::Edges, e, field));
            if ends.contains(&own) {
                t.remove(Part::Edges, s.index, e);
            } else {
                t.set(Part::Edges, e, edge::FROM, ends[0] - u32::from(ends[0] > own));
                t.set(Part::Edges, e, edge::TO, ends[1] - u32::from(ends[1] > own));
            }
        }
    });
    trial.reject(Kind("stage doubled", &[1]), format_args!("stage {g}"), |t| {
        let row = t.rows(Part::Stages)[g];
        t.insert(Part::Stages, s.index, g, row);
        for e in s.edges.clone() {
            for field in [edge::FROM, edge::TO] {
                let end = t.get(Part::Edges, e, field);
                t.set(Part::Edges, e, field, end + u32::from(end > own));
            }
        }
    });
    for by in [1, u32::MAX] {
        for (field, kind) in [
            (stage::STATEMENT, Kind("stage of another statement", &[0, 1, 3, 4, 9])),
            (stage::PART, Kind("another part", &[0, 1])),
            (stage::PRIMITIVE, Kind("another primitive", &[0, 1, 4])),
        ] {
            trial.reject(kind, format_args!("stage {g}"), |t| {
                let word = t.get(Part::Stages, g, field).wrapping_add(by);
                t.set(Part::Stages, g, field, word);
            });
        }
    }
}

fn turns(trial: &mut Trial<'_>, s: &SectionRows, g: usize) {
    let put = |trial: &mut Trial<'_>, kind, turn| {
        trial.reject(kind, format_args!("stage {g}"), |t| t.set(Part::Stages, g, stage::TURN, turn));
    };
    match trial.table().get(Part::Stages, g, stage::TURN) {
        NONE if s.turns.is_empty() => {}
        NONE => put(trial, Kind("turn of what loads nothing", &[4]), 0),
        own => {
            put(trial, Kind("load in no turn", &[4]), NONE);
            for other in (0..s.turns.len() as u32).filter(|&other| other != own) {
                put(trial, Kind("load in another's turn", &[4, 6]), other);
            }
        }
    }
}

/// A turn that nobody takes, after the others of its tier.
fn idle_turn(trial: &mut Trial<'_>, s: &SectionRows) {
    trial.reject(Kind("turn without a load", &[4]), format_args!("section {}", s.index), |t| {
        let row = match s.turns.clone().next_back() {
            None => [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            Some(last) => {
                let end = t.wide(Part::Turns, last, turn::START) + t.wide(Part::Turns, last, turn::LENGTH);
                let mut row = t.rows(Part::Turns)[last];
                row[turn::START] = end as u32;
                row[turn::START + 1] = (end >> 32) as u32;
                (row[turn::LENGTH], row[turn::LENGTH + 1]) = (0, 0);
                row
            }
        };
        t.insert(Part::Turns, s.index, s.turns.end, row);
    });
}
