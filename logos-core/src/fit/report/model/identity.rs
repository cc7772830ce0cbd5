//! Which model it is, what its weights come to, and every tensor.

use serde_json::{Map, Value};

use super::Quantities;
use crate::author::storage_of;
use crate::fit::TooLarge;
use crate::fit::inventory::{Class, Row};
use crate::language::ast::Storage;

/// A model.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelBlock {
    /// Its name.
    pub id: String,
    /// `model_type` of the text model's config.
    pub hf_model_type: String,
    /// `model_type` of the config whose `text_config` it is.
    pub inherits: Option<String>,
    /// How activations are stored.
    pub deployment_dtype: &'static str,
    /// Its weights in a GGUF file of Q8_0 matrices.
    pub gguf: GgufBlock,
    /// What was read of its config, by path.
    pub config: Map<String, Value>,
    /// Its weights.
    pub weights: WeightsBlock,
    /// Every tensor of the deployment; experts of one name, and a state of several sequences, are one row.
    pub tensors: Vec<TensorRow>,
}

/// Weights in a GGUF file of Q8_0 matrices.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GgufBlock {
    /// The storage of matrices.
    pub storage: &'static str,
    /// Matrices whose rows are not whole blocks: stored F16.
    pub f16_tensors: u64,
    /// Their bytes.
    pub f16_bytes: u64,
    /// Bytes of all tensors, headers left out.
    pub bytes: u64,
}

/// Weights.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WeightsBlock {
    /// Parameters.
    pub params: u64,
    /// Stored tensors.
    pub tensors: u64,
    /// Matrices that a GGUF file stores Q8_0.
    pub q8_0_tensors: u64,
    /// Tensors that it stores F32.
    pub f32_tensors: u64,
    /// Bytes of the former.
    pub q8_0_bytes: u64,
    /// Bytes of the latter.
    pub f32_bytes: u64,
    /// Bytes of all tensors in a GGUF file.
    pub gguf_bytes: u64,
    /// Bytes with every element in bf16.
    pub bf16_bytes: u64,
    /// Bytes as this deployment stores them, each once.
    pub bytes: u64,
    /// The same by storage.
    pub by_storage: Vec<StoredBlock>,
    /// The embedding.
    pub embedding: EmbeddingBlock,
    /// What is not counted.
    pub excluded: Vec<Excluded>,
    /// How a block of Q8_0 lies.
    pub q8_0_layout: &'static str,
}

/// Weights that are stored alike.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StoredBlock {
    /// How.
    pub storage: &'static str,
    /// Stored tensors.
    pub tensors: u64,
    /// Bytes.
    pub bytes: u64,
}

/// The embedding.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EmbeddingBlock {
    /// Vocabulary.
    pub rows: u32,
    /// Hidden width.
    pub cols: u32,
    /// How it is stored.
    pub storage: &'static str,
    /// Bytes.
    pub bytes: u64,
    /// Whether the head is the same table.
    pub note: &'static str,
}

/// What is not counted.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Excluded {
    /// What.
    pub what: &'static str,
    /// The config's key that says it is there.
    pub key: Option<String>,
    /// Why.
    pub why: &'static str,
}

/// A tensor.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TensorRow {
    /// Its name; `{e}` for the expert where experts are stored apart.
    pub name: String,
    /// Tensors of the name.
    pub count: u32,
    /// Rows of each.
    pub rows: u64,
    /// Columns of each.
    pub cols: u64,
    /// How it is stored.
    pub storage: &'static str,
    /// `weight`, `state`, `rotary table`, `activation`.
    pub class: &'static str,
    /// Its layer.
    pub layer: Option<u32>,
    /// Bytes of all of the name.
    pub bytes: u64,
}

const Q8_0_LAYOUT: &str = "blocks of 32 int8 quants along the contracted axis with an f16 scale, 34 bytes; a last block is as long as what is left";

/// Keys of what a released checkpoint holds beside the decoder, what it is, and why it is not counted.
const BESIDE: &[(&str, &str, &str)] = &[
    ("num_nextn_predict_layers", "a draft head", "it proposes tokens, which a decode step does not need"),
    ("mtp_num_hidden_layers", "a draft head", "it proposes tokens, which a decode step does not need"),
    ("num_mtp_layers", "a draft head", "it proposes tokens, which a decode step does not need"),
    ("vision_config", "a vision tower", "a step of the text model does not run it"),
    ("audio_config", "an audio tower", "a step of the text model does not run it"),
    ("mm_tokens_per_image", "a projection of image tokens", "a step of the text model does not run it"),
];

pub(super) fn block(quantities: &Quantities<'_>) -> Result<ModelBlock, TooLarge> {
    let subject = quantities.subject;
    let config: Value = serde_json::from_slice(subject.asked.config).unwrap_or_default();
    let weights = &quantities.stock.weights;
    let gguf = &weights.total.gguf;
    Ok(ModelBlock {
        id: subject.asked.model.to_owned(),
        hf_model_type: subject.spec.model_type.clone(),
        inherits: subject.inherits.clone(),
        deployment_dtype: storage_of(subject.spec.dtype).as_str(),
        gguf: GgufBlock {
            storage: Storage::Q8_0.as_str(),
            f16_tensors: gguf.f16_tensors,
            f16_bytes: gguf.f16_bytes,
            bytes: gguf.bytes,
        },
        config: read_keys(&config, &subject.keys),
        weights: weights_block(quantities, excluded(&config)),
        tensors: quantities.stock.rows().map(|row| Ok(tensor(&row?))).collect::<Result<_, TooLarge>>()?,
    })
}

fn weights_block(quantities: &Quantities<'_>, excluded: Vec<Excluded>) -> WeightsBlock {
    let weights = &quantities.stock.weights;
    let (total, embedding) = (&weights.total, &weights.embedding);
    WeightsBlock {
        params: total.params,
        tensors: total.tensors,
        q8_0_tensors: total.gguf.q8_0_tensors,
        f32_tensors: total.gguf.f32_tensors,
        q8_0_bytes: total.gguf.q8_0_bytes,
        f32_bytes: total.gguf.f32_bytes,
        gguf_bytes: total.gguf.bytes,
        bf16_bytes: total.bf16_bytes,
        bytes: total.bytes,
        by_storage: weights
            .by_storage
            .iter()
            .map(|by| StoredBlock { storage: by.storage.as_str(), tensors: by.tensors, bytes: by.bytes })
            .collect(),
        embedding: EmbeddingBlock {
            rows: embedding.rows,
            cols: embedding.cols,
            storage: embedding.storage.as_str(),
            bytes: embedding.bytes,
            note: if embedding.tied {
                "the head is this table, counted once"
            } else {
                "the head is a table of its own"
            },
        },
        excluded,
        q8_0_layout: Q8_0_LAYOUT,
    }
}

/// What the config says is in the checkpoint and no program reads; and what is no weight.
fn excluded(config: &Value) -> Vec<Excluded> {
    let text = config.get("text_config");
    let there = |object: &Value, key: &str| match object.get(key) {
        None | Some(Value::Null) => false,
        Some(Value::Number(n)) => n.as_u64() != Some(0),
        Some(Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_)) => true,
    };
    let mut excluded = Vec::new();
    for &(key, what, why) in BESIDE {
        let outer = there(config, key).then(|| key.to_owned());
        let inner = text.filter(|text| there(text, key)).map(|_| format!("text_config.{key}"));
        excluded.extend(outer.or(inner).map(|key| Excluded { what, key: Some(key), why }));
    }
    let why = "the checkpoint has none: the host fills tables, and states are made as tokens come";
    excluded.push(Excluded { what: "tables and states", key: None, why });
    excluded
}

/// Values of the keys that were read, objects left out: their own keys stand for them.
fn read_keys(config: &Value, keys: &[String]) -> Map<String, Value> {
    let mut read = Map::new();
    for path in keys {
        let value = path.split('.').try_fold(config, |object, step| object.get(step));
        if let Some(value) = value.filter(|value| !value.is_object()) {
            read.insert(path.clone(), value.clone());
        }
    }
    read
}

fn tensor(row: &Row<'_>) -> TensorRow {
    TensorRow {
        name: row.name(),
        count: row.count,
        rows: row.rows,
        cols: row.cols,
        storage: row.storage.as_str(),
        class: match row.class {
            Class::Weight => "weight",
            Class::State => "state",
            Class::Table => "rotary table",
            Class::Activation => "activation",
        },
        layer: row.layer,
        bytes: row.bytes,
    }
}
