//! What rustc's own run of the checker may cost: calls and turns of loops, far below the 2,000,000 at which the lint
//! `long_running_const_eval`, an error unless allowed, stops a user's build.

use logos_bundle::check;

logos_rdu::logos_model! {
    mod qwen35 {
        model: config "fixtures/configs/qwen3.5-27b/config.json",
        chip: SN50,
        deployments: {
            DECODE: decode { tp: 8, ctx: 262_144, batch: 8 },
        }
    }
}

/// As many checks as there are here have to stay below the limit together, so one takes a twentieth of it at most.
const TIMES: u32 = 20;

const HELD: u32 = {
    let words = qwen35::DECODE.words();
    let mut held = 0;
    while held < TIMES {
        assert!(check::all(words).hold());
        held += 1;
    }
    held
};

#[test]
fn one_check_takes_a_twentieth_of_what_rustc_allows() {
    // That this file compiles is the test.
    assert_eq!(HELD, TIMES);
}
