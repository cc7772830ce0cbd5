//! Firings of the stages that attentions share: a tile of context against every query row of its sequence.

use std::ops::Range;
use std::sync::Arc;

use crate::reference::{Data, Matrix};
use crate::simulate::machine::{Firing, Token, Trouble};

/// What a firing of the three stages works on.
struct ContextTile {
    /// First row of the sequence.
    first_row: usize,
    /// Rows of the sequence.
    tokens: usize,
    /// Whether the keys lie in the cache.
    cached: bool,
    /// Written slots of the cache, or fresh rows of the sequence.
    slots: Range<usize>,
    /// Slots of the cache's ring.
    ring: usize,
    /// Positions of the sequence's rows.
    positions: Vec<usize>,
    /// Whether the tile is the sequence's first, and its last.
    is_first: bool,
    is_last: bool,
}

impl ContextTile {
    /// The tile of a firing, all tiles of a sequence after one another.
    fn of(firing: &Firing<'_>) -> Result<Self, Trouble> {
        let size = firing.context_tile;
        let tokens = (firing.all_rows / firing.seqs).max(1);
        let cache = firing.cache_rows();
        let cached = cache.div_ceil(size);
        let all = cached + tokens.div_ceil(size);
        let (sequence, number) = (firing.index / all, firing.index % all);
        let first_row = sequence * tokens;
        let positions: Vec<usize> = match firing.positions()? {
            Some(positions) => {
                let of_sequence = positions.get(first_row..first_row + tokens);
                of_sequence.ok_or(Trouble::Absent { what: "position" })?.iter().map(|&p| p as usize).collect()
            }
            None => (0..tokens).collect(),
        };
        let written = positions.first().map_or(0, |&before| before.min(cache));
        let (tile, end) = if number < cached { (number, written) } else { (number - cached, tokens) };
        Ok(ContextTile {
            first_row,
            tokens,
            cached: number < cached,
            slots: (tile * size).min(end)..((tile + 1) * size).min(end),
            ring: cache.max(1),
            positions,
            is_first: number == 0,
            is_last: number + 1 == all,
        })
    }

    fn rows(&self) -> Range<usize> {
        self.first_row..self.first_row + self.tokens
    }

    /// The position of the tile's `n`th key; none where the slot is not written yet.
    fn key_position(&self, n: usize) -> Option<usize> {
        if !self.cached {
            return self.positions.get(self.slots.start + n).copied();
        }
        // The slot holds the last position before the step that falls on it.
        let last = self.positions.first()?.checked_sub(1)?;
        let slot = self.slots.start + n;
        last.checked_sub((last + self.ring - slot % self.ring) % self.ring)
    }

    /// Whether the `n`th key's row comes no later than a query row.
    fn is_before(&self, n: usize, row: usize) -> bool {
        self.cached || self.slots.start + n <= row - self.first_row
    }

    /// The row of the tile's `n`th key: in the cache's tile, or among the fresh rows.
    fn row<'a>(&self, cached: Option<&'a Matrix>, fresh: &'a Matrix, n: usize) -> &'a [f32] {
        match cached {
            Some(cached) => cached.row(n),
            None => fresh.row(self.first_row + self.slots.start + n),
        }
    }
}

/// The tile of a cache at a port; `Err(())` where nothing is written in it yet.
fn cached(firing: &Firing<'_>, tile: &ContextTile, port: usize) -> Result<Result<Option<Arc<Matrix>>, ()>, Trouble> {
    if !tile.cached {
        return Ok(Ok(None));
    }
    match firing.token(port, 0)? {
        Token::Data(Data::Real(rows)) => Ok(Ok(Some(rows.clone()))),
        Token::Empty => Ok(Err(())),
        Token::Data(Data::Int(_)) | Token::Weight(_) | Token::State(_) => {
            Err(Trouble::Kind { expected: "rows of a cache" })
        }
    }
}

/// Scores of every head and query row of a sequence against one tile of keys: `[heads * tokens, keys]`. `fresh` are the fresh
/// rows of each cache, whose tiles come at the ports after all that is held; `score` is given a query row, a head, and the
/// key's row in each of them.
pub(super) fn fire_scores(
    firing: &mut Firing<'_>,
    heads: usize,
    fresh: &[&Matrix],
    first_seen: impl Fn(usize) -> usize,
    score: impl Fn(usize, usize, &[&[f32]]) -> f32,
) -> Result<(), Trouble> {
    let tile = ContextTile::of(firing)?;
    // As many operands are held on the side of the queries as of the keys.
    let first_port = 2 * fresh.len();
    let mut tiles = Vec::with_capacity(fresh.len());
    for port in first_port..first_port + fresh.len() {
        match cached(firing, &tile, port)? {
            Ok(rows) => tiles.push(rows),
            Err(()) => return nothing(firing),
        }
    }
    let queries = tile.rows();
    let mut scores = Matrix::zeros(heads * queries.len(), tile.slots.len());
    for n in 0..tile.slots.len() {
        let keys: Vec<&[f32]> =
            tiles.iter().zip(fresh).map(|(cached, fresh)| tile.row(cached.as_deref(), fresh, n)).collect();
        let position = tile.key_position(n);
        for (at, row) in queries.clone().enumerate() {
            let seen = first_seen(tile.positions[at]);
            let visible = position.is_some_and(|position| position >= seen) && tile.is_before(n, row);
            for head in 0..heads {
                scores.row_mut(head * queries.len() + at)[n] =
                    if visible { score(row, head, &keys) } else { f32::NEG_INFINITY };
            }
        }
    }
    firing.pass(scores);
    Ok(())
}

/// A tile of a cache in which nothing is written yet.
fn nothing(firing: &mut Firing<'_>) -> Result<(), Trouble> {
    firing.pass(Token::Empty);
    Ok(())
}

/// Exponentials of a tile's scores beside the running maximum, with each row's factor on what was summed before and its
/// running sum in two more columns. A sink is there from the start: its share of the sum goes with no value.
pub(super) fn fire_softmax(firing: &mut Firing<'_>) -> Result<(), Trouble> {
    let tile = ContextTile::of(firing)?;
    if tile.is_first {
        firing.memory.matrices.clear();
    }
    let given = firing.token(0, 0)?.clone();
    let Token::Data(Data::Real(scores)) = given else { return nothing(firing) };
    if firing.memory.matrices.is_empty() {
        let state = begin(firing, scores.rows(), tile.tokens)?;
        firing.memory.matrices.push(state);
    }
    let state = firing.memory.matrices.last_mut().ok_or(Trouble::Absent { what: "maximum" })?;
    let mut weights = Matrix::zeros(scores.rows(), scores.cols() + 2);
    for row in 0..scores.rows() {
        let [maximum, sum] = state.row_mut(row) else { continue };
        let scores = scores.row(row);
        let most = scores.iter().copied().fold(*maximum, f32::max);
        // No key is seen yet: nothing to scale, nothing to add.
        let factor = if most == f32::NEG_INFINITY { 1.0 } else { (*maximum - most).exp() };
        let (exponentials, factors) = weights.row_mut(row).split_at_mut(scores.len());
        let mut tile_sum = 0.0;
        for (weight, score) in exponentials.iter_mut().zip(scores) {
            *weight = if *score == f32::NEG_INFINITY { 0.0 } else { (score - most).exp() };
            tile_sum += *weight;
        }
        *sum = *sum * factor + tile_sum;
        *maximum = most;
        factors.copy_from_slice(&[factor, *sum]);
    }
    firing.pass(weights);
    Ok(())
}

/// Maximum and sum before the first tile of a sequence.
fn begin(firing: &Firing<'_>, rows: usize, queries: usize) -> Result<Matrix, Trouble> {
    let mut state = Matrix::zeros(rows, 2);
    let sinks = if firing.has_port(1) { Some(firing.row(1, 0)?) } else { None };
    for row in 0..rows {
        let sink = sinks.as_ref().map(|sinks| sinks.row(0)[row / queries]);
        let begin = sink.map_or([f32::NEG_INFINITY, 0.0], |sink| [sink, 1.0]);
        state.row_mut(row).copy_from_slice(&begin);
    }
    Ok(state)
}

/// Heads of a result, and columns of each.
#[derive(Clone, Copy)]
pub(super) struct Heads {
    pub(super) heads: usize,
    pub(super) width: usize,
}

/// Adds a tile's values, weighted, to every row's sum; what was added before is scaled to the tile's maximum. As many neighbouring heads
/// share a value head as there are more of them.
pub(super) fn add_values(firing: &mut Firing<'_>, Heads { heads, width }: Heads) -> Result<(), Trouble> {
    let fresh = firing.held(1)?;
    let tile = ContextTile::of(firing)?;
    let group = heads / (fresh.cols() / width);
    if firing.index == 0 {
        firing.memory.matrices = vec![Matrix::zeros(firing.all_rows, heads * width)];
    }
    let mut sums = firing.memory.matrices.pop().ok_or(Trouble::Absent { what: "sum" })?;
    let given = firing.token(0, 0)?.clone();
    if let (Token::Data(Data::Real(weights)), Ok(values)) = (given, cached(firing, &tile, 2)?) {
        let queries = tile.rows();
        let keys = weights.cols() - 2;
        for (at, row) in queries.clone().enumerate() {
            for head in 0..heads {
                let (weights, factors) = weights.row(head * queries.len() + at).split_at(keys);
                let value_head = head / group * width;
                let sum = &mut sums.row_mut(row)[head * width..(head + 1) * width];
                sum.iter_mut().for_each(|sum| *sum *= factors[0]);
                for (n, weight) in weights.iter().enumerate().filter(|(_, weight)| **weight != 0.0) {
                    let value = &tile.row(values.as_deref(), &fresh, n)[value_head..value_head + width];
                    sum.iter_mut().zip(value).for_each(|(sum, value)| *sum += weight * value);
                }
                if tile.is_last {
                    sum.iter_mut().for_each(|sum| *sum /= factors[1]);
                }
            }
        }
    }
    if firing.index + 1 == firing.firings {
        firing.emit(Data::Real(Arc::new(sums)));
    } else {
        firing.memory.matrices.push(sums);
    }
    Ok(())
}
