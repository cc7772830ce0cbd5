//! The digest of a specification: the same where the computation is, another wherever it is not.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use expect_test::expect;
use serde_json::{Value, json};

use crate::spec::{AttentionSpan, Mixer, ModelSpec, Scaling};

use super::{edited, published};

fn hex(spec: &ModelSpec) -> String {
    spec.digest().iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    })
}

/// Changing these means that every identity changes: the canonical form gets a new name then.
#[test]
fn digests_stay() {
    let digests: Vec<String> =
        ["llama-3.1-8b", "qwen3.5-27b"].map(|slug| format!("{slug} {}", hex(&published(slug)))).to_vec();
    expect![[r#"
        llama-3.1-8b 082afbd028f8d26adff9a4562a1dad29785df9f3e0ca417aed8742e52ee04c5a
        qwen3.5-27b 46bc308d45b04326a13cb33f91a2b9acbed731b7cb52d12abec6a10f41855507"#]]
    .assert_eq(&digests.join("\n"));
}

#[test]
fn the_canonical_form_begins_as_documented() {
    let bytes = published("llama-3.1-8b").canonical_bytes();
    let mut expected = vec![12];
    expected.extend_from_slice(b"logos spec 1");
    // hidden 4096, vocab 128256, max_context 131072, bf16, recurrent state f32, then the embedding's name and its length.
    expected.extend_from_slice(&[0x80, 0x20, 0x80, 0xea, 0x07, 0x80, 0x80, 0x08, 2, 0, 25]);
    expected.extend_from_slice(b"model.embed_tokens.weight");
    assert_eq!(bytes[..expected.len()], expected[..]);
}

#[test]
fn how_a_config_is_written_does_not_matter() {
    let new = [
        ("rope_theta", None),
        ("rope_scaling", None),
        (
            "rope_parameters",
            Some(json!({"rope_theta": 500_000, "rope_type": "llama3", "factor": 8, "low_freq_factor": 1,
            "high_freq_factor": 4, "original_max_position_embeddings": 8192})),
        ),
        ("eos_token_id", Some(json!(5))),
    ];
    let rewritten = super::super::read(&edited("llama-3.1-8b", &new)).unwrap();
    assert_eq!(hex(&rewritten), hex(&published("llama-3.1-8b")));
}

#[test]
fn two_families_that_compute_the_same_are_the_same() {
    let llama = published("llama-2-7b");
    let edits =
        [("model_type", Some(json!("mistral"))), ("sliding_window", Some(Value::Null)), ("pretraining_tp", None)];
    let mistral = super::super::read(&edited("llama-2-7b", &edits)).unwrap();
    assert_eq!((hex(&mistral), mistral.model_type.as_str()), (hex(&llama), "mistral"));
}

#[test]
fn every_change_of_the_computation_is_another_identity() {
    type Change = (&'static str, fn(&mut ModelSpec));
    fn attention(spec: &mut ModelSpec) -> &mut crate::spec::Attention {
        match &mut spec.layers[1].mixer {
            Mixer::Attention(attention) => attention,
            Mixer::Latent(_) | Mixer::GatedDelta(_) => panic!("layer 3 attends"),
        }
    }
    let changes: &[Change] = &[
        ("nothing", |_| {}),
        ("eps", |spec| spec.final_norm.eps = 1e-5),
        ("context", |spec| spec.max_context -= 1),
        ("tied", |spec| spec.head.tied = true),
        ("soft cap", |spec| spec.head.softcap = Some(30.0)),
        ("embedding scale", |spec| spec.embedding_scale = Some(30.0)),
        ("head's scale", |spec| spec.head.scale = Some(30.0)),
        ("a layer's row", |spec| spec.layer_of[3] = 0),
        ("one layer less", |spec| _ = spec.layer_of.pop()),
        ("window", |spec| attention(spec).span = AttentionSpan::Window(4)),
        ("chunk", |spec| attention(spec).span = AttentionSpan::Chunked(4)),
        ("theta", |spec| attention(spec).rope.as_mut().unwrap().theta = 1e6),
        ("scaling", |spec| attention(spec).rope.as_mut().unwrap().scaling = Scaling::Linear { factor: 2.0 }),
        ("no rope", |spec| attention(spec).rope = None),
        ("no gate", |spec| attention(spec).gate = None),
        ("where the gate is", |spec| attention(spec).gate.as_mut().unwrap().weight.take.offset = 0),
        ("a tensor's name", |spec| attention(spec).q.weight.tensor.name.push('x')),
        ("residual scale", |spec| spec.layers[0].residual_scale = Some(0.5)),
    ];
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    for (name, change) in changes {
        let mut spec = published("qwen3.5-27b");
        change(&mut spec);
        if let Some(other) = seen.insert(hex(&spec), name) {
            panic!("{name} and {other} have one digest");
        }
    }
}
