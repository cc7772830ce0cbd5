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

/// A row as the 64-bit numbers, low word first, that the digest takes; words ask for no more alignment than their own.
#[derive(Clone, Copy)]
#[repr(C, packed(4))]
struct Numbers(u64, u64, u64, u64, u64, u64, u64, u64);

/// Takes two numbers. What could overflow is formed in 128 bits and cut: the same as wrapping, and cheaper to evaluate; so is
/// a macro than a call, one product for four words than one for two, and the prime's digits than its name.
macro_rules! step {
    ($h:ident, $first:expr, $second:expr) => {
        $h = (($h ^ low_first!($first)) as u128 * 0x0000_0100_0000_01b3 + low_first!($second) as u128) as u64
    };
}

/// Takes a row.
macro_rules! take {
    ($h:ident, $row:ident) => {
        step!($h, $row.0, $row.1);
        step!($h, $row.2, $row.3);
        step!($h, $row.4, $row.5);
        step!($h, $row.6, $row.7);
        $h ^= $h >> 32;
    };
}

/// A number read from two words, the low one first.
#[cfg(target_endian = "little")]
macro_rules! low_first {
    ($number:expr) => {
        $number
    };
}

/// A number read from two words, the low one first, where the target takes the first for the high one.
#[cfg(target_endian = "big")]
macro_rules! low_first {
    ($number:expr) => {
        $number.rotate_left(32)
    };
}

pub(crate) use low_first;

/// The `schedule_digest` of a table: an FNV over pairs of 64-bit numbers, `h = (h xor first)·p + second`, with `h xor ⌊h/2^32⌋`
/// after every row, so that high bits reach the low ones; the digest's own number counts as zero. Words beyond the last whole
/// row are not read (a table has none).
///
/// Every step is a bijection of the state, so a table that differs in one word never has the same digest. It finds
/// accidents, not adversaries; the other rules hold without it.
pub const fn digest(words: &[u32]) -> u64 {
    // SAFETY: these are whole rows of `words`; a row and `Numbers` have one size and one alignment, and every bit pattern is
    // a number.
    let rows = unsafe { core::slice::from_raw_parts(words.as_ptr().cast::<Numbers>(), words.len() / ROW) };
    let mut h = OFFSET_BASIS;
    let [header, rows @ ..] = rows else {
        return h;
    };
    let mut header = *header;
    header.2 = 0;
    take!(h, header);
    // Four rows a turn: the turn itself costs as much as two steps.
    let (fours, rest) = rows.as_chunks::<4>();
    let (turns, count) = (fours.len(), rest.len());
    let mut i = 0;
    while i < turns {
        let [a, b, c, d] = fours[i];
        take!(h, a);
        take!(h, b);
        take!(h, c);
        take!(h, d);
        i += 1;
    }
    let mut i = 0;
    while i < count {
        let row = rest[i];
        take!(h, row);
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
        // A row of zeros is four plain multiplications.
        let mut h = OFFSET_BASIS;
        for _ in 0..4 {
            h = h.wrapping_mul(0x0000_0100_0000_01b3);
        }
        assert_eq!(digest(&[0; 16]), h ^ h >> 32);
        // And of small numbers what they say: the words in pairs, low first.
        let mut h = OFFSET_BASIS;
        for k in [1u64, 5, 9, 13] {
            let first = k | (k + 1) << 32;
            let first = if k == 5 { 0 } else { first };
            h = (h ^ first).wrapping_mul(0x0000_0100_0000_01b3).wrapping_add((k + 2) | ((k + 3) << 32));
        }
        assert_eq!(digest(&core::array::from_fn::<u32, 16, _>(|i| i as u32 + 1)), h ^ h >> 32);
    }

    #[test]
    fn words_that_change_places_change_the_digest() {
        let words: [u32; 48] = core::array::from_fn(|i| (i as u32 + 1).wrapping_mul(0x9e37_79b9));
        for i in 0..48 {
            for j in i + 1..48 {
                let mut swapped = words;
                swapped.swap(i, j);
                let own = |k: usize| k == 4 || k == 5;
                assert_eq!(digest(&swapped) == digest(&words), own(i) && own(j), "{i} {j}");
            }
        }
    }
}
