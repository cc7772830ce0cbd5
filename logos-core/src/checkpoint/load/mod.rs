//! What each chip of a deployment loads of a checkpoint: which bytes of which file, and reading those and no others.
//!
//! In: a bundle and the headers of an opened checkpoint. Out: a [`Load`] for every weight of a chip, the bytes themselves
//! ([`Loader::fetch`]), and an account over all chips ([`Loader::account`]). Which indices a chip takes is the bundle's to say, where an
//! element lies the headers'; from both [`logos_bundle::load`] finds the bytes, as it does for a binary without the compiler.

mod account;
mod evenly;
mod fetch;

use std::ops::Range;

use logos_bundle::load::{self, Mismatch, Place, Stored};
use logos_bundle::view::{Bundle, Storage as Kept, Tier};

pub use account::{Account, Excess, Reading, Why};
pub use fetch::{ChipStore, ChipWeights, Files};
pub use logos_bundle::load::ReadAt;

use super::headers::{FileId, TensorId};
use super::open::Checkpoint;
use super::resolve::{Parts, Resolved};
use super::storage::Storage;
use crate::Refusal;

/// Why a chip's weights cannot be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The deployment has no such chip.
    #[error("chip {chip} of {chips} does not exist: chips are counted from 0")]
    Chip {
        /// Asked for.
        chip: u32,
        /// Chips of the deployment.
        chips: u32,
    },
    /// The checkpoint has no such tensor.
    #[error("the checkpoint has no tensor `{tensor}`, which `{value}` is loaded from")]
    Missing {
        /// The model's name for it.
        tensor: String,
        /// The program's value.
        value: String,
    },
    /// The tensor is stored in a way that is not read.
    #[error(transparent)]
    Stored(#[from] Box<Refusal>),
    /// The tensor is not what the bundle was compiled for.
    #[error("tensor `{tensor}`: {mismatch}")]
    Mismatch {
        /// The model's name for it.
        tensor: String,
        /// In what.
        mismatch: Mismatch,
    },
    /// A file could not be read.
    #[error("{file}: bytes {bytes:?} cannot be read: {source}")]
    Read {
        /// The file's name.
        file: String,
        /// Of it.
        bytes: Range<u64>,
        /// Why.
        source: std::io::Error,
    },
}

/// What one chip loads for a weight, or for one expert of it where experts are stored apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    /// The program.
    pub program: String,
    /// The program's value, with the layer's number.
    pub value: String,
    /// The layer; none for embedding and head.
    pub layer: Option<u32>,
    /// The expert, where each is a tensor of its own.
    pub expert: Option<u32>,
    /// The model's name of the tensor; in a GGUF file it is stored under another.
    pub tensor: String,
    /// The stored tensors: the values', and that of their scales where they have some.
    pub parts: Vec<Bytes>,
    /// Experts taken where the tensor has an axis for them, before its rows and columns; 0 to 1 where it has none.
    pub experts: Range<u64>,
    /// Indices taken of axis 0 (of each expert), in the value's own order.
    pub rows: Vec<Range<u64>>,
    /// Of axis 1, further axes folded in, likewise.
    pub columns: Vec<Range<u64>>,
    /// Zeros that the chip's share has after the indices taken, loaded from nowhere: of a padded vocabulary.
    pub zeros: u32,
    /// Whether the program's rows are axis 1.
    pub transposed: bool,
    /// How the checkpoint stores it.
    pub stored: Storage,
    /// How the program keeps it.
    pub kept: Kept,
    /// The memory it is kept in.
    pub tier: Option<Tier>,
    /// Chips that hold the same: 1 where it is split over all of them.
    pub copies: u32,
}

impl Load {
    /// Bytes that are read.
    pub fn bytes(&self) -> u64 {
        self.parts.iter().map(Bytes::count).sum()
    }
}

/// Bytes of one stored tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bytes {
    /// The stored tensor.
    pub tensor: TensorId,
    /// Its file.
    pub file: FileId,
    /// From the file's start, ascending, none touching another.
    pub ranges: Vec<Range<u64>>,
}

impl Bytes {
    /// How many.
    pub fn count(&self) -> u64 {
        self.ranges.iter().map(|range| range.end - range.start).sum()
    }
}

/// A deployment's weights in a checkpoint.
#[derive(Clone, Copy, Debug)]
pub struct Loader<'a> {
    bundle: Bundle<'a>,
    checkpoint: &'a Checkpoint,
}

impl<'a> Loader<'a> {
    /// Of a deployment and a checkpoint, of which headers are used and no values.
    pub fn new(bundle: Bundle<'a>, checkpoint: &'a Checkpoint) -> Self {
        Loader { bundle, checkpoint }
    }

    /// What a chip loads: of the embedding, of each layer, of the head.
    ///
    /// # Errors
    /// [`LoadError::Chip`]; and an item each for a tensor that is not there or not as the bundle has it.
    pub fn chip(&self, chip: u32) -> Result<impl Iterator<Item = Result<Load, LoadError>> + use<'a>, LoadError> {
        let chips = self.bundle.chips();
        if chip >= chips {
            return Err(LoadError::Chip { chip, chips });
        }
        let checkpoint = self.checkpoint;
        let loads = load::loads(self.bundle, chip).ok_or(LoadError::Chip { chip, chips })?;
        Ok(loads.map(move |load| located(checkpoint, &load, chip)))
    }
}

/// A chip's load with the bytes of a checkpoint.
fn located(checkpoint: &Checkpoint, load: &load::Load<'_>, chip: u32) -> Result<Load, LoadError> {
    let headers = checkpoint.headers();
    let value = load.value().to_string();
    let tensor = load.tensor().map(|name| name.to_string()).unwrap_or_default();
    let resolved = headers.resolve(&tensor).map_err(Box::new)?;
    let Some(resolved) = resolved else { return Err(LoadError::Missing { tensor, value }) };
    let ranges = load.ranges(&stored(checkpoint, &resolved));
    let ranges = ranges.map_err(|mismatch| LoadError::Mismatch { tensor: tensor.clone(), mismatch })?;
    let parts = resolved.parts.ids().zip(ranges).map(|(tensor, ranges)| Bytes {
        tensor,
        file: headers.file_of(tensor),
        ranges: ranges.into_vec(),
    });
    let runs = |runs: logos_bundle::view::Runs| -> Vec<Range<u64>> {
        runs.map(|run| u64::from(run.start)..u64::from(run.start) + u64::from(run.length)).collect()
    };
    let experts = load.stacked().map_or(0..1, |_| load.binding().copies_on(chip));
    Ok(Load {
        experts: experts.start.into()..experts.end.into(),
        program: load.program().name().to_string(),
        value,
        layer: load.layer(),
        expert: load.expert(),
        tensor,
        parts: parts.collect(),
        rows: runs(load.rows()),
        columns: runs(load.columns()),
        zeros: load.zeros(),
        transposed: load.transposed(),
        stored: headers.get(resolved.parts.first()).storage,
        kept: load.storage(),
        tier: load.tier(),
        copies: load.chips(),
    })
}

/// Where a tensor lies, as its headers say, which were held to their files.
fn stored(checkpoint: &Checkpoint, resolved: &Resolved) -> Stored {
    let place = |id: TensorId| {
        let storage = checkpoint.headers().get(id).storage;
        Place {
            file: checkpoint.headers().file_of(id).0,
            offset: checkpoint.extent(id).start,
            block_elements: storage.block_elements(),
            block_bytes: storage.block_bytes(),
        }
    };
    let parts = match resolved.parts {
        Parts::Plain(id) => load::Parts::Plain(place(id)),
        Parts::Scaled { values, scales, block } => {
            load::Parts::Scaled { values: place(values), scales: place(scales), block }
        }
        Parts::Mxfp4 { blocks, scales } => load::Parts::Mxfp4 { blocks: place(blocks), scales: place(scales) },
    };
    let arrangement = &resolved.arrangement;
    Stored {
        shape: resolved.shape.clone(),
        parts,
        first_row: arrangement.first_row as u64,
        rows: arrangement.rows,
        columns: arrangement.columns,
    }
}
