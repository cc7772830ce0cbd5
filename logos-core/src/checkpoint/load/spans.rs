//! From indices of a model's tensor to bytes of the stored ones.

use std::ops::Range;

use super::Bytes;
use crate::checkpoint::arrange::Order;
use crate::checkpoint::headers::TensorId;
use crate::checkpoint::open::Checkpoint;
use crate::checkpoint::resolve::{Parts, Resolved};

/// Indices that are taken of a tensor.
pub(super) struct Taken<'t> {
    /// Where experts are an axis before the two: all of them are taken.
    pub(super) experts: Option<u64>,
    /// Of axis 0.
    pub(super) rows: &'t [Range<u64>],
    /// Of axis 1.
    pub(super) columns: &'t [Range<u64>],
    /// Length of axis 1, further ones folded in.
    pub(super) width: u64,
}

impl Taken<'_> {
    /// The bytes that hold them; of blocks that are taken in part, the whole. Sizes are those of the headers, which were held to their
    /// files, and of a shape that was held to the headers: no product of them leaves 64 bits.
    pub(super) fn bytes(&self, checkpoint: &Checkpoint, resolved: &Resolved) -> Vec<Bytes> {
        let arrangement = &resolved.arrangement;
        let columns = resolved.shape.get(1..).unwrap_or_default().iter().product::<u64>();
        let mut values = Ranges::default();
        let mut scales = Ranges::default();
        let mut each = |row: u64, column: Range<u64>| {
            let row = arrangement.first_row as u64 + arrangement.rows.stored(row as usize).0 as u64;
            let mut at = column.start;
            while at < column.end {
                let (stored, run) = match arrangement.columns {
                    Order::AsStored => (at, u64::MAX),
                    order => {
                        let (stored, run) = order.stored(at as usize);
                        (stored as u64, run as u64)
                    }
                };
                let length = run.min(column.end - at);
                self.stored(resolved, row, columns, stored..stored + length, &mut values, &mut scales);
                at += length;
            }
        };
        match self.experts {
            // Inputs lie together, of one output after another: a run of them is a run of bytes.
            Some(experts) if matches!(resolved.parts, Parts::Mxfp4 { .. }) => {
                let [input, out] = [1, 2].map(|axis| resolved.shape.get(axis).copied().unwrap_or(0));
                for line in (0..experts).flat_map(|e| self.columns.iter().cloned().flatten().map(move |o| e * out + o))
                {
                    for inputs in self.rows {
                        let (bytes, blocks) = (line * (input / 2), line * (input / 32));
                        values.add(bytes + inputs.start / 2..bytes + inputs.end.div_ceil(2));
                        scales.add(blocks + inputs.start / 32..blocks + inputs.end.div_ceil(32));
                    }
                }
            }
            None => self.rows.iter().cloned().flatten().for_each(|row| {
                self.columns.iter().for_each(|columns| each(row, columns.clone()));
            }),
            // Of an expert's matrix, rows and columns are folded into one axis.
            Some(experts) => (0..experts).for_each(|expert| {
                for row in self.rows.iter().cloned().flatten() {
                    for columns in self.columns {
                        each(expert, row * self.width + columns.start..row * self.width + columns.end);
                    }
                }
            }),
        }
        let mut parts = Vec::with_capacity(2);
        let mut push = |tensor: TensorId, taken: Ranges| {
            let (start, storage) = (checkpoint.extent(tensor).start, checkpoint.headers().get(tensor).storage);
            let (size, bytes) = (storage.block_elements(), storage.block_bytes());
            let mut ranges = Ranges::default();
            for elements in taken.merged() {
                ranges.add(start + elements.start / size * bytes..start + elements.end.div_ceil(size) * bytes);
            }
            parts.push(Bytes { tensor, file: checkpoint.headers().file_of(tensor), ranges: ranges.merged() });
        };
        match resolved.parts {
            Parts::Plain(id) => push(id, values),
            Parts::Scaled { values: id, scales: beside, .. } | Parts::Mxfp4 { blocks: id, scales: beside } => {
                push(id, values);
                push(beside, scales);
            }
        }
        parts
    }

    /// Columns of a stored row, as elements of the stored tensors.
    fn stored(
        &self,
        resolved: &Resolved,
        row: u64,
        width: u64,
        columns: Range<u64>,
        values: &mut Ranges,
        scales: &mut Ranges,
    ) {
        match resolved.parts {
            Parts::Plain(_) => values.add(row * width + columns.start..row * width + columns.end),
            Parts::Scaled { block: [high, wide], .. } => {
                values.add(row * width + columns.start..row * width + columns.end);
                let across = width.div_ceil(wide);
                let first = row / high * across;
                scales.add(first + columns.start / wide..first + columns.end.div_ceil(wide));
            }
            Parts::Mxfp4 { .. } => {
                // `[experts, out, input / 2]` bytes, seen as `[experts, input, out]`: a column is an input and an output.
                let [input, out] = [1, 2].map(|axis| resolved.shape.get(axis).copied().unwrap_or(1).max(1));
                for column in columns {
                    let (from, to) = (column / out, column % out);
                    let line = row * out + to;
                    let byte = line * (input / 2) + from / 2;
                    values.add(byte..byte + 1);
                    let scale = line * (input / 32) + from / 32;
                    scales.add(scale..scale + 1);
                }
            }
        }
    }
}

/// Ranges as they come, joined where one begins in or at the end of the one before.
#[derive(Default)]
pub(super) struct Ranges(Vec<Range<u64>>);

impl Ranges {
    pub(super) fn add(&mut self, range: Range<u64>) {
        match self.0.last_mut() {
            Some(last) if last.start <= range.start && range.start <= last.end => last.end = last.end.max(range.end),
            Some(_) | None if range.is_empty() => {}
            Some(_) | None => self.0.push(range),
        }
    }

    /// Ascending, none touching another.
    pub(super) fn merged(mut self) -> Vec<Range<u64>> {
        self.0.sort_unstable_by_key(|range| range.start);
        let mut merged = Ranges(Vec::with_capacity(self.0.len()));
        self.0.into_iter().for_each(|range| merged.add(range));
        merged.0
    }
}

#[cfg(test)]
mod tests {
    use super::Ranges;

    #[test]
    fn ranges_that_touch_are_one() {
        let mut ranges = Ranges::default();
        for range in [8..10, 10..12, 0..2, 4..4, 3..5, 1..3, 20..21] {
            ranges.add(range);
        }
        assert_eq!(ranges.merged(), [0..5, 8..12, 20..21]);
    }
}
