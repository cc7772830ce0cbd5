//! Sizes: whole numbers written out.

use proc_macro2::{Span, TokenTree};
use syn::Lit;

use crate::cursor::Cursor;
use crate::fault::Fault;

/// A size as written, with its place.
#[derive(Clone, Copy)]
pub(crate) struct Number {
    pub(crate) value: u32,
    pub(crate) span: Span,
}

/// Reads the value of the key `key`. At most the tokens of one value are taken.
pub(crate) fn parse(key: &str, input: &mut Cursor) -> Result<Number, Fault> {
    let span = input.span();
    let wrong = |found: String| Fault::form(format!("`{key}` is a whole number, found {found}"), span);
    match input.peek() {
        None => {
            Err(Fault::form(format!("`{key}` has no value"), span).help(format!("write a whole number: `{key}: 8`")))
        }
        Some(TokenTree::Literal(literal)) => {
            let literal = literal.clone();
            input.next();
            literal_value(key, &literal, span)
        }
        Some(TokenTree::Punct(punct)) if punct.as_char() == '-' => {
            input.next();
            let number = match input.peek() {
                Some(TokenTree::Literal(literal)) => literal.to_string(),
                _ => String::new(),
            };
            let end = input.span();
            input.next();
            let mut fault = Fault::form(format!("`{key}` is negative: -{number}"), span);
            fault.last = end;
            Err(fault)
        }
        Some(TokenTree::Punct(punct)) if punct.as_char() == ',' => {
            Err(Fault::form(format!("`{key}` has no value"), span).help(format!("write a whole number: `{key}: 8`")))
        }
        Some(TokenTree::Ident(ident)) if ident == "true" || ident == "false" => Err(wrong(format!("`{ident}`"))),
        Some(TokenTree::Ident(ident)) => Err(wrong(format!("the name `{ident}`"))
            .help("write the number out: the macro runs before constants have values")),
        Some(TokenTree::Punct(punct)) => Err(wrong(format!("`{}`", punct.as_char()))),
        Some(TokenTree::Group(_)) => {
            Err(wrong("an expression".to_owned()).help("write the number out: the macro evaluates nothing"))
        }
    }
}

fn literal_value(key: &str, literal: &proc_macro2::Literal, span: Span) -> Result<Number, Fault> {
    let wrong = |found: String| Fault::form(format!("`{key}` is a whole number, found {found}"), span);
    match Lit::new(literal.clone()) {
        Lit::Int(int) => {
            // A suffix is a type of integers, or empty; `1f32` is no whole number.
            if !int.suffix().is_empty() && !int.suffix().starts_with(['u', 'i']) {
                return Err(wrong(format!("`{literal}`")));
            }
            let digits = int.base10_digits();
            if let Some(number) = digits.strip_prefix('-') {
                return Err(Fault::form(format!("`{key}` is negative: -{number}"), span));
            }
            match digits.parse() {
                Ok(value) => Ok(Number { value, span }),
                Err(_) => Err(Fault::form(format!("`{key}` is too large: {literal}"), span)
                    .help(format!("the most that can be written is {}", u32::MAX))),
            }
        }
        Lit::Float(float) => Err(wrong(format!("the fraction `{float}`"))),
        Lit::Str(string) => {
            let value = string.value();
            let fault = wrong(format!("the string {literal}"));
            let digits = !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit());
            Err(if digits { fault.help(format!("write `{key}: {value}`")) } else { fault })
        }
        _ => Err(wrong(format!("`{literal}`"))),
    }
}
