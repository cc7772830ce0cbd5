//! The word table: its layout and the one way in.

pub mod layout;
pub(crate) mod read;
