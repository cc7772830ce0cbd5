//! What a chip of the width holds, whether that fits, and the same for one chip, a node and a rack.

use super::Quantities;
use crate::author::{Source, storage_of};
use crate::chip::Chip;
use crate::fit::TooLarge;
use crate::fit::inventory::StateBytes;
use crate::fit::serving::Rung;
use crate::language::ast::{Axis, Sharding};

/// What a chip of the width holds.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TensorParallel {
    /// Chips.
    pub chips: u32,
    /// How activations are stored.
    pub dtype: &'static str,
    /// A chip's parts of what is cut over the chips.
    pub sharded_weight_bytes_per_chip: u64,
    /// What every chip holds.
    pub replicated_weight_bytes: u64,
    /// Weights of a chip.
    pub weights_per_chip_bytes: u64,
    /// Recurrent states and convolution rings of a chip, all sequences.
    pub state_bytes_per_chip: u64,
    /// Caches of attention.
    pub kv_cache_at_ctx: KvBlock,
    /// The memory that weights and states live in: `HBM`, or `DDR` where the chip has no HBM.
    pub memory: &'static str,
    /// Its bytes.
    pub hbm_bytes_per_chip: u64,
    /// Of the weights, experts that lie in DDR beside an HBM that does not hold them.
    pub ddr_weight_bytes_per_chip: u64,
    /// What is needed of it.
    pub hbm_need_bytes: u64,
    /// Whether that is there, beside the experts that lie in DDR.
    pub fits: bool,
    /// Whether it is, and HBM alone holds everything.
    pub hbm_fit: bool,
    /// What is left; below zero what lacks.
    pub hbm_headroom_bytes: i64,
    /// What lacks of the memory where it does not fit, beside the experts that DDR holds; else 0.
    pub shortfall_bytes: u64,
    /// Largest context that fits with these sequences, the model's own at most; 0 where none does.
    pub max_ctx_in_hbm: u32,
    /// Most sequences that fit at this context.
    pub max_sequences_in_hbm: u32,
    /// One chip, a node, a rack.
    pub ladder: Vec<LadderRow>,
    /// How each weight is cut.
    pub sharding: Vec<CutRow>,
}

/// Caches of attention at the context, all sequences.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KvBlock {
    /// Positions.
    pub ctx: u32,
    /// Bytes over all chips, each part once.
    pub bytes: u64,
    /// Chips with parts of their own.
    pub kv_shards: u64,
    /// Chips that hold the same part.
    pub replication: u64,
    /// Bytes of a chip.
    pub per_chip_bytes: u64,
}

/// A domain, and the widest width that the model admits in it.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LadderRow {
    /// `chip`, `node`, `rack`.
    pub domain: &'static str,
    /// Its chips.
    pub chips: u32,
    /// Why the model does not split over all of them; the figures are then of the widest width that it does.
    pub refused: Vec<String>,
    /// The widest width.
    pub tensor_parallel: u32,
    /// Weights of a chip.
    pub weights_per_chip_bytes: u64,
    /// Recurrent states and convolution rings of a chip.
    pub state_bytes_per_chip: u64,
    /// Caches of a chip.
    pub kv_cache_per_chip_bytes: u64,
    /// Of the weights, experts that would lie in DDR beside an HBM.
    pub ddr_weight_bytes_per_chip: u64,
    /// What is needed of the memory.
    pub hbm_need_bytes: u64,
    /// Whether it fits, beside the experts that DDR would hold.
    pub fits: bool,
    /// Whether HBM alone would hold everything.
    pub hbm_fit: bool,
    /// What is left; below zero what lacks.
    pub hbm_headroom_bytes: i64,
    /// What lacks of the memory where it does not fit, beside the experts that DDR holds; else 0.
    pub shortfall_bytes: u64,
    /// Largest context that fits with these sequences.
    pub max_ctx_in_hbm: u32,
}

/// How a weight is cut.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CutRow {
    /// The program that reads it.
    pub program: String,
    /// Its name there, `{l}` for the layer.
    pub tensor: String,
    /// `whole`, `rows`, `columns`, `experts`.
    pub cut: &'static str,
    /// Parts; fewer than the chips where several hold the same.
    pub parts: u32,
}

pub(super) fn block(quantities: &Quantities<'_>) -> Result<TensorParallel, TooLarge> {
    let subject = quantities.subject;
    let weights = &quantities.stock.weights.a_chip;
    let states = &quantities.stock.states;
    let needs = &subject.needs;
    let (memory_bytes, memory) = subject.chip.main_memory();
    let weight_bytes = weights.sharded.checked_add(weights.replicated).ok_or(TooLarge)?;
    let ddr = subject.ddr_weight_bytes();
    let need = needs.need_bytes().saturating_sub(ddr);
    let recurrent = states.memories.a_chip.checked_add(states.rings.a_chip).ok_or(TooLarge)?;
    Ok(TensorParallel {
        chips: subject.tp,
        dtype: storage_of(subject.spec.dtype).as_str(),
        sharded_weight_bytes_per_chip: weights.sharded,
        replicated_weight_bytes: weights.replicated,
        weights_per_chip_bytes: weight_bytes,
        state_bytes_per_chip: recurrent,
        kv_cache_at_ctx: kv(subject.ctx, subject.tp, &states.caches)?,
        memory,
        hbm_bytes_per_chip: memory_bytes,
        ddr_weight_bytes_per_chip: ddr,
        hbm_need_bytes: need,
        fits: needs.fits,
        hbm_fit: needs.hbm_fit(&subject.chip),
        hbm_headroom_bytes: headroom(memory_bytes, need),
        shortfall_bytes: needs.shortfall_bytes(),
        max_ctx_in_hbm: needs.max_ctx,
        max_sequences_in_hbm: needs.max_sequences,
        ladder: ladder(quantities)?,
        sharding: cuts(quantities),
    })
}

fn kv(ctx: u32, chips: u32, caches: &StateBytes) -> Result<KvBlock, TooLarge> {
    let held = caches.a_chip.checked_mul(u64::from(chips)).ok_or(TooLarge)?;
    let replication = held.checked_div(caches.whole).unwrap_or(0);
    Ok(KvBlock {
        ctx,
        bytes: caches.whole,
        kv_shards: u64::from(chips).checked_div(replication).unwrap_or(0),
        replication,
        per_chip_bytes: caches.a_chip,
    })
}

/// What is left of a memory; below zero what lacks.
fn headroom(memory: u64, need: u64) -> i64 {
    let left = i128::from(memory) - i128::from(need);
    i64::try_from(left).unwrap_or(if left < 0 { i64::MIN } else { i64::MAX })
}

fn ladder(quantities: &Quantities<'_>) -> Result<Vec<LadderRow>, TooLarge> {
    let Quantities { subject, .. } = quantities;
    Ok(subject.demand().ladder()?.iter().map(|rung| row(rung, &subject.chip)).collect())
}

fn row(rung: &Rung, chip: &Chip) -> LadderRow {
    let needs = &rung.needs;
    LadderRow {
        domain: rung.domain.as_str(),
        chips: rung.chips,
        refused: rung.against.iter().map(ToString::to_string).collect(),
        tensor_parallel: needs.tp,
        weights_per_chip_bytes: needs.weight_bytes,
        state_bytes_per_chip: needs.recurrent_bytes,
        kv_cache_per_chip_bytes: needs.kv_bytes,
        ddr_weight_bytes_per_chip: needs.experts_in_ddr_bytes,
        hbm_need_bytes: needs.main_bytes(),
        fits: needs.fits,
        hbm_fit: needs.hbm_fit(chip),
        hbm_headroom_bytes: headroom(needs.memory_bytes, needs.main_bytes()),
        shortfall_bytes: needs.shortfall_bytes(),
        max_ctx_in_hbm: needs.max_ctx,
    }
}

fn cuts(quantities: &Quantities<'_>) -> Vec<CutRow> {
    let programs = quantities.subject.programs().iter();
    programs
        .flat_map(|kind| {
            let bindings = kind.authored.bindings.iter();
            let weights = bindings.filter(|binding| matches!(binding.source, Source::Weight { .. }));
            weights.map(|binding| {
                let (cut, parts) = match kind.authored.program.value(binding.value).sharding {
                    Sharding::Whole | Sharding::Partial => ("whole", 1),
                    Sharding::Split { axis: Axis::Rows, parts } => ("rows", parts),
                    Sharding::Split { axis: Axis::Columns, parts } => ("columns", parts),
                    Sharding::Split { axis: Axis::Experts, parts } => ("experts", parts),
                };
                CutRow { program: kind.name.clone(), tensor: binding.name.clone(), cut, parts }
            })
        })
        .collect()
}
