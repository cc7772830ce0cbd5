//! What every tensor-parallel width makes of a model: admitted or every reason against it, what lies on several chips, which weights are
//! read dense, what padding the vocabulary does, and the bytes of weights on a chip.
//!
//! In: a [`Request`], whose deployments do not matter. Out: a [`Width`] for each number of chips of the chip's domain. Nothing is lowered, and no context is
//! asked for: an admitted width may still not fit.

use crate::author::{self, Cut, Part, Source};
use crate::chip::Chip;
use crate::compile::held_to;
use crate::config;
use crate::fit::serving::Demand;
use crate::language::ast::{Axis, Storage};
use crate::lower::share;
use crate::refusal::{At, Key, Refusal};
use crate::request::{Form, Request, Weights, without_experts};
use crate::shard::{self, SplitReason};
use crate::spec::{ExpertSplit, Mixer, ModelSpec};

/// What a width makes of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Width {
    /// Chips.
    pub tp: u32,
    /// Every reason against it.
    pub against: Vec<SplitReason>,
    /// The rows of a padded vocabulary, where nothing but a vocabulary cut exactly stands against the width.
    pub padding_admits: Option<u32>,
    /// What the chips hold; none of a width that is not admitted.
    pub held: Option<Holding>,
}

/// What the chips of an admitted width hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holding {
    /// Bytes of weights on a chip, embedding, head and all.
    pub weight_bytes: u64,
    /// Most chips that hold a KV head, of any layer with a cache, or a latent, which all of them hold; 1 where no cache has copies.
    pub kv_copies: u32,
    /// Bytes a position of a sequence takes in the caches of all chips together.
    pub kv_bytes: u64,
    /// Of these, bytes that other chips hold as well: what the caches of one chip would not take.
    pub kv_copied_bytes: u64,
    /// Rows of the vocabulary over all chips, padding included.
    pub vocab_rows: u32,
    /// Of these, padding.
    pub vocab_padding: u32,
    /// Chips that hold padding alone.
    pub chips_of_padding: u32,
    /// Weights that one chip would keep in blocks and these do not, by name.
    pub dense: Vec<Dense>,
}

/// A weight that is read dense, as the chips would cut its blocks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dense {
    /// Its name in the programs, `{l}` for the layer.
    pub name: String,
    /// The storage in blocks.
    pub storage: Storage,
    /// How many there are: one a layer, experts once.
    pub weights: u32,
    /// Inputs of a chip's share.
    pub inputs: u32,
    /// Outputs of a chip's share.
    pub outputs: u32,
}

/// The widths of a request's model and chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// The chip's name.
    pub chip: String,
    /// Most chips of a width.
    pub most: u32,
    /// The vocabulary, without padding.
    pub vocab: u32,
    /// From 1 chip on.
    pub widths: Vec<Width>,
    /// What of the checkpoint is read dense at any width: sentences, for people.
    pub notes: Vec<String>,
}

/// What every width of the chip's domain makes of a request's model, its experts lying so: one chip, where no rate between chips is known.
///
/// # Errors
/// Every refusal of config, chip and checkpoint; as [`widths`].
pub fn explain(request: &Request<'_>, experts: ExpertSplit) -> Result<Explained, Vec<Refusal>> {
    let (chip, spec) = match (request.chip.chip(), config::read(request.config)) {
        (Ok(chip), Ok(spec)) => (chip, spec),
        (chip, spec) => return Err([chip.err(), spec.err()].into_iter().flatten().flatten().collect()),
    };
    if let Some(refusal) = without_experts(&spec, experts, At::Key(String::new(), Key::Experts)) {
        return Err(vec![refusal]);
    }
    let (spec, notes) = held_to(request, ModelSpec { expert_split: experts, ..spec })?;
    let most = if chip.has_link() { chip.domain() } else { 1 };
    let widths = widths(&spec, &chip, request.weights, most)?;
    Ok(Explained { chip: chip.name.to_string(), most, vocab: spec.vocab, widths, notes })
}

/// The widths from 1 to `most` chips.
///
/// # Errors
/// A model that cannot be authored, or whose bytes leave 64 bits.
pub fn widths(spec: &ModelSpec, chip: &Chip, weights: Weights, most: u32) -> Result<Vec<Width>, Vec<Refusal>> {
    let demand = Demand { spec, chip, weights, ctx: 1, sequences: 1 };
    let one = demand.at(1).map_err(|error| vec![error.into()])?.kv_bytes;
    let in_blocks = Blocks::of(spec, weights)?;
    let mut widths = Vec::with_capacity(most as usize);
    for tp in 1..=most {
        let against = shard::admission(spec, tp);
        let held = if against.is_empty() {
            let needs = demand.at(tp).map_err(|error| vec![error.into()])?;
            let kv_bytes = needs.kv_bytes.saturating_mul(u64::from(tp));
            let (rows, padding) = spec.vocab_rows(tp).zip(spec.vocab_padding(tp)).unwrap_or((spec.vocab, 0));
            // Rows of the vocabulary proper reach so many chips.
            let reached = spec.vocab.div_ceil((rows / tp).max(1));
            Some(Holding {
                weight_bytes: needs.weight_bytes,
                kv_copies: kv_copies(spec, tp),
                kv_bytes,
                kv_copied_bytes: kv_bytes.saturating_sub(one),
                vocab_rows: rows,
                vocab_padding: padding,
                chips_of_padding: tp.saturating_sub(reached),
                dense: in_blocks.dense(tp)?,
            })
        } else {
            None
        };
        widths.push(Width { tp, padding_admits: shard::padding_admits(spec, tp), against, held });
    }
    Ok(widths)
}

/// Most chips that hold a KV head or a latent.
fn kv_copies(spec: &ModelSpec, tp: u32) -> u32 {
    let copies = spec.layers.iter().map(|layer| match &layer.mixer {
        Mixer::Attention(attention) => tp / attention.kv_heads.clamp(1, tp),
        Mixer::Latent(_) => tp,
        Mixer::GatedDelta(_) => 1,
    });
    copies.max().unwrap_or(1)
}

/// The weights that one chip keeps in blocks.
struct Blocks<'a> {
    spec: &'a ModelSpec,
    weights: Weights,
    /// Parts of a step that have some, how many layers each stands for, and the storage of each declared value.
    parts: Vec<(Part, u32, Vec<Storage>)>,
}

impl<'a> Blocks<'a> {
    fn of(spec: &'a ModelSpec, weights: Weights) -> Result<Self, Vec<Refusal>> {
        let mut blocks = Blocks { spec, weights, parts: Vec::new() };
        let first = |row: u32| (0u32..).zip(&spec.layer_of).find(|(_, of)| **of == row).map(|(layer, _)| layer);
        let layers = (0u32..).zip(&spec.layers).filter_map(|(row, _)| {
            let many = spec.layer_of.iter().filter(|of| **of == row).count();
            Some((Part::Layer(first(row)?), u32::try_from(many).unwrap_or(u32::MAX)))
        });
        let parts: Vec<(Part, u32)> = [(Part::Embed, 1)].into_iter().chain(layers).chain([(Part::Head, 1)]).collect();
        let mut refusals = Vec::new();
        for (part, many) in parts {
            match blocks.author(part, 1) {
                Ok(authored) => {
                    let storages: Vec<Storage> = authored.program.values.iter().map(|value| value.storage).collect();
                    if storages.iter().any(|&storage| storage.in_blocks()) {
                        blocks.parts.push((part, many, storages));
                    }
                }
                Err(refusal) => refusals.push(refusal),
            }
        }
        if refusals.is_empty() { Ok(blocks) } else { Err(refusals) }
    }

    fn author(&self, part: Part, tp: u32) -> Result<author::Authored, Refusal> {
        let step = Form::Decode { ctx: 1, batch: 1 };
        author::author(self.spec, &Cut { step, tp, weights: self.weights, part })
    }

    /// Of these, those that `tp` chips do not, by name. Declared values are the same ones in the same order at every width.
    fn dense(&self, tp: u32) -> Result<Vec<Dense>, Vec<Refusal>> {
        let mut dense: Vec<Dense> = Vec::new();
        for (part, many, storages) in &self.parts {
            let authored = self.author(*part, tp).map_err(|refusal| vec![refusal])?;
            for binding in &authored.bindings {
                let at = binding.value.0 as usize;
                let value = authored.program.value(binding.value);
                let (Source::Weight { .. }, Some(&storage)) = (&binding.source, storages.get(at)) else { continue };
                if !storage.in_blocks() || value.storage == storage {
                    continue;
                }
                let [inputs, outputs] = [Axis::Rows, Axis::Columns].map(|axis| {
                    // A part of a size of 32 bits.
                    u32::try_from(share(value, axis)).unwrap_or(u32::MAX)
                });
                let found = Dense { name: binding.name.clone(), storage, weights: *many, inputs, outputs };
                let alike = |other: &&mut Dense| Dense { weights: found.weights, ..(**other).clone() } == found;
                match dense.iter_mut().find(alike) {
                    Some(known) => known.weights = known.weights.saturating_add(found.weights),
                    None => dense.push(found),
                }
            }
        }
        dense.sort();
        Ok(dense)
    }
}

#[cfg(test)]
mod tests;
