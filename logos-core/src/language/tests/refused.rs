//! Programs that are refused, and in which words.

use expect_test::{Expect, expect};

use super::*;
use crate::refusal::{At, Code, Refusal};

fn check_text(text: &str, expect: Expect) {
    expect.assert_eq(&listed(&parse(text).expect_err(text)));
}

/// The attention program with one edit.
fn edited(from: &str, to: &str, expect: Expect) {
    assert_eq!(ATTENTION.matches(from).count(), 1, "`{from}` must stand once");
    check_text(&ATTENTION.replace(from, to), expect);
}

/// The gated delta program with one edit.
fn edited_delta(from: &str, to: &str, expect: Expect) {
    assert_eq!(GATED_DELTA.matches(from).count(), 1, "`{from}` must stand once");
    check_text(&GATED_DELTA.replace(from, to), expect);
}

#[test]
fn a_missing_sum_over_chips() {
    edited(
        "Let y3 be sum of o3 over chips.",
        "Let y3 be o3 scaled by 1.",
        expect![[r#"
            31:19: s14 (`xo3`): `y3` is a partial sum on every chip: a missing sum over chips before plus
        "#]],
    );
    edited(
        "Let xo3 be x plus y3.",
        "Let xo3 be x plus o3.",
        expect![[r#"
            31:19: s14 (`xo3`): `o3` is a partial sum on every chip: a missing sum over chips before plus
        "#]],
    );
    edited(
        "Show xo3",
        "Show xo3. Show o3",
        expect![[r#"
            34:16: s18 (`o3`): `o3` is a partial sum on every chip: a missing sum over chips before Show
        "#]],
    );
}

#[test]
fn a_doubled_sum_over_chips() {
    edited(
        "Let xo3 be x plus y3.",
        "Let z be sum of y3 over chips. Let xo3 be x plus z.",
        expect![[r#"
            31:17: s14 (`z`): `y3` is whole, not a partial sum: a sum over chips would add it once a chip
        "#]],
    );
    edited(
        "Let cg3 be c3 times s3.",
        "Let z be sum of c3 over chips. Let cg3 be z times s3.",
        expect![[r#"
            28:17: s11 (`z`): `c3` is split columns 8 ways, not a partial sum: a sum over chips would add it once a chip
        "#]],
    );
}

#[test]
fn a_bias_on_a_partial_sum() {
    edited(
        "Let y3 be sum of o3",
        "Let ob be o3 plus an3. Let y3 be sum of ob",
        expect![[r#"
            30:19: s13 (`ob`): bias on a partial sum: every chip would add `an3` to its part of `o3`; sum over chips first
        "#]],
    );
}

#[test]
fn a_head_whose_kv_group_is_elsewhere() {
    edited(
        "stored q8_0, split columns.\nLet Wg3",
        "stored q8_0.\nLet Wg3",
        expect![[r#"
            26:50: s9 (`c3`): k `kr3` must be whole as q, found split columns 4 ways
        "#]],
    );
    edited(
        "Wk3 be a 5120 by 1024 weight of Real, stored bf16, split columns 4 ways",
        "Wk3 be a 5120 by 1024 weight of Real, stored bf16, split columns 2 ways",
        expect![[r#"
            26:58: s9 (`c3`): v `v3` must be split columns 2 ways as `kr3`, found split columns 4 ways
            32:8: s15 (`Kc3`): the value appended `kr3` must be split columns 4 ways, found split columns 2 ways
        "#]],
    );
    edited(
        "Vc3 be 8 of 262144 by 1024 state of Real, stored bf16, split columns 4 ways",
        "Vc3 be 8 of 262144 by 1024 state of Real, stored bf16, split columns 2 ways",
        expect![[r#"
            26:41: s9 (`c3`): V `Vc3` must be split columns 4 ways as `kr3`, found split columns 2 ways
            33:8: s16 (`Vc3`): the value appended `v3` must be split columns 2 ways, found split columns 4 ways
        "#]],
    );
}

#[test]
fn kv_heads_on_other_chips_than_their_queries() {
    let text = |parts: &str, heads: u32, kv_heads: u32| {
        format!(
            "## Main over 8 chips\nActivations are bf16.\nLet q be a 4 by 384 input of Real, split columns.\n\
             Let k be a 4 by {} input of Real{parts}.\n\
             Let c be attention of q with k and k, heads {heads}, kv heads {kv_heads}, scale 1.\n\
             Let y be gather of c over chips.\nShow y.\n",
            kv_heads * 384 / heads
        )
    };
    check_text(
        &text(", split columns 2 ways", 24, 4),
        expect![[r#"
            5:5: s0 (`c`): the KV group lives on another chip: 24 query heads split 8 ways read 4 KV heads split 2 ways
        "#]],
    );
    check_text(
        &text("", 24, 4),
        expect![[r#"
            5:30: s0 (`c`): k `k` must be split columns 4 ways, each KV group with its query heads, found whole
        "#]],
    );
    check_text(
        &text(", split columns 4 ways", 24, 8),
        expect![[r#"
            5:5: s0 (`c`): the KV group lives on another chip: 24 query heads split 8 ways read 8 KV heads split 4 ways
        "#]],
    );
    check_text(
        &text(", split columns 4 ways", 12, 4),
        expect![[r#"
        5:23: s0 (`c`): q `q` must be split columns 8 ways in whole heads of 12, or whole, found split columns 8 ways
    "#]],
    );
    for (parts, heads, kv_heads) in [(", split columns 4 ways", 24, 4), ("", 24, 1), (", split columns", 24, 8)] {
        parsed(&text(parts, heads, kv_heads));
    }
}

#[test]
fn a_norm_over_a_row_that_no_chip_has() {
    edited(
        " with weight qn3, eps 1e-6, offset 1, heads 24",
        ", eps 1e-6",
        expect![[r#"
            22:23: s5 (`qh3`): x `q3` must be whole, as the norm is over the whole row, found split columns 8 ways
        "#]],
    );
    edited(
        " with weight kn3, eps 1e-6, offset 1, heads 4",
        ", eps 1e-6, heads 2",
        expect![[r#"
            23:23: s6 (`kh3`): x `k3` must be split into whole heads, and it has 2, found split columns 4 ways
        "#]],
    );
}

#[test]
fn products_whose_parts_do_not_meet() {
    edited(
        "5120 weight of Real, stored bf16, split rows",
        "5120 weight of Real, stored bf16",
        expect![[r#"
            29:22: s12 (`o3`): W `Wo3` must be split rows 8 ways, as `cg3` is split by columns, found whole
        "#]],
    );
    edited(
        "5120 weight of Real, stored bf16, split rows",
        "5120 weight of Real, stored bf16, split columns",
        expect![[r#"
            29:22: s12 (`o3`): W `Wo3` must be split rows 8 ways, as `cg3` is split by columns, found split columns 8 ways
        "#]],
    );
    edited(
        "Let o3 be cg3 matmul Wo3",
        "Let o3 be qh3 matmul an3",
        expect![[r#"
            29:22: s12 (`o3`): W `an3` must be 6144 rows high, as `qh3` is wide, found 1 by 5120
        "#]],
    );
    edited(
        "Let g3 be xn3 matmul Wg3",
        "Let g3 be xn3 matmul Wo3",
        expect![[r#"
            19:22: s2 (`g3`): W `Wo3` must be 5120 rows high, as `xn3` is wide, found 6144 by 5120
        "#]],
    );
}

#[test]
fn a_recurrence_over_heads_that_are_elsewhere() {
    edited_delta(
        "state of Real, stored f32, split rows",
        "state of Real, stored f32",
        expect![[r#"
            24:53: s10 (`o`): S `S` must be split rows 8 ways, found whole
        "#]],
    );
    edited_delta(
        "heads 32, key heads 16",
        "heads 32, key heads 12",
        expect![[r#"
            24:66: s10 (`o`): `key heads` must be a divisor of the 32 heads, found 12
        "#]],
    );
    edited_delta(
        "Let Cv be a 4 by 512 weight of Real, stored bf16, split columns",
        "Let Cv be a 4 by 512 weight of Real",
        expect![[r#"
            17:38: s3 (`vc`): taps `Cv` must be split columns 8 ways, found whole
        "#]],
    );
}

#[test]
fn states_are_read_before_they_are_written_and_written_once() {
    edited(
        "Let c3 be attention of qr3 over Kc3 and Vc3",
        "Append kr3 to Kc3 at pos. Let c3 be attention of qr3 over Kc3 and Vc3",
        expect![[r#"
            26:31: s10 (`c3`): state `Kc3` is read after s9 wrote it; a state is read at its old value, so `Append` comes after
            32:15: s16 (`Kc3`): state `Kc3` is written by s9 and again here
        "#]],
    );
    edited(
        "Append v3 to Vc3 at pos.\n",
        "",
        expect![[r#"
        15:5: `Vc3`: state `Vc3` is never written
    "#]],
    );
    edited(
        "Append v3 to Vc3 at pos.",
        "Append v3 to Vc3 at pos. Append v3 to Vc3 at pos.",
        expect![[r#"
        33:39: s17 (`Vc3`): state `Vc3` is written by s16 and again here
    "#]],
    );
    edited(
        "over Kc3 and Vc3",
        "over Kc3 and Kc3",
        expect![[r#"
        26:5: s9 (`c3`): state `Kc3` is read by s9 and again here
    "#]],
    );
    edited_delta(
        "Show y.",
        "Append vc to Rv at x. Show y.",
        expect![[r#"
            26:20: s12 (`Rv`): pos `x` must be an input of Int, found an input of Real
        "#]],
    );
}

#[test]
fn what_leads_nowhere() {
    edited(
        "Let y3 be sum",
        "Let z be x scaled by 2. Let w be z scaled by 2. Let y3 be sum",
        expect![[r#"
        30:5: s13 (`z`): `z` reaches no `Show`, no `Append` and no recurrence
        30:29: s14 (`w`): `w` reaches no `Show`, no `Append` and no recurrence
    "#]],
    );
    edited(
        "Show xo3.",
        "",
        expect![[r#"
            1:1: the program shows nothing
        "#]],
    );
    edited(
        "Show xo3.",
        "Show xo3. Show xo3. Show x.",
        expect![[r#"
            34:26: s19 (`x`): the value shown `x` must be bound by a statement, found declared
        "#]],
    );
    edited(
        "Let x be an",
        "Let unread be a 1 by 1 weight of Real. Let x be an",
        expect![[r#"
        3:5: `unread`: `unread` is declared and never read
    "#]],
    );
}

#[test]
fn shapes_that_do_not_agree() {
    edited(
        "Wo3 be a 6144 by",
        "Wo3 be a 6136 by",
        expect![[r#"
            29:22: s12 (`o3`): W `Wo3` must be 6144 rows high, as `cg3` is wide, found 6136 by 5120
        "#]],
    );
    edited(
        "Let qn3 be a 1 by 256",
        "Let qn3 be a 1 by 128",
        expect![[r#"
            22:38: s5 (`qh3`): weight `qn3` must be 1 by 256, found 1 by 128
        "#]],
    );
    edited(
        "rope of kh3 with cos and sin, heads 4, rotary 64",
        "rope of kh3 with cos and sin, heads 4, rotary 512",
        expect![[r#"
            25:51: s8 (`kr3`): `rotary` must be even and at most 256, the columns of a head, found 512
        "#]],
    );
    edited(
        "Let sin be an 8 by 32",
        "Let sin be an 8 by 64",
        expect![[r#"
        6:5: `sin`: the table `sin` must be 32 wide, half the rotary width, found 8 by 64
    "#]],
    );
    edited(
        "Let Vc3 be 8 of",
        "Let Vc3 be 3 of",
        expect![[r#"
            26:41: s9 (`c3`): V `Vc3` must be 8 of 262144 by 1024, found 3 of 262144 by 1024
            33:14: s16 (`Vc3`): the state `Vc3` must be 1024 wide, of sequences dividing the 8 rows, found 3 of 262144 by 1024
        "#]],
    );
    edited(
        "Let pos be an 8 by 1 ",
        "Let pos be an 8 by 2 ",
        expect![[r#"
            26:64: s9 (`c3`): pos `pos` must be 8 by 1, found 8 by 2
            32:22: s15 (`Kc3`): pos `pos` must be 8 by 1, found 8 by 2
            33:21: s16 (`Vc3`): pos `pos` must be 8 by 1, found 8 by 2
        "#]],
    );
    edited(
        "heads 24, kv heads 4, scale",
        "heads 24, kv heads 5, scale",
        expect![[r#"
            26:79: s9 (`c3`): `kv heads` must be a divisor of the 24 heads, found 5
        "#]],
    );
    edited(
        "with cos and sin, heads 24",
        "with sin and cos, heads 24",
        expect![[r#"
            24:29: s7 (`qr3`): cos `sin` must be a table of cosines, found a table of sines
        "#]],
    );
    edited(
        "kr3 and v3 at pos,",
        "kr3 and v3 at x,",
        expect![[r#"
            26:64: s9 (`c3`): pos `x` must be an input of Int, found an input of Real
        "#]],
    );
    edited(
        "Let xo3 be x plus y3",
        "Let xo3 be x plus Wq3",
        expect![[r#"
            31:19: s14 (`xo3`): b `Wq3` must be 1 by 5120, found 5120 by 6144
        "#]],
    );
}

#[test]
fn a_rotation_by_two_angles() {
    edited(
        ", sines of theta 10000000",
        ", sines of theta 10000",
        expect![[r#"
        24:37: s7 (`qr3`): sin `sin` must be a table of the cosines' own recipe, found a table of another
        25:37: s8 (`kr3`): sin `sin` must be a table of the cosines' own recipe, found a table of another
    "#]],
    );
}

#[test]
fn words_that_are_not_known() {
    edited(
        "rmsnorm of x ",
        "rmsnrom of x ",
        expect![[r#"
        17:12: s0 (`xn3`): unknown operation `rmsnrom`; did you mean `rmsnorm`?
    "#]],
    );
    edited(
        "xn3 matmul Wq3",
        "xn3 matmull Wq3",
        expect![[r#"
            18:15: s1 (`q3`): unknown operation `matmull`; did you mean `matmul`?
        "#]],
    );
    edited(
        "weight an3, eps",
        "weight an3, epsilon",
        expect![[r#"
            17:42: s0 (`xn3`): unknown attribute `epsilon`; known here: eps, offset, heads, over chips
        "#]],
    );
    edited(
        "kv heads 4",
        "kw heads 4",
        expect![[r#"
            26:79: s9 (`c3`): unknown attribute `kw heads`; did you mean `kv heads`?
        "#]],
    );
    edited(
        "Let an3 be a 1 by 5120 weight",
        "Let an3 be a 1 by 5120 wieght",
        expect![[r#"
        7:24: `an3`: unknown role `wieght`; did you mean `weight`?
    "#]],
    );
    edited(
        "5120 weight of Real, stored bf16, split rows",
        "5120 weight of Reel, stored bf16, split rows",
        expect![[r#"
        16:37: `Wo3`: unknown element `Reel`; did you mean `Real`?
    "#]],
    );
    edited(
        "Show xo3",
        "Shaw xo3",
        expect![[r#"
            34:1: s17: unknown sentence `Shaw`; did you mean `Show`?
        "#]],
    );
    edited(
        "matmul Wg3",
        "matmul Wgg3",
        expect![[r#"
            19:22: s2 (`g3`): `Wgg3` is not bound before this; did you mean `Wg3`?
        "#]],
    );
    edited(
        "Activations are bf16",
        "Activations are bf8",
        expect![[r#"
            2:17: unknown storage `bf8`; known here: f32, f16, bf16, q8_0, i32, f8_e4m3, mxfp4
        "#]],
    );
    edited(
        "rotary 64.\nLet sin",
        "rotary 64, lama3 factor 8, low 1, high 4, original 8192.\nLet sin",
        expect![[r#"
        5:88: `cos`: unknown scaling `lama3`; did you mean `llama3`?
    "#]],
    );
}

#[test]
fn sentences_that_break_off() {
    edited(
        "## Main over 8 chips",
        "# Main",
        expect![[r#"
        1:1: expected the heading `## Main`, found `#`
    "#]],
    );
    edited(
        "Let y3 be sum of o3 over chips.",
        "Let y3 be sum of o3 over.",
        expect![[r#"
            30:25: s13 (`y3`): expected `chips`, found `.`
        "#]],
    );
    edited(
        "rmsnorm of x with weight an3, eps 1e-6, offset 1",
        "rmsnorm of x with weight an3, offset 1",
        expect![[r#"
        17:50: s0 (`xn3`): rmsnorm needs the attribute `eps`
    "#]],
    );
    edited(
        "eps 1e-6, offset 1, heads 24",
        "eps 1e-6, offset 1, eps 1, heads 24",
        expect![[r#"
            22:63: s5 (`qh3`): `eps` is given twice
        "#]],
    );
    edited(
        "eps 1e-6, offset 1, heads 24",
        "eps 1e-6x, offset 1e99, heads 24",
        expect![[r#"
            22:47: s5 (`qh3`): `1e-6x` is not a finite number of 32 bits
        "#]],
    );
    edited(
        "eps 1e-6, offset 1, heads 24",
        "eps 1e-6, offset 1, heads 4294967296",
        expect![[r#"
            22:69: s5 (`qh3`): `4294967296` is not a whole number from 1 to 4294967295
        "#]],
    );
    edited(
        "over Kc3 and Vc3 with kr3 and v3 at pos",
        "over Kc3 and Vc3 with kr3 and v3",
        expect![[r#"
            26:60: s9 (`c3`): expected `at`, found `,`
        "#]],
    );
    edited(
        "Show xo3.",
        "Show xo3",
        expect![[r#"
            35:1: s17 (`xo3`): expected `.`, found the end of the text
        "#]],
    );
    edited(
        "Show xo3.",
        "Show xo3. . é",
        expect![[r#"
            34:11: s18: expected a sentence (`Let`, `Append` or `Show`), found `.`
            34:13: s18: expected a sentence (`Let`, `Append` or `Show`), found `é`
        "#]],
    );
    edited(
        "Let s3 be",
        "Let s3 is",
        expect![[r#"
            27:8: s10 (`s3`): expected `be`, found `is`
        "#]],
    );
    check_text(
        "",
        expect![[r#"
        1:1: expected the heading `## Main`, found the end of the text
    "#]],
    );
    check_text(
        "## Main over 0 chips",
        expect![[r#"
        1:14: `0` is not a whole number from 1 to 4294967295
    "#]],
    );
    check_text(
        "## Main over 70000 chips Activations are bf16. Let x be a 1 by 1 input of Real. Show x.",
        expect![[r#"
        1:52: `x`: a program is for 1 chip to 65536, found 70000
    "#]],
    );
}

#[test]
fn literals_and_declarations_out_of_place() {
    edited(
        "Let x be an 8 by 5120 input",
        "Let x be an 8 by 5120 tensor",
        expect![[r#"
        3:23: `x`: `tensor`: literal tensors are not lowered; declare a weight, or a table that the host fills
    "#]],
    );
    edited(
        "Show xo3.",
        "Set item 1 of x to 1.0. Show xo3.",
        expect![[r#"
            34:1: s17: `Set`: literal tensors are not lowered; declare a weight, or a table that the host fills
        "#]],
    );
    edited(
        "Show xo3.",
        "Let w be a 1 by 1 weight of Real. Show xo3.",
        expect![[r#"
        34:5: `w`: declarations come before statements
    "#]],
    );
    edited(
        "Let Wg3 be",
        "Let Wq3 be",
        expect![[r#"
            9:5: `Wq3`: `Wq3` is already bound, and nothing is bound twice
            19:22: s2 (`g3`): `Wg3` is not bound before this; did you mean `Wq3`?
        "#]],
    );
}

#[test]
fn declarations_that_no_chip_can_hold() {
    edited(
        "Wo3 be a 6144 by 5120 weight of Real, stored bf16",
        "Wo3 be a 6144 by 5120 weight of Real, stored i32",
        expect![[r#"
            16:43: `Wo3`: `stored` must be f32, f16 or bf16 (weights also q8_0, f8_e4m3 or mxfp4), found i32
        "#]],
    );
    edited(
        "Let Kc3 be 8 of 262144 by 1024 state of Real, stored bf16",
        "Let Kc3 be 8 of 262144 by 1024 state of Real, stored q8_0",
        expect![[r#"
            14:47: `Kc3`: `stored` must be f32, f16 or bf16 (weights also q8_0, f8_e4m3 or mxfp4), found q8_0
        "#]],
    );
    edited(
        "Let x be an 8 by 5120 input",
        "Let x be 2 of 8 by 5120 input",
        expect![[r#"
        3:5: `x`: the value `x` must be one matrix: only states and weights of experts are several, found 2 of 8 by 5120
    "#]],
    );
    edited(
        "Let Wo3 be a 6144 by 5120 weight of Real, stored bf16",
        "Let Wo3 be a 6016 by 5120 weight of Real, stored q8_0",
        expect![[r#"
            16:5: `Wo3`: the value `Wo3` must be split at whole blocks of 32 rows, as it is stored q8_0, found split rows 8 ways
        "#]],
    );
    edited(
        "Let x be an 8 by 5120 input",
        "Let x be a 4294967295 by 4294967295 input",
        expect![[r#"
        3:5: `x`: the size in bytes leaves 64 bits
    "#]],
    );
    edited(
        "of theta 10000000, rotary 64.\nLet sin",
        "of theta 0, rotary 64.\nLet sin",
        expect![[r#"
        5:61: `cos`: `theta` must be a finite number above 0, found 0
    "#]],
    );
    edited(
        "rotary 64.\nLet sin",
        "rotary 64, longrope short 1 2, long 1 2, original 1, attention factor 1.\nLet sin",
        expect![[r#"
            5:97: `cos`: `short` must be 32 factors, one a pair, found 2
        "#]],
    );
}

#[test]
fn every_error_is_reported_and_what_follows_from_one_is_not() {
    let text =
        ATTENTION.replace("rmsnorm of x with", "rmsnorm of y with").replace("Append v3 to Vc3", "Append v3 to Vc4");
    check_text(
        &text,
        expect![[r#"
            17:23: s0 (`xn3`): `y` is not bound before this; did you mean `x`?
            33:14: s16 (`Vc4`): `Vc4` is not bound before this; did you mean `Vc3`?
        "#]],
    );
}

#[test]
fn text_of_any_kind_ends_in_a_program_or_an_error() {
    let mut seed = 1_u64;
    for _ in 0..2000 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (at, what) = ((seed >> 33) as usize % ATTENTION.len(), (seed >> 20) as usize % 6);
        let mut bytes = ATTENTION.as_bytes().to_vec();
        match what {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..(at + 9).min(ATTENTION.len()))),
            2 => bytes[at] = b'.',
            3 => bytes[at] = b' ',
            4 => bytes[at] = b'0' + (seed >> 50) as u8 % 10,
            _ => bytes.insert(at, b','),
        }
        let text = String::from_utf8(bytes).unwrap();
        match parse(&text) {
            Ok(program) => assert_eq!(check(&program), Ok(())),
            Err(errors) => {
                assert!(!errors.is_empty() && errors.iter().all(|error| error.place.text.is_some()), "{text}")
            }
        }
    }
    let endless = "Let ".repeat(100_000);
    assert_eq!(parse(&format!("## Main Activations are f32. {endless}")).unwrap_err().len(), 1);
    let many = "x. ".repeat(100_000);
    assert_eq!(parse(&format!("## Main Activations are f32. {many}")).unwrap_err().len(), super::super::MAX_ERRORS);
}

#[test]
fn a_refusal_points_at_the_text() {
    let text = ATTENTION.replace("Let y3 be sum of o3 over chips.", "Let y3 be silu of o3.");
    let refusal = Refusal::from(parse(&text).unwrap_err().swap_remove(0));
    assert_eq!((refusal.code, refusal.at), (Code::TextSharding, At::Text { line: 30, column: 19 }));
}

/// The program of latent attention with one edit.
fn edited_latent(from: &str, to: &str, expect: Expect) {
    assert_eq!(LATENT.matches(from).count(), 1, "`{from}` must stand once");
    check_text(&LATENT.replace(from, to), expect);
}

#[test]
fn latent_attention_head_products_and_rows_scaled() {
    edited_latent(
        "by Wuk, heads 4, rows",
        "by Wuk, heads 4, columns",
        expect![[r#"
        24:36: s6 (`ql`): W `Wuk` must be 16 rows high, as a head of `qt` is wide, found 64 by 24
    "#]],
    );
    edited_latent(
        "by Wuk, heads 4, rows",
        "by Wuk, heads 4",
        expect![[r#"
        24:48: s6 (`ql`): head matmul needs the attribute `columns or rows`
    "#]],
    );
    edited_latent(
        "by Wuk, heads 4, rows",
        "by Wuk, heads 3, rows",
        expect![[r#"
        24:30: s6 (`ql`): x `qt` must be a multiple of 3 heads wide, found 8 by 64
    "#]],
    );
    edited_latent(
        "64 by 24 weight of Real, stored bf16, split rows",
        "64 by 24 weight of Real, stored bf16",
        expect![[r#"
            24:36: s6 (`ql`): W `Wuk` must be split rows 2 ways, found whole
        "#]],
    );
    edited_latent(
        "64 by 24 weight of Real, stored bf16, split rows",
        "64 by 24 weight of Real, stored q8_0, split rows",
        expect![[r#"
            24:5: s6 (`ql`): `stored` must be f32, f16 or bf16 for the weight of a head matmul, found q8_0
        "#]],
    );
    edited_latent(
        "over Cc and Pc with c and p at pos",
        "over Cc and Pc with c and p",
        expect![[r#"
        25:67: s7 (`a`): expected `at`, found `,`
    "#]],
    );
    edited_latent(
        "4 of 128 by 24 state",
        "4 of 128 by 25 state",
        expect![[r#"
        25:45: s7 (`a`): C `Cc` must be 24 wide, of sequences dividing the 8 rows, found 4 of 128 by 25
        35:13: s17 (`Cc`): the state `Cc` must be 24 wide, of sequences dividing the 8 rows, found 4 of 128 by 25
    "#]],
    );
    edited_latent(
        "4 of 128 by 24 state of Real, stored bf16",
        "4 of 128 by 24 state of Real, stored bf16, split columns",
        expect![[r#"
            25:45: s7 (`a`): C `Cc` must be whole, found split columns 2 ways
            35:8: s17 (`Cc`): the value appended `c` must be split columns 2 ways, found whole
        "#]],
    );
    edited_latent(
        "row scale of y by g",
        "row scale of y by x",
        expect![[r#"
        32:29: s14 (`ys`): g `x` must be 8 by 1, found 8 by 64
    "#]],
    );
    edited_latent(
        "row scale of qn by temp",
        "row scale of qn by Wq",
        expect![[r#"
        23:30: s5 (`qt`): g `Wq` must be a Real value, an input or a table of temperatures, found a weight
    "#]],
    );
    edited_latent(
        "Let qn be layernorm of q with weight qw",
        "Let qn be layernorm of q with weight Wuk",
        expect![[r#"
        22:38: s4 (`qn`): weight `Wuk` must be 1 by 16, found 64 by 24
    "#]],
    );
    edited_latent(
        "floor 8192",
        "floor 0",
        expect![[r#"
        5:76: `temp`: `floor` must be a finite number above 0, found 0
    "#]],
    );
    edited_latent(
        "temperature of scale 0.1, floor 8192",
        "temperature of floor 8192",
        expect![[r#"
        5:65: `temp`: expected `scale`, found `floor`
    "#]],
    );
    edited_latent(
        "an 8 by 1 table",
        "an 8 by 2 table",
        expect![[r#"
        5:5: `temp`: the table `temp` must be 1 wide, one factor a row, found 8 by 2
    "#]],
    );
    edited_latent(
        "Append p to Pc at pos.\n",
        "",
        expect![[r#"
        15:5: `Pc`: state `Pc` is never written
    "#]],
    );
}
