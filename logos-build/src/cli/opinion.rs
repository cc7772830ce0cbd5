//! What is said of a bundle: the certificate's rules, and whether its rows are those of its own text and chip.

use logos_bundle::check::{self, Verdicts};
use logos_bundle::view::Bundle;
use logos_core::chip::{Chip, Provenance};
use logos_core::inspect::{self, Mismatch};

/// All that can be checked of a bundle without its config.
pub(super) struct Opinion {
    /// Rule by rule.
    pub(super) verdicts: Verdicts,
    /// Where rows are not what the text or the chip's facts say.
    pub(super) mismatches: Vec<Mismatch>,
    /// The label of the bytes of the memory that weights and states live in; none where the chip is not known.
    pub(super) memory: Option<Provenance>,
}

impl Opinion {
    /// `chips` are those of one's own that the bundle may name.
    pub(super) fn of(words: &[u32], chips: &[Chip]) -> Opinion {
        let mismatches = inspect::verify_with(words, chips).err().unwrap_or_default();
        let chip = Bundle::read(words).ok().and_then(|bundle| inspect::named(&bundle, chips).ok());
        let memory = chip.and_then(|chip| chip.fact(chip.main_memory_field())).map(|fact| fact.provenance);
        Opinion { verdicts: check::all(words), mismatches, memory }
    }

    pub(super) fn holds(&self) -> bool {
        self.verdicts.hold() && self.mismatches.is_empty()
    }
}
