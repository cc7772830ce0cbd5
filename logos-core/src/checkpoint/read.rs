//! Reading a tensor's values.

use std::borrow::Cow;
use std::ops::Range;

/// A tensor whose values can be read, whatever stores them. Axis 0 counts rows; the other axes, flattened in row-major order, count
/// columns (one where there are none).
pub trait TensorRead {
    /// Axes, outermost first.
    fn shape(&self) -> &[usize];

    /// All values in row-major order, where they lie in memory as f32 already.
    fn floats(&self) -> Option<&[f32]>;

    /// The values of a range of columns of a row, widened to f32.
    ///
    /// # Panics
    /// Where row or columns are not of the tensor, or `out` is not as long as `columns`.
    fn read(&self, row: usize, columns: Range<usize>, out: &mut [f32]);

    /// The same values as the little-endian BF16 they are stored as, where they lie side by side so.
    fn bf16(&self, row: usize, columns: Range<usize>) -> Option<&[[u8; 2]]> {
        let _ = (row, columns);
        None
    }

    /// Rows.
    fn rows(&self) -> usize {
        self.shape().first().copied().unwrap_or(1)
    }

    /// Columns.
    fn columns(&self) -> usize {
        self.shape().get(1..).unwrap_or_default().iter().product()
    }

    /// All values in row-major order.
    fn values(&self) -> Cow<'_, [f32]> {
        if let Some(floats) = self.floats() {
            return Cow::Borrowed(floats);
        }
        let columns = self.columns();
        let mut values = vec![0.0; self.rows() * columns];
        if columns > 0 {
            for (row, out) in values.chunks_exact_mut(columns).enumerate() {
                self.read(row, 0..columns, out);
            }
        }
        Cow::Owned(values)
    }

    /// The first value that is infinite or no number, with its row and column. Reads all of them.
    fn not_finite(&self) -> Option<([usize; 2], f32)> {
        let columns = self.columns();
        if columns == 0 {
            return None;
        }
        let first = |values: &[f32]| values.iter().position(|value| !value.is_finite());
        if let Some(floats) = self.floats() {
            return first(floats).map(|at| ([at / columns, at % columns], floats[at]));
        }
        let mut buffer = vec![0.0; columns];
        (0..self.rows()).find_map(|row| {
            self.read(row, 0..columns, &mut buffer);
            first(&buffer).map(|column| ([row, column], buffer[column]))
        })
    }
}
