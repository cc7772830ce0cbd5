//! Every word of every row, changed alone: what still passes is a number the table holds by choice. Those are listed here,
//! each with why; any other word that passes is a hole.

use std::collections::BTreeMap;

use logos_bundle::check::all;
use logos_bundle::table::layout::*;
use logos_bundle::view::Bundle;
use logos_core::inspect;

use super::subjects::{Subject, big, small};
use super::table::seal;

/// Why a word may be another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    /// Another program or another chip, which its text, its names or the chip's facts contradict.
    Text,
    /// Where a name lies: another name, which the text contradicts, or the same letters elsewhere.
    Name,
    /// Another model: names of tensors, identities. Only the config says.
    Model,
    /// More is sound as well: an interval, a span, a credit.
    More,
    /// A time, a place or an address with slack around it.
    Slack,
    /// Read by no rule and no stage: columns of a token of what is never cut into tokens, the memory of ids.
    Unread,
}

use Why::{Model, More, Name, Slack, Text, Unread};

/// The words that may differ.
const FREE: &[(Part, &[usize], Why)] = &[
    (Part::Deployment, &[deployment::MODEL, deployment::MODEL + 1, deployment::MAX_CTX], Model),
    (Part::Deployment, &[deployment::CHIPS], Text),
    (Part::Programs, &[program::NAME, program::NAME + 1], Model),
    (Part::Programs, &[program::TEXT, program::TEXT + 1], Text),
    (Part::Sections, &[section::INTERVAL, section::INTERVAL + 1, section::SPAN, section::SPAN + 1], More),
    (Part::Values, &[value::NAME, value::NAME + 1], Name),
    // A recipe of the same numbers.
    (Part::Values, &[value::ROPE], Name),
    // As many bytes an element.
    (Part::Values, &[value::STORAGE], Text),
    (Part::Values, &[value::TILE, value::TIER], Unread),
    (Part::Statements, &[statement::OP], Text),
    (Part::Stages, &[stage::SITE, stage::START, stage::PERIOD], Slack),
    (Part::Edges, &[edge::CAPACITY], More),
    (Part::Edges, &[edge::ADDRESS], Slack),
    // A turn that is all of a memory's cycle may begin anywhere in it.
    (Part::Turns, &[turn::START, turn::LENGTH], Slack),
    (Part::Bindings, &[binding::NAME, binding::NAME + 1], Name),
    (Part::Bindings, &[binding::TENSOR, binding::TENSOR + 1], Model),
    // Of a square weight.
    (Part::Bindings, &[binding::TRANSPOSED, binding::TAKEN], Model),
];

fn why(part: Part, field: usize) -> Option<Why> {
    let listed = FREE.iter().find(|(of, fields, _)| *of == part && fields.contains(&field));
    match part {
        Part::Chip | Part::Ropes => Some(Text),
        Part::Statements if field >= statement::ATTRIBUTES => Some(Text),
        Part::Layers if field >= layer::IDENTITY => Some(Model),
        Part::Digests if field >= digest::TEXT => Some(Text),
        Part::Digests => Some(Model),
        _ => listed.map(|(_, _, why)| *why),
    }
}

/// Parts whose rows rules read; the strings are the text's.
const PARTS_READ: [Part; 13] = [
    Part::Deployment,
    Part::Chip,
    Part::Programs,
    Part::Sections,
    Part::Values,
    Part::Statements,
    Part::Stages,
    Part::Edges,
    Part::Turns,
    Part::Ropes,
    Part::Bindings,
    Part::Layers,
    Part::Digests,
];

const CHANGES: [fn(u32) -> u32; 5] =
    [|word| word.wrapping_add(1), |word| word.wrapping_sub(1), |word| word / 2, |_| 0, |_| u32::MAX];

/// Changes every `step`-th row of each part, word by word.
fn sweep(subject: &Subject, step: usize) {
    let mut words = subject.words.clone();
    let mut told: BTreeMap<(u32, usize, usize), u32> = BTreeMap::new();
    for part in PARTS_READ {
        let first = subject.words[header::DIRECTORY + 2 * part as usize] as usize * ROW;
        for row in (0..subject.table.rows(part).len()).step_by(step) {
            for field in 0..ROW {
                let at = first + row * ROW + field;
                let old = words[at];
                for (change, new) in CHANGES.iter().map(|change| change(old)).enumerate() {
                    if new == old {
                        continue;
                    }
                    words[at] = new;
                    seal(&mut words);
                    if all(&words).hold() {
                        let what = format!("{}: {part:?} row {row} word {field}: {old} as {new}", subject.name);
                        // Chip words are numbered over both rows; what the sweep asks is the same of either.
                        let why = why(part, field).unwrap_or_else(|| panic!("{what} passes every rule"));
                        match why {
                            More => assert!(new > old, "{what}: less is not sound"),
                            Text | Name => {
                                let told = told.entry((part as u32, field, change)).or_default();
                                *told += 1;
                                // The text is read again for the first few of each change: reading is what takes long.
                                if *told <= 2 && inspect::verify(&words).is_ok() {
                                    let same = why == Name && printed(&words) == printed(&subject.words);
                                    assert!(same, "{what} passes rules and text");
                                }
                            }
                            Model | Slack | Unread => {}
                        }
                    }
                }
                words[at] = old;
            }
        }
    }
}

/// Every value and binding by name.
fn printed(words: &[u32]) -> Vec<String> {
    let bundle = Bundle::read(words).expect("a bundle");
    let values = bundle.programs().flat_map(|program| program.values()).map(|value| value.to_string());
    let bindings = bundle.programs().flat_map(|program| program.bindings()).map(|binding| binding.to_string());
    values.chain(bindings).collect()
}

#[test]
fn every_word_of_small_bundles() {
    for (n, subject) in small().iter().enumerate() {
        // Every row of the one with most kinds of statement; of the others every third.
        sweep(subject, if n == 0 { 1 } else { 3 });
    }
}

#[test]
fn words_of_big_bundles() {
    for subject in big() {
        sweep(subject, 7);
    }
}
