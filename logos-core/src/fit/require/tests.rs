use expect_test::{Expect, expect};

use super::largest_below;
use crate::{Code, DeploymentRequest, Form, Refusal, Request, Requirement, Weights};

/// What is said against a deployment of a fixture's model.
fn against(model: &str, chip: &str, tp: Option<u32>, form: Form, weights: Weights, require: &str) -> Vec<Refusal> {
    let file = format!("{}/../tests/fixtures/configs/{model}/config.json", env!("CARGO_MANIFEST_DIR"));
    let config = std::fs::read(file).unwrap();
    let require = Requirement::list(require, "D", 0).unwrap();
    let deployments = [DeploymentRequest { require, ..DeploymentRequest::new("D", form, tp) }];
    let request = Request {
        model: "m",
        config: &config,
        chip: chip.into(),
        weights,
        checkpoint: None,
        vocabulary: crate::Vocabulary::Exact,
        deployments: &deployments,
    };
    crate::compile(&request).err().unwrap_or_default()
}

const DECODE: Form = Form::Decode { ctx: 262_144, batch: 8 };
const TOGETHER: Form = Form::Prefill { ctx: 262_144, chunk: 32, batch: 8 };

fn qwen(form: Form, require: &str) -> Vec<Refusal> {
    against("qwen3.5-27b", "SN50", Some(8), form, Weights::Config, require)
}

fn check(refusals: &[Refusal], want: &Expect) {
    let text: String = refusals.iter().map(|refusal| format!("{}: {refusal}\n", refusal.at)).collect();
    want.assert_eq(&text);
}

#[test]
fn what_holds_is_compiled() {
    // 13 sequences of the whole context fit; of HBM's 64,000,000,000 bytes 6,767,123,584 are weights and eight times 4,314,210,304 state.
    let headroom = 64_000_000_000u64 - 6_767_123_584 - 8 * 4_314_210_304;
    let all = format!("hbm_fit, tight, ctx == 262144, sequences == 13, hbm_headroom == {headroom}");
    assert_eq!(qwen(DECODE, &all), []);
    assert_eq!(qwen(DECODE, "ctx > 262_143, ctx < 262_145, sequences <= 13, hbm_headroom >= 20 GiB"), []);
    assert_eq!(qwen(Form::Prefill { ctx: 8_192, chunk: 512, batch: 1 }, "hbm_fit, sequences >= 300"), []);
    assert_eq!(qwen(Form::Forward { rows: 16 }, "hbm_fit, hbm_headroom >= 50 GiB"), []);
}

#[test]
fn what_does_not_hold_is_said_with_what_does_and_what_would() {
    check(
        &qwen(DECODE, "sequences >= 14, hbm_headroom >= 30 GiB"),
        &expect![[r#"
        requirement 1 of D: LOGOS-REQ-04: `sequences >= 14` does not hold: the most sequences that fit over 262144 positions are 13
          help: write `ctx: 248341`, or require `sequences >= 13`
        requirement 2 of D: LOGOS-REQ-04: `hbm_headroom >= 32212254720` does not hold: the headroom is 22,719,193,984 bytes (21.1 GiB)
          required: 32,212,254,720 bytes (30.0 GiB)
          needed a chip: 41,280,806,016 bytes (38.4 GiB)
          HBM of one SN50: 64,000,000,000 bytes (59.6 GiB)
          help: write `batch: 5`, or `ctx: 189717`, or require `hbm_headroom >= 22719193984`
    "#]],
    );
    let long = Form::Decode { ctx: 131_072, batch: 16 };
    check(
        &qwen(long, "ctx >= 262_144, hbm_fit"),
        &expect![[r#"
        requirement 1 of D: LOGOS-REQ-04: `ctx >= 262144` does not hold: the largest context that fits with 16 sequences is 217151
          the model's own context: 262144
          help: write `batch: 13`, or require `ctx >= 217151`
    "#]],
    );
    check(
        &qwen(long, "ctx >= 300_000"),
        &expect![[r#"
        requirement 1 of D: LOGOS-REQ-04: `ctx >= 300000` does not hold: the largest context that fits with 16 sequences is 217151
          the model's own context: 262144
          help: require `ctx >= 217151`
    "#]],
    );
    check(
        &qwen(long, "ctx <= 100_000"),
        &expect![[r#"
        requirement 1 of D: LOGOS-REQ-04: `ctx <= 100000` does not hold: the largest context that fits with 16 sequences is 217151
          the model's own context: 262144
          help: require `ctx <= 217151`
    "#]],
    );
    check(
        &qwen(Form::Prefill { ctx: 262_144, chunk: 512, batch: 1 }, "sequences > 13"),
        &expect![[r#"
            requirement 1 of D: LOGOS-REQ-04: `sequences > 13` does not hold: the most sequences that fit over 262144 positions are 13
              help: write `ctx: 248341`, or require `sequences >= 13`
        "#]],
    );
    check(
        &qwen(Form::Prefill { ctx: 131_072, chunk: 16, batch: 16 }, "ctx >= 262_144"),
        &expect![[r#"
        requirement 1 of D: LOGOS-REQ-04: `ctx >= 262144` does not hold: the largest context that fits with 16 sequences is 217151
          the model's own context: 262144
          help: write `batch: 13`, or require `ctx >= 217151`
    "#]],
    );
    check(
        &qwen(Form::Forward { rows: 16 }, "ctx >= 1"),
        &expect![[r#"
        requirement 1 of D: LOGOS-REQ-04: `ctx >= 1` does not hold: a forward step carries no state
          help: require it of the decode or prefill deployment that does
    "#]],
    );
}

#[test]
fn experts_in_ddr_are_no_fit_of_hbm() {
    let form = Form::Decode { ctx: 4_096, batch: 1 };
    let qwen = |chip, tp, require| against("qwen3.5-35b-a3b", chip, Some(tp), form, Weights::Config, require);
    check(
        &qwen("SN50", 1, "hbm_fit"),
        &expect![[r#"
        requirement 1 of D: LOGOS-REQ-04: `hbm_fit` does not hold: of the experts of a chip 10,737,418,240 bytes (10.0 GiB) lie in DDR
          weights and state of a chip: 69,469,496,576 bytes (64.6 GiB)
          HBM of one SN50: 64,000,000,000 bytes (59.6 GiB)
          help: write `tp: 2`, or `weights: q8_0`, or leave `hbm_fit` out
    "#]],
    );
    check(
        &qwen("SN10", 1, "hbm_fit, hbm_headroom >= 1"),
        &expect![[r#"
        requirement 1 of D: LOGOS-REQ-04: `hbm_fit` does not hold: SN10 has no HBM
          help: take a chip with HBM: SN40L, SN50
        requirement 2 of D: LOGOS-REQ-04: `hbm_headroom >= 1` does not hold: SN10 has no HBM
          help: take a chip with HBM: SN40L, SN50
    "#]],
    );
    assert_eq!(qwen("SN50", 2, "hbm_fit"), []);
}

/// Every size that is advised, written, meets what was required; one more does not.
#[test]
fn advice_is_kept_and_is_the_largest() {
    for (form, require) in
        [(DECODE, "sequences >= 14"), (DECODE, "hbm_headroom >= 30 GiB"), (TOGETHER, "hbm_headroom >= 30 GiB")]
    {
        let [refusal] = &qwen(form, require)[..] else { panic!("one requirement") };
        assert_eq!(refusal.code, Code::RequireUnmet);
        let help = refusal.help.clone().unwrap();
        let mut tried = 0;
        for (key, value) in help.split('`').filter_map(|part| part.split_once(": ")) {
            let Ok(value) = value.parse::<u32>() else { continue };
            let with = |value| match (form, key) {
                (Form::Decode { ctx, .. }, "batch") => Form::Decode { ctx, batch: value },
                (Form::Decode { batch, .. }, "ctx") => Form::Decode { ctx: value, batch },
                (Form::Prefill { ctx, chunk, .. }, "batch") => Form::Prefill { ctx, chunk, batch: value },
                (Form::Prefill { chunk, batch, .. }, "ctx") => Form::Prefill { ctx: value, chunk, batch },
                (_, other) => panic!("{other} of {help}"),
            };
            assert_eq!(qwen(with(value), require), [], "{help}");
            assert_ne!(qwen(with(value + 1), require), [], "{help}");
            tried += 1;
        }
        assert!(tried > 0, "{help}");
    }
}

#[test]
fn bisection_finds_the_last_that_holds() {
    for last in 1..20 {
        assert_eq!(largest_below(1, 20, |n| n <= last), Some(last));
    }
    assert_eq!(
        (largest_below(1, 20, |_| false), largest_below(1, 1, |_| true), largest_below(1, 2, |_| true)),
        (None, None, Some(1))
    );
}
