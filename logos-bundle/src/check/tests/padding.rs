//! A vocabulary padded to lie over the chips: zeros that nothing reads.

use super::programs::decode;
use super::writer::{Parts, lay};
use super::{all, bounded};
use crate::table::layout::op;

/// The statement row of an operation, and the binding row of its operand.
fn places(parts: &Parts, code: u32, operand: usize) -> (usize, usize) {
    let statement = parts[5].iter().position(|s| s[0] == code).expect("a statement");
    let program = *parts[2].iter().find(|p| (p[8]..p[8] + p[9]).contains(&(statement as u32))).expect("its program");
    let (first, count) = (program[12] as usize, program[13] as usize);
    let value = parts[5][statement][2 + operand];
    let binding = parts[10][first..first + count].iter().position(|b| b[0] == value).expect("a binding");
    (statement, first + binding)
}

/// 100 tokens as 128 rows of an embedding of 96 columns; and 150 as 192 columns of a head, which are one vocabulary only to people.
fn padded() -> (Parts, usize, usize, usize) {
    let mut parts = bounded(&decode());
    let (_, table) = places(&parts, op::ROWS, 0);
    let argmax = parts[5].iter().position(|s| s[0] == op::ARGMAX).expect("an argmax");
    let head = parts[5].iter().rposition(|s| s[0] == op::MATMUL).expect("the head's product");
    let program = parts[2].iter().find(|p| p[4] == 2).expect("a head");
    let w = (program[12] as usize..).find(|&b| parts[10][b][0] == parts[5][head][3]).expect("its weight");
    parts[10][table][5..12].copy_from_slice(&[0, 0, 100, 100, 1, 100, 96]);
    parts[10][table][15] = 28;
    parts[10][w][6..12].copy_from_slice(&[0, 150, 150, 1, 150, 96]);
    parts[10][w][15] = 42;
    parts[5][argmax][10] = 150;
    (parts, table, argmax, w)
}

#[test]
fn zeros_are_where_nothing_reads_them() {
    let (parts, table, argmax, w) = padded();
    let v = all(&lay(&parts, 60));
    assert!(v.hold(), "{:?}", v.first_fault());

    let softcap = argmax - 1;
    assert_eq!(parts[5][softcap][0], op::SOFTCAP);
    type Damage<'a> = &'a dyn Fn(&mut Parts);
    let cases: [(usize, &str, Damage<'_>); 12] = [
        (0, "more zeros than any value has", &|p| p[10][table][15] = 1 << 22),
        (2, "an argmax of no column less", &|p| p[5][argmax][10] = 192),
        (11, "padding that the argmax chooses from", &|p| p[5][argmax][10] = 0),
        (11, "one column of padding that it chooses from", &|p| p[5][argmax][10] = 151),
        (11, "a token that it never chooses", &|p| p[5][argmax][10] = 149),
        (11, "a row of the table padded and stored", &|p| p[10][table][15] = 29),
        (11, "a row neither stored nor padded", &|p| p[10][w][15] = 41),
        (11, "columns of an embedding", &|p| p[10][table][5] = 1),
        (11, "a stack of experts that is padded", &|p| p[10][w][14] = 1),
        (11, "padding that is mixed with what is stored", &|p| (p[5][softcap][0], p[5][softcap][10]) = (op::TANH, 0)),
        (11, "tokens left out where none is padded", &|p| {
            p[10][w][6..12].copy_from_slice(&[0, 192, 192, 1, 192, 96]);
            p[10][w][15] = 0;
        }),
        (11, "padding in a layer", &|p| {
            let program = p[2].iter().find(|program| program[4] == 1).expect("a layer");
            let b = (program[12] as usize..).find(|&b| p[10][b][12] == 0).expect("a weight");
            p[10][b][15] = 1;
        }),
    ];
    for (rule, name, damage) in cases {
        let mut bad = parts.clone();
        damage(&mut bad);
        let v = all(&lay(&bad, 60));
        assert!(v.faults[rule].is_some(), "{name}: rule {rule} accepts; {:?}", v.first_fault());
    }
}
