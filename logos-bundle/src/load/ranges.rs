//! Ranges of a file.

use std::ops::Range;
use std::vec::Vec;

/// Ranges of numbers: of bytes of a file, ascending and none touching another, where a [`super::Load`] gives them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges(Vec<Range<u64>>);

impl Ranges {
    /// Adds one, joined with the one before where it begins in or at the end of that.
    pub fn add(&mut self, range: Range<u64>) {
        match self.0.last_mut() {
            Some(last) if last.start <= range.start && range.start <= last.end => last.end = last.end.max(range.end),
            Some(_) | None if range.is_empty() => {}
            Some(_) | None => self.0.push(range),
        }
    }

    /// The same numbers ascending, no range touching another.
    #[must_use]
    pub fn merged(mut self) -> Ranges {
        if self.0.windows(2).all(|pair| pair[0].end < pair[1].start) {
            return self;
        }
        self.0.sort_unstable_by_key(|range| range.start);
        let mut merged = Ranges(Vec::with_capacity(self.0.len()));
        self.0.into_iter().for_each(|range| merged.add(range));
        merged
    }

    /// How many numbers, each counted as often as it is there.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.iter().map(|range| range.end - range.start).sum()
    }

    /// The ranges.
    #[must_use]
    pub fn as_slice(&self) -> &[Range<u64>] {
        &self.0
    }

    /// The ranges.
    #[must_use]
    pub fn into_vec(self) -> Vec<Range<u64>> {
        self.0
    }
}

impl Extend<Range<u64>> for Ranges {
    fn extend<T: IntoIterator<Item = Range<u64>>>(&mut self, ranges: T) {
        ranges.into_iter().for_each(|range| self.add(range));
    }
}

#[cfg(test)]
mod tests {
    use super::Ranges;

    #[test]
    fn ranges_that_touch_are_one() {
        let mut ranges = Ranges::default();
        ranges.extend([8..10, 10..12, 0..2, 4..4, 3..5, 1..3, 20..21]);
        assert_eq!(ranges.count(), 11);
        let merged = ranges.merged();
        assert_eq!(merged.as_slice(), [0..5, 8..12, 20..21]);
        assert_eq!(merged.clone().merged(), merged);
    }
}
