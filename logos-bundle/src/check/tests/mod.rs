//! Tables that pass, and what each rule says of tables that do not.

mod damage;
mod hand;
mod programs;
mod writer;

use std::vec::Vec;

use super::{Fault, all};
use programs::{decode, forward, prefill, silu};
use writer::{Model, Parts, lay};

/// A model's table with the bounds the checker derives (in `hand` they are written out).
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
        let v = all(&lay(&bounded(&model), 60));
        assert!(v.hold(), "{name}: {:?}", v.faults.iter().flatten().collect::<Vec<&Fault>>());
        for (rule, &n) in v.obligations.iter().enumerate() {
            assert!(n > 0, "{name}: rule {rule} compared nothing");
        }
    }
}
