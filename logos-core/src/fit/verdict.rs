//! Whether a deployment fits, with the numbers, whether it does or not: what documents show of any width.

use super::{Need, TooLarge, ledger, word};
use crate::chip::Chip;
use crate::request::{DeploymentRequest, Form, Weights};
use crate::spec::ModelSpec;

/// What one chip needs and has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Weights.
    pub weight_bytes: u64,
    /// Carried state of all sequences, caches with it.
    pub state_bytes: u64,
    /// Of these, KV caches.
    pub kv_bytes: u64,
    /// Of the weights, experts that lie in DDR beside an HBM: as many as have to.
    pub ddr_weight_bytes: u64,
    /// `HBM`, or `DDR` where the chip has no HBM.
    pub memory: &'static str,
    /// Its bytes.
    pub memory_bytes: u64,
    /// Whether the chip's memories hold what is needed of them.
    pub fits: bool,
    /// Largest context with these sequences, the model's own at most; 0 where none fits.
    pub max_ctx: u32,
    /// Most sequences at this context.
    pub max_seqs: u32,
}

impl Verdict {
    /// Of a deployment whose width the model admits.
    ///
    /// # Errors
    /// Where a size leaves 64 bits.
    pub fn of(
        spec: &ModelSpec,
        chip: &Chip,
        deployment: &DeploymentRequest,
        weights: Weights,
    ) -> Result<Verdict, TooLarge> {
        let need = need(spec, chip, deployment, weights)?;
        let all = need.ledger.all(need.ctx, need.sequences)?;
        let (memory_bytes, memory) = chip.main_memory();
        let excess = all.saturating_sub(u128::from(memory_bytes));
        let ddr_weight_bytes = word(excess.min(need.ledger.experts).min(need.beside()))?;
        let room = need.room();
        Ok(Verdict {
            weight_bytes: word(need.ledger.weights)?,
            state_bytes: word(all.saturating_sub(need.ledger.weights))?,
            kv_bytes: word(need.ledger.kv(need.ctx)?.saturating_mul(u128::from(need.sequences)))?,
            ddr_weight_bytes,
            memory,
            memory_bytes,
            fits: excess <= u128::from(ddr_weight_bytes),
            max_ctx: need.max_ctx(room)?,
            max_seqs: need.max_seqs(room)?,
        })
    }

    /// Bytes needed of the memory that weights and states live in.
    pub const fn need_bytes(&self) -> u64 {
        self.weight_bytes.saturating_sub(self.ddr_weight_bytes).saturating_add(self.state_bytes)
    }

    /// What is left of it; below zero what lacks.
    pub const fn headroom_bytes(&self) -> i64 {
        let headroom = self.memory_bytes as i128 - self.need_bytes() as i128;
        if headroom > i64::MAX as i128 {
            i64::MAX
        } else if headroom < i64::MIN as i128 {
            i64::MIN
        } else {
            headroom as i64
        }
    }
}

/// The largest context at which the KV caches of a deployment take at most `room` bytes of a chip, the model's own at most.
///
/// # Errors
/// Where a size leaves 64 bits.
pub(super) fn kv_until(
    spec: &ModelSpec,
    chip: &Chip,
    deployment: &DeploymentRequest,
    weights: Weights,
    room: u64,
) -> Result<u32, TooLarge> {
    let need = need(spec, chip, deployment, weights)?;
    let sequences = u128::from(need.sequences);
    let (mut fits, mut most) = (0, spec.max_context);
    while fits < most {
        let middle = fits + (most - fits).div_ceil(2);
        if need.ledger.kv(middle)?.saturating_mul(sequences) <= u128::from(room) {
            fits = middle;
        } else {
            most = middle - 1;
        }
    }
    Ok(fits)
}

fn need<'a>(
    spec: &'a ModelSpec,
    chip: &'a Chip,
    deployment: &'a DeploymentRequest,
    weights: Weights,
) -> Result<Need<'a>, TooLarge> {
    let (ctx, sequences) = match deployment.form {
        Form::Forward { rows: _ } => (0, 0),
        Form::Decode { ctx, batch } => (ctx, batch),
        Form::Prefill { ctx, chunk: _ } => (ctx, 1),
    };
    let ledger = ledger(spec, deployment, deployment.chips(), weights)?;
    Ok(Need { spec, chip, deployment, weights, ctx, sequences, ledger })
}
