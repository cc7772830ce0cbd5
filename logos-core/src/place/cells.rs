//! How many cells each stage gets: the smallest scale of the budgets for which every stage's need fits the mesh.
//!
//! A stage's need within a time never grows with that time, and the budgets never shrink with the scale, so the sum
//! of needs is monotone in the scale and a binary search over integers finds the least scale exactly.

use crate::chip::UnitModel;
use crate::spatial::{Edge, Flow, Recurrence, Stage};

use super::PlaceError;

/// The scale's denominator.
const SHARE: u64 = 1 << 20;
/// Beyond this scale no budget is tried: the range of times the rules allow.
const LARGEST: u64 = 1 << 40;

/// The time a stage may take for its firings of an iteration, at each scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Its part of the scale, in units of 2⁻²⁰.
    pub share: u64,
    /// Cycles within which it is soon enough whatever the scale, as what it reads takes longer to come.
    pub least: u64,
    /// Of a stage that takes tokens as others make them, the part of the scale within which all its firings together are soon enough: each adds
    /// to the time from the first token to the last.
    pub soon: Option<u64>,
}

impl Budget {
    /// All of the scale: one time for every stage.
    pub const WHOLE: Budget = Budget { share: SHARE, least: 0, soon: None };
}

/// Splits every computing stage over cells.
///
/// `budgets` has one for each stage.
///
/// # Errors
/// [`PlaceError::Cells`] where not even the longest times leave few enough cells.
pub fn allocate(unit: &UnitModel, stages: &mut [Stage], edges: &[Edge], budgets: &[Budget]) -> Result<(), PlaceError> {
    let cells = u64::from(unit.cells);
    let moved = stages.iter().filter(|s| s.primitive.moves_bytes()).count() as u64;
    let traffic = stream_bytes(stages, edges);
    let needs: Vec<Need> = stages
        .iter()
        .enumerate()
        .filter(|(_, s)| !s.primitive.moves_bytes())
        .map(|(i, s)| Need::of(unit, i, s, traffic[i], budgets[i]))
        .collect();
    let fewest = moved + needs.len() as u64;
    if fewest > cells {
        return Err(PlaceError::Cells { needed: fewest, cells });
    }
    let free = cells - moved;
    let total = |scale: u64| -> Option<u64> {
        let mut sum = 0;
        for need in &needs {
            let (na, nb) = need.within(unit, stages, scale)?;
            sum += na * nb;
            if sum > free {
                return None;
            }
        }
        Some(sum)
    };
    let mut high = 64;
    while total(high).is_none() {
        high *= 4;
        if high > LARGEST {
            return Err(PlaceError::Range);
        }
    }
    let mut low = high / 4;
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if total(middle).is_some() { high = middle } else { low = middle }
    }
    for need in &needs {
        let split = need.within(unit, stages, high).ok_or(PlaceError::Range)?;
        let ii = initiation_interval(unit, &stages[need.stage], split, traffic[need.stage]);
        let stage = &mut stages[need.stage];
        stage.split = split;
        stage.ii = ii;
    }
    Ok(())
}

/// The largest number of bytes a firing of each stage streams through one edge.
pub(crate) fn stream_bytes(stages: &[Stage], edges: &[Edge]) -> Vec<u64> {
    let mut bytes = vec![0; stages.len()];
    for edge in edges {
        if let Flow::Stream { p, q } = edge.flow {
            let (from, to) = (edge.from.index(), edge.to.index());
            bytes[from] = bytes[from].max(p * edge.slot_bytes);
            bytes[to] = bytes[to].max(q * edge.slot_bytes);
        }
    }
    bytes
}

/// What an initiation interval is the largest of, cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The work of a firing on one cell.
    pub resource: u64,
    /// The value that a firing carries to the next.
    pub recurrence: u64,
    /// The bytes that a firing moves through the cells' scratchpads.
    pub memory: u64,
}

impl Terms {
    /// Of a computing stage under a split (RULES.md section 4), `traffic` its bytes a firing.
    pub fn of(unit: &UnitModel, stage: &Stage, (na, nb): (u64, u64), traffic: u64) -> Terms {
        let (a, b) = (stage.work.a.div_ceil(na), stage.work.b.div_ceil(nb));
        Terms {
            resource: stage.work.base * a * b,
            recurrence: recurrence(unit, stage.recurrence, a, b, nb),
            memory: traffic.div_ceil(na * nb * u64::from(unit.scratchpad_rate)),
        }
    }

    /// The interval.
    pub fn interval(self) -> u64 {
        self.resource.max(self.recurrence).max(self.memory).max(1)
    }
}

/// Initiation interval of a computing stage under a split (RULES.md section 4), `traffic` its bytes a firing.
pub fn initiation_interval(unit: &UnitModel, stage: &Stage, split: (u64, u64), traffic: u64) -> u64 {
    Terms::of(unit, stage, split, traffic).interval()
}

/// Cycles that one firing's carried value takes.
pub(crate) fn recurrence(unit: &UnitModel, kind: Recurrence, a: u64, b: u64, nb: u64) -> u64 {
    match kind {
        Recurrence::None => 0,
        Recurrence::Cycles(cycles) => u64::from(cycles),
        Recurrence::DeltaRows => {
            let tree = u64::from(unit.depth) + u64::from(unit.tree) * ceil_log2(nb) + if nb > 1 { 8 } else { 0 };
            2 * b * a + 2 * tree
        }
    }
}

/// The least `e` with `2^e >= n`.
pub(crate) const fn ceil_log2(n: u64) -> u64 {
    if n <= 1 { 0 } else { (u64::BITS - (n - 1).leading_zeros()) as u64 }
}

/// What one stage needs within a time.
struct Need {
    stage: usize,
    budget: Budget,
    traffic: u64,
    /// Distinct units a cell of the shorter axis, ascending.
    per_cell: Vec<u64>,
    /// Whether that axis is A.
    over_a: bool,
}

impl Need {
    fn of(unit: &UnitModel, index: usize, stage: &Stage, traffic: u64, budget: Budget) -> Self {
        let over_a = stage.work.a <= stage.work.b;
        let short = if over_a { stage.work.a } else { stage.work.b };
        Need { stage: index, budget, traffic, per_cell: quotients(short, u64::from(unit.cells)), over_a }
    }

    /// An initiation interval that a sixteenth of each axis a cell reaches: what is to be soon is not to be sooner.
    fn fastest(&self, stage: &Stage) -> u64 {
        let carried = match stage.recurrence {
            Recurrence::Cycles(cycles) => u64::from(cycles),
            Recurrence::None | Recurrence::DeltaRows => 1,
        };
        (stage.work.base * stage.work.a.div_ceil(16) * stage.work.b.div_ceil(16)).max(carried).max(1)
    }

    /// The split with the fewest cells whose firings of an iteration take no longer than the budget; none if no split does.
    fn within(&self, unit: &UnitModel, stages: &[Stage], scale: u64) -> Option<(u64, u64)> {
        let stage = &stages[self.stage];
        let part = |share: u64| (u128::from(scale) * u128::from(share) / u128::from(SHARE)) as u64;
        let time = part(self.budget.share).max(self.budget.least);
        let time =
            time.min(self.budget.soon.map_or(u64::MAX, |soon| part(soon).max(stage.firings * self.fastest(stage))));
        let ii = time / stage.firings;
        if ii == 0 {
            return None;
        }
        let (short, long) = if self.over_a { (stage.work.a, stage.work.b) } else { (stage.work.b, stage.work.a) };
        let cells_for_traffic = self.traffic.div_ceil(ii * u64::from(unit.scratchpad_rate)).max(1);
        let mut best: Option<(u64, (u64, u64))> = None;
        for &short_units in &self.per_cell {
            let budget = ii / (stage.work.base.max(1) * short_units);
            if budget == 0 {
                break;
            }
            let short_cells = short.div_ceil(short_units);
            if best.is_some_and(|(cells, _)| short_cells >= cells) {
                continue;
            }
            let at_least = cells_for_traffic.div_ceil(short_cells);
            let Some(long_cells) = self.longest(unit, stage, ii, (short_units, short_cells), long, budget, at_least)
            else {
                continue;
            };
            let cells = short_cells * long_cells;
            if best.is_none_or(|(fewest, _)| cells < fewest) {
                let split = if self.over_a { (short_cells, long_cells) } else { (long_cells, short_cells) };
                best = Some((cells, split));
            }
        }
        best.map(|(_, split)| split)
    }

    /// Fewest canonical cells over the longer axis with at most `budget` units each, at least `at_least` cells, and a
    /// recurrence within `ii`.
    #[expect(clippy::too_many_arguments, reason = "one caller; the numbers of one inner loop")]
    fn longest(
        &self,
        unit: &UnitModel,
        stage: &Stage,
        ii: u64,
        (short_units, short_cells): (u64, u64),
        long: u64,
        budget: u64,
        at_least: u64,
    ) -> Option<u64> {
        let mut units = budget.min(long);
        loop {
            let mut cells = long.div_ceil(units);
            if cells < at_least {
                // The next finer canonical split that is fine enough.
                units = if at_least > long { return None } else { long.div_ceil(at_least) };
                cells = long.div_ceil(units);
                if cells < at_least {
                    if units == 1 {
                        return None;
                    }
                    units -= 1;
                    continue;
                }
            }
            units = long.div_ceil(cells);
            if stage.recurrence == Recurrence::None {
                return Some(cells);
            }
            let (a, b, nb) = if self.over_a { (short_units, units, cells) } else { (units, short_units, short_cells) };
            if recurrence(unit, stage.recurrence, a, b, nb) <= ii {
                return Some(cells);
            }
            if units == 1 {
                return None;
            }
            units -= 1;
        }
    }
}

/// The distinct values of `⌈n/k⌉` for `k` up to `most`, ascending: about `2·√n` of them.
fn quotients(n: u64, most: u64) -> Vec<u64> {
    let mut values = Vec::new();
    let mut k = 1;
    while k <= n.min(most) {
        let value = n.div_ceil(k);
        values.push(value);
        if value == 1 {
            break;
        }
        // The least k whose quotient is smaller.
        k = n.div_ceil(value - 1);
    }
    values.reverse();
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_are_all_and_only_the_distinct_ones() {
        for n in 1..400u64 {
            let mut want: Vec<u64> = (1..=n).map(|k| n.div_ceil(k)).collect();
            want.dedup();
            want.reverse();
            assert_eq!(quotients(n, 10_000), want, "{n}");
        }
    }

    #[test]
    fn logarithms_round_up() {
        let want = [0, 0, 1, 2, 2, 3, 3, 3, 3, 4];
        for (n, want) in want.into_iter().enumerate() {
            assert_eq!(ceil_log2(n as u64), want, "{n}");
        }
    }
}
