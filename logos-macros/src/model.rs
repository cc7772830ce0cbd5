//! What was written: the models of one macro call, with the place of everything a refusal may point at.

use logos_core::fit::report::Report;
use logos_core::{At, DeploymentRequest, Key, Requirement, Vocabulary, Weights};
use proc_macro2::{Ident, Span, TokenStream};

use crate::fault::Fault;

/// A word or a string with its place.
pub(crate) struct Spanned<T> {
    pub(crate) value: T,
    pub(crate) span: Span,
}

/// What stands after `chip:`.
pub(crate) enum Chip {
    /// A name.
    Named(Spanned<String>),
    /// Path of a chip file, as written.
    File(Spanned<String>),
}

impl Chip {
    fn span(&self) -> Span {
        match self {
            Chip::Named(chip) | Chip::File(chip) => chip.span,
        }
    }
}

/// One `pub mod name { … }`.
pub(crate) struct Model {
    pub(crate) attributes: TokenStream,
    pub(crate) visibility: TokenStream,
    pub(crate) name: Ident,
    /// Place of the module's braces.
    pub(crate) braces: Span,
    /// Path of the config file, as written.
    pub(crate) config: Option<Spanned<String>>,
    pub(crate) chip: Option<Chip>,
    pub(crate) weights: Weights,
    pub(crate) vocabulary: Vocabulary,
    /// Path of the checkpoint's description, as written.
    pub(crate) checkpoint: Option<Spanned<String>>,
    pub(crate) deployments: Vec<Deployment>,
    /// The documents that become constants too.
    pub(crate) reports: Vec<Spanned<Report>>,
    /// What is wrong with its form.
    pub(crate) faults: Vec<Fault>,
}

/// One `NAME: form { … }`.
pub(crate) struct Deployment {
    pub(crate) attributes: TokenStream,
    /// Of the attributes, the `cfg`s: the checks have them too.
    pub(crate) conditions: TokenStream,
    pub(crate) name: Ident,
    /// [`None`] where its form is at fault.
    pub(crate) request: Option<DeploymentRequest>,
    /// Places of the values, by key.
    pub(crate) keys: Vec<(Key, Span)>,
    /// What is required of it, in the order of the request.
    pub(crate) required: Vec<Required>,
}

/// A requirement, with the places of its first and its last word.
pub(crate) struct Required {
    pub(crate) requirement: Requirement,
    pub(crate) first: Span,
    pub(crate) last: Span,
}

impl Model {
    /// The places in the source of the first and the last token of what a refusal of the compiler points at.
    pub(crate) fn place_of(&self, at: &At) -> (Span, Span) {
        if let At::Require(name, index) = at
            && let Some(required) = self.deployment(name).and_then(|deployment| deployment.required.get(*index))
        {
            return (required.first, required.last);
        }
        let span = self.span_of(at);
        (span, span)
    }

    fn span_of(&self, at: &At) -> Span {
        let model = || self.config.as_ref().map_or(self.name.span(), |config| config.span);
        match at {
            At::Request => self.name.span(),
            At::Model | At::ConfigKey(_) | At::Text { .. } => model(),
            At::Checkpoint { .. } => self.checkpoint.as_ref().map_or_else(model, |description| description.span),
            At::Chip | At::ChipFile { .. } => self.chip.as_ref().map_or(self.name.span(), Chip::span),
            At::Deployment(name) | At::Program(name, _) | At::Require(name, _) => {
                self.deployment(name).map_or_else(model, |d| d.name.span())
            }
            At::Key(name, key) => self.deployment(name).map_or_else(model, |d| d.span_of(*key)),
        }
    }

    fn deployment(&self, name: &str) -> Option<&Deployment> {
        self.deployments.iter().find(|deployment| deployment.name == name)
    }
}

impl Deployment {
    /// The value's place; the name's where the value was left out.
    fn span_of(&self, key: Key) -> Span {
        self.keys.iter().find(|(known, _)| *known == key).map_or(self.name.span(), |(_, span)| *span)
    }
}
