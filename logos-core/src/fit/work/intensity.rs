//! Multiply-accumulates a byte, exact.

use std::fmt;

/// Multiply-accumulates a byte of off-chip memory: the exact quotient of two integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intensity {
    /// Multiply-accumulates.
    pub macs: u64,
    /// Bytes.
    pub bytes: u64,
}

/// A shown intensity is in hundredths.
///
/// Source: ours; two digits tell any two layers of a model apart that differ by a percent.
const HUNDREDTHS: u128 = 100;

impl Intensity {
    /// In hundredths, halves rounded up; 0 where nothing is moved.
    pub fn hundredths(&self) -> u64 {
        let (macs, bytes) = (u128::from(self.macs), u128::from(self.bytes));
        let rounded = (2 * macs * HUNDREDTHS + bytes).checked_div(2 * bytes).unwrap_or_default();
        u64::try_from(rounded).unwrap_or(u64::MAX)
    }

    /// Rounded to hundredths.
    pub fn rounded(&self) -> f64 {
        self.hundredths() as f64 / HUNDREDTHS as f64
    }
}

/// `0.99`, `512.00`.
impl fmt::Display for Intensity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hundredths = u128::from(self.hundredths());
        write!(f, "{}.{:02}", hundredths / HUNDREDTHS, hundredths % HUNDREDTHS)
    }
}
