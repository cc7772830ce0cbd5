//! Rotary tables of every scaling, against the formulas of transformers worked out apart.

use super::super::rotary::table;
use crate::language::ast::{RopePart, RopeTable};
use crate::spec::Scaling;

fn cosines(theta: f64, rotary: u32, scaling: Scaling) -> RopeTable {
    RopeTable { part: RopePart::Cos, theta, rotary, scaling }
}

/// The radians a position of each pair, as the sines at position 1 tell them: all are below π/2.
#[track_caller]
fn turns(recipe: RopeTable, length: u32, factor: f64, expected: &[f64]) {
    let sines = table(&RopeTable { part: RopePart::Sin, ..recipe.clone() }, &[0, 1], &[length; 2]);
    let cosines = table(&recipe, &[0, 1], &[length; 2]);
    assert_eq!(sines.row(0), vec![0.0; expected.len()]);
    for (m, expected) in expected.iter().enumerate() {
        let (sin, cos) = (f64::from(sines.row(1)[m]), f64::from(cosines.row(1)[m]));
        assert!((sin.atan2(cos) / expected - 1.0).abs() < 1e-6, "pair {m}: {} for {expected}", sin.atan2(cos));
        assert!((sin.hypot(cos) - factor).abs() < 1e-6, "pair {m}: {} for {factor}", sin.hypot(cos));
        assert_eq!(cosines.row(0)[m], factor as f32);
    }
}

#[test]
fn as_trained_and_linear() {
    turns(cosines(1e4, 8, Scaling::None), 9, 1.0, &[1.0, 0.1, 0.01, 0.001]);
    turns(cosines(1e4, 8, Scaling::Linear { factor: 8.0 }), 9, 1.0, &[0.125, 0.0125, 0.00125, 0.000125]);
}

#[test]
fn angles_are_those_of_the_position() {
    let recipe = cosines(1e4, 4, Scaling::None);
    let table = table(&recipe, &[7, 70_000], &[1, 1]);
    assert_eq!(table.data(), [7.0_f64.cos(), 0.07_f64.cos(), 70_000.0_f64.cos(), 700.0_f64.cos()].map(|x| x as f32));
}

#[test]
fn dynamic_grows_theta_with_the_length() {
    let recipe = || cosines(1e4, 8, Scaling::Dynamic { factor: 4.0, original: 16 });
    turns(recipe(), 16, 1.0, &[1.0, 0.1, 0.01, 0.001]);
    turns(recipe(), 3, 1.0, &[1.0, 0.1, 0.01, 0.001]);
    turns(recipe(), 32, 1.0, &[1.0, 0.058_480_354_764_257_32, 0.003_419_951_893_353_394, 0.000_2]);
}

#[test]
fn rows_of_other_lengths_have_angles_of_their_own() {
    let recipe = cosines(1e4, 8, Scaling::Dynamic { factor: 4.0, original: 16 });
    let both = table(&recipe, &[5, 5, 5], &[16, 32, 16]);
    assert_eq!(both.row(0), table(&recipe, &[5], &[16]).row(0));
    assert_eq!(both.row(1), table(&recipe, &[5], &[32]).row(0));
    assert_eq!(both.row(0), both.row(2));
    assert_ne!(both.row(0), both.row(1));
}

#[test]
fn llama3_keeps_blends_and_stretches() {
    let scaling = Scaling::Llama3 { factor: 8.0, low: 1.0, high: 4.0, original: 768 };
    turns(cosines(1e4, 8, scaling), 9, 1.0, &[1.0, 0.1, 0.001_898_404_058_591_788_8, 0.000_125]);
}

#[test]
fn yarn_ramps_between_two_pairs() {
    let yarn = |truncate| Scaling::Yarn {
        factor: 4.0,
        beta_fast: 32.0,
        beta_slow: 1.0,
        original: 4096,
        truncate,
        attention_factor: 1.25,
    };
    let f = [1.0, 0.316_227_766_016_837_94, 0.1];
    let g = [0.000_25, 7.905_694_150_420_948e-5];
    let truncated = [f[0], f[1], f[2], 0.025_693_505_988_868_08, 0.006_25, 0.001_383_496_476_323_666, g[0], g[1]];
    let plain = [
        f[0],
        f[1],
        f[2],
        0.028_613_608_811_988_89,
        0.006_556_971_521_129_435,
        0.001_285_632_030_726_688_2,
        g[0],
        g[1],
    ];
    turns(cosines(1e4, 16, yarn(true)), 9, 1.25, &truncated);
    turns(cosines(1e4, 16, yarn(false)), 9, 1.25, &plain);
}

#[test]
fn longrope_chooses_its_factors_by_length() {
    let scaling = Scaling::LongRope { short: vec![1.0, 2.0], long: vec![4.0, 8.0], original: 6, attention_factor: 1.5 };
    turns(cosines(1e4, 4, scaling.clone()), 6, 1.5, &[1.0, 0.005]);
    turns(cosines(1e4, 4, scaling), 7, 1.5, &[0.25, 0.00125]);
}
