//! How a checkpoint stores a model's tensors, where it is known and is not what the config's dtype says.

use std::collections::BTreeMap;

use super::{Dtype, ModelSpec, Tensor, Weight};

/// Rows that one block of Q8_0 or MXFP4 holds, along the contracted axis.
pub const BLOCK_ROWS: u32 = 32;

/// Rows, and columns, that share a scale of F8_E4M3.
pub const SCALED: u32 = 128;

/// Bytes of that scale in a chip's memory: f32, whatever float the checkpoint has it as.
pub const SCALE_BYTES: u32 = 4;

/// A storage that a program can keep a weight in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Held {
    /// One element after another.
    Float(Dtype),
    /// 32 elements along the last stored axis in 34 bytes.
    Q8_0,
    /// A byte an element and a scale every 128 rows and columns.
    F8E4M3,
    /// 32 elements along the inputs in 17 bytes.
    Mxfp4,
}

/// How a product's weight lies over the chips: the parts that its inputs and its outputs are cut into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// Of the inputs, which are contracted.
    pub inputs: u32,
    /// Of the outputs.
    pub outputs: u32,
}

impl Held {
    /// How a program keeps a product's weight of so many inputs: in its blocks where every chip has whole ones, else dense.
    pub fn kept(self, dense: Dtype, weight: &Weight, inputs: u32, parts: Parts) -> Held {
        let whole = |n: u64, of: u32| n.is_multiple_of(of.into());
        let here = u64::from(inputs) / u64::from(parts.inputs.max(1));
        let keeps = match self {
            Held::Float(_) => true,
            Held::Q8_0 | Held::Mxfp4 => whole(here, BLOCK_ROWS),
            Held::F8E4M3 => {
                let take = weight.take;
                let last = u64::from(take.count.saturating_sub(1)) * u64::from(take.stride);
                let end = u64::from(take.offset) + last + u64::from(take.run);
                let starts = whole(take.offset.into(), SCALED)
                    && (take.count == 1 || whole(take.run.into(), SCALED) && whole(take.stride.into(), SCALED));
                let ends = whole(end, SCALED) || weight.tensor.shape.first().is_some_and(|&all| end == u64::from(all));
                let of_outputs = parts.outputs <= 1 || whole(take.len() / u64::from(parts.outputs), SCALED);
                starts && ends && of_outputs && (parts.inputs <= 1 || whole(here, SCALED))
            }
        };
        if keeps { self } else { Held::Float(dense) }
    }

    /// The name of a storage in blocks, and which of its blocks chips would cut where it is not kept.
    pub const fn blocks(self) -> Option<(&'static str, &'static str)> {
        match self {
            Held::Float(_) => None,
            Held::Q8_0 => Some(("Q8_0", "blocks of 32")),
            Held::F8E4M3 => Some(("F8_E4M3", "blocks of 128 by 128")),
            Held::Mxfp4 => Some(("MXFP4", "blocks of 32")),
        }
    }
}

/// Of each stored tensor, by the name that the specification has for it, how it is stored; a tensor that is stored in the config's
/// dtype has no entry, so a checkpoint that stores all of them so is as none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AsStored {
    /// Embedding, final norm and head.
    pub(crate) ends: BTreeMap<String, Held>,
    /// Of each distinct layer, in the order of [`ModelSpec::layers`]; empty where no tensor has an entry.
    pub(crate) rows: Vec<BTreeMap<String, Held>>,
}

impl AsStored {
    /// Whether every tensor is stored in the config's dtype, or nothing is known.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty() && self.rows.iter().all(BTreeMap::is_empty)
    }
}

impl ModelSpec {
    /// How a checkpoint stores a tensor of a distinct layer, or of the embedding, final norm and head; none where that is the config's
    /// dtype.
    pub fn held(&self, row: Option<u32>, tensor: &Tensor) -> Option<Held> {
        let tensors = match row {
            None => Some(&self.as_stored.ends),
            Some(row) => self.as_stored.rows.get(row as usize),
        };
        tensors.and_then(|tensors| tensors.get(&tensor.name)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Take;

    #[test]
    fn blocks_are_kept_where_every_chip_has_whole_ones() {
        let fused = |take| Weight { tensor: Tensor { name: "w".into(), shape: vec![1088, 576] }, take };
        let kept = |held: Held, take, inputs, outputs| {
            held.kept(Dtype::Bf16, &fused(take), 576, Parts { inputs, outputs }) == held
        };
        let f8 = |take, inputs, outputs| kept(Held::F8E4M3, take, inputs, outputs);
        // Inputs that are not whole blocks, of one chip alone; a last run that ends where the tensor does.
        assert!(f8(Take::range(0, 512), 1, 4) && f8(Take::range(512, 576), 1, 1));
        assert!(!f8(Take::range(0, 512), 1, 8) && !f8(Take::range(0, 512), 2, 1) && !f8(Take::range(512, 576), 1, 2));
        assert!(!f8(Take::range(64, 512), 1, 1) && !f8(Take::range(0, 576), 1, 1));
        // Heads of 128 out of pairs of them, and of 64.
        assert!(f8(Take { offset: 128, run: 128, stride: 256, count: 4 }, 1, 2));
        assert!(!f8(Take { offset: 0, run: 64, stride: 128, count: 8 }, 1, 1));
        for held in [Held::Q8_0, Held::Mxfp4] {
            assert!(kept(held, Take::range(3, 5), 18, 5) && !kept(held, Take::range(0, 512), 4, 1));
        }
        assert!(kept(Held::Float(Dtype::F32), Take::range(3, 5), 7, 5));
    }
}
