//! A checkpoint's tensors as stages read them: on its mapped bytes, where and when they are used.

use std::ops::Range;
use std::sync::Arc;

use super::weights::{SharedTensor, TensorStore};
use crate::checkpoint::{Checkpoint, TensorRead, TensorView};

/// The tensors of a checkpoint, by the names a model has for them. Keeps the checkpoint open for as long as one of them is held.
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
        let view = self.0.tensor(tensor).ok().flatten()?;
        // SAFETY: the view borrows from the checkpoint behind the Arc: its mapped or allocated bytes, which are neither moved nor changed
        // while a reference to it exists. `Held` keeps that Arc and drops the view first, and hands the view out for no longer
        // than itself.
        let view = unsafe { std::mem::transmute::<TensorView<'_>, TensorView<'static>>(view) };
        Some(Arc::new(Held { view, _checkpoint: self.0.clone() }))
    }
}

/// A view with what it borrows from. Fields are dropped in this order.
struct Held {
    view: TensorView<'static>,
    _checkpoint: Arc<Checkpoint>,
}

impl TensorRead for Held {
    fn shape(&self) -> &[usize] {
        self.view.shape()
    }

    fn floats(&self) -> Option<&[f32]> {
        self.view.floats()
    }

    fn read(&self, row: usize, columns: Range<usize>, out: &mut [f32]) {
        self.view.read(row, columns, out);
    }
}
