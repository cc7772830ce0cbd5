//! Payload: what a statement says beside its operands' shapes. Where the rules derive something from an attribute they reject
//! another; what changes only the numbers computed, no row but the statement's own knows. The text does:
//! `logos_core::inspect` reads it again. Which is which is written down here.

use std::collections::{BTreeMap, BTreeSet};

use logos_bundle::check::all;
use logos_bundle::table::layout::{NONE, Part, rope, statement};
use logos_bundle::view::{Attribute, Bundle};
use logos_core::inspect;

use super::subjects::{Subject, small};
use super::table::Table;

/// What became of mutants of one thing that a statement says.
#[derive(Default)]
struct Seen {
    rules: u32,
    text: u32,
}

/// Mutants by what they change.
#[derive(Default)]
struct Record(BTreeMap<String, Seen>);

impl Record {
    /// Both opinions on a changed table; one of them must refuse it.
    fn judge(&mut self, subject: &Subject, what: String, change: impl FnOnce(&mut Table)) {
        let mut table = subject.table.clone();
        change(&mut table);
        if table == subject.table {
            return;
        }
        let words = table.words();
        let seen = self.0.entry(what.clone()).or_default();
        if !all(&words).hold() {
            seen.rules += 1;
            return;
        }
        assert!(inspect::verify(&words).is_err(), "{}: {what}: accepted by rules and text", subject.name);
        seen.text += 1;
    }

    /// What only the text refuses, at some place.
    fn only_text(&self) -> BTreeSet<&str> {
        self.0.iter().filter(|(_, seen)| seen.text > 0).map(|(what, _)| what.as_str()).collect()
    }
}

/// A statement's row, its operation, its attributes.
type Stated = (usize, String, Vec<(&'static str, Attribute)>);

/// Each statement row with its name and its attributes' names.
fn statements(subject: &Subject) -> Vec<Stated> {
    let bundle = Bundle::read(&subject.words).expect("a bundle");
    let all = bundle.programs().flat_map(|program| program.statements());
    all.enumerate().map(|(row, s)| (row, s.operation().to_string(), s.attributes().collect())).collect()
}

#[test]
fn every_attribute_is_seen_by_the_rules_or_the_text() {
    let mut record = Record::default();
    for subject in small() {
        for (row, name, attributes) in statements(subject) {
            for (at, (attribute, value)) in attributes.iter().enumerate() {
                let word = subject.table.get(Part::Statements, row, statement::ATTRIBUTES + at);
                let others = match value {
                    Attribute::Real(real) => [word + 1, (real * 2.0 + 0.5).to_bits(), (-real).to_bits(), 0],
                    Attribute::Count(_) => [word + 1, word.wrapping_sub(1), 2 * word, word ^ 1],
                    _ => panic!("{attribute} of {name} is of a new kind"),
                };
                for other in others {
                    record.judge(subject, format!("{attribute} of {name}"), |t| {
                        t.set(Part::Statements, row, statement::ATTRIBUTES + at, other);
                    });
                }
            }
        }
    }
    let expected = BTreeSet::from(ONLY_TEXT_ATTRIBUTES.map(|(attribute, name)| format!("{attribute} of {name}")));
    assert_eq!(record.only_text(), expected.iter().map(String::as_str).collect());
    assert!(record.0.len() > ONLY_TEXT_ATTRIBUTES.len(), "some attributes the rules see");
}

/// Attributes of which some other value passes the rules: they bear on what is computed, not on any row.
const ONLY_TEXT_ATTRIBUTES: [(&str, &str); 25] = [
    ("activation", "experts"),
    ("adjacent", "rope"),
    ("alpha", "experts"),
    ("chunk", "attention"),
    ("eps", "l2norm"),
    ("eps", "layernorm"),
    ("eps", "rmsnorm"),
    ("flags", "router"),
    ("groups", "router"),
    // Heads that another count cuts as evenly: the tokens are the same, the norm and the rotation are not.
    ("heads", "l2norm"),
    ("heads", "rmsnorm"),
    ("heads", "rope"),
    ("input scaled", "experts"),
    ("kept", "router"),
    ("limit", "experts"),
    ("offset", "rmsnorm"),
    ("scale", "attention"),
    ("scale", "l2norm"),
    ("scale", "latent attention"),
    ("scale", "router"),
    ("score", "router"),
    ("silu", "causal conv"),
    ("softcap", "attention"),
    ("tanh", "gelu"),
    // Up to the context a window bounds the cache; above it, it bounds nothing.
    ("window", "attention"),
];

#[test]
fn every_operation_is_told_from_every_other() {
    let mut record = Record::default();
    for subject in small() {
        let named = statements(subject);
        let codes: BTreeMap<u32, &str> = named
            .iter()
            .map(|(row, name, _)| (subject.table.get(Part::Statements, *row, statement::OP), name.as_str()))
            .collect();
        for (row, name, _) in &named {
            for (&code, other) in &codes {
                record.judge(subject, format!("{other} for {name}"), |t| {
                    t.set(Part::Statements, *row, statement::OP, code);
                });
            }
        }
    }
    assert_eq!(record.only_text(), BTreeSet::from(ONLY_TEXT_OPERATIONS));
}

/// Operations of the same form, whose elementwise operations take the same passes.
const ONLY_TEXT_OPERATIONS: [&str; 7] = [
    "plus for swiglu",
    "plus for times",
    "rmsnorm for l2norm",
    "swiglu for plus",
    "swiglu for times",
    "times for plus",
    "times for swiglu",
];

#[test]
fn every_operand_is_told_from_every_other() {
    let mut record = Record::default();
    // One decode with both kinds of layer is enough: every operand is tried with every value of its program.
    let subject = &small()[0];
    for program in subject.table.programs() {
        for row in program.statements.clone() {
            for at in 0..statement::OPERAND_COUNT {
                let own = subject.table.get(Part::Statements, row, statement::OPERANDS + at);
                for other in (0..program.values.len() as u32).chain([NONE]).filter(|_| own != NONE) {
                    record.judge(subject, "operand".to_owned(), |t| {
                        t.set(Part::Statements, row, statement::OPERANDS + at, other);
                    });
                }
            }
        }
    }
    let seen = &record.0["operand"];
    assert!(seen.rules > 50 * seen.text, "{} by the rules, {} by the text alone", seen.rules, seen.text);
}

#[test]
fn every_word_of_a_recipe_is_seen_by_the_text() {
    let mut record = Record::default();
    for subject in small() {
        let recipes = subject.table.rows(Part::Ropes);
        for (row, recipe) in recipes.iter().enumerate() {
            // Cosines and sines of one recipe must agree with each other: changed alone, the rules see it. Changed together, or
            // where there is only one, as of a temperature, the text does.
            let alike: Vec<usize> = (0..recipes.len()).filter(|&r| recipes[r][1..] == recipe[1..]).collect();
            for (word, &old) in recipe.iter().enumerate().take(rope::FACTORS + 1) {
                for other in [old.wrapping_add(1), old ^ 1 << 20, old.wrapping_mul(3)] {
                    if alike.len() > 1 {
                        record.judge(subject, format!("word {word}"), |t| t.set(Part::Ropes, row, word, other));
                    }
                    record.judge(subject, format!("word {word} of all alike"), |t| {
                        alike.iter().for_each(|&row| t.set(Part::Ropes, row, word, other));
                    });
                }
            }
        }
    }
    assert!(record.only_text().iter().all(|what| what.ends_with("of all alike")), "{:?}", record.only_text());
}
