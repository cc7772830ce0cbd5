//! Which tensor-parallel widths a model admits: a function of the specification and the width alone.

use std::fmt::{self, Write};

use crate::refusal::{At, Code, Refusal};
use crate::spec::{
    Attention, ExpertSplit, FeedForward, GatedDelta, LatentAttention, Mixer, Mlp, ModelSpec, Norm, NormKind, QkNorm,
    Vocabulary,
};

/// Why a model does not split over a number of chips. The sizes are the whole model's.
///
/// # Source
/// What serving stacks check one after another, each time a model is started (vLLM's `verify_with_parallel_config`, its
/// linear and embedding layers), with a rule they leave to a crash: Gated DeltaNet's key heads split by heads, not by
/// columns. Replicated KV heads and a norm over the whole row go together here: its mean is that of all chips' columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SplitReason {
    /// No chip at all.
    NoChips,
    /// Query heads are whole on a chip.
    QueryHeads {
        /// Query heads.
        heads: u32,
        /// Chips.
        chips: u32,
    },
    /// KV heads are whole on a chip: they divide over the chips, or the chips over them.
    KvHeads {
        /// Key and value heads.
        heads: u32,
        /// Chips.
        chips: u32,
    },
    /// Heads of latent attention are whole on a chip.
    LatentHeads {
        /// Query heads.
        heads: u32,
        /// Chips.
        chips: u32,
    },
    /// Gated DeltaNet's key heads are whole on a chip, with the value heads that read them.
    KeyHeads {
        /// Key heads.
        heads: u32,
        /// Chips.
        chips: u32,
    },
    /// Gated DeltaNet's value heads are whole on a chip.
    ValueHeads {
        /// Value heads.
        heads: u32,
        /// Chips.
        chips: u32,
    },
    /// A layernorm over the whole row of queries and keys: mean and variance would have to be those of all chips, which no operation finds yet.
    WholeRowNorm {
        /// Chips.
        chips: u32,
    },
    /// Columns of a dense feed-forward block.
    FeedForward {
        /// Columns.
        columns: u32,
        /// Chips.
        chips: u32,
    },
    /// Experts, whole on a chip.
    Experts {
        /// Experts.
        count: u32,
        /// Chips.
        chips: u32,
    },
    /// Columns of an expert.
    Expert {
        /// Columns.
        columns: u32,
        /// Chips.
        chips: u32,
    },
    /// Columns of the expert that every token passes.
    SharedExpert {
        /// Columns.
        columns: u32,
        /// Chips.
        chips: u32,
    },
    /// Rows of the vocabulary, cut exactly.
    Vocabulary {
        /// Rows.
        rows: u32,
        /// Chips.
        chips: u32,
    },
}

impl SplitReason {
    /// A name for machines: of what does not split.
    pub const fn name(&self) -> &'static str {
        match self {
            SplitReason::NoChips => "no_chips",
            SplitReason::QueryHeads { .. } => "query_heads",
            SplitReason::KvHeads { .. } => "kv_heads",
            SplitReason::LatentHeads { .. } => "latent_heads",
            SplitReason::KeyHeads { .. } => "key_heads",
            SplitReason::ValueHeads { .. } => "value_heads",
            SplitReason::WholeRowNorm { .. } => "whole_row_norm",
            SplitReason::FeedForward { .. } => "feed_forward_columns",
            SplitReason::Experts { .. } => "experts",
            SplitReason::Expert { .. } => "expert_columns",
            SplitReason::SharedExpert { .. } => "shared_expert_columns",
            SplitReason::Vocabulary { .. } => "vocabulary_rows",
        }
    }

    /// How many there are of it in the whole model; none of what has no number.
    pub const fn size(&self) -> Option<u32> {
        match *self {
            SplitReason::NoChips | SplitReason::WholeRowNorm { .. } => None,
            SplitReason::QueryHeads { heads, .. }
            | SplitReason::KvHeads { heads, .. }
            | SplitReason::LatentHeads { heads, .. }
            | SplitReason::KeyHeads { heads, .. }
            | SplitReason::ValueHeads { heads, .. } => Some(heads),
            SplitReason::FeedForward { columns, .. }
            | SplitReason::Expert { columns, .. }
            | SplitReason::SharedExpert { columns, .. } => Some(columns),
            SplitReason::Experts { count, .. } => Some(count),
            SplitReason::Vocabulary { rows, .. } => Some(rows),
        }
    }
}

impl fmt::Display for SplitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            SplitReason::NoChips => f.write_str("a model does not run on 0 chips"),
            SplitReason::QueryHeads { heads, chips } => {
                write!(f, "the {} {} not split over {chips} chips", count(heads, "query head"), does(heads))
            }
            SplitReason::KvHeads { heads, chips } => {
                let kv = count(heads, "KV head");
                if heads >= chips {
                    write!(f, "the {kv} {} not split over {chips} chips", does(heads))
                } else {
                    write!(f, "the {kv} {} not replicate evenly over {chips} chips", does(heads))
                }
            }
            SplitReason::LatentHeads { heads, chips } => {
                let heads_ = count(heads, "latent-attention head");
                write!(f, "the {heads_} {} not split over {chips} chips", does(heads))
            }
            SplitReason::KeyHeads { heads, chips } => {
                let heads_ = count(heads, "gated deltanet key head");
                write!(f, "the {heads_} {} not split over {chips} chips", does(heads))
            }
            SplitReason::ValueHeads { heads, chips } => {
                let heads_ = count(heads, "gated deltanet value head");
                write!(f, "the {heads_} {} not split over {chips} chips", does(heads))
            }
            SplitReason::WholeRowNorm { chips } => {
                write!(f, "the layernorm over all queries and keys of a row is not split over {chips} chips yet")
            }
            SplitReason::FeedForward { columns, chips } => {
                let columns_ = count(columns, "feed-forward column");
                write!(f, "the {columns_} {} not split over {chips} chips", does(columns))
            }
            SplitReason::Experts { count: experts, chips } => {
                let experts_ = count(experts, "whole expert");
                write!(f, "the {experts_} {} not split over {chips} chips", does(experts))
            }
            SplitReason::Expert { columns, chips } => {
                let columns_ = count(columns, "expert column");
                write!(f, "the {columns_} {} not split over {chips} chips", does(columns))
            }
            SplitReason::SharedExpert { columns, chips } => {
                let columns_ = count(columns, "shared-expert column");
                write!(f, "the {columns_} {} not split over {chips} chips", does(columns))
            }
            SplitReason::Vocabulary { rows, chips } => {
                let rows_ = count(rows, "vocabulary row");
                write!(f, "the {rows_} {} not split over {chips} chips", does(rows))
            }
        }
    }
}

/// `24 query heads`, `1 query head`.
fn count(n: u32, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

fn does(n: u32) -> &'static str {
    if n == 1 { "does" } else { "do" }
}

/// Every reason against splitting the model over `tp` chips, each once, in order of first appearance; none where the
/// width is admitted. The vocabulary must split exactly, or be padded.
pub fn admission(spec: &ModelSpec, tp: u32) -> Vec<SplitReason> {
    if tp == 0 {
        return vec![SplitReason::NoChips];
    }
    let mut against = Against { chips: tp, reasons: Vec::new() };
    for layer in &spec.layers {
        match &layer.mixer {
            Mixer::Attention(attention) => against.attention(attention),
            Mixer::Latent(latent) => against.latent(latent),
            Mixer::GatedDelta(delta) => against.gated_delta(delta),
        }
        match &layer.feed_forward {
            FeedForward::Dense(mlp) => against.dense(mlp),
            FeedForward::Experts(experts) => {
                match spec.expert_split {
                    ExpertSplit::Columns => {
                        against.splits(experts.expert.width, |columns, chips| SplitReason::Expert { columns, chips });
                    }
                    ExpertSplit::Parallel => {
                        against.splits(experts.count, |count, chips| SplitReason::Experts { count, chips });
                    }
                }
                if let Some(shared) = &experts.shared {
                    against.splits(shared.width, |columns, chips| SplitReason::SharedExpert { columns, chips });
                }
            }
        }
    }
    // A padded vocabulary divides by every width, if it is a size at all.
    let rows = spec.vocab_rows(tp).unwrap_or(spec.vocab);
    against.splits(rows, |rows, chips| SplitReason::Vocabulary { rows, chips });
    against.reasons
}

/// The widths up to `most` that the model admits, ascending. They are not closed under division, hence the list.
pub fn widths(spec: &ModelSpec, most: u32) -> Vec<u32> {
    (1..=most).filter(|&tp| admission(spec, tp).is_empty()).collect()
}

/// Refuses a width that the chips cannot form (0, or above `most`, the chips of their domain) or the model does not
/// split over.
///
/// # Errors
/// One refusal a reason, all at `at`, each with the widths that are admitted.
pub fn admits(spec: &ModelSpec, tp: u32, most: u32, at: &At) -> Result<(), Vec<Refusal>> {
    let mut refusals = Vec::new();
    if tp > most {
        let message = format!("{tp} chips are more than the {most} of the chip's domain");
        refusals.push(Refusal::new(Code::TpWidth, at.clone(), message));
    }
    for reason in admission(spec, tp) {
        let code = if reason == SplitReason::NoChips { Code::TpWidth } else { Code::TpSplit };
        refusals.push(Refusal::new(code, at.clone(), reason.to_string()));
    }
    if refusals.is_empty() {
        return Ok(());
    }
    let admitted: Vec<String> = widths(spec, most).iter().map(u32::to_string).collect();
    let mut help = format!("widths admitted up to {most}: {}", admitted.join(", "));
    if tp <= most
        && let Some(rows) = padding_admits(spec, tp)
    {
        let _ = write!(help, "; or write `vocab: padded`, which makes the {} rows {rows}", spec.vocab);
    }
    Err(refusals.into_iter().map(|refusal| refusal.help(help.clone())).collect())
}

/// The rows of a padded vocabulary, where padding it would admit a width that nothing else stands against.
pub fn padding_admits(spec: &ModelSpec, tp: u32) -> Option<u32> {
    let only_vocabulary = |reason: &SplitReason| matches!(reason, SplitReason::Vocabulary { .. });
    let reasons = admission(spec, tp);
    if reasons.is_empty() || !reasons.iter().all(only_vocabulary) {
        return None;
    }
    ModelSpec { vocabulary: Vocabulary::Padded, ..spec.clone() }.vocab_rows(tp)
}

/// Reasons found so far against one width.
struct Against {
    chips: u32,
    reasons: Vec<SplitReason>,
}

impl Against {
    fn add(&mut self, reason: SplitReason) {
        if !self.reasons.contains(&reason) {
            self.reasons.push(reason);
        }
    }

    fn splits(&mut self, n: u32, reason: impl FnOnce(u32, u32) -> SplitReason) {
        if !n.is_multiple_of(self.chips) {
            self.add(reason(n, self.chips));
        }
    }

    fn attention(&mut self, attention: &Attention) {
        let (kv, chips) = (attention.kv_heads, self.chips);
        self.splits(attention.heads, |heads, chips| SplitReason::QueryHeads { heads, chips });
        let replicates = kv > 0 && chips.is_multiple_of(kv);
        if !kv.is_multiple_of(chips) && !replicates {
            self.add(SplitReason::KvHeads { heads: kv, chips });
        }
        let is_layer = |norm: &Norm| matches!(norm.kind, NormKind::Layer);
        if matches!(&attention.qk_norm, Some(QkNorm::FullWidth { q, k }) if is_layer(q) || is_layer(k)) && chips > 1 {
            self.add(SplitReason::WholeRowNorm { chips });
        }
    }

    fn latent(&mut self, latent: &LatentAttention) {
        self.splits(latent.heads, |heads, chips| SplitReason::LatentHeads { heads, chips });
    }

    fn gated_delta(&mut self, delta: &GatedDelta) {
        self.splits(delta.key_heads, |heads, chips| SplitReason::KeyHeads { heads, chips });
        self.splits(delta.value_heads, |heads, chips| SplitReason::ValueHeads { heads, chips });
    }

    fn dense(&mut self, mlp: &Mlp) {
        self.splits(mlp.width, |columns, chips| SplitReason::FeedForward { columns, chips });
    }
}
