//! Parameters and tensors of published models, to the last one. The truth was counted with transformers 5.24 on the meta
//! device and compared with released checkpoints' own lists, names as those have them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::spec::{FeedForward, Mixer, ModelSpec, inventory};

use super::{fixture, published};

/// `name AxBxC` lines, sorted, as the truth hashes them.
fn tensor_lines(spec: &ModelSpec) -> Vec<String> {
    let stock = inventory(spec).unwrap();
    let mut lines: Vec<String> = stock
        .iter()
        .map(|stored| {
            let axes: Vec<String> = stored.shape.iter().map(u32::to_string).collect();
            format!("{} {}\n", stored.name, axes.join("x"))
        })
        .collect();
    lines.sort();
    lines
}

fn compare(folder: &str) -> usize {
    let truth: BTreeMap<String, Value> = serde_json::from_slice(&fixture(&format!("{folder}/truth.json"))).unwrap();
    for (slug, truth) in &truth {
        let spec = super::super::read(&fixture(&format!("{folder}/{slug}/config.json"))).unwrap();
        let stock = inventory(&spec).unwrap();
        assert_eq!(Some(stock.params), truth["params"].as_u64(), "{slug}: parameters");
        let lines = tensor_lines(&spec);
        assert_eq!(Some(lines.len() as u64), truth["tensors"].as_u64(), "{slug}: tensors");
        assert_eq!(stock.tensors, lines.len() as u64, "{slug}: tensors as counted");
        let hash = Sha256::digest(lines.concat()).iter().fold(String::new(), |mut hex, byte| {
            write!(hex, "{byte:02x}").unwrap();
            hex
        });
        assert_eq!(Some(hash.as_str()), truth["sha256"].as_str(), "{slug}: names and shapes");
        if let Some(tied) = truth.get("tied") {
            assert_eq!(Some(spec.head.tied), tied.as_bool(), "{slug}: tied");
        }
    }
    truth.len()
}

#[test]
fn published_models_to_the_last_parameter() {
    assert_eq!(compare("configs"), 15);
}

#[test]
fn small_checkpoints_to_the_last_tensor() {
    assert_eq!(compare("tiny"), 6);
}

#[test]
fn layers_are_few_however_deep_the_model() {
    for (slug, distinct) in [("llama-3.1-405b", 1), ("mistral-7b-v0.1", 1), ("qwen2.5-72b", 1), ("qwen3.5-27b", 2)] {
        let spec = published(slug);
        assert_eq!(spec.layers.len(), distinct, "{slug}");
    }
    let qwen = published("qwen3.5-27b");
    assert_eq!(qwen.depth(), 64);
    for (layer, &row) in qwen.layer_of.iter().enumerate() {
        assert_eq!(row, u32::from(layer % 4 == 3), "layer {layer}");
    }
}

/// The parts of every fused tensor: each index of axis 0 in exactly one of them.
#[test]
fn parts_of_a_tensor_tile_it() {
    for slug in ["llama-3.1-8b", "qwen2-7b-instruct", "qwen3-8b", "qwen3.5-27b"] {
        for layer in &published(slug).layers {
            let mut seen: BTreeMap<String, Vec<u8>> = BTreeMap::new();
            layer.each_weight(&mut |used| {
                let weight = used.weight;
                let rows = weight.tensor.shape[0] as usize;
                let count = seen.entry(weight.tensor.name.clone()).or_insert_with(|| vec![0; rows]);
                assert_eq!(count.len(), rows, "{slug}: {} has two shapes", weight.tensor.name);
                let take = weight.take;
                for j in 0..take.run * take.count {
                    count[(take.offset + j / take.run * take.stride + j % take.run) as usize] += 1;
                }
            });
            for (name, count) in seen {
                assert!(count.iter().all(|&n| n == 1), "{slug}: {name}");
            }
        }
    }
}

#[test]
fn qwen35_takes_its_gate_head_by_head_and_its_delta_ranges() {
    let spec = published("qwen3.5-27b");
    let Mixer::Attention(attention) = &spec.layers[1].mixer else { panic!("layer 3 attends") };
    let gate = attention.gate.as_ref().unwrap();
    assert_eq!((attention.q.weight.take.offset, gate.weight.take.offset), (0, 256));
    for part in [&attention.q, gate] {
        let take = part.weight.take;
        assert_eq!((take.run, take.stride, take.count), (256, 512, 24));
        assert_eq!((part.out, part.weight.tensor.shape.as_slice()), (6144, [12_288, 5120].as_slice()));
        assert_eq!(part.weight.tensor.name, "model.language_model.layers.{l}.self_attn.q_proj.weight");
    }
    assert_eq!(attention.rope.as_ref().map(|rope| (rope.theta, rope.rotary)), Some((1e7, 64)));
    let Mixer::GatedDelta(delta) = &spec.layers[0].mixer else { panic!("layer 0 is a recurrence") };
    let ranges = [&delta.q, &delta.k, &delta.v].map(|part| (part.weight.take.offset, part.weight.take.run, part.out));
    assert_eq!(ranges, [(0, 2048, 2048), (2048, 2048, 2048), (4096, 6144, 6144)]);
    let convolved = [&delta.conv_q, &delta.conv_k, &delta.conv_v].map(|part| (part.take.offset, part.take.run));
    assert_eq!(convolved, [(0, 2048), (2048, 2048), (4096, 6144)]);
    assert_eq!(delta.conv_q.tensor.shape, [10_240, 1, 4]);
    assert!(matches!(&spec.layers[0].feed_forward, FeedForward::Dense(mlp) if mlp.width == 17_408));
}
