//! What a bundle's rows must agree with and its checker cannot know: the programs' own text, and the chip they name.
//!
//! In: a bundle's words. Out: where they differ. The certificate says that rows are a sound lowering *of the statements in
//! the table*; that `eps` is the program's `1e-6` or the chip's memory as large as the vendor says is no matter of
//! rows. The text, read again, says the first, the chip's facts the second. Which tensor of a checkpoint is whose, and which
//! layer runs which program, only the config says: to be sure of those, compile it again and compare.
//!
//! Knows the language and the chips; not how anything is lowered.

mod chip;
mod text;

#[cfg(test)]
mod tests;

pub use chip::named;

use logos_bundle::table::layout::{Part, ROW, header};
use logos_bundle::view::{Bundle, BundleError, TextMismatch};

use crate::chip::Chip;
use crate::emit::Row;
use crate::language::ProgramError;

/// Something of a bundle that is not as its text or its chip has it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Mismatch {
    /// Not a table.
    #[error("{0}")]
    Bundle(#[from] BundleError),
    /// A text whose SHA-256 is not the stored one.
    #[error("{0}")]
    Digest(TextMismatch),
    /// A text that is no program.
    #[error("the text of program {program} does not read: {error}")]
    Unreadable {
        /// The program, by number.
        program: u32,
        /// The first error.
        error: Box<ProgramError>,
    },
    /// A row that is not what the text says.
    #[error("program {program}, {place}: the text has {text}, the table {table}")]
    Row {
        /// The program, by number.
        program: u32,
        /// What is compared, and of what.
        place: String,
        /// What the text says.
        text: String,
        /// What the table says.
        table: String,
    },
    /// A chip that does not come with the compiler, and whose file is not at hand.
    #[error("no chip is named `{name}`: without its file its words cannot be compared with facts")]
    ChipUnknown {
        /// The name in the table.
        name: String,
    },
    /// A word of the chip rows that is not the named chip's.
    #[error("chip {name}, word {word}: its facts have {fact}, the table {table}")]
    Chip {
        /// The chip.
        name: String,
        /// Word, counted over both rows.
        word: usize,
        /// What the facts say.
        fact: u32,
        /// What the table says.
        table: u32,
    },
}

/// Compares a bundle's programs with their text and its chip rows with the facts of the chip they name, one that comes with
/// the compiler.
///
/// # Errors
/// As [`verify_with`]; a bundle made for a file's chip is [`Mismatch::ChipUnknown`].
pub fn verify(words: &[u32]) -> Result<(), Vec<Mismatch>> {
    verify_with(words, &[])
}

/// [`verify`], with the chips of one's own that a bundle may name besides.
///
/// A bundle holds its chip's name and the words of its unit model. That these are the words of the facts, at the bundle's
/// width, is what is verified; not whose file it was (another with the same name and figures gives the same words), and nothing
/// of facts that are not in the words: peaks, labels, citations.
///
/// # Errors
/// The first difference of each program and of the chip; for a table that cannot be read only that.
pub fn verify_with(words: &[u32], chips: &[Chip]) -> Result<(), Vec<Mismatch>> {
    let bundle = Bundle::read(words).map_err(|error| vec![error.into()])?;
    let mut found = Vec::new();
    found.extend(bundle.verify_text().err().map(Mismatch::Digest));
    for program in bundle.programs() {
        found.extend(text::compare(words, &bundle, &program).err());
    }
    found.extend(chip::compare(words, &bundle, chips).err());
    if found.is_empty() { Ok(()) } else { Err(found) }
}

/// The rows of a part of a table that has been read as a bundle.
fn rows(words: &[u32], part: Part) -> &[Row] {
    let entry = header::DIRECTORY + 2 * part as usize;
    let (first, count) = (words[entry] as usize, words[entry + 1] as usize);
    words.as_chunks::<ROW>().0.get(first..).and_then(|rows| rows.get(..count)).unwrap_or_default()
}
