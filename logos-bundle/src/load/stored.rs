//! Where a checkpoint keeps a tensor.

use std::vec::Vec;

use super::Order;

/// A tensor as a checkpoint keeps it. It is the reader's of headers to say, and they to be held to their file: that it ends inside it is
/// found when it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// As the model has it, outermost first.
    pub shape: Vec<u64>,
    /// What holds its values.
    pub parts: Parts,
    /// Stored rows before the first: of a tensor of several experts, one's.
    pub first_row: u64,
    /// Where indices of axis 0 are.
    pub rows: Order,
    /// Where those of axis 1 are, further ones folded in.
    pub columns: Order,
}

/// The stored tensors that make one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {
    /// One, that needs no other.
    Plain(Place),
    /// 8-bit floats in rows and columns, and a scale for each `block` of them, in rows too.
    Scaled {
        /// The values.
        values: Place,
        /// Their scales.
        scales: Place,
        /// Rows and columns of a block.
        block: [u64; 2],
    },
    /// `[experts, out, input / 32, 16]` bytes of two elements each and `[experts, out, input / 32]` scales, of a model's tensor
    /// `[experts, input, out]` (gpt-oss).
    Mxfp4 {
        /// The elements.
        blocks: Place,
        /// Their scales.
        scales: Place,
    },
}

/// Where a stored tensor's elements lie, one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, as its reader counts them.
    pub file: u32,
    /// The tensor's first byte in it.
    pub offset: u64,
    /// Elements that share bytes: 1 of plain ones, 32 of Q8_0.
    pub block_elements: u64,
    /// Bytes of so many elements.
    pub block_bytes: u64,
}

impl Stored {
    /// One tensor of plain elements, stored as the model has it.
    #[must_use]
    pub fn plain(shape: Vec<u64>, file: u32, offset: u64, element_bytes: u64) -> Stored {
        Stored::of(shape, Parts::Plain(Place::elements(file, offset, element_bytes)))
    }

    /// Rows and columns where the model has them.
    #[must_use]
    pub fn of(shape: Vec<u64>, parts: Parts) -> Stored {
        Stored { shape, parts, first_row: 0, rows: Order::AsStored, columns: Order::AsStored }
    }
}

impl Parts {
    /// The stored tensors: the values', and that of their scales where there is one.
    pub fn places(&self) -> impl Iterator<Item = Place> + use<> {
        let (first, second) = match *self {
            Parts::Plain(place) => (place, None),
            Parts::Scaled { values, scales, .. } => (values, Some(scales)),
            Parts::Mxfp4 { blocks, scales } => (blocks, Some(scales)),
        };
        std::iter::once(first).chain(second)
    }
}

impl Place {
    /// Elements of so many bytes each.
    #[must_use]
    pub fn elements(file: u32, offset: u64, element_bytes: u64) -> Place {
        Place { file, offset, block_elements: 1, block_bytes: element_bytes }
    }
}
