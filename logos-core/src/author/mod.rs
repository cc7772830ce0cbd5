//! A model's specification and a cut of it to a program, one file a mixer or feed-forward block.
//!
//! In: [`ModelSpec`] and [`Cut`]. Out: the program of the cut and, for each value it declares, where that value comes from.
//! Does not know of chips' memory, of kinds, or of how a statement is lowered.

mod addend;
mod attention;
mod binding;
mod describe;
mod draft;
mod embed;
mod experts;
mod gated_delta;
mod head;
mod latent;
mod layer;
mod mlp;

pub use binding::{Axis as StoredAxis, Bank, Binding, Expanded, Load, Source};
pub use describe::describe;
pub(crate) use draft::{kept_as, storage_of};

use crate::language::ast::Program;
use crate::refusal::Refusal;
use crate::request::{Form, Weights};
use crate::spec::ModelSpec;

/// What of a model is authored: a step and a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The step, with its sizes.
    pub step: Form,
    /// Tensor-parallel width, chips.
    pub tp: u32,
    /// Storage of the weights.
    pub weights: Weights,
    /// The part.
    pub part: Part,
}

/// A part of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Token ids to the first hidden state; a forward step has none.
    Embed,
    /// One layer.
    Layer(u32),
    /// The last hidden state to the next token.
    Head,
}

/// The program of a cut.
#[derive(Clone, Debug, PartialEq)]
pub struct Authored {
    /// The program; names carry the layer's number.
    pub program: Program,
    /// One for each declared value, in the order of the program's values.
    pub bindings: Vec<Binding>,
}

/// Authors the program of a cut.
///
/// # Values
/// A layer takes its hidden state as `x` and shows `xo{l}`; the embedding shows `x`, the head shows `token`. Names end in
/// the layer's number but for `x`, `pos`, `token` and the rotary tables, which all layers share.
///
/// # Errors
/// A refusal at the model that names the part and what no operation of the language says yet.
pub fn author(spec: &ModelSpec, cut: &Cut) -> Result<Authored, Refusal> {
    match cut.part {
        Part::Embed => embed::author(spec, cut),
        Part::Layer(layer) => layer::author(spec, cut, layer),
        Part::Head => head::author(spec, cut),
    }
}

#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod tests;
