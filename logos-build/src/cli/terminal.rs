//! The command's streams: what files and names of others say reaches a terminal as text, and nothing of it as an order.

use std::io::{self, Write};
use std::str::from_utf8;

use logos_core::refusal::is_unseen;

/// How a stream writes what is not seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Escapes {
    /// As a Rust literal has it, `\u{202e}`.
    Text,
    /// As a string of JSON has it, `\u202e`.
    Json,
    /// As it is: the bytes of a file.
    None,
}

/// A stream on which only line breaks and tabs are not seen.
pub(super) struct Terminal<'w> {
    to: &'w mut dyn Write,
    escapes: Escapes,
    /// The beginning of a character whose other bytes have not come yet.
    begun: Vec<u8>,
}

impl<'w> Terminal<'w> {
    pub(super) fn new(to: &'w mut dyn Write, escapes: Escapes) -> Self {
        Terminal { to, escapes, begun: Vec::new() }
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        let acts = |c| is_unseen(c) && c != '\n' && c != '\t';
        let (mut from, mut at) = (0, 0);
        loop {
            at += plain(&text.as_bytes()[at..]);
            let Some(c) = text[at..].chars().next() else { break };
            if acts(c) {
                self.to.write_all(&text.as_bytes()[from..at])?;
                match self.escapes {
                    Escapes::Json => {
                        let mut units = [0; 2];
                        c.encode_utf16(&mut units).iter().try_for_each(|unit| write!(self.to, "\\u{unit:04x}"))?;
                    }
                    Escapes::Text | Escapes::None => write!(self.to, "{}", c.escape_unicode())?,
                }
                from = at + c.len_utf8();
            }
            at += c.len_utf8();
        }
        self.to.write_all(&text.as_bytes()[from..])
    }
}

/// How many bytes text begins with of which none acts: printable ones of ASCII, line breaks and tabs. Nearly all that is written is that,
/// and a document is long: it is looked at many bytes at a time.
fn plain(bytes: &[u8]) -> usize {
    const AT_A_TIME: usize = 32;
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    let whole = bytes.chunks_exact(AT_A_TIME);
    let whole = AT_A_TIME * whole.take_while(|chunk| chunk.iter().fold(true, |all, byte| all & is_plain(byte))).count();
    whole + bytes[whole..].iter().take_while(|byte| is_plain(byte)).count()
}

impl Write for Terminal<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.escapes == Escapes::None {
            return self.to.write(bytes);
        }
        let begun = std::mem::take(&mut self.begun);
        let joined;
        let all = if begun.is_empty() {
            bytes
        } else {
            joined = [&begun, bytes].concat();
            &joined
        };
        if let Ok(text) = from_utf8(all) {
            self.text(text)?;
            return Ok(bytes.len());
        }
        let mut chunks = all.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            self.text(chunk.valid())?;
            let invalid = chunk.invalid();
            let unfinished =
                chunks.peek().is_none() && from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
            if unfinished {
                self.begun = invalid.to_vec();
            } else if !invalid.is_empty() {
                self.text("\u{fffd}")?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::{Escapes, Terminal};

    fn written(escapes: Escapes, parts: &[&[u8]]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut terminal = Terminal::new(&mut out, escapes);
        parts.iter().for_each(|part| terminal.write_all(part).unwrap());
        out
    }

    #[test]
    fn nothing_is_an_order_to_the_terminal() {
        let evil = "a\u{1b}[2J\rb\n\t\u{202e}\u{e0041}é".as_bytes();
        assert_eq!(written(Escapes::None, &[evil]), evil);
        assert_eq!(written(Escapes::Text, &[evil]), "a\\u{1b}[2J\\u{d}b\n\t\\u{202e}\\u{e0041}é".as_bytes());
        // What acts is found wherever it stands in what is long.
        for at in 0..70 {
            let text = format!("{}\u{7f}é{}\u{1b}", "x".repeat(at), " ".repeat(70 - at));
            let shown = text.replace('\u{7f}', "\\u{7f}").replace('\u{1b}', "\\u{1b}");
            assert_eq!(written(Escapes::Text, &[text.as_bytes()]), shown.as_bytes());
        }
        assert_eq!(written(Escapes::Json, &[evil]), "a\\u001b[2J\\u000db\n\t\\u202e\\udb40\\udc41é".as_bytes());
    }

    #[test]
    fn characters_may_come_in_parts_and_bytes_that_are_none_are_replaced() {
        let whole = written(Escapes::Text, &["模\u{202e}".as_bytes()]);
        let single: Vec<&[u8]> = "模\u{202e}".as_bytes().chunks(1).collect();
        assert_eq!(written(Escapes::Text, &single), whole);
        assert_eq!(written(Escapes::Text, &[b"a\xff\xe2b"]), "a\u{fffd}\u{fffd}b".as_bytes());
    }
}
