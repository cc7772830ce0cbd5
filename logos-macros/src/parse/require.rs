//! `require { hbm_fit, ctx >= 131_072 }` after a deployment's braces. Only words are made here; what they mean, the compiler says.

use logos_core::{At, Requirement};
use proc_macro2::{Delimiter, Spacing, Span, TokenTree};
use syn::Lit;

use super::entries;
use crate::cursor::Cursor;
use crate::fault::Fault;
use crate::model::Required;

pub(super) const WORD: &str = "require";

/// Where it is written.
pub(super) const PLACE: &str = "write it after a deployment's braces: `DECODE: decode { … } require { hbm_fit }`";

/// A word with its place.
struct Word {
    text: String,
    span: Span,
}

/// Reads the requirements if they are next.
pub(super) fn parse(cursor: &mut Cursor, faults: &mut Vec<Fault>) -> Result<Vec<Required>, Fault> {
    let span = cursor.span();
    match cursor.peek() {
        Some(TokenTree::Ident(word)) if word == WORD => {}
        // The next entry, or a word that is misspelt.
        Some(TokenTree::Ident(word)) if !cursor.at_entry() && entries::near(word, &[WORD]).is_some() => {
            faults.push(entries::unknown("word", word, &[WORD]));
        }
        _ => return Ok(Vec::new()),
    }
    cursor.next();
    let Some(group) = cursor.take_group(Delimiter::Brace) else {
        let found = entries::found(cursor.peek());
        return Err(Fault::form(format!("expected `{{` after `{WORD}`, found {found}"), cursor.span()).help(PLACE));
    };
    let mut inner = Cursor::of(&group);
    if inner.is_empty() {
        let fault = Fault::form(format!("`{WORD}` has no requirement"), span);
        faults.push(fault.help("write one, as in `require { hbm_fit, ctx >= 131_072 }`, or leave it out"));
    }
    let mut required = Vec::new();
    while !inner.is_empty() {
        let words = words(&mut inner);
        let end = inner.span();
        inner.take_sign(',');
        match read(&words, end) {
            Ok(requirement) => required.push(requirement),
            Err(fault) => faults.push(fault),
        }
    }
    Ok(required)
}

fn read(words: &[Word], end: Span) -> Result<Required, Fault> {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    let requirement = Requirement::from_words(&texts).map_err(|fault| {
        let span = words.get(fault.word).map_or(end, |word| word.span);
        Fault::new(fault.refusal(At::Request), span)
    })?;
    let span = |word: Option<&Word>| word.map_or(end, |word| word.span);
    Ok(Required { requirement, first: span(words.first()), last: span(words.last()) })
}

/// The words up to the next comma. An operator is one word however many signs it has; the unit of `8GiB` is a word of its own.
fn words(cursor: &mut Cursor) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    // Whether the last word is of signs that go on.
    let mut joint = false;
    while let Some(token) = cursor.peek() {
        let span = token.span();
        match token {
            TokenTree::Punct(sign) if sign.as_char() == ',' => break,
            TokenTree::Punct(sign) => {
                match words.last_mut() {
                    Some(word) if joint => word.text.push(sign.as_char()),
                    Some(_) | None => words.push(Word { text: sign.as_char().to_string(), span }),
                }
                joint = sign.spacing() == Spacing::Joint;
            }
            TokenTree::Ident(word) => words.push(Word { text: word.to_string(), span }),
            TokenTree::Literal(literal) => match Lit::new(literal.clone()) {
                Lit::Int(number) => {
                    words.push(Word { text: number.base10_digits().to_owned(), span });
                    let unit = number.suffix();
                    // A type of integers says nothing more.
                    if !unit.is_empty() && !unit.starts_with(['u', 'i']) {
                        words.push(Word { text: unit.to_owned(), span });
                    }
                }
                _ => words.push(Word { text: literal.to_string(), span }),
            },
            TokenTree::Group(_) => {
                let text = entries::found(Some(token)).trim_matches('`').to_owned();
                words.push(Word { text, span: cursor.span() });
            }
        }
        joint &= matches!(cursor.next(), Some(TokenTree::Punct(_)));
    }
    words
}
