//! One decoder layer: its blocks and how they join the residual stream.

use crate::author::addend::Addend;
use crate::author::draft::{Draft, NormNames};
use crate::author::{Authored, Cut, attention, experts, gated_delta, latent, mlp};
use crate::language::ast::ValueId;
use crate::ops::{Plus, Scaled};
use crate::refusal::Refusal;
use crate::spec::{Arrangement, FeedForward, LayerSpec, Mixer, ModelSpec, Norm};

const BEFORE_MIXER: NormNames = NormNames("an", "anb", "xn");
const AFTER_MIXER: NormNames = NormNames("pan", "panb", "on");
const BEFORE_FEED_FORWARD: NormNames = NormNames("mn", "mnb", "hn");
const AFTER_FEED_FORWARD: NormNames = NormNames("pmn", "pmnb", "dn");

/// `x` to `xo{l}`, both `[rows, hidden]`.
pub(super) fn author(spec: &ModelSpec, cut: &Cut, number: u32) -> Result<Authored, Refusal> {
    let mut draft = Draft::new(spec, cut)?;
    let row = spec.layer_of.get(number as usize).and_then(|&row| spec.layers.get(row as usize));
    let Some(layer) = row else {
        return Err(draft.refuse(format!("the model has {} layers, counted from 0", spec.depth())));
    };
    let x = draft.hidden()?;
    match &layer.arrangement {
        Arrangement::Sequential { before_mixer, after_mixer, before_feed_forward, after_feed_forward } => {
            let xn = optional(&mut draft, &BEFORE_MIXER, before_mixer.as_ref(), x)?;
            let o = mix(&mut draft, layer, xn)?;
            let o = draft.summed(&o)?;
            let o = optional(&mut draft, &AFTER_MIXER, after_mixer.as_ref(), o)?;
            let h = join(&mut draft, layer, "h", (x, o, "osc"))?;
            let hn = optional(&mut draft, &BEFORE_FEED_FORWARD, before_feed_forward.as_ref(), h)?;
            let d = feed_forward(&mut draft, layer, hn)?;
            let d = draft.summed(&d)?;
            let d = optional(&mut draft, &AFTER_FEED_FORWARD, after_feed_forward.as_ref(), d)?;
            let xo = join(&mut draft, layer, "xo", (h, d, "dsc"))?;
            draft.show(xo)?;
        }
        Arrangement::Parallel { mixer, feed_forward: second } => {
            let xn = optional(&mut draft, &BEFORE_MIXER, Some(mixer), x)?;
            let o = mix(&mut draft, layer, xn)?;
            let hn = match second {
                None => xn,
                Some(norm) => optional(&mut draft, &BEFORE_FEED_FORWARD, Some(norm), x)?,
            };
            let d = feed_forward(&mut draft, layer, hn)?;
            let both = draft.summed_together([&o, &d])?;
            let xo = join(&mut draft, layer, "xo", (x, both, "odsc"))?;
            draft.show(xo)?;
        }
    }
    draft.finish()
}

/// A norm over the residual stream, where there is one.
fn optional(draft: &mut Draft<'_>, names: &NormNames, norm: Option<&Norm>, x: ValueId) -> Result<ValueId, Refusal> {
    match norm {
        None => Ok(x),
        Some(norm) => draft.norm(names, norm, (0, draft.spec.hidden), x),
    }
}

/// Adds a block's output, times the layer's residual factor, to the stream.
fn join(
    draft: &mut Draft<'_>,
    layer: &LayerSpec,
    result: &str,
    (stream, block, scaled): (ValueId, ValueId, &str),
) -> Result<ValueId, Refusal> {
    let block = match layer.residual_scale {
        None => block,
        Some(factor) => draft.bind(scaled, Scaled { by: factor }, &[block])?,
    };
    draft.bind(result, Plus, &[stream, block])
}

fn mix(draft: &mut Draft<'_>, layer: &LayerSpec, x: ValueId) -> Result<Addend, Refusal> {
    match &layer.mixer {
        Mixer::Attention(attention) => attention::author(draft, attention, x),
        Mixer::GatedDelta(delta) => gated_delta::author(draft, delta, x),
        Mixer::Latent(latent) => latent::author(draft, latent, x),
    }
}

fn feed_forward(draft: &mut Draft<'_>, layer: &LayerSpec, x: ValueId) -> Result<Addend, Refusal> {
    match &layer.feed_forward {
        FeedForward::Dense(mlp) => mlp::author(draft, mlp, x),
        FeedForward::Experts(block) => experts::author(draft, block, x),
    }
}
