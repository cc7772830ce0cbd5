//! Writing rows: parts grow apart and are joined with a header at the end.

use std::collections::BTreeMap;

use logos_bundle::table::layout::{HEADER_ROWS, MAGIC, NONE, PARTS, Part, ROW, VERSION, header};

/// A row of a table.
pub(crate) type Row = [u32; ROW];

/// A table under construction.
pub(super) struct Table {
    parts: Vec<Vec<u32>>,
    strings: Vec<u8>,
    known: BTreeMap<String, (u32, u32)>,
    lists: BTreeMap<Vec<u32>, u32>,
}

impl Table {
    pub(super) fn new() -> Self {
        Table { parts: vec![Vec::new(); PARTS], strings: Vec::new(), known: BTreeMap::new(), lists: BTreeMap::new() }
    }

    /// Rows of a part so far.
    pub(super) fn count(&self, part: Part) -> u32 {
        (self.parts[part as usize].len() / ROW) as u32
    }

    /// Adds a row.
    pub(super) fn push(&mut self, part: Part, row: Row) {
        self.parts[part as usize].extend_from_slice(&row);
    }

    /// Overwrites words of a row that is there.
    pub(super) fn set(&mut self, part: Part, row: u32, word: usize, value: u32) {
        self.parts[part as usize][row as usize * ROW + word] = value;
    }

    /// Offset and length of a string, which is stored once.
    pub(super) fn string(&mut self, text: &str) -> (u32, u32) {
        if let Some(&place) = self.known.get(text) {
            return place;
        }
        let place = (self.strings.len() as u32, text.len() as u32);
        self.strings.extend_from_slice(text.as_bytes());
        self.known.insert(text.to_owned(), place);
        place
    }

    /// First word of a list of factors, which is stored once.
    pub(super) fn factors(&mut self, list: &[f32]) -> u32 {
        let words: Vec<u32> = list.iter().map(|factor| factor.to_bits()).collect();
        if let Some(&first) = self.lists.get(&words) {
            return first;
        }
        let part = &mut self.parts[Part::Factors as usize];
        let first = part.len() as u32;
        part.extend_from_slice(&words);
        self.lists.insert(words, first);
        first
    }

    /// The words of the whole table.
    pub(super) fn finish(mut self) -> Vec<u32> {
        let bytes = self.strings.len() as u32;
        let row_bytes = ROW * 4;
        self.strings.resize(self.strings.len().div_ceil(row_bytes) * row_bytes, 0);
        let strings = &mut self.parts[Part::Strings as usize];
        for word in self.strings.as_chunks::<4>().0 {
            strings.push(u32::from_le_bytes(*word));
        }
        let factors = &mut self.parts[Part::Factors as usize];
        factors.resize(factors.len().next_multiple_of(ROW), 0);
        let total = HEADER_ROWS * ROW + self.parts.iter().map(Vec::len).sum::<usize>();
        let mut words = vec![0; HEADER_ROWS * ROW];
        words.reserve_exact(total - words.len());
        words[header::MAGIC] = MAGIC;
        words[header::VERSION] = VERSION;
        words[header::WORDS] = total as u32;
        words[header::STRING_BYTES] = bytes;
        let mut first = HEADER_ROWS;
        for (i, part) in self.parts.iter().enumerate() {
            let rows = part.len() / ROW;
            words[header::DIRECTORY + 2 * i] = first as u32;
            words[header::DIRECTORY + 2 * i + 1] = rows as u32;
            first += rows;
        }
        for part in &self.parts {
            words.extend_from_slice(part);
        }
        let digest = digest(&words);
        (words[header::DIGEST], words[header::DIGEST + 1]) = (digest as u32, (digest >> 32) as u32);
        words
    }
}

/// FNV over pairs of 64-bit numbers, the digest's own as zero (RULES.md section 10).
fn digest(words: &[u32]) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for (i, row) in words.as_chunks::<ROW>().0.iter().enumerate() {
        for (j, [a, b, c, d]) in row.as_chunks::<4>().0.iter().enumerate() {
            let own = i * ROW + j * 4 == header::DIGEST;
            let first = if own { 0 } else { u64::from(*a) | u64::from(*b) << 32 };
            let second = u64::from(*c) | u64::from(*d) << 32;
            hash = (hash ^ first).wrapping_mul(0x0100_0000_01b3).wrapping_add(second);
        }
        hash ^= hash >> 32;
    }
    hash
}

/// A row of absent words to be filled.
pub(super) const fn blank() -> Row {
    [0; ROW]
}

/// Writes a 64-bit number at a word.
pub(super) fn put_wide(row: &mut [u32], word: usize, value: u64) {
    row[word] = value as u32;
    row[word + 1] = (value >> 32) as u32;
}

/// Writes two words at a word.
pub(super) fn put_pair(row: &mut [u32], word: usize, (a, b): (u32, u32)) {
    row[word] = a;
    row[word + 1] = b;
}

/// Writes a SHA-256 as eight words, its bytes taken four by four, the first the highest.
pub(super) fn put_sha(row: &mut [u32], word: usize, digest: &[u8; 32]) {
    for (at, bytes) in digest.as_chunks::<4>().0.iter().enumerate() {
        row[word + at] = u32::from_be_bytes(*bytes);
    }
}

/// An index or its absence.
pub(super) fn index(value: Option<u32>) -> u32 {
    value.unwrap_or(NONE)
}
