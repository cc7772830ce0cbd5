//! A chip file to a [`Chip`], or to every reason why it is none, each with its line and column.
//!
//! The file is the subset of TOML that [`toml`](super::toml) reads: `name`, `part` and `target`, then a table
//! `[facts.FIELD]` a fact and a table `[sources.KEY]` a source, in any order. The chips that come with the compiler are such files.

mod fact;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::Chip;
use super::fact::{Fact, Source};
use super::field::Field;
use super::figures::Figures;
use super::toml::{self, Document, Entry, Offset, Table, Value as Read};
use crate::refusal::nearest;
use crate::{At, Code, Refusal};
use fact::{Facts, Sources, meaning};

/// Largest chip file taken, bytes; the ones here are under 10 KB.
pub const LARGEST_CHIP_BYTES: usize = 1 << 20;

/// Most refusals of one file.
const MOST_REFUSALS: usize = 64;

const SOURCE_KEYS: [&str; 4] = ["title", "publisher", "date", "url"];
const NAME: &str = "name";
const PART: &str = "part";
const TARGET: &str = "target";
const ROOT_KEYS: [&str; 3] = [NAME, PART, TARGET];
/// Longest name and target, in bytes; a part takes three times that.
const LONGEST_NAME: usize = 32;
const FACTS: &str = "facts";
const SOURCES: &str = "sources";

/// Reads a chip file; `file` is its name, for refusals.
pub(super) fn read(file: &str, bytes: &[u8]) -> Result<Chip, Vec<Refusal>> {
    let mut reading = Reading { file, text: "", refusals: Vec::new() };
    if bytes.len() > LARGEST_CHIP_BYTES {
        let message = format!("{} bytes are too many for a chip file", bytes.len());
        reading.refuse(Code::ChipSyntax, 0, message, format!("write at most {LARGEST_CHIP_BYTES}"));
        return Err(reading.told());
    }
    reading.text = match str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            // What comes before is sound: the place is told in it.
            reading.text = str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default();
            reading.refuse(Code::ChipSyntax, error.valid_up_to(), "the file is not UTF-8", "save it as UTF-8");
            return Err(reading.told());
        }
    };
    match reading.chip() {
        Some(chip) if reading.refusals.is_empty() => Ok(chip),
        chip => {
            if chip.is_none() && reading.refusals.is_empty() {
                reading.refuse(Code::ChipFigure, 0, "the facts make no chip", "compare them with a chip that is known");
            }
            Err(reading.told())
        }
    }
}

struct Reading<'t> {
    file: &'t str,
    text: &'t str,
    refusals: Vec<(Offset, Refusal)>,
}

/// The entries of one table.
#[derive(Clone, Copy)]
struct Keys<'d, 't> {
    /// The table's place.
    at: Offset,
    entries: &'d [Entry<'t>],
    /// Whether one of them could not be read or is not known: then none is missed, since that one may be meant.
    broken: bool,
}

impl<'d, 't> Keys<'d, 't> {
    fn of(document: &'d Document<'t>, table: &Table<'t>) -> Self {
        Keys { at: table.at, entries: &document.entries[table.entries.clone()], broken: table.broken }
    }

    fn get(&self, key: &str) -> Option<&'d Entry<'t>> {
        self.entries.iter().find(|entry| entry.key == key)
    }
}

impl<'t> Reading<'t> {
    fn refuse(&mut self, code: Code, offset: Offset, message: impl Into<String>, help: impl Into<String>) {
        if self.refusals.len() < MOST_REFUSALS {
            let (line, column) = place(self.text, offset);
            let at = At::ChipFile { file: self.file.to_owned(), line, column };
            self.refusals.push((offset, Refusal::new(code, at, message).help(help)));
        }
    }

    /// What is refused, as the file has it.
    fn told(mut self) -> Vec<Refusal> {
        self.refusals.sort_by_key(|(offset, _)| *offset);
        self.refusals.into_iter().map(|(_, refusal)| refusal).collect()
    }

    /// Something that the table lacks, unless it may be what could not be read.
    fn lacks(&mut self, keys: &Keys<'_, 't>, code: Code, message: impl Into<String>, help: impl Into<String>) {
        if !keys.broken {
            self.refuse(code, keys.at, message, help);
        }
    }

    fn chip(&mut self) -> Option<Chip> {
        let mut errors = Vec::new();
        let document = toml::read(self.text, &mut errors);
        for error in errors {
            self.refuse(Code::ChipSyntax, error.at, error.message, error.help);
        }
        let names = self.names(Keys::of(&document, &document.tables[0]));
        let mut facts = Facts::default();
        let mut sources = Sources::new();
        for table in document.tables.iter().skip(1) {
            if table.group == SOURCES {
                self.source(table.name, table.name_at, Keys::of(&document, table), &mut sources);
            } else if table.group != FACTS {
                let message = format!("unknown group `{}`", table.group);
                self.refuse(Code::ChipUnknownField, table.at, message, did_you_mean(table.group, &[FACTS, SOURCES]));
                facts.seen.extend(Field::from_name(table.name));
            }
        }
        for table in document.tables.iter().filter(|table| table.group == FACTS) {
            self.fact(table.name, table.name_at, Keys::of(&document, table), &sources, &mut facts);
        }
        self.whole(facts, sources.into_values().flatten().collect(), names, document.broken)
    }

    /// The chip of sound facts, if they make one.
    fn whole(
        &mut self,
        facts: Facts,
        sources: Vec<Arc<Source>>,
        names: [Option<String>; 3],
        broken: bool,
    ) -> Option<Chip> {
        let Facts { mut facts, seen } = facts;
        facts.sort_by_key(|(fact, _)| fact.field);
        let (facts, places): (Vec<Fact>, Vec<Offset>) = facts.into_iter().unzip();
        let figures = Figures::of(&facts);
        for field in figures.missing() {
            // One that is there and unsound has been told.
            if !broken && !seen.contains(&field) {
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
        let [name, part, target] = names;
        Chip::new([name?, part?, target?], facts, sources, &figures)
    }

    /// Name, part and target.
    fn names(&mut self, mut root: Keys<'_, 't>) -> [Option<String>; 3] {
        self.known_keys(&mut root, &ROOT_KEYS, "of the chip");
        ROOT_KEYS.map(|key| {
            let Some(entry) = root.get(key) else {
                self.lacks(&root, Code::ChipMissing, format!("the chip has no `{key}`"), name_help(key));
                return None;
            };
            let text = self.text_of(entry)?;
            let first = text.bytes().next().is_some_and(|b| b.is_ascii_alphabetic());
            let letters = text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'));
            let small = !text.bytes().any(|b| b.is_ascii_uppercase());
            let holds = match key {
                PART => text.len() <= 3 * LONGEST_NAME,
                TARGET => first && letters && small && text.len() <= LONGEST_NAME,
                _ => first && letters && text.len() <= LONGEST_NAME,
            };
            if !holds {
                let message = format!("`{}` is no {key} of a chip", text.escape_debug());
                self.refuse(Code::ChipFigure, entry.value_at, message, name_help(key));
            }
            holds.then_some(text)
        })
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

    fn known_keys(&mut self, keys: &mut Keys<'_, 't>, known: &[&str], of: &str) {
        for entry in keys.entries.iter().filter(|entry| !known.contains(&entry.key)) {
            keys.broken = true;
            let message = format!("unknown key `{}` {of}", entry.key);
            self.refuse(Code::ChipUnknownField, entry.at, message, did_you_mean(entry.key, known));
        }
    }

    /// A source that is unsound is known all the same, so that what cites it is not refused as well.
    fn source(&mut self, name: &'t str, name_at: Offset, mut keys: Keys<'_, 't>, sources: &mut Sources<'t>) {
        if sources.contains_key(name) {
            let message = format!("the source `{name}` is described twice");
            self.refuse(Code::ChipSyntax, name_at, message, "give the other its own key, or leave it out");
            return;
        }
        self.known_keys(&mut keys, &SOURCE_KEYS, "of a source");
        let [title, publisher, date, url] = SOURCE_KEYS.map(|key| match keys.get(key) {
            Some(entry) => self.text_of(entry),
            None => {
                let message = format!("the source `{name}` has no {key}");
                self.lacks(&keys, Code::ChipUnlabelled, message, format!("add `{key} = \"…\"`"));
                None
            }
        });
        let source = match (title, publisher, date, url) {
            (Some(title), Some(publisher), Some(date), Some(url)) => {
                Some(Arc::new(Source { key: name.to_owned(), title, publisher, date, url }))
            }
            _ => None,
        };
        sources.insert(name, source);
    }
}

fn name_help(key: &str) -> &'static str {
    match key {
        PART => "write `part = \"Maker's MY1\"`, the part as its maker calls it, in at most 96 letters",
        TARGET => {
            "write `target = \"my1\"`, what programs for it are marked with: a small letter, then small letters, digits, `-`, \
             `_` and `.`, at most 32"
        }
        _ => {
            "write `name = \"MY1\"`, what bundles and people call it: a letter, then letters, digits, `-`, `_` and `.`, at most 32"
        }
    }
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
    let name = document.entries[root].iter().find(|entry| entry.key == NAME);
    place(text, name.map_or(0, |entry| entry.value_at))
}

/// Line and column of an offset, both from 1; columns in characters.
fn place(text: &str, at: Offset) -> (u32, u32) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
    (line as u32, column as u32)
}
