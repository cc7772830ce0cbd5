//! How an operation adds its parts to a net; each operation's own file implements it.

use crate::language::ast::ValueId;

use super::{LowerError, Net};

/// A statement that binds a value.
#[derive(Clone, Copy, Debug)]
pub struct Bound<'a> {
    /// The value.
    pub result: ValueId,
    /// The operands, in the operation's order.
    pub operands: &'a [ValueId],
}

/// The lowering of an operation: one row of RULES.md section 3.
pub trait Lower {
    /// Whether the operation reads every group before its first firing, so that it shares no section with stages that
    /// are pipelined group by group.
    fn needs_all_groups(&self) -> bool {
        false
    }

    /// Adds the operation's stages, in order of parts, feeds their ports in order, and says which stage emits the result.
    ///
    /// # Errors
    /// What the operation's form or sizes do not allow.
    fn lower(&self, net: &mut Net<'_>, bound: &Bound<'_>) -> Result<(), LowerError>;
}
