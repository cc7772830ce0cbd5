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
    let end = site + cells;
    if end > c.sites {
        return Area { left: 0, right: 0, top: 0, bottom: 0 };
    }
    // Below 2^44, and never negative: an unsigned division is four steps less to evaluate.
    let (first_site, strip) = (site as u64, c.strip_sites);
    let in_strip = first_site % strip;
    let last_in_strip = in_strip + cells as u64 - 1;
    if last_in_strip < strip {
        let height = c.strip as u64;
        let top = first_site / strip * height;
        if top + height <= c.rows as u64 {
            // All in one strip of full height, as almost every stage is.
            let left = (in_strip / height) as i128;
            let right = if cells == 1 { left } else { (last_in_strip / height) as i128 };
            return Area { left, right, top: top as i128, bottom: top as i128 + c.strip - 1 };
        }
    }
    let first_strip = (site as u64 / strip) as i128;
    let last = end - 1;
    let last_strip = if cells == 1 { first_strip } else { (last as u64 / strip) as i128 };
    let top = first_strip * c.strip;
    let below = (last_strip + 1) * c.strip;
    let bottom = if below < c.rows { below } else { c.rows } - 1;
    if first_strip == last_strip {
        let height = (bottom - top + 1) as u64;
        let first = top * c.columns;
        let left = ((site - first) as u64 / height) as i128;
        let right = if cells == 1 { left } else { ((last - first) as u64 / height) as i128 };
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
