//! From indices of a model's tensor to bytes of the stored ones.

use std::ops::Range;
use std::vec::Vec;

use super::{Order, Parts, Place, Ranges, Stored};

/// Inputs that share a scale of MXFP4.
const MXFP4: u64 = 32;

/// Indices that are taken of a tensor.
pub(super) struct Taken<'t> {
    /// Where experts are an axis before the two: those taken.
    pub(super) experts: Option<Range<u64>>,
    /// Of axis 0.
    pub(super) rows: &'t [Range<u64>],
    /// Of axis 1.
    pub(super) columns: &'t [Range<u64>],
    /// Length of axis 1, further ones folded in.
    pub(super) width: u64,
}

/// Elements of values and of scales.
#[derive(Default)]
struct Elements {
    values: Ranges,
    scales: Ranges,
}

impl Taken<'_> {
    /// The bytes that hold them, for each place; of blocks that are taken in part, the whole. None where there would be more of them than
    /// 64 bits count.
    pub(super) fn ranges(&self, stored: &Stored) -> Option<Vec<Ranges>> {
        let mut elements = Elements::default();
        match (self.experts.clone(), stored.parts) {
            (Some(experts), Parts::Mxfp4 { .. }) => self.mxfp4(experts, stored, &mut elements),
            (None, _) => {
                for rows in self.rows {
                    self.rows(stored, rows.clone(), self.columns, &mut elements);
                }
            }
            // Of an expert's matrix, rows and columns are folded into one axis.
            (Some(experts), Parts::Plain(_) | Parts::Scaled { .. }) => {
                let width = self.width;
                let mut columns = Ranges::default();
                for row in self.rows.iter().cloned().flatten() {
                    columns.extend(self.columns.iter().map(|run| row * width + run.start..row * width + run.end));
                }
                self.rows(stored, experts, columns.as_slice(), &mut elements);
            }
        }
        let Elements { values, scales } = elements;
        stored.parts.places().zip([values, scales]).map(|(place, taken)| bytes(place, taken)).collect()
    }

    /// Some columns of some rows.
    fn rows(&self, stored: &Stored, rows: Range<u64>, columns: &[Range<u64>], out: &mut Elements) {
        let width = stored.shape.get(1..).unwrap_or_default().iter().product::<u64>();
        let as_stored = stored.rows == Order::AsStored && stored.columns == Order::AsStored;
        if let (Parts::Plain(_), true, [all]) = (stored.parts, as_stored, columns)
            && *all == (0..width)
        {
            let first = |row: u64| row.saturating_add(stored.first_row).saturating_mul(width);
            out.values.add(first(rows.start)..first(rows.end));
            return;
        }
        for row in rows {
            let row = stored.first_row.saturating_add(stored.rows.stored(row as usize).0 as u64);
            for columns in columns {
                let mut at = columns.start;
                while at < columns.end {
                    let (first, run) = match stored.columns {
                        Order::AsStored => (at, u64::MAX),
                        order => {
                            let (first, run) = order.stored(at as usize);
                            (first as u64, run as u64)
                        }
                    };
                    let length = run.min(columns.end - at);
                    columns_of(stored, row, width, first..first + length, out);
                    at += length;
                }
            }
        }
    }

    /// Inputs lie together, of one output after another: a run of them is a run of bytes.
    fn mxfp4(&self, experts: Range<u64>, stored: &Stored, out: &mut Elements) {
        let [input, outputs] = [1, 2].map(|axis| stored.shape.get(axis).copied().unwrap_or(0));
        let lines = |expert: u64| self.columns.iter().cloned().flatten().map(move |output| expert * outputs + output);
        for line in experts.flat_map(lines) {
            for inputs in self.rows {
                // Two a byte.
                let (bytes, blocks) = (line * (input / 2), line * (input / MXFP4));
                out.values.add(bytes + inputs.start / 2..bytes + inputs.end.div_ceil(2));
                out.scales.add(blocks + inputs.start / MXFP4..blocks + inputs.end.div_ceil(MXFP4));
            }
        }
    }
}

/// Columns of a stored row, as elements of the stored tensors.
fn columns_of(stored: &Stored, row: u64, width: u64, columns: Range<u64>, out: &mut Elements) {
    let line = row.saturating_mul(width);
    let values = line.saturating_add(columns.start)..line.saturating_add(columns.end);
    match stored.parts {
        Parts::Plain(_) => out.values.add(values),
        Parts::Scaled { block: [high, wide], .. } => {
            let (high, wide) = (high.max(1), wide.max(1));
            out.values.add(values);
            let first = (row / high).saturating_mul(width.div_ceil(wide));
            let end = first.saturating_add(columns.end.div_ceil(wide));
            out.scales.add(first.saturating_add(columns.start / wide)..end);
        }
        Parts::Mxfp4 { .. } => {
            // `[experts, out, input / 2]` bytes, seen as `[experts, input, out]`: a column is an input and an output.
            let [input, outputs] = [1, 2].map(|axis| stored.shape.get(axis).copied().unwrap_or(1).max(1));
            for column in columns {
                let (from, to) = (column / outputs, column % outputs);
                let line = row.saturating_mul(outputs).saturating_add(to);
                let byte = line.saturating_mul(input / 2).saturating_add(from / 2);
                out.values.add(byte..byte.saturating_add(1));
                let scale = line.saturating_mul(input / MXFP4).saturating_add(from / MXFP4);
                out.scales.add(scale..scale.saturating_add(1));
            }
        }
    }
}

/// The bytes of a place that hold some of its elements.
fn bytes(place: Place, taken: Ranges) -> Option<Ranges> {
    let Place { offset, block_bytes, .. } = place;
    let size = place.block_elements.max(1);
    let byte = |block: u64| block.checked_mul(block_bytes)?.checked_add(offset);
    let mut ranges = Ranges::default();
    for elements in taken.merged().as_slice() {
        ranges.add(byte(elements.start / size)?..byte(elements.end.div_ceil(size))?);
    }
    Some(ranges.merged())
}
