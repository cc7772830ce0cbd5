//! Products in f32. With few rows each weight is used once and a dot product is as fast as memory; with more, blocks
//! of weights are used again from the cache.

use std::ops::Range;

use crate::reference::Matrix;

/// Rows from which a blocked product is worth its packing.
pub(super) const FEWEST_ROWS: usize = 4;
/// Partial sums of a dot product, added up in order at the end.
const LANES: usize = 16;

/// `Σ a[i]·b[i]`, in 16 partial sums.
pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let (mut a, mut b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let mut sums = [0.0f32; LANES];
    for (a, b) in a.by_ref().zip(b.by_ref()) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest = a.remainder().iter().zip(b.remainder()).fold(0.0, |sum, (a, b)| sum + a * b);
    sums.iter().sum::<f32>() + rest
}

/// Adds `x Wᵀ` to the columns `columns` of `y`; row `n` of `W` is `w[n * stride..][..x.cols()]`.
#[cfg(feature = "simulate")]
pub(super) fn add_transposed(x: &Matrix, w: &[f32], stride: usize, columns: Range<usize>, y: &mut Matrix) {
    let (m, k, n) = (x.rows(), x.cols(), columns.len());
    let width = y.cols();
    assert!(columns.end <= width && y.rows() == m, "a product's result has room for it");
    assert!(n == 0 || w.len() >= (n - 1) * stride + k, "the weight has all rows of the product");
    let y = &mut y.data_mut()[columns.start..];
    // SAFETY: the asserts above bound every element that the strides reach: x is m by k with stride k, w holds n rows of k
    // with the given stride, and y holds m rows of `width` elements from the first column on, of which n are written.
    unsafe {
        matrixmultiply::sgemm(
            m,
            k,
            n,
            1.0,
            x.data().as_ptr(),
            k as isize,
            1,
            w.as_ptr(),
            1,
            stride as isize,
            1.0,
            y.as_mut_ptr(),
            width as isize,
            1,
        );
    }
}

/// Adds `x Wᵀ` to the columns `columns` of `y`; row `n` of `W` is `w[n * stride..][..x.cols()]`.
#[cfg(not(feature = "simulate"))]
pub(super) fn add_transposed(x: &Matrix, w: &[f32], stride: usize, columns: Range<usize>, y: &mut Matrix) {
    for m in 0..x.rows() {
        for (n, column) in columns.clone().enumerate() {
            let w = &w[n * stride..][..x.cols()];
            y.row_mut(m)[column] += dot(x.row(m), w);
        }
    }
}
