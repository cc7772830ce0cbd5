//! Checkpoint tensors as stages read them: tile by tile, in place where they are stored as f32.

use std::ops::Range;
use std::sync::Arc;

use crate::checkpoint::TensorRead;
use crate::reference::Matrix;

/// A stored tensor as all firings read it, on any thread.
pub type SharedTensor = Arc<dyn TensorRead + Send + Sync>;

/// Where stored tensors come from.
pub trait TensorStore {
    /// The tensor of this name; none where there is no such tensor.
    fn open(&self, tensor: &str) -> Option<SharedTensor>;

    /// The same for one chip, which needs no more of it than its own slice.
    fn open_on(&self, chip: u32, tensor: &str) -> Option<SharedTensor> {
        let _ = chip;
        self.open(tensor)
    }

    /// Whether [`TensorStore::open_on`] gives all chips the same.
    fn is_shared(&self) -> bool {
        true
    }
}

/// What one chip holds of a weight, or of one expert's: indices of stored axis 0 in the weight's order, and of axis 1.
#[derive(Clone)]
pub(crate) struct ChipTensor {
    tensor: SharedTensor,
    /// The expert, where the stored tensor has an axis for them before the two.
    expert: Option<usize>,
    /// Stored indices of the two axes.
    stored: [usize; 2],
    /// Runs of axis 0 and of axis 1, in the weight's order.
    runs: [Vec<Range<usize>>; 2],
    /// Zeros after those of axis 0: rows of a padded vocabulary.
    zeros: usize,
    /// Whether the weight's rows are stored axis 1.
    transposed: bool,
}

impl ChipTensor {
    pub(crate) fn new(
        tensor: SharedTensor,
        expert: Option<usize>,
        stored: [usize; 2],
        (runs, zeros): ([Vec<Range<usize>>; 2], usize),
        transposed: bool,
    ) -> Self {
        ChipTensor { tensor, expert, stored, runs, zeros, transposed }
    }

    /// Indices that are stored.
    fn held(&self, axis: usize) -> usize {
        self.runs[axis].iter().map(Range::len).sum()
    }

    fn indices(&self, axis: usize) -> usize {
        self.held(axis) + if axis == 0 { self.zeros } else { 0 }
    }

    /// Rows of the weight on this chip.
    pub(crate) fn rows(&self) -> usize {
        self.indices(usize::from(self.transposed))
    }

    /// Columns of the weight on this chip.
    pub(crate) fn cols(&self) -> usize {
        self.indices(usize::from(!self.transposed))
    }

    /// A part of the weight; ranges are cut at its ends.
    pub(crate) fn tile(&self, rows: Range<usize>, cols: Range<usize>) -> WeightTile {
        let [along, across] = if self.transposed { [cols, rows] } else { [rows, cols] };
        let ChipTensor { tensor, expert, stored, transposed, .. } = self;
        let (held, all) = (self.held(0), self.indices(0));
        let zeros = along.end.min(all).saturating_sub(along.start.max(held));
        WeightTile(ChipTensor {
            tensor: tensor.clone(),
            expert: *expert,
            stored: *stored,
            runs: [cut(&self.runs[0], along), cut(&self.runs[1], across)],
            zeros,
            transposed: *transposed,
        })
    }

    /// All of it.
    pub(crate) fn matrix(&self) -> Matrix {
        WeightTile(self.clone()).matrix()
    }
}

/// The indices `part` of what runs select, as runs.
fn cut(runs: &[Range<usize>], part: Range<usize>) -> Vec<Range<usize>> {
    let (mut skip, mut left) = (part.start, part.len());
    let mut taken = Vec::new();
    for run in runs {
        if skip >= run.len() {
            skip -= run.len();
            continue;
        }
        let start = run.start + skip;
        let length = left.min(run.end - start);
        if length == 0 {
            break;
        }
        taken.push(start..start + length);
        (skip, left) = (0, left - length);
    }
    taken
}

/// A tile of a weight, read when it is used.
#[derive(Clone)]
pub(crate) struct WeightTile(ChipTensor);

impl WeightTile {
    /// Columns of the tile.
    pub(crate) fn cols(&self) -> usize {
        self.0.cols()
    }

    /// The elements of stored index `index` of axis 0, in place where they are stored as f32.
    fn elements<'a>(&'a self, index: usize, scratch: &'a mut Vec<f32>) -> &'a [f32] {
        let ChipTensor { tensor, expert, stored: [indices, length], runs: [_, columns], .. } = &self.0;
        if let (Some(all), [run]) = (tensor.floats(), &columns[..]) {
            let start = (expert.unwrap_or(0) * indices + index) * length;
            return &all[start + run.start..start + run.end];
        }
        scratch.resize(columns.iter().map(Range::len).sum(), 0.0);
        let mut rest = &mut scratch[..];
        for run in columns {
            let (out, after) = rest.split_at_mut(run.len());
            rest = after;
            match expert {
                Some(expert) => tensor.read(*expert, index * length + run.start..index * length + run.end, out),
                None => tensor.read(index, run.clone(), out),
            }
        }
        scratch
    }

    /// The same elements as BF16, where they are stored so.
    fn bf16(&self, index: usize) -> Option<&[[u8; 2]]> {
        let ChipTensor { tensor, expert, stored: [_, length], runs: [_, columns], .. } = &self.0;
        let [run] = &columns[..] else { return None };
        match expert {
            Some(expert) => tensor.bf16(*expert, index * length + run.start..index * length + run.end),
            None => tensor.bf16(index, run.clone()),
        }
    }

    /// Calls `f` with the place of each stored index in the tile, and its elements.
    fn each_index(&self, mut f: impl FnMut(usize, &[f32])) {
        let mut scratch = Vec::new();
        for (at, index) in self.0.runs[0].iter().cloned().flatten().enumerate() {
            f(at, self.elements(index, &mut scratch));
        }
    }

    /// The tile as a matrix of the weight's rows and columns.
    pub(crate) fn matrix(&self) -> Matrix {
        let (rows, cols) = (self.0.rows(), self.0.cols());
        let mut matrix = Matrix::zeros(rows, cols);
        self.each_index(|at, elements| {
            if self.0.transposed {
                for (row, &element) in elements.iter().enumerate() {
                    matrix.row_mut(row)[at] = element;
                }
            } else {
                matrix.row_mut(at).copy_from_slice(elements);
            }
        });
        matrix
    }

    /// Adds `x W` to `y`: `x: [m, rows]`, `y: [m, cols]`.
    pub(crate) fn add_product(&self, x: &Matrix, y: &mut Matrix) {
        if !self.0.transposed {
            self.each_index(|row, w| {
                for m in 0..x.rows() {
                    let factor = x.row(m)[row];
                    y.row_mut(m).iter_mut().zip(w).for_each(|(y, w)| *y += factor * w);
                }
            });
            return;
        }
        if x.rows() < super::gemm::FEWEST_ROWS {
            let mut scratch = Vec::new();
            for (column, index) in self.0.runs[0].iter().cloned().flatten().enumerate() {
                if let Some(w) = self.bf16(index) {
                    (0..x.rows()).for_each(|m| y.row_mut(m)[column] += super::gemm::dot_bf16(x.row(m), w));
                } else {
                    let w = self.elements(index, &mut scratch);
                    (0..x.rows()).for_each(|m| y.row_mut(m)[column] += super::gemm::dot(x.row(m), w));
                }
            }
            return;
        }
        // Columns of padding get nothing added.
        let blocks = super::gemm::blocks(x.rows(), self.0.rows(), self.0.held(0));
        if let [whole] = &blocks[..] {
            self.add_blocked(x, whole.clone(), y);
            return;
        }
        // Each thread has its own columns of the result, so that no sum depends on how many there are.
        let block = |columns: Range<usize>| {
            let mut block = Matrix::zeros(x.rows(), columns.len());
            self.tile(columns).add_blocked(x, 0..block.cols(), &mut block);
            block
        };
        let results: Vec<Matrix> = std::thread::scope(|scope| {
            let block = &block;
            let running: Vec<_> =
                blocks[1..].iter().map(|columns| scope.spawn(move || block(columns.clone()))).collect();
            let first = block(blocks[0].clone());
            let rest = running.into_iter().map(|running| match running.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            std::iter::once(first).chain(rest).collect()
        });
        for (columns, result) in blocks.iter().zip(&results) {
            for m in 0..x.rows() {
                let sums = &mut y.row_mut(m)[columns.clone()];
                sums.iter_mut().zip(result.row(m)).for_each(|(sum, product)| *sum += product);
            }
        }
    }

    /// Adds the product's columns `columns`, which are all of the tile's, as blocks that stay in the caches.
    fn add_blocked(&self, x: &Matrix, columns: Range<usize>, y: &mut Matrix) {
        let ChipTensor { tensor, expert, stored: [indices, length], runs: [runs, across], .. } = &self.0;
        if let (Some(all), [across]) = (tensor.floats(), &across[..]) {
            let mut first = columns.start;
            for run in runs {
                let start = (expert.unwrap_or(0) * indices + run.start) * length + across.start;
                super::gemm::add_transposed(x, &all[start..], *length, first..first + run.len(), y);
                first += run.len();
            }
            return;
        }
        let mut w = Vec::with_capacity(self.0.rows() * self.0.cols());
        self.each_index(|_, elements| w.extend_from_slice(elements));
        super::gemm::add_transposed(x, &w, self.0.rows(), columns, y);
    }

    /// Some columns of the tile.
    fn tile(&self, columns: Range<usize>) -> WeightTile {
        self.0.tile(0..usize::MAX, columns)
    }
}
