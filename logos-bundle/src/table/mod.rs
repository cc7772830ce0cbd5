//! The word table: its layout and the one way in.

pub mod layout;
pub(crate) mod read;
mod words;

pub use words::{digest, from_le};
