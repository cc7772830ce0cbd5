//! `key: value, key: value`: what the three nested lists have in common.

use std::fmt::Write;

use logos_core::nearest;
use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};

use crate::cursor::Cursor;
use crate::fault::Fault;

/// Reads entries to the end of the cursor. `value` reads one value; when it fails, the rest of the entry is dropped.
pub(super) fn read(
    mut cursor: Cursor,
    expected: &str,
    faults: &mut Vec<Fault>,
    mut value: impl FnMut(TokenStream, Ident, &mut Cursor, &mut Vec<Fault>) -> Result<(), Fault>,
) {
    while !cursor.is_empty() {
        let entry = attributes(&mut cursor).and_then(|attributes| {
            let key = key(&mut cursor, expected, faults)?;
            value(attributes, key, &mut cursor, faults)
        });
        match entry {
            Ok(()) if cursor.is_empty() || cursor.take_sign(',') => {}
            Ok(()) if cursor.at_entry() => {
                let before = found(cursor.peek());
                faults.push(Fault::form(format!("a comma is missing before {before}"), cursor.span()));
            }
            Ok(()) => {
                let after = found(cursor.peek());
                faults.push(Fault::form(format!("expected a comma, found {after}"), cursor.span()));
                // What was meant is plain: the next entry is read as well.
                if !cursor.take_sign(';') {
                    cursor.skip_entry();
                }
            }
            Err(fault) => {
                faults.push(fault);
                cursor.skip_entry();
            }
        }
    }
}

fn key(cursor: &mut Cursor, expected: &str, faults: &mut Vec<Fault>) -> Result<Ident, Fault> {
    let span = cursor.span();
    let Some(key) = cursor.take_ident() else {
        return Err(Fault::form(format!("expected {expected}, found {}", found(cursor.peek())), span));
    };
    if cursor.take_sign(':') {
        return Ok(key);
    }
    let fault = Fault::form(format!("expected `:` after `{key}`, found {}", found(cursor.peek())), cursor.span());
    if cursor.take_sign('=') {
        // What was meant is plain: the value is read as well.
        faults.push(fault);
        return Ok(key);
    }
    Err(fault)
}

/// Attributes, outer or inner, as outer ones.
pub(super) fn attributes(cursor: &mut Cursor) -> Result<TokenStream, Fault> {
    let mut attributes = TokenStream::new();
    while let Some(TokenTree::Punct(punct)) = cursor.peek() {
        if punct.as_char() != '#' {
            break;
        }
        let sign = TokenTree::Punct(punct.clone());
        cursor.next();
        cursor.take_sign('!');
        let Some(group) = cursor.take_group(Delimiter::Bracket) else {
            return Err(Fault::form("expected an attribute after `#`", cursor.span()));
        };
        attributes.extend([sign, TokenTree::Group(group)]);
    }
    Ok(attributes)
}

/// The fault of attributes where nothing would take them.
pub(super) fn no_attributes(attributes: TokenStream, key: &Ident) -> Option<Fault> {
    let token = attributes.into_iter().next()?;
    Some(Fault::form(format!("`{key}` takes no attribute or documentation"), token.span()))
}

/// The known word that an unknown one is near to.
pub(super) fn near<'k>(word: &Ident, known: &[&'k str]) -> Option<&'k str> {
    nearest(&word.to_string(), known.iter().copied())
}

/// A word that is not among those known.
pub(super) fn unknown(what: &str, word: &Ident, known: &[&str]) -> Fault {
    let text = word.to_string();
    let help = match near(word, known) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known: {}", list(known)),
    };
    Fault::unknown(format!("unknown {what} `{text}`"), word.span()).help(help)
}

/// A key given a second time.
pub(super) fn twice(key: &str, span: Span) -> Fault {
    Fault::form(format!("`{key}` is given twice"), span).help("leave one of the two out")
}

/// `` `a`, `b`, `c` ``.
pub(super) fn list(words: &[&str]) -> String {
    let mut text = String::new();
    for (i, word) in words.iter().enumerate() {
        let comma = if i == 0 { "" } else { ", " };
        let _ = write!(text, "{comma}`{word}`");
    }
    text
}

/// A token as a message names it.
pub(super) fn found(token: Option<&TokenTree>) -> String {
    match token {
        None => "nothing".to_owned(),
        Some(TokenTree::Ident(ident)) => format!("`{ident}`"),
        Some(TokenTree::Punct(punct)) => format!("`{}`", punct.as_char()),
        Some(TokenTree::Literal(literal)) => {
            let text = literal.to_string();
            if text.chars().count() <= 40 { format!("`{text}`") } else { "a literal".to_owned() }
        }
        Some(TokenTree::Group(group)) => match group.delimiter() {
            Delimiter::Brace => "`{`".to_owned(),
            Delimiter::Bracket => "`[`".to_owned(),
            Delimiter::Parenthesis => "`(`".to_owned(),
            Delimiter::None => "a group".to_owned(),
        },
    }
}
