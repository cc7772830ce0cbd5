//! What a chip of the width holds, whether that fits, and the same for one chip, a node and a rack.

use super::Quantities;
use crate::author::{Source, storage_of};
use crate::fit::inventory::StateBytes;
use crate::fit::{TooLarge, Verdict};
use crate::language::ast::{Axis, Sharding};
use crate::request::{self, DeploymentRequest, Form};

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
    /// Whether that is there.
    pub hbm_fit: bool,
    /// What is left; below zero what lacks.
    pub hbm_headroom_bytes: i64,
    /// Largest context that fits with these sequences, the model's own at most; 0 where none does.
    pub max_ctx_in_hbm: u32,
    /// Most sequences that fit at this context.
    pub max_sequences_in_hbm: u32,
    /// One chip, a node, a rack, and the width itself.
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

/// A width.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LadderRow {
    /// Chips.
    pub chips: u32,
    /// `one chip`, `node`, `rack`, `this deployment`; several where they are one.
    pub domain: String,
    /// Why the model does not admit it; the figures below are then absent.
    pub refused: Vec<String>,
    /// Weights of a chip.
    pub weights_per_chip_bytes: Option<u64>,
    /// Carried state of a chip, caches with it.
    pub state_bytes_per_chip: Option<u64>,
    /// Of it the caches.
    pub kv_cache_per_chip_bytes: Option<u64>,
    /// Of the weights, experts that would lie in DDR beside an HBM.
    pub ddr_weight_bytes_per_chip: Option<u64>,
    /// What is needed of the memory.
    pub hbm_need_bytes: Option<u64>,
    /// Whether it fits.
    pub hbm_fit: Option<bool>,
    /// What is left; below zero what lacks.
    pub hbm_headroom_bytes: Option<i64>,
    /// Largest context that fits with these sequences.
    pub max_ctx_in_hbm: Option<u32>,
}

/// How a weight is cut.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CutRow {
    /// The program that reads it.
    pub program: String,
    /// Its name there, `{l}` for the layer.
    pub tensor: String,
    /// `whole`, `rows`, `columns`.
    pub cut: &'static str,
    /// Parts; fewer than the chips where several hold the same.
    pub parts: u32,
}

pub(super) fn block(quantities: &Quantities<'_>) -> Result<TensorParallel, TooLarge> {
    let subject = quantities.subject;
    let weights = &quantities.stock.weights.a_chip;
    let states = &quantities.stock.states;
    let verdict = &subject.verdict;
    let recurrent = states.memories.a_chip.checked_add(states.rings.a_chip).ok_or(TooLarge)?;
    Ok(TensorParallel {
        chips: subject.tp,
        dtype: storage_of(subject.spec.dtype).as_str(),
        sharded_weight_bytes_per_chip: weights.sharded,
        replicated_weight_bytes: weights.replicated,
        weights_per_chip_bytes: weights.sharded.checked_add(weights.replicated).ok_or(TooLarge)?,
        state_bytes_per_chip: recurrent,
        kv_cache_at_ctx: kv(subject.ctx, subject.tp, &states.caches)?,
        memory: verdict.memory,
        hbm_bytes_per_chip: verdict.memory_bytes,
        ddr_weight_bytes_per_chip: verdict.ddr_weight_bytes,
        hbm_need_bytes: verdict.need_bytes(),
        hbm_fit: verdict.fits,
        hbm_headroom_bytes: verdict.headroom_bytes(),
        max_ctx_in_hbm: verdict.max_ctx,
        max_sequences_in_hbm: verdict.max_seqs,
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

/// The widths that vendors ship, each once, and the deployment's own.
fn ladder(quantities: &Quantities<'_>) -> Result<Vec<LadderRow>, TooLarge> {
    let subject = quantities.subject;
    let chip = subject.chip.as_ref();
    let mut widths: Vec<(u32, String)> = Vec::new();
    let rack = chip.chips_per_rack().map(|chips| (chips, "rack"));
    let shipped = [Some((1, "one chip")), Some((chip.chips_per_node(), "node")), rack];
    for (width, domain) in shipped.into_iter().flatten().chain([(subject.tp, "this deployment")]) {
        match widths.iter_mut().find(|(known, _)| *known == width) {
            Some((_, domains)) => *domains = format!("{domains}, {domain}"),
            None => widths.push((width, domain.to_owned())),
        }
    }
    widths.sort_by_key(|(width, _)| *width);
    let form = Form::Decode { ctx: subject.ctx, batch: subject.asked.batch };
    widths
        .into_iter()
        .map(|(chips, domain)| {
            let deployment = DeploymentRequest { name: String::new(), form, tp: Some(chips) };
            let refusals = request::check_deployment(&subject.spec, chip, &deployment);
            let refused: Vec<String> = refusals.into_iter().map(|refusal| refusal.message).collect();
            let verdict = match refused.is_empty() {
                true => Some(Verdict::of(&subject.spec, chip, &deployment, subject.asked.weights)?),
                false => None,
            };
            Ok(row(chips, domain, refused, verdict.as_ref()))
        })
        .collect()
}

fn row(chips: u32, domain: String, refused: Vec<String>, verdict: Option<&Verdict>) -> LadderRow {
    LadderRow {
        chips,
        domain,
        refused,
        weights_per_chip_bytes: verdict.map(|verdict| verdict.weight_bytes),
        state_bytes_per_chip: verdict.map(|verdict| verdict.state_bytes),
        kv_cache_per_chip_bytes: verdict.map(|verdict| verdict.kv_bytes),
        ddr_weight_bytes_per_chip: verdict.map(|verdict| verdict.ddr_weight_bytes),
        hbm_need_bytes: verdict.map(Verdict::need_bytes),
        hbm_fit: verdict.map(|verdict| verdict.fits),
        hbm_headroom_bytes: verdict.map(Verdict::headroom_bytes),
        max_ctx_in_hbm: verdict.map(|verdict| verdict.max_ctx),
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
                };
                CutRow { program: kind.name.clone(), tensor: binding.name.clone(), cut, parts }
            })
        })
        .collect()
}
