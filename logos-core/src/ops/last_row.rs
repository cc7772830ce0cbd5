//! See [`LastRow`].

/// The last row of each sequence.
///
/// # Operands
/// `x: [seqs * tokens, n]` (an input). Result `[seqs, n]`.
/// # Text
/// `last row of x, sequences 1`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LastRow {
    /// Sequences.
    pub sequences: u32,
}
