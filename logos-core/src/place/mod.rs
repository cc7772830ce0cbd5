//! Cells, sites and scratchpad addresses.
//!
//! Input: a lowered net. Output: the same net with each stage's split and site, and, once capacities are known, each
//! buffer's address. Does not know operations; times only through the budgets it is given.

mod cells;
mod sites;
mod space;

#[cfg(test)]
mod tests;

pub use cells::{Budget, Terms, allocate, initiation_interval};
pub(crate) use cells::{ceil_log2, recurrence, stream_bytes};
pub use sites::{distance, settle};
pub use space::{assign_addresses, buffer_space};

/// Why a net has no place on the chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlaceError {
    /// More cells than the mesh has, whatever the interval.
    #[error("its stages need {needed} cells and the mesh has {cells}")]
    Cells {
        /// Fewest that any interval allows.
        needed: u64,
        /// Cells of the mesh.
        cells: u64,
    },
    /// Buffers beyond the scratchpads.
    #[error("its buffers need {needed} bytes of scratchpad and {available} are free")]
    Scratchpad {
        /// Bytes of all buffers.
        needed: u64,
        /// Bytes that are free.
        available: u64,
    },
    /// Beyond the range in which the arithmetic of the rules is exact.
    #[error("an interval of this size leaves the range of the rules")]
    Range,
}
