//! Words from bytes, and the digest over them.

use super::layout::{ROW, header};

/// The words of a table held as little-endian bytes, `B = 4 N`: `static WORDS: [u32; N] = from_le(b"...")`.
///
/// One unaligned read costs constant evaluation a fraction of what a loop over the bytes would; on a big-endian target
/// each word is swapped, so that the words mean the same everywhere.
///
/// # Panics
/// If `B` is not `4 N`; in a constant that is a compile error.
pub const fn from_le<const B: usize, const N: usize>(bytes: &[u8; B]) -> [u32; N] {
    assert!(B.is_multiple_of(4) && B / 4 == N, "the bytes are not a whole number of words");
    // SAFETY: `bytes` is B = 4 N readable bytes, the size of `[u32; N]`; the read does not ask for alignment, and every
    // bit pattern is a valid u32.
    let words = unsafe { (&raw const *bytes).cast::<[u32; N]>().read_unaligned() };
    native(words)
}

#[cfg(target_endian = "little")]
const fn native<const N: usize>(words: [u32; N]) -> [u32; N] {
    words
}

#[cfg(target_endian = "big")]
const fn native<const N: usize>(mut words: [u32; N]) -> [u32; N] {
    let mut i = 0;
    while i < N {
        words[i] = u32::from_le(words[i]);
        i += 1;
    }
    words
}

const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u128 = 0x0000_0100_0000_01b3;

/// One step. The product is formed in 128 bits and cut: the same as wrapping, and cheaper to evaluate; so is a macro than a
/// call.
macro_rules! step {
    ($h:ident, $low:ident, $high:ident) => {
        $h = (($h ^ $low as u64) as u128 * PRIME) as u64 ^ $high as u64
    };
}

/// The `schedule_digest` of a table: an FNV over pairs of words, `h = (h xor first)·p xor second`, the digest's own two words
/// left out. Words beyond the last whole row are not read (a table has none).
///
/// Every step is a bijection of the state, so a table that differs in one word never has the same digest. It finds
/// accidents, not adversaries; the other rules hold without it.
pub const fn digest(words: &[u32]) -> u64 {
    let (rows, _) = words.as_chunks::<ROW>();
    let count = rows.len();
    let mut h = OFFSET_BASIS;
    let mut i = 0;
    while i < count {
        // The row first, then its words: a word costs more to fetch from a static than from a local.
        let row = rows[i];
        let [a0, a1, b0, b1, c0, c1, d0, d1, e0, e1, f0, f1, g0, g1, k0, k1] = row;
        step!(h, a0, a1);
        step!(h, b0, b1);
        // Row 0 holds the digest itself, in its third pair.
        if i != 0 {
            step!(h, c0, c1);
        }
        step!(h, d0, d1);
        step!(h, e0, e1);
        step!(h, f0, f1);
        step!(h, g0, g1);
        step!(h, k0, k1);
        i += 1;
    }
    h
}

const _: () = assert!(header::DIGEST == 4);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_little_endian_wherever_they_lie() {
        const WORDS: [u32; 2] = from_le(b"LOGS\x01\x02\x03\x04");
        assert_eq!(WORDS, [u32::from_le_bytes(*b"LOGS"), 0x0403_0201]);
        let shifted: [u8; 9] = *b"xLOGS\x01\x02\x03\x04";
        let tail: &[u8; 8] = shifted.last_chunk().unwrap();
        assert_eq!(from_le::<8, 2>(tail), WORDS);
    }

    #[test]
    fn every_bit_but_the_digest_words_changes_the_digest() {
        let mut words = [0u32; 64];
        for (i, w) in words.iter_mut().enumerate() {
            *w = (i as u32).wrapping_mul(0x9e37_79b9);
        }
        let before = digest(&words);
        for i in 0..64 {
            for bit in [0, 17, 31] {
                words[i] ^= 1 << bit;
                assert_eq!(digest(&words) == before, i == 4 || i == 5, "word {i} bit {bit}");
                words[i] ^= 1 << bit;
            }
        }
    }

    #[test]
    fn digest_of_the_empty_table_is_the_offset_basis() {
        assert_eq!(digest(&[]), 0xcbf2_9ce4_8422_2325);
        // One zero row after row 0 would be eight plain multiplications: (basis * p^8) mod 2^64.
        let mut h = OFFSET_BASIS;
        for _ in 0..7 {
            h = h.wrapping_mul(0x0000_0100_0000_01b3);
        }
        assert_eq!(digest(&[0; 16]), h);
    }
}
