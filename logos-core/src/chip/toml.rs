//! The part of TOML that chip files are written in, with the place of everything a refusal may point at.
//!
//! All that is read here is TOML and means what TOML says it means; much of TOML is not read:
//!
//! - lines of three kinds: `[group.name]`, which begins a table; `key = value`; and nothing, with a `# comment` or
//!   without one, as at the end of any line;
//! - keys and names of ASCII letters, digits, `-` and `_`, each key once a table;
//! - values on one line: `"a text"`, with `\"` and `\\` and no other escape; a whole number from 0, `1_600` or `1600`;
//!   a list of texts, `["a", "b"]`.
//!
//! A macro reads a chip on every keystroke, unoptimised: lines and texts are found with the standard library's own
//! search, and nothing is copied but a text that has an escape.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;

/// Most errors told of one file; at that many the rest is not read.
const MOST_ERRORS: usize = 64;

/// A byte offset into the file.
pub(super) type Offset = usize;

/// What is wrong with a line, and where.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SyntaxError {
    pub(super) at: Offset,
    pub(super) message: String,
    pub(super) help: &'static str,
}

/// A value.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Value<'t> {
    Number(u64),
    Text(Cow<'t, str>),
    List(Vec<(Offset, Cow<'t, str>)>),
}

/// `key = value`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry<'t> {
    pub(super) at: Offset,
    pub(super) key: &'t str,
    pub(super) value_at: Offset,
    pub(super) value: Value<'t>,
}

/// `[group.name]` and the entries below it; the entries above the first header have neither.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Table<'t> {
    pub(super) at: Offset,
    pub(super) group: &'t str,
    pub(super) name: &'t str,
    pub(super) name_at: Offset,
    /// Where its entries lie in [`Document::entries`].
    pub(super) entries: Range<usize>,
    /// Whether an entry of it could not be read, and is told: one that is not there may be that one.
    pub(super) broken: bool,
}

/// A file that has been read. Tables of one name are not merged: that there are two is a fault, and the caller's to find,
/// who knows the names.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Document<'t> {
    pub(super) entries: Vec<Entry<'t>>,
    /// The first is the root.
    pub(super) tables: Vec<Table<'t>>,
    /// Whether a header could not be read, and is told: a table that is not there may be that one.
    pub(super) broken: bool,
}

/// Reads a file. What is wrong with a line is told, and the line left out.
pub(super) fn read<'t>(text: &'t str, errors: &mut Vec<SyntaxError>) -> Document<'t> {
    let root = Table { at: 0, group: "", name: "", name_at: 0, entries: 0..0, broken: false };
    let entries = Vec::with_capacity(text.len() / 32);
    let mut document = Document { entries, tables: vec![root], broken: false };
    // Below a header that cannot be read entries belong to no table: only their own form is looked at.
    let mut orphaned = false;
    let mut start = 0;
    while start < text.len() && errors.len() < MOST_ERRORS {
        let end = text[start..].find('\n').map_or(text.len(), |length| start + length);
        let bytes = &text.as_bytes()[start..end];
        // A carriage return ends a line only before a newline.
        let returned = usize::from(end < text.len() && bytes.last() == Some(&b'\r'));
        let mut line = Line { text, at: start, end: end - returned };
        start = end + 1;
        line.skip_blanks();
        let header = line.peek() == Some(b'[');
        match line.read(header) {
            Ok(None) => {}
            Ok(Some(Read::Header(mut table))) => {
                table.entries = document.entries.len()..document.entries.len();
                document.tables.push(table);
                orphaned = false;
            }
            Ok(Some(Read::Entry(_))) if orphaned => {}
            Ok(Some(Read::Entry(entry))) => {
                let Some(table) = document.tables.last_mut() else { continue };
                if document.entries[table.entries.clone()].iter().any(|earlier| earlier.key == entry.key) {
                    let message = format!("the key `{}` is written twice", entry.key);
                    errors.push(SyntaxError { at: entry.at, message, help: "leave one of the two out" });
                    continue;
                }
                document.entries.push(entry);
                table.entries.end += 1;
            }
            Err(error) => {
                errors.push(error);
                if header {
                    (orphaned, document.broken) = (true, true);
                } else if let Some(table) = document.tables.last_mut() {
                    table.broken |= !orphaned;
                }
            }
        }
    }
    document
}

/// What a line holds.
enum Read<'t> {
    Header(Table<'t>),
    Entry(Entry<'t>),
}

/// A line while it is read.
struct Line<'t> {
    text: &'t str,
    at: Offset,
    end: Offset,
}

impl<'t> Line<'t> {
    fn read(&mut self, header: bool) -> Result<Option<Read<'t>>, SyntaxError> {
        self.no_control_characters()?;
        if header {
            let table = self.header()?;
            self.nothing_more()?;
            return Ok(Some(Read::Header(table)));
        }
        if matches!(self.peek(), None | Some(b'#')) {
            return Ok(None);
        }
        let at = self.at;
        let key = self.bare("a key")?;
        self.skip_blanks();
        self.take(b'=', "`=` after the key", "write `key = value`")?;
        self.skip_blanks();
        let value_at = self.at;
        let value = self.value()?;
        self.nothing_more()?;
        Ok(Some(Read::Entry(Entry { at, key, value_at, value })))
    }

    /// TOML takes none but the tab, in comments and texts either.
    fn no_control_characters(&self) -> Result<(), SyntaxError> {
        let bytes = &self.text.as_bytes()[self.at..self.end];
        let (chunks, rest) = bytes.as_chunks::<8>();
        // Eight bytes at once: the top bit of a byte is set where it is below a space or the last of ASCII.
        let suspicious = chunks.iter().any(|chunk| {
            const ONES: u64 = u64::from_ne_bytes([1; 8]);
            let word = u64::from_ne_bytes(*chunk);
            let last = word ^ (0x7f * ONES);
            let low = word.wrapping_sub(0x20 * ONES) & !word;
            let high = last.wrapping_sub(ONES) & !last;
            (low | high) & (0x80 * ONES) != 0
        });
        let control = |byte: &u8| byte.is_ascii_control() && *byte != b'\t';
        if !suspicious && !rest.iter().any(control) {
            return Ok(());
        }
        match bytes.iter().position(control) {
            None => Ok(()),
            Some(place) => Err(SyntaxError {
                at: self.at + place,
                message: format!("the line has a control character, {:?}", char::from(bytes[place])),
                help: "leave it out",
            }),
        }
    }

    fn header(&mut self) -> Result<Table<'t>, SyntaxError> {
        const FORM: &str = "write `[facts.FIELD]` or `[sources.KEY]`";
        let at = self.at;
        self.at += 1;
        let group = self.bare("the name of a group").map_err(|error| SyntaxError { help: FORM, ..error })?;
        self.take(b'.', "`.` after the group", FORM)?;
        let name_at = self.at;
        let name = self.bare("a name").map_err(|error| SyntaxError { help: FORM, ..error })?;
        self.take(b']', "`]` after the name", FORM)?;
        Ok(Table { at, group, name, name_at, entries: 0..0, broken: false })
    }

    fn value(&mut self) -> Result<Value<'t>, SyntaxError> {
        match self.peek() {
            Some(b'"') => self.string().map(Value::Text),
            Some(b'[') => self.list().map(Value::List),
            Some(b'0'..=b'9') => self.number().map(Value::Number),
            _ => Err(self
                .expected("a value", "write a text in double quotes, a whole number, or a list of texts, on one line")),
        }
    }

    fn string(&mut self) -> Result<Cow<'t, str>, SyntaxError> {
        const FORM: &str = "write `\"…\"` on one line; in it `\\\"` and `\\\\` are the only escapes";
        let opening = self.at;
        self.at += 1;
        let body = &self.text[self.at..self.end];
        let closing = body.find('"').ok_or_else(|| SyntaxError {
            at: opening,
            message: "the text does not end".to_owned(),
            help: FORM,
        })?;
        if !body[..closing].contains('\\') {
            // `"""` begins another kind of text in TOML.
            if closing == 0 && body[1..].starts_with('"') {
                let message = "texts of several lines are not read".to_owned();
                return Err(SyntaxError { at: opening, message, help: FORM });
            }
            self.at += closing + 1;
            return Ok(Cow::Borrowed(&body[..closing]));
        }
        let mut text = String::new();
        let mut rest = body;
        loop {
            let Some(stop) = rest.find(['"', '\\']) else {
                return Err(SyntaxError { at: opening, message: "the text does not end".to_owned(), help: FORM });
            };
            text.push_str(&rest[..stop]);
            let at = self.end - rest.len() + stop;
            match rest.as_bytes()[stop..] {
                [b'\\', escaped @ (b'"' | b'\\'), ..] => text.push(char::from(escaped)),
                [b'\\', ..] => {
                    let message = "an escape that is not read".to_owned();
                    return Err(SyntaxError { at, message, help: FORM });
                }
                _ => {
                    self.at = at + 1;
                    return Ok(Cow::Owned(text));
                }
            }
            rest = &rest[stop + 2..];
        }
    }

    fn list(&mut self) -> Result<Vec<(Offset, Cow<'t, str>)>, SyntaxError> {
        const FORM: &str = "write `[\"A\", \"B\"]` on one line";
        let mut items = Vec::new();
        self.at += 1;
        loop {
            self.skip_blanks();
            if self.peek() == Some(b']') {
                break;
            }
            if self.peek() != Some(b'"') {
                return Err(self.expected("a text or `]`", FORM));
            }
            items.push((self.at, self.string()?));
            self.skip_blanks();
            if self.peek() == Some(b']') {
                break;
            }
            self.take(b',', "`,` or `]` after a text", FORM)?;
        }
        self.at += 1;
        Ok(items)
    }

    fn number(&mut self) -> Result<u64, SyntaxError> {
        const FORM: &str = "write a whole number without a sign, a point or an exponent, `1_600` or `1600`";
        let wrong = |at, message: &str| SyntaxError { at, message: message.to_owned(), help: FORM };
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut number: u64 = 0;
        while let Some(byte) = self.peek() {
            match byte {
                b'0'..=b'9' => {
                    let next = number.checked_mul(10).and_then(|n| n.checked_add(u64::from(byte - b'0')));
                    // The largest that TOML has.
                    number = next
                        .filter(|&n| n <= i64::MAX as u64)
                        .ok_or_else(|| wrong(start, "the number is too large"))?;
                }
                b'_' if bytes[self.at - 1] != b'_' && self.at + 1 < self.end && bytes[self.at + 1].is_ascii_digit() => {
                }
                b'_' => return Err(wrong(self.at, "an underscore that is not between two digits")),
                _ => break,
            }
            self.at += 1;
        }
        if self.at - start > 1 && bytes[start] == b'0' {
            return Err(wrong(start, "a number that begins with 0"));
        }
        match self.peek() {
            Some(byte) if byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'+' | b':') => {
                Err(wrong(start, "the figure is not a whole number"))
            }
            _ => Ok(number),
        }
    }

    fn bare(&mut self, what: &str) -> Result<&'t str, SyntaxError> {
        let start = self.at;
        while matches!(self.peek(), Some(b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-')) {
            self.at += 1;
        }
        if self.at == start {
            return Err(self.expected(what, "write it in ASCII letters, digits, `_` and `-`"));
        }
        Ok(&self.text[start..self.at])
    }

    fn peek(&self) -> Option<u8> {
        if self.at < self.end { Some(self.text.as_bytes()[self.at]) } else { None }
    }

    fn take(&mut self, byte: u8, what: &str, help: &'static str) -> Result<(), SyntaxError> {
        if self.peek() != Some(byte) {
            return Err(self.expected(what, help));
        }
        self.at += 1;
        Ok(())
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    fn nothing_more(&mut self) -> Result<(), SyntaxError> {
        self.skip_blanks();
        match self.peek() {
            None | Some(b'#') => Ok(()),
            Some(_) => Err(self.expected("the end of the line", "write one entry a line")),
        }
    }

    fn expected(&self, what: &str, help: &'static str) -> SyntaxError {
        let found = self.text[self.at..self.end].chars().next();
        let found = match found {
            None => "the end of the line".to_owned(),
            Some(quote @ ('"' | '\'')) => format!("`{quote}`"),
            Some(other) => format!("`{}`", other.escape_debug()),
        };
        SyntaxError { at: self.at, message: format!("expected {what}, found {found}"), help }
    }
}
