//! Hugging Face `config.json` to [`crate::spec::ModelSpec`], one file a family.
//!
//! Input: the bytes of a config. Output: a specification, or every reason why there is none. Reads nothing else, and does
//! not know about chips, widths or deployments. Absent keys mean what the family's class in transformers 5.24 makes of
//! them, save for the sizes that tell one model from another and the dtype, which must be there.

mod block;
mod cohere;
mod deepseek;
mod delta;
mod experts;
mod falcon;
mod gemma2;
mod gemma3;
mod glm4;
mod glm4_moe;
mod gpt_neox;
mod gpt_oss;
mod granite;
mod inert;
mod json;
mod keys;
mod layers;
mod llama;
mod llama4;
mod minimax_m2;
mod mistral;
mod mixtral;
mod names;
mod nested;
mod olmo2;
mod phi;
mod phi3;
mod quantized;
mod qwen2;
mod qwen3;
mod qwen3_5;
mod qwen3_moe;
mod qwen3_next;
mod rope;
mod sizes;
mod smollm3;
mod starcoder2;
#[cfg(test)]
mod tests;

use std::cell::RefCell;

use crate::spec::{ModelSpec, inventory};
use crate::{Code, Refusal};

use keys::Keys;

/// A family of models: the `model_type` of its configs and what reads them.
struct Family {
    model_type: &'static str,
    read: fn(&Keys<'_>) -> Option<ModelSpec>,
}

/// Every family that is known, by name.
const FAMILIES: &[Family] = &[
    Family { model_type: "llama", read: llama::read },
    Family { model_type: "llama4", read: llama4::read_nested },
    Family { model_type: "llama4_text", read: llama4::read_bare },
    Family { model_type: "mistral", read: mistral::read },
    Family { model_type: "mixtral", read: mixtral::read },
    Family { model_type: "qwen2", read: qwen2::read },
    Family { model_type: "qwen3", read: qwen3::read },
    Family { model_type: "qwen3_moe", read: qwen3_moe::read },
    Family { model_type: "qwen3_next", read: qwen3_next::read },
    Family { model_type: "qwen3_5", read: qwen3_5::read_nested },
    Family { model_type: "qwen3_5_text", read: qwen3_5::read_bare },
    Family { model_type: "qwen3_5_moe", read: qwen3_5::read_moe_nested },
    Family { model_type: "qwen3_5_moe_text", read: qwen3_5::read_moe_bare },
    Family { model_type: "gemma2", read: gemma2::read },
    Family { model_type: "gemma3", read: gemma3::read_nested },
    Family { model_type: "gemma3_text", read: gemma3::read_bare },
    Family { model_type: "deepseek_v2", read: deepseek::read_v2 },
    Family { model_type: "deepseek_v3", read: deepseek::read_v3 },
    Family { model_type: "kimi_k2", read: deepseek::read_kimi_k2 },
    Family { model_type: "gpt_oss", read: gpt_oss::read },
    Family { model_type: "phi", read: phi::read },
    Family { model_type: "phi3", read: phi3::read },
    Family { model_type: "gpt_neox", read: gpt_neox::read },
    Family { model_type: "olmo2", read: olmo2::read },
    Family { model_type: "smollm3", read: smollm3::read },
    Family { model_type: "granite", read: granite::read },
    Family { model_type: "cohere", read: cohere::read },
    Family { model_type: "glm4", read: glm4::read },
    Family { model_type: "glm4_moe", read: glm4_moe::read },
    Family { model_type: "starcoder2", read: starcoder2::read },
    Family { model_type: "falcon", read: falcon::read },
    Family { model_type: "minimax_m2", read: minimax_m2::read },
];

/// Families that are known and not implemented, with what of them is not.
const UNSUPPORTED: &[(&str, &str)] = &[
    ("bert", "an encoder, no decoder"),
    ("gemma4", "its layers differ in their heads and have experts beside a dense block"),
    ("gemma4_text", "its layers differ in their heads and have experts beside a dense block"),
    ("gpt2", "its positions are learned and its weights transposed"),
    ("jamba", "its state-space layers are not implemented"),
    ("mamba", "its state-space layers are not implemented"),
    ("mamba2", "its state-space layers are not implemented"),
];

/// The model types that [`read`] knows, in order.
pub fn model_types() -> impl Iterator<Item = &'static str> {
    FAMILIES.iter().map(|family| family.model_type)
}

/// Reads a config.
///
/// # Errors
/// Every refusal that can be known, in the order of reading: [`Code::ConfigSyntax`] where the bytes are no JSON object,
/// [`Code::ConfigFamily`] where its `model_type` is not known, else what is wrong with its keys, each at its path. A key
/// that no reader knows is refused, as it may change what is computed.
pub fn read(bytes: &[u8]) -> Result<ModelSpec, Vec<Refusal>> {
    let object = json::parse(bytes)?;
    let refusals = RefCell::new(Vec::new());
    let keys = Keys::new(&object, &refusals);
    let spec = family(&keys).and_then(|family| (family.read)(&keys));
    let refusals = refusals.take();
    match spec {
        Some(spec) if refusals.is_empty() => match inventory(&spec) {
            Ok(_) => Ok(spec),
            Err(refusal) => Err(vec![refusal]),
        },
        Some(_) | None => Err(refusals),
    }
}

/// Paths of the keys of a config that its family's reader reads and that are there, in the order of reading: what the
/// figures of a document are traced to. None of a config that [`read`] refuses before its keys.
pub fn keys_read(bytes: &[u8]) -> Vec<String> {
    let Ok(object) = json::parse(bytes) else { return Vec::new() };
    let (refusals, read) = (RefCell::default(), RefCell::default());
    let keys = Keys::new(&object, &refusals).noting(&read);
    // The specification is known already: only the keys are asked for.
    let _ = family(&keys).and_then(|family| (family.read)(&keys));
    read.take()
}

/// `model_type` of a config whose text model is the object `text_config`; none of any other.
pub fn outer_model_type(bytes: &[u8]) -> Option<String> {
    let object = json::parse(bytes).ok()?;
    object.get("text_config")?;
    object.get("model_type")?.as_str().map(str::to_owned)
}

/// The family by its `model_type`, or a refusal that names the known ones.
fn family(keys: &Keys<'_>) -> Option<&'static Family> {
    const KEY: &str = "model_type";
    let found = keys.raw(KEY);
    let family = FAMILIES.iter().find(|family| found.and_then(serde_json::Value::as_str) == Some(family.model_type));
    if family.is_none() {
        let (code, is) = match found {
            None => (Code::ConfigMissing, "is missing".to_owned()),
            Some(found @ serde_json::Value::String(name)) => {
                let why = UNSUPPORTED.iter().find(|(model_type, _)| model_type == name);
                let why = why.map(|(_, why)| format!(" ({why})")).unwrap_or_default();
                (Code::ConfigFamily, format!("is {}{why}", keys::shown(found)))
            }
            Some(found) => (Code::ConfigValue, format!("is {}", keys::shown(found))),
        };
        keys.refuse_key(code, KEY, format_args!("{is}, expected one of {}", keys::listed(model_types())));
    }
    family
}
