//! How a model is served by the chips there are: widths and what each of them needs, how many sequences fit, and what the chips that are
//! left over do.
//!
//! In: a specification, a chip, how weights are stored, a context. Out: a ladder of domains, and a plan. All bytes are what the model
//! *needs*, as this compiler's bundles keep it; what another allocator would reserve is `paged`'s to say, and never
//! added to these.

use super::beside;
use super::ledger::Ledger;
use super::size::{TooLarge, word};
use crate::chip::Chip;
use crate::request::Weights;
use crate::shard::{self, SplitReason};
use crate::spec::ModelSpec;

/// Chips that a width may be taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Domain {
    /// One chip.
    Chip,
    /// The chips of a node.
    Node,
    /// The chips of the rack the vendor ships.
    Rack,
    /// All chips that a width may use.
    ScaleUp,
}

impl Domain {
    /// Every domain, smallest first.
    pub const ALL: [Domain; 4] = [Domain::Chip, Domain::Node, Domain::Rack, Domain::ScaleUp];

    /// As a report names it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Domain::Chip => "chip",
            Domain::Node => "node",
            Domain::Rack => "rack",
            Domain::ScaleUp => "scale-up",
        }
    }

    /// Chips of the domain; none where the vendor tabulates no such thing, or states no rate between chips.
    pub fn chips(self, chip: &Chip) -> Option<u32> {
        let chips = match self {
            Domain::Chip => return Some(1),
            Domain::Node => chip.chips_per_node(),
            Domain::Rack => chip.chips_per_rack()?,
            Domain::ScaleUp => chip.domain(),
        };
        chip.has_link().then_some(chips)
    }
}

/// What one chip of a width needs, at a context and a number of sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Chips.
    pub tp: u32,
    /// Weights.
    pub weight_bytes: u64,
    /// Recurrent state and convolution rings of all sequences.
    pub recurrent_bytes: u64,
    /// KV caches of all sequences.
    pub kv_bytes: u64,
    /// Experts that HBM does not hold beside all else: the fewest bytes of whole banks that leave enough room, or, where DDR does not hold
    /// those, the most that it holds.
    pub experts_in_ddr_bytes: u64,
    /// The main memory: HBM, or DDR where the chip has no HBM.
    pub memory_bytes: u64,
    /// Whether the chip's memories hold it, experts in DDR where they must be.
    pub fits: bool,
    /// Whether the main memory holds all of it.
    pub fits_main: bool,
    /// Largest context that the chip's memories hold with these sequences, never above the model's own.
    pub max_ctx: u32,
    /// Most sequences at this context.
    pub max_sequences: u32,
}

impl Needs {
    /// Whether the chip's HBM alone holds all of it.
    pub fn hbm_fit(&self, chip: &Chip) -> bool {
        chip.unit().hbm_bytes > 0 && self.fits_main
    }

    /// Bytes needed of the main memory: all but the experts that DDR holds.
    pub const fn main_bytes(&self) -> u64 {
        self.need_bytes().saturating_sub(self.experts_in_ddr_bytes)
    }

    /// What lacks of the main memory beside the experts that DDR holds; 0 where it fits.
    pub const fn shortfall_bytes(&self) -> u64 {
        if self.fits { 0 } else { self.main_bytes().saturating_sub(self.memory_bytes) }
    }

    /// All a chip needs.
    pub const fn need_bytes(&self) -> u64 {
        self.weight_bytes + self.recurrent_bytes + self.kv_bytes
    }
}

/// A domain, and the widest width that the model admits in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rung {
    /// The domain.
    pub domain: Domain,
    /// Its chips.
    pub chips: u32,
    /// Why the model does not split over all of them; none where it does.
    pub against: Vec<SplitReason>,
    /// What a chip of the widest width needs.
    pub needs: Needs,
}

/// A model's demand on chips.
#[derive(Clone, Copy, Debug)]
pub struct Demand<'a> {
    /// The model.
    pub spec: &'a ModelSpec,
    /// The chip.
    pub chip: &'a Chip,
    /// How weights are stored.
    pub weights: Weights,
    /// Context, positions.
    pub ctx: u32,
    /// Sequences.
    pub sequences: u32,
}

/// How the chips of a domain serve a model at a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The domain.
    pub domain: Domain,
    /// Chips of a replica.
    pub tensor_parallel: u32,
    /// Replicas that the domain's chips make.
    pub data_parallel: u32,
    /// Chips of the domain that no replica uses.
    pub idle_chips: u32,
    /// Context, positions.
    pub ctx: u32,
    /// What a chip needs with one sequence.
    pub needs: Needs,
    /// State of one sequence at the context, of one chip.
    pub sequence_bytes: u64,
    /// Most sequences of a replica.
    pub max_sequences_per_replica: u32,
    /// Most sequences of all replicas.
    pub max_sequences: u64,
    /// Largest context of a replica with one sequence.
    pub max_ctx: u32,
}

/// Why no plan is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// No replica holds the weights.
    #[error("the weights of a chip take {need} bytes, {room} are there at the widest width admitted, {tp}")]
    Weights {
        /// Width.
        tp: u32,
        /// Weights of one chip.
        need: u64,
        /// What may hold them.
        room: u64,
    },
    /// No replica holds a sequence.
    #[error(
        "one sequence of {ctx} positions does not fit beside the weights at the widest width admitted, {tp}; the largest context is {max_ctx}"
    )]
    Sequence {
        /// Width.
        tp: u32,
        /// Context asked for.
        ctx: u32,
        /// Largest context that fits.
        max_ctx: u32,
    },
    /// A size leaves 64 bits.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
}

impl Demand<'_> {
    /// What a chip needs at a width that the model admits.
    ///
    /// # Errors
    /// Where a size leaves 64 bits.
    pub fn at(&self, tp: u32) -> Result<Needs, TooLarge> {
        let Demand { spec, chip, weights, ctx, sequences } = *self;
        let ledger = Ledger::of(spec, tp, weights, true)?;
        let all = ledger.all(ctx, sequences)?;
        let many = |one: u128| one.checked_mul(u128::from(sequences)).ok_or(TooLarge);
        let memory = chip.main_memory().0;
        let excess = all.saturating_sub(u128::from(memory));
        let movable = ledger.movable(beside(chip));
        // Where DDR does not hold enough of them, all that it holds.
        let in_ddr = ledger.leaving(excess.min(ledger.experts)).min(movable);
        let room = u128::from(memory) + movable;
        // So that no sum or difference of what follows leaves its words.
        i64::try_from(all).map_err(|_| TooLarge)?;
        Ok(Needs {
            tp,
            weight_bytes: word(ledger.weights)?,
            recurrent_bytes: word(many(ledger.recurrent)?)?,
            kv_bytes: word(many(ledger.kv(ctx)?)?)?,
            experts_in_ddr_bytes: word(in_ddr)?,
            memory_bytes: memory,
            fits: all <= room,
            fits_main: excess == 0,
            max_ctx: ledger.max_ctx(sequences, spec.max_context, room)?,
            max_sequences: ledger.max_sequences(ctx, room)?,
        })
    }

    /// Largest context at which the KV caches of a chip of a width take at most `room` bytes, the model's own at most.
    ///
    /// # Errors
    /// Where a size leaves 64 bits.
    pub fn caches_until(&self, tp: u32, room: u64) -> Result<u32, TooLarge> {
        let Demand { spec, weights, sequences, .. } = *self;
        let ledger = Ledger::of(spec, tp, weights, true)?;
        let caches = Ledger { weights: 0, recurrent: 0, ..ledger };
        caches.max_ctx(sequences, spec.max_context, u128::from(room))
    }

    /// Chip, node and rack: of each the widest width that the model admits, and what it needs. A domain as large as the one before is
    /// left out.
    ///
    /// # Errors
    /// Where a size leaves 64 bits.
    pub fn ladder(&self) -> Result<Vec<Rung>, TooLarge> {
        let mut rungs: Vec<Rung> = Vec::new();
        for domain in [Domain::Chip, Domain::Node, Domain::Rack] {
            let Some(chips) = domain.chips(self.chip) else { continue };
            if rungs.last().is_some_and(|rung| rung.chips >= chips) {
                continue;
            }
            let against = shard::admission(self.spec, chips);
            rungs.push(Rung { domain, chips, against, needs: self.at(self.widest(chips))? });
        }
        Ok(rungs)
    }

    /// The widest width within `chips`, and within the chip's domain, that the model admits.
    fn widest(&self, chips: u32) -> u32 {
        shard::widths(self.spec, chips.min(self.chip.domain())).last().copied().unwrap_or(1)
    }

    /// The plan of a domain: replicas of the widest width that the model admits in it.
    ///
    /// # Errors
    /// [`PlanError`]: the weights, or one sequence, do not fit.
    pub fn plan(&self, domain: Domain) -> Result<Plan, PlanError> {
        let chips = domain.chips(self.chip).unwrap_or(1);
        let tp = self.widest(chips);
        let one = Demand { sequences: 1, ..*self };
        let needs = one.at(tp)?;
        if needs.max_sequences == 0 {
            let ledger = Ledger::of(self.spec, tp, self.weights, true)?;
            let room = u128::from(needs.memory_bytes) + ledger.movable(beside(self.chip));
            if ledger.weights > room {
                return Err(PlanError::Weights { tp, need: word(ledger.weights)?, room: word(room)? });
            }
            return Err(PlanError::Sequence { tp, ctx: self.ctx, max_ctx: needs.max_ctx });
        }
        let replicas = chips / tp;
        Ok(Plan {
            domain,
            tensor_parallel: tp,
            data_parallel: replicas,
            idle_chips: chips - replicas * tp,
            ctx: self.ctx,
            needs,
            sequence_bytes: needs.recurrent_bytes + needs.kv_bytes,
            max_sequences_per_replica: needs.max_sequences,
            max_sequences: u64::from(needs.max_sequences) * u64::from(replicas),
            max_ctx: needs.max_ctx,
        })
    }
}

#[cfg(test)]
mod tests;
