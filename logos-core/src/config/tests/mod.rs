//! Configs as published, and configs that are wrong.

mod conformance;

use std::path::PathBuf;

use crate::spec::ModelSpec;

/// A file below `tests/fixtures`.
fn fixture(path: &str) -> Vec<u8> {
    let file = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures")).join(path);
    std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// The specification of a published config.
fn published(slug: &str) -> ModelSpec {
    super::read(&fixture(&format!("configs/{slug}/config.json"))).unwrap()
}
