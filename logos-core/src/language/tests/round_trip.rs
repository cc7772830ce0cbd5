//! `parse(print(p)) == p`.

use super::super::ast::{Element, Recipe, Role, RopePart, RopeTable, Shape, Sharding, Statement, StatementId, Storage};
use super::super::builder::Builder;
use super::generate::program;
use super::*;
use crate::ops::RopeOp;
use crate::spec::{Pairing, Scaling};

#[test]
fn hand_written_programs_print_as_they_were_written() {
    for text in [ATTENTION, GATED_DELTA, LATENT].into_iter().chain(OTHERS).chain(EXPERTS) {
        let program = parsed(text);
        assert_eq!(print(&program), text);
        assert_eq!(check(&program), Ok(()));
    }
}

#[test]
fn every_operation_of_the_table_is_in_a_hand_written_program() {
    let mut codes: Vec<u32> = Vec::new();
    for text in [ATTENTION, GATED_DELTA, LATENT].into_iter().chain(OTHERS).chain(EXPERTS) {
        for statement in parsed(text).statements {
            if let Statement::Let { op, .. } = statement {
                codes.push(op.code());
            }
        }
    }
    codes.sort_unstable();
    codes.dedup();
    let all: Vec<u32> = crate::ops::FORMS.iter().map(|(_, make)| make([0; 6]).code()).collect();
    assert_eq!(codes, all);
}

#[test]
fn generated_programs_read_back_as_they_are() {
    let (mut statements, mut mixtures) = (0, 0);
    for seed in 0..400 {
        let program = program(seed);
        statements += program.statements.len();
        let experts = |s: &&Statement| matches!(s, Statement::Let { op: crate::ops::Op::ExpertsOp(_), .. });
        mixtures += program.statements.iter().filter(experts).count();
        assert_eq!(check(&program), Ok(()), "seed {seed}");
        let text = print(&program);
        let again = parse(&text).unwrap_or_else(|errors| panic!("seed {seed}:\n{text}\n{}", listed(&errors)));
        assert_eq!(again, program, "seed {seed}");
        assert_eq!(print(&again), text);
    }
    assert!(mixtures > 20, "{mixtures} mixtures");
    assert!(statements > 4000, "the programs are too small to show anything: {statements} statements");
}

#[test]
fn every_scaling_reads_back() {
    let (factor, original, attention_factor) = (1.2e-7, 8192, 1.190_238);
    let scalings = [
        Scaling::None,
        Scaling::Linear { factor: 4.0 },
        Scaling::Dynamic { factor, original },
        Scaling::Llama3 { factor: 8.0, low: 1.0, high: 4.0, original },
        Scaling::Yarn { factor, beta_fast: 32.0, beta_slow: 1.0, original, truncate: true, attention_factor },
        Scaling::Yarn { factor, beta_fast: 32.0, beta_slow: 0.1, original, truncate: false, attention_factor },
        Scaling::LongRope { short: vec![1.0, 1.05], long: vec![1.5, 63.2], original, attention_factor },
    ];
    for scaling in scalings {
        let mut b = Builder::new(1, Storage::Bf16);
        let shape = Shape::matrix(3, 8);
        let x = b.declare("x", Role::Input, shape, Element::Real, Storage::Bf16, Sharding::Whole).unwrap();
        let [cos, sin] = [("cos", RopePart::Cos), ("sin", RopePart::Sin)].map(|(name, part)| {
            let table = RopeTable { part, theta: 500_000.5, rotary: 4, scaling: scaling.clone() };
            let role = Role::Table(Recipe::Rope(table));
            b.declare(name, role, Shape::matrix(3, 2), Element::Real, Storage::F32, Sharding::Whole).unwrap()
        });
        let op = RopeOp { heads: 2, rotary: 4, pairing: Pairing::Adjacent };
        let y = b.bind("y", op, &[x, cos, sin]).unwrap();
        b.show(y).unwrap();
        let program = b.finish().unwrap();
        let text = print(&program);
        assert_eq!(parse(&text).as_ref(), Ok(&program), "{text}");
    }
}

#[test]
fn layout_between_words_and_what_may_be_left_out_change_nothing() {
    let text = "## Main over 1 chip Activations are bf16.\n\n  Let x be a 8 by 4 input of Real, stored bf16.\r\n\
                Let S be 8 by 4 state of Real , split columns 1 ways, stored bf16.\
                Let p be an 8 by 1 input of Int, stored i32. Let y be rmsnorm of x , heads 2, eps 0.000001. Show y.\n\
                Let k be y scaled by 1.0. Append k to S at p.";
    let errors = parse(text).unwrap_err();
    assert_eq!(listed(&errors), "5:34: s3 (`S`): the value appended `k` must be split columns 1 ways, found whole\n");
    let printed = "\
## Main
Activations are bf16.
Let x be an 8 by 4 input of Real.
Let S be 1 of 8 by 4 state of Real, stored bf16.
Let p be an 8 by 1 input of Int.
Let y be rmsnorm of x, eps 1e-6, heads 2.
Let k be y scaled by 1.
Show y.
Append k to S at p.
";
    let text = text.replace(" , split columns 1 ways", "").replace("Show y.\n", "").replace("1.0.", "1.0. Show y.");
    assert_eq!(print(&parsed(&text)), printed);
}

#[test]
fn multiply_accumulates_are_those_of_the_whole_model() {
    let at = |text: &str, name: &str, ctx| {
        let program = parsed(text);
        let binds = |statement: &Statement| matches!(statement, Statement::Let { result, .. } if program.value(*result).name == name);
        let statement = program.statements.iter().position(binds).unwrap();
        program.statement_macs(StatementId(statement as u32), ctx).unwrap()
    };
    let count = |text: &str, name: &str| at(text, name, 262_144);
    assert_eq!(count(ATTENTION, "q3"), 8 * 5120 * 6144);
    assert_eq!(count(ATTENTION, "c3"), 8 * 24 * (256 + 256) * 262_144);
    // Six rows under a window of 4.
    assert_eq!(count(OTHERS[0], "o"), (1 + 2 + 3 + 4 + 4 + 4) * (12 + 12) * 4);
    assert_eq!(count(GATED_DELTA, "vc"), 4 * 8 * 512);
    assert_eq!(count(GATED_DELTA, "o"), 4 * 8 * 32 * 16 * 16);
    assert_eq!(count(ATTENTION, "xo3"), 0);
    assert_eq!(count(LATENT, "ql"), 8 * 4 * 16 * 24);
    // Two rows of each of four sequences, the second at the last position.
    assert_eq!(at(LATENT, "a", 128), 4 * (127 + 128) * 4 * (24 + 24 + 8));
    assert_eq!(count(LATENT, "v"), 8 * 4 * 24 * 12);
    assert_eq!(count(LATENT, "ys"), 0);
    let projections = 8 * 5120 * (3 * 6144 + 2 * 1024);
    assert_eq!(parsed(ATTENTION).macs(262_144), Some(projections + 8 * 24 * (256 + 256) * 262_144));
}
