//! Constant reads that cannot leave the table: what is not there reads as zero.

use super::layout::{HEADER_ROWS, Part, ROW, header};

/// Word `index`, or zero beyond the end.
pub(crate) const fn word(words: &[u32], index: u64) -> u32 {
    if index < words.len() as u64 { words[index as usize] } else { 0 }
}

/// Words `index` (low) and `index + 1` (high).
pub(crate) const fn wide(words: &[u32], index: u64) -> u64 {
    word(words, index) as u64 | (word(words, index + 1) as u64) << 32
}

/// Where the first row of `part` starts, in words from the start of the table; [`None`] if the part has no row or
/// starts inside the header.
const fn start(words: &[u32], part: Part) -> Option<u64> {
    let entry = (header::DIRECTORY + 2 * part as usize) as u64;
    let (row, rows) = (word(words, entry) as u64, word(words, entry + 1));
    if rows == 0 || row < HEADER_ROWS as u64 { None } else { Some(row * ROW as u64) }
}

/// Rows of `part`, never more than the table could hold.
pub(crate) const fn rows(words: &[u32], part: Part) -> u64 {
    let rows = word(words, (header::DIRECTORY + 2 * part as usize) as u64 + 1) as u64;
    let most = (words.len() / ROW) as u64;
    if rows < most { rows } else { most }
}

/// Where row `index` of `part` starts, in words; past the end where there is no such row.
pub(crate) const fn row(words: &[u32], part: Part, index: u64) -> u64 {
    match start(words, part) {
        Some(start) if index < rows(words, part) => start + index * ROW as u64,
        _ => words.len() as u64,
    }
}

/// Word `field` of the first row of `part`, or zero.
pub(crate) const fn first(words: &[u32], part: Part, field: usize) -> u32 {
    match start(words, part) {
        Some(start) => word(words, start + field as u64),
        None => 0,
    }
}

/// Words `field` and `field + 1` of the first row of `part`, or zero.
pub(crate) const fn first_wide(words: &[u32], part: Part, field: usize) -> u64 {
    match start(words, part) {
        Some(start) => wide(words, start + field as u64),
        None => 0,
    }
}
