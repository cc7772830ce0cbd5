//! Checkpoint tensors, and the parts of them that chips hold.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::data::Matrix;
use super::error::LoadError;
use crate::author::Load;
use crate::shard::Slice;
use crate::spec::Tensor;

/// A checkpoint tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorData<'a> {
    /// Stored shape, outermost first.
    pub shape: Vec<usize>,
    /// Values in row-major order.
    pub values: Cow<'a, [f32]>,
}

/// Where checkpoint tensors come from.
pub trait WeightSource {
    /// The tensor of this name, its values widened to f32; none where there is no such tensor.
    fn read(&self, tensor: &str) -> Option<TensorData<'_>>;
}

/// The shares of a checkpoint's tensors that chips hold. Each is cut once, however many chips, layers and sessions hold it.
pub struct Shards<'s> {
    source: &'s dyn WeightSource,
    cut: BTreeMap<Key, Arc<Matrix>>,
}

/// Tensor, whether transposed, range of experts, ranges of axis 0 and of axis 1, zeros after them.
type Key = (String, bool, [u32; 2], Vec<[u64; 2]>, Vec<[u64; 2]>, u64);

impl<'s> Shards<'s> {
    /// Of a checkpoint.
    pub fn new(source: &'s dyn WeightSource) -> Self {
        Shards { source, cut: BTreeMap::new() }
    }

    /// A chip's part of a tensor, `stored` as the specification has it; of experts one below the other.
    pub(super) fn share(&mut self, stored: &Tensor, load: &Load) -> Result<Arc<Matrix>, LoadError> {
        let ranges = |axis: &[std::ops::Range<u64>]| axis.iter().map(|range| [range.start, range.end]).collect();
        let Slice { axis0, axis1, zeros } = &load.slice;
        let experts = [load.copies.start, load.copies.end];
        let key = (load.tensor.clone(), load.transposed, experts, ranges(axis0), ranges(axis1), *zeros);
        if let Some(matrix) = self.cut.get(&key) {
            return Ok(matrix.clone());
        }
        let mut matrix = Matrix::default();
        if load.bank.is_some_and(|bank| bank.stacked) {
            let data = self.tensor(stored, &load.tensor)?;
            let each = data.shape[1..].iter().product::<usize>().max(1);
            for expert in data.values.chunks_exact(each).take(load.copies.end as usize).skip(load.copies.start as usize)
            {
                matrix.append(cut(&data.shape[1..], expert, load));
            }
        } else {
            for expert in load.copies.clone() {
                let data = self.tensor(stored, &load.tensor_of(expert))?;
                matrix.append(cut(&data.shape, &data.values, load));
            }
        }
        let matrix = Arc::new(matrix);
        self.cut.insert(key, matrix.clone());
        Ok(matrix)
    }

    /// A whole tensor of the shape the specification has for it.
    pub(super) fn tensor(&self, stored: &Tensor, name: &str) -> Result<TensorData<'s>, LoadError> {
        let tensor = || name.to_owned();
        let Some(data) = self.source.read(name) else {
            return Err(LoadError::Missing { tensor: tensor(), expected: stored.shape.clone() });
        };
        let alike = data.shape.len() == stored.shape.len()
            && data.shape.iter().zip(&stored.shape).all(|(&found, &expected)| found as u64 == u64::from(expected));
        if !alike {
            return Err(LoadError::Shape { tensor: tensor(), expected: stored.shape.clone(), found: data.shape });
        }
        let count = stored.shape.iter().try_fold(1u64, |n, &len| n.checked_mul(u64::from(len)));
        let found = data.values.len();
        if count != Some(found as u64) {
            return Err(LoadError::Values { tensor: tensor(), expected: count.unwrap_or(u64::MAX), found });
        }
        match data.values.iter().position(|value| !value.is_finite()) {
            Some(index) => Err(LoadError::NotFinite { tensor: tensor(), index, found: data.values[index] }),
            None => Ok(data),
        }
    }
}

/// Cuts a slice that lies inside the tensor, as [`crate::shard::slice`] makes them.
fn cut(shape: &[usize], values: &[f32], load: &Load) -> Matrix {
    let inner: usize = shape.get(1..).unwrap_or_default().iter().product();
    let flat = |axis: &[std::ops::Range<u64>]| -> Vec<usize> {
        axis.iter().flat_map(|range| range.start as usize..range.end as usize).collect()
    };
    let columns = flat(&load.slice.axis1);
    // A weight that has zeros after what it loads has them along axis 0: rows of a padded vocabulary.
    let nothing = vec![0.0; if load.slice.zeros > 0 { inner } else { 0 }];
    let stored = flat(&load.slice.axis0).into_iter().map(|index| &values[index * inner..][..inner]);
    let taken: Vec<&[f32]> = stored.chain((0..load.slice.zeros).map(|_| &nothing[..])).collect();
    if load.transposed {
        let mut matrix = Matrix::zeros(columns.len(), taken.len());
        for (row, column) in columns.into_iter().enumerate() {
            for (element, values) in matrix.row_mut(row).iter_mut().zip(&taken) {
                *element = values[column];
            }
        }
        matrix
    } else {
        let mut matrix = Matrix::zeros(taken.len(), columns.len());
        for (row, values) in taken.into_iter().enumerate() {
            for (element, &column) in matrix.row_mut(row).iter_mut().zip(&columns) {
                *element = values[column];
            }
        }
        matrix
    }
}
