//! Strings of a table, read where they lie.

use core::fmt::{self, Write};

use super::source::Source;
use crate::table::layout::{Part, ROW, header};

/// A string of a table: UTF-8 bytes packed in words. It prints itself; `==` compares it with a `str`.
#[derive(Clone, Copy)]
pub struct Text<'a> {
    source: Source<'a>,
    /// First byte, counted from the start of the table.
    start: u64,
    length: u32,
}

impl<'a> Text<'a> {
    /// The string at (byte offset, byte length) of the string part; empty where that leaves the part.
    pub(crate) fn new(source: Source<'a>, offset: u32, length: u32) -> Text<'a> {
        let used = source.word(header::STRING_BYTES).unwrap_or(0);
        let held = u64::from(source.rows(Part::Strings)) * (ROW * 4) as u64;
        let end = u64::from(offset) + u64::from(length);
        let length = if end <= u64::from(used).min(held) { length } else { 0 };
        let start = u64::from(source.directory(Part::Strings).0) * (ROW * 4) as u64 + u64::from(offset);
        Text { source, start, length }
    }

    /// Length in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.length as usize
    }

    /// Whether there is no byte.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The bytes.
    pub fn bytes(&self) -> impl Iterator<Item = u8> + Clone + use<'a> {
        let Text { source, start, length } = *self;
        (0..u64::from(length)).map(move |index| {
            let at = start + index;
            let word = source.word((at / 4) as usize).unwrap_or(0);
            word.to_le_bytes()[(at % 4) as usize]
        })
    }

    /// The lines, without their ends.
    pub fn lines(&self) -> impl Iterator<Item = Text<'a>> + use<'a> {
        let mut rest = *self;
        core::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let length = rest.bytes().position(|byte| byte == b'\n').map_or(rest.length, |at| at as u32);
            let line = rest.part(0, length);
            let taken = length.saturating_add(1).min(rest.length);
            rest = rest.part(taken, rest.length - taken);
            Some(line)
        })
    }

    /// `length` bytes from byte `offset`; less where the text ends before.
    pub(crate) fn part(self, offset: u32, length: u32) -> Text<'a> {
        let offset = offset.min(self.length);
        let length = length.min(self.length - offset);
        Text { source: self.source, start: self.start + u64::from(offset), length }
    }

    /// Where `pattern` starts.
    pub(crate) fn find(self, pattern: &str) -> Option<u32> {
        let last = self.length.checked_sub(pattern.len() as u32)?;
        (0..=last).find(|at| self.part(*at, pattern.len() as u32).bytes().eq(pattern.bytes()))
    }
}

impl Text<'_> {
    /// Writes the characters; bytes that are not UTF-8 as the replacement character.
    pub(crate) fn write_to(self, out: &mut dyn Write) -> fmt::Result {
        let mut bytes = self.bytes().peekable();
        while let Some(lead) = bytes.next() {
            let mut sequence = [lead, 0, 0, 0];
            let mut length = 1;
            let character = loop {
                match core::str::from_utf8(&sequence[..length]) {
                    Ok(character) => break character,
                    Err(error) if error.error_len().is_none() && length < sequence.len() => {
                        let Some(next) = bytes.next_if(|byte| byte & 0xc0 == 0x80) else { break REPLACEMENT };
                        sequence[length] = next;
                        length += 1;
                    }
                    Err(_) => break REPLACEMENT,
                }
            };
            out.write_str(character)?;
        }
        Ok(())
    }
}

impl fmt::Display for Text<'_> {
    /// Honours a width. Bytes that are not UTF-8 print as the replacement character.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        padded(f, |out| self.write_to(out))
    }
}

const REPLACEMENT: &str = "\u{fffd}";

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

impl PartialEq<str> for Text<'_> {
    fn eq(&self, other: &str) -> bool {
        self.len() == other.len() && self.bytes().eq(other.bytes())
    }
}

impl PartialEq<&str> for Text<'_> {
    fn eq(&self, other: &&str) -> bool {
        *self == **other
    }
}

impl PartialEq for Text<'_> {
    fn eq(&self, other: &Text<'_>) -> bool {
        self.len() == other.len() && self.bytes().eq(other.bytes())
    }
}

impl Eq for Text<'_> {}

/// What `write` prints, and blanks up to the formatter's width; for views that stand in columns.
pub(crate) fn padded(f: &mut fmt::Formatter<'_>, write: impl Fn(&mut dyn Write) -> fmt::Result) -> fmt::Result {
    write(f)?;
    let Some(width) = f.width() else { return Ok(()) };
    let mut written = Counter(0);
    write(&mut written)?;
    for _ in written.0..width {
        f.write_char(' ')?;
    }
    Ok(())
}

/// Counts characters.
struct Counter(usize);

impl Write for Counter {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 += text.chars().count();
        Ok(())
    }
}
