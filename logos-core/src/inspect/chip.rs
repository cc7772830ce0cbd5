//! The chip rows against the facts of the chip they name.

use logos_bundle::table::layout::{Part, chip as chip_row};
use logos_bundle::view::Bundle;

use super::{Mismatch, rows};
use crate::chip::CHIPS;
use crate::emit::chip_words;

pub(super) fn compare(words: &[u32], bundle: &Bundle<'_>) -> Result<(), Mismatch> {
    let name = bundle.chip().map(|chip| chip.name().to_string()).unwrap_or_default();
    let Some(chip) = CHIPS.iter().find(|chip| chip.name == name) else {
        return Err(Mismatch::ChipUnknown { name });
    };
    let facts = chip_words(chip, bundle.chips());
    let table = rows(words, Part::Chip).as_flattened();
    for (word, (&fact, &table)) in facts.iter().zip(table).enumerate() {
        // The first two words are where the name lies.
        if word > chip_row::NAME + 1 && fact != table {
            return Err(Mismatch::Chip { name: chip.name, word, fact, table });
        }
    }
    Ok(())
}
