//! A compiled bundle agrees with its text and chip; each kind of difference is found and told.

use expect_test::{Expect, expect};
use logos_bundle::table::layout::{
    Part, chip, digest as digest_row, header, op, program as program_row, rope, statement, value,
};

use super::*;
use crate::{DeploymentRequest, Form, Request, Vocabulary, Weights, compile};

fn words() -> Vec<u32> {
    let file = format!("{}/../tests/fixtures/tiny/llama3_tied/config.json", env!("CARGO_MANIFEST_DIR"));
    let deployments = [DeploymentRequest::new("D", Form::Decode { ctx: 64, batch: 2 }, Some(2))];
    let config = std::fs::read(file).unwrap();
    let request = Request {
        model: "tiny",
        config: &config,
        chip: "SN50".into(),
        weights: Weights::Config,
        checkpoint: None,
        vocabulary: Vocabulary::Exact,
        deployments: &deployments,
    };
    compile(&request).unwrap().remove(0).words
}

fn first_row(words: &[u32], part: Part) -> usize {
    words[header::DIRECTORY + 2 * part as usize] as usize * ROW
}

/// The word of the first row of a part for which `word` holds `code`.
fn row_with(words: &[u32], part: Part, word: usize, code: u32) -> usize {
    (first_row(words, part)..).step_by(ROW).find(|&row| words[row + word] == code).unwrap()
}

fn check(change: impl FnOnce(&mut Vec<u32>), expect: Expect) {
    let mut words = words();
    change(&mut words);
    let found = verify(&words).expect_err("a difference");
    let lines: Vec<String> = found.iter().map(ToString::to_string).collect();
    expect.assert_eq(&lines.join("\n"));
}

#[test]
fn the_compilers_own_bundle_agrees() {
    assert_eq!(verify(&words()), Ok(()));
}

#[test]
fn an_attribute_that_the_rules_cannot_know() {
    check(
        |words| {
            let row = row_with(words, Part::Statements, statement::OP, op::RMSNORM);
            words[row + statement::ATTRIBUTES] = 2e-5f32.to_bits();
        },
        expect![
            "program 1, eps of `xn0 = rmsnorm(x, an0), eps 2e-5, offset 0.0, heads 0, over chips 0`: the text has 1e-5 (0x3727c5ac), the table 2e-5 (0x37a7c5ac)"
        ],
    );
}

#[test]
fn another_operation_of_the_same_form() {
    check(
        |words| {
            let row = row_with(words, Part::Statements, statement::OP, op::PLUS);
            words[row + statement::OP] = op::TIMES;
        },
        expect!["program 1, word 0 of `h0 = times(x, o0)`: the text has 17, the table 18"],
    );
}

#[test]
fn a_recipe() {
    check(
        |words| {
            let row = first_row(words, Part::Ropes);
            words[row + rope::PARAMETERS] = 4f32.to_bits();
        },
        expect![
            "program 1, recipe of `cos`: the text has cosines theta 500000, rotary 16, Llama3 { factor: 8.0, low: 1.0, high: 4.0, original: 24 }, the table cos theta 500000, rotary 16, scaling llama3"
        ],
    );
}

#[test]
fn a_value() {
    check(
        |words| {
            let row = row_with(words, Part::Values, value::ROLE, 4);
            words[row + value::COLS] = 49;
        },
        expect!["program 0, shape of `xe`: the text has 2 x 48, the table 2 x 49"],
    );
}

#[test]
fn the_text() {
    check(
        |words| {
            let row = first_row(words, Part::Programs);
            words[row + program_row::TEXT + 1] -= 2;
        },
        expect![[r#"
            the text of program 0 has SHA-256 c377120af5d101b58809d282baa1a51cac2c2b6f398726b46da21e5996ce55e2, its digest row says da88b7df5f2fcee298112edff1de6b7316b82d2c5d31b292ba0941910e15e9d2
            the text of program 0 does not read: s2 (`x`): expected `.`, found the end of the text"#]],
    );
}

#[test]
fn the_texts_digest() {
    check(
        |words| {
            let row = first_row(words, Part::Digests);
            words[row + digest_row::TEXT..][..8].fill(7);
        },
        expect![
            "the text of program 0 has SHA-256 da88b7df5f2fcee298112edff1de6b7316b82d2c5d31b292ba0941910e15e9d2, its digest row says 0000000700000007000000070000000700000007000000070000000700000007"
        ],
    );
}

#[test]
fn a_chip_with_more_memory() {
    check(
        |words| {
            let row = first_row(words, Part::Chip);
            words[row + chip::HBM_BYTES + 1] += 1;
        },
        expect!["chip SN50, word 25: its facts have 14, the table 15"],
    );
}

#[test]
fn a_table_cut_off() {
    check(
        |words| words.truncate(ROW),
        expect!["bundle cut off or extended: its header states 4448 words, there are 16 words and 0 bytes"],
    );
}
