//! Requirements that hold, under strict lints, with rustc's own look at each.
#![forbid(unsafe_code)]
#![deny(missing_docs, unused, nonstandard_style, unreachable_pub, missing_debug_implementations, unused_qualifications)]
#![deny(clippy::all, clippy::pedantic)]

macro_rules! at_least {
    ($positions:literal) => {
        logos_rdu::logos_model! {
            pub mod model {
                model: config "models/smollm2-135m/config.json",
                chip: SN40L,
                deployments: {
                    DECODE: decode { ctx: 2_048 } require {
                        hbm_fit, tight, ctx >= $positions, sequences > 0, sequences >= 0, hbm_headroom >= 32GiB,
                        hbm_headroom <= 68_719_476_736 bytes, hbm_headroom < 18_446_744_073_709_551_615u64,
                    },
                    FORWARD: forward { rows: 16 } require { hbm_headroom > 32 GB, },
                },
            }
        }
    };
}

at_least!(2_048);

fn main() {
    assert!(model::DECODE.is_tight());
}
