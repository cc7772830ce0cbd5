//! Coordinates in whole tenths, so that a page is the same bytes everywhere, and paths of rectangles.

use std::fmt::{self, Display, Write};

/// A length in tenths of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Tenths(pub(super) i64);

impl Tenths {
    /// So many whole units.
    pub(super) const fn of(units: u32) -> Tenths {
        Tenths(units as i64 * 10)
    }

    /// `part` of `whole`, as a share of so many units; nothing of nothing.
    pub(super) fn share(part: u64, whole: u64, units: u32) -> Tenths {
        let tenths = u128::from(part) * u128::from(units) * 10;
        let share = tenths.checked_div(u128::from(whole)).unwrap_or(0);
        Tenths(i64::try_from(share).unwrap_or(i64::MAX))
    }

    pub(super) const fn plus(self, other: Tenths) -> Tenths {
        Tenths(self.0.saturating_add(other.0))
    }

    pub(super) const fn minus(self, other: Tenths) -> Tenths {
        Tenths(self.0.saturating_sub(other.0))
    }
}

/// `12`, `12.5`, `-0.3`.
impl Display for Tenths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, all) = (if self.0 < 0 { "-" } else { "" }, self.0.unsigned_abs());
        match all % 10 {
            0 => write!(f, "{sign}{}", all / 10),
            tenth => write!(f, "{sign}{}.{tenth}", all / 10),
        }
    }
}

/// Rectangles as one path.
#[derive(Default)]
pub(super) struct Rectangles(String);

impl Rectangles {
    pub(super) fn add(&mut self, x: Tenths, y: Tenths, width: Tenths, height: Tenths) {
        // Writing to a string does not fail.
        let _ = write!(self.0, "M{x} {y}h{width}v{height}h-{width}z");
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Display for Rectangles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Bits of a logarithm's fraction.
const FRACTION: u32 = 16;

/// The logarithm to base 2 of a quotient, in 65,536ths, by squaring: no two machines differ. [`None`] of nothing, and by nothing.
pub(super) fn log2(numerator: u64, denominator: u64) -> Option<i64> {
    Some(log2_of(numerator)? - log2_of(denominator)?)
}

fn log2_of(n: u64) -> Option<i64> {
    let whole = n.checked_ilog2()?;
    // The mantissa, from 1 to 2, with 63 bits of fraction.
    let mut mantissa = u128::from(n) << (63 - whole);
    let mut log = i64::from(whole);
    for _ in 0..FRACTION {
        mantissa = (mantissa * mantissa) >> 63;
        let bit = mantissa >> 64;
        mantissa >>= bit;
        log = log * 2 + bit as i64;
    }
    Some(log)
}

#[cfg(test)]
mod tests {
    use super::{Rectangles, Tenths, log2};

    #[test]
    fn lengths_are_in_tenths() {
        assert_eq!(Tenths::share(1, 3, 100).to_string(), "33.3");
        assert_eq!(Tenths::share(u64::MAX, u64::MAX, 900), Tenths::of(900));
        assert_eq!(Tenths::share(7, 0, 900).to_string(), "0");
        assert_eq!(Tenths(-3).to_string(), "-0.3");
        let mut path = Rectangles::default();
        path.add(Tenths(5), Tenths::of(1), Tenths(25), Tenths::of(2));
        assert_eq!(path.to_string(), "M0.5 1h2.5v2h-2.5z");
    }

    #[test]
    fn logarithms_are_those_of_floats() {
        for (n, d) in [(1, 1), (8, 1), (1, 4), (10, 1), (3, 7), (u64::MAX, 3), (1_000_000_007, 998_244_353)] {
            let exact = ((n as f64).log2() - (d as f64).log2()) * 65_536.0;
            let found = log2(n, d).expect("positive");
            assert!((found as f64 - exact).abs() <= 1.5, "{n}/{d}: {found} is not {exact}");
        }
        assert_eq!((log2(0, 1), log2(1, 0)), (None, None));
    }
}
