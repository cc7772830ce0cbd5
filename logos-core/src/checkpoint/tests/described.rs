//! Descriptions of released checkpoints, held to the configs they were released with.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::super::{Headers, Unused, compare};
use crate::Code;
use crate::spec::ModelSpec;

fn fixture(folder: &str, file: &str) -> Vec<u8> {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "..", "tests", "fixtures", folder, file].iter().collect();
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub(super) fn released(model: &str) -> (Headers, ModelSpec) {
    let name = format!("{model}.json");
    let headers = Headers::from_description(&name, &fixture("checkpoints", &name)).unwrap();
    let spec = crate::config::read(&fixture("configs", &format!("{model}/config.json"))).unwrap();
    (headers, spec)
}

/// Tensors as the released index lists them, and of those how many of each kind are not read.
#[track_caller]
fn holds(model: &str, tensors: usize, unused: &[(Unused, usize)]) {
    let (headers, spec) = released(model);
    assert_eq!(headers.tensors().len(), tensors);
    let mut found = BTreeMap::new();
    for (_, reason) in compare(&headers, &spec).unwrap_or_else(|refusals| panic!("{}", super::lines(&refusals))) {
        *found.entry(reason).or_insert(0) += 1;
    }
    assert_eq!(found.into_iter().collect::<Vec<_>>(), unused);
    assert_eq!(headers.describe().into_bytes(), fixture("checkpoints", &format!("{model}.json")));
}

#[test]
fn what_was_released_is_the_models() {
    use Unused::{Buffer, Draft, OtherInput, TiedHead};
    holds("deepseek-v2-lite", 5_291, &[]);
    holds("gpt-oss-20b", 459, &[]);
    holds("qwen2-7b-instruct", 339, &[]);
    holds("qwen2.5-72b", 963, &[]);
    holds("qwen3-0.6b", 311, &[(TiedHead, 1)]);
    holds("qwen3-30b-a3b", 18_867, &[]);
    holds("qwen3.5-27b", 1_199, &[(OtherInput, 333), (Draft, 15)]);
    holds("qwen3.5-35b-a3b", 1_811, &[(OtherInput, 333), (Draft, 785)]);
    holds("qwen3.6-35b-a3b", 1_045, &[(OtherInput, 333), (Draft, 19)]);
    // With a scale beside each matrix of FP8: every 128 by 128, or every row (GLM-4.5).
    holds("deepseek-v3", 91_991, &[(Draft, 1_564)]);
    holds("glm-4.5", 88_543, &[(Draft, 990)]);
    holds("kimi-k2-instruct", 139_644, &[(Buffer, 61)]);
    holds("minimax-m2.7", 96_103, &[]);
    holds("qwen3-next-80b-a3b-thinking", 75_944, &[(Draft, 1_553)]);
}

#[test]
fn a_description_of_another_model_is_refused() {
    let (headers, _) = released("qwen2.5-72b");
    let (_, spec) = released("qwen2-7b-instruct");
    let refusals = compare(&headers, &spec).unwrap_err();
    assert!(refusals.iter().any(|refusal| refusal.code == Code::CheckpointShape));
    // A layer more than the checkpoint has.
    let (headers, mut spec) = released("qwen3-0.6b");
    spec.layer_of.push(0);
    let refusals = compare(&headers, &spec).unwrap_err();
    assert!(refusals.iter().all(|refusal| refusal.code == Code::CheckpointMissing), "{}", super::lines(&refusals));
    assert_eq!(refusals.len(), 11);
}

/// Whatever is changed, the text is refused with a place, or stands for tensors that are listed.
#[test]
fn damage_anywhere_is_refused_or_harmless() {
    let whole = fixture("checkpoints", "qwen3-0.6b.json");
    let mut state = 7u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below.max(1)
    };
    let (mut refused, mut read) = (0, 0);
    for _ in 0..2_000 {
        let mut text = whole.clone();
        for _ in 0..=random(2) {
            let at = random(text.len());
            match random(3) {
                0 => text[at] ^= 1 << random(7),
                1 => text.insert(at, b"0123456789[]{},\":"[random(17)]),
                _ => drop(text.remove(at)),
            }
        }
        match Headers::from_description("d.json", &text) {
            Ok(headers) => {
                read += 1;
                assert!(headers.tensors().iter().all(|tensor| headers.find(&tensor.name).is_some()));
            }
            Err(refusal) => {
                refused += 1;
                assert!(refusal.code.as_str().starts_with("LOGOS-CKPT-"), "{refusal}");
            }
        }
    }
    assert!(refused > 500 && read > 50, "{refused} refused, {read} read");
}
