//! [`Bundle`]: a whole table; its layers and identities.

use core::fmt;

use super::source::{Row, Source};
use super::{Chip, Program, Text, view};
use crate::deployment::{FitFacts, Form};
use crate::sha256::Sha256;
use crate::table::layout::{self, MAGIC, PARTS, Part, ROW, VERSION, chip, deployment, header};

/// A lowered deployment, read from its table.
#[derive(Clone, Copy)]
pub struct Bundle<'a> {
    source: Source<'a>,
}

/// Why words or bytes are not a table that this version reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BundleError {
    /// The first word is not the magic.
    Magic {
        /// The word found; zero if there is none.
        found: u32,
    },
    /// Another layout version.
    Version {
        /// The version found.
        found: u32,
    },
    /// The header's length is not the table's.
    Length {
        /// Words that the header states.
        stated: u32,
        /// Bytes there are.
        bytes: usize,
    },
    /// A part's rows leave the table, are too few, or do not go together with another part's.
    Part {
        /// The part.
        part: Part,
        /// Its first row, as the directory has it.
        first: u32,
        /// Its rows, as the directory has it.
        rows: u32,
    },
}

impl fmt::Display for BundleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BundleError::Magic { found } => {
                write!(f, "not a LOGOS bundle: the first word is {found:#010x}, expected {MAGIC:#010x} (`LOGS`)")
            }
            BundleError::Version { found } => write!(
                f,
                "bundle of layout version {found}, this reader knows version {VERSION}; read it with the release that wrote it"
            ),
            BundleError::Length { stated, bytes } => write!(
                f,
                "bundle cut off or extended: its header states {stated} words, there are {} words and {} bytes",
                bytes / 4,
                bytes % 4
            ),
            BundleError::Part { part, first, rows } => {
                write!(f, "damaged bundle: part {part:?} has {rows} rows from row {first}, which cannot be")
            }
        }
    }
}

impl core::error::Error for BundleError {}

impl<'a> Bundle<'a> {
    /// Reads a table of words in this machine's order.
    ///
    /// # Errors
    /// [`BundleError`] if the words are not a table of this version, are cut off or extended, or a part leaves the table.
    pub fn read(words: &'a [u32]) -> Result<Bundle<'a>, BundleError> {
        Bundle::checked(Source::Words(words), words.len().saturating_mul(4))
    }

    /// Reads a table of bytes, as a `.logos` file holds it; of either byte order, with no alignment.
    ///
    /// # Errors
    /// As [`Bundle::read`].
    pub fn from_bytes(bytes: &'a [u8]) -> Result<Bundle<'a>, BundleError> {
        Bundle::checked(Bundle::source_of(bytes), bytes.len())
    }

    /// Reads words without any question; what leads nowhere reads as nothing.
    pub(crate) const fn unchecked(words: &'a [u32]) -> Bundle<'a> {
        Bundle { source: Source::Words(words) }
    }

    /// Bytes in the order their magic tells; little-endian where it tells neither.
    pub(super) fn source_of(bytes: &'a [u8]) -> Source<'a> {
        match bytes.first_chunk::<4>() {
            Some(magic) if u32::from_be_bytes(*magic) == MAGIC => Source::Big(bytes),
            Some(_) | None => Source::Little(bytes),
        }
    }

    pub(super) fn checked(source: Source<'a>, bytes: usize) -> Result<Bundle<'a>, BundleError> {
        let word = |index| source.word(index).unwrap_or(0);
        if word(header::MAGIC) != MAGIC {
            return Err(BundleError::Magic { found: word(header::MAGIC) });
        }
        if word(header::VERSION) != VERSION {
            return Err(BundleError::Version { found: word(header::VERSION) });
        }
        let stated = word(header::WORDS);
        if u64::from(stated) * 4 != bytes as u64 || !(stated as usize).is_multiple_of(ROW) {
            return Err(BundleError::Length { stated, bytes });
        }
        for part in PART_LIST {
            let (first, rows) = source.directory(part);
            let enough = match part {
                Part::Deployment | Part::Chip => rows == 2,
                Part::Digests => rows == source.directory(Part::Programs).1,
                Part::Strings => u64::from(word(header::STRING_BYTES)) <= u64::from(rows) * (ROW * 4) as u64,
                Part::Programs
                | Part::Sections
                | Part::Values
                | Part::Statements
                | Part::Stages
                | Part::Edges
                | Part::Turns
                | Part::Ropes
                | Part::Bindings
                | Part::Layers
                | Part::Factors => true,
            };
            if !enough || !source.holds(part) {
                return Err(BundleError::Part { part, first, rows });
            }
        }
        Ok(Bundle { source })
    }

    /// Words of the table.
    #[must_use]
    pub fn len(&self) -> usize {
        self.source.len()
    }

    /// Whether there is no word.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The table's words, one by one, in this machine's order: what [`crate::check`] reads, wherever the table lies.
    pub fn words(&self) -> impl ExactSizeIterator<Item = u32> + Clone + use<'a> {
        let source = self.source;
        (0..source.len()).map(move |index| source.word(index).unwrap_or(0))
    }

    /// The model's name.
    #[must_use]
    pub fn model(&self) -> Text<'a> {
        self.row(Part::Deployment, 0).map_or(Text::new(self.source, 0, 0), |row| self.text(row, deployment::MODEL))
    }

    /// The form of a step.
    #[must_use]
    pub fn form(&self) -> Form {
        Form::from_code(self.asked(deployment::FORM))
    }

    /// Chips: the tensor-parallel width.
    #[must_use]
    pub fn chips(&self) -> u32 {
        self.asked(deployment::CHIPS)
    }

    /// Context, in positions; 0 for a forward deployment.
    #[must_use]
    pub fn ctx(&self) -> u32 {
        self.asked(deployment::CTX)
    }

    /// Sequences of a step.
    #[must_use]
    pub fn sequences(&self) -> u32 {
        self.asked(deployment::SEQS)
    }

    /// Tokens of each sequence in a step.
    #[must_use]
    pub fn tokens(&self) -> u32 {
        self.asked(deployment::TOKENS)
    }

    /// What the deployment needs of a chip's memory, and what the chip has.
    #[must_use]
    pub fn fit(&self) -> FitFacts {
        let wide = |part, field| self.row(part, 0).map_or(0, |row| row.wide(field));
        FitFacts {
            weight_bytes: wide(Part::Deployment, deployment::WEIGHT_BYTES),
            state_bytes: wide(Part::Deployment, deployment::STATE_BYTES),
            kv_bytes: wide(Part::Deployment, deployment::KV_BYTES),
            ddr_weight_bytes: wide(Part::Deployment, deployment::DDR_WEIGHT_BYTES),
            sram_state_bytes: wide(Part::Deployment, deployment::SRAM_STATE_BYTES),
            hbm_bytes: wide(Part::Chip, chip::HBM_BYTES),
            ddr_bytes: wide(Part::Chip, chip::DDR_BYTES),
            max_ctx: self.asked(deployment::MAX_CTX),
            max_sequences: self.asked(deployment::MAX_SEQS),
            ..FitFacts::EMPTY
        }
        .derived()
    }

    /// The digest stored in the table, of everything else in it.
    #[must_use]
    pub fn schedule_digest(&self) -> u64 {
        let word = |index| u64::from(self.source.word(index).unwrap_or(0));
        word(header::DIGEST) | word(header::DIGEST + 1) << 32
    }

    /// The chip and its unit model; [`None`] in a damaged table.
    #[must_use]
    pub fn chip(&self) -> Option<Chip<'a>> {
        self.row(Part::Chip, 1)?;
        Some(Chip { bundle: *self, row: self.row(Part::Chip, 0)? })
    }

    /// The programs: the embedding (if any), layer kinds in order of their first layer, the head.
    pub fn programs(&self) -> impl Iterator<Item = Program<'a>> + Clone + use<'a> {
        let bundle = *self;
        (0..self.source.rows(Part::Programs)).filter_map(move |index| bundle.program(index))
    }

    /// One program.
    #[must_use]
    pub fn program(&self, index: u32) -> Option<Program<'a>> {
        Some(Program { bundle: *self, row: self.row(Part::Programs, index)?, index })
    }

    /// The layers of the model, in order.
    pub fn layers(&self) -> impl Iterator<Item = Layer<'a>> + Clone + use<'a> {
        let bundle = *self;
        (0..self.source.rows(Part::Layers)).filter_map(move |index| bundle.layer(index))
    }

    /// One layer.
    #[must_use]
    pub fn layer(&self, index: u32) -> Option<Layer<'a>> {
        Some(Layer { bundle: *self, row: self.row(Part::Layers, index)?, index })
    }

    /// Layers of the model.
    #[must_use]
    pub fn layer_count(&self) -> u32 {
        self.asked(deployment::LAYERS)
    }

    /// Compares the SHA-256 of every program's text with its digest row. rustc's re-check leaves this out: it is too dear there.
    ///
    /// # Errors
    /// The first program whose text has another digest, with both.
    pub fn verify_text(&self) -> Result<(), TextMismatch> {
        for program in self.programs() {
            let (stored, computed) = (program.text_digest(), Hash::of(program.text()));
            if stored != computed {
                return Err(TextMismatch { program: program.index(), stored, computed });
            }
        }
        Ok(())
    }

    /// A word of the deployment row; zero where there is none.
    fn asked(&self, field: usize) -> u32 {
        self.row(Part::Deployment, 0).map_or(0, |row| row.get(field))
    }

    pub(super) fn row(&self, part: Part, index: u32) -> Option<Row<'a>> {
        self.source.row(part, index)
    }

    /// The string whose offset is word `field` of a row.
    pub(super) fn text(&self, row: Row<'a>, field: usize) -> Text<'a> {
        Text::new(self.source, row.get(field), row.get(field + 1))
    }

    /// How many of the rows that a parent claims of a part there are.
    pub(super) fn held(&self, part: Part, first: u32, count: u32) -> u32 {
        count.min(self.source.rows(part).saturating_sub(first))
    }
}

impl fmt::Display for Bundle<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}, {} ", self.model(), self.form(), self.chips())?;
        match self.chip() {
            Some(chip) => write!(f, "{}", chip.name())?,
            None => write!(f, "chips")?,
        }
        write!(
            f,
            ", ctx {}, {} x {} tokens, {} layers, {} words, digest {:016x}",
            self.ctx(),
            self.sequences(),
            self.tokens(),
            self.layer_count(),
            self.len(),
            self.schedule_digest()
        )
    }
}

impl fmt::Debug for Bundle<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bundle({self})")
    }
}

/// Every part.
const PART_LIST: [Part; PARTS] = [
    Part::Deployment,
    Part::Chip,
    Part::Programs,
    Part::Sections,
    Part::Values,
    Part::Statements,
    Part::Stages,
    Part::Edges,
    Part::Turns,
    Part::Ropes,
    Part::Bindings,
    Part::Layers,
    Part::Digests,
    Part::Strings,
    Part::Factors,
];

/// A SHA-256, as the table stores it; prints as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash([u32; 8]);

impl Hash {
    pub(super) const fn new(words: [u32; 8]) -> Hash {
        Hash(words)
    }

    /// The digest of a text's bytes.
    #[must_use]
    pub fn of(text: Text<'_>) -> Hash {
        let mut sha = Sha256::new();
        sha.update(text.bytes());
        Hash(sha.finish())
    }

    /// The 32 bytes.
    #[must_use]
    pub fn bytes(&self) -> [u8; 32] {
        core::array::from_fn(|index| self.0[index / 4].to_be_bytes()[index % 4])
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|word| write!(f, "{word:08x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// A program's text and its digest row disagree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextMismatch {
    /// The program.
    pub program: u32,
    /// The digest row's.
    pub stored: Hash,
    /// The text's.
    pub computed: Hash,
}

impl fmt::Display for TextMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TextMismatch { program, stored, computed } = self;
        write!(f, "the text of program {program} has SHA-256 {computed}, its digest row says {stored}")
    }
}

impl core::error::Error for TextMismatch {}

view! {
    /// One layer of the model.
    Layer of bundle: Bundle
}

impl<'a> Layer<'a> {
    /// Its number, from 0.
    #[must_use]
    pub fn index(&self) -> u32 {
        self.index
    }

    /// The program that runs it.
    #[must_use]
    pub fn program(&self) -> Option<Program<'a>> {
        self.bundle.program(self.row.get(layout::layer::PROGRAM))
    }

    /// Identity of its cut: the SHA-256 of the canonical specification and the cut.
    #[must_use]
    pub fn identity(&self) -> Hash {
        Hash::new(self.row.hash(layout::layer::IDENTITY))
    }
}

impl fmt::Display for Layer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "layer {}: ", self.index)?;
        match self.program() {
            Some(program) => write!(f, "{}", program.name())?,
            None => write!(f, "no program")?,
        }
        write!(f, ", {}", self.identity())
    }
}
