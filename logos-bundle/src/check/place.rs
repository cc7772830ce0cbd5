//! Rule 9 on the mesh: where a run of sites lies, and how far two stages are apart.

use super::frame::Chip;
use super::ledger::{At, Ledger, hold};

/// A bounding box in mesh columns and rows, both ends included.
#[derive(Clone, Copy)]
pub(super) struct Area {
    pub(super) left: i128,
    pub(super) right: i128,
    pub(super) top: i128,
    pub(super) bottom: i128,
}

/// The bounding box of `cells` sites from `site`: in strips of mesh rows, column by column in a strip.
pub(super) const fn area(c: &Chip, site: i128, cells: i128, at: At, l: &mut Ledger) -> Area {
    let sites = if c.cells < c.columns * c.rows { c.cells } else { c.columns * c.rows };
    hold!(l, 9, site + cells <= sites, at, sites, site + cells, "end of the stage's sites, at most");
    if site + cells > sites {
        return Area { left: 0, right: 0, top: 0, bottom: 0 };
    }
    let strip = c.strip * c.columns;
    let last = site + cells - 1;
    let (first_strip, last_strip) = (site / strip, last / strip);
    let top = first_strip * c.strip;
    let below = (last_strip + 1) * c.strip;
    let bottom = if below < c.rows { below } else { c.rows } - 1;
    if first_strip == last_strip {
        let height = bottom - top + 1;
        let first = first_strip * strip;
        Area { left: (site - first) / height, right: (last - first) / height, top, bottom }
    } else {
        Area { left: 0, right: c.columns - 1, top, bottom }
    }
}

/// Cycles on the network from any cell of one stage to any of another.
pub(super) const fn hops(c: &Chip, a: &Area, b: &Area) -> i128 {
    let (right, left) = (b.right - a.left, a.right - b.left);
    let (down, up) = (b.bottom - a.top, a.bottom - b.top);
    let across = if right > left { right } else { left };
    let along = if down > up { down } else { up };
    c.inject + c.hop * (across + along)
}
