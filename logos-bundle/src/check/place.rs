//! Rule 9 on the mesh: where a run of sites lies, and how far two stages are apart.

use super::frame::Chip;

/// A bounding box in mesh columns and rows, both ends included.
#[derive(Clone, Copy)]
pub(super) struct Area {
    pub(super) left: i128,
    pub(super) right: i128,
    pub(super) top: i128,
    pub(super) bottom: i128,
}

/// The bounding box of `cells` sites from `site`: in strips of mesh rows, column by column in a strip. Of sites that are not
/// on the mesh, none.
pub(super) const fn area(c: &Chip, site: i128, cells: i128) -> Area {
    // Below 2^44, and never negative: an unsigned division is four steps less to evaluate.
    let site = site as u64;
    let strip = c.strip_sites;
    let height = c.strip;
    let in_strip = site % strip;
    let top = site / strip * height;
    let last = if let 1 = cells { in_strip } else { in_strip + cells as u64 - 1 };
    if last >= strip || top + height > c.rows as u64 || site as i128 + cells > c.sites {
        return across(c, site as i128, cells);
    }
    // All in one strip of full height, as almost every stage is.
    let left = (in_strip / height) as i128;
    let right = if let 1 = cells { left } else { (last / height) as i128 };
    let top = top as i128;
    Area { left, right, top, bottom: top + c.below }
}

/// The bounding box of sites in several strips, or in the last.
const fn across(c: &Chip, site: i128, cells: i128) -> Area {
    let end = site + cells;
    if end > c.sites {
        return Area { left: 0, right: 0, top: 0, bottom: 0 };
    }
    let strip = c.strip_sites;
    let rows = c.below + 1;
    let first_strip = (site as u64 / strip) as i128;
    let last = end - 1;
    let last_strip = (last as u64 / strip) as i128;
    let top = first_strip * rows;
    let below = (last_strip + 1) * rows;
    let bottom = if below < c.rows { below } else { c.rows } - 1;
    if first_strip == last_strip {
        let height = (bottom - top + 1) as u64;
        let first = top * c.columns;
        let left = ((site - first) as u64 / height) as i128;
        let right = ((last - first) as u64 / height) as i128;
        Area { left, right, top, bottom }
    } else {
        Area { left: 0, right: c.columns - 1, top, bottom }
    }
}

/// Cycles on the network from any cell of one stage to any of another. A macro, as every edge asks: taking three references
/// and a call would cost constant evaluation more than the sum itself.
macro_rules! hops {
    ($chip:expr, $a:expr, $b:expr) => {{
        let (right, left) = ($b.right - $a.left, $a.right - $b.left);
        let (down, up) = ($b.bottom - $a.top, $a.bottom - $b.top);
        let across = if right > left { right } else { left };
        let along = if down > up { down } else { up };
        $chip.inject + $chip.hop * (across + along)
    }};
}
pub(super) use hops;
