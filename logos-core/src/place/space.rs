//! Where buffers lie: one linear scratchpad space, a run a buffer, near its reader.

use crate::chip::UnitModel;
use crate::spatial::{Edge, Stage};

use super::PlaceError;

/// Buffers start at multiples of this many bytes.
const ALIGN: u64 = 64;

/// Bytes that the buffers of a section take.
pub fn buffer_space(edges: &[Edge]) -> u64 {
    edges.iter().map(size).fold(0, u64::saturating_add)
}

/// Bytes a buffer takes, up to where the next may start.
fn size(edge: &Edge) -> u64 {
    edge.capacity.saturating_mul(edge.slot_bytes).div_ceil(ALIGN).saturating_mul(ALIGN)
}

/// Gives every buffer its address: ascending in edge order, as near its reader's first site as what follows allows.
///
/// # Errors
/// [`PlaceError::Scratchpad`] where they do not fit beside `resident` bytes.
pub fn assign_addresses(
    unit: &UnitModel,
    stages: &[Stage],
    edges: &mut [Edge],
    resident: u64,
) -> Result<(), PlaceError> {
    let whole = u64::from(unit.cells) * u64::from(unit.scratchpad);
    let available = whole.saturating_sub(resident) / ALIGN * ALIGN;
    let needed = buffer_space(edges);
    if needed > available {
        return Err(PlaceError::Scratchpad { needed, available });
    }
    let (mut cursor, mut after) = (0, needed);
    for edge in edges {
        let wished = stages[edge.to.index()].site * u64::from(unit.scratchpad) / ALIGN * ALIGN;
        edge.address = wished.min(available - after).max(cursor);
        cursor = edge.address + size(edge);
        after -= size(edge);
    }
    Ok(())
}
