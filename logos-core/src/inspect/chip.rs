//! The chip rows against the facts of the chip they name.

use logos_bundle::table::layout::{Part, chip as chip_row};
use logos_bundle::view::Bundle;

use super::{Mismatch, rows};
use crate::chip::{self, Chip};
use crate::emit::chip_words;

/// The chip that a bundle names: one of the compiler's own, else of `chips`.
///
/// # Errors
/// The name, where it is none of them.
pub fn named<'c>(bundle: &Bundle<'_>, chips: &'c [Chip]) -> Result<&'c Chip, String> {
    let name = bundle.chip().map(|chip| chip.name().to_string()).unwrap_or_default();
    // A name of the compiler's own is never another's.
    let known = chip::NAMES.contains(&name.as_str()).then(|| chip::lookup(&name).ok()).flatten();
    known.or_else(|| chips.iter().find(|chip| chip.name == name)).ok_or(name)
}

pub(super) fn compare(words: &[u32], bundle: &Bundle<'_>, chips: &[Chip]) -> Result<(), Mismatch> {
    let chip = named(bundle, chips).map_err(|name| Mismatch::ChipUnknown { name })?;
    let facts = chip_words(chip, bundle.chips());
    let table = rows(words, Part::Chip).as_flattened();
    for (word, (&fact, &table)) in facts.iter().zip(table).enumerate() {
        // The first two words are where the name lies.
        if word > chip_row::NAME + 1 && fact != table {
            return Err(Mismatch::Chip { name: chip.name.clone(), word, fact, table });
        }
    }
    Ok(())
}
