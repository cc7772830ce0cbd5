//! Hugging Face `config.json` to [`crate::spec::ModelSpec`], one file a family.
//!
//! Input: the bytes of a config. Output: a specification, or every reason why there is none. Reads nothing else, and does
//! not know about chips, widths or deployments. Absent keys mean what the family's class in transformers 5.24 makes of
//! them, save for the sizes that tell one model from another and the dtype, which must be there.

mod block;
mod inert;
mod json;
mod keys;
mod layers;
mod llama;
mod mistral;
mod qwen2;
mod qwen3;
mod qwen3_5;
mod rope;
mod sizes;
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
    Family { model_type: "mistral", read: mistral::read },
    Family { model_type: "qwen2", read: qwen2::read },
    Family { model_type: "qwen3", read: qwen3::read },
    Family { model_type: "qwen3_5", read: qwen3_5::read_nested },
    Family { model_type: "qwen3_5_text", read: qwen3_5::read_bare },
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

/// The family by its `model_type`, or a refusal that names the known ones.
fn family(keys: &Keys<'_>) -> Option<&'static Family> {
    const KEY: &str = "model_type";
    let found = keys.raw(KEY);
    let family = FAMILIES.iter().find(|family| found.and_then(serde_json::Value::as_str) == Some(family.model_type));
    if family.is_none() {
        let (code, is) = match found {
            None => (Code::ConfigMissing, "is missing".to_owned()),
            Some(found @ serde_json::Value::String(_)) => (Code::ConfigFamily, format!("is {}", keys::shown(found))),
            Some(found) => (Code::ConfigValue, format!("is {}", keys::shown(found))),
        };
        keys.refuse_key(code, KEY, format_args!("{is}, expected one of {}", keys::listed(model_types())));
    }
    family
}
