//! The operations of LOGOS: one file and one row of the table each.

mod argmax;
mod attention;
mod causal_conv;
mod decay;
mod gated_delta;
mod gather_over_chips;
mod geglu;
mod gelu;
mod l2_norm;
mod last_row;
mod layer_norm;
mod matmul;
mod plus;
mod rms_norm;
mod rope;
mod rows;
mod scaled;
mod sigmoid;
mod silu;
mod softcap;
mod sum_over_chips;
mod swiglu;
mod tanh;
mod times;

pub use argmax::ArgMax;
pub use attention::AttentionOp;
pub use causal_conv::CausalConv;
pub use decay::Decay;
pub use gated_delta::GatedDeltaOp;
pub use gather_over_chips::GatherOverChips;
pub use geglu::GeGlu;
pub use gelu::Gelu;
pub use l2_norm::L2Norm;
pub use last_row::LastRow;
pub use layer_norm::LayerNorm;
pub use matmul::MatMul;
pub use plus::Plus;
pub use rms_norm::RmsNorm;
pub use rope::RopeOp;
pub use rows::Rows;
pub use scaled::Scaled;
pub use sigmoid::Sigmoid;
pub use silu::Silu;
pub use softcap::SoftCap;
pub use sum_over_chips::SumOverChips;
pub use swiglu::SwiGlu;
pub use tanh::Tanh;
pub use times::Times;

/// Makes [`Op`] and its exhaustive dispatch out of one row an operation.
macro_rules! op_table {
    ($($name:ident,)*) => {
        /// An operation with its attributes.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Op { $(#[allow(missing_docs, reason = "documented on the payload")] $name($name),)* }

        $(impl From<$name> for Op {
            fn from(op: $name) -> Self {
                Op::$name(op)
            }
        })*
    };
}

op_table! {
    MatMul,
    Plus,
    Times,
    Scaled,
    Silu,
    Gelu,
    Sigmoid,
    Tanh,
    SoftCap,
    SwiGlu,
    GeGlu,
    RmsNorm,
    LayerNorm,
    L2Norm,
    RopeOp,
    AttentionOp,
    CausalConv,
    Decay,
    GatedDeltaOp,
    Rows,
    LastRow,
    ArgMax,
    SumOverChips,
    GatherOverChips,
}
