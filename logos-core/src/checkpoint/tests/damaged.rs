//! Headers that are refused, and files that are damaged anywhere.

use expect_test::{Expect, expect};

use super::super::Checkpoint;
use super::{entry, file, floats, lines, raw};

fn check(bytes: Vec<u8>, expect: Expect) {
    let refusal = Checkpoint::from_bytes("a.safetensors", bytes).unwrap_err();
    expect.assert_eq(&lines(&[refusal]));
}

/// A header of tensors, with so many bytes of data.
fn header(json: &str, data: usize, expect: Expect) {
    check(raw(json, &vec![0; data]), expect);
}

#[test]
fn what_is_no_file_of_tensors() {
    check(
        vec![],
        expect![[r#"
        LOGOS-CKPT-02: a.safetensors: the file is too short for a header; expected: 8 bytes or more; found: 0 bytes
    "#]],
    );
    check(
        vec![1, 2, 3],
        expect![[r#"
        LOGOS-CKPT-02: a.safetensors: the file is too short for a header; expected: 8 bytes or more; found: 3 bytes
    "#]],
    );
    check(
        b"version https://git-lfs.github.com/spec/v1\n".to_vec(),
        expect![[r#"
        LOGOS-CKPT-02: a.safetensors: the file stands for another; expected: a safetensors file; found: a Git LFS pointer
    "#]],
    );
    check(
        u64::MAX.to_le_bytes().to_vec(),
        expect![[r#"
        LOGOS-CKPT-02: a.safetensors: the header is too long; expected: at most 100000000 bytes; found: 18446744073709551615 bytes
    "#]],
    );
    check(
        [&100_000_001u64.to_le_bytes()[..], b"{}"].concat(),
        expect![[r#"
        LOGOS-CKPT-02: a.safetensors: the header is too long; expected: at most 100000000 bytes; found: 100000001 bytes
    "#]],
    );
    header(
        "",
        0,
        expect![[r#"
        LOGOS-CKPT-02: a.safetensors: the header is no JSON object; expected: `{`; found: no byte
    "#]],
    );
    header(
        "[]",
        0,
        expect![[r#"
        LOGOS-CKPT-02: a.safetensors: the header is no JSON object; expected: `{`; found: byte 0x5b
    "#]],
    );
    header(
        "{\"a\":",
        0,
        expect![[r#"
        LOGOS-CKPT-02: tensor `a` of a.safetensors: the header does not parse; expected: an object of `dtype`, `shape` and `data_offsets` a tensor; found: EOF while parsing a value at line 1 column 5
    "#]],
    );
    header(
        "{} {}",
        0,
        expect![[r#"
        LOGOS-CKPT-02: a.safetensors: the header does not parse; expected: an object of `dtype`, `shape` and `data_offsets` a tensor; found: trailing characters at line 1 column 4
    "#]],
    );
    header(
        "{}",
        1,
        expect![[r#"
        LOGOS-CKPT-02: a.safetensors: bytes at its end belong to no tensor; expected: 10 bytes; found: 11 bytes
    "#]],
    );
    let mut cut = raw("{}", &[]);
    cut.pop();
    check(
        cut,
        expect![[r#"
        LOGOS-CKPT-02: a.safetensors: the file ends inside its header; expected: 8 bytes and a header of 2; found: a file of 9 bytes
    "#]],
    );
}

#[test]
fn tensors_that_contradict_themselves() {
    header(
        r#"{"a": {"dtype": "F33", "shape": [1], "data_offsets": [0, 4]}}"#,
        4,
        expect![[r#"
        LOGOS-CKPT-04: tensor `a` of a.safetensors: its dtype is not known; expected: a dtype of the format; found: F33
    "#]],
    );
    header(
        r#"{"a": {"dtype": "Q8_0", "shape": [32], "data_offsets": [0, 34]}}"#,
        34,
        expect![[r#"
        LOGOS-CKPT-04: tensor `a` of a.safetensors: its dtype is not known; expected: a dtype of the format; found: Q8_0
    "#]],
    );
    header(
        r#"{"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}}"#,
        4,
        expect![[r#"
        LOGOS-CKPT-02: tensor `a` of a.safetensors: its offsets do not match its shape; expected: 8 bytes for F32 [2]; found: offsets 0 to 4
    "#]],
    );
    header(
        r#"{"a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 0]}}"#,
        4,
        expect![[r#"
        LOGOS-CKPT-02: tensor `a` of a.safetensors: its offsets do not match its shape; expected: 4 bytes for F32 [1]; found: offsets 4 to 0
    "#]],
    );
    header(
        r#"{"a": {"dtype": "F4", "shape": [3], "data_offsets": [0, 2]}}"#,
        2,
        expect![[r#"
        LOGOS-CKPT-02: tensor `a` of a.safetensors: its shape has no size; expected: whole bytes of F4, fewer than 2^64; found: [3]
    "#]],
    );
    header(
        r#"{"a": {"dtype": "F32", "shape": [4294967296, 4294967296], "data_offsets": [0, 0]}}"#,
        0,
        expect![[r#"
        LOGOS-CKPT-02: tensor `a` of a.safetensors: its shape has no size; expected: whole bytes of F32, fewer than 2^64; found: [4294967296, 4294967296]
    "#]],
    );
    header(
        r#"{"a": {"dtype": "F32", "shape": [4611686018427387904], "data_offsets": [0, 0]}}"#,
        0,
        expect![[r#"
        LOGOS-CKPT-02: tensor `a` of a.safetensors: its shape has no size; expected: whole bytes of F32, fewer than 2^64; found: [4611686018427387904]
    "#]],
    );
    header(
        r#"{"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}}"#,
        4,
        expect![[r#"
        LOGOS-CKPT-02: tensor `a` of a.safetensors: the header does not parse; expected: an object of `dtype`, `shape` and `data_offsets` a tensor; found: invalid value: integer `-1`, expected u64 at line 1 column 35
    "#]],
    );
    header(
        r#"{"a": {"dtype": "F32", "shape": [1.0], "data_offsets": [0, 4]}}"#,
        4,
        expect![[r#"
        LOGOS-CKPT-02: tensor `a` of a.safetensors: the header does not parse; expected: an object of `dtype`, `shape` and `data_offsets` a tensor; found: invalid type: floating point `1.0`, expected u64 at line 1 column 36
    "#]],
    );
    header(
        r#"{"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4, 8]}}"#,
        4,
        expect![[r#"
        LOGOS-CKPT-02: tensor `a` of a.safetensors: the header does not parse; expected: an object of `dtype`, `shape` and `data_offsets` a tensor; found: trailing characters at line 1 column 61
    "#]],
    );
    header(
        r#"{"a": {"dtype": "F32", "shape": [1]}}"#,
        4,
        expect![[r#"
        LOGOS-CKPT-02: tensor `a` of a.safetensors: the header does not parse; expected: an object of `dtype`, `shape` and `data_offsets` a tensor; found: missing field `data_offsets` at line 1 column 36
    "#]],
    );
    header(
        r#"{"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4], "strides": [1]}}"#,
        4,
        expect![[r#"
        LOGOS-CKPT-02: tensor `a` of a.safetensors: the header does not parse; expected: an object of `dtype`, `shape` and `data_offsets` a tensor; found: unknown field `strides`, expected one of `dtype`, `shape`, `data_offsets` at line 1 column 70
    "#]],
    );
    header(
        r#"{"a": {"dtype": "U8", "shape": [0], "data_offsets": [18446744073709551615, 18446744073709551615]}}"#,
        0,
        expect![[r#"
            LOGOS-CKPT-02: tensor `a` of a.safetensors: its offsets are too large; expected: offsets inside the file; found: 18446744073709551615 to 18446744073709551615
        "#]],
    );
    header(
        r#"{"a": {"dtype": "U8", "shape": [1,1,1,1,1,1,1,1,1], "data_offsets": [0, 1]}}"#,
        1,
        expect![[r#"
        LOGOS-CKPT-02: tensor `a` of a.safetensors: it has too many axes; expected: at most 8; found: 9
    "#]],
    );
    header(
        r#"{"__metadata__": {"format": 1}}"#,
        0,
        expect![[r#"
        LOGOS-CKPT-02: tensor `__metadata__` of a.safetensors: the header does not parse; expected: an object of `dtype`, `shape` and `data_offsets` a tensor; found: invalid type: integer `1`, expected a string at line 1 column 29
    "#]],
    );
    header(
        r#"{"__metadata__": {}, "__metadata__": {}}"#,
        0,
        expect![[r#"
        LOGOS-CKPT-02: tensor `__metadata__` of a.safetensors: the header does not parse; expected: an object of `dtype`, `shape` and `data_offsets` a tensor; found: `__metadata__` is there twice at line 1 column 35
    "#]],
    );
}

#[test]
fn tensors_that_contradict_each_other() {
    let two = |a: [u64; 2], b: [u64; 2]| {
        let tensor = |[start, end]: [u64; 2]| serde_json::json!({"dtype": "U8", "shape": [end - start], "data_offsets": [start, end]});
        serde_json::json!({"a": tensor(a), "b": tensor(b)}).to_string()
    };
    header(
        &two([0, 4], [3, 8]),
        8,
        expect![[r#"
        LOGOS-CKPT-02: tensor `b` of a.safetensors: its bytes overlap those of `a`; expected: byte 117 or later; found: bytes 116 to 121
    "#]],
    );
    header(
        &two([4, 8], [0, 8]),
        8,
        expect![[r#"
        LOGOS-CKPT-02: tensor `a` of a.safetensors: its bytes overlap those of `b`; expected: byte 121 or later; found: bytes 117 to 121
    "#]],
    );
    header(
        &two([0, 4], [5, 8]),
        8,
        expect![[r#"
        LOGOS-CKPT-02: tensor `b` of a.safetensors: bytes before it belong to no tensor; expected: from byte 117 on; found: bytes 118 to 121
    "#]],
    );
    header(
        &two([1, 4], [4, 8]),
        8,
        expect![[r#"
        LOGOS-CKPT-02: tensor `a` of a.safetensors: bytes before it belong to no tensor; expected: from byte 113 on; found: bytes 114 to 117
    "#]],
    );
    header(
        &two([0, 4], [4, 8]),
        9,
        expect![[r#"
        LOGOS-CKPT-02: a.safetensors: bytes at its end belong to no tensor; expected: 121 bytes; found: 122 bytes
    "#]],
    );
    header(
        &two([0, 4], [4, 8]),
        7,
        expect![[r#"
        LOGOS-CKPT-02: tensor `b` of a.safetensors: its bytes end after the file does; expected: at most byte 120, the file's end; found: bytes 117 to 121
    "#]],
    );
    header(
        r#"{"a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}, "a": {"dtype": "U8", "shape": [1], "data_offsets": [1, 2]}}"#,
        2,
        expect![[r#"
            LOGOS-CKPT-02: tensor `a` of a.safetensors: its name is there twice; expected: one tensor; found: another in a.safetensors
        "#]],
    );
}

#[test]
fn what_is_quoted_is_cut() {
    let long = "x".repeat(1 << 20);
    for header in [
        format!(r#"{{"{long}": {{"dtype": "F33", "shape": [1], "data_offsets": [0, 4]}}}}"#),
        format!(r#"{{"a": {{"dtype": "{long}", "shape": [1], "data_offsets": [0, 4]}}}}"#),
        format!(r#"{{"a": {{"{long}": 1}}}}"#),
    ] {
        let refusal = Checkpoint::from_bytes("a.safetensors", raw(&header, &[])).unwrap_err();
        assert!(refusal.to_string().len() < 1000 && refusal.at.to_string().len() < 1000);
    }
}

#[test]
fn empty_tensors_and_padded_headers_are_sound() {
    let header = r#"{"a":{"dtype":"F32","shape":[0,7],"data_offsets":[0,0]},"b":{"dtype":"U8","shape":[],"data_offsets":[0,1]}}     "#;
    let checkpoint = Checkpoint::from_bytes("a.safetensors", raw(header, &[9])).unwrap();
    let names: Vec<_> = checkpoint.headers().tensors().iter().map(|tensor| tensor.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(checkpoint.bytes(checkpoint.headers().find("b").unwrap()), [9]);
    assert_eq!(Checkpoint::from_bytes("a.safetensors", raw("{}", &[])).unwrap().headers().tensors(), []);
}

/// Whatever is changed, the file is refused or everything in it can be read.
#[test]
fn damage_anywhere_is_refused_or_harmless() {
    let whole = file(&[
        floats("norm.weight", &[4], &[1.0, 2.0, 3.0, 4.0]),
        entry("q.weight", "BF16", &[2, 3], vec![1; 12]),
        entry("w.weight", "F8_E4M3", &[2, 3], vec![2; 6]),
        floats("w.weight_scale_inv", &[1, 1], &[1.0]),
        entry("e_blocks", "U8", &[1, 2, 1, 16], vec![3; 32]),
        entry("e_scales", "U8", &[1, 2, 1], vec![127; 2]),
    ]);
    super::fuzz(
        &whole,
        0x5eed,
        |bytes| Checkpoint::from_bytes("a.safetensors", bytes),
        &["norm.weight", "q.weight", "w.weight", "e"],
    );
}
