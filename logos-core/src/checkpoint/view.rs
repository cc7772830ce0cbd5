//! A model's tensor on the bytes of a checkpoint.

use std::borrow::Cow;
use std::ops::Range;

use super::arrange::{Arrangement, Order};
use super::decode;
use super::read::TensorRead;

/// A tensor of a [`super::Checkpoint`], as the model has it.
#[derive(Clone, Debug)]
pub struct TensorView<'c> {
    shape: Vec<usize>,
    columns: usize,
    data: Data<'c>,
    arrangement: Arrangement,
}

/// Stored elements. Their number was held to the shape when the headers were read.
#[derive(Clone, Debug)]
pub(super) enum Data<'c> {
    /// F32 where they can be used as they lie.
    Floats(&'c [f32]),
    /// Other F32.
    F32(&'c [u8]),
    F16(&'c [u8]),
    Bf16(&'c [u8]),
    Q8_0(&'c [u8]),
    /// F8_E4M3; a scale every `block` rows and columns, `across` of them a row.
    Scaled {
        values: &'c [u8],
        scales: Vec<f32>,
        block: [usize; 2],
        across: usize,
    },
    /// `[rows, out, input / 32]` blocks, read as rows of `[input, out]`.
    Mxfp4 {
        blocks: &'c [u8],
        scales: &'c [u8],
        out: usize,
        input: usize,
    },
}

impl<'c> TensorView<'c> {
    /// `shape` has as many elements as `data`, or the arrangement's part of them.
    pub(super) fn new(shape: Vec<usize>, data: Data<'c>, arrangement: Arrangement) -> Self {
        let columns = shape.get(1..).unwrap_or_default().iter().product();
        TensorView { shape, columns, data, arrangement }
    }

    /// As [`TensorRead::floats`], for as long as the checkpoint is there.
    pub fn mapped(&self) -> Option<&'c [f32]> {
        let Data::Floats(floats) = self.data else { return None };
        let elements = self.rows() * self.columns;
        let first = self.arrangement.first_row * self.columns;
        self.arrangement.is_consecutive().then(|| &floats[first..first + elements])
    }

    /// All values in row-major order, into as many floats.
    pub(super) fn fill(&self, out: &mut [f32]) {
        if self.arrangement.is_consecutive() && !matches!(self.data, Data::Scaled { .. } | Data::Mxfp4 { .. }) {
            self.stored(self.arrangement.first_row, 0, out);
        } else if self.columns > 0 {
            for (row, out) in out.chunks_exact_mut(self.columns).enumerate() {
                self.read(row, 0..self.columns, out);
            }
        }
    }

    /// Consecutive elements from a stored row and column on.
    fn stored(&self, row: usize, column: usize, out: &mut [f32]) {
        let start = row * self.columns + column;
        match &self.data {
            Data::Floats(floats) => out.copy_from_slice(&floats[start..start + out.len()]),
            Data::F32(bytes) => decode::f32s(bytes, start, out),
            Data::F16(bytes) => decode::f16s(bytes, start, out),
            Data::Bf16(bytes) => decode::bf16s(bytes, start, out),
            Data::Q8_0(bytes) => decode::q8_0s(bytes, start, out),
            Data::Scaled { values, scales, block: [high, wide], across } => {
                let scales = &scales[row / high * across..][..*across];
                decode::f8_e4m3s(&values[start..], column, scales, *wide, out);
            }
            Data::Mxfp4 { blocks, scales, out: outs, input } => {
                for (value, at) in out.iter_mut().zip(column..) {
                    let stored_row = row * outs + at % outs;
                    *value = decode::mxfp4(blocks, scales, stored_row * input + at / outs);
                }
            }
        }
    }
}

impl TensorRead for TensorView<'_> {
    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn floats(&self) -> Option<&[f32]> {
        self.mapped()
    }

    fn values(&self) -> Cow<'_, [f32]> {
        match self.mapped() {
            Some(floats) => Cow::Borrowed(floats),
            None => {
                let mut values = vec![0.0; self.rows() * self.columns];
                self.fill(&mut values);
                Cow::Owned(values)
            }
        }
    }

    fn read(&self, row: usize, columns: Range<usize>, out: &mut [f32]) {
        assert!(row < self.rows() && columns.end <= self.columns, "row {row}, columns {columns:?} of {:?}", self.shape);
        assert_eq!(out.len(), columns.len(), "room for the columns");
        let Arrangement { first_row, rows, columns: order, change } = self.arrangement;
        let row = first_row + rows.stored(row).0;
        if order == Order::AsStored {
            self.stored(row, columns.start, out);
        } else {
            let (mut column, mut rest) = (columns.start, &mut *out);
            while !rest.is_empty() {
                let (at, run) = order.stored(column);
                let (now, later) = rest.split_at_mut(run.min(rest.len()));
                self.stored(row, at, now);
                column += now.len();
                rest = later;
            }
        }
        change.undo(out);
    }
}
