//! Damaged tables: never a panic, never accepted; and what each rule alone finds.

use std::collections::BTreeMap;
use std::vec::Vec;

use super::programs::{decode, prefill};
use super::writer::{Parts, Row, lay, seal};
use super::{bounded, hand};
use crate::check::{Verdicts, all};
use crate::table::layout::{NONE, op};

#[test]
fn every_word_counts() {
    let good = lay(&hand::table(), 60);
    assert!(all(&good).hold());
    for i in 0..good.len() {
        for change in [1, 2, 0x100, 0x8000_0000, u32::MAX] {
            let mut bad = good.clone();
            bad[i] = bad[i].wrapping_add(change);
            assert!(!all(&bad).hold(), "word {i} plus {change:#x}");
            // With the digest made right again the other rules have to cope, whatever the word says.
            seal(&mut bad);
            let _ = all(&bad);
        }
    }
}

#[test]
fn every_prefix_and_extension_is_refused() {
    let good = lay(&bounded(&decode()), 60);
    for n in 0..good.len() {
        assert!(!all(&good[..n]).hold(), "{n} words");
    }
    for n in [1, 15, 16, 64] {
        let mut longer = good.clone();
        longer.resize(good.len() + n, 0);
        assert!(!all(&longer).hold(), "{n} words more");
        longer[2] = longer.len() as u32;
        seal(&mut longer);
        assert!(!all(&longer).hold(), "{n} words more, counted and sealed");
    }
}

/// A few bits of randomness a call: enough to damage with, and the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % n as u64) as usize
    }
}

#[test]
fn hostile_tables_do_not_panic() {
    let mut dice = Dice(7);
    for model in [decode(), prefill()] {
        let good = lay(&bounded(&model), 60);
        for _ in 0..4000 {
            let mut bad = good.clone();
            for _ in 0..1 + dice.below(3) {
                let i = 64 + dice.below(good.len() - 64);
                bad[i] = match dice.below(6) {
                    0 => 0,
                    1 => u32::MAX,
                    2 => 1 << dice.below(32),
                    3 => (1 << 22) - 1,
                    4 => bad[i] ^ 1 << dice.below(32),
                    _ => good[64 + dice.below(good.len() - 64)],
                };
            }
            seal(&mut bad);
            let _ = all(&bad);
        }
    }
}

/// Numbers that a table holds by choice: other choices hold too, or say another program.
fn free(part: usize, word: usize) -> bool {
    match part {
        0 => matches!(word, 0..=2 | 6 | 14 | 15), // names, form, what fits
        1 => true,                                // another chip
        2 => matches!(word, 0..=3 | 15),          // names, text, first layer
        3 => matches!(word, 9..=12),              // a longer interval or span
        4 => matches!(word, 0 | 1 | 3 | 9 | 10),  // names, storage, tiles and tiers of declared values
        5 => matches!(word, 0 | 3 | 10..=15),     // another operation of the same form, attributes
        6 => matches!(word, 6 | 8 | 10),          // sites and times with slack
        7 => word == 7,                           // a slot more
        8 => word == 4,                           // a longer turn
        10 => matches!(word, 1..=11),             // names, slices
        11 => word >= 8,                          // identities
        9 => true,
        _ => true,
    }
}

#[test]
fn with_a_right_digest_every_derived_word_is_still_held() {
    for model in [decode(), prefill()] {
        let parts = bounded(&model);
        for part in 0..12 {
            for row in 0..parts[part].len() {
                for word in (0..16).filter(|&word| !free(part, word)) {
                    for change in [1, u32::MAX] {
                        let mut bad = parts.clone();
                        bad[part][row][word] = bad[part][row][word].wrapping_add(change);
                        let v = all(&lay(&bad, 60));
                        assert!(!v.hold(), "part {part} row {row} word {word} plus {change:#x}");
                    }
                }
            }
        }
    }
}

type Damage = std::boxed::Box<dyn Fn(&mut Parts)>;

/// What is wrong with a router and its experts.
fn experts(parts: &Parts) -> Vec<(usize, &'static str, Damage)> {
    let router = find(parts, 5, |s| s[0] == op::ROUTER);
    let experts = find(parts, 5, |s| s[0] == op::EXPERTS);
    let program = find(parts, 2, |p| p[8] as usize <= experts && experts < (p[8] + p[9]) as usize);
    let statement = (experts - parts[2][program][8] as usize) as u32;
    let first = parts[2][program][6] as usize;
    let section = parts[2][program][10] as usize;
    let (g0, stages) = (parts[3][section][3] as usize, parts[3][section][4] as usize);
    let at = move |part: u32| move |g: &Row| g[0] == statement && g[1] == part;
    let stage = |part: u32| g0 + parts[6][g0..g0 + stages].iter().position(at(part)).expect("a part of experts");
    let (e0, edges) = (parts[3][section][5] as usize, parts[3][section][6] as usize);
    let edge = |part: u32, port: u32| {
        let to = (stage(part) - g0) as u32;
        e0 + parts[7][e0..e0 + edges].iter().position(|e| e[1] == to && e[2] == port).expect("a port of experts")
    };
    let (gather, bias, product, sum) = (stage(1), stage(5), stage(6), stage(9));
    let (ids, weights, groups) = (edge(1, 0), edge(6, 2), edge(9, 3));
    let value = |operand: usize| first + parts[5][experts][2 + operand] as usize;
    let (r, gate, down, of_down) = (value(1), value(2), value(4), value(7));
    let binding = |operand: usize| {
        let (b0, count) = (parts[2][program][12] as usize, parts[2][program][13] as usize);
        b0 + parts[10][b0..b0 + count].iter().position(|b| b[0] == parts[5][experts][2 + operand]).expect("a binding")
    };
    let (of_up, of_gate) = (binding(3), binding(5));
    let to = |rule, name, damage: Damage| (rule, name, damage);
    std::vec![
        to(2, "more experts a row than there are", std::boxed::Box::new(move |p| p[5][router][10] = 9)),
        to(2, "groups that do not divide the experts", std::boxed::Box::new(move |p| p[5][router][12] = 3)),
        to(2, "groups of one, two of which count", std::boxed::Box::new(move |p| p[5][router][12] = 8)),
        to(2, "another count of experts than the router's", std::boxed::Box::new(move |p| p[5][experts][10] = 7)),
        to(2, "another activation's limit", std::boxed::Box::new(move |p| p[5][experts][12] = 1)),
        to(1, "a result that no router gives", std::boxed::Box::new(move |p| p[5][experts][3] = p[5][experts][2])),
        to(1, "ids and scores in bf16", std::boxed::Box::new(move |p| p[4][r][3] = 2)),
        to(1, "a bias left out", std::boxed::Box::new(move |p| p[5][experts][8] = NONE)),
        to(1, "an expert more", std::boxed::Box::new(move |p| p[4][gate][4] += 1)),
        to(3, "a slot less", std::boxed::Box::new(move |p| p[6][sum][3] -= 3)),
        to(2, "half an expert's tile", std::boxed::Box::new(move |p| p[6][gather][14] /= 2)),
        to(4, "weights gathered by no ids", std::boxed::Box::new(move |p| p[7][ids][10] = NONE)),
        to(4, "a bias held for all slots", std::boxed::Box::new(move |p| p[7][groups][6] = 1)),
        to(5, "weights two tiles at a time", std::boxed::Box::new(move |p| p[7][weights][5] = 2)),
        to(6, "a gather before its ids are there", std::boxed::Box::new(move |p| p[6][gather][8] -= 1)),
        to(6, "a gather after its turn", std::boxed::Box::new(move |p| p[6][bias][8] += 1 << 20)),
        to(6, "a product before its weights are there", std::boxed::Box::new(move |p| p[6][product][8] -= 1)),
        to(9, "a slot of half a tile", std::boxed::Box::new(move |p| p[7][weights][8] /= 2)),
        to(11, "down cut by columns", std::boxed::Box::new(move |p| p[4][down][7] = 2)),
        to(
            11,
            "a bias of down cut like down",
            std::boxed::Box::new(move |p| (p[4][of_down][7], p[4][of_down][8]) = (2, 2))
        ),
        to(11, "gate's features taken for up's", std::boxed::Box::new(move |p| p[10][of_up][6] = 0)),
        to(11, "features taken along the other axis", std::boxed::Box::new(move |p| p[10][of_up][13] = 0)),
        to(11, "an axis of experts in a tensor of one", std::boxed::Box::new(move |p| p[10][of_gate][14] = 1)),
    ]
}

/// The first row of a part that this holds of.
fn find(parts: &Parts, part: usize, test: impl Fn(&Row) -> bool) -> usize {
    parts[part].iter().position(test).expect("a row to damage")
}

fn after(parts: &Parts, damage: impl FnOnce(&mut Parts)) -> Verdicts {
    let mut bad = parts.clone();
    damage(&mut bad);
    all(&lay(&bad, 60))
}

#[test]
fn each_rule_rejects_what_is_its_own() {
    let parts = bounded(&decode());
    let statement = |code: u32| find(&parts, 5, |s| s[0] == code);
    let load = find(&parts, 6, |g| g[7] != NONE);
    let gemm = find(&parts, 6, |g| g[2] == 2);
    let softmax = find(&parts, 6, |g| g[2] == 9);
    let stream = find(&parts, 7, |e| e[3] == 0 && e[4] > 1);
    let hold = find(&parts, 7, |e| e[3] == 1);
    let attention = statement(op::ATTENTION);
    let program = find(&parts, 2, |p| p[8] as usize <= attention && attention < (p[8] + p[9]) as usize);
    let first = parts[2][program][6];
    let (cache, row_norm) = ((first + parts[5][attention][6]) as usize, statement(op::RMSNORM));
    let cases: Vec<(usize, &str, Damage)> = std::vec![
        (0, "an index past its part", std::boxed::Box::new(move |p| p[7][stream][1] = 9999)),
        (0, "a capacity above the limit", std::boxed::Box::new(move |p| p[7][stream][7] = 1 << 22)),
        (0, "sections that do not cover the stages", std::boxed::Box::new(|p| p[3][0][4] -= 1)),
        (
            1,
            "a value bound after it is read",
            std::boxed::Box::new(move |p| {
                let s = find(p, 5, |s| s[0] == op::SWIGLU);
                p[5].swap(s, s + 1);
            })
        ),
        (1, "a stage for another part", std::boxed::Box::new(move |p| p[6][softmax][1] = 5)),
        (2, "an eps of zero", std::boxed::Box::new(move |p| p[5][row_norm][10] = 0)),
        (2, "cosines and sines of two thetas", std::boxed::Box::new(|p| p[9][1][2] += 1)),
        (2, "half a token", std::boxed::Box::new(move |p| p[6][load][14] /= 2)),
        (3, "a firing dropped", std::boxed::Box::new(move |p| p[6][gemm][3] -= 1)),
        (3, "cells without work", std::boxed::Box::new(move |p| p[6][gemm][4] = 99)),
        (4, "another producer", std::boxed::Box::new(move |p| p[7][hold][0] -= 1)),
        (4, "a load in no turn", std::boxed::Box::new(move |p| p[6][load][7] = NONE)),
        (5, "a rate of one more", std::boxed::Box::new(move |p| p[7][stream][4] += 1)),
        (6, "an initiation interval too low", std::boxed::Box::new(move |p| p[6][softmax][12] = 11)),
        (6, "a late load", std::boxed::Box::new(move |p| p[6][load][8] += 1 << 20)),
        (7, "one slot", std::boxed::Box::new(move |p| p[7][stream][7] = p[7][stream][4])),
        (8, "a bound of one less", std::boxed::Box::new(|p| p[3][1][14] -= 1)),
        (8, "another binder", std::boxed::Box::new(|p| p[3][1][13] ^= 1)),
        (9, "two stages on a site", std::boxed::Box::new(move |p| p[6][gemm][6] -= 1)),
        (9, "overlapping buffers", std::boxed::Box::new(move |p| p[7][hold][9] -= 64)),
        (9, "weights that are not counted", std::boxed::Box::new(|p| p[0][0][8] -= 1)),
        (9, "more bytes than the memory", std::boxed::Box::new(|p| (p[1][1][8], p[1][1][9]) = (1 << 16, 0))),
        (
            10,
            "a state written twice",
            std::boxed::Box::new(|p| {
                let s = find(p, 5, |s| s[0] == op::APPEND);
                p[5][s + 1][1] = p[5][s][1];
            })
        ),
        (
            10,
            "a state written before it is read",
            std::boxed::Box::new(move |p| {
                p[5].swap(attention, attention + 1);
                // The swapped statements keep their own results' rows.
                let result = p[5][attention + 1][1] as usize;
                p[4][first as usize + result][11] += 1;
            })
        ),
        (
            11,
            "a sum over chips of a whole value",
            std::boxed::Box::new(move |p| {
                let s = find(p, 5, |s| s[0] == op::SUM_CHIPS);
                let x = p[5][s][2] as usize + p[2][0][6] as usize;
                p[4][x][7] = 0;
            })
        ),
        (
            11,
            "a cache cut otherwise than its keys",
            std::boxed::Box::new(move |p| (p[4][cache][7], p[4][cache][8]) = (0, 1))
        ),
        (
            11,
            "a slice outside the stored tensor",
            std::boxed::Box::new(|p| {
                let b = find(p, 10, |b| b[4] != 0);
                p[10][b][6] = p[10][b][10];
            })
        ),
    ];
    let mut killed: BTreeMap<usize, usize> = BTreeMap::new();
    for (rule, name, damage) in cases.iter().chain(&experts(&parts)) {
        let v = after(&parts, damage);
        assert!(v.faults[*rule].is_some(), "{name}: rule {rule} accepts; {:?}", v.first_fault());
        *killed.entry(*rule).or_default() += 1;
    }
    let mut bad = lay(&parts, 60);
    bad[4] ^= 1;
    assert!(all(&bad).faults[12].is_some());
    assert_eq!(killed.keys().copied().collect::<Vec<_>>(), (0..12).collect::<Vec<_>>());
}

#[test]
fn latent_attention_head_products_and_row_scales_are_held() {
    let parts = bounded(&decode());
    let statement = |code: u32| find(&parts, 5, |s| s[0] == code);
    let attention = statement(op::LATENT_ATTENTION);
    let program = find(&parts, 2, |p| p[8] as usize <= attention && attention < (p[8] + p[9]) as usize);
    let first = parts[2][program][6];
    let value = |statement: usize, word: usize| (first + parts[5][statement][word]) as usize;
    let (latents, positions) = (value(attention, 7), value(attention, 8));
    let product = statement(op::HEAD_MATMUL);
    let (scaled, summed) = (statement(op::ROW_SCALE), parts[5].iter().rposition(|s| s[0] == op::ROW_SCALE).unwrap());
    let (table, factor) = (value(scaled, 3), value(summed, 3));
    let stage = |statement: usize, part: u32| {
        let own = statement as u32 - parts[2][program][8];
        let section = find(&parts, 3, |s| s[0] as usize == program);
        let from = parts[3][section][3] as usize;
        from + parts[6][from..].iter().position(|g| g[0] == own && g[1] == part).unwrap()
    };
    let section = find(&parts, 3, |s| s[0] as usize == program);
    let edges = parts[3][section][5] as usize..(parts[3][section][5] + parts[3][section][6]) as usize;
    let into = |to: usize, port: u32| {
        let to = to as u32 - parts[3][section][3];
        edges.start + parts[7][edges.clone()].iter().position(|e| e[1] == to && e[2] == port).unwrap()
    };
    let (scores, values, gemm) = (stage(attention, 3), stage(attention, 5), stage(product, 1));
    let from_latents = parts[7][into(values, 2)][0];
    let heads = find(&parts, 5, |s| s[0] == op::LAYERNORM && s[11] == 4 && s[3] != NONE);
    let of_heads = find(&parts, 2, |p| p[8] as usize <= heads && heads < (p[8] + p[9]) as usize);
    let of_heads = (parts[2][of_heads][6] + parts[5][heads][3]) as usize;
    type Damage<'a> = &'a dyn Fn(&mut Parts);
    let cases: [(usize, &str, Damage<'_>); 18] = [
        (1, "blocks along the other axis", &|p| p[5][product][11] ^= 1),
        (2, "an axis of blocks that is none", &|p| p[5][product][11] = 2),
        (2, "heads that do not divide", &|p| p[5][product][10] = 7),
        (3, "a head fewer", &|p| p[6][gemm][3] -= 1),
        (1, "a cache wider than the latent", &|p| p[4][latents][6] += 1),
        (1, "a cache of turned keys shorter than that of latents", &|p| p[4][positions][5] -= 1),
        (1, "a latent for a turned key", &|p| p[5][attention].swap(4, 5)),
        (2, "a scale of zero", &|p| p[5][attention][11] = 0),
        (2, "heads of another number", &|p| p[5][attention][10] = 3),
        (4, "values of the turned keys", &|p| p[7][into(values, 2)][0] = from_latents + 1),
        (9, "a slot of half the queries", &|p| p[7][into(scores, 1)][8] /= 2),
        (10, "a cache that is not appended to", &|p| p[5][attention + 2] = p[5][attention + 1]),
        (11, "a cache of latents that is cut", &|p| (p[4][latents][7], p[4][latents][8]) = (2, 2)),
        (1, "factors of two columns", &|p| p[4][factor][6] = 2),
        (2, "the floor of a temperature at zero", &|p| {
            let recipe = p[4][table][12] as usize;
            p[9][recipe][6] = 0;
        }),
        (2, "cosines for a temperature", &|p| p[4][table][12] = 0),
        (2, "a temperature with a theta", &|p| {
            let recipe = p[4][table][12] as usize;
            p[9][recipe][2] = 1;
        }),
        (11, "a weight row a head that is not cut as the heads are", &|p| {
            (p[4][of_heads][7], p[4][of_heads][8]) = (0, 1);
        }),
    ];
    for (rule, name, damage) in cases {
        let v = after(&parts, damage);
        assert!(v.faults[rule].is_some(), "{name}: rule {rule} accepts; {:?}", v.first_fault());
    }
}

#[test]
fn longropes_factors_are_there_positive_and_shared() {
    let mut parts = bounded(&decode());
    // The wider pair of tables has 16 angles: one row of factors.
    for row in &mut parts[9][..2] {
        (row[4], row[5], row[13]) = (5, 0x4580_0000, 0x3f99_999a);
    }
    assert!(all(&lay(&parts, 60)).faults[0].is_some(), "factors that are not there");
    parts[14] = std::vec![[0x3f80_0000; 16]; 2];
    let v = all(&lay(&parts, 60));
    assert!(v.hold(), "{:?}", v.first_fault());
    for bits in [0, 0x7f80_0000, 0xbf80_0000] {
        assert!(after(&parts, |p| p[14][0][15] = bits).faults[0].is_some(), "{bits:#x}");
    }
    assert!(after(&parts, |p| p[9][0][14] = 17).faults[0].is_some(), "factors that end past the part");
    assert!(after(&parts, |p| p[9][1][14] = 16).faults[2].is_some(), "sines of other factors");
    assert!(after(&parts, |p| p[9][3][14] = 16).faults[0].is_some(), "factors of a recipe without");
}
