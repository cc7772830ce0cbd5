//! What a deployment needs of a chip's memory, and whether it fits.
//!
//! In: the specification, the chip's facts, a deployment and how weights are stored. Out: exact byte counts a chip, or
//! a refusal that says what would fit. What the model *needs* is counted, never what some allocator would reserve.
//! Activations are not here: they live in the chip's SRAM, which the lowering accounts for.

mod gemm;
pub mod inventory;
mod ledger;
pub mod live;
pub mod paged;
pub mod report;
pub(crate) mod require;
pub mod serving;
mod size;
pub mod work;

#[cfg(test)]
mod tests;

pub use gemm::{Gemm, Tile};
pub use size::TooLarge;

use crate::chip::Chip;
use crate::request::{DeploymentRequest, Form, Weights};
use crate::spec::ModelSpec;
use crate::{At, Code, Key, Refusal, shard};
use ledger::Ledger;
use size::word;

/// First facts of fit: bytes of one chip. Each is derived from the config, the width and the storage, and, where it
/// speaks of the memory, from the chip's own facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FitFacts {
    /// Weights.
    pub weight_bytes: u64,
    /// Carried state of all sequences: KV caches and recurrent states.
    pub state_bytes: u64,
    /// Of these, KV caches.
    pub kv_bytes: u64,
    /// Of the weights, those in DDR beside an HBM that does not hold them.
    pub ddr_weight_bytes: u64,
    /// Of the state, what stays in SRAM.
    pub sram_state_bytes: u64,
    /// The memory weights and states live in: HBM, or DDR where the chip has no HBM.
    pub memory: &'static str,
    /// Its size, as the chip's facts state it.
    pub memory_bytes: u64,
    /// Largest context that the main memory holds with these sequences beside the weights in it, never above the model's own; 0 for a forward
    /// step.
    pub max_ctx: u32,
    /// Most sequences that it so holds at this context; 0 for a forward step, which carries none.
    pub max_seqs: u32,
}

impl FitFacts {
    /// Of nothing, on no chip.
    pub const NOTHING: FitFacts = FitFacts {
        weight_bytes: 0,
        state_bytes: 0,
        kv_bytes: 0,
        ddr_weight_bytes: 0,
        sram_state_bytes: 0,
        memory: "",
        memory_bytes: 0,
        max_ctx: 0,
        max_seqs: 0,
    };

    /// Bytes that weights and states leave free.
    pub const fn headroom_bytes(&self) -> u64 {
        let weights = self.weight_bytes.saturating_sub(self.ddr_weight_bytes);
        self.memory_bytes.saturating_sub(weights).saturating_sub(self.state_bytes)
    }
}

/// What a deployment needs of a chip's memories, in bytes of one chip.
#[derive(Debug)]
pub struct Need<'a> {
    spec: &'a ModelSpec,
    chip: &'a Chip,
    deployment: &'a DeploymentRequest,
    weights: Weights,
    ctx: u32,
    sequences: u32,
    ledger: Ledger,
}

impl<'a> Need<'a> {
    /// Of a deployment that [`request::check_deployment`](crate::request::check_deployment) has nothing against.
    ///
    /// # Errors
    /// [`Code::FitMemory`] where weights and states of a chip exceed its memory, at the key that is too large, with what
    /// would fit instead; [`Code::SizeOverflow`] where they exceed 64 bits.
    pub fn of(
        spec: &'a ModelSpec,
        chip: &'a Chip,
        deployment: &'a DeploymentRequest,
        weights: Weights,
    ) -> Result<Self, Refusal> {
        // A prefill is over the decode step's own state.
        let (ctx, sequences) = match deployment.form {
            Form::Forward { rows: _ } => (0, 0),
            Form::Decode { ctx, batch } | Form::Prefill { ctx, batch, chunk: _ } => (ctx, batch),
        };
        let ledger = ledger(spec, deployment, deployment.chips(), weights)?;
        let need = Need { spec, chip, deployment, weights, ctx, sequences, ledger };
        if need.held_by(&need.ledger)? { Ok(need) } else { Err(need.refusal()?) }
    }

    /// Bytes of experts that HBM does not hold beside all else.
    pub fn excess(&self) -> u64 {
        let (memory, _) = self.chip.main_memory();
        let all = self.ledger.all(self.ctx, self.sequences).unwrap_or(u128::MAX);
        let excess = all.saturating_sub(u128::from(memory)).min(self.ledger.experts);
        u64::try_from(excess).unwrap_or(u64::MAX)
    }

    /// The facts of fit, with `in_ddr` bytes of experts in DDR beside an HBM, and `in_sram` bytes of state in SRAM.
    ///
    /// # Errors
    /// [`Code::SizeOverflow`].
    pub fn facts(&self, in_ddr: u64, in_sram: u64) -> Result<FitFacts, Refusal> {
        self.counted(in_ddr, in_sram).map_err(Refusal::from)
    }

    fn counted(&self, in_ddr: u64, in_sram: u64) -> Result<FitFacts, TooLarge> {
        let ledger = &self.ledger;
        let (memory_bytes, memory) = self.chip.main_memory();
        let state = ledger.all(self.ctx, self.sequences)?.saturating_sub(ledger.weights);
        let kv = ledger.kv(self.ctx)?.checked_mul(u128::from(self.sequences)).ok_or(TooLarge)?;
        let room = u128::from(memory_bytes) + u128::from(in_ddr);
        Ok(FitFacts {
            weight_bytes: word(ledger.weights)?,
            state_bytes: word(state)?,
            kv_bytes: word(kv)?,
            ddr_weight_bytes: in_ddr,
            sram_state_bytes: in_sram,
            memory,
            memory_bytes,
            max_ctx: self.max_ctx(room)?,
            max_seqs: self.max_seqs(room)?,
        })
    }

    /// Whether the chip's memories hold what a chip keeps by `ledger`: all in the main memory, or as many whole banks of experts as need be
    /// in DDR beside an HBM.
    fn held_by(&self, ledger: &Ledger) -> Result<bool, TooLarge> {
        let all = ledger.all(self.ctx, self.sequences)?;
        let excess = all.saturating_sub(u128::from(self.chip.main_memory().0));
        Ok(excess <= ledger.movable(beside(self.chip)))
    }

    /// What is said where experts that leave HBM, `in_ddr` bytes of whole banks, are more than DDR holds.
    pub(crate) fn beyond_ddr(&self, in_ddr: u64) -> Option<Refusal> {
        let ddr = beside(self.chip);
        (in_ddr > ddr).then(|| {
            let message =
                "the experts that HBM does not hold leave it in whole banks, and these are more than DDR holds";
            Refusal::new(Code::FitMemory, self.at(Key::Tp), message)
                .fact("experts that leave", bytes(in_ddr.into()))
                .fact(format!("DDR of one {}", self.chip.name), bytes(ddr.into()))
                .help("write a larger `tp`, or sizes that HBM holds more experts beside")
        })
    }

    /// The most that weights and states may take: the main memory, and what experts may take of DDR.
    fn room(&self) -> u128 {
        u128::from(self.chip.main_memory().0) + self.ledger.movable(beside(self.chip))
    }

    /// Largest context with these sequences; 0 of a forward step.
    fn max_ctx(&self, room: u128) -> Result<u32, TooLarge> {
        self.ledger.max_ctx(self.sequences, self.spec.max_context, room)
    }

    /// Most sequences at this context; 0 of a forward step.
    fn max_seqs(&self, room: u128) -> Result<u32, TooLarge> {
        if self.sequences == 0 { Ok(0) } else { self.ledger.max_sequences(self.ctx, room) }
    }

    fn at(&self, key: Key) -> At {
        At::Key(self.deployment.name.clone(), key)
    }

    /// Says which key is too large, by how much, and what would fit.
    fn refusal(&self) -> Result<Refusal, TooLarge> {
        let ledger = &self.ledger;
        let (memory_bytes, memory) = self.chip.main_memory();
        let room = self.room();
        let in_ddr = room.saturating_sub(memory_bytes.into());
        let whole = if in_ddr > 0 { "HBM and DDR" } else { memory };
        let sequence = ledger.sequence(self.ctx)?;
        let Need { ctx, sequences, .. } = *self;
        let tp = self.deployment.chips();
        let (max_seqs, max_ctx) = (self.max_seqs(room)?, self.max_ctx(room)?);
        let mut help = Vec::new();
        let (key, message) = if ledger.weights >= room || sequences == 0 {
            (Key::Tp, format!("the weights alone exceed the {whole} of {tp} {}", chips(tp)))
        } else if max_seqs == 0 {
            let message = format!("one sequence of {ctx} positions does not fit the {whole} of {tp} {}", chips(tp));
            (Key::Ctx, message)
        } else {
            help.push(format!("write `batch: {max_seqs}`"));
            let fit = if max_seqs == 1 { "sequence fits" } else { "sequences fit" };
            let asked = format!("{sequences} sequences of {ctx} positions exceed the {whole} of {tp} {}", chips(tp));
            (Key::Batch, format!("{asked}: {max_seqs} {fit}"))
        };
        if max_ctx >= self.deployment.form.tokens() && key != Key::Tp {
            help.push(format!("`ctx: {max_ctx}`"));
        }
        let widths = self.widths()?;
        help.extend(widths.first().map(|width| format!("`tp: {width}`")));
        if self.quantised_fits()? {
            help.push("`weights: q8_0`".to_owned());
        }
        let mut refusal = Refusal::new(Code::FitMemory, self.at(key), message)
            .fact("needed a chip", bytes(ledger.all(ctx, sequences)?))
            .fact(format!("{memory} of one {}", self.chip.name), bytes(u128::from(memory_bytes)))
            .fact("weights a chip", bytes(ledger.weights));
        if in_ddr > 0 {
            refusal = refusal
                .fact("of them experts, which alone may lie in DDR", bytes(ledger.experts))
                .fact("most of these that DDR holds, in whole banks", bytes(in_ddr));
        }
        if sequences > 0 {
            refusal = refusal.fact("state a sequence and chip", bytes(sequence));
            refusal = match key {
                Key::Batch => refusal.fact("most sequences at this context", max_seqs),
                Key::Tp | Key::Ctx | Key::Form | Key::Chunk | Key::Rows | Key::Experts => refusal,
            };
            if key != Key::Tp {
                refusal = refusal.fact(format!("largest context with {}", count(sequences, "sequence")), max_ctx);
            }
        }
        let holds = if widths.is_empty() { "no admitted width holds it".to_owned() } else { widths.join(", ") };
        refusal = refusal.fact("widths that would hold it", holds);
        Ok(match help.split_first() {
            None => refusal.help("take a chip with more memory, or a smaller model"),
            Some((first, [])) if first.starts_with("write") => refusal.help(first.clone()),
            Some((first, rest)) => {
                let first = if first.starts_with("write") { first.clone() } else { format!("write {first}") };
                refusal.help(rest.iter().fold(first, |line, next| line + ", or " + next))
            }
        })
    }

    /// Whether projections stored as Q8_0 would make the deployment fit; of a checkpoint, which says how its weights are stored, they
    /// cannot be asked for.
    fn quantised_fits(&self) -> Result<bool, TooLarge> {
        if self.weights == Weights::Q8_0 || !self.spec.as_stored.is_empty() {
            return Ok(false);
        }
        self.held_by(&ledger(self.spec, self.deployment, self.deployment.chips(), Weights::Q8_0)?)
    }

    /// Admitted widths of the chip's domain that would hold the deployment.
    fn widths(&self) -> Result<Vec<String>, TooLarge> {
        let mut widths = Vec::new();
        for tp in shard::widths(self.spec, self.chip.domain()) {
            if self.held_by(&ledger(self.spec, self.deployment, tp, self.weights)?)? {
                widths.push(tp.to_string());
            }
        }
        Ok(widths)
    }
}

/// Bytes of DDR beside an HBM, where experts may lie.
pub(crate) fn beside(chip: &Chip) -> u64 {
    let unit = chip.unit();
    if unit.hbm_bytes > 0 && unit.ddr_rate > 0 { unit.ddr_bytes } else { 0 }
}

/// What one of `tp` chips keeps.
fn ledger(spec: &ModelSpec, deployment: &DeploymentRequest, tp: u32, weights: Weights) -> Result<Ledger, TooLarge> {
    Ledger::of(spec, tp, weights, !matches!(deployment.form, Form::Forward { .. }))
}

fn chips(n: u32) -> &'static str {
    if n == 1 { "chip" } else { "chips" }
}

fn count(n: u32, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// Digits of a group of thousands.
///
/// Source: ours, how figures are printed.
const THOUSAND: usize = 3;

/// Bits by which one unit of bytes is more than the one before.
///
/// Source: IEC 80000-13, a KiB is 2^10 bytes.
const UNIT_BITS: usize = 10;

/// Parts that a figure in units is printed in.
///
/// Source: ours, how figures are printed.
const TENTHS: u128 = 10;

/// Bytes with thousands apart, and in the unit they are best read in: `68,719,476,736 bytes (64.0 GiB)`.
pub(crate) fn bytes(n: u128) -> String {
    const UNITS: &[&str] = &["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(THOUSAND) {
            text.push(',');
        }
        text.push(digit);
    }
    text.push_str(" bytes");
    let power = (1..=UNITS.len()).take_while(|p| n >> (UNIT_BITS * p) > 0).last();
    if let Some(power) = power {
        let tenths = ((n >> (UNIT_BITS * (power - 1))) * TENTHS) >> UNIT_BITS;
        text.push_str(&format!(" ({}.{} {})", tenths / TENTHS, tenths % TENTHS, UNITS[power - 1]));
    }
    text
}
