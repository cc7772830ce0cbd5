//! Reading an operation by the forms of the table.

use super::ast::Element;
use super::error::Problem;
use super::lexer::Kind;
use super::reader::{Fault, Reader, clipped, unknown};
use crate::ops::form::{Attribute, AttributeKind, Form, MAX_OPERANDS, Piece};
use crate::ops::operation::Words;
use crate::ops::{FORMS, Op, Row};

/// Most attributes of an operation.
const MAX_ATTRIBUTES: usize = 8;

/// An operation as read: its names are not resolved yet.
pub(super) struct Read {
    form: &'static Form,
    make: fn(Words) -> Op,
    operands: [Option<usize>; MAX_OPERANDS],
    words: Words,
}

impl Read {
    /// The tokens of the operands, in the order of the tree.
    pub(super) fn operands(&self) -> impl Iterator<Item = usize> {
        self.operands.into_iter().flatten()
    }

    /// The operation; `rows` tells the rows of an operand.
    pub(super) fn op(&self, rows: impl Fn(usize) -> u32) -> Op {
        let mut words = self.words;
        for attribute in self.form.attributes {
            if let AttributeKind::RowsOf(operand) = attribute.kind {
                words[attribute.word] = rows(operand);
            }
        }
        (self.make)(words)
    }
}

/// Reads an operation and the full stop after it.
pub(super) fn read(reader: &mut Reader<'_>) -> Result<Read, Fault> {
    let (form, make) = find(reader)?;
    let mut read = Read { form, make, operands: [None; MAX_OPERANDS], words: [0; 6] };
    let mut optional = vec![None; form.optional.len()];
    pieces(reader, &mut read, form.text, &mut optional)?;
    attributes(reader, &mut read)?;
    reader.expect_stop()?;
    Ok(read)
}

/// The form whose words stand here: the second word tells an operation between operands, the first one any other.
fn find(reader: &Reader<'_>) -> Result<Row, Fault> {
    let (first, second) = (reader.word(), reader.word_at(reader.at + 1));
    let Some(first) = first else { return Err(reader.unexpected("an operation, or a declaration")) };
    if let Some(form) = second.and_then(|second| FORMS.iter().find(|(form, _)| infix(form) == Some(second))) {
        return Ok(*form);
    }
    if let Some(form) = FORMS.iter().find(|(form, _)| prefix(form) == Some(first)) {
        return Ok(*form);
    }
    let of = |at: usize| reader.word_at(at) == Some("of");
    match second {
        Some(second) if !of(reader.at + 1) && !of(reader.at + 2) => {
            let problem = unknown("operation", second, FORMS.iter().filter_map(|(form, _)| infix(form)));
            Err(Fault { at: reader.at + 1, problem })
        }
        Some(_) => Err(reader.here(unknown("operation", first, FORMS.iter().filter_map(|(form, _)| prefix(form))))),
        None => Err(Fault {
            at: reader.at + 1,
            problem: Problem::Unexpected {
                expected: "an operation".into(),
                found: format!("`{}`", clipped(reader.text_at(reader.at + 1))).into(),
            },
        }),
    }
}

fn prefix(form: &Form) -> Option<&'static str> {
    match form.text.first() {
        Some(Piece::Word(word)) => Some(word),
        Some(Piece::Operand(_) | Piece::Comma | Piece::Number(_) | Piece::Optional(..)) | None => None,
    }
}

fn infix(form: &Form) -> Option<&'static str> {
    match form.text {
        [Piece::Operand(_), Piece::Word(word), ..] => Some(word),
        _ => None,
    }
}

/// Reads pieces; `optional` remembers which groups of operands are given, as each is all there or none of it.
fn pieces(
    reader: &mut Reader<'_>,
    read: &mut Read,
    pieces_: &'static [Piece],
    optional: &mut [Option<bool>],
) -> Result<(), Fault> {
    for piece in pieces_ {
        match piece {
            Piece::Word(word) => reader.expect_word(word)?,
            Piece::Operand(index) => read.operands[*index] = Some(reader.name()?),
            Piece::Comma if reader.kind() == Kind::Comma => reader.at += 1,
            Piece::Comma => return Err(reader.unexpected("`,`")),
            Piece::Number(index) => read.words[read.form.attributes[*index].word] = reader.real()?.to_bits(),
            Piece::Optional(group, inner) => {
                let given = match (optional[*group], inner.first()) {
                    (Some(given), _) => given,
                    (None, Some(Piece::Word(word))) => reader.word() == Some(word),
                    (None, Some(_) | None) => false,
                };
                optional[*group] = Some(given);
                if given {
                    pieces(reader, read, inner, optional)?;
                }
            }
        }
    }
    Ok(())
}

fn attributes(reader: &mut Reader<'_>, read: &mut Read) -> Result<(), Fault> {
    let mut seen = [false; MAX_ATTRIBUTES];
    while reader.kind() == Kind::Comma {
        reader.at += 1;
        let start = reader.at;
        let (index, attribute) = attribute(reader, read.form)?;
        let word = value(reader, attribute)?;
        if std::mem::replace(&mut seen[index], true) {
            return Err(Fault { at: start, problem: Problem::AttributeTwice { name: attribute.name } });
        }
        read.words[attribute.word] |= word;
    }
    if reader.kind() != Kind::Stop {
        return Err(reader.unexpected("`,` and an attribute, or `.`"));
    }
    let missing = read.form.attributes.iter().zip(seen).find(|(attribute, seen)| required(attribute.kind) && !seen);
    match missing {
        Some((attribute, _)) => {
            Err(reader.here(Problem::AttributeMissing { op: read.form.name, name: attribute.name }))
        }
        None => Ok(()),
    }
}

fn required(kind: AttributeKind) -> bool {
    match kind {
        AttributeKind::Count | AttributeKind::Real(_) | AttributeKind::Choice(_) | AttributeKind::OneOf(_) => true,
        AttributeKind::OptionalCount
        | AttributeKind::OptionalReal(_)
        | AttributeKind::Inline(_)
        | AttributeKind::Flag
        | AttributeKind::Bit(_)
        | AttributeKind::RowsOf(_) => false,
    }
}

/// The attribute whose word or words stand here, left unread if they are its value too (a choice).
fn attribute(reader: &mut Reader<'_>, form: &'static Form) -> Result<(usize, &'static Attribute), Fault> {
    let Some(word) = reader.word() else { return Err(reader.unexpected("an attribute")) };
    for (index, attribute) in form.attributes.iter().enumerate() {
        match attribute.kind {
            AttributeKind::Choice(choices) if choices.contains(&word) => return Ok((index, attribute)),
            AttributeKind::Choice(_) | AttributeKind::Inline(_) | AttributeKind::RowsOf(_) => {}
            AttributeKind::Count
            | AttributeKind::OptionalCount
            | AttributeKind::Real(_)
            | AttributeKind::OptionalReal(_)
            | AttributeKind::OneOf(_)
            | AttributeKind::Bit(_)
            | AttributeKind::Flag => {
                if words(reader, attribute.name) {
                    return Ok((index, attribute));
                }
            }
        }
    }
    let known = form.attributes.iter().flat_map(|attribute| match attribute.kind {
        AttributeKind::Choice(choices) => choices,
        AttributeKind::Inline(_) | AttributeKind::RowsOf(_) => ["", ""],
        AttributeKind::Count
        | AttributeKind::OptionalCount
        | AttributeKind::Real(_)
        | AttributeKind::OptionalReal(_)
        | AttributeKind::OneOf(_)
        | AttributeKind::Bit(_)
        | AttributeKind::Flag => [attribute.name, ""],
    });
    // A misspelt name of two words is compared as both.
    let written = match reader.word_at(reader.at + 1) {
        Some(second) => format!("{word} {second}"),
        None => word.to_owned(),
    };
    Err(reader.here(unknown("attribute", &written, known.filter(|name| !name.is_empty()))))
}

/// Reads a name of one or two words, or nothing.
pub(super) fn words(reader: &mut Reader<'_>, name: &str) -> bool {
    let start = reader.at;
    let found = name.split(' ').all(|word| reader.eat_word(word));
    if !found {
        reader.at = start;
    }
    found
}

fn value(reader: &mut Reader<'_>, attribute: &Attribute) -> Result<u32, Fault> {
    match attribute.kind {
        AttributeKind::Count | AttributeKind::OptionalCount => reader.count(),
        AttributeKind::Real(_) | AttributeKind::OptionalReal(_) | AttributeKind::Inline(_) => {
            Ok(reader.real()?.to_bits())
        }
        AttributeKind::Choice(choices) => {
            let second = reader.word() == Some(choices[1]);
            reader.at += 1;
            Ok(u32::from(second))
        }
        AttributeKind::OneOf(choices) => {
            let Some(word) = reader.word() else { return Err(reader.unexpected("a word")) };
            let Some(choice) = choices.iter().position(|choice| *choice == word) else {
                return Err(reader.here(unknown(attribute.name, word, choices.iter().copied())));
            };
            reader.at += 1;
            Ok(choice as u32)
        }
        AttributeKind::Flag => Ok(1),
        AttributeKind::Bit(bit) => Ok(bit),
        AttributeKind::RowsOf(_) => Ok(0),
    }
}

/// The word of an element.
pub(super) fn element(reader: &mut Reader<'_>) -> Result<Element, Fault> {
    let Some(word) = reader.word() else { return Err(reader.unexpected("`Real` or `Int`")) };
    let element = match word {
        "Real" => Element::Real,
        "Int" => Element::Int,
        _ => return Err(reader.here(unknown("element", word, ["Real", "Int"]))),
    };
    reader.at += 1;
    Ok(element)
}
