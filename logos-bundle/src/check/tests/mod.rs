//! Tables that pass, and what each rule says of tables that do not.

mod programs;
mod writer;

use std::println;
use std::vec::Vec;

use super::{Fault, Verdicts, all};
use programs::{decode, forward, prefill, silu};
use writer::{Model, Parts, lay, seal};

/// Takes the bounds from the checker (rule 8 derives them; a table by hand has them written out).
fn bounded(model: &Model) -> Parts {
    let mut parts = model.parts();
    for _ in 0..2 * parts[3].len() + 1 {
        let Some(f) = all(&lay(&parts, 60)).faults[8] else { break };
        let row = &mut parts[3][f.row as usize];
        match f.what {
            "bound on the interval" => (row[14], row[15]) = (f.expected as u32, (f.expected >> 32) as u32),
            "what binds" => row[13] = f.expected as u32,
            _ => break,
        }
    }
    parts
}

#[test]
fn written_tables_pass() {
    for (name, model) in [("silu", silu()), ("decode", decode()), ("prefill", prefill()), ("forward", forward())] {
        let parts = bounded(&model);
        let v = all(&lay(&parts, 60));
        println!("{name}: {:?} obligations over {} rows", v.obligations, parts.iter().map(Vec::len).sum::<usize>());
        assert!(v.hold(), "{name}: {:?}", v.faults.iter().flatten().collect::<Vec<&Fault>>());
    }
}

#[test]
fn survivors() {
    let names = [
        "dep", "chip", "prog", "sect", "val", "stmt", "stage", "edge", "turn", "rope", "bind", "layer", "digest", "str",
    ];
    for (name, model) in [("decode", decode()), ("prefill", prefill())] {
        let parts = bounded(&model);
        let mut seen = std::collections::BTreeMap::new();
        for p in 0..12 {
            for r in 0..parts[p].len() {
                for w in 0..16 {
                    for change in [1u32, u32::MAX, 0x8000_0000, 7] {
                        let mut m = parts.clone();
                        m[p][r][w] = m[p][r][w].wrapping_add(change);
                        let v = all(&lay(&m, 60));
                        if v.hold() {
                            *seen.entry((p, w, change)).or_insert(0) += 1;
                        }
                    }
                }
            }
        }
        for ((p, w, c), n) in seen {
            println!("{name} {} word {w} {c:x}: {n} of {}", names[p], parts[p].len());
        }
    }
}
