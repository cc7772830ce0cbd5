//! The same, every chip fed by the loader alone: what it did not read is not there. Bundles keep weights as the checkpoint stores them.

use std::collections::BTreeMap;

use logos_bundle::load::{self as bundle, Mismatch, Parts, Place, Stored};
use logos_bundle::view::Bundle;
use logos_core::checkpoint::load::{ChipStore, Files, Load, Loader, ReadAt, Why};
use logos_core::checkpoint::{Checkpoint, Storage};
use logos_core::reference::{RopeLength, Shards, embed};
use logos_core::simulate::machine::{Machine, Order};
use logos_core::spec::{ModelSpec, inventory};
use logos_core::{
    Compiled, DeploymentRequest, Description, ExpertSplit, Form, Request, Vocabulary, Weights, compile, shard,
};

use crate::fixture::{Fixture, path, quantised};
use crate::{CTX, difference};

fn compiled(fixture: &Fixture, checkpoint: &Checkpoint, form: Form, tp: u32) -> Compiled {
    let description = checkpoint.headers().describe();
    let experts = fixture.spec.expert_split;
    let deployments = [DeploymentRequest { experts, ..DeploymentRequest::new("D", form, Some(tp)) }];
    let request = Request {
        model: fixture.name,
        config: fixture.config.as_bytes(),
        chip: "SN50".into(),
        weights: Weights::Config,
        checkpoint: Some(Description { file: "checkpoint.json", text: description.as_bytes() }),
        vocabulary: fixture.spec.vocabulary,
        deployments: &deployments,
    };
    compile(&request).unwrap_or_else(|refusals| panic!("{}: {refusals:?}", fixture.name)).remove(0)
}

/// A model whose chips have what the loader gave them, and nothing else.
struct Loaded<'a> {
    fixture: &'a Fixture,
    checkpoint: &'a Checkpoint,
    files: &'a dyn ReadAt,
}

impl Loaded<'_> {
    /// A deployment with its chips' weights, and the account of all of them held to what they read.
    fn machine(&self, form: Form, tp: u32) -> Machine {
        let Loaded { fixture, checkpoint, files } = self;
        let name = fixture.name;
        let compiled = compiled(fixture, checkpoint, form, tp);
        let bundle = Bundle::read(&compiled.words).unwrap();
        let loader = Loader::new(bundle, checkpoint);
        let account = loader.account().unwrap();
        assert!(account.holds(), "{name} over {tp}: {:?}", account.excess);
        // A forward step takes hidden states, so it reads no embedding that the head does not share.
        let unused = account.unused.iter().map(|&id| &checkpoint.headers().get(id).name);
        let unused: Vec<_> =
            unused.filter(|name| !matches!(form, Form::Forward { .. }) || !name.contains("emb")).collect();
        assert!(unused.is_empty(), "{name} over {tp}: {unused:?}");

        let chips: Vec<_> = (0..tp).map(|chip| loader.fetch(chip, *files).unwrap()).collect();
        assert_eq!(chips.iter().map(|chip| chip.bytes()).sum::<u64>(), account.bytes, "{name} over {tp}");
        if tp == 1 && account.unused.is_empty() {
            // One chip reads every tensor, whole and once.
            assert!(account.readings.iter().all(|reading| reading.replicated.is_empty()), "{name}");
            let all: u64 = checkpoint.headers().ids().map(|id| checkpoint.bytes(id).len() as u64).sum();
            assert_eq!(account.bytes, all, "{name}");
        }
        let mut machine = Machine::new(&bundle, &ChipStore(chips)).unwrap();
        machine.set_order(Order::Schedule);
        machine.set_rope_length(RopeLength::Fixed(CTX));
        machine
    }

    #[track_caller]
    fn close(&self, what: &str, found: &[f32], expected: &[f32]) {
        let off = difference(found, expected);
        assert!(off <= 1e-4, "{}: {what}: logits differ by {off}", self.fixture.name);
    }

    /// Token by token.
    fn decode(&self, tp: u32) {
        let mut machine = self.machine(Form::Decode { ctx: CTX, batch: 1 }, tp);
        for prompt in &self.fixture.prompts {
            machine.restart(0).unwrap();
            for (position, &token) in prompt.ids.iter().enumerate() {
                let output = machine.step(&[token]).unwrap();
                self.close(&format!("decode over {tp} at {position}"), output.logits.row(0), &prompt.logits[position]);
            }
        }
    }

    /// Each prompt at once, then both as one batch.
    fn prefill_and_batch(&self, tp: u32) {
        let prompts = &self.fixture.prompts;
        let mut batch = self.machine(Form::Decode { ctx: CTX, batch: prompts.len() as u32 }, tp);
        for (sequence, prompt) in prompts.iter().enumerate() {
            let mut prefill = self.machine(Form::Prefill { ctx: CTX, chunk: prompt.ids.len() as u32, batch: 1 }, tp);
            let output = prefill.step(&prompt.ids).unwrap();
            self.close(&format!("prefill over {tp}"), output.logits.row(0), &prompt.decode_logits[0]);
            batch.adopt(sequence, &prefill, 0).unwrap();
        }
        for step in 1..4 {
            let tokens: Vec<u32> = prompts.iter().map(|prompt| prompt.greedy[step - 1]).collect();
            let output = batch.step(&tokens).unwrap();
            for (sequence, prompt) in prompts.iter().enumerate() {
                let what = format!("token {step} of sequence {sequence} over {tp}");
                self.close(&what, output.logits.row(sequence), &prompt.decode_logits[step]);
            }
        }
    }

    /// All positions of a prompt at once, without state. The host looks the tokens up.
    fn forward(&self, tp: u32) {
        let Fixture { spec, prompts, .. } = self.fixture;
        let weights = self.checkpoint.weights(spec).unwrap();
        let hidden = embed(spec, &Shards::new(&weights), &prompts[0].ids).unwrap();
        let mut machine = self.machine(Form::Forward { rows: prompts[0].ids.len() as u32 }, tp);
        let output = machine.forward(hidden).unwrap();
        for (position, expected) in prompts[0].logits.iter().enumerate() {
            self.close(&format!("forward over {tp} at {position}"), output.logits.row(position), expected);
        }
    }
}

/// S10, B7: every form over every width from what each chip loaded, and the account held to what the machine was given.
#[track_caller]
fn loads(name: &'static str, file: &str, expected: &str, widths: &[u32]) {
    loads_as((Vocabulary::Exact, ExpertSplit::Columns), name, (file, expected), widths);
}

#[track_caller]
fn loads_as(
    (vocabulary, expert_split): (Vocabulary, ExpertSplit),
    name: &'static str,
    (file, expected): (&str, &str),
    widths: &[u32],
) {
    let mut fixture = quantised(name, expected);
    fixture.spec = ModelSpec { vocabulary, expert_split, ..fixture.spec };
    let checkpoint = Checkpoint::open(&path(name, file)).unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
    let files = Files::open(&path(name, ""), checkpoint.headers()).unwrap();
    assert_eq!(shard::widths(&fixture.spec, 4), widths);
    let loaded = Loaded { fixture: &fixture, checkpoint: &checkpoint, files: &files };
    for &tp in widths {
        loaded.decode(tp);
        loaded.prefill_and_batch(tp);
        loaded.forward(tp);
    }
}

#[test]
fn grouped_attention() {
    for name in
        ["llama", "mistral", "qwen2", "qwen3", "phi3", "phi3_longrope", "starcoder2", "granite", "glm4", "smollm3"]
    {
        loads(name, "", "expected", &[1, 2, 4]);
    }
    loads("llama3_tied", "", "expected", &[1, 2]);
    loads("olmo2", "", "expected", &[1, 2, 4]);
}

#[test]
fn other_blocks() {
    for name in ["gemma2", "gpt_neox", "phi", "cohere", "falcon", "falcon_new"] {
        loads(name, "", "expected", &[1, 2, 4]);
    }
    for name in ["gemma3", "qwen3_5"] {
        loads(name, "", "expected", &[1, 2]);
    }
}

#[test]
fn latents_and_experts() {
    for name in ["mixtral", "qwen3_moe", "deepseek_v2", "deepseek_v3", "llama4", "gpt_oss", "glm4_moe", "minimax_m2"] {
        loads(name, "", "expected", &[1, 2, 4]);
    }
    for name in ["qwen3_next", "qwen3_5_moe"] {
        loads(name, "", "expected", &[1, 2]);
    }
}

/// 96 tokens padded to 128: of four chips the last holds padding alone. 160, of a tied head, to 192. Every byte is read as often as before.
#[test]
fn padded() {
    for name in ["qwen3", "phi3", "deepseek_v3", "gpt_neox"] {
        loads_as((Vocabulary::Padded, ExpertSplit::Columns), name, ("", "expected"), &[1, 2, 4]);
    }
    loads_as((Vocabulary::Padded, ExpertSplit::Columns), "llama3_tied", ("", "expected"), &[1, 2]);
    let mut fixture = quantised("phi3", "expected");
    fixture.spec.vocabulary = Vocabulary::Padded;
    assert_eq!((fixture.spec.vocab, fixture.spec.vocab_rows(4)), (96, Some(128)));
    let checkpoint = Checkpoint::open(&path("phi3", "")).unwrap();
    let compiled = compiled(&fixture, &checkpoint, Form::Decode { ctx: CTX, batch: 1 }, 4);
    let loader = Loader::new(Bundle::read(&compiled.words).unwrap(), &checkpoint);
    let head = |chip| {
        let mut loads = loader.chip(chip).unwrap().map(Result::unwrap);
        let head = loads.find(|load| load.value == "Wlm").unwrap();
        let rows = head.rows.iter().map(|rows| (rows.start, rows.end)).collect::<Vec<_>>();
        (rows, head.bytes(), head.zeros)
    };
    assert_eq!(head(2), (vec![(64, 96)], 32 * 64 * 4, 0));
    assert_eq!(head(3), (vec![], 0, 32));
}

#[test]
fn gguf() {
    for name in ["llama", "qwen3", "mixtral"] {
        loads(name, "model-q8_0.gguf", "expected-q8", &[1, 2, 4]);
    }
    for name in ["qwen3_5", "gemma3"] {
        loads(name, "model-q8_0.gguf", "expected-q8", &[1, 2]);
    }
}

/// Whole experts: a chip reads its own and none of the others', from tensors of their own and out of stacks.
#[test]
fn whole_experts() {
    for (name, file, expected) in [
        ("mixtral", "", "expected"),
        ("mixtral", "model-q8_0.gguf", "expected-q8"),
        ("deepseek_v3", "", "expected"),
        ("llama4", "", "expected"),
        ("gpt_oss", "model-mxfp4.safetensors", "expected-mxfp4"),
    ] {
        loads_as((Vocabulary::Exact, ExpertSplit::Parallel), name, (file, expected), &[1, 2, 4]);
    }
    let mut fixture = Fixture::load("mixtral");
    fixture.spec.expert_split = ExpertSplit::Parallel;
    let checkpoint = Checkpoint::open(&path("mixtral", "")).unwrap();
    let compiled = compiled(&fixture, &checkpoint, Form::Decode { ctx: CTX, batch: 1 }, 2);
    let loader = Loader::new(Bundle::read(&compiled.words).unwrap(), &checkpoint);
    let loads = loader.chip(1).unwrap().map(Result::unwrap);
    let down: Vec<_> = loads.filter(|load| load.value == "Wde0").map(|load| (load.expert, load.copies)).collect();
    assert_eq!(down, [(Some(2), 1), (Some(3), 1)]);
}

#[test]
fn mxfp4() {
    loads("gpt_oss", "model-mxfp4.safetensors", "expected-mxfp4", &[1, 2, 4]);
}

#[test]
fn fp8() {
    loads("qwen3_fp8", "model-fp8.safetensors", "expected-fp8", &[1, 2, 4]);
}

/// No tiny model's heads go over three chips; of this one's six and three they do, and three chips compute what one does.
#[test]
fn three_chips() {
    three(96, Vocabulary::Exact, &[1, 3]);
}

/// 97 tokens, which three chips have as 192 and one as they are: the third holds padding alone.
#[test]
fn three_chips_of_a_padded_vocabulary() {
    three(97, Vocabulary::Exact, &[1]);
    three(97, Vocabulary::Padded, &[1, 3]);
}

fn three(vocab: u32, vocabulary: Vocabulary, widths: &[u32]) {
    const CONFIG: &str = r#"{"architectures":["LlamaForCausalLM"],"model_type":"llama","torch_dtype":"float32",
        "vocab_size":VOCAB,"hidden_size":48,"intermediate_size":72,"num_hidden_layers":2,"num_attention_heads":6,
        "num_key_value_heads":3,"head_dim":16,"hidden_act":"silu","max_position_embeddings":256,"rms_norm_eps":1e-5,
        "rope_theta":10000.0,"tie_word_embeddings":false,"attention_bias":false,"mlp_bias":false}"#;
    let config = CONFIG.replace("VOCAB", &vocab.to_string());
    let spec = logos_core::config::read(config.as_bytes()).unwrap();
    let mut state = 1u32;
    let tensors: Vec<(String, Vec<usize>, Vec<u8>)> = inventory(&spec)
        .unwrap()
        .iter()
        .map(|bound| {
            let shape: Vec<usize> = bound.shape.iter().map(|&axis| axis as usize).collect();
            let values = (0..shape.iter().product()).flat_map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                ((state >> 8) as f32 / (1 << 23) as f32 - 1.0).to_le_bytes()
            });
            (bound.name.to_string(), shape, values.collect())
        })
        .collect();
    let views = tensors.iter().map(|(name, shape, bytes)| {
        (name.clone(), safetensors::tensor::TensorView::new(safetensors::Dtype::F32, shape.clone(), bytes).unwrap())
    });
    let checkpoint = Checkpoint::from_bytes("m", safetensors::serialize(views, None).unwrap()).unwrap();
    let mut fixture = Fixture { name: "three", config, spec, ..quantised("llama", "expected") };

    // What one chip makes of the first prompt's tokens, greedily, is what is expected of three.
    let one = Loaded { fixture: &fixture, checkpoint: &checkpoint, files: &checkpoint };
    let mut one = one.machine(Form::Decode { ctx: CTX, batch: 1 }, 1);
    for prompt in &mut fixture.prompts {
        one.restart(0).unwrap();
        prompt.ids.iter_mut().for_each(|id| *id %= vocab);
        let rows: Vec<_> = prompt.ids.iter().map(|&id| one.step(&[id]).unwrap()).collect();
        prompt.logits = rows.iter().map(|output| output.logits.row(0).to_vec()).collect();
        let mut last = rows.last().unwrap().tokens[0];
        prompt.decode_logits = prompt.logits[prompt.logits.len() - 1..].to_vec();
        prompt.greedy = vec![last];
        for _ in 1..4 {
            let output = one.step(&[last]).unwrap();
            last = output.tokens[0];
            prompt.greedy.push(last);
            prompt.decode_logits.push(output.logits.row(0).to_vec());
        }
    }
    fixture.spec.vocabulary = vocabulary;
    assert_eq!(shard::widths(&fixture.spec, 4), widths);
    let loaded = Loaded { fixture: &fixture, checkpoint: &checkpoint, files: &checkpoint };
    for &tp in widths {
        loaded.decode(tp);
        loaded.prefill_and_batch(tp);
        loaded.forward(tp);
    }
}

/// What a chip reads of a weight's values (part 0) or scales (1), from their tensor's first byte.
fn taken(loads: &[Load], value: &str, part: usize, checkpoint: &Checkpoint) -> Vec<(u64, u64)> {
    let load = loads.iter().find(|load| load.value == value).unwrap();
    let start = checkpoint.extent(load.parts[part].tensor).start;
    load.parts[part].ranges.iter().map(|range| (range.start - start, range.end - start)).collect()
}

/// B7: the bytes of quants and of scales that each chip reads of a tensor in FP8, to the last.
#[test]
fn bytes_of_fp8_and_its_scales() {
    let fixture = quantised("qwen3_fp8", "expected-fp8");
    let checkpoint = Checkpoint::open(&path("qwen3_fp8", "model-fp8.safetensors")).unwrap();
    let of = |tp: u32| {
        let compiled = compiled(&fixture, &checkpoint, Form::Decode { ctx: CTX, batch: 1 }, tp);
        let loader = Loader::new(Bundle::read(&compiled.words).unwrap(), &checkpoint);
        let account = loader.account().unwrap();
        assert!(account.holds() && account.unused.is_empty());
        let replicated: BTreeMap<_, _> = account
            .readings
            .iter()
            .map(|reading| (checkpoint.headers().get(reading.tensor).name.clone(), reading.replicated.clone()))
            .filter(|(name, replicated)| name.contains(".0.") && name.contains("_proj") && !replicated.is_empty())
            .collect();
        let chip = |chip| loader.chip(chip).unwrap().map(Result::unwrap).collect::<Vec<_>>();
        ((0..tp).map(chip).collect::<Vec<_>>(), replicated)
    };

    // Two chips: 128 of 256 outputs, a byte each of 144 inputs, and their row of two BF16 scales.
    let (chips, replicated) = of(2);
    for (chip, loads) in (0..).zip(&chips) {
        let taken = |value, part| taken(loads, value, part, &checkpoint);
        for value in ["Wq0", "Wgate0", "Wup0"] {
            assert_eq!(taken(value, 0), [(chip * 128 * 144, (chip + 1) * 128 * 144)], "{value}");
            assert_eq!(taken(value, 1), [(chip * 4, (chip + 1) * 4)], "{value}");
        }
        // 128 of 256 inputs: half of each of 144 rows, and one scale of each of the two rows of them.
        for value in ["Wo0", "Wdown0"] {
            let rows = |rows: u64, size: u64| {
                (0..rows).map(|row| ((2 * row + chip) * size, (2 * row + chip + 1) * size)).collect::<Vec<_>>()
            };
            assert_eq!((taken(value, 0), taken(value, 1)), (rows(144, 128), rows(2, 2)), "{value}");
        }
        // A head of 64 outputs each, of one block: its scales are both chips', and the weight is read dense.
        assert_eq!((taken("Wk0", 0), taken("Wk0", 1)), (vec![(chip * 64 * 144, (chip + 1) * 64 * 144)], vec![(0, 4)]));
        let kept = |value| loads.iter().find(|load| load.value == value).unwrap().kept;
        assert_eq!(
            (kept("Wq0"), kept("Wk0")),
            (logos_bundle::view::Storage::F8E4M3, logos_bundle::view::Storage::Bf16)
        );
    }
    // Of what is split nothing is read twice but scales of a block that both chips have a part of.
    let scales = |projection: &str| format!("model.layers.0.self_attn.{projection}_proj.weight_scale_inv");
    let both = BTreeMap::from([((2, Why::Block), 4)]);
    assert_eq!(replicated, BTreeMap::from(["k", "v"].map(|projection| (scales(projection), both.clone()))));

    // Four chips: two share a head of keys; of queries each has half a block and all its scales.
    let (chips, replicated) = of(4);
    for (chip, loads) in (0..).zip(&chips) {
        let (first, head) = (chip * 64 * 144, chip / 2 * 64 * 144);
        assert_eq!(taken(loads, "Wq0", 0, &checkpoint), [(first, first + 64 * 144)]);
        assert_eq!(taken(loads, "Wq0", 1, &checkpoint), [(chip / 2 * 4, chip / 2 * 4 + 4)]);
        assert_eq!(taken(loads, "Wk0", 0, &checkpoint), [(head, head + 64 * 144)]);
    }
    let keys = "model.layers.0.self_attn.k_proj.weight";
    assert_eq!(replicated.get(keys), Some(&BTreeMap::from([((2, Why::Groups), 128 * 144)])));
    assert_eq!(replicated.get(&scales("q")), Some(&BTreeMap::from([((2, Why::Block), 8)])));
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

/// Experts in one tensor, with scales in blocks: whose scale is whose no checkpoint says, so none is guessed.
#[test]
fn stacked_experts_have_no_scales_in_blocks() {
    let fixture = Fixture::load("gpt_oss");
    let checkpoint = Checkpoint::open(&path("gpt_oss", "")).unwrap();
    let compiled = compiled(&fixture, &checkpoint, Form::Decode { ctx: CTX, batch: 1 }, 2);
    let mut loads = bundle::loads(Bundle::read(&compiled.words).unwrap(), 0).unwrap();
    let up = loads.find(|load| load.stacked().is_some()).unwrap();
    let experts = up.stacked().unwrap();
    let shape: Vec<u64> = [experts].into_iter().chain(up.binding().stored()).map(u64::from).collect();
    let place = Place::elements(0, 0, 1);
    let stored = |parts| up.ranges(&Stored::of(shape.clone(), parts));
    assert!(stored(Parts::Plain(place)).is_ok());
    let scaled = Parts::Scaled { values: place, scales: place, block: [128, 128] };
    assert_eq!(stored(scaled), Err(Mismatch::Stacked));
}
