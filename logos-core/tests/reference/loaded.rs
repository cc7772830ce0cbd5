//! The same, every chip fed by the loader alone: what it did not read is not there. Bundles keep weights as the checkpoint stores them.

use std::collections::BTreeMap;

use logos_bundle::view::Bundle;
use logos_core::checkpoint::load::{ChipStore, Files, Loader, Why};
use logos_core::checkpoint::{Checkpoint, Storage};
use logos_core::simulate::machine::{Machine, Order};
use logos_core::{Compiled, DeploymentRequest, Description, Form, Request, Weights, compile, shard};

use crate::fixture::{Fixture, path, prompts};
use crate::{CTX, difference};

fn compiled(fixture: &Fixture, checkpoint: &Checkpoint, form: Form, tp: u32) -> Compiled {
    let description = checkpoint.headers().describe();
    let deployments = [DeploymentRequest { name: "D".to_owned(), form, tp: Some(tp) }];
    let request = Request {
        model: fixture.name,
        config: fixture.config.as_bytes(),
        chip: "SN50".into(),
        weights: Weights::Config,
        checkpoint: Some(Description { file: "checkpoint.json", text: description.as_bytes() }),
        deployments: &deployments,
    };
    compile(&request).unwrap_or_else(|refusals| panic!("{}: {refusals:?}", fixture.name)).remove(0)
}

/// Decodes the prompts over every width from what each chip loaded, and holds the account to what the machine was given.
#[track_caller]
fn loads(name: &'static str, file: &str, expected: &str, widths: &[u32]) {
    let fixture = Fixture::load(name);
    let prompts = prompts(name, expected, fixture.spec.hidden as usize);
    let checkpoint = Checkpoint::open(&path(name, file)).unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
    let files = Files::open(&path(name, ""), checkpoint.headers()).unwrap();
    assert_eq!(shard::widths(&fixture.spec, 4), widths);
    for &tp in widths {
        let compiled = compiled(&fixture, &checkpoint, Form::Decode { ctx: CTX, batch: 1 }, tp);
        let bundle = Bundle::read(&compiled.words).unwrap();
        let loader = Loader::new(bundle, &checkpoint);
        let account = loader.account().unwrap();
        assert!(account.holds(), "{name} over {tp}: {:?}", account.excess);
        assert_eq!(account.unused, [], "{name} over {tp}");

        let chips: Vec<_> = (0..tp).map(|chip| loader.fetch(chip, &files).unwrap()).collect();
        assert_eq!(chips.iter().map(|chip| chip.bytes()).sum::<u64>(), account.bytes, "{name} over {tp}");
        if tp == 1 {
            // One chip reads every tensor, whole and once.
            assert!(account.readings.iter().all(|reading| reading.replicated.is_empty()), "{name}");
            let all: u64 = checkpoint.headers().ids().map(|id| checkpoint.bytes(id).len() as u64).sum();
            assert_eq!(account.bytes, all, "{name}");
        }
        let mut machine = Machine::new(&bundle, &ChipStore(chips)).unwrap();
        machine.set_order(Order::Schedule);
        for prompt in &prompts {
            machine.restart(0).unwrap();
            for (position, &token) in prompt.ids.iter().enumerate() {
                let output = machine.step(&[token]).unwrap();
                let off = difference(output.logits.row(0), &prompt.logits[position]);
                assert!(off <= 1e-4, "{name} over {tp}: logits at {position} differ by {off}");
            }
        }
    }
}

#[test]
fn safetensors() {
    loads("llama", "", "expected", &[1, 2, 4]);
    loads("llama3_tied", "", "expected", &[1, 2]);
    loads("qwen2", "", "expected", &[1, 2, 4]);
    loads("qwen3", "", "expected", &[1, 2, 4]);
    loads("qwen3_5", "", "expected", &[1, 2]);
    loads("mixtral", "", "expected", &[1, 2, 4]);
    loads("phi3", "", "expected", &[1, 2, 4]);
    loads("deepseek_v3", "", "expected", &[1, 2, 4]);
    loads("llama4", "", "expected", &[1, 2, 4]);
}

#[test]
fn gguf() {
    loads("llama", "model-q8_0.gguf", "expected-q8", &[1, 2, 4]);
    loads("qwen3", "model-q8_0.gguf", "expected-q8", &[1, 2, 4]);
    loads("qwen3_5", "model-q8_0.gguf", "expected-q8", &[1, 2]);
    loads("gemma3", "model-q8_0.gguf", "expected-q8", &[1, 2]);
    loads("mixtral", "model-q8_0.gguf", "expected-q8", &[1, 2, 4]);
}

#[test]
fn mxfp4() {
    loads("gpt_oss", "model-mxfp4.safetensors", "expected-mxfp4", &[1, 2, 4]);
}

/// Bytes of a deployment of the tiny llama that several chips read, by how many and why.
fn replicated(file: &str, tp: u32) -> BTreeMap<(String, u32, Why), u64> {
    let fixture = Fixture::load("llama");
    let checkpoint = Checkpoint::open(&path("llama", file)).unwrap();
    let compiled = compiled(&fixture, &checkpoint, Form::Decode { ctx: CTX, batch: 1 }, tp);
    let loader = Loader::new(Bundle::read(&compiled.words).unwrap(), &checkpoint);
    let mut found = BTreeMap::new();
    for reading in loader.account().unwrap().readings {
        let name = &checkpoint.headers().get(reading.tensor).name;
        if name.contains(".0.") || !name.contains(|c: char| c.is_ascii_digit()) {
            found.extend(reading.replicated.into_iter().map(|((chips, why), n)| ((name.clone(), chips, why), n)));
        }
    }
    found
}

#[test]
fn what_is_replicated_is_listed_with_its_reason() {
    let found = replicated("", 4);
    let norm = ("model.norm.weight".to_owned(), 4, Why::Whole);
    // 64 values of F32.
    assert_eq!(found.get(&norm), Some(&256), "{found:?}");
    // Two key heads of 16 rows over four chips: every pair holds one.
    let keys = ("model.layers.0.self_attn.k_proj.weight".to_owned(), 2, Why::Groups);
    assert_eq!(found.get(&keys), Some(&(2 * 16 * 64 * 4)), "{found:?}");
    assert!(found.keys().all(|(_, _, why)| *why != Why::Block), "{found:?}");
    // Of 96 columns each chip has 24, so each of a row's three blocks of 32 is read by the two that share it.
    let found = replicated("model-q8_0.gguf", 4);
    let down = ("blk.0.ffn_down.weight".to_owned(), 2, Why::Block);
    assert_eq!(found.get(&down), Some(&(64 * 34 * 3)), "{found:?}");
}

#[test]
fn loads_say_what_where_and_how_much() {
    let fixture = Fixture::load("llama");
    let checkpoint = Checkpoint::open(&path("llama", "model-q8_0.gguf")).unwrap();
    let compiled = compiled(&fixture, &checkpoint, Form::Decode { ctx: CTX, batch: 1 }, 2);
    let loader = Loader::new(Bundle::read(&compiled.words).unwrap(), &checkpoint);
    let loads: Vec<_> = loader.chip(1).unwrap().map(Result::unwrap).collect();
    let up = loads.iter().find(|load| load.value == "Wup1").unwrap();
    assert_eq!(up.tensor, "model.layers.1.mlp.up_proj.weight");
    assert_eq!((up.layer, up.expert, up.transposed, up.stored), (Some(1), None, true, Storage::Q8_0));
    let all = |ranges: &[std::ops::Range<u64>]| ranges.iter().map(|range| (range.start, range.end)).collect::<Vec<_>>();
    assert_eq!((all(&up.rows), all(&up.columns)), (vec![(48, 96)], vec![(0, 64)]));
    // 48 rows of two blocks, as the program keeps them, one after another in the file.
    assert_eq!((up.bytes(), up.kept), (48 * 68, logos_bundle::view::Storage::Q8_0));
    let stored = checkpoint.extent(up.parts[0].tensor);
    assert_eq!(all(&up.parts[0].ranges), [(stored.start + 48 * 68, stored.end)]);
    assert!(
        loader.chip(2).is_err_and(|error| error.to_string() == "chip 2 of 2 does not exist: chips are counted from 0")
    );
}

/// What the proof is worth: with the slices of two chips swapped, the logits are others.
#[test]
fn a_chip_has_no_more_than_it_loaded() {
    let fixture = Fixture::load("llama");
    let checkpoint = Checkpoint::open(&path("llama", "")).unwrap();
    let compiled = compiled(&fixture, &checkpoint, Form::Decode { ctx: CTX, batch: 1 }, 2);
    let bundle = Bundle::read(&compiled.words).unwrap();
    let loader = Loader::new(bundle, &checkpoint);
    let swapped = [1, 0].map(|chip| loader.fetch(chip, &checkpoint).unwrap()).to_vec();
    let mut machine = Machine::new(&bundle, &ChipStore(swapped)).unwrap();
    let output = machine.step(&fixture.prompts[0].ids[..1]).unwrap();
    assert!(difference(output.logits.row(0), &fixture.prompts[0].logits[0]) > 1e-2);
}
