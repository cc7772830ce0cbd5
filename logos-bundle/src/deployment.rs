//! [`Deployment`]: what the macro's and the build helper's constants are.

use core::fmt;

use crate::table::layout::{Part, chip, deployment as field, header, program, section};
use crate::table::read::{first, first_wide, row, rows, wide, word};
use crate::view::Bundle;

/// A lowered, certified deployment of a model, as a constant.
///
/// It is a reference to the words embedded in the binary. Every accessor is a `const fn`: usable in `const` assertions and
/// array lengths. None of them can leave the table: from a damaged table they read zero. Whether a table is damaged is the
/// checker's question ([`crate::check`]), which the macro asks in the same crate that holds the constant.
#[derive(Clone, Copy)]
pub struct Deployment {
    words: &'static [u32],
}

/// The form of a deployment's step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// One stateless pass over the rows of one sequence.
    Forward,
    /// One token of each sequence, over carried state.
    Decode,
    /// A chunk of tokens of each sequence, over the decode step's carried state.
    Prefill,
    /// A code this version does not know: the table is damaged.
    Unknown(u32),
}

impl Form {
    /// The form of a code in the table.
    pub(crate) const fn from_code(code: u32) -> Form {
        match code {
            0 => Form::Forward,
            1 => Form::Decode,
            2 => Form::Prefill,
            unknown => Form::Unknown(unknown),
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Form::Forward => f.pad("forward"),
            Form::Decode => f.pad("decode"),
            Form::Prefill => f.pad("prefill"),
            Form::Unknown(code) => write!(f, "unknown form {code}"),
        }
    }
}

/// What a deployment needs of one chip's memory, and what that chip has: derived from the model's config, the deployment
/// and the chip's published capacity. It is what the model *needs*; no allocator's reserve is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FitFacts {
    /// Weights, bytes a chip.
    pub weight_bytes: u64,
    /// State carried from step to step, bytes a chip, all sequences: KV cache and recurrent state.
    pub state_bytes: u64,
    /// Of the state, KV cache, bytes a chip.
    pub kv_bytes: u64,
    /// Of the weights, those that lie in DDR because HBM does not hold them: experts, bytes a chip.
    pub ddr_weight_bytes: u64,
    /// Of the state, what stays in SRAM from step to step, bytes a chip.
    pub sram_state_bytes: u64,
    /// Weights and state that the main memory has to hold, bytes a chip: all but the weights in DDR beside an HBM. State in
    /// SRAM is counted, as a step with more sequences would have it in the main memory.
    pub need_bytes: u64,
    /// The chip's main memory, bytes: HBM, or DDR where the chip has no HBM.
    pub memory_bytes: u64,
    /// The chip's HBM, bytes; 0 where it has none.
    pub hbm_bytes: u64,
    /// The chip's DDR, bytes.
    pub ddr_bytes: u64,
    /// `memory_bytes - need_bytes`; negative where the deployment does not fit. On a chip without HBM, of its DDR.
    pub hbm_headroom_bytes: i64,
    /// Whether `need_bytes` is at most `memory_bytes`.
    pub fits: bool,
    /// Largest context that the main memory holds with these sequences beside the weights in it, in positions; 0 where it does not apply.
    pub max_ctx: u32,
    /// Most sequences that the main memory holds at this context beside the weights in it. Experts that could leave it would make room for
    /// more; a step of so many need not lower.
    pub max_sequences: u32,
}

impl FitFacts {
    /// What an empty table reads as.
    pub(crate) const EMPTY: FitFacts = FitFacts {
        weight_bytes: 0,
        state_bytes: 0,
        kv_bytes: 0,
        ddr_weight_bytes: 0,
        sram_state_bytes: 0,
        need_bytes: 0,
        memory_bytes: 0,
        hbm_bytes: 0,
        ddr_bytes: 0,
        hbm_headroom_bytes: 0,
        fits: true,
        max_ctx: 0,
        max_sequences: 0,
    };

    /// With what follows from the stored figures filled in.
    pub(crate) const fn derived(mut self) -> FitFacts {
        self.need_bytes = self.weight_bytes.saturating_sub(self.ddr_weight_bytes).saturating_add(self.state_bytes);
        self.memory_bytes = if self.hbm_bytes == 0 { self.ddr_bytes } else { self.hbm_bytes };
        self.hbm_headroom_bytes = difference(self.memory_bytes, self.need_bytes);
        self.fits = self.need_bytes <= self.memory_bytes;
        self
    }
}

impl Deployment {
    /// The deployment in `words`: a whole table, as the macro and the build helper embed it. The words are not checked here.
    #[must_use]
    pub const fn new(words: &'static [u32]) -> Deployment {
        Deployment { words }
    }

    /// The whole table.
    #[must_use]
    pub const fn words(&self) -> &'static [u32] {
        self.words
    }

    /// What it needs of a chip's memory, and what the chip has.
    #[must_use]
    pub const fn fit(&self) -> FitFacts {
        FitFacts {
            weight_bytes: first_wide(self.words, Part::Deployment, field::WEIGHT_BYTES),
            state_bytes: first_wide(self.words, Part::Deployment, field::STATE_BYTES),
            kv_bytes: first_wide(self.words, Part::Deployment, field::KV_BYTES),
            ddr_weight_bytes: first_wide(self.words, Part::Deployment, field::DDR_WEIGHT_BYTES),
            sram_state_bytes: first_wide(self.words, Part::Deployment, field::SRAM_STATE_BYTES),
            hbm_bytes: first_wide(self.words, Part::Chip, chip::HBM_BYTES),
            ddr_bytes: first_wide(self.words, Part::Chip, chip::DDR_BYTES),
            max_ctx: first(self.words, Part::Deployment, field::MAX_CTX),
            max_sequences: first(self.words, Part::Deployment, field::MAX_SEQS),
            ..FitFacts::EMPTY
        }
        .derived()
    }

    /// Chips: the tensor-parallel width.
    #[must_use]
    pub const fn chips(&self) -> usize {
        first(self.words, Part::Deployment, field::CHIPS) as usize
    }

    /// Context, in positions; 0 for a forward deployment.
    #[must_use]
    pub const fn ctx(&self) -> usize {
        first(self.words, Part::Deployment, field::CTX) as usize
    }

    /// Sequences of a step.
    #[must_use]
    pub const fn sequences(&self) -> usize {
        first(self.words, Part::Deployment, field::SEQS) as usize
    }

    /// Tokens of each sequence in a step: 1 for decode, the chunk for prefill, the rows for forward.
    #[must_use]
    pub const fn tokens(&self) -> usize {
        first(self.words, Part::Deployment, field::TOKENS) as usize
    }

    /// Layers of the model.
    #[must_use]
    pub const fn layers(&self) -> usize {
        first(self.words, Part::Deployment, field::LAYERS) as usize
    }

    /// Whether every program that is one section is tight: its interval within 1/256 of its bound. What takes several sections
    /// is not asked.
    #[must_use]
    pub const fn is_tight(&self) -> bool {
        let mut index = 0;
        while index < rows(self.words, Part::Programs) {
            let at = row(self.words, Part::Programs, index) + program::SECTIONS as u64;
            if word(self.words, at + 1) == 1 {
                let section = row(self.words, Part::Sections, word(self.words, at) as u64);
                let interval = wide(self.words, section + section::INTERVAL as u64);
                let bound = wide(self.words, section + section::BOUND as u64);
                if interval < bound || 256 * (interval - bound) as u128 > bound as u128 {
                    return false;
                }
            }
            index += 1;
        }
        true
    }

    /// The form of a step.
    #[must_use]
    pub const fn form(&self) -> Form {
        Form::from_code(first(self.words, Part::Deployment, field::FORM))
    }

    /// The digest stored in the table, of everything else in it. It catches accidents; it is no signature.
    #[must_use]
    pub const fn schedule_digest(&self) -> u64 {
        wide(self.words, header::DIGEST as u64)
    }

    /// Everything else in the table: programs, manifest, chip. Nothing is checked; in a damaged table what leads nowhere is
    /// not there. [`Bundle::read`] of [`Self::words`] refuses a table that is cut off or whose parts leave it.
    #[must_use]
    pub const fn bundle(&self) -> Bundle<'static> {
        Bundle::unchecked(self.words)
    }
}

/// `a - b`, at the ends of `i64` where it does not fit.
const fn difference(a: u64, b: u64) -> i64 {
    let (magnitude, negative) = if a >= b { (a - b, false) } else { (b - a, true) };
    match (magnitude <= i64::MAX as u64, negative) {
        (true, false) => magnitude as i64,
        (true, true) => -(magnitude as i64),
        (false, false) => i64::MAX,
        (false, true) => i64::MIN,
    }
}

impl fmt::Debug for Deployment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Deployment({}, {} chips, ctx {}, {} x {} tokens, {} layers, {} words, digest {:016x})",
            self.form(),
            self.chips(),
            self.ctx(),
            self.sequences(),
            self.tokens(),
            self.layers(),
            self.words.len(),
            self.schedule_digest(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::layout::{HEADER_ROWS, MAGIC, ROW, VERSION};

    const WORDS: usize = (HEADER_ROWS + 4) * ROW;

    /// Header, two deployment rows, two chip rows.
    const fn table() -> [u32; WORDS] {
        let mut words = [0; WORDS];
        words[header::MAGIC] = MAGIC;
        words[header::VERSION] = VERSION;
        words[header::WORDS] = WORDS as u32;
        words[header::DIGEST] = 0x89ab_cdef;
        words[header::DIGEST + 1] = 0x0123_4567;
        words[header::DIRECTORY] = 4;
        words[header::DIRECTORY + 1] = 2;
        words[header::DIRECTORY + 2] = 6;
        words[header::DIRECTORY + 3] = 2;
        let row = HEADER_ROWS * ROW;
        words[row + field::FORM] = 1;
        words[row + field::CHIPS] = 8;
        words[row + field::SEQS] = 3;
        words[row + field::TOKENS] = 1;
        words[row + field::CTX] = 262_144;
        words[row + field::LAYERS] = 64;
        words[row + field::WEIGHT_BYTES] = 7;
        words[row + field::WEIGHT_BYTES + 1] = 1;
        words[row + field::STATE_BYTES + 1] = 2;
        words[row + field::KV_BYTES] = 9;
        words[row + field::MAX_CTX] = 11;
        words[row + field::MAX_SEQS] = 13;
        words[row + field::DDR_WEIGHT_BYTES] = 3;
        words[row + field::SRAM_STATE_BYTES] = 5;
        words[row + 2 * ROW + chip::HBM_BYTES + 1] = 16;
        words[row + 2 * ROW + chip::DDR_BYTES + 1] = 32;
        words
    }

    static TABLE: [u32; WORDS] = table();
    const DECODE: Deployment = Deployment::new(&TABLE);
    const _: () = assert!(DECODE.fit().hbm_headroom_bytes > 8 << 30 && DECODE.fit().fits);
    const PER_CHIP: [u8; DECODE.chips()] = [0; DECODE.chips()];

    #[test]
    fn reads_in_constants() {
        assert_eq!(PER_CHIP.len(), 8);
        assert_eq!((DECODE.ctx(), DECODE.sequences(), DECODE.tokens(), DECODE.layers()), (262_144, 3, 1, 64));
        assert_eq!(DECODE.form(), Form::Decode);
        assert_eq!(DECODE.schedule_digest(), 0x0123_4567_89ab_cdef);
        let fit = DECODE.fit();
        assert_eq!((fit.weight_bytes, fit.state_bytes, fit.kv_bytes), ((1 << 32) + 7, 2 << 32, 9));
        assert_eq!((fit.ddr_weight_bytes, fit.sram_state_bytes), (3, 5));
        assert_eq!((fit.need_bytes, fit.memory_bytes), ((3 << 32) + 4, 16 << 32));
        assert_eq!(fit.hbm_headroom_bytes, (13 << 32) - 4);
        assert_eq!((fit.max_ctx, fit.max_sequences), (11, 13));
    }

    #[test]
    fn without_hbm_the_main_memory_is_ddr() {
        static NO_HBM: [u32; WORDS] = {
            let mut words = table();
            words[(HEADER_ROWS + 2) * ROW + chip::HBM_BYTES + 1] = 0;
            words[(HEADER_ROWS + 2) * ROW + chip::DDR_BYTES + 1] = 1;
            words
        };
        let fit = Deployment::new(&NO_HBM).fit();
        assert_eq!((fit.memory_bytes, fit.hbm_headroom_bytes, fit.fits), (1 << 32, -(2i64 << 32) - 4, false));
    }

    #[test]
    fn every_prefix_and_every_wild_directory_reads_without_a_panic() {
        for length in 0..WORDS {
            let deployment = Deployment::new(&TABLE[..length]);
            let _ = (deployment.fit(), deployment.chips(), deployment.form(), deployment.schedule_digest());
        }
        static WILD: [u32; HEADER_ROWS * ROW] = [u32::MAX; HEADER_ROWS * ROW];
        assert_eq!(Deployment::new(&WILD).chips(), 0);
        assert_eq!(Deployment::new(&[]).fit(), FitFacts::EMPTY);
    }

    #[test]
    fn differences_saturate() {
        assert_eq!(difference(3, 5), -2);
        assert_eq!(difference(u64::MAX, 0), i64::MAX);
        assert_eq!(difference(0, u64::MAX), i64::MIN);
    }
}
