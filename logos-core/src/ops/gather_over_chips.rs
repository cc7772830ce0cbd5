//! See [`GatherOverChips`].

/// All-gather along the columns.
///
/// # Operands
/// `x: [m, n]`, split by columns. Result whole.
/// # Text
/// `gather of x over chips`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GatherOverChips;
