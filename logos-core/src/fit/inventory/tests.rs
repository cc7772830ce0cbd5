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
