//! A crate that knows logos-rdu as `spatial`.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub use spatial::logos_model;

spatial::logos_model! {
    pub mod smol {
        model: config "../fixtures/configs/smollm2-135m/config.json",
        chip: SN40L,
        deployments: { DECODE: decode { ctx: 2_048 } },
    }
}
