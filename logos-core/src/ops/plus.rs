//! See [`Plus`].

/// Sum of equal shapes, or of a value and a one-row weight added to every row.
///
/// # Operands
/// `a: [m, n]`, `b: [m, n]` or a weight `[1, n]`.
/// # Text
/// `a plus b`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plus;
