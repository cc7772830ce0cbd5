//! Checkpoints that are not the model's.

use expect_test::{Expect, expect};

use super::super::{Checkpoint, TensorRead, Unused};
use super::{Entry, entry, file, floats, lines, tiny};
use crate::reference::WeightSource;

/// Opens a tiny model's checkpoint with something changed.
#[track_caller]
fn changed(model: &str, change: impl FnOnce(&mut Vec<Entry>), expect: Expect) {
    let (spec, mut entries) = tiny(model);
    change(&mut entries);
    let checkpoint = Checkpoint::from_bytes("a.safetensors", file(&entries)).unwrap();
    let refusals = match checkpoint.weights(&spec) {
        Ok(weights) => weights.check_values().err().unwrap_or_default(),
        Err(refusals) => refusals,
    };
    expect.assert_eq(&lines(&refusals));
}

fn find<'e>(entries: &'e mut [Entry], name: &str) -> &'e mut Entry {
    entries.iter_mut().find(|entry| entry.name == name).unwrap()
}

#[test]
fn the_models_own_is_taken_as_it_is() {
    for model in ["llama", "llama3_tied", "mistral", "qwen2", "qwen3", "qwen3_5"] {
        let (spec, entries) = tiny(model);
        let checkpoint = Checkpoint::open(&super::fixture(model, "")).unwrap();
        let weights = checkpoint.weights(&spec).unwrap_or_else(|refusals| panic!("{}", lines(&refusals)));
        assert_eq!(weights.unused(), []);
        weights.check_values().unwrap();
        assert_eq!(checkpoint.headers().tensors().len(), entries.len());
        for Entry { name, shape, bytes, .. } in entries {
            let data = weights.read(&name).unwrap();
            assert!(data.shape.iter().map(|&axis| axis as u64).eq(shape));
            assert!(data.values.iter().flat_map(|value| value.to_le_bytes()).eq(bytes), "{name}");
            assert!(weights.tensor(&name).unwrap().floats().is_some(), "{name} is copied");
        }
    }
}

#[test]
fn a_missing_tensor() {
    changed(
        "llama",
        |entries| entries.retain(|e| e.name != "model.layers.1.mlp.up_proj.weight"),
        expect![[r#"
        LOGOS-CKPT-05: tensor `model.layers.1.mlp.up_proj.weight` of a.safetensors: the model needs it; expected: a tensor [96, 64]; found: none of this name
    "#]],
    );
    changed(
        "llama",
        |entries| find(entries, "lm_head.weight").name = "head.weight".into(),
        expect![[r#"
        LOGOS-CKPT-05: tensor `lm_head.weight` of a.safetensors: the model needs it; expected: a tensor [128, 64]; found: none of this name
        LOGOS-CKPT-06: tensor `head.weight` of a.safetensors: the model has no such tensor; expected: none of this name; found: a tensor [128, 64] of F32
    "#]],
    );
}

#[test]
fn a_tensor_too_many() {
    changed(
        "llama",
        |entries| entries.push(floats("model.layers.0.self_attn.q_proj.bias", &[2], &[0.0; 2])),
        expect![[r#"
            LOGOS-CKPT-06: tensor `model.layers.0.self_attn.q_proj.bias` of a.safetensors: the model has no such tensor; expected: none of this name; found: a tensor [2] of F32
        "#]],
    );
}

#[test]
fn a_tensor_of_another_shape() {
    changed(
        "qwen3",
        |entries| find(entries, "model.layers.2.self_attn.q_proj.weight").shape.reverse(),
        expect![[r#"
        LOGOS-CKPT-07: tensor `model.layers.2.self_attn.q_proj.weight` of a.safetensors: its shape is not the config's; expected: [128, 64]; found: [64, 128]
    "#]],
    );
    changed(
        "qwen3",
        |entries| find(entries, "model.norm.weight").shape.push(1),
        expect![[r#"
        LOGOS-CKPT-07: tensor `model.norm.weight` of a.safetensors: its shape is not the config's; expected: [64]; found: [64, 1]
    "#]],
    );
    // Transposed, it would still have as many elements.
    changed(
        "llama",
        |entries| find(entries, "model.layers.0.mlp.down_proj.weight").shape.reverse(),
        expect![[r#"
        LOGOS-CKPT-07: tensor `model.layers.0.mlp.down_proj.weight` of a.safetensors: its shape is not the config's; expected: [64, 96]; found: [96, 64]
    "#]],
    );
}

#[test]
fn a_tensor_that_is_not_read() {
    changed(
        "llama",
        |entries| {
            let tensor = find(entries, "model.layers.0.mlp.up_proj.weight");
            (tensor.dtype, tensor.bytes) = ("I8", vec![0; tensor.bytes.len() / 4]);
        },
        expect![[r#"
            LOGOS-CKPT-04: tensor `model.layers.0.mlp.up_proj.weight` of a.safetensors: its storage is not read; expected: F32, F16, BF16, Q8_0, F8_E4M3 with scales, or MXFP4 as `_blocks` and `_scales`; found: I8
        "#]],
    );
    changed(
        "llama",
        |entries| {
            let tensor = find(entries, "model.layers.0.mlp.up_proj.weight");
            (tensor.dtype, tensor.bytes) = ("F8_E4M3", vec![0; tensor.bytes.len() / 4]);
        },
        expect![[r#"
            LOGOS-CKPT-04: tensor `model.layers.0.mlp.up_proj.weight` of a.safetensors: F8_E4M3 is not to be read without scales; expected: a matrix with either `weight_scale_inv` or `weight_scale` beside it; found: axes [96, 64] and 0 of the two
        "#]],
    );
    changed(
        "llama",
        |entries| {
            let tensor = find(entries, "model.layers.0.mlp.up_proj.weight");
            (tensor.dtype, tensor.bytes) = ("F8_E4M3", vec![0; tensor.bytes.len() / 4]);
            entries.push(floats("model.layers.0.mlp.up_proj.weight_scale_inv", &[1, 2], &[1.0; 2]));
        },
        expect![[r#"
            LOGOS-CKPT-04: tensor `model.layers.0.mlp.up_proj.weight_scale_inv` of a.safetensors: a scale every [128, 128] rows and columns has another shape; expected: [1, 1]; found: [1, 2]
        "#]],
    );
}

#[test]
fn a_value_that_is_none() {
    let set = |entries: &mut Vec<Entry>, at: usize, value: f32| {
        let bytes = &mut find(entries, "model.layers.1.self_attn.v_proj.weight").bytes;
        bytes[at * 4..at * 4 + 4].copy_from_slice(&value.to_le_bytes());
    };
    changed(
        "llama",
        |entries| set(entries, 130, f32::NAN),
        expect![[r#"
            LOGOS-CKPT-08: tensor `model.layers.1.self_attn.v_proj.weight` of a.safetensors: its value at row 2, column 2 is none to compute with; expected: finite numbers; found: NaN
        "#]],
    );
    changed(
        "llama",
        |entries| set(entries, 3, f32::NEG_INFINITY),
        expect![[r#"
            LOGOS-CKPT-08: tensor `model.layers.1.self_attn.v_proj.weight` of a.safetensors: its value at row 0, column 3 is none to compute with; expected: finite numbers; found: -inf
        "#]],
    );
}

#[test]
fn another_models_checkpoint_is_not_told_tensor_by_tensor() {
    let (spec, _) = tiny("llama");
    let (_, entries) = tiny("qwen3_5");
    let checkpoint = super::open(&entries);
    let refusals = checkpoint.weights(&spec).unwrap_err();
    assert_eq!(refusals.len(), 25);
    expect![[r#"
        LOGOS-CKPT-05: a.safetensors: the checkpoint is not the model's; expected: the tensors of the config; found: 49 more that differ
    "#]].assert_eq(&lines(&refusals[24..]));
}

#[test]
fn what_the_model_does_not_bind_may_be_there_for_a_reason() {
    let (spec, mut entries) = tiny("llama3_tied");
    let embedding = find(&mut entries, "model.embed_tokens.weight").clone();
    entries.extend([
        entry("model.visual.patch_embed.weight", "I64", &[1], vec![0; 8]),
        entry("mtp.fc.weight", "F32", &[1], vec![0; 4]),
        entry("model.layers.3.eh_proj.weight", "F32", &[1], vec![0; 4]),
        entry("model.layers.0.self_attn.rotary_emb.inv_freq", "F32", &[1], vec![0; 4]),
        Entry { name: "lm_head.weight".into(), ..embedding },
    ]);
    let checkpoint = super::open(&entries);
    let weights = checkpoint.weights(&spec).unwrap();
    let found: Vec<Unused> = weights.unused().iter().map(|(_, reason)| *reason).collect();
    assert_eq!(found, [Unused::OtherInput, Unused::Draft, Unused::Draft, Unused::Buffer, Unused::TiedHead]);
    weights.check_values().unwrap();
    let repeat_head = |entries: &mut Vec<Entry>| {
        let embedding = find(entries, "model.embed_tokens.weight").clone();
        entries.push(Entry { name: "lm_head.weight".into(), ..embedding });
    };
    // A copy is one with the same values, and one of another shape is none.
    changed(
        "llama3_tied",
        |entries| {
            repeat_head(entries);
            find(entries, "lm_head.weight").bytes[7] ^= 1;
        },
        expect![[r#"
            LOGOS-CKPT-08: tensor `lm_head.weight` of a.safetensors: the config ties the head to the embedding, and their values differ; expected: the embedding's values; found: others
        "#]],
    );
    changed(
        "llama3_tied",
        |entries| {
            repeat_head(entries);
            find(entries, "lm_head.weight").shape.reverse();
        },
        expect![[r#"
            LOGOS-CKPT-06: tensor `lm_head.weight` of a.safetensors: the model has no such tensor; expected: none of this name; found: a tensor [48, 160] of F32
        "#]],
    );
}
