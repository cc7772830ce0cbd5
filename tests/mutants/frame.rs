//! Header, directory, digest, indices and limits.

use logos_bundle::table::layout::*;

use super::table::Table;
use super::trial::{Kind, Trial};

/// Words that are indices or counts of rows, and that nothing but an index may be in.
const INDICES: &[(Part, &[usize])] = &[
    (
        Part::Programs,
        &[
            program::VALUES,
            program::VALUES + 1,
            program::STATEMENTS,
            program::STATEMENTS + 1,
            program::SECTIONS,
            program::SECTIONS + 1,
            program::BINDINGS,
            program::BINDINGS + 1,
        ],
    ),
    (
        Part::Sections,
        &[
            section::PROGRAM,
            section::STAGES,
            section::STAGES + 1,
            section::EDGES,
            section::EDGES + 1,
            section::TURNS,
            section::TURNS + 1,
        ],
    ),
    (Part::Statements, &[statement::RESULT]),
    (Part::Stages, &[stage::STATEMENT]),
    (Part::Edges, &[edge::FROM, edge::TO]),
    (Part::Bindings, &[binding::VALUE]),
    (Part::Layers, &[layer::PROGRAM]),
];

/// Words that lie below a limit.
const LIMITED: &[(Part, &[usize], u32)] = &[
    (Part::Stages, &[stage::FIRINGS, stage::NA, stage::NB, stage::SITE], 1 << 22),
    (Part::Stages, &[stage::START + 1, stage::PERIOD + 1, stage::II + 1, stage::BYTES + 1], 1 << 8),
    (Part::Edges, &[edge::P, edge::Q, edge::GROUPS, edge::CAPACITY], 1 << 22),
    (Part::Sections, &[section::GROUP_ROWS, section::GROUPS], 1 << 22),
    (Part::Sections, &[section::INTERVAL + 1, section::SPAN + 1, section::BOUND + 1], 1 << 8),
    (Part::Turns, &[turn::START + 1, turn::LENGTH + 1], 1 << 8),
    (Part::Values, &[value::ROWS, value::COLS, value::SEQS], (1 << 30) + 1),
    (Part::Values, &[value::TILE, value::PARTS], 1 << 22),
    (Part::Programs, &[program::ROWS], 1 << 22),
    (Part::Deployment, &[deployment::CHIPS, deployment::SEQS, deployment::TOKENS], 1 << 22),
];

/// Words that name a string.
const STRINGS: &[(Part, &[usize])] = &[
    (Part::Deployment, &[deployment::MODEL]),
    (Part::Programs, &[program::NAME, program::TEXT]),
    (Part::Values, &[value::NAME]),
    (Part::Bindings, &[binding::NAME, binding::TENSOR]),
];

/// Words that mean nothing.
const RESERVED: &[(Part, &[usize])] = &[
    (Part::Values, &[14, 15]),
    (Part::Edges, &[11, 15]),
    (Part::Turns, &[1, 6, 15]),
    (Part::Ropes, &[15]),
    (Part::Bindings, &[15]),
    (Part::Layers, &[1, 7]),
];

pub(crate) fn run(trial: &mut Trial<'_>) {
    header_words(trial);
    reserved(trial);
    let table = trial.table();
    for &(part, fields) in INDICES {
        for row in 0..table.rows(part).len() {
            for &field in fields {
                for word in [NONE, 1 << 31] {
                    trial.reject(Kind("index past its part", &[0]), format_args!("{part:?} {row} {field}"), |t| {
                        t.set(part, row, field, word);
                    });
                }
            }
        }
    }
    for &(part, fields, limit) in LIMITED {
        for row in 0..named(table, part) {
            for &field in fields {
                trial.reject(Kind("number at its limit", &[0]), format_args!("{part:?} {row} {field}"), |t| {
                    t.set(part, row, field, limit);
                });
            }
        }
    }
    let bytes = trial.subject.words[header::STRING_BYTES];
    for &(part, fields) in STRINGS {
        for row in 0..named(table, part) {
            for &field in fields {
                trial.reject(Kind("string past the strings", &[0]), format_args!("{part:?} {row}"), |t| {
                    let offset = t.get(part, row, field);
                    t.set(part, row, field + 1, bytes - offset + 1);
                });
                trial.reject(Kind("string past the strings", &[0]), format_args!("{part:?} {row}"), |t| {
                    t.set(part, row, field, u32::MAX);
                });
            }
        }
    }
}

/// Rows of a part that have the fields of its first one: the deployment's words go on in its second.
fn named(table: &Table, part: Part) -> usize {
    if part == Part::Deployment { 1 } else { table.rows(part).len() }
}

fn reserved(trial: &mut Trial<'_>) {
    for field in deployment::SRAM_STATE_BYTES + 2..2 * ROW {
        trial.reject(Kind("reserved word", &[0]), format_args!("deployment {field}"), |t| {
            t.set(Part::Deployment, field / ROW, field % ROW, 1 << 31);
        });
    }
    for &(part, fields) in RESERVED {
        for row in 0..trial.table().rows(part).len() {
            for &field in fields {
                trial.reject(Kind("reserved word", &[0]), format_args!("{part:?} {row} {field}"), |t| {
                    t.set(part, row, field, 1 << 31);
                });
            }
        }
    }
}

fn header_words(trial: &mut Trial<'_>) {
    for word in (0..HEADER_ROWS * ROW).filter(|word| !(header::DIGEST..header::DIGEST + 2).contains(word)) {
        for change in [1u32, u32::MAX, 16, 1 << 31] {
            // String bytes may be any that the last string row is needed for.
            if word == header::STRING_BYTES && change != 1 << 31 {
                continue;
            }
            trial.reject_words(Kind("header and directory", &[0]), word, |words| {
                words[word] = words[word].wrapping_add(change);
            });
        }
    }
    for delta in [64, 64u32.wrapping_neg()] {
        trial.reject_words(Kind("bytes of the strings", &[0]), delta, |words| {
            words[header::STRING_BYTES] = words[header::STRING_BYTES].wrapping_add(delta);
        });
    }
    for bit in 0..64 {
        let mut words = trial.subject.words.clone();
        words[header::DIGEST + bit / 32] ^= 1 << (bit % 32);
        trial.judge(Kind("digest", &[12]), bit, &words);
    }
    // Rows of one part counted to the next.
    for part in 0..PARTS - 1 {
        let entry = header::DIRECTORY + 2 * part;
        if trial.subject.words[entry + 1] > 0 {
            trial.reject_words(Kind("a part's last row given to the next", &[0, 1]), part, |words| {
                words[entry + 1] -= 1;
                words[entry + 2] -= 1;
                words[entry + 3] += 1;
            });
        }
    }
}
