//! What lies where: activations, states and caches against the chip's own memory.

use super::super::subject::{Made, Subject};
use super::{Quantities, peak_layer};
use crate::author::Source;
use crate::fit::TooLarge;
use crate::fit::inventory::States;
use crate::kinds::{KindProgram, Role};
use crate::language::ast::{Origin, Role as AstRole, Statement, ValueId};
use crate::ops::operation::MacsOf;
use crate::spatial::Tier;

/// What lies where.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResidencyBlock {
    /// On-chip memory of a chip.
    pub sram_bytes: u64,
    /// What the buffers of the largest section take of it; absent where nothing is certified.
    pub reserve_bytes: Option<u64>,
    /// Carried state that stays in it from step to step.
    pub sram_state_bytes_per_chip: u64,
    /// The most bytes of activations of a layer that are live at once, a token, all chips together.
    pub activations_per_token_bytes: u64,
    /// The first layer that has them.
    pub activations_peak_layer: Option<u32>,
    /// Its kind.
    pub activations_peak_layer_kind: Option<String>,
    /// Whether a chip's share of all sequences' fits its on-chip memory.
    pub activations_fit_sram: bool,
    /// The most bytes of activations of the head that are live at once, all sequences and chips together.
    pub lm_head_live_set_bytes: u64,
    /// The same on one chip, with its share of the vocabulary.
    pub lm_head_live_set_per_chip_bytes: u64,
    /// Memories of recurrences, all sequences.
    pub gdn_state_bytes: u64,
    /// On one chip.
    pub gdn_state_bytes_per_chip: u64,
    /// Last inputs of convolutions, all sequences.
    pub conv_state_bytes: u64,
    /// On one chip.
    pub conv_state_bytes_per_chip: u64,
    /// A position of every layer's cache, of one sequence.
    pub kv_cache_bytes_per_token: u64,
    /// On one chip.
    pub kv_cache_bytes_per_token_per_chip: u64,
    /// Activations, memories and rings of a chip, all sequences.
    pub recurrent_working_set_per_chip_bytes: u64,
    /// Whether that fits its on-chip memory.
    pub sram_fit_per_chip: bool,
    /// What lies in which memory.
    pub tiers: Tiers,
}

/// What lies in which memory.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tiers {
    /// Weights.
    pub weights: String,
    /// Activations.
    pub activations: &'static str,
    /// Memories of recurrences.
    pub gdn_state: String,
    /// Last inputs of convolutions.
    pub conv_state: String,
    /// Caches of attention.
    pub kv_cache: KvTier,
}

/// Caches of attention.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KvTier {
    /// Context up to which the on-chip memory would hold them beside reserve, memories and rings; 0 where it holds none.
    pub sram_until_ctx: u32,
    /// Where they lie.
    pub then: String,
}

pub(super) fn block(quantities: &Quantities<'_>) -> Result<ResidencyBlock, TooLarge> {
    let subject = quantities.subject;
    let states = &quantities.stock.states;
    let sram = subject.chip.unit().sram_bytes;
    let whole = peak_layer(quantities, |live| live.whole);
    let a_chip = peak_layer(quantities, |live| live.a_chip).map_or(0, |(_, peak)| peak.bytes);
    let head = subject.programs().iter().zip(&quantities.live).find(|(kind, _)| kind.role == Role::Head);
    let head = head.map(|(_, live)| (live.whole.bytes, live.a_chip.bytes)).unwrap_or_default();
    let sum = |parts: &[u64]| parts.iter().try_fold(0u64, |sum, &part| sum.checked_add(part)).ok_or(TooLarge);
    let working_set = sum(&[a_chip, states.memories.a_chip, states.rings.a_chip])?;
    let of_state = |of: MacsOf| tiers(subject, &|kind| state_values(kind, of));
    let sram_state_bytes_per_chip = match &subject.made {
        Made::Certified(deployed) => deployed.fit.sram_state_bytes,
        Made::TooLarge(..) => 0,
    };
    Ok(ResidencyBlock {
        sram_bytes: sram,
        reserve_bytes: subject.reserve_bytes(),
        sram_state_bytes_per_chip,
        activations_per_token_bytes: whole
            .map_or(0, |(_, peak)| peak.bytes.checked_div(u64::from(quantities.work.rows)).unwrap_or(0)),
        activations_peak_layer: whole.and_then(|(kind, _)| kind.first_layer),
        activations_peak_layer_kind: whole.map(|(kind, _)| kind.name.clone()),
        activations_fit_sram: a_chip <= sram,
        lm_head_live_set_bytes: head.0,
        lm_head_live_set_per_chip_bytes: head.1,
        gdn_state_bytes: states.memories.whole,
        gdn_state_bytes_per_chip: states.memories.a_chip,
        conv_state_bytes: states.rings.whole,
        conv_state_bytes_per_chip: states.rings.a_chip,
        kv_cache_bytes_per_token: states.a_position.whole,
        kv_cache_bytes_per_token_per_chip: states.a_position.a_chip,
        recurrent_working_set_per_chip_bytes: working_set,
        sram_fit_per_chip: working_set <= sram,
        tiers: Tiers {
            weights: tiers(subject, &weight_values),
            activations: "SRAM",
            gdn_state: of_state(MacsOf::Recurrence),
            conv_state: of_state(MacsOf::Convolution),
            kv_cache: KvTier { sram_until_ctx: sram_until_ctx(subject, states)?, then: of_state(MacsOf::Attention) },
        },
    })
}

/// The context up to which a chip's own memory would hold the caches beside the largest section's buffers and what recurs; 0 where
/// nothing is certified, as no section is known.
pub(in super::super) fn sram_until_ctx(subject: &Subject<'_>, states: &States) -> Result<u32, TooLarge> {
    let Some(reserve) = subject.reserve_bytes() else { return Ok(0) };
    let sram = subject.chip.unit().sram_bytes;
    let room = sram.saturating_sub(reserve).saturating_sub(states.memories.a_chip).saturating_sub(states.rings.a_chip);
    subject.demand().caches_until(subject.tp, room)
}

/// The memories that some declared values of all programs lie in, as the certificate has them: `HBM, DDR`; `none` of no values.
fn tiers(subject: &Subject<'_>, of: &dyn Fn(&KindProgram) -> Vec<ValueId>) -> String {
    let Made::Certified(deployed) = &subject.made else { return "nothing is certified".to_owned() };
    let mut found: Vec<Tier> = Vec::new();
    for (kind, homes) in deployed.programs.iter().zip(&deployed.laid.homes) {
        found.extend(of(kind).into_iter().map(|value| homes.of(value)));
    }
    found.sort_unstable();
    found.dedup();
    let names: Vec<&str> = found
        .into_iter()
        .map(|tier| match tier {
            Tier::Sram => "SRAM",
            Tier::Hbm => "HBM",
            Tier::Ddr => "DDR",
        })
        .collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn weight_values(kind: &KindProgram) -> Vec<ValueId> {
    let bindings = kind.authored.bindings.iter();
    bindings.filter(|binding| matches!(binding.source, Source::Weight { .. })).map(|binding| binding.value).collect()
}

/// The states of a program that operations of a sort read.
fn state_values(kind: &KindProgram, of: MacsOf) -> Vec<ValueId> {
    let program = &kind.authored.program;
    let mut states = Vec::new();
    for statement in &program.statements {
        let Statement::Let { op, operands, .. } = statement else { continue };
        if op.macs_of() == of {
            let is_state = |id: &&ValueId| matches!(program.value(**id).origin, Origin::Declared(AstRole::State));
            states.extend(operands.iter().filter(is_state).copied());
        }
    }
    states
}
