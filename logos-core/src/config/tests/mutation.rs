//! Damaged configs: whatever the bytes, a specification whose inventory can be taken or a refusal with a place.

use crate::spec::inventory;
use crate::{At, Code};

use super::fixture;

/// A small deterministic generator (xorshift64*), so that a failure names its case.
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % below
    }
}

/// Bits of JSON that are likely to be taken for something.
const PIECES: &[&[u8]] = &[
    b"null",
    b"-1",
    b"0",
    b"1e400",
    b"4294967295",
    b"4294967296",
    b"18446744073709551616",
    b"0.5",
    b"\"64\"",
    b"[]",
    b"{}",
    b"true",
    b"[[[[",
    b"{\"a\":",
    b"\xff",
    b"\\u0000",
    b",",
    b"}",
    b"NaN",
    b"1e-320",
];

fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.next(3) {
        let at = random.next(bytes.len().max(1));
        match random.next(6) {
            0 if !bytes.is_empty() => bytes[at] = random.next(256) as u8,
            1 => bytes.truncate(at),
            2 => {
                let to = (at + random.next(40)).min(bytes.len());
                bytes.drain(at..to);
            }
            3 => {
                let piece = PIECES[random.next(PIECES.len())];
                bytes.splice(at..at, piece.iter().copied());
            }
            // A number or word after a colon replaced: still JSON, most times.
            4 | 5 => {
                let Some(colon) = bytes[at..].iter().position(|&b| b == b':').map(|i| at + i + 1) else { continue };
                let length = bytes[colon..].iter().position(|b| matches!(b, b',' | b'}' | b'\n')).unwrap_or(0);
                let piece = PIECES[random.next(PIECES.len())];
                bytes.splice(colon..colon + length, piece.iter().copied());
            }
            _ => {}
        }
    }
}

#[test]
fn damaged_configs_are_read_or_refused() {
    let published: &[&str] = &[
        "llama-3.1-8b",
        "mistral-7b-v0.1",
        "qwen2-7b-instruct",
        "qwen3-0.6b",
        "qwen3.5-27b",
        "command-r-v01",
        "deepseek-v2-lite",
        "deepseek-v3",
        "falcon-40b",
        "falcon-7b-instruct",
        "gemma-2-9b-it",
        "glm-4.5",
        "gpt-oss-20b",
        "llama-4-scout-17b-16e-instruct",
        "medgemma-27b-it",
        "minimax-m2.7",
        "mixtral-8x7b-v0.1",
        "qwen3-30b-a3b",
        "qwen3-next-80b-a3b-thinking",
        "qwen3.6-35b-a3b",
        "starcoder2-15b",
    ];
    let tiny = ["glm4", "gpt_neox", "granite", "llama4", "olmo2", "phi", "phi3_longrope", "smollm3"];
    let configs = published.iter().map(|slug| (*slug).to_owned()).chain(tiny.map(|slug| format!("tiny/{slug}")));
    let (mut read, mut syntax, mut other) = (0, 0, 0);
    for (seed, slug) in (1..).zip(configs) {
        let original = super::config(&slug);
        let mut random = Random(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
        for case in 0..250 {
            let mut bytes = original.clone();
            damage(&mut bytes, &mut random);
            match super::super::read(&bytes) {
                Ok(spec) => {
                    read += 1;
                    let stock = inventory(&spec).unwrap_or_else(|refusal| panic!("{slug} {case}: {refusal}"));
                    // The first of tens of thousands: each layer's shapes are the same.
                    let mut first = stock.iter().take(500);
                    assert!(stock.params > 0 && first.all(|stored| !stored.shape.contains(&0)), "{slug} {case}");
                }
                Err(refusals) => {
                    assert!(!refusals.is_empty(), "{slug} {case}: refused without a word");
                    for refusal in refusals {
                        assert!(matches!(refusal.at, At::Model | At::ConfigKey(_)), "{slug} {case}: {refusal:?}");
                        if refusal.code == Code::ConfigSyntax { syntax += 1 } else { other += 1 }
                    }
                }
            }
        }
    }
    // All three ways are taken often, or the damage is not what it should be.
    assert!(read > 100 && syntax > 100 && other > 100, "{read} read, {syntax} no JSON, {other} refused");
}

#[test]
fn a_config_cut_anywhere_is_refused() {
    let whole = fixture("configs/qwen3-0.6b/config.json");
    let end = whole.iter().rposition(|&b| b == b'}').unwrap();
    for length in 0..end {
        let refusals = super::super::read(&whole[..length]).unwrap_err();
        assert_eq!((refusals.len(), refusals[0].code), (1, Code::ConfigSyntax), "cut at {length}");
    }
}

#[test]
fn many_wrong_keys_make_few_refusals() {
    let mut bytes = b"{\"model_type\":\"llama\"".to_vec();
    for i in 0..60_000 {
        bytes.extend_from_slice(format!(",\"key_number_{i}\":1,\"key_number_{i}\":2").as_bytes());
    }
    bytes.push(b'}');
    assert_eq!(super::super::read(&bytes).unwrap_err().len(), 16);
    let mut bytes = b"{\"model_type\":\"llama\"".to_vec();
    for i in 0..60_000 {
        bytes.extend_from_slice(format!(",\"key_number_{i}\":1").as_bytes());
    }
    bytes.push(b'}');
    let refusals = super::super::read(&bytes).unwrap_err();
    assert!(refusals.len() < 32, "{}", refusals.len());
    assert_eq!(refusals.last().unwrap().message, "59984 more keys are not known either");
}
