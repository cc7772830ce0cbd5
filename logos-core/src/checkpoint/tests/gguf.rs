//! GGUF headers that are refused, files that are damaged anywhere, and names whose tensors are in other orders.

use expect_test::{Expect, expect};

use super::super::{Checkpoint, Storage, TensorRead};
use super::{fixture, lines, tiny};

/// Name, axes innermost first, type, offset, bytes.
type Tensor = (&'static str, Vec<u64>, u32, u64, Vec<u8>);

/// A file to be written.
struct Gguf {
    version: u32,
    metadata: Vec<(&'static str, u32, Vec<u8>)>,
    tensors: Vec<Tensor>,
    alignment: usize,
}

fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat()
}

fn number(number: u32) -> Vec<u8> {
    number.to_le_bytes().to_vec()
}

/// Of Llama's names, four query heads of eight and one KV head: a norm, queries in F32 and keys in Q8_0.
fn small() -> Gguf {
    let floats = |count: usize| (0..count).flat_map(|value| (value as f32).to_le_bytes()).collect::<Vec<u8>>();
    let blocks = (0..8).flat_map(|row: u8| [vec![0x00, 0x3c], (row..row + 32).collect()].concat()).collect();
    Gguf {
        version: 3,
        metadata: vec![
            ("general.architecture", 8, text("llama")),
            ("general.alignment", 4, number(32)),
            ("llama.attention.head_count", 4, number(4)),
            ("llama.attention.head_count_kv", 2, vec![1, 0]),
            ("tokenizer.ggml.tokens", 9, [&number(8)[..], &2u64.to_le_bytes(), &text("<s>"), &text("\u{e9}")].concat()),
            ("llama.rope.freq_base", 6, 10_000f32.to_le_bytes().to_vec()),
        ],
        tensors: vec![
            ("blk.0.attn_norm.weight", vec![4], 0, 0, floats(4)),
            ("blk.0.attn_q.weight", vec![2, 32], 0, 32, floats(64)),
            ("blk.0.attn_k.weight", vec![32, 8], 8, 288, blocks),
        ],
        alignment: 32,
    }
}

impl Gguf {
    fn bytes(&self) -> Vec<u8> {
        let mut out = b"GGUF".to_vec();
        out.extend(self.version.to_le_bytes());
        out.extend((self.tensors.len() as u64).to_le_bytes());
        out.extend((self.metadata.len() as u64).to_le_bytes());
        for (key, kind, value) in &self.metadata {
            out.extend([&text(key)[..], &number(*kind), value].concat());
        }
        for (name, axes, kind, offset, _) in &self.tensors {
            out.extend([&text(name)[..], &number(axes.len() as u32)].concat());
            axes.iter().for_each(|axis| out.extend(axis.to_le_bytes()));
            out.extend([&number(*kind)[..], &offset.to_le_bytes()].concat());
        }
        for (.., bytes) in &self.tensors {
            out.resize(out.len().next_multiple_of(self.alignment), 0);
            out.extend(bytes);
        }
        out.resize(out.len().next_multiple_of(self.alignment), 0);
        out
    }

    fn open(&self) -> Result<Checkpoint, crate::Refusal> {
        Checkpoint::from_bytes("a.gguf", self.bytes())
    }
}

#[track_caller]
fn refused(change: impl FnOnce(&mut Gguf), expect: Expect) {
    let mut file = small();
    change(&mut file);
    expect.assert_eq(&lines(&[file.open().unwrap_err()]));
}

#[test]
fn a_small_file_is_read() {
    let checkpoint = small().open().unwrap();
    let norm = checkpoint.tensor("model.layers.0.input_layernorm.weight").unwrap().unwrap();
    assert_eq!((norm.shape(), &*norm.values()), (&[4][..], &[0.0, 1.0, 2.0, 3.0][..]));
    let queries = checkpoint.tensor("model.layers.0.self_attn.q_proj.weight").unwrap().unwrap();
    assert_eq!((queries.shape(), queries.floats()), (&[32, 2][..], None));
    // Rows of a head of the model, where the file has them: 0, 2, 4, 6, 1, 3, 5, 7.
    let first: Vec<f32> = queries.values().chunks(2).map(|row| row[0] / 2.0).collect();
    assert_eq!(first[..16], [0.0, 2.0, 4.0, 6.0, 1.0, 3.0, 5.0, 7.0, 8.0, 10.0, 12.0, 14.0, 9.0, 11.0, 13.0, 15.0]);
    let keys = checkpoint.tensor("model.layers.0.self_attn.k_proj.weight").unwrap().unwrap();
    assert_eq!(keys.shape(), [8, 32]);
    let mut out = [0.0; 2];
    keys.read(4, 30..32, &mut out);
    assert_eq!(out, [31.0, 32.0]);
    assert!(checkpoint.tensor("model.layers.1.self_attn.k_proj.weight").unwrap().is_none());
    let version_2 = Gguf { version: 2, ..small() };
    assert_eq!(version_2.open().unwrap().headers().tensors().len(), 3);
}

#[test]
fn headers_that_contradict_themselves() {
    refused(
        |file| file.version = 1,
        expect![[r#"
        LOGOS-CKPT-02: a.gguf: this kind of GGUF is not read; expected: version 2 or 3, little-endian; found: version 1
    "#]],
    );
    refused(
        |file| file.version = 3 << 24,
        expect![[r#"
        LOGOS-CKPT-02: a.gguf: this kind of GGUF is not read; expected: version 2 or 3, little-endian; found: a big-endian file
    "#]],
    );
    refused(
        |file| file.metadata[0].2 = text("gpt2"),
        expect![[r#"
        LOGOS-CKPT-09: a.gguf: the names of its architecture are not known; expected: llama, qwen2, qwen3, gemma3, qwen35; found: gpt2
    "#]],
    );
    refused(
        |file| drop(file.metadata.remove(0)),
        expect![[r#"
        LOGOS-CKPT-09: a.gguf: the names of its architecture are not known; expected: llama, qwen2, qwen3, gemma3, qwen35; found: none
    "#]],
    );
    refused(
        |file| file.metadata[1].2 = number(24),
        expect![[r#"
        LOGOS-CKPT-02: a.gguf: `general.alignment` is no alignment; expected: a power of two from 8 to 65536; found: 24
    "#]],
    );
    refused(
        |file| file.metadata[2].2 = number(0),
        expect![[r#"
        LOGOS-CKPT-02: a.gguf: metadata key `llama.attention.head_count` is no size; expected: a whole number of at least 1; found: 0
    "#]],
    );
    refused(
        |file| file.metadata[2].0 = "general.architecture",
        expect![[r#"
        LOGOS-CKPT-02: a.gguf: metadata key `general.architecture` is there twice; expected: once; found: twice
    "#]],
    );
    refused(
        |file| file.metadata[4].1 = 13,
        expect![[r#"
        LOGOS-CKPT-02: a.gguf: metadata key `tokenizer.ggml.tokens` has no type; expected: a type from 0 to 12; found: 13
    "#]],
    );
    refused(
        |file| file.metadata.push(("split.count", 2, vec![3, 0])),
        expect![[r#"
        LOGOS-CKPT-02: a.gguf: it is a part of a split file; expected: a file of its own; found: one of 3 parts
    "#]],
    );
    refused(
        |file| file.metadata.push(("a", 8, u64::MAX.to_le_bytes().to_vec())),
        expect![[r#"
        LOGOS-CKPT-02: a.gguf: the file ends inside metadata key `a`; expected: 18446744073709551615 bytes from byte 310 on; found: 778 until the file's end
    "#]],
    );
    refused(
        |file| file.metadata.push(("a", 9, [&number(10)[..], &u64::MAX.to_le_bytes()].concat())),
        expect![[r#"
        LOGOS-CKPT-02: a.gguf: the file ends inside metadata key `a`; expected: 18446744073709551615 bytes from byte 314 on; found: 774 until the file's end
    "#]],
    );
    refused(
        |file| file.metadata.push(("a", 9, [&number(9)[..], &1u64.to_le_bytes()].concat().repeat(9))),
        expect![[r#"
            LOGOS-CKPT-02: a.gguf: metadata key `a` is an array of arrays too deep; expected: at most 4; found: more
        "#]],
    );
}

#[test]
fn tensors_that_contradict_themselves_or_each_other() {
    refused(
        |file| file.tensors[1].0 = "blk.0.attn_norm.weight",
        expect![[r#"
        LOGOS-CKPT-02: tensor `blk.0.attn_norm.weight` of a.gguf: its name is there twice; expected: one tensor; found: another in a.gguf
    "#]],
    );
    refused(
        |file| file.tensors[0].0 = "a name that is longer than sixty-four bytes, which the format does not allow",
        expect![[r#"
            LOGOS-CKPT-02: a.gguf: a tensor's name is too long; expected: at most 64 bytes; found: 76 bytes
        "#]],
    );
    refused(
        |file| file.tensors[0].1 = vec![1; 5],
        expect![[r#"
        LOGOS-CKPT-02: tensor `blk.0.attn_norm.weight` of a.gguf: it has too many axes; expected: at most 4; found: 5
    "#]],
    );
    refused(
        |file| file.tensors[1].1 = vec![u64::MAX, 2],
        expect![[r#"
        LOGOS-CKPT-02: tensor `blk.0.attn_q.weight` of a.gguf: its shape has no size; expected: rows of whole blocks of 1, fewer than 2^64 bytes; found: F32 [2, 18446744073709551615]
    "#]],
    );
    refused(
        |file| file.tensors[2].1 = vec![16, 16],
        expect![[r#"
        LOGOS-CKPT-02: tensor `blk.0.attn_k.weight` of a.gguf: its shape has no size; expected: rows of whole blocks of 32, fewer than 2^64 bytes; found: Q8_0 [16, 16]
    "#]],
    );
    refused(
        |file| file.tensors[0].2 = 4,
        expect![[r#"
        LOGOS-CKPT-04: tensor `blk.0.attn_norm.weight` of a.gguf: its type is not known; expected: a type of ggml; found: number 4
    "#]],
    );
    refused(
        |file| file.tensors[0].3 = 8,
        expect![[r#"
        LOGOS-CKPT-02: tensor `blk.0.attn_norm.weight` of a.gguf: its offset is none; expected: a multiple of 32 inside the file; found: 8
    "#]],
    );
    refused(
        |file| file.tensors[2].3 = u64::MAX - 31,
        expect![[r#"
        LOGOS-CKPT-02: tensor `blk.0.attn_k.weight` of a.gguf: its offset is none; expected: a multiple of 32 inside the file; found: 18446744073709551584
    "#]],
    );
    refused(
        |file| file.tensors[2].3 = 256,
        expect![[r#"
        LOGOS-CKPT-02: tensor `blk.0.attn_k.weight` of a.gguf: its bytes overlap those of `blk.0.attn_q.weight`; expected: byte 768 or later; found: bytes 736 to 1008
    "#]],
    );
    refused(
        |file| file.tensors[2].3 = 352,
        expect![[r#"
        LOGOS-CKPT-02: tensor `blk.0.attn_k.weight` of a.gguf: its bytes end after the file does; expected: at most byte 1056, the file's end; found: bytes 832 to 1104
    "#]],
    );
    refused(
        |file| file.tensors[1].3 = 320,
        expect![[r#"
        LOGOS-CKPT-02: tensor `blk.0.attn_k.weight` of a.gguf: bytes before it belong to no tensor; expected: from byte 496 on; found: bytes 768 to 1040
    "#]],
    );
    refused(
        |file| file.tensors[2].4.truncate(200),
        expect![[r#"
        LOGOS-CKPT-02: tensor `blk.0.attn_k.weight` of a.gguf: its bytes end after the file does; expected: at most byte 992, the file's end; found: bytes 768 to 1040
    "#]],
    );
    refused(
        |file| file.tensors[2].4.resize(400, 0),
        expect![[r#"
        LOGOS-CKPT-02: a.gguf: bytes at its end belong to no tensor; expected: 1040 bytes; found: 1184 bytes
    "#]],
    );
    let mut bytes = small().bytes();
    bytes.truncate(100);
    expect![[r#"
        LOGOS-CKPT-02: a.gguf: the file ends inside metadata key `general.alignment`; expected: 4 bytes from byte 98 on; found: 2 until the file's end
    "#]].assert_eq(&lines(&[Checkpoint::from_bytes("a.gguf", bytes).unwrap_err()]));
}

#[test]
fn tensors_that_are_described_and_not_read() {
    let mut file = small();
    (file.tensors[1].2, file.tensors[1].1) = (2, vec![32, 8]);
    file.tensors[1].4 = vec![0; 8 * 18];
    file.tensors[2].3 = 32 + 160;
    let checkpoint = file.open().unwrap();
    assert_eq!(checkpoint.headers().tensors()[1].storage, Storage::Q4_0);
    let refusal = checkpoint.tensor("model.layers.0.self_attn.q_proj.weight").unwrap_err();
    expect![[r#"
        LOGOS-CKPT-04: tensor `blk.0.attn_q.weight` of a.gguf: its storage is not read; expected: F32, F16, BF16, Q8_0, F8_E4M3 with scales, or MXFP4 as `_blocks` and `_scales`; found: Q4_0
    "#]].assert_eq(&lines(&[refusal]));
    // Rows that are no heads of two halves.
    let mut file = small();
    file.tensors[2].1 = vec![32, 7];
    file.tensors[2].4.truncate(7 * 34);
    let refusal = file.open().unwrap().tensor("model.layers.0.self_attn.k_proj.weight").unwrap_err();
    expect![[r#"
        LOGOS-CKPT-07: tensor `blk.0.attn_k.weight` of a.gguf: it has other sizes than its metadata says; expected: rows of 1 heads of two halves; found: [7]
    "#]].assert_eq(&lines(&[refusal]));
}

#[test]
fn damage_anywhere_is_refused_or_harmless() {
    let names =
        ["input_layernorm", "self_attn.q_proj", "self_attn.k_proj"].map(|name| format!("model.layers.0.{name}.weight"));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    super::fuzz(&small().bytes(), 0x6677_7566, |bytes| Checkpoint::from_bytes("a.gguf", bytes), &names);
}

/// The quantised files against the F32 ones: as far off as half a step of the largest of 32 values, so no row is in another's place.
#[test]
fn every_tensor_is_the_models_within_quantisation() {
    for model in ["llama", "qwen3", "qwen3_5", "gemma3", "mixtral"] {
        let (spec, entries) = tiny(model);
        let checkpoint = Checkpoint::open(&fixture(model, "model-q8_0.gguf")).unwrap();
        let weights = checkpoint.weights(&spec).unwrap_or_else(|refusals| panic!("{}", lines(&refusals)));
        for entry in entries {
            let tensor = weights.tensor(&entry.name).unwrap();
            let (values, stored) = (tensor.values(), entry.bytes.as_chunks::<4>().0);
            assert_eq!(values.len(), stored.len());
            let stored: Vec<f32> = stored.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
            for (at, (found, expected)) in values.chunks(32).zip(stored.chunks(32)).enumerate() {
                let largest = expected.iter().fold(0f32, |largest, value| largest.max(value.abs()));
                for (found, expected) in found.iter().zip(expected) {
                    // Half a step of 1/127, and the step's own rounding to F16. Columns that were reordered may lie in a block with larger ones.
                    let close = (found - expected).abs()
                        <= largest * if entry.name.ends_with("out_proj.weight") { 0.02 } else { 0.0045 };
                    assert!(close, "{model}: {} at {}: {found} for {expected}", entry.name, 32 * at);
                }
            }
        }
    }
}

#[test]
fn another_models_file_is_not_taken() {
    let (mut spec, _) = tiny("mixtral");
    let checkpoint = Checkpoint::open(&fixture("mixtral", "model-q8_0.gguf")).unwrap();
    for layer in &mut spec.layers {
        let crate::spec::FeedForward::Experts(experts) = &mut layer.feed_forward else { panic!("experts") };
        experts.count = 3;
    }
    let refusals = checkpoint.weights(&spec).unwrap_err();
    expect![[r#"
        LOGOS-CKPT-07: tensor `blk.0.ffn_gate_exps.weight` of model-q8_0.gguf: it holds more experts than the config has; expected: 3 experts; found: [4, 64, 64]
        LOGOS-CKPT-07: tensor `blk.0.ffn_down_exps.weight` of model-q8_0.gguf: it holds more experts than the config has; expected: 3 experts; found: [4, 64, 64]
        LOGOS-CKPT-07: tensor `blk.0.ffn_up_exps.weight` of model-q8_0.gguf: it holds more experts than the config has; expected: 3 experts; found: [4, 64, 64]
        LOGOS-CKPT-07: tensor `blk.1.ffn_gate_exps.weight` of model-q8_0.gguf: it holds more experts than the config has; expected: 3 experts; found: [4, 64, 64]
        LOGOS-CKPT-07: tensor `blk.1.ffn_down_exps.weight` of model-q8_0.gguf: it holds more experts than the config has; expected: 3 experts; found: [4, 64, 64]
        LOGOS-CKPT-07: tensor `blk.1.ffn_up_exps.weight` of model-q8_0.gguf: it holds more experts than the config has; expected: 3 experts; found: [4, 64, 64]
    "#]].assert_eq(&lines(&refusals));
    let (spec, _) = tiny("qwen3");
    let checkpoint = Checkpoint::open(&fixture("llama", "model-q8_0.gguf")).unwrap();
    expect![[r#"
        LOGOS-CKPT-07: tensor `blk.0.attn_q.weight` of model-q8_0.gguf: its shape is not the config's; expected: [128, 64]; found: [64, 64]; the model's name: model.layers.0.self_attn.q_proj.weight
        LOGOS-CKPT-07: tensor `blk.0.attn_k.weight` of model-q8_0.gguf: its shape is not the config's; expected: [64, 64]; found: [32, 64]; the model's name: model.layers.0.self_attn.k_proj.weight
        LOGOS-CKPT-07: tensor `blk.0.attn_v.weight` of model-q8_0.gguf: its shape is not the config's; expected: [64, 64]; found: [32, 64]; the model's name: model.layers.0.self_attn.v_proj.weight
        LOGOS-CKPT-07: tensor `blk.0.attn_output.weight` of model-q8_0.gguf: its shape is not the config's; expected: [64, 128]; found: [64, 64]; the model's name: model.layers.0.self_attn.o_proj.weight
        LOGOS-CKPT-05: tensor `model.layers.0.self_attn.q_norm.weight` of model-q8_0.gguf: the model needs it; expected: a tensor [32]; found: none of this name
        LOGOS-CKPT-05: tensor `model.layers.0.self_attn.k_norm.weight` of model-q8_0.gguf: the model needs it; expected: a tensor [32]; found: none of this name
        LOGOS-CKPT-07: tensor `blk.1.attn_q.weight` of model-q8_0.gguf: its shape is not the config's; expected: [128, 64]; found: [64, 64]; the model's name: model.layers.1.self_attn.q_proj.weight
        LOGOS-CKPT-07: tensor `blk.1.attn_k.weight` of model-q8_0.gguf: its shape is not the config's; expected: [64, 64]; found: [32, 64]; the model's name: model.layers.1.self_attn.k_proj.weight
        LOGOS-CKPT-07: tensor `blk.1.attn_v.weight` of model-q8_0.gguf: its shape is not the config's; expected: [64, 64]; found: [32, 64]; the model's name: model.layers.1.self_attn.v_proj.weight
        LOGOS-CKPT-07: tensor `blk.1.attn_output.weight` of model-q8_0.gguf: its shape is not the config's; expected: [64, 128]; found: [64, 64]; the model's name: model.layers.1.self_attn.o_proj.weight
        LOGOS-CKPT-05: tensor `model.layers.1.self_attn.q_norm.weight` of model-q8_0.gguf: the model needs it; expected: a tensor [32]; found: none of this name
        LOGOS-CKPT-05: tensor `model.layers.1.self_attn.k_norm.weight` of model-q8_0.gguf: the model needs it; expected: a tensor [32]; found: none of this name
        LOGOS-CKPT-07: tensor `blk.2.attn_q.weight` of model-q8_0.gguf: its shape is not the config's; expected: [128, 64]; found: [64, 64]; the model's name: model.layers.2.self_attn.q_proj.weight
        LOGOS-CKPT-07: tensor `blk.2.attn_k.weight` of model-q8_0.gguf: its shape is not the config's; expected: [64, 64]; found: [32, 64]; the model's name: model.layers.2.self_attn.k_proj.weight
        LOGOS-CKPT-07: tensor `blk.2.attn_v.weight` of model-q8_0.gguf: its shape is not the config's; expected: [64, 64]; found: [32, 64]; the model's name: model.layers.2.self_attn.v_proj.weight
        LOGOS-CKPT-07: tensor `blk.2.attn_output.weight` of model-q8_0.gguf: its shape is not the config's; expected: [64, 128]; found: [64, 64]; the model's name: model.layers.2.self_attn.o_proj.weight
        LOGOS-CKPT-05: tensor `model.layers.2.self_attn.q_norm.weight` of model-q8_0.gguf: the model needs it; expected: a tensor [32]; found: none of this name
        LOGOS-CKPT-05: tensor `model.layers.2.self_attn.k_norm.weight` of model-q8_0.gguf: the model needs it; expected: a tensor [32]; found: none of this name
    "#]].assert_eq(&lines(&checkpoint.weights(&spec).unwrap_err()));
}
