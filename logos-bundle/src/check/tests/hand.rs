//! One table reckoned by hand from RULES.md, without the checker's own view of it: `y = silu of x`, then `show y`.
//!
//! `x` is 4 by 160 in bf16, tiles of 64 columns: three, the last ragged. Chip: 16 lanes, chains of 6, depth 6, tree 3,
//! scratchpad 64 bytes a cycle, 8 ports of SRAM, inject 2, hop 1, strips of 8 rows on a mesh of 36 columns.
//!
//! - Load of x: 3 firings of `4 * 64 * 2 = 512` bytes, II `512 / (64 * 8) = 1`, site 0: column 0, rows 0 to 7.
//! - silu: `A = 4 * 64 / 16 = 16` units on 2 cells, 8 each, 4 operations in one pass: II 8, but each firing takes and gives
//!   512 bytes at `2 * 64` a cycle: 4. Sites 1 and 2: the same column and strip.
//! - Store of y: like the load. Site 3, the same column.
//! - Every way: the bounding boxes are 1 column by 8 rows, so the largest distance is 7 and hops are `2 + 7 = 9`.
//! - `L(load, silu) = 1 + 6 + 0 + 0 + 2 + 9 = 18`; `L(silu, store) = 8 + 6 + 0 + 2 + 9 = 25` (one cell over B: no tree).
//!   `L(store, load) = 1 + 6 + 2 + 9 = 18`.
//! - Starts: load 0; silu 18; store: first token at 43, third at 59, so from 43 with period 8, or with period 1 from 57
//!   (its third firing at 59 takes the last token). Span `59 + 1 - 0 = 60`.
//! - Memory bound 0, stage bound `3 * 8 = 24`. Loop bound: first to first `18 + 25 + 18 = 61`, last to last the same. So
//!   `B = 61`, the loop binds. In this schedule the input's token 0 at 0 waits for its result's at 57: `H = 57 + 18 = 75`.

use super::writer::{Parts, Row, chip, lay};
use crate::check::{Fault, all};
use crate::table::layout::{NONE, PARTS};

const NO: u32 = NONE;

/// The table of the module's documentation.
pub(super) fn table() -> Parts {
    let mut parts: Parts = std::vec![std::vec![]; PARTS];
    parts[0] = std::vec![[0, 5, 0, 1, 1, 4, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0], [0; 16]];
    parts[1] = chip().to_vec();
    parts[2] = std::vec![[0, 5, 0, 5, 1, 1, 0, 2, 0, 3, 0, 1, 0, 1, 4, 0]];
    parts[3] = std::vec![[0, 4, 1, 0, 3, 0, 2, 0, 0, 75, 0, 60, 0, 3, 61, 0]];
    let x: Row = [0, 1, 0, 2, 1, 4, 160, 0, 1, 64, 0, 0, NO, 0, 0, 0];
    let y: Row = [1, 1, 4, 2, 1, 4, 160, 0, 1, 64, 0, 1, NO, 0, 0, 0];
    parts[4] = std::vec![x, y];
    parts[5] = std::vec![
        [1, 0, NO, NO, NO, NO, NO, NO, NO, NO, 0, 0, 0, 0, 0, 0],
        [20, 1, 0, NO, NO, NO, NO, NO, NO, NO, 0, 0, 0, 0, 0, 0],
        [2, 1, NO, NO, NO, NO, NO, NO, NO, NO, 0, 0, 0, 0, 0, 0],
    ];
    parts[6] = std::vec![
        [0, 0, 0, 3, 1, 1, 0, NO, 0, 0, 1, 0, 1, 0, 512, 0],
        [1, 1, 4, 3, 2, 1, 1, NO, 18, 0, 8, 0, 8, 0, 0, 0],
        [2, 0, 1, 3, 1, 1, 3, NO, 57, 0, 1, 0, 1, 0, 512, 0],
    ];
    // Two slots suffice before silu: token k + 2 arrives at k + 2 at the latest when H apart. Three are plain to see.
    parts[7] = std::vec![
        [0, 1, 0, 0, 1, 1, 0, 3, 512, 0, 0, 0, 0, 0, 0, 0],
        [1, 2, 0, 0, 1, 1, 0, 3, 512, 1536, 1, 0, 0, 0, 0, 0],
    ];
    parts[10] = std::vec![[0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0]];
    parts[11] = std::vec![[0; 16]];
    parts[12] = std::vec![[0; 16]];
    parts[13] = std::vec![[0x6161_6161; 16]];
    parts
}

fn fault(rule: usize, part: usize, row: usize, word: usize, n: u32) -> Fault {
    let mut parts = table();
    parts[part][row][word] = n;
    all(&lay(&parts, 60)).faults[rule].unwrap_or_else(|| panic!("rule {rule} says nothing of {n} in word {word}"))
}

#[test]
fn the_table_by_hand_holds() {
    let v = all(&lay(&table(), 60));
    assert!(v.hold(), "{:?}", v.first_fault());
}

#[test]
fn numbers_by_hand_are_the_ones_derived() {
    // Rule; part, row and word to change; a wrong number; what the rule expects instead.
    for (rule, part, row, word, wrong, expected) in [
        (3, 6, 0, 3, 2, 3),       // firings of the load
        (2, 6, 0, 14, 513, 512),  // bytes of its token
        (3, 6, 1, 4, 9, 8),       // 16 units on 9 cells are 2 a cell: 8 cells
        (6, 6, 1, 12, 7, 8),      // initiation interval of silu
        (6, 6, 2, 8, 56, 16),     // silu's third token starts 16 after its first; 56 + 2 - 18 - 25 = 15
        (6, 3, 0, 9, 74, 75),     // interval of the loop
        (6, 3, 0, 11, 59, 60),    // span
        (8, 3, 0, 14, 60, 61),    // bound
        (8, 3, 0, 13, 1, 3),      // binder
        (5, 7, 0, 4, 2, 1),       // tokens out
        (9, 7, 1, 8, 511, 512),   // slot
        (9, 7, 1, 9, 1472, 1536), // overlaps the buffer before
        (9, 6, 1, 6, 0, 1),       // overlaps the load's site
        (4, 7, 1, 0, 0, 1),       // producer
        (1, 6, 1, 2, 5, 4),       // primitive
        (11, 4, 1, 8, 2, 1),      // parts of a whole value
    ] {
        let f = fault(rule, part, row, word, wrong);
        assert_eq!((f.rule as usize, f.expected), (rule, expected), "{f:?}");
    }
}

#[test]
fn a_slot_too_few_is_one_too_few() {
    // Before silu: firing 2 of the load starts at 2 and reuses, of two slots, the one silu's firing 0 releases at
    // 18 + 8 + 2 + 9 = 37. It is too early; with three, the next layer's firing 0 at 75 needs that.
    let f = fault(7, 7, 0, 7, 2);
    assert_eq!(f.what, "cycles (times tokens) of room for the first firing that waits, at least");
}
