//! What vLLM's allocator would reserve for the caches and states of a model, a chip: never what the model needs.
//!
//! Memory is granted in blocks of one size that all layers share. Layers of unlike kinds stand in groups of equal size, a short group
//! paying for a full one; a window is charged with the tokens in flight; recurrent states are padded to the page of an
//! attention block, whose tokens grow to hold one. [`VERSION`] is the version whose rules these are.

mod layers;

use super::size::{TooLarge, add, mul, word};
use crate::spec::{LayerSpec, Mixer, ModelSpec};
use crate::{At, Code, Refusal};
use layers::{Kind, Layers};

/// The version of vLLM whose rules these are.
pub const VERSION: &str = "vllm-project/vllm at 7cfb97e33791 (2026-08-20)";

/// Tokens of a block where nothing asks for more.
///
/// Source: `vllm/config/cache.py`.
const BLOCK: u32 = 16;

/// Tokens of a block of latent attention.
///
/// Source: `vllm/v1/attention/backends/mla/flashmla.py`, whose kernel takes no other.
const LATENT_BLOCK: u32 = 64;

/// Least tokens of a block of a hybrid with latent attention.
///
/// Source: `vllm/platforms/interface.py`, `_align_hybrid_block_size`.
const LATENT_HYBRID_BLOCK: u32 = 128;

/// Tokens of a batch of a server where nothing is said, on a device of at least so many bytes: 160 GiB, 70, or less.
///
/// Source: `vllm/engine/arg_utils.py`.
const BATCHED_TOKENS: [(u64, u32); 3] = [(160 << 30, 16_384), (70 << 30, 8192), (0, 2048)];

/// Batches under way at a time with asynchronous scheduling.
///
/// Source: `vllm/config/vllm.py`.
const CONCURRENT_BATCHES: u32 = 2;

/// Groups are of as many layers as the rarest kind has, unless the commonest has fewer than this many times as many: then of as many
/// as that. A quotient.
///
/// Source: `vllm/v1/core/kv_cache_utils.py`.
const UNEVEN: (u64, u64) = (3, 2);

/// What a server is started with, as far as it decides on memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Tokens of a block; none: the version's own.
    pub block: Option<u32>,
    /// Tokens in flight: concurrent batches times tokens of a batch.
    pub in_flight: u32,
    /// Whether prefixes are cached: a recurrence then keeps two states a sequence.
    pub prefix_caching: bool,
    /// Draft tokens a step.
    pub drafts: u32,
    /// Whether layers of unlike kinds may stand in groups of their own. Without it a window or a chunk is charged as the whole context.
    pub hybrid: bool,
}

impl Policy {
    /// What a server is started with on devices of so many bytes where nothing is said. Layers that see their own chunk switch groups of
    /// unlike kinds off.
    pub fn of(spec: &ModelSpec, device: u64) -> Policy {
        let chunked = |layer: &LayerSpec| matches!(Kind::of(layer), Kind::Chunked(_));
        let batched = BATCHED_TOKENS.iter().find(|(least, _)| device >= *least);
        Policy {
            block: None,
            in_flight: CONCURRENT_BATCHES * batched.map_or(0, |(_, tokens)| *tokens),
            prefix_caching: true,
            drafts: 0,
            hybrid: !spec.layers.iter().any(chunked),
        }
    }
}

impl Policy {
    /// The same with batches of so many tokens.
    #[must_use]
    pub fn with_batches_of(self, tokens: u32) -> Policy {
        Policy { in_flight: CONCURRENT_BATCHES.saturating_mul(tokens), ..self }
    }
}

/// Bytes that are reserved; no sum of them with bytes that are needed means anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reserved(pub u64);

/// How a chip's memory for caches and states is granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paged {
    policy: Policy,
    /// The groups of layers, in the order of the kinds' first layers.
    pub groups: Vec<Group>,
    /// Layers that a group pays for.
    pub group_layers: u32,
    /// Bytes of a block of one layer; where layers of one kind have pages of unlike sizes, of all of them.
    pub page: u64,
    /// Bytes of a block of the pool: a page of every layer of a group.
    pub pool_block: u64,
    /// Bytes of a token over all layers that cache one, windows counted as if they saw all.
    pub token: u64,
    /// Bytes of the state of one recurrent layer and sequence, before they are padded to a page; 0 without one.
    pub state: u64,
}

/// Layers of one kind that are granted blocks together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    kind: Kind,
    /// Layers that are there; the group pays for [`Paged::group_layers`].
    pub layers: u32,
    /// Tokens of a block.
    pub block: u32,
}

/// Why nothing is granted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unpaged {
    /// Pages of two kinds that no whole number of blocks makes equal.
    #[error("vLLM grants pages of one size, and of the model's layers some ask for {0} bytes a block and some for {1}")]
    Pages(u64, u64),
    /// Recurrent layers and none that attends, or no groups of unlike kinds.
    #[error("vLLM serves recurrent layers beside layers that attend only in groups of their own")]
    Groups,
    /// Heads of a recurrence that do not split over the chips.
    #[error("the {0} heads of a recurrence do not split over {1} chips")]
    Split(u32, u32),
    /// A block or a width of none.
    #[error("blocks of 0 tokens, or a width of 0 chips")]
    Zero,
    /// A size that is too large.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
}

impl From<Unpaged> for Refusal {
    fn from(unpaged: Unpaged) -> Refusal {
        let code = match unpaged {
            Unpaged::TooLarge(too_large) => return too_large.into(),
            Unpaged::Split(..) | Unpaged::Zero => Code::TpSplit,
            Unpaged::Pages(..) | Unpaged::Groups => Code::FitMemory,
        };
        Refusal::new(code, At::Model, unpaged.to_string()).fact("rules of", VERSION)
    }
}

impl Paged {
    /// Of a chip among `tp`.
    ///
    /// # Errors
    /// What the version would refuse to start with.
    pub fn of(spec: &ModelSpec, tp: u32, policy: Policy) -> Result<Paged, Unpaged> {
        if tp == 0 || policy.block == Some(0) {
            return Err(Unpaged::Zero);
        }
        let kinds = layers::kinds(spec, tp, policy)?;
        let latent = spec.layers.iter().any(|layer| matches!(layer.mixer, Mixer::Latent(_)));
        let block = policy.block.unwrap_or(if latent { LATENT_BLOCK } else { BLOCK });
        let token = kinds.iter().try_fold(0, |sum, kind| add(sum, mul(kind.token, kind.count)?))?;
        let state = kinds.iter().map(|kind| kind.state).fold(0, u128::max);
        let paged = |groups: Vec<Group>, layers: u64, page: u128, pool_block: u128| -> Result<Paged, Unpaged> {
            Ok(Paged {
                policy,
                groups,
                group_layers: u32::try_from(layers).map_err(|_| TooLarge)?,
                page: word(page)?,
                pool_block: word(pool_block)?,
                token: word(token)?,
                state: word(state)?,
            })
        };
        let of_one_kind = kinds.first().filter(|first| kinds.iter().all(|kind| kind.kind == first.kind));
        if let Some(&Layers { kind, state, .. }) = of_one_kind {
            // A page of every layer together; of a recurrence alone a state is a page.
            let pool_block = if state > 0 {
                kinds.iter().try_fold(0, |sum, kind| add(sum, mul(kind.state, kind.count)?))?
            } else {
                mul(token, u128::from(block))?
            };
            let count = kinds.iter().map(|kind| kind.count).sum::<u128>();
            let layers = word(count)?;
            let page = if kinds.len() == 1 { pool_block / count.max(1) } else { pool_block };
            let group = Group { kind, layers: u32::try_from(layers).map_err(|_| TooLarge)?, block };
            return paged(vec![group], layers, page, pool_block);
        }

        let widest = kinds.iter().map(|kind| kind.token).fold(0, u128::max);
        let block = if state == 0 { u128::from(block) } else { aligned(block, latent, state, widest)? };
        let page = mul(block, widest)?;
        let mut counts = kinds.iter().map(|kind| kind.count);
        let first = counts.next().unwrap_or_default();
        let (least, most) = counts.fold((first, first), |(least, most), n| (least.min(n), most.max(n)));
        let (above, below) = (u128::from(UNEVEN.0), u128::from(UNEVEN.1));
        let size = if most * below < least * above { most } else { least };
        let mut groups = Vec::new();
        for kind in &kinds {
            let block = match kind.token {
                0 => block,
                token if page.is_multiple_of(token) && (page / token).is_multiple_of(block) => page / token,
                token => return Err(Unpaged::Pages(word(mul(token, block)?)?, word(page)?)),
            };
            let block = u32::try_from(block).map_err(|_| TooLarge)?;
            let mut left = kind.count;
            while left > 0 {
                let layers = left.min(size);
                left -= layers;
                groups.push(Group { kind: kind.kind, layers: layers as u32, block });
            }
        }
        paged(groups, word(size)?, page, mul(size, page)?)
    }

    /// Blocks of the pool that a sequence of `len` tokens is granted.
    pub fn blocks(&self, len: u32) -> u64 {
        self.groups.iter().map(|group| group.blocks(len, &self.policy)).fold(0, u64::saturating_add)
    }

    /// What a sequence of `len` tokens is charged.
    ///
    /// # Errors
    /// Where it leaves 64 bits.
    pub fn sequence(&self, len: u32) -> Result<Reserved, TooLarge> {
        Ok(Reserved(word(mul(u128::from(self.pool_block), u128::from(self.blocks(len)))?)?))
    }

    /// What must be free for `sequences` of `len` tokens: their blocks, and the one that is always held back.
    ///
    /// # Errors
    /// Where it leaves 64 bits.
    pub fn reserved(&self, len: u32, sequences: u32) -> Result<Reserved, TooLarge> {
        let all = mul(u128::from(self.sequence(len)?.0), u128::from(sequences))?;
        Ok(Reserved(word(add(all, u128::from(self.pool_block))?)?))
    }

    /// The longest sequence that `available` bytes hold, up to `most` tokens; 0 where they hold none.
    pub fn longest(&self, available: u64, most: u32) -> u32 {
        let fits = |len| self.reserved(len, 1).is_ok_and(|reserved| reserved.0 <= available);
        // What is charged never falls as a sequence grows, so halving finds it.
        let (mut fit, mut most) = (0, most);
        while fit < most {
            let middle = fit + (most - fit).div_ceil(2);
            if fits(middle) {
                fit = middle;
            } else {
                most = middle - 1;
            }
        }
        fit
    }

    /// Most sequences of `len` tokens that `available` bytes hold.
    pub fn sequences(&self, available: u64, len: u32) -> u64 {
        let blocks = (available / self.pool_block.max(1)).saturating_sub(1);
        blocks.checked_div(self.blocks(len)).unwrap_or_default()
    }
}

/// Tokens of a block whose page holds a state.
///
/// Source: `vllm/platforms/interface.py`, `_align_hybrid_block_size`.
fn aligned(block: u32, latent: bool, state: u128, token: u128) -> Result<u128, Unpaged> {
    let least = u128::from(if latent { block.max(LATENT_HYBRID_BLOCK) } else { block });
    let page = mul(least, token)?;
    let pages = state.checked_div(page).ok_or(Unpaged::Groups)? + u128::from(!state.is_multiple_of(page));
    Ok(mul(least, pages)?)
}

impl Group {
    /// Blocks of a sequence of `len` tokens.
    ///
    /// Source: `vllm/v1/kv_cache_interface.py`, `max_memory_usage_bytes` of each specification.
    fn blocks(&self, len: u32, policy: &Policy) -> u64 {
        let (len, flight) = (u64::from(len), u64::from(policy.in_flight));
        let blocks = |tokens: u64| tokens.min(len).div_ceil(u64::from(self.block.max(1)));
        match self.kind {
            Kind::Full | Kind::Latent => blocks(len),
            // The window may begin within a block.
            Kind::Window(width) => blocks(u64::from(width).saturating_sub(1) + flight) + 1,
            Kind::Chunked(positions) => blocks(u64::from(positions) + flight),
            Kind::State => u64::from(policy.drafts) + if policy.prefix_caching { 2 } else { 1 },
        }
    }
}

#[cfg(test)]
mod tests;
