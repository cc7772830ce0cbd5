//! The evaluated programs give the reference implementation's logits: for each family a forward pass, cached decoding,
//! batched decoding at different positions, and prefill in chunks followed by decoding, of one sequence and of several, at every width
//! the model admits.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

mod checkpoint;
mod fixture;
mod loaded;
mod runner;
mod table;

use fixture::{Fixture, Prompt};
use logos_core::reference::{Output, Shards, WeightSource, embed};
use logos_core::shard;
use logos_core::simulate::TensorStore;
use logos_core::simulate::machine::Order;
use logos_core::{ExpertSplit, Form};
use runner::{Runner, Way};
use table::Line;

/// Positions of the carried state: more than the longest prompt and what is generated after it.
const CTX: u32 = 40;

/// Largest differences of logits seen, for the message of a failure and the table that `--nocapture` shows.
struct Check<'a> {
    fixture: &'a Fixture,
    store: &'a dyn TensorStore,
    way: Way,
    tolerance: f32,
    worst: f32,
}

impl Check<'_> {
    #[track_caller]
    fn logits(&mut self, what: &str, found: &[f32], expected: &[f32]) {
        let difference = difference(found, expected);
        self.worst = self.worst.max(difference);
        // Not `>`: a difference that is no number is none to accept.
        let close = difference <= self.tolerance;
        assert!(close, "{}: {what}: logits differ by {difference}, at most {}", self.fixture.name, self.tolerance);
    }

    fn session(&self, form: Form, tp: u32, shards: &mut Shards<'_>) -> Runner {
        Runner::new(self.way, self.fixture, self.store, form, tp, CTX, shards)
    }

    /// Logits of every position at once, and the hidden state after each layer.
    fn forward(&mut self, tp: u32, shards: &mut Shards<'_>) {
        for prompt in &self.fixture.prompts {
            let mut session = self.session(Form::Forward { rows: prompt.ids.len() as u32 }, tp, shards);
            let hidden = embed(&self.fixture.spec, shards, &prompt.ids).unwrap();
            let output = session.forward(hidden);
            self.hidden(&output, prompt);
            for (position, expected) in prompt.logits.iter().enumerate() {
                self.logits(&format!("forward at {position}"), output.logits.row(position), expected);
            }
        }
    }

    /// Names the first layer that is off, before the logits only say that something is.
    #[track_caller]
    fn hidden(&self, output: &Output, prompt: &Prompt) {
        if let Some((layer, difference)) = first_off(output, prompt, self.tolerance) {
            panic!("{}: the hidden state is first off by {difference} at {layer} of the stream", self.fixture.name);
        }
    }

    /// Decodes one sequence from its first token on: the prompt token by token, then what was generated.
    fn decode(&mut self, tp: u32, shards: &mut Shards<'_>) {
        let mut session = self.session(Form::Decode { ctx: CTX, batch: 1 }, tp, shards);
        for prompt in &self.fixture.prompts {
            session.restart(0);
            for (position, &token) in prompt.ids.iter().enumerate() {
                let output = session.step(&[token]);
                self.logits(&format!("decode at {position}"), output.logits.row(0), &prompt.logits[position]);
                if position + 1 == prompt.ids.len() {
                    assert_eq!(output.tokens, prompt.greedy[..1]);
                    self.hidden(&output, prompt);
                }
            }
            self.generate(&mut session, &[prompt]);
        }
    }

    /// Prefills in chunks, what is left of the prompt token by token, then decodes.
    fn chunks(&mut self, chunk: u32, tp: u32, shards: &mut Shards<'_>) {
        let mut prefill = self.session(Form::Prefill { ctx: CTX, chunk, batch: 1 }, tp, shards);
        let mut decode = self.session(Form::Decode { ctx: CTX, batch: 1 }, tp, shards);
        for prompt in &self.fixture.prompts {
            prefill.restart(0);
            let chunks = prompt.ids.chunks_exact(chunk as usize);
            let rest = chunks.remainder();
            let mut next = 0;
            for ids in chunks {
                let output = prefill.step(ids);
                next += ids.len();
                assert_eq!(output.logits.rows(), 1);
                self.logits(&format!("chunk of {chunk} to {next}"), output.logits.row(0), &prompt.logits[next - 1]);
            }
            decode.adopt(0, &prefill, 0);
            for &token in rest {
                let output = decode.step(&[token]);
                self.logits(&format!("after chunks of {chunk}"), output.logits.row(0), &prompt.logits[next]);
                next += 1;
            }
            self.generate(&mut decode, &[prompt]);
        }
    }

    /// Prefills each prompt whole, then decodes both as one batch; they stand at different positions.
    fn batch(&mut self, tp: u32, shards: &mut Shards<'_>) {
        let prompts: Vec<&Prompt> = self.fixture.prompts.iter().collect();
        let mut decode = self.session(Form::Decode { ctx: CTX, batch: prompts.len() as u32 }, tp, shards);
        for (sequence, prompt) in prompts.iter().enumerate() {
            let mut prefill =
                self.session(Form::Prefill { ctx: CTX, chunk: prompt.ids.len() as u32, batch: 1 }, tp, shards);
            let output = prefill.step(&prompt.ids);
            self.hidden(&output, prompt);
            self.logits("prefill whole", output.logits.row(0), &prompt.decode_logits[0]);
            assert_eq!(output.tokens, prompt.greedy[..1]);
            decode.adopt(sequence, &prefill, 0);
        }
        assert_ne!(decode.seen()[0], decode.seen()[1]);
        self.generate(&mut decode, &prompts);
    }

    /// S11: prefills several sequences at once, each to a position of its own, then decodes them as one batch: what is left of each prompt and
    /// what was generated after it. The last sequence starts afresh after the first chunk, and is a chunk behind.
    fn chunks_together(&mut self, chunk: u32, batch: usize, tp: u32, shards: &mut Shards<'_>) {
        let mut prefill = self.session(Form::Prefill { ctx: CTX, chunk, batch: batch as u32 }, tp, shards);
        let mut decode = self.session(Form::Decode { ctx: CTX, batch: batch as u32 }, tp, shards);
        let prompts: Vec<&Prompt> = self.fixture.prompts.iter().rev().cycle().take(batch).collect();
        let chunk = chunk as usize;
        let steps = prompts.iter().map(|prompt| prompt.ids.len() / chunk).min().unwrap();
        assert!(steps > 1 && prompts[0].ids[..chunk] != prompts[1].ids[..chunk]);
        let mut next = vec![0; batch];
        for step in 0..steps {
            let ids: Vec<u32> = prompts
                .iter()
                .zip(&next)
                .flat_map(|(prompt, &next)| &prompt.ids[next..next + chunk])
                .copied()
                .collect();
            let output = prefill.step(&ids);
            assert_eq!(output.logits.rows(), batch);
            for (sequence, prompt) in prompts.iter().enumerate() {
                next[sequence] += chunk;
                let what = format!("chunk {step} of {chunk} of sequence {sequence} of {batch}");
                self.logits(&what, output.logits.row(sequence), &prompt.logits[next[sequence] - 1]);
            }
            if step == 0 {
                prefill.restart(batch - 1);
                next[batch - 1] = 0;
            }
        }
        for sequence in 0..batch {
            decode.adopt(sequence, &prefill, sequence);
        }
        assert_eq!(decode.seen().iter().map(|&seen| seen as usize).collect::<Vec<_>>(), next);
        while prompts.iter().zip(&next).all(|(prompt, &next)| next + 1 < prompt.ids.len() + prompt.greedy.len()) {
            let given = |(prompt, &next): (&&Prompt, &usize)| {
                let generated = || prompt.greedy[next - prompt.ids.len()];
                prompt.ids.get(next).copied().unwrap_or_else(generated)
            };
            let output = decode.step(&prompts.iter().zip(&next).map(given).collect::<Vec<_>>());
            for (sequence, prompt) in prompts.iter().enumerate() {
                let at = next[sequence];
                let expected =
                    prompt.logits.get(at).unwrap_or_else(|| &prompt.decode_logits[at + 1 - prompt.ids.len()]);
                let what = format!("decode at {at} of sequence {sequence} of {batch} after chunks of {chunk}");
                self.logits(&what, output.logits.row(sequence), expected);
                next[sequence] += 1;
            }
        }
    }

    /// Generates from where a session stands: the n-th step reads the n-th token generated and gives the next.
    fn generate(&mut self, session: &mut Runner, prompts: &[&Prompt]) {
        let mut tokens: Vec<u32> = prompts.iter().map(|prompt| prompt.greedy[0]).collect();
        for step in 1..prompts[0].greedy.len() {
            let output = session.step(&tokens);
            for (sequence, prompt) in prompts.iter().enumerate() {
                let what = format!("token {step} of sequence {sequence} of {}", prompts.len());
                self.logits(&what, output.logits.row(sequence), &prompt.decode_logits[step]);
                assert_eq!(output.tokens[sequence], prompt.greedy[step], "{}: {what}", self.fixture.name);
            }
            tokens = output.tokens;
        }
    }
}

fn difference(found: &[f32], expected: &[f32]) -> f32 {
    assert_eq!(found.len(), expected.len());
    let worst = |worst: f32, d: f32| if d > worst || d.is_nan() { d } else { worst };
    found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, worst)
}

fn first_off(output: &Output, prompt: &Prompt, tolerance: f32) -> Option<(usize, f32)> {
    let last = prompt.ids.len().min(output.hidden[0].rows()) - 1;
    let layers = prompt.hidden_last.iter().zip(&output.hidden).enumerate();
    let mut differences = layers.map(|(layer, (expected, found))| (layer, difference(found.row(last), expected)));
    differences.find(|(_, difference)| *difference > tolerance || difference.is_nan())
}

/// Every step of a family at every width up to 4 chips that it admits. `tolerance` is the largest difference of a logit;
/// transformers' cached decoding differs from its own full forward by up to 1e-5.
#[track_caller]
fn conforms(name: &'static str, tolerance: f32, widths: &[u32]) {
    let fixture = Fixture::load(name);
    assert_eq!(shard::widths(&fixture.spec, 4), widths);
    run(&fixture, "F32", &fixture.checkpoint, tolerance, widths);
}

/// Runs every step at some widths, both ways; `storage` is how the weights are stored.
#[track_caller]
fn run(fixture: &Fixture, storage: &str, weights: &(impl WeightSource + TensorStore), tolerance: f32, widths: &[u32]) {
    let [mut evaluated, mut executed] = [0.0f32; 2];
    let name = fixture.name;
    let check = |way| Check { fixture, store: weights, way, tolerance, worst: 0.0 };
    let mut shards = Shards::new(weights);
    for &tp in widths {
        for way in [Way::Evaluated, Way::Executed(Order::Schedule)] {
            let mut check = check(way);
            check.forward(tp, &mut shards);
            check.decode(tp, &mut shards);
            check.batch(tp, &mut shards);
            for chunk in [1, 5] {
                check.chunks(chunk, tp, &mut shards);
            }
            for (chunk, batch) in [(3, 2), (2, 3)] {
                check.chunks_together(chunk, batch, tp, &mut shards);
            }
            match way {
                Way::Evaluated => evaluated = evaluated.max(check.worst),
                Way::Executed(_) => executed = executed.max(check.worst),
            }
            println!("{name:12} over {tp}, {way:?}: logits differ by at most {:.1e} of {tolerance:.0e}", check.worst);
        }
    }
    // In any order that tokens and slots allow the result is the same.
    for seed in 1..4 {
        let mut check = check(Way::Executed(Order::SelfTimed { seed }));
        check.forward(widths[widths.len() - 1], &mut shards);
        check.chunks(5, 1, &mut shards);
        check.chunks_together(2, 3, 1, &mut shards);
        executed = executed.max(check.worst);
    }
    let tokens = fixture.prompts.iter().map(|prompt| prompt.greedy.len()).sum();
    let spec = &fixture.spec;
    Line { name, weights: storage, spec, widths, evaluated, executed, tolerance, tokens }.hold();
}

#[test]
fn llama() {
    conforms("llama", 5e-5, &[1, 2, 4]);
}

#[test]
fn llama3_tied() {
    conforms("llama3_tied", 5e-5, &[1, 2]);
}

#[test]
fn mistral() {
    conforms("mistral", 5e-5, &[1, 2, 4]);
}

#[test]
fn qwen2() {
    conforms("qwen2", 5e-5, &[1, 2, 4]);
}

#[test]
fn qwen3() {
    conforms("qwen3", 5e-5, &[1, 2, 4]);
}

#[test]
fn qwen3_5() {
    conforms("qwen3_5", 5e-5, &[1, 2]);
}

#[test]
fn mixtral() {
    conforms("mixtral", 5e-5, &[1, 2, 4]);
}

#[test]
fn qwen3_moe() {
    conforms("qwen3_moe", 5e-5, &[1, 2, 4]);
}

#[test]
fn qwen3_next() {
    // The reference's own forward pass and cached decoding differ by 4e-5; sums in another order come to 6e-5.
    conforms("qwen3_next", 1e-4, &[1, 2]);
}

#[test]
fn qwen3_5_moe() {
    conforms("qwen3_5_moe", 5e-5, &[1, 2]);
}

#[test]
fn deepseek_v2() {
    conforms("deepseek_v2", 5e-5, &[1, 2, 4]);
}

#[test]
fn deepseek_v3() {
    conforms("deepseek_v3", 5e-5, &[1, 2, 4]);
}

#[test]
fn llama4() {
    conforms("llama4", 5e-5, &[1, 2, 4]);
}

#[test]
fn gpt_oss() {
    conforms("gpt_oss", 5e-5, &[1, 2, 4]);
}

#[test]
fn gemma2() {
    conforms("gemma2", 5e-5, &[1, 2, 4]);
}

#[test]
fn gemma3() {
    conforms("gemma3", 5e-5, &[1, 2]);
}

#[test]
fn granite() {
    conforms("granite", 5e-5, &[1, 2, 4]);
}

#[test]
fn glm4() {
    conforms("glm4", 5e-5, &[1, 2, 4]);
}

#[test]
fn smollm3() {
    conforms("smollm3", 5e-5, &[1, 2, 4]);
}

#[test]
fn phi3() {
    conforms("phi3", 5e-5, &[1, 2, 4]);
}

#[test]
fn starcoder2() {
    conforms("starcoder2", 5e-5, &[1, 2, 4]);
}

#[test]
fn gpt_neox() {
    conforms("gpt_neox", 5e-5, &[1, 2, 4]);
}

#[test]
fn phi() {
    conforms("phi", 5e-5, &[1, 2, 4]);
}

#[test]
fn cohere() {
    conforms("cohere", 5e-5, &[1, 2, 4]);
}

/// Whole experts on the chips: of every tiny mixture, stored apart, stacked and transposed, with biases, shared experts and groups.
#[track_caller]
fn whole_experts(name: &'static str, tolerance: f32, widths: &[u32]) {
    let mut fixture = Fixture::load(name);
    fixture.spec.expert_split = ExpertSplit::Parallel;
    assert_eq!(shard::widths(&fixture.spec, 4), widths);
    run(&fixture, "F32, experts whole", &fixture.checkpoint, tolerance, &widths[1..]);
}

#[test]
fn whole_experts_of_mixtral_and_qwen3_moe() {
    whole_experts("mixtral", 5e-5, &[1, 2, 4]);
    whole_experts("qwen3_moe", 5e-5, &[1, 2, 4]);
}

#[test]
fn whole_experts_of_gpt_oss_and_llama4() {
    whole_experts("gpt_oss", 5e-5, &[1, 2, 4]);
    whole_experts("llama4", 5e-5, &[1, 2, 4]);
}

#[test]
fn whole_experts_of_deepseek() {
    whole_experts("deepseek_v2", 5e-5, &[1, 2, 4]);
    whole_experts("deepseek_v3", 5e-5, &[1, 2, 4]);
}

#[test]
fn whole_experts_of_qwen3_5_and_next() {
    whole_experts("qwen3_5_moe", 5e-5, &[1, 2]);
    whole_experts("qwen3_next", 1e-4, &[1, 2]);
}

#[test]
fn olmo2() {
    // Its norms of queries and keys go over all heads, which more chips have parts of; over four, pairs hold the same key heads.
    conforms("olmo2", 5e-5, &[1, 2, 4]);
}

#[test]
fn falcon() {
    // One KV head, which every chip has; and groups of them.
    conforms("falcon", 5e-5, &[1, 2, 4]);
    conforms("falcon_new", 5e-5, &[1, 2, 4]);
}

#[test]
fn glm4_moe() {
    conforms("glm4_moe", 5e-5, &[1, 2, 4]);
    whole_experts("glm4_moe", 5e-5, &[1, 2, 4]);
}

#[test]
fn minimax_m2() {
    conforms("minimax_m2", 5e-5, &[1, 2, 4]);
    whole_experts("minimax_m2", 5e-5, &[1, 2, 4]);
}

#[test]
fn phi3_longrope() {
    conforms("phi3_longrope", 5e-5, &[1, 2, 4]);
}

/// What the tolerance is worth: a wrong reading of one key is off by far more, and the hidden state says where it starts.
#[test]
fn a_wrong_reading_is_found_where_it_starts() {
    let off = |name, from: &str, to: &str| {
        let fixture = Fixture::load_changed(name, |config| {
            assert_eq!(config.matches(from).count(), 1);
            config.replace(from, to)
        });
        let mut shards = Shards::new(&fixture.checkpoint);
        let store = &fixture.checkpoint;
        let check = Check { fixture: &fixture, store, way: Way::Evaluated, tolerance: 5e-5, worst: 0.0 };
        let prompt = &fixture.prompts[0];
        let mut session = check.session(Form::Forward { rows: prompt.ids.len() as u32 }, 1, &mut shards);
        let output = session.forward(embed(&fixture.spec, &shards, &prompt.ids).unwrap());
        let logits = difference(output.logits.row(prompt.ids.len() - 1), prompt.logits.last().unwrap());
        assert!(logits > 1e-3, "{name}: {to} moves the logits by {logits} only");
        first_off(&output, prompt, 5e-5).map(|(layer, _)| layer)
    };
    assert_eq!(off("llama", r#""rms_norm_eps":1e-05"#, r#""rms_norm_eps":1e-03"#), Some(1));
    assert_eq!(off("llama3_tied", r#""low_freq_factor":1.0"#, r#""low_freq_factor":2.0"#), Some(1));
    assert_eq!(off("mistral", r#""sliding_window":5"#, r#""sliding_window":6"#), Some(1));
    // Layers 0 to 2 have no rotary embedding, and are right.
    assert_eq!(off("qwen3_5", r#""partial_rotary_factor":0.25"#, r#""partial_rotary_factor":0.5"#), Some(4));
}
