//! A chip file to a [`Chip`], or to every reason why it is none, each with its line and column.
//!
//! The file is the subset of TOML that [`toml`](super::toml) reads: `name`, `part` and `target`, then a table
//! `[facts.FIELD]` a fact and a table `[sources.KEY]` a source, in any order. The chips that come with the compiler are such files.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Chip;
use super::fact::{Fact, Provenance, Source, Value};
use super::field::{Field, Form};
use super::figures::Figures;
use super::precision::Precision;
use super::toml::{self, Document, Entry, Offset, Table, Value as Read};
use crate::refusal::nearest;
use crate::{At, Code, Refusal};

/// Largest chip file taken, bytes; the ones here are under 10 KB.
pub const LARGEST_CHIP_BYTES: usize = 1 << 20;

/// Most refusals of one file.
const MOST_REFUSALS: usize = 64;

const FACT_KEYS: [&str; 5] = ["value", "unit", "provenance", "cite", "note"];
const SOURCE_KEYS: [&str; 4] = ["title", "publisher", "date", "url"];
const ROOT_KEYS: [&str; 3] = ["name", "part", "target"];
const GROUPS: [&str; 2] = ["facts", "sources"];

/// Reads a chip file; `file` is its name, for refusals.
pub(super) fn read(file: &str, bytes: &[u8]) -> Result<Chip, Vec<Refusal>> {
    let mut reading = Reading { file, text: "", refusals: Vec::new() };
    if bytes.len() > LARGEST_CHIP_BYTES {
        let message = format!("{} bytes are too many for a chip file", bytes.len());
        reading.refuse(Code::ChipSyntax, 0, message, format!("write at most {LARGEST_CHIP_BYTES}"));
        return Err(reading.refusals);
    }
    reading.text = match str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            // What comes before is sound: the place is told in it.
            reading.text = str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default();
            reading.refuse(Code::ChipSyntax, error.valid_up_to(), "the file is not UTF-8", "save it as UTF-8");
            return Err(reading.refusals);
        }
    };
    let chip = reading.chip();
    match chip {
        Some(chip) if reading.refusals.is_empty() => Ok(chip),
        Some(_) | None => Err(reading.refusals),
    }
}

struct Reading<'t> {
    file: &'t str,
    text: &'t str,
    refusals: Vec<Refusal>,
}

/// Facts with the places of their values, and the fields that have a table, sound or not.
#[derive(Default)]
struct Facts {
    facts: Vec<(Fact, Offset)>,
    seen: Vec<Field>,
}

impl<'t> Reading<'t> {
    fn refuse(&mut self, code: Code, at: Offset, message: impl Into<String>, help: impl Into<String>) {
        if self.refusals.len() < MOST_REFUSALS {
            let (line, column) = place(self.text, at);
            let at = At::ChipFile { file: self.file.to_owned(), line, column };
            self.refusals.push(Refusal::new(code, at, message).help(help));
        }
    }

    fn chip(&mut self) -> Option<Chip> {
        let mut errors = Vec::new();
        let document = toml::read(self.text, &mut errors);
        for error in errors {
            self.refuse(Code::ChipSyntax, error.at, error.message, error.help);
        }
        let [name, part, target] = self.names(&document);
        let mut sources = BTreeMap::new();
        for table in document.tables.iter().skip(1) {
            if table.group == GROUPS[1] {
                self.source(&document, table, &mut sources);
            } else if table.group != GROUPS[0] {
                let message = format!("unknown group `{}`", table.group);
                self.refuse(Code::ChipUnknownField, table.at, message, did_you_mean(table.group, &GROUPS));
            }
        }
        let mut facts = Facts::default();
        for table in document.tables.iter().filter(|table| table.group == GROUPS[0]) {
            self.fact(&document, table, &sources, &mut facts);
        }
        let sources = sources.into_values().flatten().collect();
        self.whole(facts, sources, [name?, part?, target?])
    }

    /// The chip of sound facts, if they make one.
    fn whole(&mut self, facts: Facts, sources: Vec<Arc<Source>>, names: [String; 3]) -> Option<Chip> {
        let Facts { mut facts, seen } = facts;
        facts.sort_by_key(|(fact, _)| fact.field);
        let (facts, places): (Vec<Fact>, Vec<Offset>) = facts.into_iter().unzip();
        let figures = Figures::of(&facts);
        for field in figures.missing() {
            // One that is there and unsound has been told.
            if !seen.contains(&field) {
                let message = format!("the chip has no `{field}`, which its unit model needs");
                let help = format!("add `[facts.{field}]` with `unit = \"{}\"`: {}", field.unit(), meaning(field));
                self.refuse(Code::ChipMissing, self.text.len(), message, help);
            }
        }
        for contradiction in figures.contradictions() {
            let index = facts.iter().position(|fact| fact.field == contradiction.field);
            let at = index.and_then(|index| places.get(index)).copied().unwrap_or(self.text.len());
            let message = format!("`{}`: {}", contradiction.field, contradiction.message);
            self.refuse(Code::ChipFigure, at, message, contradiction.help);
        }
        Chip::new(names, facts, sources, &figures)
    }

    fn names(&mut self, document: &Document<'t>) -> [Option<String>; 3] {
        let root = &document.tables[0];
        let entries = &document.entries[root.entries.clone()];
        self.known_keys(entries, &ROOT_KEYS, "of the chip");
        let name = self.root_text(entries, ROOT_KEYS[0], "`name = \"MY1\"`, what the chip is called");
        let part = self.root_text(entries, ROOT_KEYS[1], "`part = \"Maker's MY1\"`, the part as its vendor calls it");
        let target = self.root_text(entries, ROOT_KEYS[2], "`target = \"my1\"`, what programs for it are marked with");
        let letters = |text: &str, upper: bool| {
            let more =
                |b: u8| b.is_ascii_digit() || matches!(b, b'-' | b'_' | b'.') || (upper && b.is_ascii_uppercase());
            let first = text.bytes().next();
            text.len() <= 32
                && first.is_some_and(|b| b.is_ascii_lowercase() || (upper && b.is_ascii_uppercase()))
                && text.bytes().all(|b| b.is_ascii_lowercase() || more(b))
        };
        let checked = |reading: &mut Self, text: Option<(String, Offset)>, upper: bool, help: &str| {
            let (text, at) = text?;
            if letters(&text, upper) {
                return Some(text);
            }
            let message = format!("`{}` is not a name of the chip", text.escape_debug());
            reading.refuse(Code::ChipFigure, at, message, help);
            None
        };
        [
            checked(self, name, true, "write a letter, then letters, digits, `-`, `_` and `.`, at most 32"),
            part.map(|(text, _)| text),
            checked(
                self,
                target,
                false,
                "write a small letter, then small letters, digits, `-`, `_` and `.`, at most 32",
            ),
        ]
    }

    fn root_text(&mut self, entries: &[Entry<'t>], key: &str, help: &str) -> Option<(String, Offset)> {
        let Some(entry) = entries.iter().find(|entry| entry.key == key) else {
            self.refuse(Code::ChipMissing, 0, format!("the chip has no `{key}`"), format!("add {help}"));
            return None;
        };
        self.text_of(entry).map(|text| (text, entry.value_at))
    }

    /// A text that is not empty.
    fn text_of(&mut self, entry: &Entry<'t>) -> Option<String> {
        let message = match &entry.value {
            Read::Text(text) if !text.trim().is_empty() => return Some(text.clone().into_owned()),
            Read::Text(_) => format!("`{}` is empty", entry.key),
            Read::Number(_) | Read::List(_) => format!("`{}` is not a text", entry.key),
        };
        self.refuse(Code::ChipSyntax, entry.value_at, message, format!("write `{} = \"…\"`", entry.key));
        None
    }

    fn known_keys(&mut self, entries: &[Entry<'t>], known: &[&str], of: &str) {
        for entry in entries.iter().filter(|entry| !known.contains(&entry.key)) {
            let message = format!("unknown key `{}` {of}", entry.key);
            self.refuse(Code::ChipUnknownField, entry.at, message, did_you_mean(entry.key, known));
        }
    }

    /// A source that is unsound is known all the same, so that what cites it is not refused as well.
    fn source(
        &mut self,
        document: &Document<'t>,
        table: &Table<'t>,
        sources: &mut BTreeMap<&'t str, Option<Arc<Source>>>,
    ) {
        if sources.contains_key(table.name) {
            let message = format!("the source `{}` is described twice", table.name);
            self.refuse(Code::ChipSyntax, table.name_at, message, "give the other its own key, or leave it out");
            return;
        }
        let entries = &document.entries[table.entries.clone()];
        self.known_keys(entries, &SOURCE_KEYS, "of a source");
        let mut text = |key: &str| match entries.iter().find(|entry| entry.key == key) {
            Some(entry) => self.text_of(entry),
            None => {
                let message = format!("the source `{}` has no {key}", table.name);
                self.refuse(Code::ChipUnlabelled, table.at, message, format!("add `{key} = \"…\"`"));
                None
            }
        };
        let [title, publisher, date, url] = SOURCE_KEYS.map(&mut text);
        let source = match (title, publisher, date, url) {
            (Some(title), Some(publisher), Some(date), Some(url)) => {
                Some(Arc::new(Source { key: table.name.to_owned(), title, publisher, date, url }))
            }
            _ => None,
        };
        sources.insert(table.name, source);
    }

    fn fact(
        &mut self,
        document: &Document<'t>,
        table: &Table<'t>,
        sources: &BTreeMap<&'t str, Option<Arc<Source>>>,
        facts: &mut Facts,
    ) {
        let entries = &document.entries[table.entries.clone()];
        let Some(field) = Field::from_name(table.name) else {
            let message = format!("unknown field `{}`", table.name);
            let help = match nearest(table.name, Field::ALL.iter().map(|field| field.as_str())) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "logos-core/chips/README.md lists the fields".to_owned(),
            };
            self.refuse(Code::ChipUnknownField, table.name_at, message, help);
            return;
        };
        if facts.seen.contains(&field) {
            let message = format!("`{field}` is stated twice");
            self.refuse(Code::ChipSyntax, table.name_at, message, "leave one of the two out");
            return;
        }
        facts.seen.push(field);
        self.known_keys(entries, &FACT_KEYS, "of a fact");
        let [value, unit, provenance, cite, note] = FACT_KEYS.map(|key| entries.iter().find(|entry| entry.key == key));
        let value_at = value.map_or(table.at, |entry| entry.value_at);
        let value = self.value(field, table.at, value);
        let unit = self.unit(field, table.at, unit);
        let provenance = self.provenance(field, table.at, provenance);
        let cite = self.cite(field, table.at, cite, sources);
        let note = self.note(field, table.at, note, provenance);
        if let (Some(value), Some(()), Some(provenance), Some(cite), Some(note)) = (value, unit, provenance, cite, note)
        {
            facts.facts.push((Fact { field, value, provenance, cite, note }, value_at));
        }
    }

    fn value(&mut self, field: Field, header: Offset, entry: Option<&Entry<'t>>) -> Option<Value> {
        let Some(entry) = entry else {
            let message = format!("`{field}` has no value");
            self.refuse(Code::ChipUnlabelled, header, message, format!("add `value = …`: {}", meaning(field)));
            return None;
        };
        match (field.form(), &entry.value) {
            (Form::Number { least, most }, Read::Number(n)) => {
                if (least..=most).contains(n) {
                    return Some(Value::Number(*n));
                }
                let message = format!("`{field}` is out of range: {n} {}", field.unit());
                let help = format!("write a whole number from {least} to {most}: {}", meaning(field));
                self.refuse(Code::ChipFigure, entry.value_at, message, help);
                None
            }
            (Form::Text, Read::Text(_)) => self.text_of(entry).map(Value::Text),
            (Form::List, Read::List(names)) => self.precisions(field, entry, names).map(Value::List),
            (Form::Number { .. } | Form::Text | Form::List, _) => {
                let expected = match field.form() {
                    Form::Number { .. } => "a whole number",
                    Form::Text => "a text",
                    Form::List => "a list of texts",
                };
                let message = format!("the value of `{field}` is not {expected}");
                self.refuse(Code::ChipFigure, entry.value_at, message, format!("write {expected}: {}", meaning(field)));
                None
            }
        }
    }

    fn precisions(
        &mut self,
        field: Field,
        entry: &Entry<'t>,
        names: &[(Offset, std::borrow::Cow<'t, str>)],
    ) -> Option<Vec<String>> {
        let known = Precision::ALL.map(Precision::as_str);
        let before = self.refusals.len();
        if names.is_empty() {
            let help = format!("list some of {}, or leave the fact out", known.join(", "));
            self.refuse(Code::ChipFigure, entry.value_at, format!("`{field}` is empty"), help);
        }
        for (i, (at, name)) in names.iter().enumerate() {
            if Precision::from_name(name).is_none() {
                let message = format!("unknown number format `{}`", name.escape_debug());
                self.refuse(Code::ChipUnknownField, *at, message, did_you_mean(name, &known));
            } else if names[..i].iter().any(|(_, earlier)| earlier == name) {
                self.refuse(Code::ChipFigure, *at, format!("`{name}` is listed twice"), "leave one of the two out");
            }
        }
        (self.refusals.len() == before).then(|| names.iter().map(|(_, name)| name.clone().into_owned()).collect())
    }

    fn unit(&mut self, field: Field, header: Offset, entry: Option<&Entry<'t>>) -> Option<()> {
        let (at, message) = match entry.map(|entry| (entry.value_at, &entry.value)) {
            Some((_, Read::Text(unit))) if unit == field.unit() => return Some(()),
            Some((at, Read::Text(unit))) => {
                (at, format!("the unit of `{field}` is {}, not {}", field.unit(), unit.escape_debug()))
            }
            Some((at, Read::Number(_) | Read::List(_))) => (at, format!("the unit of `{field}` is not a text")),
            None => (header, format!("`{field}` has no unit")),
        };
        let help = format!("write `unit = \"{}\"`, and the value in it", field.unit());
        self.refuse(Code::ChipUnlabelled, at, message, help);
        None
    }

    fn provenance(&mut self, field: Field, header: Offset, entry: Option<&Entry<'t>>) -> Option<Provenance> {
        let known = Provenance::ALL.map(Provenance::as_str);
        let (at, message) = match entry.map(|entry| (entry.value_at, &entry.value)) {
            Some((at, Read::Text(label))) => match Provenance::from_name(label) {
                Some(provenance) => return Some(provenance),
                None => (at, format!("`{}` is no provenance", label.escape_debug())),
            },
            Some((at, Read::Number(_) | Read::List(_))) => (at, format!("the provenance of `{field}` is not a text")),
            None => (header, format!("`{field}` has no provenance: nobody can tell where its figure comes from")),
        };
        self.refuse(Code::ChipUnlabelled, at, message, format!("write `provenance = …`, one of {}", known.join(", ")));
        None
    }

    fn cite(
        &mut self,
        field: Field,
        header: Offset,
        entry: Option<&Entry<'t>>,
        sources: &BTreeMap<&'t str, Option<Arc<Source>>>,
    ) -> Option<Vec<Arc<Source>>> {
        const HELP: &str = "write `cite = [\"KEY\"]`, and describe the source in `[sources.KEY]`";
        let (at, message) = match entry.map(|entry| (entry.value_at, &entry.value)) {
            Some((_, Read::List(keys))) if !keys.is_empty() => {
                let mut cited = Vec::with_capacity(keys.len());
                for (at, key) in keys {
                    match sources.get(key.as_ref()) {
                        Some(source) => cited.push(source.clone()),
                        None => {
                            let message = format!("`{field}` cites `{}`, which is not described", key.escape_debug());
                            let help = match nearest(key, sources.keys().copied()) {
                                Some(near) => format!("did you mean `{near}`?"),
                                None => {
                                    format!("add `[sources.{}]` with {}", key.escape_debug(), SOURCE_KEYS.join(", "))
                                }
                            };
                            self.refuse(Code::ChipUnlabelled, *at, message, help);
                            cited.push(None);
                        }
                    }
                }
                return cited.into_iter().collect();
            }
            Some((at, Read::List(_))) => (at, format!("`{field}` cites nothing")),
            Some((at, Read::Number(_) | Read::Text(_))) => (at, format!("what `{field}` cites is not a list")),
            None => (header, format!("`{field}` has no citation")),
        };
        self.refuse(Code::ChipUnlabelled, at, message, HELP);
        None
    }

    fn note(
        &mut self,
        field: Field,
        header: Offset,
        entry: Option<&Entry<'t>>,
        provenance: Option<Provenance>,
    ) -> Option<String> {
        if let Some(entry) = entry {
            return self.text_of(entry);
        }
        let why = match provenance {
            Some(Provenance::Published) | None => return Some(String::new()),
            Some(Provenance::Derived) => "by what arithmetic",
            Some(Provenance::Modeled) => "why it was chosen so",
            Some(Provenance::Measured) => "what was run",
        };
        let message = format!("`{field}` does not say {why}");
        self.refuse(Code::ChipUnlabelled, header, message, "add `note = \"…\"`; a published figure needs none");
        None
    }
}

/// What a field means, to go inside a sentence.
fn meaning(field: Field) -> &'static str {
    field.meaning().trim().trim_end_matches('.')
}

fn did_you_mean(word: &str, known: &[&str]) -> String {
    match nearest(word, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known: {}", known.join(", ")),
    }
}

/// Where a file that has been read names its chip.
pub(super) fn place_of_name(bytes: &[u8]) -> (u32, u32) {
    let text = str::from_utf8(bytes).unwrap_or_default();
    let document = toml::read(text, &mut Vec::new());
    let root = document.tables[0].entries.clone();
    let name = document.entries[root].iter().find(|entry| entry.key == ROOT_KEYS[0]);
    place(text, name.map_or(0, |entry| entry.value_at))
}

/// Line and column of an offset, both from 1; columns in characters.
fn place(text: &str, at: Offset) -> (u32, u32) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
    (line as u32, column as u32)
}
