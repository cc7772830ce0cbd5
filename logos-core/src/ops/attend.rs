//! What the attentions share: which rows a row sees, and the tiles of context that their stages pass on.

use std::ops::Range;

use crate::language::ast::{Shape, Storage, Value, ValueId};
use crate::lower::{LowerError, Net, Slot, Want, storage_bytes};
use crate::reference::{Matrix, State};
use crate::spatial::{Emission, Primitive, Recurrence, StageId, Work};

/// What the rows of a step see of the cache as it was and of each other.
pub(super) struct Sight<'a> {
    tokens: usize,
    positions: Option<&'a [u32]>,
    cached: Option<usize>,
}

/// What one row sees: of its sequence the positions in the cache, then fresh rows.
pub(super) struct Seen {
    sequence: usize,
    cached: Range<usize>,
    fresh: Range<usize>,
}

impl<'a> Sight<'a> {
    /// Of `rows` fresh rows at these positions (stateless: each at its own index), behind this cache.
    pub(super) fn new(rows: usize, positions: Option<&'a [u32]>, cache: Option<&State>) -> Self {
        let tokens = rows / cache.map_or(1, State::seqs);
        Sight { tokens, positions, cached: cache.map(State::rows) }
    }

    /// The position of a row.
    pub(super) fn position(&self, row: usize) -> usize {
        self.positions.map_or(row, |positions| positions[row] as usize)
    }

    /// What `row` sees from position `first` on.
    pub(super) fn of(&self, row: usize, first: usize) -> Seen {
        let sequence = row / self.tokens;
        let start = sequence * self.tokens;
        // A cache of fewer rows than positions is a ring: it holds the last ones before the step.
        let cached = self.cached.map_or(0..0, |rows| {
            let before = self.position(start);
            first.max(before.saturating_sub(rows))..before
        });
        // Positions ascend within a sequence, so what is not seen comes first.
        let hidden = (start..=row).take_while(|&fresh| self.position(fresh) < first).count();
        Seen { sequence, cached, fresh: start + hidden..row + 1 }
    }
}

/// What all rows of a step see that ends at a position of every sequence.
pub(super) struct Reach {
    sequences: u32,
    /// Rows of a sequence.
    tokens: u64,
    /// Positions before the step.
    before: u64,
    /// Positions that a row sees at most.
    window: Option<u32>,
    /// Positions of a chunk, the only one that a row of it sees.
    chunk: Option<u32>,
}

impl Reach {
    /// Of the rows of `q` behind `cache`, the last of a sequence at position `ctx - 1`. Without a cache the first stands at 0.
    pub(super) fn new(q: &Value, cache: Option<&Value>, ctx: u32, (window, chunk): (Option<u32>, Option<u32>)) -> Self {
        let sequences = cache.map_or(1, |cache| cache.shape.seqs.max(1));
        let tokens = u64::from(q.shape.rows / sequences);
        let before = if cache.is_some() { u64::from(ctx).saturating_sub(tokens) } else { 0 };
        Reach { sequences, tokens, before, window, chunk }
    }

    /// Pairs of a row and a position that it sees, itself included; none if they leave 64 bits.
    pub(super) fn seen(&self) -> Option<u64> {
        let end = self.before.checked_add(self.tokens)?;
        let a_sequence = self.seen_below(end)?.checked_sub(self.seen_below(self.before)?)?;
        a_sequence.checked_mul(u64::from(self.sequences))
    }

    /// The same for the rows of a sequence at the positions below `end`.
    fn seen_below(&self, end: u64) -> Option<u64> {
        let window = self.window.map_or(u64::MAX, u64::from);
        // Of the first rows of a chunk each sees one more than the one before, until a window is full.
        let of_chunk = |rows: u64| -> Option<u64> {
            let growing = rows.min(window);
            let triangle = u128::from(growing) * (u128::from(growing) + 1) / 2;
            let rest = (rows - growing).checked_mul(growing)?;
            u64::try_from(triangle).ok()?.checked_add(rest)
        };
        match self.chunk {
            None => of_chunk(end),
            Some(chunk) => {
                let chunk = u64::from(chunk.max(1));
                (end / chunk).checked_mul(of_chunk(chunk)?)?.checked_add(of_chunk(end % chunk)?)
            }
        }
    }

    /// The part of a cache that the rows see.
    pub(super) fn cached(&self, whole: Shape) -> Shape {
        let of_window = self.window.map_or(u64::MAX, |width| u64::from(width).saturating_sub(1));
        let of_chunk = self.chunk.map_or(u64::MAX, |chunk| self.before % u64::from(chunk.max(1)));
        let rows = self.before.min(of_window).min(of_chunk).min(u64::from(whole.rows));
        Shape { rows: rows as u32, ..whole }
    }
}

impl Seen {
    /// The rows seen, in the order of positions.
    pub(super) fn rows<'b>(&self, cache: Option<&'b State>, fresh: &'b Matrix) -> Vec<&'b [f32]> {
        let mut rows = Vec::with_capacity(self.cached.len() + self.fresh.len());
        if let Some(cache) = cache {
            rows.extend(self.cached.clone().map(|position| cache.row(self.sequence, position % cache.rows())));
        }
        rows.extend(self.fresh.clone().map(|row| fresh.row(row)));
        rows
    }
}

/// `exp(s - max) / sum of exp(s - max)`.
pub(super) fn softmax(scores: &mut [f32]) {
    let max = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for score in &mut *scores {
        *score = (*score - max).exp();
        sum += *score;
    }
    scores.iter_mut().for_each(|score| *score /= sum);
}

/// The tiles of context that an attention goes through, sequence by sequence: those of the cache, then the fresh rows.
pub(super) struct Context {
    /// Positions of a tile.
    pub(super) tile: u64,
    /// Tiles, of all sequences.
    pub(super) firings: u64,
}

impl Context {
    pub(super) fn of(net: &Net<'_>, cache: Option<ValueId>) -> Self {
        let tile = u64::from(net.cx.unit.context_tile);
        let cached = cache.map_or(0, |cache| net.cx.rows(cache).div_ceil(tile));
        Context { tile, firings: net.cx.seqs.saturating_mul(cached + net.cx.tokens().div_ceil(tile)) }
    }

    /// The load of a cache, a tile a firing. It passes empty tokens where the rows are fresh.
    pub(super) fn load(&self, net: &mut Net<'_>, part: u32, cache: ValueId) -> StageId {
        let bytes = storage_bytes(self.tile * net.cx.cols(cache), net.value(cache).storage);
        net.load(part, cache, self.firings, bytes)
    }

    /// Part 4, the online softmax of `queries` rows over the scores; its ports are the scores and the sinks, if any.
    pub(super) fn softmax(
        &self,
        net: &mut Net<'_>,
        scores: StageId,
        queries: u64,
        sinks: Option<StageId>,
    ) -> Result<StageId, LowerError> {
        let elements = queries * self.tile;
        let unit = net.cx.unit;
        let work = Work {
            a: elements.div_ceil(u64::from(unit.lanes)),
            b: 1,
            base: SOFTMAX_OPS.div_ceil(u64::from(unit.chain)),
        };
        let softmax = net.compute(4, Primitive::Softmax, self.firings, work, Emission::Stream(1));
        net.recur(softmax, Recurrence::Cycles(SOFTMAX_RECURRENCE));
        net.link(softmax, scores, Want::Stream(1), Slot::one(elements * 4))?;
        if let Some(sinks) = sinks {
            net.feed_loaded(softmax, sinks, Want::HoldAll)?;
        }
        Ok(softmax)
    }

    /// What the softmax passes on a firing: probabilities, and beside them each row's factor on what was summed before.
    pub(super) fn probabilities(&self, queries: u64, storage: Storage) -> Slot {
        Slot::one(queries * (storage_bytes(self.tile, storage) + 4))
    }
}

/// Elementwise operations of the online softmax an element: scale, mask, running maximum, subtract, exponential (3), sum.
const SOFTMAX_OPS: u64 = 8;
/// Cycles of the running maximum and sum that one firing leaves to the next.
const SOFTMAX_RECURRENCE: u32 = 12;
