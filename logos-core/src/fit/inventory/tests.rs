use super::*;
use crate::fit::ledger::Ledger;
use crate::request::{Form, Weights as Stored};
use crate::shard;

/// Every released config with its name.
pub(crate) fn zoo() -> Vec<(String, ModelSpec)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/configs");
    let truth = std::fs::read(format!("{folder}/truth.json")).unwrap();
    let truth: std::collections::BTreeMap<String, serde_json::Value> = serde_json::from_slice(&truth).unwrap();
    truth.keys().map(|name| (name.clone(), spec_of(name))).collect()
}

/// A released config's model.
pub(crate) fn spec_of(name: &str) -> ModelSpec {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/configs");
    let config = std::fs::read(format!("{folder}/{name}/config.json")).unwrap();
    crate::config::read(&config).unwrap()
}

fn truth(name: &str, key: &str) -> Option<u64> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/configs");
    let truth = std::fs::read(format!("{folder}/truth.json")).unwrap();
    let truth: serde_json::Value = serde_json::from_slice(&truth).unwrap();
    truth[name][key].as_u64()
}

const DECODE: Form = Form::Decode { ctx: 4096, batch: 2 };

/// F5: what is whole on every one of eight chips: norms of rows and of heads, and nothing else.
#[test]
fn what_every_chip_holds_whole() {
    let spec = spec_of("qwen3.5-27b");
    let programs = kinds::programs(&spec, DECODE, 8, Stored::Config).unwrap();
    let Weights { a_chip, .. } = inventory(&spec, &programs).unwrap().weights;
    let (layers, hidden, head, value) = (64, 5120, 256, 128);
    let norms = (2 * layers + 1) * hidden + 16 * 2 * head + 48 * value;
    assert_eq!((a_chip.replicated, a_chip.sharded), (2 * norms, 6_767_123_584 - 2 * norms));
}

/// F3: parameters and tensors of every released config, to the last one, and what a chip holds is what the ledger counts.
#[test]
fn weights_are_the_released_ones_and_the_ledgers() {
    let mut held = 0;
    for (name, spec) in zoo() {
        for tp in [1, 8].into_iter().filter(|tp| shard::widths(&spec, 8).contains(tp)) {
            for stored in [Stored::Config, Stored::Q8_0] {
                let programs = kinds::programs(&spec, DECODE, tp, stored).unwrap();
                let stock = inventory(&spec, &programs).unwrap();
                let Weights { total, by_storage, a_chip, .. } = &stock.weights;
                assert_eq!(Some(total.params), truth(&name, "params"), "{name}");
                assert_eq!(Some(total.tensors), truth(&name, "tensors"), "{name}");
                assert_eq!(by_storage.iter().map(|by| by.tensors).sum::<u64>(), total.tensors, "{name}");
                assert_eq!(by_storage.iter().map(|by| by.bytes).sum::<u64>(), total.bytes, "{name}");
                let ledger = Ledger::of(&spec, tp, stored, true).unwrap();
                assert_eq!(u128::from(a_chip.sharded + a_chip.replicated), ledger.weights, "{name} {tp} {stored:?}");
                if tp == 1 {
                    assert_eq!(u128::from(total.bytes), ledger.weights, "{name} {stored:?}");
                }
                let States { caches, memories, rings, .. } = stock.states;
                let carried = caches.a_chip + memories.a_chip + rings.a_chip;
                assert_eq!(u128::from(carried), 2 * ledger.sequence(4096).unwrap(), "{name} {tp}");
                let rows: Vec<Row<'_>> = stock.rows().collect::<Result<_, _>>().unwrap();
                let of = |class| rows.iter().filter(move |row: &&Row<'_>| row.class == class);
                assert_eq!(of(Class::Weight).map(|row| row.bytes).sum::<u64>(), total.bytes, "{name}");
                assert_eq!(of(Class::Weight).map(|row| u64::from(row.count)).sum::<u64>(), total.tensors, "{name}");
                let states = caches.whole + memories.whole + rings.whole;
                assert_eq!(of(Class::State).map(|row| row.bytes).sum::<u64>(), states, "{name}");
                held += 1;
            }
        }
    }
    assert!(held > 100, "{held}");
}

/// F3: the tensors of a GGUF file of Q8_0 matrices, to the byte.
#[cfg(feature = "checkpoint")]
#[test]
fn a_gguf_file_stores_what_is_counted() {
    use crate::checkpoint::{Checkpoint, Storage as In};
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/tiny");
    for name in ["llama", "qwen3", "gemma3", "mixtral", "qwen3_5"] {
        let config = std::fs::read(format!("{folder}/{name}/config.json")).unwrap();
        let spec = crate::config::read(&config).unwrap();
        let programs = kinds::programs(&spec, Form::Decode { ctx: 16, batch: 1 }, 1, Stored::Config).unwrap();
        let counted = inventory(&spec, &programs).unwrap().weights.total.gguf;
        let bytes = std::fs::read(format!("{folder}/{name}/model-q8_0.gguf")).unwrap();
        let file = Checkpoint::from_bytes(name, bytes).unwrap();
        let stored = |storage| {
            let ids = file.headers().ids().filter(|id| file.headers().get(*id).storage == storage);
            ids.map(|id| file.extent(id)).map(|extent| extent.end - extent.start).sum::<u64>()
        };
        let found = [In::Q8_0, In::F16, In::F32].map(stored);
        assert_eq!([counted.q8_0_bytes, counted.f16_bytes, counted.f32_bytes], found, "{name}");
    }
}

/// F3: names as the checkpoint has them, experts apart in one row, a vector one row high.
#[test]
fn rows_are_named_and_sized_as_stored() {
    let spec = spec_of("deepseek-v3");
    let programs = kinds::programs(&spec, DECODE, 8, Stored::Config).unwrap();
    let stock = inventory(&spec, &programs).unwrap();
    let rows: Vec<Row<'_>> = stock.rows().collect::<Result<_, _>>().unwrap();
    let row = |name: &str| {
        let found: Vec<_> = rows.iter().filter(|row| row.name() == name).collect();
        assert_eq!(found.len(), 1, "{name}");
        (found[0].layer, found[0].count, found[0].rows, found[0].cols, found[0].class, found[0].bytes)
    };
    let expert = "model.layers.60.mlp.experts.{e}.down_proj.weight";
    assert_eq!(row(expert), (Some(60), 256, 7168, 2048, Class::Weight, 256 * 7168 * 2048 * 2));
    assert_eq!(row("model.norm.weight"), (None, 1, 1, 7168, Class::Weight, 7168 * 2));
    assert_eq!(row("Cc60"), (Some(60), 2, 4096, 512, Class::State, 2 * 4096 * 512 * 2));
    assert_eq!(row("cos"), (None, 1, 2, 32, Class::Table, 2 * 32 * 4));
    assert_eq!(row("logits"), (None, 1, 2, 129_280, Class::Activation, 2 * 129_280 * 2));
    let layer = stock.layer(60).unwrap();
    assert_eq!((layer.params, layer.tensors), (11_507_286_016, 1 + 3 * 257 + 1 + 9));
    // A correction is stored and is no parameter.
    assert_eq!(layer.bf16_bytes, 2 * (layer.params + 256));
}

/// F3: blocks of 32 quants and a scale; what is left of a run is a block of fewer.
#[test]
fn the_last_block_is_partial() {
    use crate::fit::size::stored;
    assert_eq!(stored(3, 64, Storage::Q8_0), Ok(3 * 68));
    assert_eq!(stored(3, 65, Storage::Q8_0), Ok(3 * (68 + 1 + 2)));
    assert_eq!(stored(3, 65, Storage::Bf16), Ok(3 * 130));
    assert_eq!(stored(u128::MAX, 2, Storage::F32), Err(TooLarge));
}

/// F3: weights as released checkpoints store them, in blocks and in parts of other storages: the ledger's bytes.
#[test]
fn weights_of_checkpoints_are_the_ledgers() {
    let folder = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures"));
    for name in ["deepseek-v3", "minimax-m2.7", "gpt-oss-20b", "qwen3.5-27b", "glm-4.5", "qwen3-next-80b-a3b-thinking"]
    {
        let text = std::fs::read(folder.join(format!("checkpoints/{name}.json"))).unwrap();
        let headers = crate::checkpoint::Headers::from_description(name, &text).unwrap();
        let spec = crate::checkpoint::adopt(&headers, spec_of(name)).unwrap().spec;
        for tp in [1, 8] {
            let programs = kinds::programs(&spec, DECODE, tp, Stored::Config).unwrap();
            let Weights { total, by_storage, a_chip, .. } = inventory(&spec, &programs).unwrap().weights;
            let ledger = Ledger::of(&spec, tp, Stored::Config, true).unwrap();
            assert_eq!(u128::from(a_chip.sharded + a_chip.replicated), ledger.weights, "{name} {tp}");
            assert_eq!(by_storage.iter().map(|by| by.bytes).sum::<u64>(), total.bytes, "{name}");
            assert_eq!(Some(total.params), truth(name, "params"), "{name}");
            if tp == 1 {
                assert_eq!(u128::from(total.bytes), ledger.weights, "{name}");
            }
        }
    }
}
