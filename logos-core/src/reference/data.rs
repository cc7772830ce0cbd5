//! What a chip holds of a value.

use std::sync::Arc;

/// A matrix in row-major order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    cols: usize,
    data: Vec<f32>,
}

impl Matrix {
    /// A matrix of these elements, row by row; none where they are not whole rows.
    pub fn new(cols: usize, data: Vec<f32>) -> Option<Self> {
        (cols > 0 && data.len().is_multiple_of(cols)).then_some(Matrix { cols, data })
    }

    /// `rows by cols` zeros. `cols` is above 0, as it is of every value of a checked program.
    /// Its first columns, at most so many.
    pub(crate) fn left(self, cols: usize) -> Self {
        if cols >= self.cols {
            return self;
        }
        let rows = (0..self.rows()).flat_map(|row| self.row(row)[..cols].iter().copied());
        Matrix { cols, data: rows.collect() }
    }

    pub(crate) fn zeros(rows: usize, cols: usize) -> Self {
        Matrix { cols, data: vec![0.0; rows * cols] }
    }

    /// A matrix of `self`'s width.
    pub(crate) fn with_data(&self, data: Vec<f32>) -> Self {
        Matrix { cols: self.cols, data }
    }

    /// Adds rows of another matrix of the same width below; one without rows takes that width.
    pub(crate) fn append(&mut self, below: Matrix) {
        if self.data.is_empty() {
            *self = below;
        } else {
            debug_assert_eq!(self.cols, below.cols);
            self.data.extend(below.data);
        }
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.data.len() / self.cols.max(1)
    }

    /// Columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// A row.
    pub fn row(&self, row: usize) -> &[f32] {
        &self.data[row * self.cols..(row + 1) * self.cols]
    }

    pub(crate) fn row_mut(&mut self, row: usize) -> &mut [f32] {
        &mut self.data[row * self.cols..(row + 1) * self.cols]
    }

    /// The elements, row by row.
    pub fn data(&self) -> &[f32] {
        &self.data
    }

    pub(crate) fn data_mut(&mut self) -> &mut [f32] {
        &mut self.data
    }
}

/// A chip's share of a value that a statement reads or binds.
#[derive(Clone, Debug)]
pub(crate) enum Data {
    /// Of Real. Shared where chips hold the same elements for the same reason.
    Real(Arc<Matrix>),
    /// Of Int, one a row.
    Int(Arc<[u32]>),
}

/// A chip's share of a state: one tensor a sequence, zero until written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct State {
    rows: usize,
    cols: usize,
    /// Of each sequence the rows up to the last one written: a cache takes the memory of the positions it has seen, not of
    /// the context it is declared for.
    seqs: Vec<Vec<f32>>,
}

impl State {
    pub(crate) fn new(seqs: usize, rows: usize, cols: usize) -> Self {
        State { rows, cols, seqs: vec![Vec::new(); seqs] }
    }

    /// Sequences.
    pub(crate) fn seqs(&self) -> usize {
        self.seqs.len()
    }

    /// Rows of a sequence.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// A row that has been written.
    pub(crate) fn row(&self, seq: usize, row: usize) -> &[f32] {
        &self.seqs[seq][row * self.cols..(row + 1) * self.cols]
    }

    /// Writes the row of a position: a state of fewer rows than there are positions is a ring of the last ones.
    pub(crate) fn append(&mut self, seq: usize, position: usize, values: &[f32]) {
        let start = position % self.rows * self.cols;
        let data = &mut self.seqs[seq];
        if data.len() < start + self.cols {
            data.resize(start + self.cols, 0.0);
        }
        data[start..start + self.cols].copy_from_slice(values);
    }

    /// All rows of a sequence.
    pub(crate) fn sequence_mut(&mut self, seq: usize) -> &mut [f32] {
        let data = &mut self.seqs[seq];
        data.resize(self.rows * self.cols, 0.0);
        data
    }

    /// Rows of a sequence that have been written, `rows` of them at most, as a matrix.
    #[cfg(any(test, feature = "simulate"))]
    pub(crate) fn written(&self, seq: usize, rows: std::ops::Range<usize>) -> Matrix {
        let data = &self.seqs[seq];
        let end = (rows.end * self.cols).min(data.len());
        let start = (rows.start * self.cols).min(end);
        Matrix { cols: self.cols, data: data[start..end].to_vec() }
    }

    /// Writes columns of the row of a position.
    #[cfg(any(test, feature = "simulate"))]
    pub(crate) fn append_columns(&mut self, seq: usize, position: usize, column: usize, values: &[f32]) {
        let start = position % self.rows * self.cols;
        let data = &mut self.seqs[seq];
        if data.len() < start + self.cols {
            data.resize(start + self.cols, 0.0);
        }
        data[start + column..start + column + values.len()].copy_from_slice(values);
    }

    /// Columns of every sequence.
    #[cfg(any(test, feature = "simulate"))]
    pub(crate) fn columns(&mut self, columns: std::ops::Range<usize>) -> State {
        let mut tile = State::new(self.seqs(), self.rows, columns.len());
        for seq in 0..self.seqs() {
            let cols = self.cols;
            let own = self.sequence_mut(seq);
            tile.seqs[seq] = own.chunks_exact(cols).flat_map(|row| &row[columns.clone()]).copied().collect();
        }
        tile
    }

    /// Replaces the columns from `start` on of every sequence.
    #[cfg(any(test, feature = "simulate"))]
    pub(crate) fn put_columns(&mut self, start: usize, tile: &State) {
        let cols = self.cols;
        for (seq, theirs) in tile.seqs.iter().enumerate() {
            for (row, theirs) in self.sequence_mut(seq).chunks_exact_mut(cols).zip(theirs.chunks_exact(tile.cols)) {
                row[start..start + tile.cols].copy_from_slice(theirs);
            }
        }
    }

    /// One sequence.
    #[cfg(any(test, feature = "simulate"))]
    pub(crate) fn sequence(&self, seq: usize) -> State {
        State { rows: self.rows, cols: self.cols, seqs: vec![self.seqs[seq].clone()] }
    }

    /// One sequence, which is zero here until it is given back.
    #[cfg(any(test, feature = "simulate"))]
    pub(crate) fn take_sequence(&mut self, seq: usize) -> State {
        State { rows: self.rows, cols: self.cols, seqs: vec![std::mem::take(&mut self.seqs[seq])] }
    }

    /// Gives a sequence back.
    #[cfg(any(test, feature = "simulate"))]
    pub(crate) fn give_sequence(&mut self, seq: usize, mut from: State) {
        self.seqs[seq] = std::mem::take(&mut from.seqs[0]);
    }

    /// Replaces one sequence by the first of another state.
    #[cfg(any(test, feature = "simulate"))]
    pub(crate) fn put_sequence(&mut self, seq: usize, from: &State) {
        self.seqs[seq].clone_from(&from.seqs[0]);
    }

    /// Back to zero.
    pub(crate) fn clear(&mut self, seq: usize) {
        self.seqs[seq].clear();
    }

    /// Whether a sequence of one is a sequence of the other.
    pub(crate) fn is_like(&self, other: &State) -> bool {
        (self.rows, self.cols) == (other.rows, other.cols)
    }

    /// Takes a sequence from a state that is like this one.
    pub(crate) fn adopt(&mut self, seq: usize, from: &State, from_seq: usize) {
        self.seqs[seq].clone_from(&from.seqs[from_seq]);
    }
}

/// Maps every group of `width` neighbouring elements of a row: a head, or the whole row. `width` divides the columns.
pub(crate) fn each_group(x: &Matrix, width: usize, mut f: impl FnMut(&[f32], &mut [f32])) -> Matrix {
    let mut y = Matrix::zeros(x.rows(), x.cols());
    for (x, y) in x.data().chunks_exact(width).zip(y.data_mut().chunks_exact_mut(width)) {
        f(x, y);
    }
    y
}

/// Matrices of equal rows, side by side in order.
pub(crate) fn beside(shares: &[&Matrix]) -> Matrix {
    let cols = shares.iter().map(|share| share.cols()).sum();
    let rows = shares.first().map_or(0, |share| share.rows());
    let data = (0..rows).flat_map(|row| shares.iter().flat_map(move |share| share.row(row))).copied().collect();
    Matrix { cols, data }
}
