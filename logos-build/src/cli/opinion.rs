//! What is said of a bundle: the certificate's rules, and whether its rows are those of its own text and chip.

use logos_bundle::check::{self, Verdicts};
use logos_core::inspect::{self, Mismatch};

/// All that can be checked of a bundle without its config.
pub(super) struct Opinion {
    /// Rule by rule.
    pub(super) verdicts: Verdicts,
    /// Where rows are not what the text or the chip's facts say.
    pub(super) mismatches: Vec<Mismatch>,
}

impl Opinion {
    pub(super) fn of(words: &[u32]) -> Opinion {
        Opinion { verdicts: check::all(words), mismatches: inspect::verify(words).err().unwrap_or_default() }
    }

    pub(super) fn holds(&self) -> bool {
        self.verdicts.hold() && self.mismatches.is_empty()
    }
}
