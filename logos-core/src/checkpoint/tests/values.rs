//! Values as they are stored, and from anywhere.

use std::ops::Range;

use super::super::TensorRead;
use super::{entry, floats, open};

/// Every range of every row gives what all values have there.
#[track_caller]
fn reads(tensor: &dyn TensorRead, expected: &[f32]) {
    assert_eq!(&*tensor.values(), expected);
    let columns = tensor.columns();
    assert_eq!(tensor.rows() * columns, expected.len());
    for (row, expected) in expected.chunks_exact(columns).enumerate() {
        for Range { start, end } in (0..columns).flat_map(|start| (start..=columns).map(move |end| start..end)) {
            let mut out = vec![f32::NAN; end - start];
            tensor.read(row, start..end, &mut out);
            assert_eq!(out, expected[start..end], "row {row}, columns {start} to {end}");
            if let Some(stored) = tensor.bf16(row, start..end) {
                let widened = |bits: &[u8; 2]| f32::from_bits(u32::from(u16::from_le_bytes(*bits)) << 16);
                assert_eq!(stored.iter().map(widened).collect::<Vec<_>>(), expected[start..end]);
            }
        }
    }
}

const VALUES: [f32; 6] = [1.0, -2.0, 0.5, 0.0, 448.0, -0.015_625];

#[test]
fn floats_of_each_width_are_exact() {
    let halves = [0x3c00u16, 0xc000, 0x3800, 0x0000, 0x5f00, 0xa400];
    let brains = VALUES.map(|value| (value.to_bits() >> 16) as u16);
    let bytes = |values: [u16; 6]| values.into_iter().flat_map(u16::to_le_bytes).collect();
    let checkpoint = open(&[
        floats("f32", &[2, 3], &VALUES),
        entry("f16", "F16", &[2, 3], bytes(halves)),
        entry("bf16", "BF16", &[3, 1, 2], bytes(brains)),
        entry("vector", "BF16", &[6], bytes(brains)),
        entry("scalar", "BF16", &[], vec![0x80, 0x3f]),
    ]);
    for name in ["f32", "f16", "bf16", "vector"] {
        reads(&checkpoint.tensor(name).unwrap().unwrap(), &VALUES);
    }
    let lies_as_bf16 = |name: &str| checkpoint.tensor(name).unwrap().unwrap().bf16(1, 0..1).is_some();
    assert_eq!(["f32", "f16", "bf16", "vector"].map(lies_as_bf16), [false, false, true, true]);
    assert_eq!(checkpoint.tensor("bf16").unwrap().unwrap().shape(), [3, 1, 2]);
    reads(&checkpoint.tensor("scalar").unwrap().unwrap(), &[1.0]);
    assert!(checkpoint.tensor("none").unwrap().is_none());
}

#[test]
fn aligned_floats_are_not_copied() {
    // The same tensor after headers of every length: of eight files, those with whole words before the data are used as they lie.
    let mut mapped = 0;
    for padding in 0..8 {
        let header = format!(r#"{{"a":{{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}}}{}"#, " ".repeat(padding));
        let data: Vec<u8> = VALUES.iter().flat_map(|value| value.to_le_bytes()).collect();
        let checkpoint = super::Checkpoint::from_bytes("a.safetensors", super::raw(&header, &data)).unwrap();
        let bytes = checkpoint.bytes(checkpoint.headers().find("a").unwrap());
        let tensor = checkpoint.tensor("a").unwrap().unwrap();
        let aligned = bytes.as_ptr().addr().is_multiple_of(4) && cfg!(target_endian = "little");
        assert_eq!(tensor.floats().map(|floats| floats.as_ptr().addr()), aligned.then(|| bytes.as_ptr().addr()));
        mapped += usize::from(aligned);
        reads(&tensor, &VALUES);
    }
    assert_eq!(mapped, if cfg!(target_endian = "little") { 2 } else { 0 });
}

#[test]
fn blocks_of_fp8_have_their_scales() {
    // 130 by 129: two blocks each way, the second ones of 2 rows and 1 column.
    let (rows, columns) = (130usize, 129usize);
    let stored: Vec<u8> = (0..rows * columns).map(|at| [0x38, 0x40, 0xb8][at % 3]).collect();
    let scales = [1.0f32, 0.5, 0.25, 8.0];
    let expected: Vec<f32> = (0..rows * columns)
        .map(|at| [1.0, 2.0, -1.0][at % 3] * scales[at / columns / 128 * 2 + at % columns / 128])
        .collect();
    let shape = [rows as u64, columns as u64];
    let checkpoint = open(&[
        entry("a.weight", "F8_E4M3", &shape, stored.clone()),
        floats("a.weight_scale_inv", &[2, 2], &scales),
        entry("b.weight", "F8_E4M3", &shape, stored),
        floats("b.weight_scale", &[130, 1], &(0..130).map(|row| scales[row % 4]).collect::<Vec<_>>()),
    ]);
    let tensor = checkpoint.tensor("a.weight").unwrap().unwrap();
    assert_eq!(tensor.floats(), None);
    assert_eq!(&*tensor.values(), expected);
    let mut out = [0.0; 3];
    tensor.read(129, 126..129, &mut out);
    assert_eq!(out, expected[129 * columns + 126..][..3]);
    let tensor = checkpoint.tensor("b.weight").unwrap().unwrap();
    let by_row: Vec<f32> = (0..rows * columns).map(|at| [1.0, 2.0, -1.0][at % 3] * scales[at / columns % 4]).collect();
    assert_eq!(&*tensor.values(), by_row);
}

#[test]
fn mxfp4_is_the_transpose_of_its_blocks() {
    // Two experts of three outputs and 64 inputs: nibble and scale say which element it is.
    let (experts, outs, input) = (2, 3, 64);
    let nibble = |e: usize, o: usize, i: usize| (e + o * 5 + i) as u8 % 16;
    let scale = |e: usize, o: usize, group: usize| 120 + (e * 7 + o * 2 + group) as u8;
    let (mut blocks, mut scales) = (Vec::new(), Vec::new());
    for (e, o) in (0..experts).flat_map(|e| (0..outs).map(move |o| (e, o))) {
        blocks.extend((0..input / 2).map(|j| nibble(e, o, 2 * j) | nibble(e, o, 2 * j + 1) << 4));
        scales.extend((0..input / 32).map(|group| scale(e, o, group)));
    }
    let mut expected = Vec::new();
    for (e, i, o) in (0..experts).flat_map(|e| (0..input).flat_map(move |i| (0..outs).map(move |o| (e, i, o)))) {
        let values = [0.0f32, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];
        let code = usize::from(nibble(e, o, i));
        let value = values[code % 8] * 2f32.powi(i32::from(scale(e, o, i / 32)) - 127);
        expected.push(if code < 8 { value } else { -value });
    }
    let checkpoint = open(&[
        entry("x.down_proj_blocks", "U8", &[2, 3, 2, 16], blocks),
        entry("x.down_proj_scales", "U8", &[2, 3, 2], scales),
    ]);
    let tensor = checkpoint.tensor("x.down_proj").unwrap().unwrap();
    assert_eq!(tensor.shape(), [2, 64, 3]);
    reads(&tensor, &expected);
}

#[test]
fn the_first_value_that_is_none_is_found() {
    let bad = [1.0, 2.0, f32::NAN, f32::INFINITY, 0.0, 0.0];
    let brains = bad.iter().flat_map(|value| ((value.to_bits() >> 16) as u16).to_le_bytes()).collect();
    let checkpoint =
        open(&[floats("a", &[3, 2], &bad), entry("b", "BF16", &[2, 3], brains), floats("c", &[1], &[1.0])]);
    let found =
        |name: &str| checkpoint.tensor(name).unwrap().unwrap().not_finite().map(|(at, value)| (at, value.is_nan()));
    assert_eq!(found("a"), Some(([1, 0], true)));
    assert_eq!(found("b"), Some(([0, 2], true)));
    assert_eq!(found("c"), None);
}
