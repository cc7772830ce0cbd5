//! See [`Rows`].

/// Rows of a table, by id.
///
/// # Operands
/// `E: [n, d]` (a weight), `ids: [m, 1]` of Int. Result `[m, d]`.
/// # Text
/// `rows of E at token`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rows;
