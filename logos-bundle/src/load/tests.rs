//! A small bundle's loads, and the bytes of tensors stored in each way.

use std::format;
use std::io::ErrorKind;
use std::string::ToString;
use std::vec;
use std::vec::Vec;

use super::spans::Taken;
use super::{Load, Mismatch, Order, Parts, Place, Ranges, ReadAt, Stored, loads};
use crate::testing::small;
use crate::view::{Bundle, Storage, Tier};

fn of<'a>(words: &'a [u32], chip: u32, value: &str) -> Load<'a> {
    let bundle = Bundle::read(words).unwrap();
    loads(bundle, chip).unwrap().find(|load| load.value() == value).unwrap()
}

fn pairs(ranges: &Ranges) -> Vec<(u64, u64)> {
    ranges.as_slice().iter().map(|range| (range.start, range.end)).collect()
}

#[test]
fn what_a_chip_loads() {
    let words = small();
    let bundle = Bundle::read(&words).unwrap();
    let query = of(&words, 1, "Wq3");
    assert_eq!(query.to_string(), "Wq3: layers.3.qkv.3.weight, rows 32..40, columns 0..64, transposed, kept as q8_0");
    assert_eq!((query.layer(), query.expert(), query.stacked(), query.chips()), (Some(3), None, None, 1));
    assert_eq!((query.tier(), query.bytes()), (Some(Tier::Hbm), 8 * 2 * 34));
    let out = of(&words, 3, "Wo3");
    assert_eq!(out.to_string(), "Wo3: layers.3.o.weight, rows 0..64, columns 24..32, transposed, kept as bf16");
    assert_eq!((out.tier(), out.storage(), out.bytes()), (Some(Tier::Ddr), Storage::Bf16, 8 * 64 * 2));
    assert!(loads(bundle, bundle.chips()).is_none());
    // Of each chip as many, and of the four together each index of the query's rows once.
    let rows: Vec<_> = (0..4).map(|chip| of(&words, chip, "Wq3").rows().to_string()).collect();
    assert_eq!(rows, ["16..24", "32..40", "48..56", "64..72"]);
}

/// B7: exactly the bytes of the slice, read one after another.
#[test]
fn bytes_of_a_slice() {
    let words = small();
    let stored = Stored::plain(vec![64, 32], 0, 100, 2);
    let file: Vec<u8> = (0..100 + 64 * 64).map(|i: u32| (i * 7 % 251) as u8).collect();
    for chip in 0..4u64 {
        let load = of(&words, chip as u32, "Wo3");
        let ranges = load.ranges(&stored).unwrap().remove(0);
        let rows = (0..64).map(|row| 100 + row * 64 + chip * 16);
        assert_eq!(pairs(&ranges), rows.clone().map(|at| (at, at + 16)).collect::<Vec<_>>());
        assert_eq!(ranges.count(), load.bytes());
        let expected: Vec<u8> = rows.flat_map(|at| file[at as usize..at as usize + 16].to_vec()).collect();
        assert_eq!(ranges.read_all(&[&file[..]][..], 0).unwrap(), expected);
    }
    // Rows of two blocks, eight of them together.
    let place = Place { file: 3, offset: 1000, block_elements: 32, block_bytes: 34 };
    let stored = Stored::of(vec![80, 64], Parts::Plain(place));
    let ranges = of(&words, 2, "Wq3").ranges(&stored).unwrap().remove(0);
    assert_eq!(pairs(&ranges), [(1000 + 48 * 68, 1000 + 56 * 68)]);
}

#[test]
fn axes_beyond_the_second_are_folded_and_others_are_refused() {
    let words = small();
    let load = of(&words, 0, "Wo3");
    let ranges = |shape: &[u64]| load.ranges(&Stored::plain(shape.to_vec(), 0, 0, 2));
    assert_eq!(ranges(&[64, 4, 8]), ranges(&[64, 32]));
    for shape in [&[32, 64][..], &[64, 33], &[2048], &[64, u64::MAX, u64::MAX], &[]] {
        let error = ranges(shape).unwrap_err();
        assert_eq!(error, Mismatch::Shape { expected: vec![64, 32], found: shape.to_vec() });
        let text = "the bundle was compiled for [64, 32], further axes folded into the last";
        assert_eq!(error.to_string(), format!("axes {shape:?}, {text}"));
    }
    let far = load.ranges(&Stored::plain(vec![64, 32], 0, u64::MAX - 100, 2)).unwrap_err();
    assert_eq!((&far, far.to_string().as_str()), (&Mismatch::Beyond, "its bytes lie beyond what 64 bits count"));
    // Orders of other axes than the tensor's, and of none.
    let order =
        |rows: Order, columns: Order| load.ranges(&Stored { rows, columns, ..Stored::plain(vec![64, 32], 0, 0, 2) });
    let [fits, long, huge] = [8, 12, 1 << 63].map(|half| Order::Interleaved { half });
    assert!(order(fits, fits).is_ok());
    for wrong in [long, huge, Order::Tiled { start: 2, run: 2, groups: 4, repeat: 4 }] {
        assert_eq!(order(wrong, fits), Err(Mismatch::Order { axis: 0 }));
        assert_eq!(order(fits, wrong), Err(Mismatch::Order { axis: 1 }));
    }
}

#[test]
fn files_that_are_short_or_not_there() {
    let mut ranges = Ranges::default();
    ranges.extend([2..4, 6..9]);
    let kind = |file: u32, bytes: &[u8], room: usize| {
        ranges.read(&[bytes][..], file, &mut vec![0; room]).map_err(|error| error.kind())
    };
    assert_eq!(kind(0, &[0; 9], 5), Ok(()));
    assert_eq!(kind(0, &[0; 8], 5), Err(ErrorKind::UnexpectedEof));
    assert_eq!(kind(1, &[0; 9], 5), Err(ErrorKind::NotFound));
    assert_eq!(kind(0, &[0; 9], 6), Err(ErrorKind::InvalidInput));
    let none: &[std::fs::File] = &[];
    assert_eq!(none.read_at(0, 0, &mut []).unwrap_err().kind(), ErrorKind::NotFound);
}

/// Element by element, where each value and each scale lies.
fn each(taken: &Taken<'_>, stored: &Stored) -> [Vec<u64>; 2] {
    let [mut values, mut scales] = [Vec::new(), Vec::new()];
    let width: u64 = stored.shape[1..].iter().product();
    for expert in taken.experts.clone().unwrap_or(0..1) {
        for row in taken.rows.iter().cloned().flatten() {
            for column in taken.columns.iter().cloned().flatten() {
                // The model's row and column, where experts are rows of one matrix each.
                let (r, c) = match &taken.experts {
                    Some(_) => (expert, row * taken.width + column),
                    None => (row, column),
                };
                let stored_row = stored.first_row + stored.rows.stored(r as usize).0 as u64;
                let at = stored_row * width + stored.columns.stored(c as usize).0 as u64;
                match stored.parts {
                    Parts::Plain(_) => values.push(at),
                    Parts::Scaled { block: [high, wide], .. } => {
                        values.push(at);
                        scales.push(stored_row / high * width.div_ceil(wide) + c / wide);
                    }
                    Parts::Mxfp4 { .. } => {
                        let (input, out) = (stored.shape[1], stored.shape[2]);
                        let line = expert * out + column;
                        values.push((line * input + row) / 2);
                        scales.push((line * input + row) / 32);
                    }
                }
            }
        }
    }
    [values, scales].map(|mut elements: Vec<u64>| {
        elements.sort_unstable();
        elements.dedup();
        elements
    })
}

#[test]
fn every_way_of_storing_element_by_element() {
    let byte = |offset| Place::elements(0, offset, 1);
    let scaled = Parts::Scaled { values: byte(0), scales: byte(0), block: [4, 6] };
    let mxfp4 = Parts::Mxfp4 { blocks: byte(0), scales: byte(0) };
    let plain = Parts::Plain(byte(0));
    let turned = Order::Interleaved { half: 3 };
    let tiled = Order::Tiled { start: 2, run: 2, groups: 2, repeat: 3 };
    let (few, all): (&[_], &[_]) = (&[1..3, 5..9], &[0..7, 7..14]);
    let as_stored = |shape: &[u64], parts| Stored::of(shape.to_vec(), parts);
    let cases = [
        (as_stored(&[14, 14], plain), None, 14),
        (Stored { first_row: 14, rows: turned, ..as_stored(&[12, 14], plain) }, None, 14),
        (Stored { columns: tiled, ..as_stored(&[14, 14], plain) }, None, 14),
        (as_stored(&[14, 2, 7], plain), None, 14),
        (as_stored(&[3, 14, 14], plain), Some(0..3), 14),
        (as_stored(&[5, 14, 14], plain), Some(2..4), 14),
        (as_stored(&[14, 14], scaled), None, 14),
        (as_stored(&[2, 64, 14], mxfp4), Some(0..2), 14),
        (as_stored(&[4, 64, 14], mxfp4), Some(1..3), 14),
    ];
    for (stored, experts, width) in cases {
        let rows = if stored.rows == turned { &[1..3, 5..9][..] } else { few };
        let mxfp4_rows: &[_] = &[3..35, 40..64];
        let rows = if matches!(stored.parts, Parts::Mxfp4 { .. }) { mxfp4_rows } else { rows };
        for (rows, columns) in [(rows, few), (rows, all), (all, few), (few, all)] {
            if stored.rows == turned && rows == all {
                continue;
            }
            let taken = Taken { experts: experts.clone(), rows, columns, width };
            let ranges = taken.ranges(&stored).unwrap();
            let expected = each(&taken, &stored);
            for (part, expected) in ranges.iter().zip(&expected) {
                let found: Vec<u64> = part.as_slice().iter().cloned().flatten().collect();
                assert_eq!(&found, expected, "{stored:?} {rows:?} {columns:?}");
            }
        }
    }
}
