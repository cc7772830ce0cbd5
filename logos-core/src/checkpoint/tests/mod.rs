//! Files made up for the occasion, and the tiny models' own with something changed.

mod adopted;
mod compared;
mod damaged;
mod described;
mod folders;
mod gguf;
mod values;

use std::path::PathBuf;

use super::{Checkpoint, TensorRead};
use crate::Refusal;
use crate::spec::ModelSpec;

/// A tensor to be written: name, dtype, shape, bytes.
#[derive(Clone)]
struct Entry {
    name: String,
    dtype: &'static str,
    shape: Vec<u64>,
    bytes: Vec<u8>,
}

fn entry(name: &str, dtype: &'static str, shape: &[u64], bytes: Vec<u8>) -> Entry {
    Entry { name: name.to_owned(), dtype, shape: shape.to_vec(), bytes }
}

fn floats(name: &str, shape: &[u64], values: &[f32]) -> Entry {
    entry(name, "F32", shape, values.iter().flat_map(|value| value.to_le_bytes()).collect())
}

/// A safetensors file of them.
fn file(entries: &[Entry]) -> Vec<u8> {
    let mut header = serde_json::Map::new();
    let mut data = Vec::new();
    for Entry { name, dtype, shape, bytes } in entries {
        let start = data.len();
        data.extend(bytes);
        let info = serde_json::json!({ "dtype": dtype, "shape": shape, "data_offsets": [start, data.len()] });
        header.insert(name.clone(), info);
    }
    raw(&serde_json::to_string(&header).unwrap(), &data)
}

/// A safetensors file of a header as it is.
fn raw(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

fn open(entries: &[Entry]) -> Checkpoint {
    Checkpoint::from_bytes("a.safetensors", file(entries)).unwrap()
}

/// One line a refusal.
fn lines(refusals: &[Refusal]) -> String {
    let line = |refusal: &Refusal| {
        let facts: String = refusal.facts.iter().map(|(name, value)| format!("; {name}: {value}")).collect();
        format!("{}: {}{facts}\n", refusal.code, refusal.message)
    };
    refusals.iter().map(line).collect()
}

fn fixture(model: &str, file: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", "tests", "fixtures", "tiny", model, file].iter().collect()
}

/// A tiny model's specification and tensors.
fn tiny(model: &str) -> (ModelSpec, Vec<Entry>) {
    let spec = crate::config::read(&std::fs::read(fixture(model, "config.json")).unwrap()).unwrap();
    let bytes = std::fs::read(fixture(model, "model.safetensors")).unwrap();
    let tensors = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let mut entries: Vec<Entry> = tensors
        .iter()
        .map(|(name, view)| {
            let shape: Vec<u64> = view.shape().iter().map(|&axis| axis as u64).collect();
            entry(name, "F32", &shape, view.data().to_vec())
        })
        .collect();
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    (spec, entries)
}

/// Damages a sound file in many ways: bytes changed, cut, doubled, numbers made large. Each is refused with a place, or opens and can be read.
#[track_caller]
fn fuzz(whole: &[u8], seed: u64, open: impl Fn(Vec<u8>) -> Result<Checkpoint, Refusal>, names: &[&str]) {
    let readable = |checkpoint: &Checkpoint| {
        for name in
            names.iter().copied().chain(checkpoint.headers().tensors().iter().map(|tensor| tensor.name.as_str()))
        {
            match checkpoint.tensor(name) {
                Ok(Some(tensor)) => assert_eq!(tensor.values().len(), tensor.rows() * tensor.columns()),
                Ok(None) => {}
                Err(refusal) => assert_eq!(refusal.facts[0].0, "expected"),
            }
        }
    };
    readable(&open(whole.to_vec()).unwrap());
    let mut state = seed;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below.max(1)
    };
    let (mut refused, mut opened) = (0, 0);
    for round in 0..20_000 {
        let mut bytes = whole.to_vec();
        for _ in 0..=random(3) {
            let at = random(bytes.len());
            match random(6) {
                0 => bytes.truncate(at),
                1 => drop(bytes.drain(at..(at + 1 + random(8)).min(whole.len()).min(bytes.len()).max(at))),
                2 => bytes.insert(at, b"0123456789-{}[]\",:"[random(18)]),
                3 => bytes
                    .splice(at..at, whole[at.min(whole.len() - 1)..].iter().copied().take(random(64)))
                    .for_each(drop),
                4 => bytes.iter_mut().skip(at).take(8).for_each(|byte| *byte = [0, 0xff, 0x7f][round % 3]),
                _ => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << random(8)),
            }
            if bytes.is_empty() {
                break;
            }
        }
        match open(bytes) {
            Ok(checkpoint) => {
                readable(&checkpoint);
                opened += 1;
            }
            Err(refusal) => {
                assert!(refusal.code.as_str().starts_with("LOGOS-CKPT-"), "{refusal}");
                assert!(refusal.to_string().len() < 4096, "{refusal}");
                refused += 1;
            }
        }
    }
    assert!(refused > 1000 && opened > 100, "{refused} refused, {opened} opened: neither is put to the test");
}
