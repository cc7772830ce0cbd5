//! A checkpoint's tensors as stages read them: on its mapped bytes, where and when they are used.

use std::sync::Arc;

use super::weights::{SharedTensor, TensorStore};
use crate::checkpoint::ModelWeights;

impl TensorStore for ModelWeights<'_> {
    fn open(&self, tensor: &str) -> Option<SharedTensor> {
        self.tensor(tensor).map(|view| Arc::new(view) as SharedTensor)
    }
}
