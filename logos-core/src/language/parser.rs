//! Text to program: sentences are read one by one and handed to the [`Builder`], so an error has the place of its words.
//!
//! ```text
//! program     = "##" "Main" ["over" N ("chip" | "chips")] "Activations" "are" storage "." {sentence}
//! sentence    = ("Let" name "be" (declaration | operation) | "Append" name "to" name "at" name | "Show" name) "."
//! declaration = ["a" | "an"] [N "of"] N "by" N role "of" ("Real" | "Int") {"," attribute}
//! operation   = the pieces of its form, {"," attribute}
//! ```

use std::collections::HashSet;

use super::ast::{Program, StatementId, Storage, ValueId};
use super::builder::Builder;
use super::error::{Place, Problem, ProgramError};
use super::lexer::Kind;
use super::nearest::nearest;
use super::reader::{Fault, Reader, clipped, unknown};
use super::{declaration, operation};

/// Longest text, bytes.
pub const MAX_TEXT: usize = 16 << 20;
/// Most errors that one reading reports.
pub const MAX_ERRORS: usize = 64;
/// More values than this are not searched for a name like the one written.
const MAX_SEARCH: usize = 4096;

/// Reads a program.
///
/// # Errors
/// Everything that is wrong, in order of the text, up to [`MAX_ERRORS`]; what only follows from an earlier error is left out.
pub fn parse(text: &str) -> Result<Program, Vec<ProgramError>> {
    if text.len() > MAX_TEXT {
        return Err(vec![Problem::Limit { what: "bytes of text", limit: MAX_TEXT as u64 }.at(Place::default())]);
    }
    let mut reader = Reader::new(text);
    let (chips, activations) = match header(&mut reader) {
        Ok(header) => header,
        Err(fault) => return Err(vec![reader.error(fault, Place::default())]),
    };
    let mut session = Session {
        builder: Builder::new(chips, activations),
        chips,
        activations,
        failed: HashSet::new(),
        stated: 0,
        statements: Vec::new(),
        declared: Vec::new(),
    };
    let mut errors = Vec::new();
    while reader.kind() != Kind::End && errors.len() < MAX_ERRORS {
        let start = reader.at;
        if let Err(error) = session.sentence(&mut reader) {
            errors.extend(error);
            session.fail_binder(&reader, start);
            reader.skip_sentence(start);
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let Session { builder, statements, declared, .. } = session;
    builder.finish_all().map_err(|errors| {
        let mut errors: Vec<_> =
            errors.into_iter().take(MAX_ERRORS).map(|e| reader.locate(e, &statements, &declared)).collect();
        errors.sort_by_key(|error| error.place.text);
        errors
    })
}

fn header(reader: &mut Reader<'_>) -> Result<(u32, Storage), Fault> {
    if reader.kind() != Kind::Heading {
        return Err(reader.unexpected("the heading `## Main`"));
    }
    reader.at += 1;
    reader.expect_word("Main")?;
    let mut chips = 1;
    if reader.eat_word("over") {
        chips = reader.count()?;
        if !reader.eat_word("chip") {
            reader.expect_word("chips")?;
        }
    }
    reader.expect_word("Activations")?;
    reader.expect_word("are")?;
    let at = reader.at;
    let activations = reader.storage()?;
    super::declared::activations(activations).map_err(|problem| Fault { at, problem })?;
    reader.expect_stop()?;
    Ok((chips, activations))
}

/// What has been read so far.
pub(super) struct Session<'t> {
    pub(super) builder: Builder,
    pub(super) chips: u32,
    pub(super) activations: Storage,
    /// Names whose sentence was refused: what uses them says nothing new.
    failed: HashSet<&'t str>,
    /// Statements so far, those refused among them.
    stated: u32,
    /// The token that names what each statement binds, shows or writes.
    statements: Vec<usize>,
    /// The token that names each declared value.
    declared: Vec<usize>,
}

impl<'t> Session<'t> {
    /// Reads a sentence; an error without a problem only follows from an earlier one.
    fn sentence(&mut self, reader: &mut Reader<'t>) -> Result<(), Option<ProgramError>> {
        let (start, word) = (reader.at, reader.word());
        let statement = StatementId(self.stated);
        let place = |binder: Option<&str>, declared: bool| Place {
            text: None,
            statement: (!declared).then_some(statement),
            binder: binder.map(Into::into),
        };
        match word {
            Some("Let") => {
                reader.at += 1;
                let binder = reader.name().map_err(|fault| reader.error(fault, place(None, false)))?;
                let name = reader.text_at(binder);
                reader.expect_word("be").map_err(|fault| reader.error(fault, place(Some(name), false)))?;
                let declares = declaration::starts(reader);
                self.stated += u32::from(!declares);
                let outcome = if declares { self.declaration(reader, binder) } else { self.binding(reader, binder) };
                outcome.map_err(|refused| refused.into_error(reader, start, place(Some(name), declares)))
            }
            Some("Append" | "Show") => {
                self.stated += 1;
                self.effect(reader).map_err(|refused| {
                    let binder = reader.binder_of(start).map(|at| reader.text_at(at));
                    refused.into_error(reader, start, place(binder, false))
                })
            }
            Some("Set") => {
                let fault = Fault { at: start, problem: Problem::Literal { word: "Set" } };
                Err(Some(reader.error(fault, place(None, false))))
            }
            Some(word) => {
                let problem = unknown("sentence", word, ["Let", "Append", "Show"]);
                Err(Some(reader.error(Fault { at: start, problem }, place(None, false))))
            }
            None => {
                let fault = reader.unexpected("a sentence (`Let`, `Append` or `Show`)");
                Err(Some(reader.error(fault, place(None, false))))
            }
        }
    }

    fn declaration(&mut self, reader: &mut Reader<'t>, binder: usize) -> Result<(), Refused> {
        if self.stated > 0 {
            return Err(Fault { at: binder, problem: Problem::DeclarationLate }.into());
        }
        let read = declaration::read(reader, self.chips, self.activations)?;
        let name = reader.text_at(binder);
        self.builder.declare(name, read.role, read.shape, read.element, read.storage, read.sharding)?;
        self.declared.push(binder);
        Ok(())
    }

    fn binding(&mut self, reader: &mut Reader<'t>, binder: usize) -> Result<(), Refused> {
        let read = operation::read(reader)?;
        let operands = self.operands(reader, read.operands())?;
        let op = read.op(|operand| {
            operands.get(operand).and_then(|id| self.builder.value(*id)).map_or(0, |value| value.shape.rows)
        });
        self.builder.bind(reader.text_at(binder), op, &operands)?;
        self.statements.push(binder);
        Ok(())
    }

    fn effect(&mut self, reader: &mut Reader<'t>) -> Result<(), Refused> {
        let appends = reader.word() == Some("Append");
        reader.at += 1;
        let value = reader.name()?;
        if appends {
            reader.expect_word("to")?;
            let state = reader.name()?;
            reader.expect_word("at")?;
            let pos = reader.name()?;
            reader.expect_stop()?;
            let ids = self.operands(reader, [value, state, pos].into_iter())?;
            self.builder.append(ids[0], ids[1], ids[2])?;
            self.statements.push(state);
        } else {
            reader.expect_stop()?;
            let ids = self.operands(reader, std::iter::once(value))?;
            self.builder.show(ids[0])?;
            self.statements.push(value);
        }
        Ok(())
    }

    /// The values that name tokens name.
    fn operands(&self, reader: &Reader<'t>, names: impl Iterator<Item = usize>) -> Result<Vec<ValueId>, Refused> {
        let mut ids = Vec::with_capacity(names.size_hint().0);
        let mut follows = false;
        for at in names {
            let name = reader.text_at(at);
            match self.builder.lookup(name) {
                Some(id) => ids.push(id),
                None if self.failed.contains(name) => follows = true,
                None => {
                    let near = nearest(name, self.builder.names().take(MAX_SEARCH)).map(Into::into);
                    return Err(
                        Fault { at, problem: Problem::NameUnknown { name: clipped(name), nearest: near } }.into()
                    );
                }
            }
        }
        if follows { Err(Refused::Follows) } else { Ok(ids) }
    }

    fn fail_binder(&mut self, reader: &Reader<'t>, start: usize) {
        if reader.word_at(start) == Some("Let")
            && let Some(binder) = reader.binder_of(start)
        {
            self.failed.insert(reader.text_at(binder));
        }
    }
}

/// Why a sentence is refused.
enum Refused {
    /// Its words.
    Words(Fault),
    /// What they mean.
    Meaning(ProgramError),
    /// It uses a name whose own sentence was refused.
    Follows,
}

impl From<Fault> for Refused {
    fn from(fault: Fault) -> Self {
        Refused::Words(fault)
    }
}

impl From<ProgramError> for Refused {
    fn from(error: ProgramError) -> Self {
        Refused::Meaning(error)
    }
}

impl Refused {
    fn into_error(self, reader: &Reader<'_>, start: usize, place: Place) -> Option<ProgramError> {
        match self {
            Refused::Words(fault) => Some(reader.error(fault, place)),
            Refused::Meaning(mut error) => {
                // The word the problem is about, if the sentence has it; else the name it binds.
                let at = reader.binder_of(start).unwrap_or(start);
                let about = error.problem.subject().and_then(|word| reader.find(start, word)).unwrap_or(at);
                *error.place = Place { text: Some(reader.position(about)), ..place };
                Some(error)
            }
            Refused::Follows => None,
        }
    }
}
