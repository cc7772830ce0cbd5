//! What the tests share: real configs, and the ways in which a config can be wrong.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// The folder of fixtures.
pub fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

/// The config of a published model, by its folder.
pub fn config(slug: &str) -> PathBuf {
    fixtures().join("configs").join(slug).join("config.json")
}

/// Writes into `folder` the configs that the UI tests name: real ones as `NAME/config.json`, and a `bad/NAME.json` for each
/// way of being wrong.
///
/// # Errors
/// A file that cannot be read or written.
pub fn write_models(folder: &Path) -> io::Result<()> {
    for slug in ["qwen3.5-27b", "llama-3.1-8b", "smollm2-135m"] {
        fs::create_dir_all(folder.join(slug))?;
        write(&folder.join(slug).join("config.json"), &fs::read(config(slug))?)?;
    }
    let bad = folder.join("bad");
    fs::create_dir_all(&bad)?;
    let sound = fs::read_to_string(config("llama-3.1-8b"))?;
    for (name, text) in [
        ("empty", ""),
        ("not-json", "version https://git-lfs.github.com/spec/v1\n"),
        ("list", "[1, 2]\n"),
        ("other-shape", "{ \"tokenizer_class\": \"LlamaTokenizer\" }\n"),
        ("cut-off", &sound[..sound.len() / 2]),
    ] {
        write(&bad.join(format!("{name}.json")), text.as_bytes())?;
    }
    for (name, key, value) in [
        ("unknown-family", "model_type", json!("llamba")),
        ("negative", "hidden_size", json!(-4096)),
        ("zero", "num_hidden_layers", json!(0)),
        ("huge", "intermediate_size", json!(4_294_967_295_u32)),
        ("huge-layers", "num_hidden_layers", json!(18_446_744_073_709_551_615_u64)),
        ("string", "hidden_size", json!("4096")),
        ("null-kv-heads", "num_key_value_heads", Value::Null),
        ("rope-type", "rope_scaling", json!({ "rope_type": "spiral", "factor": 8.0 })),
        ("unsupported", "logit_softcapping", json!(30.0)),
    ] {
        let mut config: Value = serde_json::from_str(&sound)?;
        config[key] = value;
        write(&bad.join(format!("{name}.json")), serde_json::to_string_pretty(&config)?.as_bytes())?;
    }
    Ok(())
}

/// Leaves a file with equal bytes untouched: what tracks it is not built again.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::read(path).is_ok_and(|old| old == bytes) { Ok(()) } else { fs::write(path, bytes) }
}
