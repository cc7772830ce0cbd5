//! Element by element, whether a tensor is taken by as many chips as hold it: of blocks, whose bytes several chips read on purpose, bytes
//! do not tell.

use std::collections::BTreeMap;
use std::ops::Range;

/// Rows and columns that a chip takes for one load.
struct Taking {
    copies: u32,
    /// The experts, rows and columns, where experts are an axis of their own; 0 to 1 of them else.
    axes: [Vec<Range<u64>>; 3],
}

/// What chips take of a model's tensor.
#[derive(Default)]
pub(super) struct Takings(BTreeMap<u32, Vec<Taking>>);

/// Chips that take some elements, and that should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Uneven {
    pub(super) chips: u32,
    pub(super) expected: u32,
}

impl Takings {
    /// A chip takes these; `copies` chips should take the same.
    pub(super) fn add(&mut self, chip: u32, copies: u32, axes: [&[Range<u64>]; 3]) {
        self.0.entry(chip).or_default().push(Taking { copies, axes: axes.map(<[_]>::to_vec) });
    }

    /// The first elements, if any, that are taken by another number of chips than hold them; those that no load takes are not looked at.
    pub(super) fn uneven(&self) -> Option<Uneven> {
        // Between two neighbouring ends of ranges all indices of an axis are alike.
        let ends: [Vec<u64>; 3] = std::array::from_fn(|axis| {
            let ranges = self.0.values().flatten().flat_map(|taking| &taking.axes[axis]);
            let mut ends: Vec<u64> = ranges.flat_map(|range| [range.start, range.end]).collect();
            ends.sort_unstable();
            ends.dedup();
            ends
        });
        let place = |axis: usize, range: &Range<u64>| {
            let at = |index: u64| ends[axis].partition_point(|&end| end < index);
            at(range.start)..at(range.end)
        };
        let size = |axis: usize| ends[axis].len();
        let cells = size(0) * size(1) * size(2);
        let (mut chips, mut expected) = (vec![0u32; cells], vec![0u32; cells]);
        for takings in self.0.values() {
            let mut own = vec![false; cells];
            for Taking { copies, axes } in takings {
                for expert in axes[0].iter().flat_map(|range| place(0, range)) {
                    for row in axes[1].iter().flat_map(|range| place(1, range)) {
                        let line = (expert * size(1) + row) * size(2);
                        for column in axes[2].iter().flat_map(|range| place(2, range)) {
                            own[line + column] = true;
                            expected[line + column] = expected[line + column].max(*copies);
                        }
                    }
                }
            }
            chips.iter_mut().zip(own).for_each(|(chips, own)| *chips += u32::from(own));
        }
        let differs = chips.into_iter().zip(expected).find(|(chips, expected)| chips != expected);
        differs.map(|(chips, expected)| Uneven { chips, expected })
    }
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::*;

    fn of(takings: &[(u32, u32, Range<u64>, Range<u64>)]) -> Option<Uneven> {
        let mut all = Takings::default();
        for (chip, copies, rows, columns) in takings.iter().cloned() {
            all.add(chip, copies, [0..1, rows, columns].each_ref().map(from_ref));
        }
        all.uneven()
    }

    #[test]
    fn halves_groups_and_wholes() {
        assert_eq!(of(&[(0, 1, 0..24, 0..8), (1, 1, 24..48, 0..8)]), None);
        // Two chips a half, and a tensor that a chip takes for two of its values.
        let groups = [(0, 2, 0..4, 0..8), (1, 2, 0..4, 0..8), (2, 2, 4..8, 0..8), (3, 2, 4..8, 0..8)];
        assert_eq!(of(&groups), None);
        assert_eq!(of(&[(0, 1, 0..8, 0..4), (0, 1, 0..8, 0..4), (1, 1, 0..8, 4..8)]), None);
    }

    #[test]
    fn elements_of_too_many_and_of_too_few() {
        let found = |chips, expected| Some(Uneven { chips, expected });
        // All of it to every chip, one row too many, one column, and a copy that is missing.
        assert_eq!(of(&[(0, 1, 0..48, 0..8), (1, 1, 0..48, 0..8)]), found(2, 1));
        assert_eq!(of(&[(0, 1, 0..25, 0..8), (1, 1, 24..48, 0..8)]), found(2, 1));
        assert_eq!(of(&[(0, 1, 0..48, 0..5), (1, 1, 0..48, 4..8)]), found(2, 1));
        assert_eq!(of(&[(0, 2, 0..48, 0..8), (1, 2, 0..40, 0..8)]), found(1, 2));
    }

    #[test]
    fn runs_and_experts() {
        let runs = |offset: u64| (0..4).map(|head| head * 8 + offset..head * 8 + offset + 4).collect::<Vec<_>>();
        let mut both = Takings::default();
        for (chip, rows) in (0..).zip([runs(0), runs(4)]) {
            both.add(chip, 1, [from_ref(&(0..4)), &rows, from_ref(&(0..16))]);
        }
        assert_eq!(both.uneven(), None);
        both.add(1, 1, [3..4, 8..9, 2..3].each_ref().map(from_ref));
        assert_eq!(both.uneven(), Some(Uneven { chips: 2, expected: 1 }));
    }
}
