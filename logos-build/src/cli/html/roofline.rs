//! The roofline of layers: multiply-accumulates a byte against what the unit model's memory and arrays admit.

use logos_core::fit::work::{Intensity, Work};
use logos_core::kinds::Role;

use super::bars::bytes;
use super::depth::{chip, colour, letter};
use super::origin::{Origin, Shown};
use super::page::Page;
use super::svg::{Tenths, log2};
use super::write::Html;
use crate::describe::grouped;

/// The drawing: its width and height, and what is left of and below the plot.
const WIDTH: u32 = 720;
const HEIGHT: u32 = 344;
const LEFT: u32 = 64;
const BELOW: u32 = 46;
const TOP: u32 = 40;
const RIGHT: u32 = 16;

/// Radius of a mark.
const MARK: u32 = 11;

/// 65,536ths: the unit of logarithms.
const ONE: i64 = 1 << 16;

/// A program on the roofline.
struct Point {
    letter: String,
    colour: String,
    name: String,
    at: Option<usize>,
    work: Work,
    intensity: Intensity,
    log: i64,
}

/// Logarithms and where they are drawn.
struct Plot {
    /// From and to, to base 2.
    x: (i64, i64),
    /// The ridge.
    ridge: i64,
    /// Binary orders of magnitude below the roof.
    depth: i64,
}

impl Plot {
    fn x(&self, log: i64) -> Tenths {
        let (from, to) = self.x;
        let width = i64::from(WIDTH - LEFT - RIGHT) * 10;
        Tenths(i64::from(LEFT) * 10 + (log.clamp(from, to) - from) * width / (to - from).max(1))
    }

    /// Where the roof is at an intensity.
    fn y(&self, log: i64) -> Tenths {
        let below = (self.ridge - log).clamp(0, self.depth);
        let height = i64::from(HEIGHT - BELOW - TOP) * 10;
        Tenths(i64::from(TOP) * 10 + below * height / self.depth.max(1))
    }
}

/// The roofline; nothing where no program moves a byte or the model has no memory.
pub(super) fn write(html: &mut Html, page: &Page<'_>, shown: &mut Shown) {
    let points = points(page);
    let Some(ridge) = page.step.ridge() else { return };
    let Some(ridge_log) = log2(ridge.macs, ridge.bytes) else { return };
    let lowest = points.iter().map(|point| point.log).fold(ridge_log, i64::min);
    let highest = points.iter().map(|point| point.log).fold(ridge_log, i64::max);
    let (from, to) = (lowest.saturating_sub(ONE), highest.saturating_add(2 * ONE));
    let plot = Plot { x: (from, to), ridge: ridge_log, depth: ridge_log - from };
    html.element("section", &[("id", &"roofline")], |html| {
        html.texts("h2", &[], "The roofline of layers");
        html.element("p", &[], |html| {
            html.text("On one chip the arrays of the unit model multiply and accumulate ");
            let macs = grouped(page.step.macs_a_cycle());
            let origin = Origin::modeled("cells, times rows and columns of a cell's array");
            shown.figure(html, "multiply-accumulates a cycle of the unit model", &macs, Some(origin));
            html.text(" times a cycle, and are fed as fast as the memory moves bytes from ");
            let origin = Origin::modeled("that, over the bytes that the main memory moves in a cycle of the unit model");
            shown.figure(html, "ridge, multiply-accumulates a byte", &ridge.to_string(), Some(origin));
            html.text(" multiply-accumulates a byte on: the ridge. Left of it bytes bind, right of it arrays. The roof bounds the unit model, not a machine's speed.");
        });
        html.element("figure", &[], |html| {
            drawing(html, &plot, &points, &ridge);
        });
        table(html, page, &points, shown, &ridge);
    });
    html.line();
}

fn points(page: &Page<'_>) -> Vec<Point> {
    let kinds = &page.step.kinds;
    let of = |at: Option<usize>, letter: String, colour: String, name: String, work: Work| {
        let intensity = work.intensity().ok()?;
        let log = log2(intensity.macs, intensity.bytes)?;
        Some(Point { letter, colour, name, at, work, intensity, log })
    };
    let mut points: Vec<Point> = kinds
        .iter()
        .enumerate()
        // An embedding looks up, and multiplies nothing.
        .filter(|(_, kind)| kind.role != Role::Embed)
        .filter_map(|(at, kind)| of(Some(at), letter(kinds, at), colour(kinds, at), kind.name.clone(), kind.a_chip))
        .collect();
    points.extend(of(None, "Σ".to_owned(), "k-all".to_owned(), "the whole step".to_owned(), page.step.a_chip));
    points
}

fn drawing(html: &mut Html, plot: &Plot, points: &[Point], ridge: &Intensity) {
    let spoken: Vec<String> =
        points.iter().map(|point| format!("{} {} at {}", point.letter, point.name, point.intensity)).collect();
    let spoken = format!("Multiply-accumulates a byte, ridge at {ridge}: {}", spoken.join("; "));
    let view = format!("0 0 {WIDTH} {HEIGHT}");
    let (base, right) = (HEIGHT - BELOW, WIDTH - RIGHT);
    html.element(
        "div",
        &[("class", &"scroll"), ("tabindex", &0), ("role", &"group"), ("aria-label", &"roofline")],
        |html| {
            html.element(
                "svg",
                &[("class", &"roofline"), ("viewBox", &view), ("role", &"img"), ("aria-label", &spoken)],
                |html| {
                    let (knee, roof) = (plot.x(plot.ridge), plot.y(plot.ridge));
                    let (first, foot) = (plot.x(plot.x.0), plot.y(plot.x.0));
                    let area = format!("M{first} {foot}L{knee} {roof}H{right}V{base}H{first}z");
                    html.leaf("path", &[("class", &"under"), ("d", &area)]);
                    for (log, name) in tens(plot) {
                        let x = plot.x(log);
                        html.leaf("path", &[("class", &"grid"), ("d", &format!("M{x} {TOP}V{base}"))]);
                        html.texts("text", &[("class", &"tick"), ("x", &x), ("y", &(base + 16))], name);
                    }
                    html.leaf("path", &[("class", &"roof"), ("d", &format!("M{first} {foot}L{knee} {roof}H{right}"))]);
                    html.leaf("path", &[("class", &"ridge"), ("d", &format!("M{knee} {roof}V{base}"))]);
                    html.texts(
                        "text",
                        &[("class", &"tick"), ("x", &knee), ("y", &(TOP - 20))],
                        format_args!("ridge {ridge}"),
                    );
                    let x = LEFT + (WIDTH - LEFT - RIGHT) / 2;
                    html.texts(
                        "text",
                        &[("class", &"tick"), ("x", &x), ("y", &(HEIGHT - 8))],
                        "multiply-accumulates a byte (log)",
                    );
                    let turned = format!("translate(18 {}) rotate(-90)", TOP + (HEIGHT - TOP - BELOW) / 2);
                    html.texts("text", &[("class", &"tick"), ("transform", &turned)], "share of the arrays fed (log)");
                    // Marks that would lie on one another are hung below each other.
                    let mut drawn: Vec<(Tenths, Tenths)> = Vec::new();
                    for point in points {
                        let (x, on) = (plot.x(point.log), plot.y(point.log));
                        let mut y = on;
                        let near = |(a, b): &(Tenths, Tenths), y: Tenths| {
                            a.minus(x).0.abs() < Tenths::of(2 * MARK).0 && b.minus(y).0.abs() < Tenths::of(2 * MARK).0
                        };
                        while let Some((_, other)) = drawn.iter().find(|mark| near(mark, y)) {
                            y = other.plus(Tenths::of(2 * MARK + 1));
                        }
                        drawn.push((x, y));
                        html.element("g", &[("class", &format!("mark {}", point.colour))], |html| {
                            html.texts(
                                "title",
                                &[],
                                format_args!("{}: {} multiply-accumulates a byte", point.name, point.intensity),
                            );
                            if y != on {
                                html.leaf("path", &[("class", &"hang"), ("d", &format!("M{x} {on}V{y}"))]);
                            }
                            html.leaf("circle", &[("cx", &x), ("cy", &y), ("r", &MARK)]);
                            html.texts("text", &[("x", &x), ("y", &y.plus(Tenths::of(4)))], &point.letter);
                        });
                    }
                },
            );
        },
    );
    html.line();
}

/// Powers of ten within the plot, with their names.
fn tens(plot: &Plot) -> Vec<(i64, String)> {
    let mut found = Vec::new();
    let mut power = 1u64;
    while let Some(log) = log2(power, 1).filter(|&log| log <= plot.x.1) {
        if log >= plot.x.0 {
            found.push((log, grouped(power)));
        }
        if power > 1 && -log >= plot.x.0 {
            let zeros = power.ilog10() as usize - 1;
            found.push((-log, format!("0.{}1", "0".repeat(zeros))));
        }
        let Some(next) = power.checked_mul(10) else { break };
        power = next;
    }
    found
}

fn table(html: &mut Html, page: &Page<'_>, points: &[Point], shown: &mut Shown, ridge: &Intensity) {
    html.element(
        "div",
        &[("class", &"scroll"), ("tabindex", &0), ("role", &"group"), ("aria-label", &"work of layers")],
        |html| {
            html.element("table", &[], |html| {
                html.element("thead", &[], |html| {
                    html.element("tr", &[], |html| {
                        for head in ["on one chip", "multiply-accumulates", "bytes moved", "MACs a byte", "binds"] {
                            html.texts("th", &[("scope", &"col")], head);
                        }
                    });
                });
                html.element("tbody", &[], |html| {
                    for point in points {
                        html.element("tr", &[], |html| {
                            html.element("th", &[("scope", &"row")], |html| {
                                match point.at {
                                    Some(at) => chip(html, &page.step.kinds, at),
                                    None => html.element("span", &[("class", &"letter k-all")], |html| html.text("Σ")),
                                }
                                html.text(format_args!(" {}", point.name));
                            });
                            let mut cell = |value: String, what: &str, how: &str| {
                                html.element("td", &[("class", &"number")], |html| {
                                    let name = format!("{}: {what}", point.name);
                                    shown.figure(html, &name, &value, Some(Origin::derived(how)));
                                });
                            };
                            cell(
                                grouped(point.intensity.macs),
                                "multiply-accumulates of one run",
                                "of every operation's own row, a chip's part",
                            );
                            cell(bytes(point.intensity.bytes), "bytes of one run", &traffic(&point.work));
                            cell(
                                point.intensity.to_string(),
                                "multiply-accumulates a byte",
                                "the quotient of the two, rounded to hundredths",
                            );
                            let bytes_bind = u128::from(point.intensity.macs) * u128::from(ridge.bytes)
                                < u128::from(ridge.macs) * u128::from(point.intensity.bytes);
                            html.texts("td", &[], if bytes_bind { "bytes" } else { "arrays" });
                        });
                        html.line();
                    }
                });
            });
        },
    );
}

/// What the bytes are.
fn traffic(work: &Work) -> String {
    let of = &work.traffic;
    format!(
        "{} bytes: weights {}, tables {}, states read {}, states written {}, inputs {}, outputs {}",
        of.total().map_or_else(|_| "more than 64 bits hold".to_owned(), grouped),
        grouped(of.weights),
        grouped(of.tables),
        grouped(of.states_read),
        grouped(of.states_written),
        grouped(of.inputs),
        grouped(of.outputs)
    )
}
