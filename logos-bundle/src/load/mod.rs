//! What each chip loads of a checkpoint, and reading exactly that: for a user's own binary, with no compiler in it.
//!
//! In: a bundle, and for each tensor that it names where a checkpoint keeps it ([`Stored`], which is the user's to say, or
//! `logos-core`'s, which reads headers). Out: for a chip every weight ([`loads`]: from which tensor, which rows and columns, kept
//! how and where), the byte ranges that hold it ([`Load::ranges`]) and those bytes ([`Ranges::read`]). Which indices a chip takes is
//! the bundle's to say alone.
//!
//! Under the feature `load`, which needs `std` and nothing else.

mod order;
mod ranges;
mod read;
mod spans;
mod stored;
#[cfg(test)]
mod tests;

pub use order::Order;
pub use ranges::Ranges;
pub use read::ReadAt;
pub use stored::{Parts, Place, Stored};

use std::error::Error;
use std::fmt;
use std::vec::Vec;

use crate::view::{Binding, BindingClass, Bundle, Name, Program, ProgramRole, Runs, Sharding, Storage, Tier};

/// What a chip loads for one weight of a layer, of the embedding or of the head; where experts are tensors of their own, for one
/// expert.
#[derive(Clone, Copy, Debug)]
pub struct Load<'a> {
    program: Program<'a>,
    binding: Binding<'a>,
    layer: Option<u32>,
    expert: u32,
    chip: u32,
    chips: u32,
}

/// What a chip loads: of the embedding, of each layer, of the head, in the order of the programs' bindings. None for a chip that the
/// deployment does not have.
pub fn loads(bundle: Bundle<'_>, chip: u32) -> Option<impl Iterator<Item = Load<'_>>> {
    let chips = bundle.chips();
    if chip >= chips {
        return None;
    }
    let end = move |role| bundle.programs().filter(move |program| program.role() == role).map(|p| (p, None));
    let layers = bundle.layers().filter_map(|layer| Some((layer.program()?, Some(layer.index()))));
    let parts = end(ProgramRole::Embed).chain(layers).chain(end(ProgramRole::Head));
    Some(parts.flat_map(move |(program, layer)| {
        let weights = program.bindings().filter(|binding| binding.class() == BindingClass::Weight);
        weights.flat_map(move |binding| {
            let apart = if binding.stacked() { 0..1 } else { binding.copies_on(chip) };
            apart.map(move |expert| Load { program, binding, layer, expert, chip, chips })
        })
    }))
}

impl<'a> Load<'a> {
    /// The program.
    #[must_use]
    pub fn program(&self) -> Program<'a> {
        self.program
    }

    /// How the program names and finds the weight.
    #[must_use]
    pub fn binding(&self) -> Binding<'a> {
        self.binding
    }

    /// The layer; none for embedding and head.
    #[must_use]
    pub fn layer(&self) -> Option<u32> {
        self.layer
    }

    /// The expert, where each is a tensor of its own.
    #[must_use]
    pub fn expert(&self) -> Option<u32> {
        (!self.binding.stacked() && self.binding.copies() > 1).then_some(self.expert)
    }

    /// The program's value, the layer filled in.
    #[must_use]
    pub fn value(&self) -> Name<'a> {
        self.binding.name(self.layer.unwrap_or(0))
    }

    /// The checkpoint's tensor; none in a damaged bundle.
    #[must_use]
    pub fn tensor(&self) -> Option<Name<'a>> {
        self.binding.tensor_of(self.layer.unwrap_or(0), self.expert)
    }

    /// Experts that the tensor has an axis for, before the two of rows and columns; which of them are taken, [`Binding::copies_on`] says.
    /// None where it has no such axis.
    #[must_use]
    pub fn stacked(&self) -> Option<u32> {
        self.binding.stacked().then(|| self.binding.copies())
    }

    /// Indices of the tensor's axis 0 (of each expert's, where they are stacked), in the value's own order.
    #[must_use]
    pub fn rows(&self) -> Runs {
        self.binding.axis0(self.chip)
    }

    /// Indices of axis 1, further axes folded in.
    #[must_use]
    pub fn columns(&self) -> Runs {
        self.binding.axis1(self.chip)
    }

    /// Zeros that the chip's share has after the indices taken, loaded from nowhere: of a padded vocabulary.
    #[must_use]
    pub fn zeros(&self) -> u32 {
        self.binding.zeros(self.chip)
    }

    /// Whether the program's rows are the tensor's axis 1.
    #[must_use]
    pub fn transposed(&self) -> bool {
        self.binding.transposed()
    }

    /// How the program keeps it.
    #[must_use]
    pub fn storage(&self) -> Storage {
        self.binding.value().map_or(Storage::Unknown(u32::MAX), |value| value.storage())
    }

    /// The memory it is kept in.
    #[must_use]
    pub fn tier(&self) -> Option<Tier> {
        self.binding.value().and_then(|value| value.tier())
    }

    /// Bytes of the chip's share, as the program keeps it.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let apart = if self.binding.stacked() { 1 } else { self.binding.copies_on(self.chip).len().max(1) as u64 };
        self.binding.bytes() / apart
    }

    /// Chips that hold the same: 1 where it is split over all of them.
    #[must_use]
    pub fn chips(&self) -> u32 {
        let parts = self.binding.value().map_or(1, |value| match value.sharding() {
            Sharding::Rows { parts } | Sharding::Columns { parts } | Sharding::Experts { parts } => parts.max(1),
            Sharding::Whole | Sharding::Partial | Sharding::Unknown(_) => 1,
        });
        self.chips / parts
    }

    /// The bytes of the stored tensors that hold it, for each of [`Parts::places`]; of blocks that are taken in part, the whole.
    ///
    /// # Errors
    /// [`Mismatch`] where the tensor has another shape than the bundle was compiled for, or says of itself what cannot be.
    pub fn ranges(&self, stored: &Stored) -> Result<Vec<Ranges>, Mismatch> {
        let mut expected: Vec<u64> = self.binding.stored().map(u64::from).to_vec();
        if let Some(experts) = self.stacked() {
            expected.insert(0, experts.into());
        }
        let found = &stored.shape;
        let elements = |shape: &[u64]| shape.iter().try_fold(1u64, |n, &axis| n.checked_mul(axis));
        // Further axes are folded into the last.
        let alike = elements(found).is_some()
            && elements(found) == elements(&expected)
            && found.iter().zip(&expected).take(expected.len() - 1).all(|(a, b)| a == b);
        if !alike {
            return Err(Mismatch::Shape { expected, found: found.clone() });
        }
        // The product is that of the tensor's elements, which 64 bits count.
        let axes = [(stored.rows, expected[0]), (stored.columns, expected[1..].iter().product())];
        if let Some(axis) = axes.iter().position(|&(order, indices)| !order.permutes(indices)) {
            return Err(Mismatch::Order { axis });
        }
        if self.stacked().is_some() && matches!(stored.parts, Parts::Scaled { .. }) {
            return Err(Mismatch::Stacked);
        }
        let runs =
            |runs: Runs| runs.map(|run| u64::from(run.start)..u64::from(run.start) + u64::from(run.length)).collect();
        let [rows, columns]: [Vec<_>; 2] = [runs(self.rows()), runs(self.columns())];
        let width = u64::from(self.binding.stored()[1]);
        let experts = self.binding.copies_on(self.chip);
        let experts = self.binding.stacked().then_some(u64::from(experts.start)..u64::from(experts.end));
        let taken = spans::Taken { experts, rows: &rows, columns: &columns, width };
        taken.ranges(stored).ok_or(Mismatch::Beyond)
    }
}

impl fmt::Display for Load<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let turned = if self.transposed() { ", transposed" } else { "" };
        write!(f, "{}: ", self.value())?;
        match self.tensor() {
            Some(tensor) => write!(f, "{tensor}")?,
            None => write!(f, "no tensor")?,
        }
        write!(f, ", rows {}, columns {}{turned}, kept as {}", self.rows(), self.columns(), self.storage())
    }
}

/// A tensor that is not what the bundle was compiled for, or that says of itself what cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// Of another shape.
    Shape {
        /// The bundle's, further axes folded into the last.
        expected: Vec<u64>,
        /// The tensor's.
        found: Vec<u64>,
    },
    /// An order that is none of the axis's own indices.
    Order {
        /// 0, or 1 with further ones folded in.
        axis: usize,
    },
    /// Experts in one tensor that share scales in blocks: no checkpoint known has them.
    Stacked,
    /// Bytes from further on in a file than 64 bits count.
    Beyond,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mismatch::Shape { expected, found } => {
                write!(f, "axes {found:?}, the bundle was compiled for {expected:?}, further axes folded into the last")
            }
            Mismatch::Order { axis } => write!(f, "the order of axis {axis} is not one of as many indices"),
            Mismatch::Stacked => f.write_str("a tensor of several experts, with scales of blocks, is not read"),
            Mismatch::Beyond => f.write_str("its bytes lie beyond what 64 bits count"),
        }
    }
}

impl Error for Mismatch {}
