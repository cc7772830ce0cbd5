//! Runs what the compiler made, on the host.
//!
//! A second opinion, for tests and for the build tool: it takes the compiler's output and the rules of
//! `logos-bundle/RULES.md`, and shares with placing, certifying and checking neither code nor closed forms. Does not know
//! operations' arithmetic in [`net`], which moves tokens, not values; [`machine`] moves values, and each operation's own file says
//! what a firing of its stages computes.

mod gemm;
pub mod machine;
pub mod net;
#[cfg(feature = "checkpoint")]
mod store;
mod weights;

pub use weights::{SharedTensor, TensorStore};

pub use crate::checkpoint::TensorRead;
