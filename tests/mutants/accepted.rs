//! What must be accepted: changes that leave a certificate sound. A checker that refuses these holds the compiler's habits,
//! not the rules.

use logos_bundle::check::{Verdicts, all};
use logos_bundle::table::layout::{
    NONE, Part, ROW, binding, chip, deployment, edge, program, section, stage, turn, value,
};

use super::places::SectionRows;
use super::subjects::{Subject, big, small};
use super::table::Table;

fn accept(subject: &Subject, what: &str, change: impl FnOnce(&mut Table)) {
    let mut table = subject.table.clone();
    change(&mut table);
    assert_ne!(table, subject.table, "{}: {what}: nothing was changed", subject.name);
    let verdicts = all(&table.words());
    assert!(verdicts.hold(), "{}: {what}: {}", subject.name, told(&verdicts));
}

fn told(verdicts: &Verdicts) -> String {
    verdicts.first_fault().map_or_else(|| "not gone through".to_owned(), |fault| fault.to_string())
}

fn subjects() -> impl Iterator<Item = &'static Subject> {
    small().iter().chain(big())
}

#[test]
fn a_credit_more_with_the_buffers_after_it_moved() {
    let mut changed = 0;
    for subject in subjects() {
        let table = &subject.table;
        let (row, field) = (deployment::SRAM_STATE_BYTES / ROW, deployment::SRAM_STATE_BYTES % ROW);
        let kept = table.wide(Part::Deployment, row, field) as u32;
        let free = table.get(Part::Chip, 0, chip::CELLS) * table.get(Part::Chip, 0, chip::SCRATCHPAD) - kept;
        for s in table.sections() {
            for e in s.edges.clone().step_by(3) {
                let streams = table.get(Part::Edges, e, edge::KIND) == 0;
                let [p, q] = [edge::P, edge::Q].map(|field| table.get(Part::Edges, e, field));
                let slot = table.get(Part::Edges, e, edge::SLOT_BYTES);
                let end = s.edges.clone().next_back().map_or(0, |last| table.buffer_end(last));
                // A capacity is a multiple of the common rate of both ends, and the last buffer must still fit.
                let more = if streams { p.max(1) * q.max(1) } else { 1 };
                let room = (more * slot).next_multiple_of(64);
                if end + room > free / 10 * 9 {
                    continue;
                }
                accept(subject, &format!("edge {e}"), |t| {
                    let capacity = t.get(Part::Edges, e, edge::CAPACITY);
                    t.set(Part::Edges, e, edge::CAPACITY, capacity + more);
                    for after in e + 1..s.edges.end {
                        let address = t.get(Part::Edges, after, edge::ADDRESS);
                        t.set(Part::Edges, after, edge::ADDRESS, address + room);
                    }
                });
                changed += 1;
            }
        }
    }
    assert!(changed > 100, "{changed}");
}

#[test]
fn a_longer_interval_and_a_longer_span() {
    for subject in subjects() {
        for s in subject.table.sections() {
            let [interval, span] =
                [section::INTERVAL, section::SPAN].map(|field| subject.table.wide(Part::Sections, s.index, field));
            accept(subject, "interval", |t| longer(t, &s, 1));
            accept(subject, "twice the interval", |t| longer(t, &s, interval));
            accept(subject, "span", |t| {
                t.set_wide(Part::Sections, s.index, section::SPAN, span + 1);
                longer(t, &s, (span + 1).saturating_sub(interval));
            });
        }
    }
}

/// An interval that is longer by so many cycles. Loads that an earlier interval's turn serves stay an interval before it: all else is later.
fn longer(t: &mut Table, s: &SectionRows, by: u64) {
    let add = |t: &mut Table, part, row, field| {
        let number = t.wide(part, row, field);
        t.set_wide(part, row, field, number + by);
    };
    add(t, Part::Sections, s.index, section::INTERVAL);
    let early = |t: &Table, g: usize| {
        let turn = t.get(Part::Stages, g, stage::TURN);
        let begins = |turn: u32| t.wide(Part::Turns, s.turns.start + turn as usize, turn::START);
        // Of what a head reads ahead, all else is in its turn.
        let headed = |of| {
            let is_of = |w: usize| t.get(Part::Turns, w, turn::AHEAD) > 0 && t.get(Part::Turns, w, turn::OF) == of;
            s.turns.clone().any(is_of)
        };
        turn != NONE && !headed(turn) && t.wide(Part::Stages, g, stage::START) < begins(turn)
    };
    let early: Vec<bool> = s.stages.clone().map(|g| early(t, g)).collect();
    if early.contains(&true) {
        for (g, _) in s.stages.clone().zip(early).filter(|(_, early)| !early) {
            add(t, Part::Stages, g, stage::START);
        }
        for w in s.turns.clone() {
            add(t, Part::Turns, w, turn::START);
        }
        add(t, Part::Sections, s.index, section::SPAN);
    }
}

/// Everything later by the same: loads, turns and all.
#[test]
fn a_whole_section_later() {
    for subject in subjects() {
        accept(subject, "later", |t| {
            for (part, field) in [(Part::Stages, stage::START), (Part::Turns, logos_bundle::table::layout::turn::START)]
            {
                for row in 0..t.rows(part).len() {
                    let start = t.wide(part, row, field);
                    t.set_wide(part, row, field, start + 1000);
                }
            }
        });
    }
}

/// The big prefill leaves no room above its buffers.
#[test]
fn buffers_higher_up() {
    for subject in small() {
        accept(subject, "addresses", |t| {
            for e in 0..t.rows(Part::Edges).len() {
                let address = t.get(Part::Edges, e, edge::ADDRESS);
                t.set(Part::Edges, e, edge::ADDRESS, address + 64);
            }
        });
    }
}

/// The last store of a section that runs once or does not loop may come later, if the span says so.
#[test]
fn slack_off_the_critical_path() {
    let mut changed = 0;
    for subject in subjects() {
        let table = &subject.table;
        for s in table.sections().filter(|s| table.get(Part::Programs, s.program, program::ROLE) == 2) {
            let last = s.stages.clone().next_back().expect("a section has stages");
            accept(subject, &format!("stage {last}"), |t| {
                let start = t.wide(Part::Stages, last, stage::START);
                t.set_wide(Part::Stages, last, stage::START, start + 1);
                for field in [section::SPAN, section::INTERVAL] {
                    let cycles = t.wide(Part::Sections, s.index, field);
                    t.set_wide(Part::Sections, s.index, field, cycles + 1);
                }
            });
            changed += 1;
        }
    }
    assert!(changed >= 8, "{changed}");
}

#[test]
fn renamed_strings() {
    for subject in subjects() {
        accept(subject, "names", |t| {
            t.rename(Part::Deployment, 0, deployment::MODEL, "another name, ausführlicher");
            for p in 0..t.rows(Part::Programs).len() {
                t.rename(Part::Programs, p, program::NAME, &format!("program {p}"));
            }
            for v in 0..t.rows(Part::Values).len() {
                t.rename(Part::Values, v, value::NAME, &format!("value{v}"));
            }
            for b in 0..t.rows(Part::Bindings).len() {
                t.rename(Part::Bindings, b, binding::NAME, &format!("value{b}_of_{{l}}"));
            }
        });
    }
}

/// Weights that nothing keeps from lying elsewhere in the same memory have no address at all; an activation that no program
/// hands on may be shown from any memory. The ids that a head shows are read by the host.
#[test]
fn shown_ids_in_another_memory() {
    for subject in subjects() {
        let table = &subject.table;
        let head = table.programs().find(|program| program.role == 2).expect("a head");
        let mut ids = head.values.clone().filter(|&v| table.get(Part::Values, v, value::ROLE) == 4);
        let shown = ids.rfind(|&v| table.get(Part::Values, v, value::TIER) != NONE);
        let Some(shown) = shown else { continue };
        if table.get(Part::Values, shown, value::COLS) == 1 {
            accept(subject, "tier", |t| t.set(Part::Values, shown, value::TIER, 1));
        }
    }
}
