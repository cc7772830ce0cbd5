//! The schedule of a section: a row a stage, its firings from its start at its period, the windows of the memories as bands.

use logos_bundle::view::{Binder, Section, Stage, Tier};

use super::mesh::class;
use super::svg::{Rectangles, Tenths};
use super::write::Html;
use crate::describe::grouped;

/// Height of a row.
const ROW: u32 = 15;
/// Width of the names.
const NAMES: u32 = 190;
/// Width of the cycles.
const CYCLES: u32 = 700;
/// What is above the first row: the scale.
const TOP: u32 = 24;
/// Firings that are drawn one by one.
const DRAWN: u32 = 160;
/// Letters of a name that fit beside its row.
const LETTERS: usize = 27;

/// Cycles and where they are drawn.
struct Scale {
    cycles: u64,
}

impl Scale {
    fn length(&self, cycles: u64) -> Tenths {
        Tenths::share(cycles.min(self.cycles), self.cycles, CYCLES)
    }

    fn x(&self, cycles: u64) -> Tenths {
        Tenths::of(NAMES).plus(self.length(cycles))
    }
}

/// When the last firing of a stage is over.
fn over(stage: &Stage<'_>) -> u64 {
    let last = u64::from(stage.firings().saturating_sub(1)).saturating_mul(stage.period_cycles());
    stage.start_cycles().saturating_add(last).saturating_add(stage.initiation_interval_cycles())
}

/// What binds, in a sentence.
pub(super) fn binds(section: &Section<'_>) -> String {
    let what = match section.binder() {
        Binder::Memory => "the bytes that off-chip memory moves",
        Binder::Stage => "the work of the busiest stage",
        Binder::Recurrence => "the recurrence of a stage over rows",
        Binder::Loop => "the way from a layer's input to its output",
        Binder::Span => "its span, as it runs once",
        // A code of a later version of the table.
        _ => "what this version has no name for",
    };
    let tight = if section.is_tight() { ", which it meets within 1/256" } else { "" };
    format!(
        "An iteration every {} cycles. What binds is {what}: no schedule of this net goes below {}{tight}. From the first input to \
         the last result it takes {}.",
        grouped(section.interval_cycles()),
        grouped(section.bound_cycles()),
        grouped(section.span_cycles())
    )
}

/// The timeline.
pub(super) fn write(html: &mut Html, section: &Section<'_>) {
    let stages: Vec<Stage<'_>> = section.stages().collect();
    let interval = section.interval_cycles();
    let last = stages.iter().map(over).max().unwrap_or(0);
    let scale = Scale { cycles: last.max(section.span_cycles()).max(interval).max(1) };
    let mut tiers: Vec<Tier> = Vec::new();
    for turn in section.turns() {
        if !tiers.contains(&turn.tier()) {
            tiers.push(turn.tier());
        }
    }
    let rows = u32::try_from(tiers.len() + stages.len()).unwrap_or(u32::MAX);
    let height = rows.saturating_mul(ROW).saturating_add(TOP + 8);
    let view = format!("0 0 {} {height}", NAMES + CYCLES + 10);
    html.element("figure", &[("class", &"timeline")], |html| {
        html.element("div", &[("class", &"scroll"), ("tabindex", &0), ("role", &"group"), ("aria-label", &"schedule")], |html| {
            html.element("svg", &[("viewBox", &view), ("role", &"img"), ("aria-label", &binds(section))], |html| {
                bands(html, section, &scale, &tiers, height);
                axis(html, &scale, interval, height);
                for (at, stage) in (0u32..).zip(&stages) {
                    let top = TOP + (at + tiers.len() as u32) * ROW;
                    self::row(html, stage, &scale, top);
                }
            });
        });
        html.element("figcaption", &[], |html| {
            html.text(
                "A row a stage, from its first firing to its last; bars within a row are single firings where they can be told apart. \
                 Bands are the memory's turns. Cycles of the unit model, never a time.",
            );
        });
    });
    html.line();
}

/// The windows of the memories: a row each on top, and pale through all rows.
fn bands(html: &mut Html, section: &Section<'_>, scale: &Scale, tiers: &[Tier], height: u32) {
    for (at, tier) in (0u32..).zip(tiers) {
        // Every other turn paler, so that turns that follow each other are told apart.
        let mut pale = [Rectangles::default(), Rectangles::default()];
        let mut bars = Rectangles::default();
        let top = TOP + at * ROW;
        let (mut turns, mut cycles) = (0u32, 0u64);
        for turn in section.turns().filter(|turn| turn.tier() == *tier) {
            let (from, width) = (scale.x(turn.start_cycles()), scale.length(turn.length_cycles()).max(Tenths(4)));
            let [even, odd] = &mut pale;
            let of_turn = if turns % 2 == 0 { even } else { odd };
            of_turn.add(from, Tenths::of(TOP), width, Tenths::of(height.saturating_sub(TOP)));
            bars.add(from, Tenths::of(top + 2), width.minus(Tenths(2)).max(Tenths(4)), Tenths::of(ROW - 4));
            turns += 1;
            cycles = cycles.saturating_add(turn.length_cycles());
        }
        let memory = match tier {
            Tier::Sram => "t-sram",
            Tier::Hbm => "t-hbm",
            Tier::Ddr => "t-ddr",
            // A code of a later version of the table.
            _ => "t-other",
        };
        for (class, path) in ["band", "band odd"].iter().zip(&pale) {
            if !path.is_empty() {
                html.leaf("path", &[("class", &format!("{class} {memory}")), ("d", path)]);
            }
        }
        let (x, y) = (Tenths::of(NAMES - 6), Tenths::of(top + 11));
        html.texts("text", &[("class", &"name strong"), ("x", &x), ("y", &y)], format_args!("{tier} turns"));
        html.element("path", &[("class", &format!("turn {memory}")), ("d", &bars)], |html| {
            html.texts("title", &[], format_args!("{turns} turns of {tier}, {} cycles together", grouped(cycles)));
        });
    }
    html.line();
}

/// Cycles along the top, and where the next iteration begins.
fn axis(html: &mut Html, scale: &Scale, interval: u64, height: u32) {
    let step = round_step(scale.cycles);
    let mut at = 0u64;
    while at <= scale.cycles {
        let x = scale.x(at);
        html.leaf("path", &[("class", &"grid"), ("d", &format!("M{x} {TOP}V{height}"))]);
        // Not under the last letters of the scale.
        if at.saturating_add(step) <= scale.cycles || scale.length(scale.cycles - at) > Tenths::of(70) {
            html.texts("text", &[("class", &"tick"), ("x", &x), ("y", &(TOP - 12))], grouped(at));
        }
        at = at.saturating_add(step);
    }
    if interval < scale.cycles {
        let x = scale.x(interval);
        html.element("path", &[("class", &"next"), ("d", &format!("M{x} {}V{height}", TOP - 8))], |html| {
            html.texts("title", &[], format_args!("the next iteration begins: {} cycles", grouped(interval)));
        });
        // What begins near the right edge is written to the left of it.
        let class = if interval >= scale.cycles / 8 * 7 { "tick next end" } else { "tick next" };
        html.texts(
            "text",
            &[("class", &class), ("x", &x), ("y", &(TOP - 2))],
            format_args!("H = {}", grouped(interval)),
        );
    }
    html.line();
}

/// 1, 2 or 5 times a power of ten, so that there are four to nine steps.
fn round_step(cycles: u64) -> u64 {
    let mut unit = 1u64;
    while cycles / unit >= 100 {
        unit = unit.saturating_mul(10);
    }
    let within = cycles / unit;
    unit.saturating_mul(match within {
        0..=9 => 1,
        10..=19 => 2,
        20..=44 => 5,
        45..=89 => 10,
        _ => 20,
    })
}

fn row(html: &mut Html, stage: &Stage<'_>, scale: &Scale, top: u32) {
    let name = format!("{} {}", stage.index(), stage.name());
    let title = format!(
        "{name}: {} firings on {} cells from site {}; start {}, period {}, II {}, over at {} cycles (modeled, rows of the certificate)",
        grouped(stage.firings().into()),
        grouped(stage.cells()),
        stage.first_site(),
        grouped(stage.start_cycles()),
        grouped(stage.period_cycles()),
        grouped(stage.initiation_interval_cycles()),
        grouped(over(stage))
    );
    let short: String =
        if name.chars().count() > LETTERS { name.chars().take(LETTERS - 1).chain(['…']).collect() } else { name };
    html.element("g", &[], |html| {
        html.texts("title", &[], &title);
        html.texts("text", &[("class", &"name"), ("x", &(NAMES - 6)), ("y", &(top + 11))], short);
        let class = class(stage.primitive());
        let (from, length) = (scale.x(stage.start_cycles()), scale.length(over(stage) - stage.start_cycles()));
        let (y, height) = (Tenths::of(top + 3), Tenths::of(ROW - 6));
        let whole = length.max(Tenths(8));
        html.leaf(
            "rect",
            &[("class", &format!("{class} pale")), ("x", &from), ("y", &y), ("width", &whole), ("height", &height)],
        );
        let one = scale.length(stage.initiation_interval_cycles()).max(Tenths(8));
        let apart = scale.length(stage.period_cycles()).minus(one) >= Tenths(8) && stage.firings() <= DRAWN;
        let mut firings = Rectangles::default();
        if apart {
            for firing in 0..stage.firings() {
                let at = stage.start_cycles().saturating_add(u64::from(firing).saturating_mul(stage.period_cycles()));
                firings.add(scale.x(at), y, one, height);
            }
        } else if stage.period_cycles() <= stage.initiation_interval_cycles().saturating_mul(2) {
            // Busy at least half of it.
            firings.add(from, y, whole, height);
        } else {
            firings.add(from, Tenths::of(top + 6), whole, Tenths::of(3));
        }
        html.leaf("path", &[("class", &class), ("d", &firings)]);
    });
    html.line();
}

#[cfg(test)]
mod tests {
    use super::round_step;

    #[test]
    fn scales_have_a_few_steps() {
        assert_eq!(round_step(5), 1);
        assert_eq!(round_step(1_000), 200);
        for cycles in [7u64, 10, 19, 20, 44, 45, 89, 99, 100, 12_345, 99_999, 3_000_000] {
            let steps = cycles / round_step(cycles);
            assert!((3..=10).contains(&steps), "{cycles}: {steps}");
        }
    }
}
