//! Bundles in a `.logos` link section, where those of several crates lie one after another.

use super::{Bundle, BundleError};
use crate::table::layout::{MAGIC, header};

/// The bundles of a section's bytes, each a [`Bundle`] or why it is none.
///
/// The section is read by words, over the linker's padding; a bundle starts at its magic, in either byte order.
#[derive(Clone, Debug)]
pub struct Bundles<'a> {
    rest: &'a [u8],
}

impl<'a> Bundles<'a> {
    /// Looks for bundles in the bytes of a section.
    #[must_use]
    pub fn scan(bytes: &'a [u8]) -> Bundles<'a> {
        Bundles { rest: bytes }
    }
}

impl<'a> Iterator for Bundles<'a> {
    type Item = Result<Bundle<'a>, BundleError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let magic = *self.rest.first_chunk::<4>()?;
            if u32::from_le_bytes(magic) == MAGIC || u32::from_be_bytes(magic) == MAGIC {
                break;
            }
            self.rest = &self.rest[4..];
        }
        let bytes = self.rest;
        let stated = Bundle::source_of(bytes).word(header::WORDS).unwrap_or(0);
        let table = (stated as usize).checked_mul(4).and_then(|length| bytes.split_at_checked(length));
        let (bundle, rest) = match table {
            Some((table, rest)) if stated > 0 => (Bundle::from_bytes(table), rest),
            Some(_) | None => (Bundle::from_bytes(bytes), &bytes[4..]),
        };
        // After a damaged table the next word is as good a place to look on as any: its length may be what is wrong.
        self.rest = if bundle.is_ok() { rest } else { &bytes[4..] };
        Some(bundle)
    }
}
