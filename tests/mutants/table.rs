//! A table taken apart into rows, to be changed row by row and put together again with a digest that agrees.

use logos_bundle::table::digest;
use logos_bundle::table::layout::{HEADER_ROWS, MAGIC, PARTS, Part, ROW, VERSION, header, program, section};

/// One row.
pub(crate) type Row = [u32; ROW];

/// A table's rows by part, and the bytes its strings use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Table {
    parts: Vec<Vec<Row>>,
    string_bytes: u32,
}

impl Table {
    /// Takes a table apart. Only for tables whose directory is sound.
    pub(crate) fn read(words: &[u32]) -> Table {
        let rows = words.as_chunks::<ROW>().0;
        let parts = (0..PARTS).map(|part| {
            let [first, count] = [0, 1].map(|at| words[header::DIRECTORY + 2 * part + at] as usize);
            rows[first..first + count].to_vec()
        });
        Table { parts: parts.collect(), string_bytes: words[header::STRING_BYTES] }
    }

    /// The table's words, its directory and digest worked out from the rows.
    pub(crate) fn words(&self) -> Vec<u32> {
        let mut words = vec![0; HEADER_ROWS * ROW];
        words[header::MAGIC] = MAGIC;
        words[header::VERSION] = VERSION;
        words[header::STRING_BYTES] = self.string_bytes;
        let mut first = HEADER_ROWS;
        for (part, rows) in self.parts.iter().enumerate() {
            words[header::DIRECTORY + 2 * part] = first as u32;
            words[header::DIRECTORY + 2 * part + 1] = rows.len() as u32;
            first += rows.len();
            words.extend_from_slice(rows.as_flattened());
        }
        words[header::WORDS] = words.len() as u32;
        seal(&mut words);
        words
    }

    /// The rows of a part.
    pub(crate) fn rows(&self, part: Part) -> &[Row] {
        &self.parts[part as usize]
    }

    /// One row, to be changed.
    pub(crate) fn row(&mut self, part: Part, row: usize) -> &mut Row {
        &mut self.parts[part as usize][row]
    }

    /// Word `field` of a row.
    pub(crate) fn get(&self, part: Part, row: usize, field: usize) -> u32 {
        self.parts[part as usize][row][field]
    }

    /// Words `field` and `field + 1` of a row as a 64-bit number.
    pub(crate) fn wide(&self, part: Part, row: usize, field: usize) -> u64 {
        u64::from(self.get(part, row, field)) | u64::from(self.get(part, row, field + 1)) << 32
    }

    /// Writes a word.
    pub(crate) fn set(&mut self, part: Part, row: usize, field: usize, word: u32) {
        self.parts[part as usize][row][field] = word;
    }

    /// Writes a 64-bit number.
    pub(crate) fn set_wide(&mut self, part: Part, row: usize, field: usize, number: u64) {
        self.set(part, row, field, number as u32);
        self.set(part, row, field + 1, (number >> 32) as u32);
    }

    /// Puts a row before row `at` of a part that sections or programs divide among them; it becomes `owner`'s.
    pub(crate) fn insert(&mut self, part: Part, owner: usize, at: usize, row: Row) {
        self.parts[part as usize].insert(at, row);
        self.resize(part, owner, 1);
    }

    /// Takes row `at` out of `owner`'s.
    pub(crate) fn remove(&mut self, part: Part, owner: usize, at: usize) -> Row {
        self.resize(part, owner, -1);
        self.parts[part as usize].remove(at)
    }

    /// Takes out a row of a part that nothing divides.
    pub(crate) fn remove_loose(&mut self, part: Part, at: usize) {
        self.parts[part as usize].remove(at);
    }

    fn resize(&mut self, part: Part, owner: usize, change: i32) {
        let (owners, field) = match part {
            Part::Values => (Part::Programs, program::VALUES),
            Part::Statements => (Part::Programs, program::STATEMENTS),
            Part::Sections => (Part::Programs, program::SECTIONS),
            Part::Bindings => (Part::Programs, program::BINDINGS),
            Part::Stages => (Part::Sections, section::STAGES),
            Part::Edges => (Part::Sections, section::EDGES),
            Part::Turns => (Part::Sections, section::TURNS),
            Part::Deployment
            | Part::Chip
            | Part::Programs
            | Part::Ropes
            | Part::Layers
            | Part::Digests
            | Part::Strings
            | Part::Factors => {
                panic!("{part:?} is not divided")
            }
        };
        let rows = &mut self.parts[owners as usize];
        rows[owner][field + 1] = rows[owner][field + 1].wrapping_add_signed(change);
        for row in &mut rows[owner + 1..] {
            row[field] = row[field].wrapping_add_signed(change);
        }
    }

    /// Puts another string at word `field` of a row; the old one stays where it is.
    pub(crate) fn rename(&mut self, part: Part, row: usize, field: usize, text: &str) {
        let used = self.string_bytes as usize;
        let strings = &mut self.parts[Part::Strings as usize];
        let mut bytes: Vec<u8> = strings.as_flattened().iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.truncate(used);
        bytes.extend(text.bytes());
        self.string_bytes = bytes.len() as u32;
        bytes.resize(bytes.len().next_multiple_of(ROW * 4), 0);
        let words: Vec<u32> = bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        *strings = words.as_chunks::<ROW>().0.to_vec();
        self.set(part, row, field, used as u32);
        self.set(part, row, field + 1, text.len() as u32);
    }
}

/// Writes the digest of everything else into a table's words.
pub(crate) fn seal(words: &mut [u32]) {
    let digest = digest(words);
    words[header::DIGEST] = digest as u32;
    words[header::DIGEST + 1] = (digest >> 32) as u32;
}
