//! `cargo logos check --explain-widths` of released models, as it is printed; `UPDATE_EXPECT=1` writes it anew.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

fn logos(words: &[&str]) -> (u8, String, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let words = ["cargo-logos", "logos", "check"].iter().chain(words).map(Into::into);
    let status = logos_build::cli::run(words, &mut out, &mut err);
    (status, String::from_utf8(out).expect("text"), String::from_utf8(err).expect("text"))
}

fn config(model: &str) -> String {
    logos_tests::config(model).to_string_lossy().into_owned()
}

/// Holds what is printed to the file of this name.
fn golden(name: &str, model: &str, more: &[&str]) {
    let config = config(model);
    let (status, out, err) = logos(&[&[config.as_str(), "--chip", "SN40L", "--explain-widths"], more].concat());
    assert_eq!((status, err.as_str()), (0, ""), "{name}");
    let file: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("widths").join(format!("{name}.txt"));
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&file, &out).expect("the expectation is written");
    }
    assert_eq!(out, fs::read_to_string(&file).unwrap_or_default(), "{name}: UPDATE_EXPECT=1 writes it anew");
    for line in out.lines().filter(|line| line.starts_with(' ')) {
        assert!(line.chars().count() <= 80, "a table wider than a terminal: {line}");
    }
}

/// T3: every width with its reasons, or with what its chips hold: heads, feed-forward, vocabulary; copies of KV heads; recurrent heads;
/// latents; blocks that chips would cut, declared and as stored; padding.
#[test]
fn widths_are_explained() {
    golden("qwen2-7b", "qwen2-7b-instruct", &[]);
    golden("qwen3.5-27b", "qwen3.5-27b", &[]);
    golden("llama-3.1-8b-q8_0", "llama-3.1-8b", &["--weights", "q8_0"]);
    golden("deepseek-v2-lite-q8_0", "deepseek-v2-lite", &["--weights", "q8_0"]);
    golden("phi-4", "phi-4", &[]);
    golden("phi-4-padded", "phi-4", &["--vocab", "padded"]);
    let description = logos_tests::fixtures().join("checkpoints/gpt-oss-20b.json");
    golden("gpt-oss-20b-mxfp4", "gpt-oss-20b", &["--weights-from", &description.to_string_lossy()]);
}

#[test]
fn the_document_has_every_number() {
    let config = config("phi-4");
    let (status, out, _) = logos(&[&config, "--chip", "SN40L", "--explain-widths", "--json"]);
    let document: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(
        (status, &document["schema"], &document["chips_of_the_domain"]),
        (0, &"logos.rdu.widths".into(), &16.into())
    );
    let widths = document["widths"].as_array().expect("widths");
    assert_eq!(widths.len(), 16);
    let (two, five) = (&widths[1], &widths[4]);
    assert_eq!(
        (&two["tp"], &two["admitted"], &two["held"]["weights_per_chip_bytes"]),
        (&2.into(), &true.into(), &14_659_921_920u64.into())
    );
    assert_eq!(
        (&five["admitted"], &five["padded_vocabulary_would_admit_it_with_rows"]),
        (&false.into(), &100_480.into())
    );
    assert_eq!(
        (&five["against"][0]["what"], &five["against"][0]["size"]),
        (&"vocabulary_rows".into(), &100_352.into())
    );
}

#[test]
fn sizes_of_a_deployment_do_not_go_with_it() {
    let config = config("phi-4");
    let (status, _, err) = logos(&[&config, "--chip", "SN40L", "--explain-widths", "--tp", "2"]);
    assert_eq!(status, 2, "{err}");
    let (status, _, err) = logos(&[&config, "--chip", "SN4", "--explain-widths"]);
    assert_eq!(status, 1, "{err}");
}
