//! How a checkpoint stores a model's tensors, where it is known and is not what the config's dtype says.

use std::collections::BTreeMap;

use super::{Dtype, ModelSpec, Tensor};

/// A storage that a program can keep a weight in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Held {
    /// One element after another.
    Float(Dtype),
    /// 32 elements along the last stored axis in 34 bytes.
    Q8_0,
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
