//! What a model keeps in a chip's memory: every weight by how it is cut over the chips, every state by how it grows.
//!
//! Sizes are exact. Products are taken in 128 bits and checked, so a hostile specification is refused, not wrapped.

use super::size::{Size, TooLarge, add, mul, stored};
use crate::author::{kept_as, storage_of};
use crate::request::Weights;
use crate::residency;
use crate::spec::{
    Arrangement, Attention, AttentionSpan, Dtype, ExpertSplit, Experts, FeedForward, GatedDelta, Held, LatentAttention,
    Linear, Mixer, Mlp, ModelSpec, Norm, Parts, QkNorm, Take, Tensor, Weight,
};

type Bytes = Size;

/// What one chip keeps of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ledger {
    /// Weights.
    pub(super) weights: u128,
    /// Of these, what experts are chosen of: the weights that may lie in DDR beside an HBM.
    pub(super) experts: u128,
    /// The same by what lies in one memory: a projection of all experts, or its bias, of all equal layers.
    pub(super) banks: Vec<u128>,
    /// KV caches, one entry a different length bound.
    pub(super) caches: Vec<Cache>,
    /// Recurrent states and convolution taps of one sequence: the same at every context.
    pub(super) recurrent: u128,
}

/// KV caches of equal bound: what a position costs, over all layers that have one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cache {
    /// Positions kept at most; none: the whole context.
    pub(super) bound: Option<u32>,
    /// Bytes a position and sequence.
    pub(super) a_position: u128,
}

impl Ledger {
    /// Of a chip among `tp`, a width that the model admits; `lookup` where the step looks its tokens up.
    pub(super) fn of(spec: &ModelSpec, tp: u32, weights: Weights, lookup: bool) -> Result<Ledger, TooLarge> {
        let walk = |row| Walk { tp: u128::from(tp.max(1)), spec, row, weights };
        let mut ledger = Ledger { weights: 0, experts: 0, banks: Vec::new(), caches: Vec::new(), recurrent: 0 };
        let mut layers = vec![0u128; spec.layers.len()];
        for &row in &spec.layer_of {
            if let Some(n) = layers.get_mut(row as usize) {
                *n += 1;
            }
        }
        for ((layer, n), row) in spec.layers.iter().zip(layers).zip(0u32..) {
            let walk = walk(Some(row));
            let mut one = walk.arrangement(&layer.arrangement)?;
            one = add(one, walk.feed_forward(&layer.feed_forward)?)?;
            if let FeedForward::Experts(experts) = &layer.feed_forward {
                for bank in walk.banks(experts)? {
                    let bank = mul(bank, n)?;
                    ledger.experts = add(ledger.experts, bank)?;
                    ledger.banks.push(bank);
                }
            }
            match &layer.mixer {
                Mixer::Attention(attention) => {
                    one = add(one, walk.attention(attention)?)?;
                    ledger.cache(walk.cache(attention), n)?;
                }
                Mixer::Latent(latent) => {
                    one = add(one, walk.latent(latent)?)?;
                    let a_position = (u128::from(latent.latent) + u128::from(latent.rotary)) * width(spec.dtype);
                    ledger.cache(Cache { bound: None, a_position }, n)?;
                }
                Mixer::GatedDelta(delta) => {
                    one = add(one, walk.gated_delta(delta)?)?;
                    ledger.recurrent = add(ledger.recurrent, mul(walk.delta_state(delta)?, n)?)?;
                }
            }
            ledger.weights = add(ledger.weights, mul(one, n)?)?;
        }
        let ends = walk(None).ends(lookup)?;
        ledger.weights = add(ledger.weights, ends)?;
        Ok(ledger)
    }

    fn cache(&mut self, cache: Cache, layers: u128) -> Result<(), TooLarge> {
        let a_position = mul(cache.a_position, layers)?;
        match self.caches.iter_mut().find(|c| c.bound == cache.bound) {
            Some(known) => known.a_position = add(known.a_position, a_position)?,
            None => self.caches.push(Cache { bound: cache.bound, a_position }),
        }
        Ok(())
    }

    /// The most of the experts' bytes that a memory of `most` holds: whole banks.
    pub(super) fn movable(&self, most: u64) -> u128 {
        if self.experts <= u128::from(most) {
            return self.experts;
        }
        // What leaves 64 bits is more than `most`.
        let banks: Vec<u64> = self.banks.iter().filter_map(|&bank| u64::try_from(bank).ok()).collect();
        residency::fullest(&banks, most).into()
    }

    /// The least of the experts' bytes, in whole banks, that leave room for `excess` bytes when they go.
    pub(super) fn leaving(&self, excess: u128) -> u128 {
        if excess == 0 {
            return 0;
        }
        let Ok(stay) = u64::try_from(self.experts.saturating_sub(excess)) else { return self.experts };
        self.experts.saturating_sub(self.movable(stay))
    }

    /// KV bytes of one sequence at a context of `ctx` positions.
    pub(super) fn kv(&self, ctx: u32) -> Bytes {
        self.caches.iter().try_fold(0, |sum, cache| {
            let positions = cache.bound.map_or(ctx, |bound| bound.min(ctx));
            add(sum, mul(cache.a_position, u128::from(positions))?)
        })
    }

    /// All carried bytes of one sequence.
    pub(super) fn sequence(&self, ctx: u32) -> Bytes {
        add(self.kv(ctx)?, self.recurrent)
    }

    /// All bytes of a chip.
    pub(super) fn all(&self, ctx: u32, sequences: u32) -> Bytes {
        add(self.weights, mul(self.sequence(ctx)?, u128::from(sequences))?)
    }

    /// Largest context, `most` at most, at which so many sequences take no more than `room` bytes with the weights; 0 of none. The
    /// need never falls as the context grows, so halving finds it.
    pub(super) fn max_ctx(&self, sequences: u32, most: u32, room: u128) -> Result<u32, TooLarge> {
        if sequences == 0 {
            return Ok(0);
        }
        let (mut fits, mut most) = (0, most);
        while fits < most {
            let middle = fits + (most - fits).div_ceil(2);
            if self.all(middle, sequences)? <= room {
                fits = middle;
            } else {
                most = middle - 1;
            }
        }
        Ok(fits)
    }

    /// Most sequences of `ctx` positions that take no more than `room` bytes with the weights.
    pub(super) fn max_sequences(&self, ctx: u32, room: u128) -> Result<u32, TooLarge> {
        let fits = room.saturating_sub(self.weights).checked_div(self.sequence(ctx)?);
        Ok(u32::try_from(fits.unwrap_or(u128::from(u32::MAX))).unwrap_or(u32::MAX))
    }
}

/// How a matrix is cut, as the program that uses it reads it: `[input, output]`.
#[derive(Clone, Copy)]
enum Cut {
    /// The same on every chip.
    Whole,
    /// Its outputs, over so many parts.
    Outputs(u128),
    /// Its inputs, over all chips; its bias is whole, added once to the sum.
    Inputs,
}

struct Walk<'a> {
    tp: u128,
    spec: &'a ModelSpec,
    /// The distinct layer; none for embedding, final norm and head.
    row: Option<u32>,
    weights: Weights,
}

impl Walk<'_> {
    fn outputs(&self) -> Cut {
        Cut::Outputs(self.tp)
    }

    /// KV heads lie over as many chips as there are heads, at most; more chips hold copies.
    fn kv(&self, heads: u32) -> Cut {
        Cut::Outputs(self.tp.min(u128::from(heads.max(1))))
    }

    fn linear(&self, linear: &Linear, cut: Cut) -> Bytes {
        let [weight, bias] = self.weight_and_bias(linear, cut)?;
        add(weight, bias)
    }

    fn weight_and_bias(&self, linear: &Linear, cut: Cut) -> Result<[u128; 2], TooLarge> {
        let (input, output) = (u128::from(linear.input), u128::from(linear.out));
        let (rows, cols) = match cut {
            Cut::Whole => (input, output),
            Cut::Outputs(parts) => (input, output.div_ceil(parts)),
            Cut::Inputs => (input.div_ceil(self.tp), output),
        };
        let bias = match &linear.bias {
            None => 0,
            Some(bias) => self.vector(bias, if matches!(cut, Cut::Inputs) { Cut::Whole } else { cut })?,
        };
        let parts = |parts: u128| u32::try_from(parts).map_err(|_| TooLarge);
        let parts = match cut {
            Cut::Whole => Parts { inputs: 1, outputs: 1 },
            Cut::Outputs(outputs) => Parts { inputs: 1, outputs: parts(outputs)? },
            Cut::Inputs => Parts { inputs: parts(self.tp)?, outputs: 1 },
        };
        Ok([self.projection(linear, parts, rows, cols)?, bias])
    }

    /// A projection that programs have in parts, each with some of its outputs.
    fn parts(&self, linear: &Linear, parts: &[Take], cut: Cut) -> Bytes {
        parts.iter().try_fold(0, |sum, &take| add(sum, self.linear(&linear.part(take).ok_or(TooLarge)?, cut)?))
    }

    /// A projection's share of `rows` inputs and `cols` outputs.
    fn projection(&self, linear: &Linear, parts: Parts, rows: u128, cols: u128) -> Bytes {
        let weight = &linear.weight;
        let dense = self.spec.dtype;
        let held = match self.weights {
            Weights::Config => self.spec.held(self.row, &weight.tensor).unwrap_or(Held::Float(dense)),
            Weights::Q8_0 => Held::Q8_0,
        };
        stored(cols, rows, kept_as(held.kept(dense, weight, linear.input, parts)))
    }

    /// Bytes of an element of what is no projection, or of one that is not kept in blocks.
    fn element(&self, tensor: &Tensor) -> u128 {
        match (self.spec.held(self.row, tensor), self.weights) {
            (Some(Held::Float(dtype)), Weights::Config) => width(dtype),
            (Some(_) | None, Weights::Config | Weights::Q8_0) => width(self.spec.dtype),
        }
    }

    /// Anything but a projection: as the config stores it. Its outputs are the indices taken.
    fn vector(&self, weight: &Weight, cut: Cut) -> Bytes {
        let taken = u128::from(weight.take.len());
        let taken = match cut {
            Cut::Whole | Cut::Inputs => taken,
            Cut::Outputs(parts) => taken.div_ceil(parts),
        };
        let inner = weight.tensor.shape.iter().skip(1).try_fold(1, |n, &d| mul(n, u128::from(d)))?;
        mul(mul(taken, inner)?, self.element(&weight.tensor))
    }

    fn norm(&self, norm: &Norm, cut: Cut) -> Bytes {
        [&norm.weight, &norm.bias].into_iter().flatten().try_fold(0, |sum, w| add(sum, self.vector(w, cut)?))
    }

    fn norms<'n>(&self, norms: impl IntoIterator<Item = Option<&'n Norm>>) -> Bytes {
        norms.into_iter().flatten().try_fold(0, |sum, norm| add(sum, self.norm(norm, Cut::Whole)?))
    }

    fn arrangement(&self, arrangement: &Arrangement) -> Bytes {
        match arrangement {
            Arrangement::Sequential { before_mixer, after_mixer, before_feed_forward, after_feed_forward } => self
                .norms([
                    before_mixer.as_ref(),
                    after_mixer.as_ref(),
                    before_feed_forward.as_ref(),
                    after_feed_forward.as_ref(),
                ]),
            Arrangement::Parallel { mixer, feed_forward } => self.norms([Some(mixer), feed_forward.as_ref()]),
        }
    }

    fn attention(&self, a: &Attention) -> Bytes {
        let mut sum = self.linear(&a.q, self.outputs())?;
        for projection in [&a.k, &a.v] {
            sum = add(sum, self.linear(projection, self.kv(a.kv_heads))?)?;
        }
        if let Some(gate) = &a.gate {
            sum = add(sum, self.linear(gate, self.outputs())?)?;
        }
        sum = add(sum, self.linear(&a.o, Cut::Inputs)?)?;
        match &a.qk_norm {
            None => {}
            Some(QkNorm::PerHead { q, k, after_rope: _ }) => {
                sum = add(sum, self.norm(q, rows_by_head(q, self.outputs()))?)?;
                sum = add(sum, self.norm(k, rows_by_head(k, self.kv(a.kv_heads)))?)?;
            }
            Some(QkNorm::FullWidth { q, k }) => {
                sum = add(sum, self.norm(q, self.outputs())?)?;
                sum = add(sum, self.norm(k, self.kv(a.kv_heads))?)?;
            }
        }
        match &a.sinks {
            None => Ok(sum),
            Some(sinks) => add(sum, self.vector(sinks, self.outputs())?),
        }
    }

    /// Keys and values of a position, on the chips that hold them.
    fn cache(&self, a: &Attention) -> Cache {
        let heads = u128::from(a.kv_heads);
        let here = heads.div_ceil(self.tp.min(heads.max(1)));
        let bound = match a.span {
            AttentionSpan::Full => None,
            AttentionSpan::Window(n) | AttentionSpan::Chunked(n) => Some(n),
        };
        Cache { bound, a_position: 2 * here * u128::from(a.head_dim) * width(self.spec.dtype) }
    }

    fn latent(&self, l: &LatentAttention) -> Bytes {
        let mut sum = self.parts(&l.q, &l.query_outputs().ok_or(TooLarge)?, self.outputs())?;
        if let Some((down, norm)) = &l.q_down {
            sum = add(add(sum, self.linear(down, Cut::Whole)?)?, self.norm(norm, Cut::Whole)?)?;
        }
        sum = add(sum, self.parts(&l.kv_down, &l.latent_outputs(), Cut::Whole)?)?;
        sum = add(sum, self.norm(&l.kv_norm, Cut::Whole)?)?;
        // Products of each head's own block are of elements as the config stores them.
        sum = add(sum, self.vector(&l.kv_up.weight, self.outputs())?)?;
        add(sum, self.linear(&l.o, Cut::Inputs)?)
    }

    fn gated_delta(&self, g: &GatedDelta) -> Bytes {
        let mut sum = self.linear(&g.out, Cut::Inputs)?;
        for projection in [&g.q, &g.k, &g.v, &g.z, &g.b, &g.a] {
            sum = add(sum, self.linear(projection, self.outputs())?)?;
        }
        for weight in [&g.conv_q, &g.conv_k, &g.conv_v, &g.a_log, &g.dt_bias] {
            sum = add(sum, self.vector(weight, self.outputs())?)?;
        }
        add(sum, self.norm(&g.norm, Cut::Whole)?)
    }

    /// The memory of every value head, and the last inputs of the convolution.
    fn delta_state(&self, g: &GatedDelta) -> Bytes {
        let heads = u128::from(g.value_heads).div_ceil(self.tp);
        let memory = mul(mul(heads, u128::from(g.key_dim) * u128::from(g.value_dim))?, width(self.spec.state_dtype))?;
        let keys = u128::from(g.key_heads).div_ceil(self.tp) * u128::from(g.key_dim);
        let channels = 2 * keys + heads * u128::from(g.value_dim);
        let ring = mul(channels, u128::from(g.taps.saturating_sub(1)) * width(self.spec.dtype))?;
        add(memory, ring)
    }

    fn mlp(&self, mlp: &Mlp) -> Bytes {
        let mut sum = add(self.linear(&mlp.up, self.outputs())?, self.linear(&mlp.down, Cut::Inputs)?)?;
        if let Some(gate) = &mlp.gate {
            sum = add(sum, self.linear(gate, self.outputs())?)?;
        }
        Ok(sum)
    }

    fn feed_forward(&self, block: &FeedForward) -> Bytes {
        match block {
            FeedForward::Dense(mlp) => self.mlp(mlp),
            FeedForward::Experts(experts) => self.experts(experts),
        }
    }

    /// The experts that a router chooses of, by projection and bias.
    fn banks(&self, experts: &Experts) -> Result<Vec<u128>, TooLarge> {
        let count = u128::from(experts.count);
        let (walk, count) = match self.spec.expert_split {
            ExpertSplit::Columns => (Walk { ..*self }, count),
            // Whole ones: each as a single chip has it.
            ExpertSplit::Parallel => (Walk { tp: 1, ..*self }, count.div_ceil(self.tp)),
        };
        let Mlp { gate, up, down, .. } = &experts.one();
        let cut = [(gate.as_ref(), walk.outputs()), (Some(up), walk.outputs()), (Some(down), Cut::Inputs)];
        let mut banks = Vec::new();
        for (linear, cut) in cut {
            let Some(linear) = linear else { continue };
            for part in walk.weight_and_bias(linear, cut)? {
                banks.push(mul(part, count)?);
            }
        }
        banks.retain(|&bank| bank > 0);
        Ok(banks)
    }

    fn experts(&self, experts: &Experts) -> Bytes {
        let mut sum = self.banks(experts)?.into_iter().try_fold(0, add)?;
        sum = add(sum, self.choosing(&experts.router.linear)?)?;
        if let Some(correction) = &experts.router.correction {
            sum = add(sum, self.vector(correction, Cut::Whole)?)?;
        }
        if let Some(shared) = &experts.shared {
            sum = add(sum, self.mlp(shared)?)?;
        }
        if let Some(gate) = &experts.shared_gate {
            sum = add(sum, self.choosing(gate)?)?;
        }
        Ok(sum)
    }

    /// A projection that a choice is made by: whole, as the config stores it.
    fn choosing(&self, linear: &Linear) -> Bytes {
        let weights = [Some(&linear.weight), linear.bias.as_ref()];
        weights.into_iter().flatten().try_fold(0, |sum, weight| add(sum, self.vector(weight, Cut::Whole)?))
    }

    /// Embedding, final norm and head, padding included. A tied head is the embedding: one table, as the config stores it.
    fn ends(&self, lookup: bool) -> Bytes {
        let spec = self.spec;
        let norm = self.norm(&spec.final_norm, Cut::Whole)?;
        let tp = u32::try_from(self.tp).map_err(|_| TooLarge)?;
        let head = spec.padded_head(tp).ok_or(TooLarge)?;
        let rows = u128::from(spec.vocab_rows(tp).ok_or(TooLarge)?).div_ceil(self.tp);
        let table = mul(mul(rows, u128::from(spec.hidden))?, self.element(&spec.embedding))?;
        if spec.head.tied {
            let bias = head.bias.as_ref().map_or(Ok(0), |bias| self.vector(bias, self.outputs()))?;
            return add(add(norm, table)?, bias);
        }
        let head = self.linear(&head, self.outputs())?;
        add(add(norm, head)?, if lookup { table } else { 0 })
    }
}

/// A norm with a row a head lies where the heads do; one row for all of them on every chip.
fn rows_by_head(norm: &Norm, heads: Cut) -> Cut {
    match &norm.weight {
        Some(weight) if weight.tensor.shape.len() > 1 => heads,
        Some(_) | None => Cut::Whole,
    }
}

fn width(dtype: Dtype) -> u128 {
    u128::from(storage_of(dtype).block().1)
}
