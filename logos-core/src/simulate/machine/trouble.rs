//! What stops an execution: the lowered program, not its user, is at fault, but for [`MachineError::Missing`] and its like.

/// Why a firing cannot be executed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Trouble {
    /// A port finds no token.
    #[error("port {port} lacks a token")]
    Token {
        /// The port.
        port: usize,
    },
    /// A buffer has no slot free.
    #[error("the buffer to stage {to} has no slot free among {capacity}")]
    Slot {
        /// The reader.
        to: usize,
        /// Slots.
        capacity: usize,
    },
    /// A firing hands on more or fewer tokens than its edge says.
    #[error("{found} tokens are handed on to stage {to}, expected {expected}")]
    Rate {
        /// The reader.
        to: usize,
        /// As the edge says.
        expected: usize,
        /// As executed.
        found: usize,
    },
    /// A token of another kind than its reader takes.
    #[error("a token of another kind arrives, expected {expected}")]
    Kind {
        /// What is taken.
        expected: &'static str,
    },
    /// A part that the operation does not have.
    #[error("the operation has no part {part} of this kind")]
    Part {
        /// The part.
        part: u32,
    },
    /// A port that the stage does not have.
    #[error("the stage has no port {port}")]
    Port {
        /// The port.
        port: usize,
    },
    /// A value that the chip does not hold.
    #[error("the chip holds no {what}")]
    Absent {
        /// What is asked for.
        what: &'static str,
    },
}

/// Why a step cannot be executed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MachineError {
    /// A bundle that cannot be read.
    #[error("the bundle cannot be executed: {what}")]
    Bundle {
        /// What is wrong.
        what: String,
    },
    /// A tensor that the checkpoint lacks.
    #[error("the checkpoint has no tensor `{tensor}`, expected of shape {expected:?}")]
    Missing {
        /// Its name.
        tensor: String,
        /// Further axes folded into the last one.
        expected: Vec<usize>,
    },
    /// A tensor of another shape.
    #[error("tensor `{tensor}` is of shape {found:?}, expected {expected:?} (further axes folded into the last)")]
    Shape {
        /// Its name.
        tensor: String,
        /// Further axes folded into the last one.
        expected: Vec<usize>,
        /// As stored.
        found: Vec<usize>,
    },
    /// A step of other tokens than the deployment's.
    #[error("a step takes {expected} tokens, found {found}")]
    Tokens {
        /// Sequences by tokens of each.
        expected: usize,
        /// As given.
        found: usize,
    },
    /// A token beyond the vocabulary.
    #[error("token {token} of row {row} is beyond the vocabulary of {vocab}")]
    Token {
        /// The row.
        row: usize,
        /// The id.
        token: u32,
        /// Rows of the embedding.
        vocab: u32,
    },
    /// A position beyond the context.
    #[error("position {position} of sequence {sequence} is beyond the context of {ctx} positions")]
    Context {
        /// The sequence.
        sequence: usize,
        /// The position.
        position: u64,
        /// As deployed.
        ctx: u32,
    },
    /// A form of step that the deployment has no programs for.
    #[error("{what}")]
    Form {
        /// What is asked for.
        what: &'static str,
    },
    /// A firing that cannot be executed.
    #[error("program `{program}`, section {section}, stage {stage}, firing {firing}: {trouble}")]
    Firing {
        /// The program.
        program: String,
        /// The section, in the program.
        section: usize,
        /// The stage, in the section.
        stage: usize,
        /// The firing, in the iteration.
        firing: usize,
        /// Why.
        trouble: Trouble,
    },
    /// Tokens left in a buffer after an iteration.
    #[error("program `{program}`, section {section}: tokens are left on edge {edge} after an iteration")]
    Left {
        /// The program.
        program: String,
        /// The section, in the program.
        section: usize,
        /// The edge, in the section.
        edge: usize,
    },
    /// Chips that show different results.
    #[error("program `{program}`: chip {chip} shows another result than chip 0")]
    Diverged {
        /// The program.
        program: String,
        /// The chip.
        chip: usize,
    },
}
