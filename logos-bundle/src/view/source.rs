//! Where words come from, and rows of them. Nothing here can read outside what it was given.

use crate::table::layout::{HEADER_ROWS, NONE, Part, ROW, header};

/// The words of a table: in memory, or as bytes of either order with no alignment.
#[derive(Clone, Copy)]
pub(crate) enum Source<'a> {
    Words(&'a [u32]),
    Little(&'a [u8]),
    Big(&'a [u8]),
}

impl<'a> Source<'a> {
    /// Whole words.
    pub(crate) fn len(self) -> usize {
        match self {
            Source::Words(words) => words.len(),
            Source::Little(bytes) | Source::Big(bytes) => bytes.len() / 4,
        }
    }

    pub(crate) fn word(self, index: usize) -> Option<u32> {
        match self {
            Source::Words(words) => words.get(index).copied(),
            Source::Little(bytes) => bytes.as_chunks::<4>().0.get(index).map(|word| u32::from_le_bytes(*word)),
            Source::Big(bytes) => bytes.as_chunks::<4>().0.get(index).map(|word| u32::from_be_bytes(*word)),
        }
    }

    /// The first row of a part and its rows, as the directory has them.
    pub(crate) fn directory(self, part: Part) -> (u32, u32) {
        let entry = header::DIRECTORY + 2 * part as usize;
        (self.word(entry).unwrap_or(0), self.word(entry + 1).unwrap_or(0))
    }

    /// Whether a part's rows lie inside the table and after its header.
    pub(crate) fn holds(self, part: Part) -> bool {
        let (first, rows) = self.directory(part);
        let end = u64::from(first) + u64::from(rows);
        rows == 0 || (first as usize >= HEADER_ROWS && end <= (self.len() / ROW) as u64)
    }

    /// Rows of a part; none where they leave the table.
    pub(crate) fn rows(self, part: Part) -> u32 {
        if self.holds(part) { self.directory(part).1 } else { 0 }
    }

    /// One row of a part.
    pub(crate) fn row(self, part: Part, index: u32) -> Option<Row<'a>> {
        (index < self.rows(part))
            .then(|| Row { source: self, start: (self.directory(part).0 as usize + index as usize) * ROW })
    }
}

/// A row that lies inside its table.
#[derive(Clone, Copy)]
pub(crate) struct Row<'a> {
    source: Source<'a>,
    start: usize,
}

impl<'a> Row<'a> {
    /// The table it lies in.
    pub(crate) fn source(self) -> Source<'a> {
        self.source
    }

    /// Word `field`; zero beyond the end of the table.
    pub(crate) fn get(self, field: usize) -> u32 {
        self.source.word(self.start + field).unwrap_or(0)
    }

    /// Words `field` (low) and `field + 1` (high).
    pub(crate) fn wide(self, field: usize) -> u64 {
        u64::from(self.get(field)) | u64::from(self.get(field + 1)) << 32
    }

    /// Word `field` as an index or a count that may be absent.
    pub(crate) fn optional(self, field: usize) -> Option<u32> {
        let word = self.get(field);
        (word != NONE).then_some(word)
    }

    /// Eight words.
    pub(crate) fn hash(self, field: usize) -> [u32; 8] {
        core::array::from_fn(|word| self.get(field + word))
    }
}
