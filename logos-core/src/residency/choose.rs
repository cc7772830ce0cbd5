//! Which of several things go into a memory that does not hold them all: the most worth, exactly.

/// A thing that goes in whole or not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Item {
    /// Bytes it takes.
    pub(super) bytes: u64,
    /// Bytes a step that the memory saves when it holds the thing.
    pub(super) worth: u64,
}

/// Nodes of the search after which the best choice so far is taken. A model has a handful of things to choose from; a
/// hostile one of thousands gets a choice that fits, not the best.
///
/// Source: ours; thousands of times what any released model needs.
const MOST_NODES: u32 = 1 << 16;

/// The choice of most worth that takes at most `room` bytes; of equals, the one of fewest bytes; of these, the one that
/// takes earlier items. One flag an item.
pub(super) fn choose(items: &[Item], room: u64) -> Vec<bool> {
    // Most worth a byte first: then what is left can be bounded by filling the room with fractions.
    let mut order: Vec<usize> = (0..items.len()).filter(|&i| items[i].bytes <= room && items[i].worth > 0).collect();
    order.sort_by(|&a, &b| {
        let (one, other) = (&items[a], &items[b]);
        let density = |this: &Item, that: &Item| u128::from(this.worth) * u128::from(that.bytes.max(1));
        density(other, one).cmp(&density(one, other)).then(a.cmp(&b))
    });
    let sorted: Vec<Item> = order.iter().map(|&i| items[i]).collect();
    let mut search = Search { items: &sorted, best: Choice::default(), taken: Vec::new(), nodes: MOST_NODES };
    search.visit(0, room, 0);
    let mut chosen = vec![false; items.len()];
    for at in search.best.taken {
        chosen[order[at]] = true;
    }
    chosen
}

/// The most bytes of things that go in whole that `room` bytes hold together.
pub(crate) fn fullest(bytes: &[u64], room: u64) -> u64 {
    let items: Vec<Item> = bytes.iter().map(|&bytes| Item { bytes, worth: bytes }).collect();
    let chosen = choose(&items, room);
    bytes.iter().zip(chosen).filter(|(_, chosen)| *chosen).map(|(bytes, _)| bytes).sum()
}

#[derive(Default)]
struct Choice {
    worth: u128,
    bytes: u64,
    taken: Vec<usize>,
}

struct Search<'a> {
    items: &'a [Item],
    best: Choice,
    taken: Vec<usize>,
    nodes: u32,
}

impl Search<'_> {
    /// Depth first from the `at`th item, taking it before leaving it.
    fn visit(&mut self, at: usize, room: u64, worth: u128) {
        let bytes: u64 = self.taken.iter().map(|&i| self.items[i].bytes).sum();
        if worth > self.best.worth || (worth == self.best.worth && bytes < self.best.bytes) {
            self.best = Choice { worth, bytes, taken: self.taken.clone() };
        }
        let Some(item) = self.items.get(at) else { return };
        if self.nodes == 0 || worth + self.most(at, room) < self.best.worth {
            return;
        }
        self.nodes -= 1;
        if item.bytes <= room {
            self.taken.push(at);
            self.visit(at + 1, room - item.bytes, worth + u128::from(item.worth));
            self.taken.pop();
        }
        self.visit(at + 1, room, worth);
    }

    /// No choice among the items from `at` on is worth more in this room: whole ones as they come, and a part of the next.
    fn most(&self, at: usize, mut room: u64) -> u128 {
        let mut worth = 0;
        for item in &self.items[at..] {
            if item.bytes > room {
                return worth + (u128::from(item.worth) * u128::from(room)).div_ceil(u128::from(item.bytes.max(1)));
            }
            room -= item.bytes;
            worth += u128::from(item.worth);
        }
        worth
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item((bytes, worth): (u64, u64)) -> Item {
        Item { bytes, worth }
    }

    fn sums(items: &[Item], chosen: &[bool]) -> (u64, u64) {
        let taken = items.iter().zip(chosen).filter(|(_, chosen)| **chosen);
        taken.fold((0, 0), |(worth, bytes), (item, _)| (worth + item.worth, bytes + item.bytes))
    }

    #[test]
    fn density_alone_is_not_the_best_choice() {
        let items = [(6, 12), (5, 9), (5, 9)].map(item);
        assert_eq!(choose(&items, 10), [false, true, true]);
        assert_eq!(choose(&items, 11), [true, true, false]);
        assert_eq!(choose(&items, 4), [false; 3]);
        assert_eq!(choose(&[], 4), [false; 0]);
    }

    #[test]
    fn no_subset_is_worth_more() {
        // Small numbers, so that sums meet the room and each other.
        let mut seed = 1u64;
        let mut next = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        for _ in 0..400 {
            let items: Vec<Item> = (0..next(9)).map(|_| item((next(12), next(12)))).collect();
            let room = next(50);
            let (worth, bytes) = sums(&items, &choose(&items, room));
            assert!(bytes <= room);
            for set in 0u32..1 << items.len() {
                let flags: Vec<bool> = (0..items.len()).map(|i| set >> i & 1 == 1).collect();
                let (other, takes) = sums(&items, &flags);
                assert!(takes > room || other < worth || (other == worth && takes >= bytes), "{items:?} in {room}");
            }
        }
    }

    #[test]
    fn a_thousand_equal_things_are_chosen_from_in_time() {
        let items = vec![item((7, 3)); 1000];
        assert_eq!(sums(&items, &choose(&items, 700)), (300, 700));
    }
}
