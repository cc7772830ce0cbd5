//! Folders, indices and shards.

use std::fs;
use std::path::{Path, PathBuf};

use expect_test::{Expect, expect};

use super::super::Checkpoint;
use super::{Entry, file, floats, lines, tiny};

/// An empty folder of the test's own; removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("logos-checkpoint-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Self {
        fs::write(self.0.join(name), bytes).unwrap();
        self
    }

    fn open(&self) -> Result<Checkpoint, crate::Refusal> {
        Checkpoint::open(&self.0)
    }

    /// The refusal, the folder's own path left out.
    #[track_caller]
    fn refused(&self, expect: Expect) -> &Self {
        let text = lines(&[self.open().unwrap_err()]);
        expect.assert_eq(&text.replace(&self.0.display().to_string(), "FOLDER"));
        self
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left over does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn index(entries: &[(&str, &str)]) -> String {
    let map: Vec<String> = entries.iter().map(|(tensor, shard)| format!("{tensor:?}:{shard:?}")).collect();
    format!(r#"{{"metadata":{{"total_size":12}},"weight_map":{{{}}}}}"#, map.join(","))
}

const INDEX: &str = "model.safetensors.index.json";

#[test]
fn shards_are_one_checkpoint() {
    let (spec, entries) = tiny("qwen2");
    let folder = Folder::new("shards");
    let (one, two) = entries.split_at(17);
    folder.write("model-00001-of-00002.safetensors", file(one)).write("model-00002-of-00002.safetensors", file(two));
    let shard =
        |at: usize| if at < 17 { "model-00001-of-00002.safetensors" } else { "model-00002-of-00002.safetensors" };
    let names: Vec<(&str, &str)> = entries.iter().enumerate().map(|(at, e)| (e.name.as_str(), shard(at))).collect();
    folder.write(INDEX, index(&names));
    for path in [folder.0.clone(), folder.0.join(INDEX)] {
        let checkpoint = Checkpoint::open(&path).unwrap();
        assert_eq!(checkpoint.headers().files().len(), 2);
        let weights = checkpoint.weights(&spec).unwrap();
        weights.check_values().unwrap();
        for Entry { name, bytes, .. } in &entries {
            let id = checkpoint.headers().find(name).unwrap();
            assert_eq!(checkpoint.bytes(id), bytes, "{name}");
        }
    }
}

#[test]
fn an_index_that_is_wrong() {
    let folder = Folder::new("index");
    let (a, b) = ("model-a.safetensors", "model-b.safetensors");
    folder.write(a, file(&[floats("x", &[1], &[1.0]), floats("y", &[1], &[2.0])]));
    folder.write(b, file(&[floats("z", &[1], &[3.0])]));
    folder.write(INDEX, index(&[("x", a), ("y", a), ("z", b)])).open().unwrap();
    folder.write(INDEX, index(&[("x", a), ("y", b), ("z", b)])).refused(expect![[r#"
        LOGOS-CKPT-03: tensor `y` of model.safetensors.index.json: it is not where the index says; expected: in model-b.safetensors; found: in model-a.safetensors
    "#]]);
    folder.write(INDEX, index(&[("x", a), ("y", a), ("z", b), ("w", b)])).refused(expect![[r#"
        LOGOS-CKPT-03: tensor `w` of model.safetensors.index.json: it is not where the index says; expected: in model-b.safetensors; found: in no shard
    "#]]);
    folder.write(INDEX, index(&[("x", a), ("z", b)])).refused(expect![[r#"
        LOGOS-CKPT-03: tensor `y` of model-a.safetensors: the index does not list it; expected: an entry in model.safetensors.index.json; found: none
    "#]]);
    folder.write(INDEX, index(&[("x", a), ("x", a), ("y", a), ("z", b)])).refused(expect![[r#"
        LOGOS-CKPT-03: tensor `x` of model.safetensors.index.json: the index lists it twice; expected: once; found: twice
    "#]]);
    folder.write(INDEX, index(&[("x", a), ("y", a), ("z", "model-c.safetensors")])).refused(expect![[r#"
        LOGOS-CKPT-01: FOLDER/model-c.safetensors: it cannot be read; expected: a readable file; found: No such file or directory (os error 2)
    "#]]);
    folder.write(INDEX, index(&[("x", "../model-a.safetensors")])).refused(expect![[r#"
        LOGOS-CKPT-03: tensor `x` of model.safetensors.index.json: its shard is no file's name; expected: the name of a .safetensors file beside it; found: ../model-a.safetensors
    "#]]);
    folder.write(INDEX, index(&[("x", "pytorch_model.bin")])).refused(expect![[r#"
        LOGOS-CKPT-03: tensor `x` of model.safetensors.index.json: its shard is no file's name; expected: the name of a .safetensors file beside it; found: pytorch_model.bin
    "#]]);
    folder.write(INDEX, index(&[])).refused(expect![[r#"
        LOGOS-CKPT-03: model.safetensors.index.json: the index is empty; expected: tensors; found: none
    "#]]);
    folder.write(INDEX, r#"{"weight_map": ["x"]}"#).refused(expect![[r#"
        LOGOS-CKPT-03: model.safetensors.index.json: the index does not parse; expected: an object with a `weight_map` of tensor and file names; found: invalid type: sequence, expected an object of tensor and file names at line 1 column 15
    "#]]);
    folder.write(INDEX, "{}").refused(expect![[r#"
        LOGOS-CKPT-03: model.safetensors.index.json: the index does not parse; expected: an object with a `weight_map` of tensor and file names; found: missing field `weight_map` at line 1 column 2
    "#]]);
    folder.write(b, file(&[floats("x", &[1], &[3.0])]));
    folder.write(INDEX, index(&[("x", a), ("y", a), ("z", b)])).refused(expect![[r#"
        LOGOS-CKPT-02: tensor `x` of model-b.safetensors: its name is there twice; expected: one tensor; found: another in model-a.safetensors
    "#]]);
}

#[test]
fn a_folder_without_a_checkpoint() {
    let folder = Folder::new("none");
    folder.refused(expect![[r#"
        LOGOS-CKPT-01: FOLDER: the folder has no checkpoint; expected: model.safetensors, or model.safetensors.index.json and its shards, or one .gguf file; found: no weights
    "#]]);
    folder.write("pytorch_model.bin", [0]).refused(expect![[r#"
        LOGOS-CKPT-01: FOLDER: the folder has no checkpoint; expected: model.safetensors, or model.safetensors.index.json and its shards, or one .gguf file; found: pytorch_model.bin
    "#]]);
    folder.write("model.safetensors", []).refused(expect![[r#"
        LOGOS-CKPT-01: FOLDER/model.safetensors: there are no bytes to read; expected: a file of tensors; found: an empty file
    "#]]);
    folder.write("model.safetensors", file(&[floats("x", &[1], &[1.0])])).open().unwrap();
    folder.write(INDEX, index(&[("x", "model.safetensors")])).refused(expect![[r#"
        LOGOS-CKPT-01: FOLDER: the folder holds two checkpoints; expected: model.safetensors or model.safetensors.index.json; found: both
    "#]]);
    let refusal = Checkpoint::open(Path::new("no such folder")).unwrap_err();
    expect![[r#"
        LOGOS-CKPT-01: no such folder: it cannot be read; expected: a readable file; found: No such file or directory (os error 2)
    "#]].assert_eq(&lines(&[refusal]));
}
