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

/// The description of a published model's checkpoint.
pub fn description(slug: &str) -> PathBuf {
    fixtures().join("checkpoints").join(format!("{slug}.json"))
}

/// Writes into `folder` the configs that the UI tests name: real ones as `NAME/config.json`, and a `bad/NAME.json` for each
/// way of being wrong.
///
/// # Errors
/// A file that cannot be read or written.
pub fn write_models(folder: &Path) -> io::Result<()> {
    for slug in ["qwen3.5-27b", "qwen3.5-35b-a3b", "llama-3.1-8b", "smollm2-135m", "phi-4", "mixtral-8x7b-v0.1"] {
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
    write_descriptions(folder, &bad)
}

/// Writes into `folder` the chip files that the UI tests name: the example, and it with one thing wrong.
///
/// # Errors
/// A file that cannot be read or written.
pub fn write_chips(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let sound = fs::read_to_string(fixtures().join("chips/ex1.toml"))?;
    write(&folder.join("ex1.toml"), sound.as_bytes())?;
    let fact =
        "[facts.hbm_bytes]\nvalue = 16_000_000_000\nunit = \"bytes\"\nprovenance = \"modeled\"\ncite = [\"EXAMPLE\"]\n";
    for (name, old, new) in [
        ("no-citation", fact, &*fact.replace("cite = [\"EXAMPLE\"]\n", "")),
        ("no-provenance", fact, &*fact.replace("provenance = \"modeled\"\n", "")),
        ("wrong-unit", fact, &*fact.replace("unit = \"bytes\"", "unit = \"GB\"")),
        ("duplicate", fact, &*format!("{fact}note = \"once\"\n\n{fact}")),
        ("unknown-field", "[facts.mesh_rows]", "[facts.mesh_row]"),
        ("missing-field", "[facts.strip]\nvalue = 4\nunit = \"rows\"", "[facts.dies]\nvalue = 4\nunit = \"count\""),
        ("out-of-range", "[facts.tile]\nvalue = 128", "[facts.tile]\nvalue = 0"),
        ("contradiction", "[facts.mesh_rows]\nvalue = 8", "[facts.mesh_rows]\nvalue = 9"),
        ("taken-name", "name = \"EX1\"", "name = \"SN50\""),
        ("not-toml", "name = \"EX1\"", "name: EX1"),
    ] {
        assert!(sound.contains(old), "{name}");
        write(&folder.join(format!("{name}.toml")), sound.replace(old, new).as_bytes())?;
    }
    Ok(())
}

/// A description of the released checkpoint beside a config, and into `bad` some that are not the model's.
fn write_descriptions(folder: &Path, bad: &Path) -> io::Result<()> {
    let sound = fs::read(description("qwen3.5-27b"))?;
    write(&folder.join("qwen3.5-27b").join("checkpoint.json"), &sound)?;
    let sound: Value = serde_json::from_slice(&sound)?;
    let changed = |name: &str, change: &dyn Fn(&mut Vec<Value>)| {
        let mut description = sound.clone();
        description["tensors"].as_array_mut().into_iter().for_each(change);
        write(&bad.join(format!("checkpoint-{name}.json")), serde_json::to_string(&description)?.as_bytes())
    };
    let norm = "model.language_model.norm.weight";
    changed("missing", &|tensors| tensors.retain(|tensor| tensor["name"] != norm))?;
    changed("extra", &|tensors| {
        tensors.push(json!({ "name": "model.language_model.lora.weight", "storage": "BF16", "shape": [16, 5120] }));
    })?;
    changed("misshapen", &|tensors| {
        let found = tensors.iter_mut().find(|tensor| tensor["name"] == norm);
        found.into_iter().for_each(|tensor| tensor["shape"] = json!([5120, 1]));
    })?;
    changed("unread", &|tensors| {
        let found = tensors.iter_mut().find(|tensor| tensor["name"] == norm);
        found.into_iter().for_each(|tensor| tensor["storage"] = json!("I8"));
    })
}

/// Leaves a file with equal bytes untouched: what tracks it is not built again.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::read(path).is_ok_and(|old| old == bytes) { Ok(()) } else { fs::write(path, bytes) }
}
