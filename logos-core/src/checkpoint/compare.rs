//! A checkpoint's headers held to what a model binds.

use std::collections::BTreeMap;
use std::fmt;

use super::fault::Place;
use super::headers::{Headers, TensorId};
use super::resolve::Parts;
use crate::spec::{ModelSpec, Stored, inventory};
use crate::{Code, Refusal};

/// Most refusals of one comparison: a wrong pair of files differs in all its thousands of tensors.
const MOST: usize = 24;

/// Why a tensor is left unread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unused {
    /// It is of images, sound or video, in a model of more than text.
    OtherInput,
    /// It is of a draft head, that proposes several tokens at once: `mtp.*`, or layers beyond the model's depth.
    Draft,
    /// It follows from the config: rotary frequencies, masks.
    Buffer,
    /// It repeats the embedding, which the head is tied to.
    TiedHead,
}

impl fmt::Display for Unused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unused::OtherInput => "of another input than text",
            Unused::Draft => "of a draft head",
            Unused::Buffer => "follows from the config",
            Unused::TiedHead => "repeats the embedding",
        })
    }
}

/// Holds headers to a model: every tensor it binds is there, in its shape and stored in a way that is read, and no other is there but
/// those with a reason, which are given.
///
/// # Errors
/// A refusal a tensor, up to a number; then how many more there are.
pub fn compare(headers: &Headers, spec: &ModelSpec) -> Result<Vec<(TensorId, Unused)>, Vec<Refusal>> {
    let inventory = inventory(spec).map_err(|refusal| vec![refusal])?;
    let mut faults = Faults::default();
    let mut used = vec![false; headers.tensors().len()];
    // Of tensors that hold those of several experts, the elements that are bound.
    let mut bound_of: BTreeMap<TensorId, u64> = BTreeMap::new();
    for bound in inventory.iter() {
        match headers.resolve(&bound.name) {
            Ok(Some(resolved)) => {
                resolved.parts.ids().for_each(|id| used[id.index()] = true);
                let first = resolved.parts.first();
                if !bound.shape.iter().map(|&axis| u64::from(axis)).eq(resolved.shape.iter().copied()) {
                    faults.push(|| misshapen(headers.place(first), &bound, &resolved.shape));
                } else if matches!(resolved.parts, Parts::Plain(_))
                    && resolved.shape.len() < headers.get(first).shape.len()
                {
                    *bound_of.entry(first).or_default() += resolved.shape.iter().product::<u64>();
                }
            }
            Ok(None) => faults.push(|| missing(headers.whole(), &bound)),
            Err(refusal) => {
                // What cannot be read is there all the same.
                headers.named(&bound.name).into_iter().for_each(|id| used[id.index()] = true);
                faults.push(|| refusal);
            }
        }
    }
    for (id, bound) in bound_of {
        let stored = &headers.get(id).shape;
        let expert: u64 = stored.iter().skip(1).product();
        if stored.first().is_some_and(|&experts| experts.checked_mul(expert) != Some(bound)) {
            let expected = format!("{} experts", bound / expert.max(1));
            let what = "it holds more experts than the config has";
            faults.push(|| headers.place(id).refuse(Code::CheckpointShape, what, expected, format!("{stored:?}")));
        }
    }
    let mut unused = Vec::new();
    for id in headers.ids().filter(|id| !used[id.index()]) {
        match reason(headers, id, spec) {
            Some(reason) => unused.push((id, reason)),
            None => faults.push(|| extra(headers, id)),
        }
    }
    faults.done(headers).map(|()| unused)
}

/// Refusals, kept up to a number and counted beyond.
#[derive(Default)]
pub(super) struct Faults {
    kept: Vec<Refusal>,
    more: usize,
}

impl Faults {
    pub(super) fn push(&mut self, refusal: impl FnOnce() -> Refusal) {
        if self.kept.len() < MOST { self.kept.push(refusal()) } else { self.more += 1 }
    }

    pub(super) fn done(mut self, headers: &Headers) -> Result<(), Vec<Refusal>> {
        if self.more > 0 {
            let found = format!("{} more that differ", self.more);
            let what = "the checkpoint is not the model's";
            let expected = "the tensors of the config";
            self.kept.push(headers.whole().refuse(Code::CheckpointMissing, what, expected, found));
        }
        if self.kept.is_empty() { Ok(()) } else { Err(self.kept) }
    }
}

fn missing(place: Place<'_>, bound: &Stored<'_>) -> Refusal {
    let expected = format!("a tensor {:?}", bound.shape);
    place.tensor(&bound.name).refuse(Code::CheckpointMissing, "the model needs it", expected, "none of this name")
}

fn misshapen(place: Place<'_>, bound: &Stored<'_>, found: &[u64]) -> Refusal {
    let found = format!("{found:?}");
    let refusal =
        place.refuse(Code::CheckpointShape, "its shape is not the config's", format!("{:?}", bound.shape), found);
    if place.tensor == Some(&bound.name) { refusal } else { refusal.fact("the model's name", &bound.name) }
}

fn extra(headers: &Headers, id: TensorId) -> Refusal {
    let found = format!("a tensor {:?} of {}", headers.get(id).shape, headers.get(id).storage);
    headers.place(id).refuse(Code::CheckpointExtra, "the model has no such tensor", "none of this name", found).help(
        "what it would do to the model is not in the config: use the checkpoint that belongs to it, or the config that \
         belongs to the checkpoint",
    )
}

/// Tensors of other inputs, as the released multimodal checkpoints name them.
const OTHER_INPUTS: [&str; 9] = [
    "model.visual.",
    "visual.",
    "vision_tower.",
    "model.vision_tower.",
    "vision_model.",
    "multi_modal_projector.",
    "model.multi_modal_projector.",
    "audio_tower.",
    "model.audio_tower.",
];

/// Why a tensor that the model does not bind may be there.
fn reason(headers: &Headers, id: TensorId, spec: &ModelSpec) -> Option<Unused> {
    let tensor = headers.get(id);
    let name = tensor.name.as_str();
    let beyond = layer(name).is_some_and(|layer| layer >= spec.depth() as u64);
    let buffers = [".rotary_emb.inv_freq", ".attention.bias", ".attention.masked_bias"];
    let heads = ["lm_head.weight", "language_model.lm_head.weight", "embed_out.weight", "output.weight"];
    let like_embedding = || tensor.shape.iter().copied().eq(spec.embedding.shape.iter().map(|&axis| u64::from(axis)));
    if OTHER_INPUTS.iter().any(|prefix| name.starts_with(prefix)) {
        Some(Unused::OtherInput)
    } else if name.starts_with("mtp.") || beyond {
        Some(Unused::Draft)
    } else if buffers.iter().any(|end| name.ends_with(end)) || name == "rope_freqs.weight" {
        Some(Unused::Buffer)
    } else if spec.head.tied && heads.contains(&name) && like_embedding() {
        Some(Unused::TiedHead)
    } else {
        None
    }
}

/// The layer a name is of: the number after `layers.`, or after `blk.` in GGUF.
fn layer(name: &str) -> Option<u64> {
    let (before, after) = name.split_once("layers.").or_else(|| name.split_once("blk."))?;
    let (number, _) = after.split_once('.')?;
    if before.is_empty() || before.ends_with('.') { number.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::layer;

    #[test]
    fn layers_are_read_off_names() {
        assert_eq!(layer("model.layers.61.self_attn.q_proj.weight"), Some(61));
        assert_eq!(layer("gpt_neox.layers.0.attention.bias"), Some(0));
        assert_eq!(layer("blk.47.nextn.eh_proj.weight"), Some(47));
        assert_eq!(layer("model.norm.weight"), None);
        assert_eq!(layer("model.outlayers.3.weight"), None);
        assert_eq!(layer("model.layers.x.weight"), None);
    }
}
