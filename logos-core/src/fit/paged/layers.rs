//! The layers of a model as vLLM sorts them: what they keep, and the bytes of it.

use super::super::size::{add, mul};
use super::{Policy, Unpaged};
use crate::author::storage_of;
use crate::spec::{AttentionSpan, Dtype, GatedDelta, LayerSpec, Mixer, ModelSpec};

/// What a layer keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Keys and values of every position.
    Full,
    /// Of a window.
    Window(u32),
    /// Of a chunk.
    Chunked(u32),
    /// Latents of every position.
    Latent,
    /// A state.
    State,
}

impl Kind {
    pub(super) fn of(layer: &LayerSpec) -> Kind {
        match &layer.mixer {
            Mixer::Attention(attention) => match attention.span {
                AttentionSpan::Full => Kind::Full,
                AttentionSpan::Window(width) => Kind::Window(width),
                AttentionSpan::Chunked(positions) => Kind::Chunked(positions),
            },
            Mixer::Latent(_) => Kind::Latent,
            Mixer::GatedDelta(_) => Kind::State,
        }
    }
}

/// Layers that keep the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layers {
    pub(super) kind: Kind,
    /// How many.
    pub(super) count: u128,
    /// Bytes of a token of each; 0 where a state is kept.
    pub(super) token: u128,
    /// Bytes of the state of each and a sequence; 0 where tokens are kept.
    pub(super) state: u128,
}

/// The layers of a model by what they keep on a chip among `tp`, in the order of their first use.
pub(super) fn kinds(spec: &ModelSpec, tp: u32, policy: Policy) -> Result<Vec<Layers>, Unpaged> {
    let mut counts = vec![0u128; spec.layers.len()];
    for &row in &spec.layer_of {
        if let Some(count) = counts.get_mut(row as usize) {
            *count += 1;
        }
    }
    let mut kinds: Vec<Layers> = Vec::new();
    for (layer, count) in spec.layers.iter().zip(counts).filter(|(_, count)| *count > 0) {
        let kind = match Kind::of(layer) {
            Kind::Window(_) | Kind::Chunked(_) if !policy.hybrid => Kind::Full,
            kind => kind,
        };
        let one = match &layer.mixer {
            Mixer::Attention(attention) => {
                let heads = (attention.kv_heads / tp).max(1);
                // Keys and values are as wide as one another.
                let elements = mul(2 * u128::from(heads), u128::from(attention.head_dim))?;
                Layers { kind, count, token: mul(elements, width(spec.dtype))?, state: 0 }
            }
            Mixer::Latent(latent) => {
                let elements = u128::from(latent.latent) + u128::from(latent.rotary);
                Layers { kind, count, token: mul(elements, width(spec.dtype))?, state: 0 }
            }
            Mixer::GatedDelta(delta) => Layers { kind, count, token: 0, state: state(spec, delta, tp, policy)? },
        };
        match kinds.iter_mut().find(|known| Layers { count: known.count, ..one } == **known) {
            Some(known) => known.count += count,
            None => kinds.push(one),
        }
    }
    let states = kinds.iter().filter(|kind| kind.state > 0).count();
    if states > 0 && states < kinds.len() && !policy.hybrid {
        return Err(Unpaged::Groups);
    }
    Ok(kinds)
}

/// Last inputs of the convolution, in the model's dtype, and the memory of every value head.
///
/// Source: `vllm/model_executor/layers/mamba/mamba_utils.py`.
fn state(spec: &ModelSpec, delta: &GatedDelta, tp: u32, policy: Policy) -> Result<u128, Unpaged> {
    for heads in [delta.key_heads, delta.value_heads] {
        if !heads.is_multiple_of(tp) {
            return Err(Unpaged::Split(heads, tp));
        }
    }
    let (keys, values) = (u128::from(delta.key_heads / tp), u128::from(delta.value_heads / tp));
    let channels = 2 * keys * u128::from(delta.key_dim) + values * u128::from(delta.value_dim);
    let inputs = u128::from(delta.taps.saturating_sub(1)) + u128::from(policy.drafts);
    let ring = mul(mul(channels, inputs)?, width(spec.dtype))?;
    let memory = mul(values * u128::from(delta.key_dim), u128::from(delta.value_dim))?;
    Ok(add(ring, mul(memory, width(state_dtype(spec)))?)?)
}

/// The dtype of a recurrence's memory: the config's own key where the version reads it, else the model's dtype.
///
/// Source: `vllm/model_executor/models/config.py`, which reads `mamba_ssm_dtype` of Qwen3.5 and of no Qwen3-Next.
fn state_dtype(spec: &ModelSpec) -> Dtype {
    if spec.model_type == "qwen3_next" { spec.dtype } else { spec.state_dtype }
}

fn width(dtype: Dtype) -> u128 {
    u128::from(storage_of(dtype).block().1)
}
