//! What stands in the way of evaluating.

use crate::language::ProgramError;
use crate::shard::SliceError;

/// Why a deployment cannot be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A program that is not well formed.
    #[error("program `{program}`: {error}")]
    Program {
        /// Its name.
        program: String,
        /// The first thing that is wrong.
        error: Box<ProgramError>,
    },
    /// Programs of which no step can be made.
    #[error("the programs make no step: {what}")]
    Programs {
        /// What is wrong with them together.
        what: String,
    },
    /// A tensor the checkpoint lacks.
    #[error("the checkpoint has no tensor `{tensor}`, expected of shape {expected:?}")]
    Missing {
        /// Its name.
        tensor: String,
        /// As the config has it.
        expected: Vec<u32>,
    },
    /// A tensor of another shape.
    #[error("tensor `{tensor}` is of shape {found:?}, expected {expected:?}")]
    Shape {
        /// Its name.
        tensor: String,
        /// As the config has it.
        expected: Vec<u32>,
        /// As stored.
        found: Vec<usize>,
    },
    /// A tensor with more or fewer values than its shape says.
    #[error("tensor `{tensor}` has {found} values, expected {expected}")]
    Values {
        /// Its name.
        tensor: String,
        /// As its shape says.
        expected: u64,
        /// As given.
        found: usize,
    },
    /// A value that is no number.
    #[error("value {index} of tensor `{tensor}` is {found}, expected a finite number")]
    NotFinite {
        /// Its name.
        tensor: String,
        /// Row-major.
        index: usize,
        /// The value.
        found: f32,
    },
    /// A tensor that does not cut.
    #[error("tensor `{tensor}`: {error}")]
    Slice {
        /// Its name.
        tensor: String,
        /// Why.
        error: SliceError,
    },
}

/// Why a step cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StepError {
    /// Another number of tokens than the programs are for.
    #[error("{found} tokens, expected {expected}: the programs are for as many rows, no more and no fewer")]
    Rows {
        /// Rows of the programs.
        expected: usize,
        /// As given.
        found: usize,
    },
    /// A hidden state of another width.
    #[error("a hidden state {found} wide, expected {expected}")]
    Width {
        /// Of the programs.
        expected: usize,
        /// As given.
        found: usize,
    },
    /// A token beyond the vocabulary.
    #[error("token {token} of row {row} is not below {vocab}, the size of the vocabulary")]
    Token {
        /// Where.
        row: usize,
        /// As given.
        token: u32,
        /// Rows of the embedding.
        vocab: u32,
    },
    /// A position beyond the context.
    #[error("sequence {sequence} would reach position {position}, and its context has {ctx}")]
    Context {
        /// Which.
        sequence: usize,
        /// The last position of the step.
        position: u64,
        /// Positions.
        ctx: u32,
    },
    /// A step of another form.
    #[error("{what}")]
    Form {
        /// What the session is for instead.
        what: &'static str,
    },
    /// A sequence that does not exist.
    #[error("sequence {sequence} does not exist, the step has {sequences}")]
    Sequence {
        /// As given.
        sequence: usize,
        /// Sequences of the step.
        sequences: usize,
    },
    /// States of other shapes.
    #[error("layer {layer} of the other session has other states: the two must be of one model, context and width")]
    States {
        /// The first layer that differs.
        layer: usize,
    },
    /// Chips that differ in a value every chip should hold alike.
    #[error("chip {chip} shows another `{value}` than chip 0, though its sharding is whole")]
    Diverged {
        /// The value's name.
        value: String,
        /// The first chip that differs.
        chip: usize,
    },
}
