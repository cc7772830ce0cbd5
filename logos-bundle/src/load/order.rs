//! Where an axis's indices are stored.

/// Where each index of an axis is stored: safetensors has them as they are, GGUF reorders some for its own kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// At itself.
    #[default]
    AsStored,
    /// Heads of `2 * half` whose two halves are interleaved: `m` and `half + m` are stored at `2m` and `2m + 1`.
    Interleaved {
        /// Half of a head.
        half: usize,
    },
    /// From `start` on, runs of `run` a value head: head `g * repeat + r` of the model is stored as head `r * groups + g`.
    Tiled {
        /// The first index that is not stored at itself.
        start: usize,
        /// Indices of a head.
        run: usize,
        /// Key heads.
        groups: usize,
        /// Value heads a key head.
        repeat: usize,
    },
}

impl Order {
    /// Where an index is stored, and how many from it on are stored consecutively (at least 1).
    #[must_use]
    pub fn stored(self, index: usize) -> (usize, usize) {
        match self {
            Order::AsStored => (index, usize::MAX - index),
            Order::Interleaved { half } => {
                let half = half.max(1);
                let (head, within) = (index / (2 * half), index % (2 * half));
                (head * 2 * half + within % half * 2 + within / half, 1)
            }
            Order::Tiled { start, .. } if index < start => (index, start - index),
            Order::Tiled { start, run, groups, repeat } => {
                let (run, repeat) = (run.max(1), repeat.max(1));
                let (head, within) = ((index - start) / run, (index - start) % run);
                (start + (head % repeat * groups + head / repeat) * run + within, run - within)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::Order;

    fn stored(order: Order, count: usize) -> Vec<usize> {
        (0..count).map(|index| order.stored(index).0).collect()
    }

    #[test]
    fn halves_interleave_within_each_head() {
        let order = Order::Interleaved { half: 3 };
        assert_eq!(stored(order, 12), [0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11]);
    }

    #[test]
    fn value_heads_are_tiled_after_what_is_not() {
        // Two key heads of three value heads of two rows each, after two rows that stay.
        let order = Order::Tiled { start: 2, run: 2, groups: 2, repeat: 3 };
        // Model heads 0..6 are stored as 0, 2, 4, 1, 3, 5.
        assert_eq!(stored(order, 14), [0, 1, 2, 3, 6, 7, 10, 11, 4, 5, 8, 9, 12, 13]);
    }

    #[test]
    fn runs_are_consecutive_and_end_where_they_say() {
        let orders = [
            Order::AsStored,
            Order::Interleaved { half: 4 },
            Order::Tiled { start: 0, run: 3, groups: 4, repeat: 2 },
            Order::Tiled { start: 5, run: 4, groups: 2, repeat: 3 },
        ];
        for order in orders {
            for index in 0..24 {
                let (first, run) = order.stored(index);
                for step in 0..run.min(24 - index) {
                    assert_eq!(order.stored(index + step).0, first + step, "{order:?} at {index} + {step}");
                }
            }
        }
    }
}
