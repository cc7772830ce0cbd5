//! Errors as rustc shows them, and uses that must compile. `TRYBUILD=overwrite cargo test -p logos-tests --test ui` rewrites the
//! expectations; read the diff.

use std::path::PathBuf;
use std::process::Command;

#[test]
fn ui() {
    // trybuild compiles the cases as a package of its own, whose folder is where their configs are looked for.
    logos_tests::write_models(&package().join("models")).expect("the models are written");
    logos_tests::write_chips(&package().join("chips")).expect("the chip files are written");
    let cases = trybuild::TestCases::new();
    cases.compile_fail("ui/refused/*.rs");
    cases.pass("ui/compiles/*.rs");
}

/// The folder of the package that trybuild makes.
fn package() -> PathBuf {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .output()
        .expect("cargo runs");
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let target = metadata["target_directory"].as_str().expect("a target folder");
    PathBuf::from(target).join("tests/trybuild/logos-tests")
}
