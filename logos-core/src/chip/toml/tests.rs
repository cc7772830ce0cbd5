//! What is read here is TOML, and means what TOML says: the `toml` crate is asked.

use super::{Document, Value, read};
use crate::chip::{Chip, NAMES, text};

const EX1: &str = include_str!("../../../../tests/fixtures/chips/ex1.toml");

/// What TOML makes of a value.
fn same(ours: &Value<'_>, theirs: &toml::Value) -> bool {
    match ours {
        Value::Number(n) => theirs.as_integer() == i64::try_from(*n).ok(),
        Value::Text(text) => theirs.as_str() == Some(text),
        Value::List(items) => theirs.as_array().is_some_and(|list| {
            let texts: Option<Vec<&str>> = list.iter().map(toml::Value::as_str).collect();
            texts.is_some_and(|texts| texts.into_iter().eq(items.iter().map(|(_, text)| text.as_ref())))
        }),
    }
}

/// A file that is read without an error is TOML with the same entries.
fn agrees(text: &str, document: &Document<'_>) {
    let theirs: toml::Table = text.parse().unwrap_or_else(|error| panic!("{error}: {text}"));
    let mut entries = 0;
    for table in &document.tables {
        let found = match table.group {
            "" => &theirs,
            group => theirs[group].as_table().and_then(|group| group[table.name].as_table()).expect("a table"),
        };
        for entry in &document.entries[table.entries.clone()] {
            assert!(same(&entry.value, &found[entry.key]), "{} = {:?}", entry.key, entry.value);
            assert!(text[entry.at..].starts_with(entry.key));
            entries += 1;
        }
    }
    let count = |table: &toml::Table| table.values().filter(|value| !value.is_table()).count();
    let groups = theirs.values().filter_map(toml::Value::as_table).flat_map(toml::Table::values);
    let all: usize = groups.filter_map(toml::Value::as_table).map(count).sum::<usize>() + count(&theirs);
    assert_eq!(entries, all, "{text}");
}

#[test]
fn chip_files_are_toml() {
    for text in NAMES.iter().map(|name| text(name).unwrap()).chain([EX1]) {
        let mut errors = Vec::new();
        let document = read(text, &mut errors);
        assert_eq!(errors, []);
        agrees(text, &document);
    }
}

#[test]
fn forms_that_are_read_mean_what_toml_says() {
    for text in [
        "",
        "a = 1",
        "a=1#",
        "\t a\t=\t1 \t# c\r\nb = \"x\" # \"y\"\r\n",
        "a-b_3 = 0\n1 = 1_000_000",
        "a = 9_223_372_036_854_775_807",
        "a = \"\"\nb = \"# not a comment\"\nc = \"\\\\\"\nd = \"\\\"\\\\\\\"é\\\"\"",
        "a = []\nb = [ ]\nc = [\"x\"]\nd = [ \"x\" , \"y\" , ]\ne = [\"a,b\",\"]\"]",
        "[g.n]\na = 1\n[h.n]\na = 2\n[g.m] # c\n",
        "# über\n[g.n]#\na = \"ü\"",
    ] {
        let mut errors = Vec::new();
        let document = read(text, &mut errors);
        assert_eq!(errors, [], "{text}");
        agrees(text, &document);
    }
}

#[test]
fn what_toml_refuses_is_refused() {
    for text in [
        "a = 01",
        "a = 1_",
        "a = _1",
        "a = 1__0",
        "a = 9223372036854775808",
        "a = 1a",
        "a = \"\\x\"",
        "a = \"x",
        "a = \"x\"y",
        "a = [\"x\" \"y\"]",
        "a = [,]",
        "a = [\"x\",,]",
        "a = [\"x\"",
        "a =",
        "a",
        "= 1",
        "a b = 1",
        "a = 1 2",
        "[a.b",
        "[a.]",
        "[.b]",
        "[a.b] c",
        "a = \"\u{1}\"",
        "# \u{7f}",
        "a = 1\rb = 2",
        "a = 1\na = 2",
        "ä = 1",
        "a = \"\"\"",
    ] {
        let mut errors = Vec::new();
        read(text, &mut errors);
        assert!(!errors.is_empty(), "{text:?} was read");
        assert!(text.parse::<toml::Table>().is_err(), "{text:?} is TOML");
    }
}

#[test]
fn what_else_toml_has_is_refused() {
    for text in [
        "a = -1",
        "a = +1",
        "a = 0x10",
        "a = 1.5",
        "a = 1e3",
        "a = true",
        "a = 2026-02-24",
        "a = 'x'",
        "a = \"\"\"x\"\"\"",
        "a = \"\\n\"",
        "a = [1]",
        "a = [\n\"x\"]",
        "a = { b = 1 }",
        "a.b = 1",
        "\"a\" = 1",
        "[a]",
        "[a.b.c]",
        "[[a.b]]",
        "[ a.b ]",
        "[a . b]",
        "[\"a\".b]",
    ] {
        let mut errors = Vec::new();
        read(text, &mut errors);
        assert!(!errors.is_empty(), "{text:?} was read");
        assert!(text.parse::<toml::Table>().is_ok(), "{text:?} is no TOML");
    }
}

/// Bytes of a file changed: what still is a chip is still TOML, and says the same.
#[test]
fn a_chip_that_is_read_is_toml() {
    let others = *b"\"\n[]=#9_\\ ,.\t\r'x";
    let mut chips = 0;
    for (at, &byte) in (0..EX1.len()).step_by(2).zip(others.iter().cycle()) {
        let mut changed = EX1.as_bytes().to_vec();
        changed[at] = byte;
        if Chip::read("c", &changed).is_ok() {
            let text = String::from_utf8(changed).unwrap();
            agrees(&text, &read(&text, &mut Vec::new()));
            chips += 1;
        }
    }
    assert!(chips > 100, "only {chips} were chips");
}
