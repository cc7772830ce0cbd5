//! Build-script helper of LOGOS: a model's config and its deployments, compiled while `build.rs` runs.
//!
//! ```no_run
//! // build.rs
//! fn main() -> Result<(), logos_build::BuildError> {
//!     logos_build::model("models/qwen3.5-27b/config.json")
//!         .chip("SN50")
//!         .decode("DECODE", |d| d.tp(8).ctx(262_144).batch(8))
//!         .prefill("PREFILL", |p| p.tp(8).ctx(262_144).chunk(512))
//!         .emit("qwen35")
//! }
//! ```
//!
//! The crate then says `logos_rdu::include_model!("qwen35");` and has the module `qwen35` with the constants `DECODE`
//! and `PREFILL`: the same bytes that `logos_rdu::logos_model!` makes of the same request.
//!
//! A size is checked where it is used: `tp(5)` on 24 heads is a [`BuildError`] with every reason and the widths that
//! are admitted, shown by Cargo. Behind the feature `cli` is the `cargo logos` command.

#[cfg(feature = "cli")]
pub mod cli;
mod describe;
mod emit;
mod error;
mod form;
mod model;
mod name;
mod require;
mod source;

pub use describe::{
    deployment as describe_deployment, module as describe_module, report as describe_report, text as describe_text,
};
pub use error::BuildError;
pub use form::{Decode, Forward, Prefill};
pub use logos_core::fit::report::{Report, Text};
pub use logos_core::request::require::{Compare, Figure};
pub use logos_core::{Code, Compiled, ExpertSplit, Refusal, Requirement, Vocabulary, Weights};
pub use model::Model;
pub use require::Require;
pub use source::{
    LARGEST_CONFIG_BYTES, read_any_chip, read_any_config, read_any_description, read_chip, read_config,
    read_description,
};

/// Begins a request: the path of the model's `config.json`, relative to the folder of the package's Cargo.toml.
pub fn model(config: impl Into<String>) -> Model {
    Model::new(config.into())
}
