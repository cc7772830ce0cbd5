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

/// A size that is plausible for the key.
pub(crate) fn example(key: &str) -> &'static str {
    match key {
        "ctx" => "8_192",
        "chunk" | "rows" => "512",
        _ => "8",
    }
}

/// What to write where something else stands.
fn whole(key: &str) -> String {
    format!("write a whole number: `{key}: {}`", example(key))
}

/// Reads the value of the key `key`. At most the tokens of one value are taken.
pub(crate) fn parse(key: &str, input: &mut Cursor) -> Result<Number, Fault> {
    let span = input.span();
    let wrong = |found: String| Fault::form(format!("`{key}` is a whole number, found {found}"), span).help(whole(key));
    let expression = |span| {
        Fault::form(format!("`{key}` is a whole number, found an expression"), span)
            .help("write the number out: the macro evaluates nothing")
    };
    match input.peek() {
        None => Err(Fault::form(format!("`{key}` has no value"), span).help(whole(key))),
        Some(TokenTree::Literal(literal)) => {
            let literal = literal.clone();
            input.next();
            if input.at_operator() {
                let mut fault = expression(span);
                fault.last = input.skip_expression().unwrap_or(span);
                return Err(fault);
            }
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
            let mut fault = Fault::form(format!("`{key}` is negative: -{number}"), span).help(whole(key));
            fault.last = end;
            Err(fault)
        }
        Some(TokenTree::Punct(punct)) if punct.as_char() == ',' => {
            Err(Fault::form(format!("`{key}` has no value"), span).help(whole(key)))
        }
        Some(TokenTree::Ident(ident)) if ident == "true" || ident == "false" => Err(wrong(format!("`{ident}`"))),
        Some(TokenTree::Ident(ident)) => Err(wrong(format!("the name `{ident}`"))
            .help("write the number out: the macro runs before constants have values")),
        Some(TokenTree::Punct(punct)) => Err(wrong(format!("`{}`", punct.as_char()))),
        Some(TokenTree::Group(group)) => Err(expression(group.span())),
    }
}

fn literal_value(key: &str, literal: &proc_macro2::Literal, span: Span) -> Result<Number, Fault> {
    let wrong = |found: String| Fault::form(format!("`{key}` is a whole number, found {found}"), span).help(whole(key));
    match Lit::new(literal.clone()) {
        Lit::Int(int) => {
            // A suffix is a type of integers, or empty; `1f32` is no whole number.
            if !int.suffix().is_empty() && !int.suffix().starts_with(['u', 'i']) {
                return Err(wrong(format!("`{literal}`")));
            }
            let digits = int.base10_digits();
            if let Some(number) = digits.strip_prefix('-') {
                return Err(Fault::form(format!("`{key}` is negative: -{number}"), span).help(whole(key)));
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
