//! From tokens to what was written. Never gives up at the first fault: each is recorded at its token, and reading goes
//! on at the next entry, so that one compile shows them all and every constant that can be named exists.
//!
//! ```text
//! models      = (attribute* visibility "mod" name "{" body "}")*
//! body        = "model" ":" "config" string, "chip" ":" word, ("weights" ":" (word | "checkpoint" string))?,
//!               "deployments" ":" "{" (NAME ":" form "{" (key ":" number),* "}" require?),* "}",
//!               ("reports" ":" "[" word,* "]")?
//! require     = "require" "{" (word (operator number unit?)?),* "}"
//! ```

mod body;
mod deployment;
mod entries;
mod require;

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};

use crate::cursor::Cursor;
use crate::fault::Fault;
use crate::model::Model;

/// Reads every model, and what is wrong outside of any.
pub(crate) fn models(input: TokenStream) -> (Vec<Model>, Vec<Fault>) {
    let mut cursor = Cursor::new(input, Span::call_site());
    let (mut models, mut stray) = (Vec::new(), Vec::new());
    if cursor.is_empty() {
        stray.push(Fault::form("no model is written here", cursor.span()).help(MODULE));
    }
    while !cursor.is_empty() {
        match model(&mut cursor) {
            Ok(model) => models.push(model),
            Err(fault) => {
                stray.push(fault);
                skip_model(&mut cursor);
            }
        }
    }
    (models, stray)
}

/// What a model is written as.
const MODULE: &str = "write `pub mod name { model: config \"models/NAME/config.json\", … }`";

fn model(cursor: &mut Cursor) -> Result<Model, Fault> {
    let attributes = entries::attributes(cursor)?;
    let visibility = visibility(cursor);
    match cursor.take_ident() {
        Some(word) if word == "mod" => {}
        Some(word) => return Err(Fault::form(format!("expected `mod`, found `{word}`"), word.span()).help(MODULE)),
        None => {
            let found = entries::found(cursor.peek());
            return Err(Fault::form(format!("expected `mod`, found {found}"), cursor.span()).help(MODULE));
        }
    }
    let Some(name) = cursor.take_ident() else {
        return Err(Fault::form("expected the module's name", cursor.span()).help(MODULE));
    };
    if !is_name(&name) && !name.to_string().starts_with("r#") {
        return Err(Fault::form(format!("`{name}` cannot name a module"), name.span())
            .help("write letters, digits and underscores, as in `qwen35`; no keyword"));
    }
    let Some(group) = cursor.take_group(Delimiter::Brace) else {
        return Err(Fault::form(format!("expected `{{` after `mod {name}`"), cursor.span()).help(MODULE));
    };
    Ok(body::parse(attributes, visibility, name, &group))
}

/// `pub`, `pub(…)` or nothing.
fn visibility(cursor: &mut Cursor) -> TokenStream {
    let mut visibility = TokenStream::new();
    if matches!(cursor.peek(), Some(TokenTree::Ident(word)) if word == "pub") {
        visibility.extend(cursor.next());
        visibility.extend(cursor.take_group(Delimiter::Parenthesis).map(TokenTree::Group));
    }
    visibility
}

/// Whether an identifier can name an item: no keyword, not `_`, not raw.
fn is_name(ident: &Ident) -> bool {
    let text = ident.to_string();
    !text.starts_with("r#") && syn::parse_str::<Ident>(&text).is_ok()
}

/// Drops tokens up to the end of the module at fault.
fn skip_model(cursor: &mut Cursor) {
    while let Some(token) = cursor.next() {
        if matches!(&token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace) {
            return;
        }
    }
}
