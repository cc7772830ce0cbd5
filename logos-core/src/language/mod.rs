//! LOGOS text: the program as a person reads it, and its tree.
//!
//! Declarations come first, then statements; every sentence ends in a full stop. `parse(print(p)) == p`.

pub mod ast;
mod builder;
mod check;
pub mod error;

pub use ast::*;
pub use builder::{Builder, MAX_CHIPS, MAX_NAME, MAX_VALUES};
pub use check::check;
pub use error::{Place, Problem, ProgramError};
