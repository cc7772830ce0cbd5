//! Time and bounds: initiation intervals, periods, starts, turns, rates, the loop, the interval and what binds it.

use logos_bundle::table::layout::{NONE, Part, edge, primitive, program, section, stage, turn};

use super::places::SectionRows;
use super::trial::{Kind, Trial};

pub(crate) fn run(trial: &mut Trial<'_>) {
    for s in trial.table().sections() {
        for g in s.stages.clone() {
            rates(trial, &s, g);
            starts(trial, &s, g);
        }
        windows(trial, &s);
        whole(trial, &s);
    }
}

fn rates(trial: &mut Trial<'_>, s: &SectionRows, g: usize) {
    let table = trial.table();
    let [ii, period] = [stage::II, stage::PERIOD].map(|field| table.wide(Part::Stages, g, field));
    let firings = u64::from(table.get(Part::Stages, g, stage::FIRINGS));
    let interval = table.wide(Part::Sections, s.index, section::INTERVAL);
    let mut put = |kind, field, number| {
        trial.reject(kind, format_args!("stage {g}"), |t| t.set_wide(Part::Stages, g, field, number));
    };
    put(Kind("initiation interval less one", &[0, 6]), stage::II, ii - 1);
    put(Kind("initiation interval and one", &[6]), stage::II, ii + 1);
    if period == ii {
        put(Kind("period below the initiation interval", &[0, 6]), stage::PERIOD, period - 1);
    }
    put(Kind("firings longer than the interval", &[6]), stage::PERIOD, interval / firings + 1);
}

fn starts(trial: &mut Trial<'_>, s: &SectionRows, g: usize) {
    let table = trial.table();
    let start = |g| table.wide(Part::Stages, g, stage::START);
    let interval = table.wide(Part::Sections, s.index, section::INTERVAL);
    let layers = u64::from(table.get(Part::Programs, s.program, program::LAYERS));
    let mut put = |kind, number| {
        trial.reject(kind, format_args!("stage {g}"), |t| t.set_wide(Part::Stages, g, stage::START, number));
    };
    // In a repeating section others wait for it, or it is the last and the span ends before.
    put(Kind("start some intervals late", &[6, 7]), start(g) + (layers + 2) * interval);
    let own = (g - s.stages.start) as u32;
    let producers = s.edges.clone().filter(|&e| table.get(Part::Edges, e, edge::TO) == own);
    let latest = producers.map(|e| start(s.stages.start + table.get(Part::Edges, e, edge::FROM) as usize)).max();
    if let Some(latest) = latest {
        // A consumer of the last start among its producers is always before that one's first token.
        put(Kind("start with its producer", &[6]), latest);
    }
    if table.get(Part::Stages, g, stage::TURN) != NONE {
        let window = s.turns.start + table.get(Part::Stages, g, stage::TURN) as usize;
        let [first, length] = [turn::START, turn::LENGTH].map(|field| table.wide(Part::Turns, window, field));
        if first > 0 {
            put(Kind("load before its turn", &[6]), first - 1);
        }
        put(Kind("load after its turn", &[6]), first + length);
    }
}

fn windows(trial: &mut Trial<'_>, s: &SectionRows) {
    let table = trial.table();
    let interval = table.wide(Part::Sections, s.index, section::INTERVAL);
    for w in s.turns.clone() {
        let length = table.wide(Part::Turns, w, turn::LENGTH);
        let tier = table.get(Part::Turns, w, turn::TIER);
        let before = (s.turns.start..w).rev().find(|&other| table.get(Part::Turns, other, turn::TIER) == tier);
        if let Some(before) = before {
            let end = table.wide(Part::Turns, before, turn::START) + table.wide(Part::Turns, before, turn::LENGTH);
            trial.reject(Kind("turns overlap", &[6]), format_args!("turn {w}"), |t| {
                t.set_wide(Part::Turns, w, turn::START, end - 1);
            });
            trial.reject(Kind("turns out of order", &[6]), format_args!("turn {w}"), |t| {
                let (a, b) = (t.rows(Part::Turns)[before], t.rows(Part::Turns)[w]);
                *t.row(Part::Turns, before) = b;
                *t.row(Part::Turns, w) = a;
                let places = [before, w].map(|turn| (turn - s.turns.start) as u32);
                for g in s.stages.clone() {
                    let turn = t.get(Part::Stages, g, stage::TURN);
                    if let Some(at) = places.iter().position(|&place| place == turn) {
                        t.set(Part::Stages, g, stage::TURN, places[1 - at]);
                    }
                }
            });
        }
        trial.reject(Kind("turn into the next interval's first", &[6]), format_args!("turn {w}"), |t| {
            t.set_wide(Part::Turns, w, turn::LENGTH, length + interval);
        });
        trial.reject(Kind("turn of no length", &[6]), format_args!("turn {w}"), |t| {
            t.set_wide(Part::Turns, w, turn::LENGTH, 0);
        });
        trial.reject(Kind("turn of another tier", &[0, 6]), format_args!("turn {w}"), |t| {
            t.set(Part::Turns, w, turn::TIER, 3 - tier);
        });
        let ahead = table.get(Part::Turns, w, turn::AHEAD);
        if ahead > 0 {
            let of = table.get(Part::Turns, w, turn::OF);
            let mut put = |kind, field, number| {
                trial.reject(kind, format_args!("turn {w}"), |t| t.set(Part::Turns, w, field, number));
            };
            put(Kind("a firing less read ahead", &[6]), turn::AHEAD, ahead - 1);
            put(Kind("a firing more read ahead", &[6]), turn::AHEAD, ahead + 1);
            put(Kind("head of itself", &[4]), turn::OF, (w - s.turns.start) as u32);
            put(Kind("head of another turn", &[6]), turn::OF, of + 1);
            trial.reject(Kind("nothing read ahead", &[4, 6]), format_args!("turn {w}"), |t| {
                t.set(Part::Turns, w, turn::AHEAD, 0);
                t.set(Part::Turns, w, turn::OF, 0);
            });
        }
        trial.reject(Kind("turn of no tier", &[0]), format_args!("turn {w}"), |t| t.set(Part::Turns, w, turn::TIER, 0));
    }
    // Loads as fast as can be written down: their bytes exceed the memory's rate.
    for g in s.stages.clone().filter(|&g| table.get(Part::Stages, g, stage::TURN) != NONE) {
        let bytes = table.wide(Part::Stages, g, stage::BYTES);
        if bytes > 4096 {
            trial.reject(Kind("load faster than its memory", &[6]), format_args!("stage {g}"), |t| {
                t.set_wide(Part::Stages, g, stage::PERIOD, 1);
                t.set_wide(Part::Stages, g, stage::II, 1);
            });
        }
    }
}

/// Interval, span, bound and binder of a section.
fn whole(trial: &mut Trial<'_>, s: &SectionRows) {
    let table = trial.table();
    let [interval, span, bound] =
        [section::INTERVAL, section::SPAN, section::BOUND].map(|field| table.wide(Part::Sections, s.index, field));
    let sections = table.get(Part::Programs, s.program, program::SECTIONS + 1);
    let looped = table.get(Part::Programs, s.program, program::ROLE) == 1 && sections == 1;
    let mut put = |kind, field, number: u64| {
        trial.reject(kind, format_args!("section {}", s.index), |t| t.set_wide(Part::Sections, s.index, field, number));
    };
    put(Kind("interval less one", &[0, 6, 7, 8]), section::INTERVAL, interval - 1);
    put(Kind("interval below the bound", &[0, 8]), section::INTERVAL, bound - 1);
    put(Kind("span less one", &[6]), section::SPAN, span - 1);
    put(Kind("bound less one", &[8]), section::BOUND, bound - 1);
    put(Kind("bound and one", &[8]), section::BOUND, bound + 1);
    if sections > 1 {
        put(Kind("interval shorter than a span that runs once", &[6]), section::SPAN, interval + 1);
    }
    for binder in 0..=4 {
        trial.reject(Kind("another binder", &[8]), format_args!("section {} {binder}", s.index), |t| {
            t.set(Part::Sections, s.index, section::BINDER, binder);
        });
    }
    if looped {
        // The store of what is shown is the layer's last stage.
        let mut stores = s.stages.clone().filter(|&g| table.get(Part::Stages, g, stage::PRIMITIVE) == primitive::STORE);
        if let Some(last) = stores.next_back() {
            trial.reject(Kind("result late for the next layer", &[6]), format_args!("stage {last}"), |t| {
                let start = t.wide(Part::Stages, last, stage::START);
                t.set_wide(Part::Stages, last, stage::START, start + interval);
                t.set_wide(Part::Sections, s.index, section::SPAN, span + interval);
            });
        }
    }
}
