//! The operations of LOGOS: one file and one row of the table each.

mod argmax;
mod attend;
mod attention;
mod causal_conv;
#[cfg(any(test, feature = "simulate"))]
mod context;
mod decay;
mod element_wise;
mod experts;
pub mod form;
mod gated_delta;
mod gather_over_chips;
mod geglu;
mod gelu;
mod head_matmul;
mod heads;
mod l2_norm;
mod last_row;
mod latent_attention;
mod layer_norm;
mod map;
mod matmul;
mod norm;
pub mod operation;
mod plus;
mod rms_norm;
mod rope;
mod router;
mod row_scale;
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
pub use experts::ExpertsOp;
pub use gated_delta::GatedDeltaOp;
pub use gather_over_chips::GatherOverChips;
pub use geglu::GeGlu;
pub use gelu::Gelu;
pub use head_matmul::{Along, HeadMatMul};
pub use l2_norm::L2Norm;
pub use last_row::LastRow;
pub use latent_attention::LatentAttentionOp;
pub use layer_norm::LayerNorm;
pub use matmul::MatMul;
pub use plus::Plus;
pub use rms_norm::RmsNorm;
pub use rope::RopeOp;
pub use router::RouterOp;
pub use row_scale::RowScale;
pub use rows::Rows;
pub use scaled::Scaled;
pub use sigmoid::Sigmoid;
pub use silu::Silu;
pub use softcap::SoftCap;
pub use sum_over_chips::SumOverChips;
pub use swiglu::SwiGlu;
pub use tanh::Tanh;
pub use times::Times;

use crate::language::ast::{Element, Shape, Sharding, Storage};
use crate::language::error::Problem;
use crate::lower::{Bound, Lower, LowerError, Net};
use crate::reference::{Chips, Data, Evaluate};
#[cfg(any(test, feature = "simulate"))]
use crate::simulate::machine::{Fire, Firing, Trouble};
use form::Form;
use operation::{MacsOf, Operands, Operation, Words};

/// The form of an operation, and its making from attribute words.
pub type Row = (&'static Form, fn(Words) -> Op);

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

        /// The form of each operation, and its making from attribute words, in the order of the table.
        pub const FORMS: &[Row] =
            &[$((&<$name as Operation>::FORM, |words| Op::$name(<$name as Operation>::from_attributes(words))),)*];

        impl Op {
            /// How it reads.
            pub const fn form(&self) -> &'static Form {
                match self { $(Op::$name(_) => &<$name as Operation>::FORM,)* }
            }

            /// Its code in the word table.
            pub const fn code(&self) -> u32 {
                match self { $(Op::$name(_) => <$name as Operation>::CODE,)* }
            }

            /// Whether it replaces the state it names: a recurrence.
            pub const fn replaces_state(&self) -> bool {
                match self { $(Op::$name(_) => <$name as Operation>::REPLACES_STATE,)* }
            }

            /// Storage of its result in a program of these activations.
            pub const fn storage(&self, activations: Storage) -> Storage {
                match (self.form().result, self) {
                    (Element::Int, _) => Storage::I32,
                    $((Element::Real, Op::$name(_)) if <$name as Operation>::KEEPS_F32 => Storage::F32,)*
                    (Element::Real, _) => activations,
                }
            }

            /// Its attributes as words, in the order of the word table.
            pub fn attributes(&self) -> Words {
                match self { $(Op::$name(op) => op.attributes(),)* }
            }

            /// Shape and sharding of the result; everything that can be wrong with the operands is checked.
            ///
            /// # Errors
            /// The first thing that is wrong, in the order: operand count and roles, attributes, shapes, shardings.
            pub fn derive(&self, operands: Operands<'_>) -> Result<(Shape, Sharding), Problem> {
                let operands = operands.of(self.form())?;
                operation::check_form(self.form(), self.attributes(), operands)?;
                match self { $(Op::$name(op) => Ok((op.shape(operands)?, op.sharding(operands)?)),)* }
            }

            /// Whether it reads every group before its first firing.
            pub fn needs_all_groups(&self) -> bool {
                match self { $(Op::$name(op) => op.needs_all_groups(),)* }
            }

            /// Every chip's share of the result of a checked statement.
            pub(crate) fn evaluate(&self, chips: &mut Chips<'_>) -> Vec<Data> {
                match self { $(Op::$name(op) => op.evaluate(chips),)* }
            }

            /// Adds its stages to a net.
            ///
            /// # Errors
            /// What its form or sizes do not allow.
            pub fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError> {
                match self { $(Op::$name(op) => op.lower(net, bound),)* }
            }

            /// Executes one firing of one of its stages.
            #[cfg(any(test, feature = "simulate"))]
            pub(crate) fn fire(&self, firing: &mut Firing<'_>) -> Result<(), Trouble> {
                match self { $(Op::$name(op) => op.fire(firing),)* }
            }

            /// What a collective stage makes of every chip's tokens.
            #[cfg(any(test, feature = "simulate"))]
            pub(crate) fn combine(&self, part: u32, chips: &[Data]) -> Result<Data, Trouble> {
                match self { $(Op::$name(op) => op.combine(part, chips),)* }
            }

            /// What its multiply-accumulates are of.
            pub const fn macs_of(&self) -> MacsOf {
                match self { $(Op::$name(_) => <$name as Operation>::MACS_OF,)* }
            }

            /// Multiply-accumulates of the statement on all chips together, in a step that ends at `ctx` positions of every
            /// sequence; none if that leaves 64 bits.
            ///
            /// The operands must be ones that [`Op::derive`] accepted, with `result` the shape it gave.
            pub fn macs(&self, operands: Operands<'_>, result: Shape, ctx: u32) -> Option<u64> {
                let operands = operands.of(self.form()).ok()?;
                match self { $(Op::$name(op) => op.macs(operands, result, ctx),)* }
            }

            /// For each operand of the form, the most that a step that ends at `ctx` positions reads of it; none where it is
            /// not given.
            ///
            /// The operands must be ones that [`Op::derive`] accepted.
            pub fn reads(&self, operands: Operands<'_>, ctx: u32) -> [Option<Shape>; form::MAX_OPERANDS] {
                let Ok(operands) = operands.of(self.form()) else { return [None; _] };
                std::array::from_fn(|index| {
                    operands.get(index)?;
                    match self { $(Op::$name(op) => Some(op.reads(operands, index, ctx)),)* }
                })
            }
        }
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
    RowScale,
    HeadMatMul,
    LatentAttentionOp,
    RouterOp,
    ExpertsOp,
}

#[cfg(test)]
mod tests;
