//! The matrix product, in one place.

use super::data::Matrix;
use super::tally::accumulated;

/// `x w`. Each element is summed in ascending order of the contracted index, from zero, in f32.
///
/// `x.cols() == w.rows()`. Rows of `w` are taken four at a time for all rows of `x`, so that a weight passes through the
/// caches once; that does not change the order of any sum.
pub(crate) fn matrix_product(x: &Matrix, w: &Matrix) -> Matrix {
    matrix_product_from(x, w, 0)
}

/// `x` times the rows of `w` from `first` on, as many as `x` is wide: one matrix of several that stand one below the other.
pub(crate) fn matrix_product_from(x: &Matrix, w: &Matrix, first: usize) -> Matrix {
    let (depth, cols) = (x.cols(), w.cols());
    let mut y = Matrix::zeros(x.rows(), cols);
    let mut k = 0;
    while k + 4 <= depth {
        let at = first + k;
        let (w0, w1, w2, w3) = (w.row(at), w.row(at + 1), w.row(at + 2), w.row(at + 3));
        for row in 0..x.rows() {
            let &[x0, x1, x2, x3] = x.row(row)[k..].first_chunk().expect("a row of x is as wide as w is high");
            let y = &mut y.row_mut(row)[..cols];
            let mut n = 0;
            // An indexed loop: unoptimised builds, which tests are, pay for every call an iterator makes.
            while n < cols {
                y[n] = y[n] + x0 * w0[n] + x1 * w1[n] + x2 * w2[n] + x3 * w3[n];
                n += 1;
            }
            accumulated(4 * n);
        }
        k += 4;
    }
    while k < depth {
        let wk = w.row(first + k);
        for row in 0..x.rows() {
            let xk = x.row(row)[k];
            for (y, w) in y.row_mut(row).iter_mut().zip(wk) {
                *y += xk * w;
            }
            accumulated(wk.len());
        }
        k += 1;
    }
    y
}
