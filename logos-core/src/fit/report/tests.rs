//! No number of a document stands bare; figures are those of the certified rows.

use std::collections::BTreeSet;

use serde_json::Value;

use super::trace::{Traced, names};
use super::*;
use crate::chip::{self, Chip, Field};
use crate::fit::{Gemm, Tile};
use crate::language::ast::Storage;
use crate::ops;

mod gemm;
mod model;

/// Every number of a document with its JSON pointer, cited figures left out: they carry their own source.
fn figures(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => {}
        Value::Number(_) => found.push(at.to_owned()),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                figures(item, &format!("{at}/{index}"), found);
            }
        }
        Value::Object(members) => {
            if members.keys().eq(["value", "provenance", "cite"]) {
                return;
            }
            for (name, item) in members {
                figures(item, &format!("{at}/{name}"), found);
            }
        }
    }
}

/// Every cited figure's sources are spelled out in the chip's block.
fn cited(value: &Value, known: &BTreeSet<&String>) {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Number(_) => {}
        Value::Array(items) => items.iter().for_each(|item| cited(item, known)),
        Value::Object(members) => {
            if let (Some(Value::String(cite)), true) = (members.get("cite"), members.contains_key("provenance")) {
                assert!(!cite.is_empty(), "{value}");
                for key in cite.split(", ") {
                    assert!(known.contains(&key.to_owned()), "{key} of {value} is spelled out nowhere");
                }
            }
            members.values().for_each(|item| cited(item, known));
        }
    }
}

/// What the config has, by path.
fn paths(value: &Value, at: &str, found: &mut BTreeSet<String>) {
    let Value::Object(members) = value else { return };
    for (name, item) in members {
        let path = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
        paths(item, &path, found);
        found.insert(path);
    }
}

/// F1: every number has a row of the trace, and what a row names exists.
pub(super) fn every_figure_is_traced(document: &Value, config: &Value) {
    let trace = document["provenance"]["trace"].as_array().expect("a trace");
    let patterns: Vec<&str> = trace.iter().map(|row| row["figures"].as_str().expect("figures")).collect();
    let mut found = Vec::new();
    figures(document, "", &mut found);
    assert!(found.len() > 20, "{document}");
    // Items of a list are alike.
    let mut seen = BTreeSet::new();
    for pointer in &found {
        let steps = pointer.split('/').map(|step| if step.parse::<usize>().is_ok() { "*" } else { step });
        if seen.insert(steps.collect::<Vec<_>>().join("/")) {
            let rows = patterns.iter().filter(|pattern| names(pattern, pointer)).count();
            assert_eq!(rows, 1, "rows that {pointer} comes from");
        }
    }
    let operations: Vec<&str> = ops::FORMS.iter().map(|(form, _)| form.name).collect();
    let mut keys = BTreeSet::new();
    paths(config, "", &mut keys);
    for row in trace {
        let listed = |member: &str| -> Vec<String> {
            let list = row[member].as_array().map_or(&[][..], Vec::as_slice);
            list.iter().map(|name| name.as_str().expect("a name").to_owned()).collect()
        };
        assert!(!row["how"].as_str().expect("how").is_empty(), "{row}");
        for name in listed("operations") {
            assert!(operations.contains(&name.as_str()), "no operation {name}");
        }
        for name in listed("facts") {
            assert!(Field::ALL.iter().any(|field| field.as_str() == name), "no fact {name}");
        }
        for group in listed("config") {
            assert!(document["provenance"]["keys"][&group].is_array(), "no group {group}");
        }
    }
    let groups = document["provenance"]["keys"].as_object().expect("groups of keys");
    for path in groups.values().flat_map(|paths| paths.as_array().expect("paths")) {
        assert!(keys.contains(path.as_str().expect("a path")), "no key {path}");
    }
    let cites = document["chip"]["cites"].as_object().expect("cites");
    cited(document, &cites.keys().collect());
    no_field_is_a_time(document);
}

/// F1: no field is a time, a rate of ours, or a speed.
fn no_field_is_a_time(value: &Value) {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Number(_) => {}
        Value::Array(items) => items.iter().for_each(no_field_is_a_time),
        Value::Object(members) => {
            for (name, item) in members {
                let words: Vec<&str> = name.split('_').collect();
                for word in ["seconds", "ms", "us", "ns", "time", "latency", "throughput", "speedup", "hz", "watts"] {
                    assert!(!words.contains(&word), "{name}");
                }
                let ours = !name.starts_with("vendor_");
                assert!(!(ours && words.contains(&"s")), "{name} is a rate");
                no_field_is_a_time(item);
            }
        }
    }
}

#[test]
fn a_pattern_names_steps() {
    assert!(names("/a/*/b", "/a/3/b"));
    for (pattern, pointer) in [("/a/*", "/a"), ("/a/*", "/a/1/b"), ("/a", "/b"), ("/a/b", "/a")] {
        assert!(!names(pattern, pointer), "{pattern} {pointer}");
    }
}

fn text_of(trace: &[Traced], figures: &str) -> String {
    trace.iter().find(|row| row.figures == figures).map(|row| row.how.to_owned()).unwrap_or_default()
}
