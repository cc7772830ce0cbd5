//! A checkpoint's tensors as stages read them: on its mapped bytes, where and when they are used.

use std::sync::Arc;

use super::weights::{SharedTensor, TensorStore};
use crate::checkpoint::{Checkpoint, ModelWeights};

/// The tensors of a checkpoint, by the names a model has for them.
#[derive(Clone, Debug)]
pub struct CheckpointStore(Arc<Checkpoint>);

impl CheckpointStore {
    /// Of a checkpoint. Whether it holds what a model binds is [`Checkpoint::weights`]' to say.
    pub fn new(checkpoint: Arc<Checkpoint>) -> Self {
        CheckpointStore(checkpoint)
    }
}

impl TensorStore for CheckpointStore {
    fn open(&self, tensor: &str) -> Option<SharedTensor> {
        self.0.tensor(tensor).ok().flatten().map(|view| Arc::new(view) as SharedTensor)
    }
}

impl TensorStore for ModelWeights<'_> {
    fn open(&self, tensor: &str) -> Option<SharedTensor> {
        self.tensor(tensor).map(|view| Arc::new(view) as SharedTensor)
    }
}
