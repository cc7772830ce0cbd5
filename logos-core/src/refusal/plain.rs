//! Text that others wrote, shown so that a terminal prints it and does not obey it.

use std::fmt::{self, Write};

/// Whether a terminal or an editor acts on a character, or hides it, in place of showing it: control characters, marks and
/// overrides of direction, separators of lines, what has no width, tags. Joiners, which letters and emoji need, are not among them.
///
/// Source: Unicode 16, categories Cc, Zl and Zp and of Cf what changes how other text is read.
pub const fn is_unseen(c: char) -> bool {
    matches!(
        c,
        '\0'..='\u{1f}'
            | '\u{7f}'..='\u{9f}'
            | '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'
            | '\u{200e}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// A text on one line, in which all that is not seen is written as a Rust literal would have it: `\n`, `\u{1b}`.
#[derive(Clone, Copy, Debug)]
pub struct Plain<'a>(pub &'a str);

impl fmt::Display for Plain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some((at, c)) = rest.char_indices().find(|&(_, c)| is_unseen(c)) {
            f.write_str(&rest[..at])?;
            match c {
                '\t' | '\n' | '\r' => write!(f, "{}", c.escape_default())?,
                c => write!(f, "{}", c.escape_unicode())?,
            }
            rest = &rest[at + c.len_utf8()..];
        }
        f.write_str(rest)
    }
}

/// A sink that writes what passes through it as [`Plain`].
pub(super) struct Plainly<'a, 'f>(pub(super) &'a mut fmt::Formatter<'f>);

impl Write for Plainly<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        write!(self.0, "{}", Plain(text))
    }
}

#[cfg(test)]
mod tests {
    use crate::{At, Code, Refusal};

    use super::Plain;

    #[test]
    fn what_is_not_seen_is_written_out() {
        for (text, plain) in [
            ("", ""),
            ("`naïve` 模型 👩\u{200d}👧 \"\\ '", "`naïve` 模型 👩\u{200d}👧 \"\\ '"),
            ("a\u{1b}[31mb\u{9b}\u{7f}\0", "a\\u{1b}[31mb\\u{9b}\\u{7f}\\u{0}"),
            ("a\u{202e}b\u{2066}\u{61c}\u{2028}", "a\\u{202e}b\\u{2066}\\u{61c}\\u{2028}"),
            ("a\nerror: b\r\t\u{feff}", "a\\nerror: b\\r\\t\\u{feff}"),
        ] {
            assert_eq!(Plain(text).to_string(), plain);
        }
    }

    /// Names come from files that others wrote.
    #[test]
    fn a_refusal_writes_nothing_that_a_terminal_obeys() {
        let evil = "a\u{1b}[2J\nerror: b\u{202e}";
        let plain = "a\\u{1b}[2J\\nerror: b\\u{202e}";
        let refusal = Refusal::new(Code::ConfigValue, At::ConfigKey(evil.into()), format!("`{evil}`"));
        let refusal = refusal.fact(evil, evil).help(evil);
        assert_eq!(refusal.to_string(), format!("LOGOS-CFG-04: `{plain}`\n  {plain}: {plain}\n  help: {plain}"));
        for at in [
            At::ConfigKey(evil.into()),
            At::ChipFile { file: evil.into(), line: 1, column: 1 },
            At::Deployment(evil.into()),
            At::Program(evil.into(), evil.into()),
            At::Checkpoint { file: evil.into(), tensor: Some(evil.into()) },
        ] {
            let text = at.to_string();
            assert!(text.contains(plain) && !text.contains(['\u{1b}', '\n', '\u{202e}']), "{text:?}");
        }
    }
}
