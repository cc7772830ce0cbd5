//! How the rows of a vocabulary lie over chips.

use super::{Linear, ModelSpec, Weight};

/// Whether the vocabulary is cut as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Vocabulary {
    /// Its rows divide over the chips, or the width is not admitted.
    #[default]
    Exact,
    /// Rows of zeros are added until they do: see [`ModelSpec::vocab_rows`].
    Padded,
}

/// A padded vocabulary is a multiple of this.
const MULTIPLE: u32 = 64;

/// Most rows or columns of a value, as the checker has it.
const MOST: u32 = 1 << 30;

impl Vocabulary {
    /// The names, in the order of the variants.
    pub const NAMES: [&'static str; 2] = ["exact", "padded"];

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Vocabulary::Exact => "exact",
            Vocabulary::Padded => "padded",
        }
    }

    /// The one of a name.
    pub fn from_name(name: &str) -> Option<Vocabulary> {
        match name {
            "exact" => Some(Vocabulary::Exact),
            "padded" => Some(Vocabulary::Padded),
            _ => None,
        }
    }
}

impl ModelSpec {
    /// Rows of the embedding and columns of the head, over `tp` chips, padding included: the vocabulary's own, or, padded, the
    /// least number of at least as many that is a multiple of 64 and of the width. Embedding rows beyond the vocabulary are zeros
    /// that no token asks for, logits beyond it none that the next token is chosen from. None where that is no size of a value (above 2^30),
    /// or for 0 chips.
    ///
    /// # Source
    /// vLLM pads to a multiple of 64 and then asks for one of the width (`DEFAULT_VOCAB_PADDING_SIZE` and `VocabParallelEmbedding` in
    /// `vllm/model_executor/layers/vocab_parallel_embedding.py`), so where it starts, this is its size. Megatron-LM takes the width
    /// into the multiple (`make_vocab_size_divisible_by`, 128, times the width: `megatron/training/vocab_utils.py`), so that no
    /// width fails.
    pub fn vocab_rows(&self, tp: u32) -> Option<u32> {
        let multiple = match self.vocabulary {
            Vocabulary::Exact => return Some(self.vocab),
            // Of 64 only powers of two are divisors.
            Vocabulary::Padded => u64::from(tp) * u64::from(MULTIPLE >> tp.trailing_zeros().min(6)),
        };
        let rows = u64::from(self.vocab).checked_next_multiple_of(multiple)?;
        u32::try_from(rows).ok().filter(|&rows| rows <= MOST)
    }

    /// The head over `tp` chips, as if the checkpoint stored what is padded; none as [`ModelSpec::vocab_rows`].
    pub fn padded_head(&self, tp: u32) -> Option<Linear> {
        let padding = self.vocab_padding(tp)?;
        let padded = |weight: &Weight| {
            let mut weight = weight.clone();
            if padding > 0 {
                // A head that takes other than one run of a tensor has no room after its last.
                (weight.take.run, weight.take.stride) =
                    (weight.take.run.checked_add(padding)?, weight.take.stride.checked_add(padding)?);
                let rows = weight.tensor.shape.first_mut()?;
                *rows = rows.checked_add(padding)?;
            }
            (padding == 0 || weight.take.count == 1).then_some(weight)
        };
        let Linear { out, input, weight, bias } = &self.head.linear;
        let bias = match bias {
            None => None,
            Some(bias) => Some(padded(bias)?),
        };
        Some(Linear { out: out.checked_add(padding)?, input: *input, weight: padded(weight)?, bias })
    }

    /// Rows that padding adds over `tp` chips; none as [`ModelSpec::vocab_rows`].
    pub fn vocab_padding(&self, tp: u32) -> Option<u32> {
        self.vocab_rows(tp)?.checked_sub(self.vocab)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::test_models::llama;

    #[test]
    fn padded_rows_are_a_multiple_of_64_and_of_the_width() {
        let rows = |vocab, tp| ModelSpec { vocab, vocabulary: Vocabulary::Padded, ..llama() }.vocab_rows(tp);
        // Where 64 rows and the width agree, as vLLM has them: GPT-2's and Llama 2's with a token added.
        assert_eq!((rows(50_257, 1), rows(50_257, 8)), (Some(50_304), Some(50_304)));
        assert_eq!((rows(32_001, 2), rows(32_001, 64)), (Some(32_064), Some(32_064)));
        // 151,936 = 64 * 2374; of the multiples of 64 * 3 and 64 * 7 the next.
        assert_eq!(
            (rows(151_936, 3), rows(151_936, 6), rows(151_936, 7)),
            (Some(152_064), Some(152_064), Some(152_320))
        );
        assert_eq!((rows(1, 128), rows(96, 5)), (Some(128), Some(320)));
        assert_eq!((rows(96, 0), rows(1 << 30, 3), rows(u32::MAX, u32::MAX)), (None, None, None));
        for tp in 1..200 {
            let rows = rows(50_257, tp).unwrap();
            assert!(rows.is_multiple_of(64) && rows.is_multiple_of(tp));
            assert!((50_257..rows).all(|n| !n.is_multiple_of(64) || !n.is_multiple_of(tp)), "{tp}");
        }
        assert_eq!(ModelSpec { vocab: 50_257, ..llama() }.vocab_rows(8), Some(50_257));
    }
}
