//! A forward reader of tokens that sees through invisible groups and always has a place to point at.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::quote;

/// Splits `[$crate] rest` into the path and the rest.
pub(crate) fn krate(input: TokenStream) -> Result<(TokenStream, TokenStream), TokenStream> {
    let mut tokens = input.into_iter();
    match tokens.next() {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket => {
            Ok((group.stream(), tokens.collect()))
        }
        _ => Err(quote! { ::core::compile_error! { "call this macro as `logos_rdu::logos_model!`" } }),
    }
}

/// Tokens still to be read. A `$x:literal` of a user's own macro arrives in a group without delimiters: such groups are
/// replaced by what they hold.
pub(crate) struct Cursor {
    tokens: std::vec::IntoIter<TokenTree>,
    /// Where to point when there is no further token.
    end: Span,
}

impl Cursor {
    pub(crate) fn new(stream: TokenStream, end: Span) -> Self {
        let mut tokens = Vec::new();
        flatten(stream, &mut tokens);
        Cursor { tokens: tokens.into_iter(), end }
    }

    pub(crate) fn of(group: &Group) -> Self {
        Cursor::new(group.stream(), group.span_close())
    }

    pub(crate) fn peek(&self) -> Option<&TokenTree> {
        self.tokens.as_slice().first()
    }

    fn peek_second(&self) -> Option<&TokenTree> {
        self.tokens.as_slice().get(1)
    }

    pub(crate) fn next(&mut self) -> Option<TokenTree> {
        self.tokens.next()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tokens.as_slice().is_empty()
    }

    /// The place of the next token, of a group its opening delimiter, or of the end.
    pub(crate) fn span(&self) -> Span {
        match self.peek() {
            None => self.end,
            Some(TokenTree::Group(group)) => group.span_open(),
            Some(token) => token.span(),
        }
    }

    /// Takes the punctuation `sign` if it is next.
    pub(crate) fn take_sign(&mut self, sign: char) -> bool {
        let next = is_sign(self.peek(), sign);
        if next {
            self.next();
        }
        next
    }

    pub(crate) fn take_ident(&mut self) -> Option<Ident> {
        match self.peek() {
            Some(TokenTree::Ident(ident)) => {
                let ident = ident.clone();
                self.next();
                Some(ident)
            }
            _ => None,
        }
    }

    /// Takes the identifier `word` if it is next.
    pub(crate) fn take_word(&mut self, word: &str) -> bool {
        let next = matches!(self.peek(), Some(TokenTree::Ident(ident)) if ident == word);
        if next {
            self.next();
        }
        next
    }

    pub(crate) fn take_group(&mut self, delimiter: Delimiter) -> Option<Group> {
        match self.peek() {
            Some(TokenTree::Group(group)) if group.delimiter() == delimiter => {
                let group = group.clone();
                self.next();
                Some(group)
            }
            _ => None,
        }
    }

    /// Whether an entry `name:` begins here.
    pub(crate) fn at_entry(&self) -> bool {
        matches!(self.peek(), Some(TokenTree::Ident(_))) && is_sign(self.peek_second(), ':')
    }

    /// Whether an expression goes on here, after a first operand.
    pub(crate) fn at_operator(&self) -> bool {
        match self.peek() {
            Some(TokenTree::Punct(punct)) => !matches!(punct.as_char(), ',' | ';' | '#'),
            Some(TokenTree::Ident(word)) => word == "as",
            Some(TokenTree::Group(_) | TokenTree::Literal(_)) | None => false,
        }
    }

    /// Drops tokens up to the next comma or semicolon; the place of the last one dropped.
    pub(crate) fn skip_expression(&mut self) -> Option<Span> {
        let mut last = None;
        while let Some(token) = self.peek() {
            if is_sign(Some(token), ',') || is_sign(Some(token), ';') {
                break;
            }
            last = self.next().map(|token| token.span());
        }
        last
    }

    /// Drops tokens up to the end of the entry: past the next comma, or up to the end.
    pub(crate) fn skip_entry(&mut self) {
        while let Some(token) = self.next() {
            if is_sign(Some(&token), ',') {
                return;
            }
        }
    }
}

fn flatten(stream: TokenStream, into: &mut Vec<TokenTree>) {
    for token in stream {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::None => flatten(group.stream(), into),
            other => into.push(other),
        }
    }
}

fn is_sign(token: Option<&TokenTree>, sign: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == sign)
}
