//! A checkpoint as the weights of a model.

use std::borrow::Cow;

use super::compare::{Unused, compare};
use super::headers::TensorId;
use super::open::Checkpoint;
use super::read::TensorRead;
use super::view::TensorView;
use crate::reference::{TensorData, WeightSource};
use crate::spec::{ModelSpec, inventory};
use crate::{Code, Refusal};

/// A checkpoint that holds what a model binds: every tensor of it is there, in its shape and stored in a way that is read.
#[derive(Clone, Debug)]
pub struct ModelWeights<'c> {
    checkpoint: &'c Checkpoint,
    spec: &'c ModelSpec,
    unused: Vec<(TensorId, Unused)>,
}

impl Checkpoint {
    /// The checkpoint as the weights of a model. Reads headers, no values: see [`ModelWeights::check_values`].
    ///
    /// # Errors
    /// A refusal for every tensor in which the two differ, up to a number.
    pub fn weights<'c>(&'c self, spec: &'c ModelSpec) -> Result<ModelWeights<'c>, Vec<Refusal>> {
        let unused = compare(self.headers(), spec)?;
        Ok(ModelWeights { checkpoint: self, spec, unused })
    }
}

impl<'c> ModelWeights<'c> {
    /// A tensor by the name the model has for it, layer and expert filled in; none where the model has no such tensor.
    pub fn tensor(&self, name: &str) -> Option<TensorView> {
        // What it binds was resolved once when the two were compared, so a refusal here is of another tensor.
        self.checkpoint.tensor(name).ok().flatten()
    }

    /// The tensors that are not read, with the reason for each.
    pub fn unused(&self) -> &[(TensorId, Unused)] {
        &self.unused
    }

    /// Reads every value once.
    ///
    /// # Errors
    /// A refusal for every tensor with a value that is infinite or no number, and for a head that is tied by the config but stored with
    /// other values than the embedding.
    pub fn check_values(&self) -> Result<(), Vec<Refusal>> {
        let mut refusals = Vec::new();
        let bound = inventory(self.spec).map_err(|refusal| vec![refusal])?;
        for stored in bound.iter() {
            refusals.extend(self.check_finite(&stored.name).err());
        }
        let headers = self.checkpoint.headers();
        for &(id, why) in &self.unused {
            let tied = why == Unused::TiedHead;
            if tied && !self.tensor(&self.spec.embedding.name).is_some_and(|embedding| self.equals(id, &embedding)) {
                let what = "the config ties the head to the embedding, and their values differ";
                refusals.push(headers.place(id).refuse(
                    Code::CheckpointValue,
                    what,
                    "the embedding's values",
                    "others",
                ));
            }
        }
        if refusals.is_empty() { Ok(()) } else { Err(refusals) }
    }

    /// Reads every value of a tensor.
    ///
    /// # Errors
    /// [`Code::CheckpointValue`] at the tensor, with the first value that is infinite or no number.
    pub fn check_finite(&self, name: &str) -> Result<(), Refusal> {
        let Some(([row, column], value)) = self.tensor(name).and_then(|tensor| tensor.not_finite()) else {
            return Ok(());
        };
        let headers = self.checkpoint.headers();
        let place = headers.named(name).first().copied().map_or(headers.whole().tensor(name), |id| headers.place(id));
        let what = format!("its value at row {row}, column {column} is none to compute with");
        let refusal = place.refuse(Code::CheckpointValue, what, "finite numbers", value);
        Err(if place.tensor == Some(name) { refusal } else { refusal.fact("the model's name", name) })
    }

    /// Whether a stored tensor has a view's values.
    fn equals(&self, id: TensorId, other: &TensorView) -> bool {
        let name = &self.checkpoint.headers().get(id).name;
        let Ok(Some(tensor)) = self.checkpoint.stored(name) else { return false };
        let columns = other.columns();
        let (mut one, mut two) = (vec![0.0; columns], vec![0.0; columns]);
        (0..other.rows()).all(|row| {
            tensor.read(row, 0..columns, &mut one);
            other.read(row, 0..columns, &mut two);
            one == two
        })
    }
}

impl WeightSource for ModelWeights<'_> {
    fn read(&self, tensor: &str) -> Option<TensorData<'_>> {
        let view = self.tensor(tensor)?;
        let values = match self.checkpoint.floats(tensor) {
            Some(floats) => Cow::Borrowed(floats),
            None => Cow::Owned(view.values().into_owned()),
        };
        Some(TensorData { shape: view.shape().to_vec(), values })
    }
}
