//! LOGOS: a language model's `config.json` and a deployment on a spatial chip, compiled into lowered, certified
//! programs while Cargo builds, and embedded in this crate's binary as constants.
//!
//! ```ignore
//! logos_rdu::logos_model! {
//!     /// Qwen3.5-27B on half a SambaRack.
//!     pub mod qwen35 {
//!         model: config "models/qwen3.5-27b/config.json",
//!         chip: SN50,
//!         deployments: {
//!             DECODE:  decode  { tp: 8, ctx: 262_144, batch: 8 } require { hbm_fit, ctx >= 131_072 },
//!             PREFILL: prefill { tp: 8, ctx: 262_144, chunk: 512 },
//!         },
//!     }
//! }
//!
//! const _: () = assert!(qwen35::DECODE.fit().hbm_headroom_bytes > 8 << 30);
//! ```
//!
//! - [`logos_model!`] compiles a request where it stands; [`include_model!`] includes what a build script compiled with
//!   `logos-build`. Both give a module with a constant [`Deployment`] a deployment, of the same bytes.
//! - [`view`] reads a deployment: programs, stages, edges, layers, and what each chip loads for each.
//! - [`check`] is the independent checker of the certificate. rustc runs it on every deployment while it compiles the crate.
//!
//! Nothing here ran on an RDU and no speed is claimed.
#![no_std]

mod embed;
mod macros;

#[cfg(feature = "load")]
pub use logos_bundle::load;
pub use logos_bundle::{Deployment, FitFacts, Form, check, table, view};

/// The compiler, for programs that learn their model at run time.
#[cfg(feature = "compiler")]
pub use logos_core as compiler;

/// What the macros' expansions name. Not for use by hand.
#[doc(hidden)]
pub mod __private {
    pub use logos_bundle::table::from_le;
    pub use logos_macros::logos_model;

    pub use crate::embed::{confirm_fit, confirm_requirement, ctx, hbm_fit, hbm_headroom, sequences, tight};
}
