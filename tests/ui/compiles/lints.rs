//! Strict lints in the user's crate.
#![forbid(unsafe_code)]
#![deny(missing_docs, unused, nonstandard_style, unreachable_pub, missing_debug_implementations, unused_qualifications)]
#![deny(clippy::all, clippy::pedantic)]

logos_rdu::logos_model! {
    pub mod model {
        model: config "models/smollm2-135m/config.json",
        chip: SN40L,
        deployments: {
            DECODE: decode { ctx: 2_048 },
        },
    }
}

fn main() {
    println!("{:?}", model::DECODE);
}
