//! Firings of a stage that takes whole heads.

use crate::language::ast::ValueId;
use crate::lower::Net;

/// How a head-wise stage fires.
pub(super) struct HeadFirings {
    /// Tokens a firing.
    pub(super) tokens: u32,
    /// Columns a firing.
    pub(super) columns: u64,
    /// Firings an iteration.
    pub(super) firings: u64,
}

impl HeadFirings {
    pub(super) fn of(net: &Net<'_>, x: ValueId, heads: u32) -> Self {
        let tile = net.tile(x).max(1);
        let head = u64::from(net.value(x).shape.cols) / u64::from(heads.max(1));
        let columns = head.max(tile);
        HeadFirings {
            tokens: (head / tile).max(1) as u32,
            columns,
            firings: net.groups * net.cx.cols(x).div_ceil(columns.max(1)),
        }
    }
}
