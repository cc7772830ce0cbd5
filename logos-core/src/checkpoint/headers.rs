//! What the headers of a checkpoint say: its tensors, in order, and where their bytes lie.

use super::fault::Place;
use super::gguf::GgufNames;
use super::resolve::{Resolved, resolve};
use super::storage::Storage;
use crate::{Code, Refusal};

/// A tensor of a checkpoint, by its place in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TensorId(pub(super) u32);

impl TensorId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A file of a checkpoint, by its place in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileId(pub(super) u32);

/// A tensor as a file stores it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StoredTensor {
    /// The file's own name for it.
    pub name: String,
    /// Axes, outermost first.
    pub shape: Vec<u64>,
    /// How its elements are stored.
    pub storage: Storage,
}

/// The tensors of a checkpoint: in the order of its files, and of the bytes in each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headers {
    files: Vec<String>,
    tensors: Vec<StoredTensor>,
    /// The file of each tensor.
    file_of: Vec<FileId>,
    by_name: Vec<TensorId>,
    /// What the names mean, in a GGUF file; elsewhere they are the model's own.
    gguf: Option<GgufNames>,
}

impl Headers {
    /// Of files, each with its tensors in order.
    ///
    /// # Errors
    /// [`Code::CheckpointHeader`] at a tensor whose name another one has.
    pub(super) fn new(files: Vec<(String, Vec<StoredTensor>)>) -> Result<Self, Refusal> {
        let mut headers = Headers::default();
        for ((file, tensors), id) in files.into_iter().zip(0u32..) {
            headers.files.push(file);
            headers.file_of.resize(headers.file_of.len() + tensors.len(), FileId(id));
            headers.tensors.extend(tensors);
        }
        let tensors = &headers.tensors;
        headers.by_name = headers.ids().collect();
        // Stable, so that of two the earlier one comes first.
        headers.by_name.sort_by(|a, b| tensors[a.index()].name.cmp(&tensors[b.index()].name));
        match headers.by_name.array_windows().find(|[a, b]| tensors[a.index()].name == tensors[b.index()].name) {
            Some(&[first, second]) => {
                let found = format!("another in {}", headers.place(first).file);
                Err(headers.place(second).refuse(
                    Code::CheckpointHeader,
                    "its name is there twice",
                    "one tensor",
                    found,
                ))
            }
            None => Ok(headers),
        }
    }

    /// With GGUF's names.
    pub(super) fn with_gguf(self, names: GgufNames) -> Self {
        Headers { gguf: Some(names), ..self }
    }

    /// What the names mean, in a GGUF file.
    pub(super) fn gguf(&self) -> Option<&GgufNames> {
        self.gguf.as_ref()
    }

    /// What is stored, in order.
    pub fn tensors(&self) -> &[StoredTensor] {
        &self.tensors
    }

    /// All tensors, in order.
    pub fn ids(&self) -> impl Iterator<Item = TensorId> + use<> {
        (0u32..).take(self.tensors.len()).map(TensorId)
    }

    /// A tensor of this checkpoint.
    pub fn get(&self, tensor: TensorId) -> &StoredTensor {
        &self.tensors[tensor.index()]
    }

    /// Names of the files, by [`FileId`].
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// The file a tensor is in.
    pub fn file_of(&self, tensor: TensorId) -> FileId {
        self.file_of[tensor.index()]
    }

    /// Where a refusal of a tensor points.
    pub(super) fn place(&self, tensor: TensorId) -> Place<'_> {
        Place::file(&self.files[self.file_of(tensor).0 as usize]).tensor(&self.get(tensor).name)
    }

    /// Where a refusal of the whole points: its only file, or the first.
    pub(super) fn whole(&self) -> Place<'_> {
        Place::file(self.files.first().map_or("the checkpoint", String::as_str))
    }

    /// The tensor stored under this name.
    pub fn find(&self, name: &str) -> Option<TensorId> {
        let at = self.by_name.binary_search_by(|id| self.tensors[id.index()].name.as_str().cmp(name));
        at.ok().map(|at| self.by_name[at])
    }

    /// The tensor that a model calls so, with what is needed to read it.
    pub(super) fn resolve(&self, name: &str) -> Result<Option<Resolved>, Refusal> {
        match &self.gguf {
            Some(names) => names.resolve(self, name),
            None => resolve(self, name),
        }
    }

    /// What is stored for a name, whether or not it can be read.
    pub(super) fn named(&self, name: &str) -> Vec<TensorId> {
        match &self.gguf {
            Some(names) => names.named(self, name).into_iter().collect(),
            None => {
                let tails = ["", "_blocks", "_scales", "_scale_inv", "_scale"];
                tails.iter().filter_map(|tail| self.find(&format!("{name}{tail}"))).collect()
            }
        }
    }
}
