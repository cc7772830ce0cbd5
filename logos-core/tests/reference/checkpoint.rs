//! The same, with weights as checkpoint files store them: F32, and quantised with logits of their own.

use logos_core::checkpoint::Checkpoint;
use logos_core::shard;

use crate::fixture::{path, quantised};
use crate::run;

/// `file` with the logits that the reference implementation has for the values it stores.
#[track_caller]
fn stored(name: &'static str, file: &str, expected: &str, storage: &str, tolerance: f32) {
    let fixture = quantised(name, expected);
    let checkpoint = Checkpoint::open(&path(name, file)).unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
    let weights = checkpoint.weights(&fixture.spec).unwrap_or_else(|refusals| panic!("{name}: {refusals:?}"));
    weights.check_values().unwrap_or_else(|refusals| panic!("{name}: {refusals:?}"));
    assert_eq!(weights.unused(), []);
    // The smallest and the largest slices.
    let widths = shard::widths(&fixture.spec, 4);
    run(&fixture, storage, &weights, tolerance, &[widths[0], widths[widths.len() - 1]]);
}

#[test]
fn llama_q8_0() {
    stored("llama", "model-q8_0.gguf", "expected-q8", "Q8_0, GGUF", 5e-5);
}

#[test]
fn qwen3_q8_0() {
    stored("qwen3", "model-q8_0.gguf", "expected-q8", "Q8_0, GGUF", 5e-5);
}

#[test]
fn qwen3_5_q8_0() {
    stored("qwen3_5", "model-q8_0.gguf", "expected-q8", "Q8_0, GGUF", 5e-5);
}

#[test]
fn gemma3_q8_0() {
    stored("gemma3", "model-q8_0.gguf", "expected-q8", "Q8_0, GGUF", 5e-5);
}

#[test]
fn mixtral_q8_0() {
    stored("mixtral", "model-q8_0.gguf", "expected-q8", "Q8_0, GGUF", 5e-5);
}

#[test]
fn gpt_oss_mxfp4() {
    stored("gpt_oss", "model-mxfp4.safetensors", "expected-mxfp4", "MXFP4", 5e-5);
}

#[test]
fn qwen3_fp8() {
    stored("qwen3_fp8", "model-fp8.safetensors", "expected-fp8", "FP8, 128 by 128", 5e-5);
}

/// A folder whose tensors are F32 is evaluated from the mapped bytes themselves.
#[test]
fn gpt_oss_mapped() {
    stored("gpt_oss", "", "expected", "F32, mapped", 5e-5);
}
