//! Tables that pass, and what each rule says of tables that do not.

mod damage;
mod hand;
mod padding;
mod programs;
mod writer;

use std::vec;
use std::vec::Vec;

use super::ledger::Ledger;
use super::{Fault, all, frame, place};
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

/// The box of every run of sites on meshes whose strips are whole, cut off at the last, or higher than the mesh.
#[test]
fn areas_are_what_the_sites_one_by_one_cover() {
    let words = lay(&silu().parts(), 60);
    let mut ledger = Ledger::new();
    let mut chip = frame::frame(&words, &mut ledger).expect("a frame").chip;
    for (columns, rows, strip) in [(3, 4, 2), (3, 5, 2), (4, 3, 3), (2, 3, 5), (1, 6, 4), (5, 1, 1)] {
        let mut sites = vec![];
        for top in (0..rows).step_by(strip as usize) {
            for x in 0..columns {
                sites.extend((top..rows.min(top + strip)).map(|y| (x, y)));
            }
        }
        (chip.columns, chip.rows, chip.sites) = (columns, rows, columns * rows);
        (chip.strip, chip.below) = (strip as u64, strip - 1);
        chip.strip_sites = (columns * strip) as u64;
        for first in 0..sites.len() {
            for end in first + 1..=sites.len() {
                let run = &sites[first..end];
                let one_strip = run.iter().all(|s| s.1 / strip == run[0].1 / strip);
                let (left, right) = if one_strip { (run[0].0, run[run.len() - 1].0) } else { (0, columns - 1) };
                let (top, bottom) = (run[0].1 / strip * strip, run[run.len() - 1].1 / strip * strip + strip - 1);
                let a = place::area(&chip, first as i128, (end - first) as i128);
                let found = (a.left, a.right, a.top, a.bottom);
                assert_eq!(found, (left, right, top, bottom.min(rows - 1)), "{columns} {rows} {strip}: {first}..{end}");
            }
        }
    }
    assert!(ledger.faults.iter().all(Option::is_none));
}
