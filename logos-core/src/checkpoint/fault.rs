//! Refusals of checkpoint files: what, where, expected and found.

use std::fmt;

use crate::{At, Code, Refusal};

/// Longest name shown; a damaged header may hold one of megabytes.
const SHOWN: usize = 160;

/// A place in a checkpoint.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    pub(super) file: &'a str,
    pub(super) tensor: Option<&'a str>,
}

impl<'a> Place<'a> {
    pub(super) fn file(file: &'a str) -> Self {
        Place { file, tensor: None }
    }

    pub(super) fn tensor(self, tensor: &'a str) -> Self {
        Place { tensor: Some(tensor), ..self }
    }

    /// `what` is what does not hold; the sentence ends with what was expected and what was found.
    pub(super) fn refuse(
        self,
        code: Code,
        what: impl fmt::Display,
        expected: impl fmt::Display,
        found: impl fmt::Display,
    ) -> Refusal {
        let message = match self.tensor {
            Some(tensor) => format!("tensor `{}` of {}: {what}", shown(tensor), self.file),
            None => format!("{}: {what}", self.file),
        };
        let at = At::Checkpoint { file: self.file.to_owned(), tensor: self.tensor.map(shown) };
        Refusal::new(code, at, message).fact("expected", expected).fact("found", found)
    }
}

/// A parser's message, cut where it quotes more than a reader would want.
pub(super) fn parse_error(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.char_indices().nth(2 * SHOWN) {
        Some((end, _)) => format!("{}… at line {} column {}", &text[..end], error.line(), error.column()),
        None => text,
    }
}

/// A name as a message shows it: what does not print escaped, cut where it is long.
pub(super) fn shown(name: &str) -> String {
    let mut text: String = name.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    if name.chars().nth(SHOWN).is_some() {
        text.push('…');
    }
    text
}
