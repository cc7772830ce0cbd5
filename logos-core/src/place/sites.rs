//! Sites along the mesh: strips of rows, column by column, so that neighbours in order are neighbours on the mesh.

use crate::chip::UnitModel;
use crate::spatial::Stage;

/// Gives each stage the next free run of sites, in stage order.
pub fn settle(stages: &mut [Stage]) {
    let mut site = 0;
    for stage in stages {
        stage.site = site;
        site += stage.cells();
    }
}

/// A rectangle of the mesh, ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bounds {
    columns: (u64, u64),
    rows: (u64, u64),
}

/// Cycles from `from` to `to`: injection, and a hop for each step of the largest Manhattan distance between the
/// rectangles that hold their sites.
pub fn distance(unit: &UnitModel, from: &Stage, to: &Stage) -> u64 {
    let (f, t) = (bounds(unit, from.site, from.cells()), bounds(unit, to.site, to.cells()));
    let steps = farthest(f.columns, t.columns) + farthest(f.rows, t.rows);
    u64::from(unit.inject) + u64::from(unit.hop) * steps
}

fn farthest(a: (u64, u64), b: (u64, u64)) -> u64 {
    a.1.abs_diff(b.0).max(b.1.abs_diff(a.0))
}

fn bounds(unit: &UnitModel, site: u64, cells: u64) -> Bounds {
    let (columns, rows, strip) = (u64::from(unit.columns), u64::from(unit.rows), u64::from(unit.strip));
    let last_site = site + cells.max(1) - 1;
    let (first, last) = (site / (columns * strip), last_site / (columns * strip));
    let top = first * strip;
    let bottom = (last * strip + strip).min(rows) - 1;
    if first != last {
        return Bounds { columns: (0, columns - 1), rows: (top, bottom) };
    }
    let height = strip.min(rows - top);
    let start = first * columns * strip;
    Bounds { columns: ((site - start) / height, (last_site - start) / height), rows: (top, bottom) }
}
