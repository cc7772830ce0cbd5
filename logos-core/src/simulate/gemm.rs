//! Products in f32. With few rows each weight is used once and a dot product is as fast as memory; with more, blocks
//! of weights are used again from the cache.

use std::ops::Range;

use crate::reference::Matrix;

/// Rows from which a blocked product is worth its packing.
pub(super) const FEWEST_ROWS: usize = 4;
/// Partial sums of a dot product, added up in order at the end.
const LANES: usize = 16;

/// Multiplications that are worth a thread of their own: about a millisecond of one core.
const WORTH_A_THREAD: usize = 1 << 24;

/// The columns of an `m` by `k` by `n` product, in a block a thread.
pub(super) fn blocks(m: usize, k: usize, n: usize) -> Vec<Range<usize>> {
    let work = m.saturating_mul(k).saturating_mul(n);
    let most = (work / WORTH_A_THREAD).clamp(1, n.max(1));
    let threads = if most == 1 { 1 } else { std::thread::available_parallelism().map_or(1, usize::from).min(most) };
    let block = n.div_ceil(threads).max(1);
    // One block even of no column, none empty beside others.
    (0..n.div_ceil(block).max(1)).map(|at| (at * block).min(n)..((at + 1) * block).min(n)).collect()
}

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

/// The same of little-endian BF16, widened on the way: a weight that is used once need not be stored as f32 in between.
pub(super) fn dot_bf16(a: &[f32], b: &[[u8; 2]]) -> f32 {
    let widened = |b: &[u8; 2]| f32::from_bits(u32::from(u16::from_le_bytes(*b)) << 16);
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sums = [0.0f32; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * widened(&b[lane]);
        }
    }
    let rest = a_rest.iter().zip(b_rest).fold(0.0, |sum, (a, b)| sum + a * widened(b));
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

#[cfg(test)]
mod tests {
    use super::{blocks, dot, dot_bf16};

    #[test]
    fn bf16_is_widened_exactly() {
        let a: Vec<f32> = (0..37).map(|i| i as f32 - 18.0).collect();
        let b: Vec<f32> = (0..37).map(|i| [0.0, -1.5, 3.0e-30, 1.0e30, -0.0078125][i % 5]).collect();
        let bits: Vec<[u8; 2]> = b.iter().map(|b| ((b.to_bits() >> 16) as u16).to_le_bytes()).collect();
        let b: Vec<f32> = b.iter().map(|b| f32::from_bits(b.to_bits() & 0xffff_0000)).collect();
        assert_eq!(dot_bf16(&a, &bits), dot(&a, &b));
    }

    #[test]
    fn blocks_are_all_columns_in_order() {
        for (m, k, n) in [(1, 640, 85), (128, 640, 2048), (4096, 4096, 5), (64, 1 << 20, 67), (4, 0, 0), (9, 7, 1)] {
            let blocks = blocks(m, k, n);
            assert_eq!((blocks[0].start, blocks[blocks.len() - 1].end), (0, n));
            assert!(blocks.windows(2).all(|pair| pair[0].end == pair[1].start && !pair[1].is_empty()), "{blocks:?}");
        }
        assert_eq!(blocks(1, 640, 85).len(), 1, "a small product stays on its thread");
    }
}
