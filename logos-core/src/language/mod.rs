//! LOGOS text: the program as a person reads it, and its tree.
//!
//! Declarations come first, then statements; every sentence ends in a full stop. `parse(print(p)) == p`.

pub mod ast;
