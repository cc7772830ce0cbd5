//! What each chip of a deployment loads of a checkpoint: which bytes of which file, and reading those and no others.
//!
//! In: a bundle and the headers of an opened checkpoint. Out: a [`Load`] for every weight of a chip, the bytes themselves
//! ([`Loader::fetch`]), and an account over all chips ([`Loader::account`]). Which indices a chip takes is the bundle's to say, where an
//! element lies the headers'; nothing else of the compiler is used.

mod account;
mod fetch;
mod spans;

use std::ops::Range;

use logos_bundle::view::{Binding, BindingClass, Bundle, Program, ProgramRole, Sharding, Storage as Kept, Tier};

pub use account::{Account, Excess, Reading, Why};
pub use fetch::{ByteSource, ChipStore, ChipWeights, Files};

use super::headers::{FileId, TensorId};
use super::open::Checkpoint;
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
    /// The tensor has another shape than the bundle was compiled for.
    #[error(
        "tensor `{tensor}` has axes {found:?}, the bundle was compiled for {expected:?}, further axes folded into the last"
    )]
    Shape {
        /// The model's name for it.
        tensor: String,
        /// The bundle's.
        expected: Vec<u64>,
        /// The checkpoint's.
        found: Vec<u64>,
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
    /// Indices taken of axis 0 (of each expert), in the value's own order.
    pub rows: Vec<Range<u64>>,
    /// Of axis 1, further axes folded in, likewise.
    pub columns: Vec<Range<u64>>,
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
        let Loader { bundle, checkpoint } = *self;
        let end = move |role| bundle.programs().filter(move |program| program.role() == role).map(|p| (p, None));
        let layers = bundle.layers().filter_map(|layer| Some((layer.program()?, Some(layer.index()))));
        let parts = end(ProgramRole::Embed).chain(layers).chain(end(ProgramRole::Head));
        let weights = parts.flat_map(|(program, layer)| {
            let weights = program.bindings().filter(|binding| binding.class() == BindingClass::Weight);
            weights.flat_map(move |binding| {
                let apart = if binding.stacked() { 1 } else { binding.copies().max(1) };
                (0..apart).map(move |copy| (program, layer, binding, copy))
            })
        });
        Ok(weights.map(move |(program, layer, binding, copy)| {
            Taking { bundle, checkpoint, program, binding, layer, copy, chip }.load()
        }))
    }
}

/// One weight of a chip.
struct Taking<'a> {
    bundle: Bundle<'a>,
    checkpoint: &'a Checkpoint,
    program: Program<'a>,
    binding: Binding<'a>,
    layer: Option<u32>,
    copy: u32,
    chip: u32,
}

impl Taking<'_> {
    fn load(&self) -> Result<Load, LoadError> {
        let Taking { binding, chip, .. } = self;
        let layer = self.layer.unwrap_or(0);
        let value = binding.name(layer).to_string();
        let tensor = binding.tensor_of(layer, self.copy).map(|name| name.to_string()).unwrap_or_default();
        let headers = self.checkpoint.headers();
        let resolved = headers.resolve(&tensor).map_err(Box::new)?;
        let Some(resolved) = resolved else { return Err(LoadError::Missing { tensor, value }) };
        let mut expected = binding.stored().map(u64::from).to_vec();
        let experts = if binding.stacked() { binding.copies() } else { 1 };
        if binding.stacked() {
            expected.insert(0, experts.into());
        }
        let found = &resolved.shape;
        let elements = |shape: &[u64]| shape.iter().try_fold(1u64, |n, &axis| n.checked_mul(axis));
        let alike = elements(found).is_some()
            && elements(found) == elements(&expected)
            && found.iter().zip(&expected).take(expected.len() - 1).all(|(a, b)| a == b);
        if !alike {
            return Err(LoadError::Shape { tensor, expected, found: found.clone() });
        }
        let runs = |runs: logos_bundle::view::Runs| -> Vec<Range<u64>> {
            runs.map(|run| u64::from(run.start)..u64::from(run.start) + u64::from(run.length)).collect()
        };
        let [rows, columns] = [runs(binding.axis0(*chip)), runs(binding.axis1(*chip))];
        let width = u64::from(binding.stored()[1]);
        let spans = spans::Taken {
            experts: binding.stacked().then_some(experts.into()),
            rows: &rows,
            columns: &columns,
            width,
        };
        let parts = spans.bytes(self.checkpoint, &resolved);
        let held = binding.value();
        let parts_of_value = held.map_or(1, |held| match held.sharding() {
            Sharding::Rows { parts } | Sharding::Columns { parts } => parts.max(1),
            _ => 1,
        });
        Ok(Load {
            program: self.program.name().to_string(),
            value,
            layer: self.layer,
            expert: (!binding.stacked() && binding.copies() > 1).then_some(self.copy),
            tensor,
            parts,
            rows,
            columns,
            transposed: binding.transposed(),
            stored: headers.get(resolved.parts.first()).storage,
            kept: held.map_or(Kept::Unknown(u32::MAX), |held| held.storage()),
            tier: held.and_then(|held| held.tier()),
            copies: self.bundle.chips() / parts_of_value,
        })
    }
}
