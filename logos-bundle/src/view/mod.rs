//! Typed views of a table, for people and programs.
//!
//! [`Bundle`] is the way in: from words in memory, from the bytes of a `.logos` file, or from a binary's link section
//! ([`Bundles::scan`]). From it come programs, their values, statements and sections, and from these stages, edges and turns;
//! layers, and for each layer and chip what is loaded from where.
//!
//! No view allocates, copies or trusts the table: each reads its row when asked, an index that leads nowhere gives [`None`],
//! a run of rows that leaves its part is cut off there, a string that leaves its part is empty. Views say what a table says;
//! whether it is right is the checker's question ([`crate::check`]).

mod binding;
mod bundle;
mod chip;
mod codes;
mod net;
mod operation;
mod program;
mod scan;
mod source;
#[cfg(test)]
mod tests;
mod text;

pub use binding::{Binding, Name, Rope, Run, Runs};
pub use bundle::{Bundle, BundleError, Hash, Layer, TextMismatch};
pub use chip::Chip;
pub use codes::{Binder, BindingClass, Primitive, ProgramRole, RopePart, RopeScaling, Storage, Tier, ValueRole};
pub use net::{Edge, Flow, Section, Stage, Turn};
pub use operation::{Attribute, Operation};
pub use program::{Program, Sharding, Share, Statement, Value};
pub use scan::Bundles;
pub use text::Text;

/// Declares a view: a parent, the row, and the row's number among its siblings. `Debug` is its one printed line.
macro_rules! view {
    ($(#[$doc:meta])* $name:ident of $parent:ident: $parent_type:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name<'a> {
            pub(in crate::view) $parent: $crate::view::$parent_type<'a>,
            pub(in crate::view) row: $crate::view::source::Row<'a>,
            pub(in crate::view) index: u32,
        }

        impl core::fmt::Debug for $name<'_> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }
    };
}
use view;
