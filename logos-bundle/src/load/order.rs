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
    /// Whether it has so many indices, each stored at one of them.
    #[must_use]
    pub fn permutes(self, indices: u64) -> bool {
        let whole = |head: Option<usize>| {
            head.and_then(|head| u64::try_from(head).ok()).is_some_and(|head| head > 0 && indices.is_multiple_of(head))
        };
        match self {
            Order::AsStored => true,
            Order::Interleaved { half } => whole(half.checked_mul(2)),
            Order::Tiled { start, run, groups, repeat } => {
                let tiled = run.checked_mul(groups).and_then(|heads| heads.checked_mul(repeat));
                let all = tiled.filter(|&tiled| tiled > 0).and_then(|tiled| tiled.checked_add(start));
                all.and_then(|all| u64::try_from(all).ok()) == Some(indices)
            }
        }
    }

    /// Where an index of those that it [permutes](Order::permutes) is stored, and how many from it on are stored consecutively (at least 1).
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
    fn an_order_is_one_of_as_many_indices() {
        let orders = [
            Order::Interleaved { half: 3 },
            Order::Tiled { start: 2, run: 2, groups: 2, repeat: 3 },
            Order::Tiled { start: 0, run: 3, groups: 4, repeat: 1 },
        ];
        for (order, count) in orders.into_iter().zip([12, 14, 12]) {
            let mut all = stored(order, count);
            all.sort_unstable();
            assert!(all.into_iter().eq(0..count) && order.permutes(count as u64) && !order.permutes(count as u64 + 1));
        }
        assert!(Order::AsStored.permutes(u64::MAX));
        let none = [0, 1 << (usize::BITS - 1), usize::MAX];
        assert!(none.iter().all(|&half| !Order::Interleaved { half }.permutes(12)));
        for n in none {
            assert!(!Order::Tiled { start: 12, run: n, groups: 3, repeat: 2 }.permutes(12), "{n}");
            assert!(!Order::Tiled { start: n, run: 2, groups: 3, repeat: 2 }.permutes(13), "{n}");
        }
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
