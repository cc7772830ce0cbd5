//! JSON for people: what fits a line stands on one, all else is broken and indented.
//!
//! A document is written once, on one line, and the places are noted where it would break. Of a list or an object that turns out to fit
//! its line they are forgotten. What is left says where the line is broken.

use std::cell::Cell;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// Widest line that a list or an object is not broken for, in bytes.
///
/// Source: ours, the width of a row of a document's longest table.
const WIDTH: usize = 180;

/// Between two items of a line.
const COMMA: &str = ", ";

/// A document's text, ending in one newline. Its outermost list or object is always broken.
///
/// # Errors
/// Where the value has no JSON: a map whose keys are no strings.
pub(super) fn pretty(value: &impl Serialize) -> serde_json::Result<String> {
    let at = Cell::new(0);
    let mut breaks = Breaks { at: &at, open: Vec::new(), breaks: Vec::new() };
    let mut line = Line { text: Vec::new(), at: &at };
    value.serialize(&mut Serializer::with_formatter(&mut line, &mut breaks))?;
    let mut text = Vec::with_capacity(line.text.len() + line.text.len() / 2);
    let mut from = 0;
    for Break { at, skip, depth } in breaks.breaks {
        text.extend_from_slice(line.text.get(from..at).unwrap_or_default());
        text.extend_from_slice(if skip > 0 { b",\n" } else { b"\n" });
        text.extend(std::iter::repeat_n(b' ', 2 * depth));
        from = at + skip;
    }
    text.extend_from_slice(line.text.get(from..).unwrap_or_default());
    text.push(b'\n');
    String::from_utf8(text).map_err(serde::ser::Error::custom)
}

/// Where a line may break.
struct Break {
    /// Before this byte of it.
    at: usize,
    /// So many bytes are left out: a comma and its space, or none.
    skip: usize,
    /// Steps by which the next line is indented.
    depth: usize,
}

/// The line, and how long it is.
struct Line<'a> {
    text: Vec<u8>,
    at: &'a Cell<usize>,
}

impl Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.text.extend_from_slice(bytes);
        self.at.set(self.text.len());
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Where the line breaks.
struct Breaks<'a> {
    at: &'a Cell<usize>,
    /// Lists and objects that are not closed: where each begins, and how many breaks there were before it.
    open: Vec<(usize, usize)>,
    breaks: Vec<Break>,
}

impl Breaks<'_> {
    fn open<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.open.push((self.at.get(), self.breaks.len()));
        writer.write_all(bracket)
    }

    fn item<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        let skip = if first { 0 } else { COMMA.len() };
        self.breaks.push(Break { at: self.at.get(), skip, depth: self.open.len() });
        if first { Ok(()) } else { writer.write_all(COMMA.as_bytes()) }
    }

    fn close<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        let end = self.at.get();
        writer.write_all(bracket)?;
        let Some((start, before)) = self.open.pop() else { return Ok(()) };
        let depth = self.open.len();
        if depth > 0 && end + bracket.len() - start <= WIDTH.saturating_sub(2 * depth) {
            self.breaks.truncate(before);
        } else {
            self.breaks.push(Break { at: end, skip: 0, depth });
        }
        Ok(())
    }
}

impl Formatter for &mut Breaks<'_> {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"[")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.item(writer, first)
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"]")
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"{")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.item(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use serde_json::{Value, json};

    #[test]
    fn what_fits_a_line_stands_on_one() {
        let long: Vec<String> = (0..12).map(|n| format!("a name of some length, number {n}")).collect();
        let value = json!({ "a": { "b": [1, 2.5, null], "c\"": true }, "long": long[..6], "empty": {} });
        expect![[r#"
            {
              "a": {"b": [1, 2.5, null], "c\"": true},
              "long": [
                "a name of some length, number 0",
                "a name of some length, number 1",
                "a name of some length, number 2",
                "a name of some length, number 3",
                "a name of some length, number 4",
                "a name of some length, number 5"
              ],
              "empty": {}
            }
        "#]]
        .assert_eq(&pretty(&value).unwrap());
        assert_eq!(serde_json::from_str::<Value>(&pretty(&value).unwrap()).unwrap(), value);
    }
}
