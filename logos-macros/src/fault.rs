//! Refusals with their place in the source, and how rustc is made to print them.

use logos_core::{At, Code, Refusal};
use proc_macro2::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

/// Most errors printed of one macro call; further ones are counted.
const MOST: usize = 16;

/// A refusal at a place of the source.
#[derive(Clone)]
pub(crate) struct Fault {
    pub(crate) refusal: Refusal,
    pub(crate) first: Span,
    pub(crate) last: Span,
}

impl Fault {
    pub(crate) fn new(refusal: Refusal, span: Span) -> Self {
        Fault { refusal, first: span, last: span }
    }

    /// The request's form is wrong at `span`.
    pub(crate) fn form(message: impl Into<String>, span: Span) -> Self {
        Fault::new(Refusal::new(Code::RequestForm, At::Request, message), span)
    }

    /// A word at `span` that is not known.
    pub(crate) fn unknown(message: impl Into<String>, span: Span) -> Self {
        Fault::new(Refusal::new(Code::RequestUnknownKey, At::Request, message), span)
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.refusal = self.refusal.help(help);
        self
    }
}

/// The faults as `compile_error!` calls, at most [`MOST`] of them.
pub(crate) fn errors(faults: &[Fault]) -> TokenStream {
    let mut output = TokenStream::new();
    for fault in faults.iter().take(MOST) {
        let mut message = fault.refusal.to_string();
        // The token stands for a whole file: the place in it is told in words.
        if let At::ChipFile { .. } = fault.refusal.at {
            message.push_str(&format!("\n  at: {}", fault.refusal.at));
        }
        output.extend(compile_error(&message, fault.first, fault.last));
    }
    if let (Some(more), Some(fault)) = (faults.len().checked_sub(MOST + 1), faults.get(MOST)) {
        let message = format!("{}: and {} more", fault.refusal.code, more + 1);
        output.extend(compile_error(&message, fault.first, fault.last));
    }
    output
}

/// `::core::compile_error! { "…" }`, underlined from the first token to the last: rustc takes the start from the path's span
/// and the end from the group's.
fn compile_error(message: &str, first: Span, last: Span) -> TokenStream {
    let sign = |character, spacing| {
        let mut punct = Punct::new(character, spacing);
        punct.set_span(first);
        TokenTree::Punct(punct)
    };
    let word = |word| TokenTree::Ident(Ident::new(word, first));
    let mut literal = Literal::string(message);
    literal.set_span(last);
    let mut group = Group::new(Delimiter::Brace, TokenTree::Literal(literal).into());
    group.set_span(last);
    TokenStream::from_iter([
        sign(':', Spacing::Joint),
        sign(':', Spacing::Alone),
        word("core"),
        sign(':', Spacing::Joint),
        sign(':', Spacing::Alone),
        word("compile_error"),
        sign('!', Spacing::Alone),
        TokenTree::Group(group),
    ])
}
