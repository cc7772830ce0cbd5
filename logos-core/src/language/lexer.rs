//! Text to tokens: words, numbers and the four marks of the language.

/// A token's kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An ASCII letter or `_`, then letters, digits and `_`.
    Word,
    /// Digits, optionally a sign, a fraction and an exponent.
    Number,
    /// `,`
    Comma,
    /// `.`
    Stop,
    /// `##`
    Heading,
    /// A character that starts no token.
    Other,
    /// The end of the text.
    End,
}

/// A token: a run of bytes of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    /// What it is.
    pub(super) kind: Kind,
    /// First byte.
    pub(super) start: u32,
    /// Byte after the last.
    pub(super) end: u32,
}

/// The tokens of a text of less than 4 GiB, with an [`Kind::End`] last.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    // A token and the space around it are about five bytes in programs as they print.
    let mut tokens = Vec::with_capacity(bytes.len() / 4 + 1);
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte.is_ascii_whitespace() {
            at += 1;
            continue;
        }
        let (kind, end) = token(bytes, at, byte);
        tokens.push(Token { kind, start: at as u32, end: end as u32 });
        at = end;
    }
    tokens.push(Token { kind: Kind::End, start: bytes.len() as u32, end: bytes.len() as u32 });
    tokens
}

fn token(bytes: &[u8], at: usize, byte: u8) -> (Kind, usize) {
    let next = bytes.get(at + 1).copied().unwrap_or(b' ');
    match byte {
        b',' => (Kind::Comma, at + 1),
        b'.' => (Kind::Stop, at + 1),
        b'#' if next == b'#' => (Kind::Heading, at + 2),
        b'-' if next.is_ascii_digit() => (Kind::Number, number_end(bytes, at + 1)),
        b'0'..=b'9' => (Kind::Number, number_end(bytes, at)),
        b'a'..=b'z' | b'A'..=b'Z' | b'_' => (Kind::Word, word_end(bytes, at)),
        // One whole character, so that a message never cuts it.
        _ => (Kind::Other, run(bytes, at + 1, |byte| byte & 0xc0 == 0x80)),
    }
}

fn number_end(bytes: &[u8], at: usize) -> usize {
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut end = run(bytes, at, |byte| byte.is_ascii_digit());
    if bytes.get(end) == Some(&b'.') && digit(end + 1) {
        end = run(bytes, end + 1, |byte| byte.is_ascii_digit());
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if digit(end + 1 + sign) {
            end = run(bytes, end + 1 + sign, |byte| byte.is_ascii_digit());
        }
    }
    // Letters that touch a number are part of it, and then it is refused as a whole.
    word_end(bytes, end)
}

fn word_end(bytes: &[u8], at: usize) -> usize {
    run(bytes, at, |byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn run(bytes: &[u8], mut at: usize, holds: impl Fn(u8) -> bool) -> usize {
    while bytes.get(at).is_some_and(|byte| holds(*byte)) {
        at += 1;
    }
    at
}

/// 1-based line and column, in characters, of a byte of the text.
pub(super) fn line_and_column(text: &str, at: u32) -> (u32, u32) {
    let before = text.get(..at as usize).unwrap_or(text);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    (line as u32, column as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lexed(text: &str) -> Vec<(Kind, &str)> {
        tokens(text).iter().map(|token| (token.kind, &text[token.start as usize..token.end as usize])).collect()
    }

    #[test]
    fn a_full_stop_after_a_number_is_a_stop() {
        let (n, s) = (Kind::Number, Kind::Stop);
        assert_eq!(lexed("1e-6."), [(n, "1e-6"), (s, "."), (Kind::End, "")]);
        assert_eq!(lexed("1.0."), [(n, "1.0"), (s, "."), (Kind::End, "")]);
        assert_eq!(lexed("-5120.x"), [(n, "-5120"), (s, "."), (Kind::Word, "x"), (Kind::End, "")]);
        assert_eq!(lexed("8x 1e"), [(n, "8x"), (n, "1e"), (Kind::End, "")]);
    }

    #[test]
    fn other_characters_are_whole_and_columns_count_characters() {
        let text = "é ## a,\n\u{1f9ee} b";
        let (other, word) = (Kind::Other, Kind::Word);
        let expected = [(other, "é"), (Kind::Heading, "##"), (word, "a"), (Kind::Comma, ","), (other, "\u{1f9ee}")];
        assert_eq!(lexed(text)[..5], expected);
        assert_eq!(line_and_column(text, text.rfind('b').unwrap() as u32), (2, 3));
        assert_eq!(line_and_column(text, 0), (1, 1));
    }
}
