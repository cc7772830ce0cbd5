//! Layer by layer, the head, and the whole step.

use super::Quantities;
use crate::fit::TooLarge;
use crate::kinds::Role;

/// A layer.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LayerRow {
    /// Its number.
    pub layer: u32,
    /// The kind of program that runs it.
    pub kind: String,
    /// Parameters.
    pub weight_params: u64,
    /// Weight bytes with every element in bf16.
    pub weight_bytes_bf16: u64,
    /// Weight bytes in a GGUF file of Q8_0 matrices.
    pub weight_bytes_gguf: u64,
    /// Weight bytes as this deployment stores them.
    pub weight_bytes: u64,
    /// Multiply-accumulates of a token with weights; of experts those that a token chooses.
    pub weight_macs: u64,
    /// Multiply-accumulates of a token with what it attends to, at the context.
    pub attention_macs_at_ctx: u64,
    /// Multiply-accumulates of a token with memories of a recurrence.
    pub gdn_recurrence_macs: u64,
    /// Multiply-accumulates of a token in convolutions.
    pub conv_macs: u64,
    /// All of them.
    pub macs: u64,
    /// Multiply-accumulates of a step, all rows: of experts as many as the rows choose.
    pub step_macs: u64,
    /// Bytes of off-chip memory that a step moves for the layer, all chips together.
    pub step_bytes: u64,
    /// Multiply-accumulates of a step over these bytes.
    pub arithmetic_intensity_macs_per_byte: f64,
    /// The most bytes of activations that are live at once, all sequences.
    pub activations_peak_bytes: u64,
}

/// The head.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HeadBlock {
    /// Vocabulary.
    pub rows: u32,
    /// Hidden width.
    pub cols: u32,
    /// Whether it is the embedding's own table.
    pub tied: bool,
    /// Multiply-accumulates of a token.
    pub macs: u64,
    /// Multiply-accumulates of a step: of a prefill the last row of each sequence alone.
    pub step_macs: u64,
    /// Bytes of off-chip memory that a step moves for it, all chips together.
    pub step_bytes: u64,
    /// Multiply-accumulates of a step over these bytes.
    pub arithmetic_intensity_macs_per_byte: f64,
    /// The most bytes of activations that are live at once, all sequences.
    pub activations_peak_bytes: u64,
}

/// The whole step, and a token at the context: of a prefill the last of its chunk.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Totals {
    /// All multiply-accumulates of a token at the context.
    pub macs_per_token_at_ctx: u64,
    /// With the layers' weights.
    pub weight_macs: u64,
    /// With what is attended to.
    pub attention_macs_at_ctx: u64,
    /// With memories of recurrences.
    pub gdn_recurrence_macs: u64,
    /// In convolutions.
    pub conv_macs: u64,
    /// Of the head.
    pub lm_head_macs: u64,
    /// Multiply-accumulates of a step, all rows.
    pub step_macs: u64,
    /// Bytes of off-chip memory that a step moves, all chips together.
    pub step_bytes: u64,
    /// The same of one chip.
    pub step_bytes_per_chip: u64,
    /// Multiply-accumulates of a step over its bytes.
    pub arithmetic_intensity_macs_per_byte: f64,
}

pub(super) fn rows(quantities: &Quantities<'_>) -> Result<Vec<LayerRow>, TooLarge> {
    let subject = quantities.subject;
    (0..subject.spec.depth() as u32)
        .map(|layer| {
            let (at, kind) = subject.kind_of(layer).ok_or(TooLarge)?;
            let works = quantities.work.programs.get(at).ok_or(TooLarge)?;
            let live = quantities.live.get(at).ok_or(TooLarge)?;
            let total = quantities.stock.layer(layer).ok_or(TooLarge)?;
            let macs = quantities.token_in(layer)?;
            Ok(LayerRow {
                layer,
                kind: kind.name.clone(),
                weight_params: total.params,
                weight_bytes_bf16: total.bf16_bytes,
                weight_bytes_gguf: total.gguf.bytes,
                weight_bytes: total.bytes,
                weight_macs: macs.weights,
                attention_macs_at_ctx: macs.attention,
                gdn_recurrence_macs: macs.recurrence,
                conv_macs: macs.convolution,
                macs: macs.total()?,
                step_macs: works.whole.macs.total()?,
                step_bytes: works.whole.traffic.total()?,
                arithmetic_intensity_macs_per_byte: works.whole.intensity()?.rounded(),
                activations_peak_bytes: live.whole.bytes,
            })
        })
        .collect()
}

pub(super) fn head(quantities: &Quantities<'_>) -> Result<HeadBlock, TooLarge> {
    let spec = &quantities.subject.spec;
    let works = &quantities.work.head;
    let kinds = quantities.subject.programs().iter().zip(&quantities.live);
    let peak = kinds.filter(|(kind, _)| kind.role == Role::Head).map(|(_, live)| live.whole.bytes).max();
    Ok(HeadBlock {
        rows: spec.vocab,
        cols: spec.hidden,
        tied: spec.head.tied,
        macs: quantities.token_of(|step| &step.head)?.total()?,
        step_macs: works.whole.macs.total()?,
        step_bytes: works.whole.traffic.total()?,
        arithmetic_intensity_macs_per_byte: works.whole.intensity()?.rounded(),
        activations_peak_bytes: peak.unwrap_or(0),
    })
}

pub(super) fn totals(quantities: &Quantities<'_>) -> Result<Totals, TooLarge> {
    let work = &quantities.work;
    let layers = quantities.token_of(|step| &step.layers)?;
    Ok(Totals {
        macs_per_token_at_ctx: quantities.token_of(|step| &step.total)?.total()?,
        weight_macs: layers.weights,
        attention_macs_at_ctx: layers.attention,
        gdn_recurrence_macs: layers.recurrence,
        conv_macs: layers.convolution,
        lm_head_macs: quantities.token_of(|step| &step.head)?.total()?,
        step_macs: work.total.whole.macs.total()?,
        step_bytes: work.total.whole.traffic.total()?,
        step_bytes_per_chip: work.total.a_chip.traffic.total()?,
        arithmetic_intensity_macs_per_byte: work.total.whole.intensity()?.rounded(),
    })
}
