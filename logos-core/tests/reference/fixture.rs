//! The tiny models: random checkpoints with what the reference implementation (transformers, float32) makes of them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use logos_core::checkpoint::TensorRead;
use logos_core::config;
use logos_core::reference::{TensorData, WeightSource};
use logos_core::simulate::{SharedTensor, TensorStore};
use logos_core::spec::ModelSpec;
use safetensors::SafeTensors;

/// A model with its prompts.
pub(crate) struct Fixture {
    pub(crate) name: &'static str,
    pub(crate) config: String,
    pub(crate) spec: ModelSpec,
    pub(crate) checkpoint: Checkpoint,
    pub(crate) prompts: Vec<Prompt>,
}

/// Tensors by name.
pub(crate) struct Checkpoint(BTreeMap<String, Arc<Held>>);

/// A tensor in memory.
struct Held {
    shape: Vec<usize>,
    values: Vec<f32>,
}

impl TensorRead for Held {
    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn floats(&self) -> Option<&[f32]> {
        Some(&self.values)
    }

    fn read(&self, row: usize, columns: Range<usize>, out: &mut [f32]) {
        out.copy_from_slice(&self.values[row * self.columns()..][columns]);
    }
}

impl TensorStore for Checkpoint {
    fn open(&self, tensor: &str) -> Option<SharedTensor> {
        self.0.get(tensor).map(|held| held.clone() as SharedTensor)
    }
}

/// A prompt and what follows it.
pub(crate) struct Prompt {
    pub(crate) ids: Vec<u32>,
    /// Of every position of the prompt.
    pub(crate) logits: Vec<Vec<f32>>,
    /// Tokens generated with a cache, each the largest of its row of `decode_logits`.
    pub(crate) greedy: Vec<u32>,
    pub(crate) decode_logits: Vec<Vec<f32>>,
    /// At the last position of the prompt, before layer 0 and after each layer; empty but for the first prompt.
    pub(crate) hidden_last: Vec<Vec<f32>>,
}

impl WeightSource for Checkpoint {
    fn read(&self, tensor: &str) -> Option<TensorData<'_>> {
        let Held { shape, values } = &**self.0.get(tensor)?;
        Some(TensorData { shape: shape.clone(), values: Cow::Borrowed(values) })
    }
}

impl Fixture {
    pub(crate) fn load(name: &'static str) -> Fixture {
        Fixture::load_changed(name, |config| config)
    }

    /// With a config that differs from what the logits were made with.
    pub(crate) fn load_changed(name: &'static str, change: impl FnOnce(String) -> String) -> Fixture {
        let text = String::from_utf8(file(name, "config.json")).unwrap();
        let config = change(text);
        let spec = config::read(config.as_bytes()).unwrap_or_else(|refusals| panic!("{name}: {refusals:?}"));
        let bytes = file(name, "model.safetensors");
        let tensors = SafeTensors::deserialize(&bytes).unwrap();
        let checkpoint = tensors.iter().map(|(tensor, view)| {
            assert_eq!(view.dtype(), safetensors::Dtype::F32);
            (tensor.to_owned(), Arc::new(Held { shape: view.shape().to_vec(), values: floats(view.data()) }))
        });
        let checkpoint = Checkpoint(checkpoint.collect());
        let prompts = prompts(name, "expected", spec.hidden as usize);
        Fixture { name, config, spec, checkpoint, prompts }
    }
}

/// A model of which there is only what another way of storing it gives: no F32 tensors of its own.
pub(crate) fn quantised(name: &'static str, expected: &str) -> Fixture {
    let config = String::from_utf8(file(name, "config.json")).unwrap();
    let spec = config::read(config.as_bytes()).unwrap_or_else(|refusals| panic!("{name}: {refusals:?}"));
    let prompts = prompts(name, expected, spec.hidden as usize);
    Fixture { name, config, spec, checkpoint: Checkpoint(BTreeMap::new()), prompts }
}

/// `expected.json` has the tokens; `expected.f32`, little endian, for each prompt the rows of `logits`, those of
/// `decode_logits`, then those of `hidden_last`.
pub(crate) fn prompts(name: &str, stem: &str, hidden: usize) -> Vec<Prompt> {
    let expected: serde_json::Value = serde_json::from_slice(&file(name, &format!("{stem}.json"))).unwrap();
    let values = floats(&file(name, &format!("{stem}.f32")));
    let mut rest = &values[..];
    let mut take = |rows: usize, cols: usize| -> Vec<Vec<f32>> {
        let (taken, after) = rest.split_at(rows * cols);
        rest = after;
        taken.chunks(cols).map(<[f32]>::to_vec).collect()
    };
    let tokens = |value: &serde_json::Value| -> Vec<u32> { serde_json::from_value(value.clone()).unwrap() };
    let count = |value: &serde_json::Value| value.as_u64().unwrap() as usize;
    let vocab = count(&expected["vocab"]);
    let mut prompts = Vec::new();
    for prompt in expected["prompts"].as_array().unwrap() {
        let (ids, greedy) = (tokens(&prompt["ids"]), tokens(&prompt["greedy"]));
        prompts.push(Prompt {
            logits: take(ids.len(), vocab),
            decode_logits: take(greedy.len(), vocab),
            hidden_last: take(count(&prompt["hidden_last"]), hidden),
            ids,
            greedy,
        });
    }
    assert!(rest.is_empty() && prompts.len() == 2 && prompts[0].greedy.len() == 16);
    prompts
}

/// A file of a model.
pub(crate) fn path(name: &str, file: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", "tests", "fixtures", "tiny", name, file].iter().collect()
}

fn file(name: &str, file: &str) -> Vec<u8> {
    let path = path(name, file);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    let (values, rest) = bytes.as_chunks();
    assert!(rest.is_empty());
    values.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}
