//! The mesh of a chip with the stages of a section on it, coloured by what they do, numbered as in the schedule.

use logos_bundle::view::{Chip, Primitive, Section, Stage};

use super::bars::swatch;
use super::svg::{Rectangles, Tenths};
use super::write::Html;

/// Side of a site.
const SITE: u32 = 10;

/// Sites that a stage has at least where its number is written on them.
const NUMBERED: u64 = 12;

/// The columns, rows and rows of a strip of a mesh.
#[derive(Clone, Copy)]
struct Grid {
    columns: u64,
    rows: u64,
    strip: u64,
}

impl Grid {
    fn of(chip: &Chip<'_>) -> Option<Grid> {
        let grid = Grid { columns: chip.columns().into(), rows: chip.rows().into(), strip: chip.strip_rows().into() };
        (grid.columns > 0 && grid.rows > 0 && grid.strip > 0).then_some(grid)
    }

    /// Column and row of a site: strips of rows, column by column, so that neighbours in order are neighbours on the mesh.
    fn place(self, site: u64) -> (u64, u64) {
        let strip = site / (self.columns * self.strip);
        let top = strip * self.strip;
        let height = self.strip.min(self.rows.saturating_sub(top)).max(1);
        let within = site - strip * self.columns * self.strip;
        (within / height, top + within % height)
    }

    /// The sites from `first`, as runs down a column: column, row, length.
    fn runs(self, first: u64, sites: u64) -> Vec<(u64, u64, u64)> {
        let mut runs: Vec<(u64, u64, u64)> = Vec::new();
        for site in first..first.saturating_add(sites).min(self.columns * self.rows) {
            let (column, row) = self.place(site);
            match runs.last_mut() {
                Some((of, from, length)) if *of == column && *from + *length == row => *length += 1,
                Some(_) | None => runs.push((column, row, 1)),
            }
        }
        runs
    }
}

/// The class of a primitive's colour.
pub(super) fn class(primitive: Primitive) -> &'static str {
    match primitive {
        Primitive::Load => "p-load",
        Primitive::Store => "p-store",
        Primitive::Gather => "p-gather",
        Primitive::GemmA => "p-gemm-a",
        Primitive::GemmB => "p-gemm-b",
        Primitive::Map => "p-map",
        Primitive::Reduce => "p-reduce",
        Primitive::Scan => "p-scan",
        Primitive::Scores => "p-scores",
        Primitive::Softmax => "p-softmax",
        Primitive::Values => "p-values",
        Primitive::Collective => "p-collective",
        // A code of a later version of the table.
        _ => "p-other",
    }
}

/// The mesh.
pub(super) fn write(html: &mut Html, chip: &Chip<'_>, section: &Section<'_>) {
    let Some(grid) = Grid::of(chip) else { return };
    let (width, height) = (grid.columns * u64::from(SITE), grid.rows * u64::from(SITE));
    let view = format!("-1 -1 {} {}", width + 2, height + 2);
    let spoken = format!(
        "The mesh of {} columns and {} rows: {} stages on {} of {} cells. The schedule below lists them.",
        grid.columns,
        grid.rows,
        section.stages().count(),
        section.cells(),
        chip.cells()
    );
    html.element("figure", &[("class", &"mesh")], |html| {
        html.element("svg", &[("viewBox", &view), ("role", &"img"), ("aria-label", &spoken)], |html| {
            html.leaf("rect", &[("class", &"there"), ("width", &width), ("height", &height)]);
            let mut numbers = Vec::new();
            for stage in section.stages() {
                let runs = grid.runs(stage.first_site().into(), stage.cells());
                let mut path = Rectangles::default();
                for &(column, row, length) in &runs {
                    let at = |n: u64| Tenths::share(n, 1, SITE);
                    path.add(at(column), at(row), Tenths::of(SITE), at(length));
                }
                if path.is_empty() {
                    continue;
                }
                html.element("path", &[("class", &class(stage.primitive())), ("d", &path)], |html| {
                    html.texts("title", &[], titled(&stage));
                });
                if stage.cells() >= NUMBERED {
                    numbers.extend(runs.get(runs.len() / 2).map(|&run| (stage.index(), run)));
                }
            }
            html.line();
            for (number, (column, row, length)) in numbers {
                let x = Tenths::share(column * 2 + 1, 2, SITE);
                let y = Tenths::share(row * 2 + length, 2, SITE).plus(Tenths::of(4));
                html.texts("text", &[("class", &"number-on"), ("x", &x), ("y", &y)], number);
            }
        });
        html.texts(
            "figcaption",
            &[],
            format_args!(
                "{} of {} cells in use, {} × {} sites; numbers are those of the stages below. The grid is modeled: no floor plan \
                 is published.",
                section.cells(),
                chip.cells(),
                grid.columns,
                grid.rows
            ),
        );
        legend(html, section);
    });
    html.line();
}

fn titled(stage: &Stage<'_>) -> String {
    let (a, b) = stage.split();
    format!("{}: {}, {a} × {b} cells from site {}", stage.index(), stage.name(), stage.first_site())
}

/// The primitives that the section has, in the order of the table's codes.
fn legend(html: &mut Html, section: &Section<'_>) {
    let mut found: Vec<(&'static str, String, u64)> = Vec::new();
    for stage in section.stages() {
        let class = class(stage.primitive());
        match found.iter_mut().find(|(of, ..)| *of == class) {
            Some((.., cells)) => *cells = cells.saturating_add(stage.cells()),
            None => found.push((class, stage.primitive().to_string(), stage.cells())),
        }
    }
    html.element("ul", &[("class", &"legend")], |html| {
        for (class, name, cells) in &found {
            html.element("li", &[], |html| {
                swatch(html, class);
                html.text(format_args!("{name} {cells}"));
            });
        }
    });
}

#[cfg(test)]
mod tests {
    use super::Grid;

    #[test]
    fn sites_go_down_columns_of_a_strip() {
        let grid = Grid { columns: 3, rows: 5, strip: 2 };
        assert_eq!(grid.place(0), (0, 0));
        assert_eq!(grid.place(1), (0, 1));
        assert_eq!(grid.place(2), (1, 0));
        assert_eq!(grid.place(6), (0, 2));
        // The last strip is one row high.
        assert_eq!(grid.place(13), (1, 4));
        assert_eq!(grid.runs(1, 3), [(0, 1, 1), (1, 0, 2)]);
        assert_eq!(grid.runs(12, 9), [(0, 4, 1), (1, 4, 1), (2, 4, 1)]);
    }
}
