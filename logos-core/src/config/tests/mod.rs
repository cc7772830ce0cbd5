//! Configs as published, and configs that are wrong.

mod conformance;
mod families;
mod family_refusals;
mod identity;
mod mutation;
mod refusals;
mod semantics;

use std::path::PathBuf;

use serde_json::Value;

use crate::spec::ModelSpec;

/// A file below `tests/fixtures`.
fn fixture(path: &str) -> Vec<u8> {
    let file = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures")).join(path);
    std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// A config: published, or of a tiny model (`tiny/` and its name).
fn config(slug: &str) -> Vec<u8> {
    let folder = if slug.contains('/') { "" } else { "configs/" };
    fixture(&format!("{folder}{slug}/config.json"))
}

/// The specification of a published config.
fn published(slug: &str) -> ModelSpec {
    super::read(&config(slug)).unwrap()
}

/// A config with keys set, or removed where the value is `None`. A key is a path with dots.
fn edited(slug: &str, edits: &[(&str, Option<Value>)]) -> Vec<u8> {
    let mut config: Value = serde_json::from_slice(&config(slug)).unwrap();
    for (path, value) in edits {
        let (outer, key) = path.rsplit_once('.').unwrap_or(("", path));
        let pointer: String = outer.split('.').filter(|part| !part.is_empty()).map(|part| format!("/{part}")).collect();
        let object = config.pointer_mut(&pointer).unwrap().as_object_mut().unwrap();
        match value {
            Some(value) => _ = object.insert(key.to_owned(), value.clone()),
            None => _ = object.remove(key).unwrap(),
        }
    }
    serde_json::to_vec(&config).unwrap()
}
