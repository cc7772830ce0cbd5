//! The reference evaluator: a program evaluated directly, statement by statement, on every chip in lock step.
//!
//! In: the programs of a deployment ([`crate::kinds::KindProgram`]) and a source of checkpoint tensors. Out: next tokens, the
//! logits they are the largest of, and the hidden state after each layer. Each operation's arithmetic stands in its own file
//! in [`crate::ops`]. Does not know how programs are lowered: what the simulator gives is compared with this.
//!
//! # Arithmetic
//! Everything is f32, whatever the declared storage, and every sum is taken in ascending order of its index (rotary angles
//! are f64 until their cosine is taken). Weights are used as the source gives them, so of a quantised checkpoint the source gives
//! what the stored values stand for. A chip sees its own shares alone: it loads the slices its bindings name, and what
//! another chip holds reaches it through a sum or gather over chips only. A wrong sharding gives wrong numbers here, too.

mod chips;
mod data;
mod embed;
mod error;
mod evaluate;
mod load;
mod product;
mod rotary;
mod session;
mod shards;
mod tally;

pub use data::Matrix;
pub use embed::{EmbedError, embed};
pub use error::{LoadError, StepError};
pub use rotary::RopeLength;
pub use session::{Output, Session};
pub use shards::{Shards, TensorData, WeightSource};

pub(crate) use chips::{Chip, Chips, Evaluate};
pub(crate) use data::{Data, State, beside, each_group};
pub(crate) use product::{matrix_product, matrix_product_from};
#[cfg(any(test, feature = "simulate"))]
pub(crate) use rotary::{table as rotary_table, temperatures};
pub(crate) use tally::accumulated;

#[cfg(test)]
mod tests;
