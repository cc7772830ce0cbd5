//! LOGOS text: the program as a person reads it, and its tree.
//!
//! Declarations come first, then statements; every sentence ends in a full stop. `parse(print(p)) == p`.

pub mod ast;
mod builder;
mod check;
mod declaration;
mod declared;
pub mod error;
mod lexer;
mod nearest;
mod operation;
mod parser;
mod printer;
mod reader;
mod routing;

pub use ast::*;
pub use builder::{Builder, MAX_CHIPS, MAX_NAME, MAX_VALUES};
pub use check::check;
pub use error::{Place, Problem, ProgramError};
pub use parser::{MAX_ERRORS, MAX_TEXT, parse};
pub use printer::print;

#[cfg(test)]
mod tests;
