//! A model's tensor on the bytes of a checkpoint.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::arrange::{Arrangement, Change, Order};
use super::decode;
use super::open::FileBytes;
use super::read::TensorRead;

/// A tensor of a [`super::Checkpoint`], as the model has it. Keeps the file open that it is in.
#[derive(Clone, Debug)]
pub struct TensorView {
    shape: Vec<usize>,
    columns: usize,
    data: Data,
    arrangement: Arrangement,
}

/// A part of a file.
#[derive(Clone, Debug)]
pub(super) struct Stretch {
    file: Arc<FileBytes>,
    range: Range<usize>,
}

impl Stretch {
    /// `range` is inside the file.
    pub(super) fn new(file: Arc<FileBytes>, range: Range<usize>) -> Self {
        Stretch { file, range }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.file.as_slice()[self.range.clone()]
    }

    /// F32 as they lie, where their place in memory and the order of their bytes are this machine's.
    pub(super) fn floats(&self) -> Option<&[f32]> {
        bytemuck::try_cast_slice(self.bytes()).ok().filter(|_| cfg!(target_endian = "little"))
    }
}

/// Stored elements. Their number was held to the shape when the headers were read.
#[derive(Clone, Debug)]
pub(super) enum Data {
    F32(Stretch),
    F16(Stretch),
    Bf16(Stretch),
    Q8_0(Stretch),
    /// F8_E4M3; a scale every `block` rows and columns, `across` of them a row.
    Scaled {
        values: Stretch,
        scales: Arc<[f32]>,
        block: [usize; 2],
        across: usize,
    },
    /// `[rows, out, input / 32]` blocks, read as rows of `[input, out]`.
    Mxfp4 {
        blocks: Stretch,
        scales: Stretch,
        out: usize,
        input: usize,
    },
}

impl TensorView {
    /// `shape` has as many elements as `data`, or the arrangement's part of them.
    pub(super) fn new(shape: Vec<usize>, data: Data, arrangement: Arrangement) -> Self {
        let columns = shape.get(1..).unwrap_or_default().iter().product();
        TensorView { shape, columns, data, arrangement }
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
            Data::F32(stretch) => match stretch.floats() {
                Some(floats) => out.copy_from_slice(&floats[start..start + out.len()]),
                None => decode::f32s(stretch.bytes(), start, out),
            },
            Data::F16(stretch) => decode::f16s(stretch.bytes(), start, out),
            Data::Bf16(stretch) => decode::bf16s(stretch.bytes(), start, out),
            Data::Q8_0(stretch) => decode::q8_0s(stretch.bytes(), start, out),
            Data::Scaled { values, scales, block: [high, wide], across } => {
                let scales = &scales[row / high * across..][..*across];
                decode::f8_e4m3s(&values.bytes()[start..], column, scales, *wide, out);
            }
            Data::Mxfp4 { blocks, scales, out: outs, input } => {
                let (blocks, scales) = (blocks.bytes(), scales.bytes());
                let (mut from, mut to) = (column / outs.max(&1), column % outs.max(&1));
                for value in out {
                    *value = decode::mxfp4(blocks, scales, (row * outs + to) * input + from);
                    to += 1;
                    if to == *outs {
                        (from, to) = (from + 1, 0);
                    }
                }
            }
        }
    }
}

impl TensorRead for TensorView {
    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn floats(&self) -> Option<&[f32]> {
        let Data::F32(stretch) = &self.data else { return None };
        let first = self.arrangement.first_row * self.columns;
        let elements = self.rows() * self.columns;
        stretch.floats().filter(|_| self.arrangement.is_consecutive()).map(|floats| &floats[first..first + elements])
    }

    fn values(&self) -> Cow<'_, [f32]> {
        match self.floats() {
            Some(floats) => Cow::Borrowed(floats),
            None => {
                let mut values = vec![0.0; self.rows() * self.columns];
                self.fill(&mut values);
                Cow::Owned(values)
            }
        }
    }

    fn bf16(&self, row: usize, columns: Range<usize>) -> Option<&[[u8; 2]]> {
        let Data::Bf16(stretch) = &self.data else { return None };
        let Arrangement { first_row, rows, columns: order, change } = self.arrangement;
        if order != Order::AsStored || change != Change::None {
            return None;
        }
        let start = (first_row + rows.stored(row).0) * self.columns;
        stretch.bytes().as_chunks().0.get(start + columns.start..start + columns.end)
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
