//! The word table: its layout and the one way in.

pub mod layout;
pub(crate) mod read;
mod words;

pub(crate) use words::low_first;
pub use words::{digest, from_le};
