//! The tokens of a text one after another, and the faults that name one of them.

use std::str::FromStr;

use super::ast::Storage;
use super::error::{Place, Problem, ProgramError};
use super::lexer::{Kind, Token, line_and_column, tokens};
use super::nearest::nearest;

/// A problem and the token it is at.
pub(super) struct Fault {
    pub(super) at: usize,
    pub(super) problem: Problem,
}

/// The tokens of a text and the next one.
pub(super) struct Reader<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    pub(super) at: usize,
}

/// A word that is none of those known.
pub(super) fn unknown<'a>(what: &'static str, word: &str, known: impl IntoIterator<Item = &'a str>) -> Problem {
    let known: Vec<&str> = known.into_iter().collect();
    let nearest = nearest(word, known.iter().copied()).map(Into::into);
    Problem::UnknownWord { what, word: clipped(word), nearest, known: known.join(", ").into() }
}

/// A word as a message shows it.
pub(super) fn clipped(word: &str) -> Box<str> {
    match word.char_indices().nth(64) {
        Some((end, _)) => format!("{}...", &word[..end]).into(),
        None => word.into(),
    }
}

impl<'t> Reader<'t> {
    /// At the first token of a text.
    pub(super) fn new(text: &'t str) -> Self {
        Reader { text, tokens: tokens(text), at: 0 }
    }

    pub(super) fn kind(&self) -> Kind {
        self.kind_at(self.at)
    }

    pub(super) fn kind_at(&self, at: usize) -> Kind {
        self.tokens.get(at).map_or(Kind::End, |token| token.kind)
    }

    pub(super) fn text_at(&self, at: usize) -> &'t str {
        self.tokens.get(at).map_or("", |token| &self.text[token.start as usize..token.end as usize])
    }

    pub(super) fn word_at(&self, at: usize) -> Option<&'t str> {
        (self.kind_at(at) == Kind::Word).then(|| self.text_at(at))
    }

    pub(super) fn word(&self) -> Option<&'t str> {
        self.word_at(self.at)
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.word() == Some(word);
        self.at += usize::from(found);
        found
    }

    pub(super) fn expect_word(&mut self, word: &'static str) -> Result<(), Fault> {
        if self.eat_word(word) { Ok(()) } else { Err(self.unexpected(&format!("`{word}`"))) }
    }

    pub(super) fn expect_stop(&mut self) -> Result<(), Fault> {
        if self.kind() != Kind::Stop {
            return Err(self.unexpected("`.`"));
        }
        self.at += 1;
        Ok(())
    }

    /// The token of a name.
    pub(super) fn name(&mut self) -> Result<usize, Fault> {
        if self.kind() != Kind::Word {
            return Err(self.unexpected("a name"));
        }
        self.at += 1;
        Ok(self.at - 1)
    }

    /// A whole number above 0.
    pub(super) fn count(&mut self) -> Result<u32, Fault> {
        let expected = "a whole number from 1 to 4294967295";
        if self.kind() != Kind::Number {
            return Err(self.unexpected("a whole number"));
        }
        match self.text_at(self.at).parse() {
            Ok(count) if count > 0 => {
                self.at += 1;
                Ok(count)
            }
            Ok(_) | Err(_) => Err(self.bad_number(expected)),
        }
    }

    /// A finite number of 32 bits.
    pub(super) fn real(&mut self) -> Result<f32, Fault> {
        self.number("a finite number of 32 bits", |x: &f32| x.is_finite())
    }

    /// A finite number of 64 bits.
    pub(super) fn double(&mut self) -> Result<f64, Fault> {
        self.number("a finite number", |x: &f64| x.is_finite())
    }

    fn number<T: FromStr>(&mut self, expected: &'static str, finite: impl Fn(&T) -> bool) -> Result<T, Fault> {
        if self.kind() != Kind::Number {
            return Err(self.unexpected("a number"));
        }
        match self.text_at(self.at).parse() {
            Ok(x) if finite(&x) => {
                self.at += 1;
                Ok(x)
            }
            Ok(_) | Err(_) => Err(self.bad_number(expected)),
        }
    }

    /// The word of a storage.
    pub(super) fn storage(&mut self) -> Result<Storage, Fault> {
        let Some(word) = self.word() else { return Err(self.unexpected("a storage")) };
        match Storage::ALL.into_iter().find(|storage| storage.as_str() == word) {
            Some(storage) => {
                self.at += 1;
                Ok(storage)
            }
            None => Err(self.here(unknown("storage", word, Storage::ALL.map(Storage::as_str)))),
        }
    }

    pub(super) fn here(&self, problem: Problem) -> Fault {
        Fault { at: self.at, problem }
    }

    pub(super) fn unexpected(&self, expected: &str) -> Fault {
        let found = match self.kind() {
            Kind::End => "the end of the text".into(),
            Kind::Word | Kind::Number | Kind::Comma | Kind::Stop | Kind::Heading | Kind::Other => {
                format!("`{}`", clipped(self.text_at(self.at))).into()
            }
        };
        self.here(Problem::Unexpected { expected: expected.into(), found })
    }

    fn bad_number(&self, expected: &'static str) -> Fault {
        self.here(Problem::Number { expected, found: clipped(self.text_at(self.at)) })
    }

    /// The token that names what the sentence at `start` binds, shows or writes.
    pub(super) fn binder_of(&self, start: usize) -> Option<usize> {
        let at = match self.word_at(start)? {
            "Let" | "Show" => start + 1,
            "Append" => start + 3,
            _ => return None,
        };
        (self.kind_at(at) == Kind::Word).then_some(at)
    }

    /// The first token after `from` in its sentence that reads `word`.
    pub(super) fn find(&self, from: usize, word: &str) -> Option<usize> {
        (from + 1..self.tokens.len())
            .take_while(|at| self.kind_at(*at) != Kind::Stop)
            .find(|at| self.word_at(*at) == Some(word))
    }

    pub(super) fn skip_sentence(&mut self, start: usize) {
        // A sentence refused for its meaning has been read to its end, and the next one starts here.
        if self.at > start && self.kind_at(self.at - 1) == Kind::Stop {
            return;
        }
        while !matches!(self.kind(), Kind::Stop | Kind::End) {
            self.at += 1;
        }
        self.at += usize::from(self.kind() == Kind::Stop);
    }

    pub(super) fn position(&self, at: usize) -> (u32, u32) {
        line_and_column(self.text, self.tokens.get(at).map_or(self.text.len() as u32, |token| token.start))
    }

    pub(super) fn error(&self, fault: Fault, place: Place) -> ProgramError {
        fault.problem.at(Place { text: Some(self.position(fault.at)), ..place })
    }

    /// The place of an error about the program as a whole.
    pub(super) fn locate(&self, mut error: ProgramError, statements: &[usize], declared: &[usize]) -> ProgramError {
        let place = &error.place;
        let at = match (place.statement, &place.binder) {
            (Some(statement), _) => statements.get(statement.0 as usize).copied(),
            (None, Some(binder)) => declared.iter().copied().find(|at| self.text_at(*at) == binder.as_ref()),
            (None, None) => None,
        };
        error.place.text = Some(self.position(at.unwrap_or(0)));
        error
    }
}
