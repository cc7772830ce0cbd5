//! Parameters and tensors of published models, to the last one. The truth was counted with transformers 5.24 on the meta
//! device and compared with released checkpoints' own lists, names as those have them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::spec::{FeedForward, Linear, Mixer, Mlp, ModelSpec, Weight, inventory};

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
        let config = fixture(&format!("{folder}/{slug}/config.json"));
        let spec = super::super::read(&config).unwrap_or_else(|refusals| panic!("{slug}: {refusals:#?}"));
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

/// The configs of a folder, by name.
fn slugs(folder: &str) -> Vec<String> {
    let truth: BTreeMap<String, Value> = serde_json::from_slice(&fixture(&format!("{folder}/truth.json"))).unwrap();
    truth.into_keys().collect()
}

fn spec_of(folder: &str, slug: &str) -> ModelSpec {
    super::super::read(&fixture(&format!("{folder}/{slug}/config.json"))).unwrap()
}

#[test]
fn published_models_to_the_last_parameter() {
    assert_eq!(compare("configs"), 44);
}

#[test]
fn small_checkpoints_to_the_last_tensor() {
    assert_eq!(compare("tiny"), 30);
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

/// The parts of every fused tensor: each of its output features in exactly one of them.
#[test]
fn parts_of_a_tensor_tile_it() {
    for folder in ["configs", "tiny"] {
        for slug in slugs(folder) {
            for layer in &spec_of(folder, &slug).layers {
                let mut seen: BTreeMap<String, Vec<u8>> = BTreeMap::new();
                let mut tile = |weight: &Weight| {
                    let rows = weight.tensor.shape[0] as usize;
                    let count = seen.entry(weight.tensor.name.clone()).or_insert_with(|| vec![0; rows]);
                    assert_eq!(count.len(), rows, "{slug}: {} has two shapes", weight.tensor.name);
                    let take = weight.take;
                    for j in 0..take.run * take.count {
                        count[(take.offset + j / take.run * take.stride + j % take.run) as usize] += 1;
                    }
                };
                match &layer.feed_forward {
                    // Stacked experts' features are not axis 0 as stored.
                    FeedForward::Experts(experts) => {
                        let Mlp { gate, up, down, .. } = &experts.one();
                        for linear in gate.iter().chain([up, down]) {
                            assert_eq!(linear.weight.tensor.shape[1], linear.input, "{slug}");
                            tile(&linear.weight);
                            linear.bias.iter().for_each(&mut tile);
                        }
                    }
                    FeedForward::Dense(_) => {}
                }
                layer.each_weight(&mut |used| {
                    if !used.weight.tensor.name.contains(".experts.") {
                        tile(used.weight);
                    }
                });
                for (name, count) in seen {
                    assert!(count.iter().all(|&n| n == 1), "{slug}: {name}");
                }
            }
        }
    }
}

/// Every projection has the weight that its sizes say, every norm and vector the length.
#[test]
fn projections_are_as_large_as_they_say() {
    for folder in ["configs", "tiny"] {
        for slug in slugs(folder) {
            let spec = spec_of(folder, &slug);
            for layer in &spec.layers {
                let linears: Vec<&Linear> = match &layer.mixer {
                    Mixer::Attention(a) => {
                        assert_eq!((a.q.out, a.k.out), (a.heads * a.head_dim, a.kv_heads * a.head_dim), "{slug}");
                        vec![&a.q, &a.k, &a.v, &a.o]
                    }
                    Mixer::Latent(l) => {
                        assert_eq!(l.q.out, l.heads * (l.nope + l.rotary), "{slug}");
                        assert_eq!((l.kv_down.out, l.kv_up.input), (l.latent + l.rotary, l.latent), "{slug}");
                        assert_eq!((l.kv_up.out, l.o.input), (l.heads * (l.nope + l.value_dim), l.heads * l.value_dim));
                        vec![&l.q, &l.kv_down, &l.kv_up, &l.o]
                    }
                    Mixer::GatedDelta(d) => vec![&d.q, &d.k, &d.v, &d.z, &d.b, &d.a, &d.out],
                };
                let mlp = match &layer.feed_forward {
                    FeedForward::Dense(mlp) => mlp.clone(),
                    FeedForward::Experts(experts) => experts.one(),
                };
                assert_eq!((mlp.up.out, mlp.down.out, mlp.down.input), (mlp.width, spec.hidden, mlp.width), "{slug}");
                for linear in linears.into_iter().chain(&mlp.gate).chain([&mlp.up, &mlp.down]) {
                    assert_eq!(linear.weight.take.len(), u64::from(linear.out), "{slug}: {linear:?}");
                    assert_eq!(linear.weight.tensor.shape[1], linear.input, "{slug}: {linear:?}");
                    let bias = linear.bias.as_ref().map(|bias| bias.take);
                    assert!(bias.is_none_or(|take| take == linear.weight.take), "{slug}: {linear:?}");
                }
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
