//! Operations on values a person can check.

use std::sync::Arc;

use super::super::data::{Data, Matrix, State};
use super::super::evaluate::evaluate;
use crate::language::Builder;
use crate::language::ast::{
    Axis, Element, Program, Recipe, Role, RopePart, RopeTable, Shape, Sharding, Storage, ValueId,
};
use crate::ops::*;
use crate::spec::{Pairing, Scaling, Temperature};

/// One statement over declared values, each with what every chip holds of it.
struct Case {
    builder: Builder,
    operands: Vec<ValueId>,
    values: Vec<Vec<Data>>,
}

impl Case {
    fn new(chips: u32) -> Case {
        Case { builder: Builder::new(chips, Storage::F32), operands: Vec::new(), values: Vec::new() }
    }

    /// A value of as many rows as each chip's share has, or split by rows.
    fn with(mut self, role: Role, sharding: Sharding, shares: &[(usize, &[f32])]) -> Case {
        let (cols, data) = shares[0];
        let (mut rows, mut cols) = ((data.len() / cols) as u32, cols as u32);
        match sharding {
            Sharding::Split { axis: Axis::Rows, parts } => rows *= parts,
            Sharding::Split { axis: Axis::Columns, parts } => cols *= parts,
            Sharding::Split { axis: Axis::Experts, .. } | Sharding::Whole | Sharding::Partial => {}
        }
        let name = format!("v{}", self.values.len());
        let declared =
            self.builder.declare(name, role, Shape::matrix(rows, cols), Element::Real, Storage::F32, sharding);
        self.operands.push(declared.unwrap());
        let shares = shares.iter().map(|(cols, data)| real(*cols, data));
        self.values.push(shares.collect());
        self
    }

    fn input(self, cols: usize, data: &[f32]) -> Case {
        self.with(Role::Input, Sharding::Whole, &[(cols, data)])
    }

    fn weight(self, cols: usize, data: &[f32]) -> Case {
        self.with(Role::Weight, Sharding::Whole, &[(cols, data)])
    }

    fn ints(mut self, ids: &[u32]) -> Case {
        let shape = Shape::matrix(ids.len() as u32, 1);
        let name = format!("v{}", self.values.len());
        let declared =
            self.builder.declare(name, Role::Input, shape, Element::Int, Storage::I32, Sharding::Whole).unwrap();
        self.operands.push(declared);
        self.values.push(vec![Data::Int(ids.into())]);
        self
    }

    fn state(mut self, seqs: u32, rows: u32, cols: u32) -> Case {
        let name = format!("v{}", self.values.len());
        let shape = Shape { seqs, rows, cols };
        let declared =
            self.builder.declare(name, Role::State, shape, Element::Real, Storage::F32, Sharding::Whole).unwrap();
        self.operands.push(declared);
        self.values.push(Vec::new());
        self
    }

    /// The shares of the result, and the states left.
    fn run(mut self, op: impl Into<Op>) -> (Vec<Data>, Vec<Vec<State>>) {
        let result = self.builder.bind("y", op, &self.operands).unwrap();
        let sharding = self.builder.value(result).unwrap().sharding;
        // What is shown is whole: of a partial result the sum, whose shares then follow the parts.
        let shown = match sharding {
            Sharding::Partial => self.builder.bind("sum", SumOverChips, &[result]).unwrap(),
            Sharding::Whole | Sharding::Split { .. } => result,
        };
        self.builder.show(shown).unwrap();
        let program: Program = self.builder.finish().unwrap();
        let states = program.values.iter().map(|value| match value.origin {
            crate::language::Origin::Declared(Role::State) => {
                let Shape { seqs, rows, cols } = value.shape;
                vec![State::new(seqs as usize, rows as usize, cols as usize)]
            }
            crate::language::Origin::Declared(_) | crate::language::Origin::Bound(_) => Vec::new(),
        });
        let mut states = states.collect::<Vec<_>>();
        let values = evaluate(&program, self.values, &mut states);
        let mut shares = values[result.0 as usize].clone();
        if shown != result {
            shares.extend_from_slice(&values[shown.0 as usize]);
        }
        (shares, states)
    }

    /// The shares of a result that is split, each chip's own.
    fn run_split(mut self, op: impl Into<Op>) -> Vec<Data> {
        let result = self.builder.bind("y", op, &self.operands).unwrap();
        let whole = self.builder.bind("whole", GatherOverChips, &[result]).unwrap();
        self.builder.show(whole).unwrap();
        let program = self.builder.finish().unwrap();
        evaluate(&program, self.values, &mut [])[result.0 as usize].clone()
    }

    #[track_caller]
    fn gives(self, op: impl Into<Op>, expected: &[f32]) {
        let (shares, _) = self.run(op);
        for share in shares {
            close(&share, expected);
        }
    }
}

fn real(cols: usize, data: &[f32]) -> Data {
    Data::Real(Arc::new(Matrix::new(cols, data.to_vec()).unwrap()))
}

#[track_caller]
fn close(share: &Data, expected: &[f32]) {
    let Data::Real(found) = share else { panic!("{share:?}") };
    assert_eq!(found.data().len(), expected.len());
    for (found, expected) in found.data().iter().zip(expected) {
        assert!((found - expected).abs() <= 1e-6 * expected.abs().max(1.0), "{found} for {expected}");
    }
}

#[test]
fn of_single_elements() {
    let a = || Case::new(1).input(4, &[-3.0, -0.1, 0.5, 2.0]);
    a().gives(Scaled { by: -2.0 }, &[6.0, 0.2, -1.0, -4.0]);
    a().gives(Silu, &[-0.142_277_62, -0.047_502_08, 0.311_229_67, 1.761_594_2]);
    a().gives(Sigmoid, &[0.047_425_873, 0.475_020_8, 0.622_459_33, 0.880_797_1]);
    a().gives(Tanh, &[-0.995_054_7, -0.099_667_99, 0.462_117_16, 0.964_027_6]);
    a().gives(SoftCap { cap: 2.0 }, &[-1.810_296_5, -0.099_916_75, 0.489_837_3, 1.523_188_4]);
    a().gives(Gelu { tanh: false }, &[-0.004_049_694, -0.046_017_216, 0.345_731_23, 1.954_499_7]);
    a().gives(Gelu { tanh: true }, &[-0.003_637_392, -0.046_017_25, 0.345_714, 1.954_597_7]);
    Case::new(1).input(3, &[-9.0, 0.0, 9.0]).gives(Gelu { tanh: false }, &[0.0, 0.0, 9.0]);
}

#[test]
fn of_pairs_of_elements_and_of_one_row_weights() {
    let pair = || Case::new(1).input(2, &[1.0, 2.0, 3.0, 4.0]).input(2, &[10.0, 20.0, 30.0, 40.0]);
    pair().gives(Plus, &[11.0, 22.0, 33.0, 44.0]);
    pair().gives(Times, &[10.0, 40.0, 90.0, 160.0]);
    let row = || Case::new(1).input(2, &[1.0, 2.0, 3.0, 4.0]).weight(2, &[10.0, 20.0]);
    row().gives(Plus, &[11.0, 22.0, 13.0, 24.0]);
    row().gives(Times, &[10.0, 40.0, 30.0, 80.0]);
    let gated = || Case::new(1).input(2, &[2.0, 0.5]).input(2, &[10.0, -10.0]);
    gated().gives(SwiGlu, &[17.615_942, -3.112_296_7]);
    gated().gives(GeGlu { tanh: false }, &[19.544_997, -3.457_312_3]);
    gated().gives(GeGlu { tanh: true }, &[19.545_977, -3.457_14]);
}

#[test]
fn norms_by_rows_and_heads() {
    let x = [3.0, 4.0, 6.0, 8.0];
    Case::new(1).input(4, &x).weight(4, &[1.0, 1.0, 2.0, 0.0]).gives(
        RmsNorm { eps: 0.25, offset: 1.0, heads: 0, over_chips: false },
        // The root of 125 / 4 + 1 / 4.
        &[6.0 / 31.5_f32.sqrt(), 8.0 / 31.5_f32.sqrt(), 18.0 / 31.5_f32.sqrt(), 8.0 / 31.5_f32.sqrt()],
    );
    let root = 12.5_f32.sqrt();
    let halves = [3.0 / root, 4.0 / root, 3.0 / root, 4.0 / root];
    Case::new(1).input(4, &x).gives(RmsNorm { eps: 0.0, offset: 0.0, heads: 2, over_chips: false }, &halves);
    Case::new(1).input(4, &x).gives(L2Norm { eps: 0.0, scale: 2.0, heads: 2 }, &[1.2, 1.6, 1.2, 1.6]);
    let norm = Case::new(1).input(2, &[1.0, 3.0, 5.0, 5.0]).weight(2, &[2.0, 3.0]).weight(2, &[0.5, -0.5]);
    norm.gives(LayerNorm { eps: 1e-12, heads: 0 }, &[-1.5, 2.5, 0.5, -0.5]);
    let heads = Case::new(1).input(4, &[1.0, 3.0, 8.0, 4.0]).weight(2, &[2.0, 3.0]);
    heads.gives(LayerNorm { eps: 0.0, heads: 2 }, &[-2.0, 3.0, 2.0, -3.0]);
}

/// A row of 3, 4, 6, 8 over two chips: the mean of squares is that of the whole row.
#[test]
fn a_norm_of_a_row_that_lies_over_chips() {
    let norm = RmsNorm { eps: 0.25, offset: 1.0, heads: 0, over_chips: true };
    let columns = Sharding::Split { axis: Axis::Columns, parts: 2 };
    let root = 31.5_f32.sqrt();
    let halves: [(usize, &[f32]); 2] = [(2, &[3.0, 4.0]), (2, &[6.0, 8.0])];
    let weights: [(usize, &[f32]); 2] = [(2, &[1.0, 1.0]), (2, &[2.0, 0.0])];
    let shares = Case::new(2).with(Role::Input, columns, &halves).with(Role::Weight, columns, &weights).run_split(norm);
    close(&shares[0], &[6.0 / root, 8.0 / root]);
    close(&shares[1], &[18.0 / root, 8.0 / root]);
}

#[test]
fn decay_of_each_head() {
    let case = Case::new(1).input(2, &[1.0, 100.0]).weight(2, &[0.0, -5.0]).weight(2, &[-1.0, 0.0]);
    // exp(-ln 2), and exp(-100 exp(-5)).
    case.gives(Decay, &[0.5, 0.509_770_45]);
}

#[test]
fn rope_turns_halves_or_neighbours_and_lets_the_rest_pass() {
    // A quarter turn of the first pair and none of the second, in the second of two rows only.
    let case = |pairing| {
        let mut case = Case::new(1).input(5, &[1.0, 2.0, 3.0, 4.0, 9.0, 1.0, 2.0, 3.0, 4.0, 9.0]);
        for (part, data) in [(RopePart::Cos, [1.0, 1.0, 0.0, 1.0]), (RopePart::Sin, [0.0, 0.0, 1.0, 0.0])] {
            let recipe = RopeTable { part, theta: 1e4, rotary: 4, scaling: Scaling::None };
            case = case.with(Role::Table(Recipe::Rope(recipe)), Sharding::Whole, &[(2, &data)]);
        }
        case.run(RopeOp { heads: 1, rotary: 4, pairing }).0
    };
    close(&case(Pairing::Halves)[0], &[1.0, 2.0, 3.0, 4.0, 9.0, -3.0, 2.0, 1.0, 4.0, 9.0]);
    close(&case(Pairing::Adjacent)[0], &[1.0, 2.0, 3.0, 4.0, 9.0, -2.0, 1.0, 3.0, 4.0, 9.0]);
}

const ATTENTION: AttentionOp =
    AttentionOp { heads: 1, kv_heads: 1, scale: 1.0, window: None, chunk: None, softcap: None };

/// Keys that are all equal: each row's result is the mean of the values it sees.
fn means(op: AttentionOp) -> Vec<Data> {
    let rows = 5;
    let values: Vec<f32> = (0..rows).map(|row| 10.0_f32.powi(row)).collect();
    Case::new(1).input(1, &[1.0; 5]).input(1, &[0.0; 5]).input(1, &values).run(op).0
}

#[test]
fn attention_sees_what_its_span_says() {
    close(&means(ATTENTION)[0], &[1.0, 5.5, 37.0, 277.75, 2222.2]);
    close(&means(AttentionOp { window: Some(2), ..ATTENTION })[0], &[1.0, 5.5, 55.0, 550.0, 5500.0]);
    close(&means(AttentionOp { chunk: Some(3), ..ATTENTION })[0], &[1.0, 5.5, 37.0, 1000.0, 5500.0]);
}

#[test]
fn attention_scores_are_scaled_then_capped() {
    let case = || Case::new(1).input(1, &[1.0, 2.0]).input(1, &[0.0, 3.0]).input(1, &[0.0, 1.0]);
    let sigmoid = |x: f32| 1.0 / (1.0 + (-x).exp());
    case().gives(AttentionOp { scale: 0.5, ..ATTENTION }, &[0.0, sigmoid(3.0)]);
    let capped = AttentionOp { scale: 0.5, softcap: Some(2.0), ..ATTENTION };
    case().gives(capped, &[0.0, sigmoid(2.0 * 1.5_f32.tanh())]);
}

#[test]
fn query_heads_read_the_kv_head_of_their_group() {
    let q = [1.0; 4];
    let case = Case::new(1).input(4, &q).input(2, &[0.0, 0.0]).input(2, &[7.0, 8.0]);
    case.gives(AttentionOp { heads: 4, kv_heads: 2, ..ATTENTION }, &[7.0, 7.0, 8.0, 8.0]);
}

#[test]
fn a_convolution_leaves_its_last_inputs() {
    let conv = CausalConv { taps: 3, silu: false };
    let taps = [1.0, 10.0, 100.0];
    Case::new(1).input(1, &[1.0, 2.0, 3.0, 4.0]).weight(1, &taps).gives(conv, &[100.0, 210.0, 321.0, 432.0]);
    // Two sequences of two rows.
    let case = Case::new(1).input(1, &[1.0, 2.0, 3.0, 4.0]).weight(1, &taps).state(2, 2, 1);
    let (shares, mut states) = case.run(conv);
    close(&shares[0], &[100.0, 210.0, 300.0, 430.0]);
    assert_eq!(states[2][0].sequence_mut(0), [1.0, 2.0]);
    assert_eq!(states[2][0].sequence_mut(1), [3.0, 4.0]);
    // One row moves the state on by one.
    let (_, mut states) = Case::new(1).input(1, &[5.0]).weight(1, &taps).state(1, 2, 1).run(conv);
    assert_eq!(states[2][0].sequence_mut(0), [0.0, 5.0]);
}

#[test]
fn a_delta_rule_writes_what_it_did_not_recall() {
    // Keys of one column: S = g S + k beta (v - g S k), o = S q.
    let delta = GatedDeltaOp { heads: 2, key_heads: 1 };
    let case = Case::new(1)
        .input(1, &[1.0, 2.0])
        .input(1, &[1.0, 0.5])
        .input(2, &[4.0, 8.0, 4.0, 8.0])
        .input(2, &[0.5, 1.0, 0.5, 1.0])
        .input(2, &[0.5, 1.0, 1.0, 0.5])
        .state(1, 2, 1);
    let (shares, mut states) = case.run(delta);
    // Head 0: S = 2, then 1 + 0.5 (4 - 0.5) = 2.75. Head 1: S = 8, then 8 + 0.25 (8 - 4) = 9.
    close(&shares[0], &[2.0, 8.0, 5.5, 18.0]);
    assert_eq!(states[5][0].sequence_mut(0), [2.75, 9.0]);
}

#[test]
fn rows_and_last_rows() {
    Case::new(1).weight(2, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).ints(&[2, 0]).gives(Rows, &[5.0, 6.0, 1.0, 2.0]);
    let x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
    Case::new(1).input(2, &x).gives(LastRow { sequences: 2 }, &[3.0, 4.0, 7.0, 8.0]);
}

#[test]
fn the_lowest_of_the_largest_over_all_chips() {
    let below = |case: Case, below| match &case.run(ArgMax { below }).0[..] {
        [Data::Int(first), rest @ ..] => {
            assert!(rest.iter().all(|chip| matches!(chip, Data::Int(ids) if ids == first)));
            first.to_vec()
        }
        other => panic!("{other:?}"),
    };
    let ids = |case| below(case, None);
    assert_eq!(ids(Case::new(1).input(3, &[1.0, 5.0, 5.0, -3.0, -2.0, -1.0])), [1, 2]);
    let columns = Sharding::Split { axis: Axis::Columns, parts: 2 };
    let shares: [(usize, &[f32]); 2] = [(2, &[1.0, 5.0, 0.0, 0.0]), (2, &[5.0, 5.0, 0.0, 2.0])];
    assert_eq!(ids(Case::new(2).with(Role::Input, columns, &shares)), [1, 3]);
    // Padding is not chosen, were it the largest; a chip that has nothing else has nothing to say.
    let shares: [(usize, &[f32]); 3] = [(2, &[-2.0, -1.0]), (2, &[-1.0, 0.0]), (2, &[0.0, 0.0])];
    let columns = Sharding::Split { axis: Axis::Columns, parts: 3 };
    let padded = || Case::new(3).with(Role::Input, columns, &shares);
    assert_eq!((ids(padded()), below(padded(), Some(3))), (vec![3], vec![1]));
    assert_eq!(below(Case::new(1).input(3, &[-5.0, -4.0, 0.0]), Some(1)), [0]);
}

#[test]
fn sums_and_gathers_over_chips() {
    let columns = Sharding::Split { axis: Axis::Columns, parts: 2 };
    let rows = Sharding::Split { axis: Axis::Rows, parts: 2 };
    let x: [(usize, &[f32]); 2] = [(1, &[1.0, 2.0]), (1, &[3.0, 4.0])];
    Case::new(2).with(Role::Input, columns, &x).gives(GatherOverChips, &[1.0, 3.0, 2.0, 4.0]);
    let w: [(usize, &[f32]); 2] = [(1, &[10.0]), (1, &[100.0])];
    let (parts, _) = Case::new(2).with(Role::Input, columns, &x).with(Role::Weight, rows, &w).run(MatMul);
    close(&parts[0], &[10.0, 20.0]);
    close(&parts[1], &[300.0, 400.0]);
    close(&parts[2], &[310.0, 420.0]);
    close(&parts[3], &[310.0, 420.0]);
}

#[test]
fn products_of_any_depth() {
    // Four rows of the weight at a time, and what is left.
    for depth in 1..10_usize {
        let x: Vec<f32> = (0..2 * depth).map(|i| (i % 7) as f32 - 3.0).collect();
        let w: Vec<f32> = (0..3 * depth).map(|i| (i % 5) as f32 - 1.0).collect();
        let element = |row: usize, col: usize| (0..depth).map(|k| x[row * depth + k] * w[k * 3 + col]).sum::<f32>();
        let expected: Vec<f32> = (0..6).map(|i| element(i / 3, i % 3)).collect();
        Case::new(1).input(depth, &x).weight(3, &w).gives(MatMul, &expected);
    }
}

#[test]
fn a_sink_takes_its_share_and_has_no_value() {
    // Equal scores of 0 and a sink of ln 3: of one row a quarter, of two a fifth each.
    let case = Case::new(1).input(1, &[1.0; 2]).input(1, &[0.0; 2]).input(1, &[4.0, 6.0]);
    case.weight(1, &[3.0_f32.ln()]).gives(ATTENTION, &[1.0, 2.0]);
}

#[test]
fn rows_take_their_own_factors() {
    let y = [1.0, 2.0, 3.0, 4.0];
    Case::new(1).input(2, &y).input(1, &[10.0, -1.0]).gives(RowScale, &[10.0, 20.0, -3.0, -4.0]);
    // A table of temperatures is filled as it says: 1 up to position 2, 1 + 0.5 ln 2 from there.
    let temperature = Temperature { scale: 0.5, floor: 4.0 };
    let table = super::super::rotary::temperatures(&temperature, &[0, 2, 3, 6]);
    let (one, next) = (1.0, 1.0 + 0.5 * 2.0_f32.ln());
    close(&real(1, table.data()), &[one, one, next, next]);
}

#[test]
fn each_head_has_a_block_of_its_own() {
    // Heads [1, 2] and [3, 4]; blocks [[1, 10, 100], [2, 20, 200]] and [[3, 30, 300], [4, 40, 400]].
    let expected = [5.0, 50.0, 500.0, 25.0, 250.0, 2500.0];
    let under = [1.0, 10.0, 100.0, 2.0, 20.0, 200.0, 3.0, 30.0, 300.0, 4.0, 40.0, 400.0];
    let beside = [1.0, 10.0, 100.0, 3.0, 30.0, 300.0, 2.0, 20.0, 200.0, 4.0, 40.0, 400.0];
    let case = || Case::new(1).input(4, &[1.0, 2.0, 3.0, 4.0]);
    case().weight(3, &under).gives(HeadMatMul { heads: 2, along: Along::Rows }, &expected);
    case().weight(6, &beside).gives(HeadMatMul { heads: 2, along: Along::Columns }, &expected);
    // A head on each chip, with its own block.
    let columns = Sharding::Split { axis: Axis::Columns, parts: 2 };
    let rows = Sharding::Split { axis: Axis::Rows, parts: 2 };
    let x: [(usize, &[f32]); 2] = [(2, &[1.0, 2.0]), (2, &[3.0, 4.0])];
    let w: [(usize, &[f32]); 2] = [(3, &under[..6]), (3, &under[6..])];
    let case = Case::new(2).with(Role::Input, columns, &x).with(Role::Weight, rows, &w);
    let program = case.run_split(HeadMatMul { heads: 2, along: Along::Rows });
    close(&program[0], &expected[..3]);
    close(&program[1], &expected[3..]);
}

#[test]
fn latent_attention_is_attention_over_one_head_of_latent_and_position() {
    let data = |count: usize, seed: usize| -> Vec<f32> {
        (0..count).map(|i| ((i * 7 + seed * 5) % 11) as f32 / 4.0 - 1.2).collect()
    };
    // Three rows of two heads: a latent of 3 columns, turned keys of 2.
    let (q, qp, c, p) = (data(18, 1), data(12, 2), data(9, 3), data(6, 4));
    let beside = |a: &[f32], a_cols: usize, b: &[f32], b_cols: usize| -> Vec<f32> {
        a.chunks(a_cols).zip(b.chunks(b_cols)).flat_map(|(a, b)| a.iter().chain(b)).copied().collect()
    };
    let (queries, keys) = (beside(&q, 3, &qp, 2), beside(&c, 3, &p, 2));
    let plain = AttentionOp { heads: 2, scale: 0.4, ..ATTENTION };
    let (expected, _) = Case::new(1).input(10, &queries).input(5, &keys).input(3, &c).run(plain);
    let Data::Real(expected) = &expected[0] else { panic!("{expected:?}") };
    let op = LatentAttentionOp { heads: 2, scale: 0.4 };
    Case::new(1).input(6, &q).input(4, &qp).input(3, &c).input(2, &p).gives(op, expected.data());
}

#[test]
fn a_norm_of_heads_has_one_weight_row_or_a_row_for_each() {
    let x = [1.0, 3.0, 2.0, 6.0, -1.0, 1.0, 0.0, 4.0];
    let norm = LayerNorm { eps: 0.0, heads: 2 };
    let signs = [-1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0];
    Case::new(1).input(4, &x).gives(norm, &signs);
    Case::new(1).input(4, &x).weight(2, &[2.0, 3.0]).gives(norm, &[-2.0, 3.0, -2.0, 3.0, -2.0, 3.0, -2.0, 3.0]);
    let each = [2.0, 3.0, 10.0, 20.0];
    let expected = [-2.0, 3.0, -10.0, 20.0, -2.0, 3.0, -10.0, 20.0];
    Case::new(1).input(4, &x).weight(2, &each).gives(norm, &expected);
    let biased = [-1.0, 4.0, -9.0, 21.0, -1.0, 4.0, -9.0, 21.0];
    Case::new(1).input(4, &x).weight(2, &each).weight(2, &[1.0; 4]).gives(norm, &biased);
    let rms = RmsNorm { eps: 0.0, offset: 0.0, heads: 2, over_chips: false };
    Case::new(1).input(4, &[3.0, 3.0, -5.0, 5.0]).weight(2, &each).gives(rms, &[2.0, 3.0, -10.0, 20.0]);
}
