//! Memory of a chip, a bar a tier.

use logos_core::fit::report::Cited;

use super::origin::{Origin, Shown};
use super::page::Page;
use super::svg::Tenths;
use super::write::Html;
use crate::describe::grouped;

/// Width of a bar, in its own units: it is drawn as wide as the page.
const WIDTH: u32 = 1000;

/// A part of a tier.
struct Segment {
    class: &'static str,
    name: &'static str,
    bytes: u64,
    origin: Option<Origin>,
}

/// A tier: what there is and what lies in it.
struct Tier {
    name: &'static str,
    what: &'static str,
    there: u64,
    origin: Option<Origin>,
    segments: Vec<Segment>,
}

/// The bars.
pub(super) fn write(html: &mut Html, page: &Page<'_>, shown: &mut Shown) {
    html.element("section", &[("id", &"memory")], |html| {
        html.texts("h2", &[], "Memory of one chip");
        if page.bundle.is_none() {
            html.texts(
                "p",
                &[],
                "Nothing is certified, so that no program's buffers are known: what would be carried.",
            );
        }
        for tier in tiers(page) {
            bar(html, &tier, shown);
        }
    });
    html.line();
}

fn tiers(page: &Page<'_>) -> Vec<Tier> {
    let held = page.held();
    let chip = &page.document.body.chip;
    let of = |pointer: &str| page.origin(pointer);
    let fact = |fact: &Option<Cited<u64>>| fact.as_ref().map(|fact| Origin::fact(page.document, fact));
    let segment = |class, name, bytes, origin| Segment { class, name, bytes, origin };
    let mut tiers = Vec::new();
    // Where nothing is certified no section is known, and so no buffer.
    if page.bundle.is_some() {
        tiers.push(Tier {
            name: "SRAM",
            what: "what stays on the chip",
            there: page.document.body.residency.sram_bytes,
            origin: of("/residency/sram_bytes"),
            segments: vec![
                segment("s-buffers", "buffers of the largest section", held.buffers, of("/residency/reserve_bytes")),
                segment("s-state", "states that stay", held.sram_state, of("/residency/sram_state_bytes_per_chip")),
            ],
        });
    }
    let experts =
        || segment("s-experts", "experts", held.ddr_weights, of("/tensor_parallel/ddr_weight_bytes_per_chip"));
    let main = vec![
        segment("s-weights", "weights", held.main_weights, of("/tensor_parallel/weights_per_chip_bytes")),
        segment("s-kv", "KV cache", held.kv, of("/tensor_parallel/kv_cache_at_ctx/per_chip_bytes")),
        segment("s-state", "recurrent state", held.state, of("/tensor_parallel/state_bytes_per_chip")),
    ];
    let memory = page.document.body.tensor_parallel.memory;
    let hbm = memory == "HBM";
    tiers.push(Tier {
        name: memory,
        what: "what is carried from step to step",
        there: page.document.body.tensor_parallel.hbm_bytes_per_chip,
        origin: fact(if hbm { &chip.hbm_bytes } else { &chip.ddr_bytes }),
        segments: main,
    });
    if hbm && let Some(ddr) = &chip.ddr_bytes {
        tiers.push(Tier {
            name: "DDR",
            what: "experts that HBM does not hold",
            there: ddr.value,
            origin: fact(&chip.ddr_bytes),
            segments: vec![experts()],
        });
    }
    tiers
}

fn bar(html: &mut Html, tier: &Tier, shown: &mut Shown) {
    let used = tier.segments.iter().fold(0u64, |sum, segment| sum.saturating_add(segment.bytes));
    let scale = tier.there.max(used).max(1);
    html.element("div", &[("class", &"tier")], |html| {
        html.element("h3", &[], |html| {
            html.text(tier.name);
            html.element("small", &[], |html| {
                shown.bytes(
                    html,
                    &format!("{} of a chip", tier.name),
                    tier.there,
                    tier.origin.as_ref().map(Origin::again),
                );
                html.text(format_args!(" · {}", tier.what));
            });
        });
        let spoken = spoken(tier, used);
        let view = format!("0 0 {WIDTH} 28");
        html.element(
            "svg",
            &[
                ("class", &"bar"),
                ("viewBox", &view),
                ("preserveAspectRatio", &"none"),
                ("role", &"img"),
                ("aria-label", &spoken),
            ],
            |html| {
                html.leaf(
                    "rect",
                    &[("class", &"there"), ("width", &Tenths::share(tier.there, scale, WIDTH)), ("height", &28)],
                );
                let mut before = 0u64;
                for segment in tier.segments.iter().filter(|segment| segment.bytes > 0) {
                    let from = Tenths::share(before, scale, WIDTH);
                    before = before.saturating_add(segment.bytes);
                    // What is there is to be seen.
                    let width = Tenths::share(before, scale, WIDTH).minus(from).max(Tenths::of(3));
                    html.element(
                        "rect",
                        &[("class", &segment.class), ("x", &from), ("width", &width), ("height", &28)],
                        |html| html.texts("title", &[], format_args!("{}: {}", segment.name, bytes(segment.bytes))),
                    );
                }
                if used > tier.there {
                    let end = Tenths::share(tier.there, scale, WIDTH);
                    html.leaf("rect", &[("class", &"limit"), ("x", &end), ("width", &3), ("height", &28)]);
                }
            },
        );
        html.element("ul", &[("class", &"legend")], |html| {
            for segment in &tier.segments {
                html.element("li", &[], |html| {
                    swatch(html, segment.class);
                    html.text(format_args!("{} ", segment.name));
                    let origin = segment.origin.as_ref().map(Origin::again);
                    shown.bytes(html, &format!("{}: {}", tier.name, segment.name), segment.bytes, origin);
                });
            }
            html.element("li", &[], |html| {
                let (class, name, value) = match tier.there.checked_sub(used) {
                    Some(free) => ("there", "free", free),
                    None => ("limit", "lacking", used - tier.there),
                };
                swatch(html, class);
                html.text(format_args!("{name} "));
                let origin = Origin::derived("what is there, without what lies in it");
                shown.bytes(html, &format!("{}: {name}", tier.name), value, Some(origin));
            });
        });
    });
    html.line();
}

/// The bar in a sentence, for whoever does not see it.
fn spoken(tier: &Tier, used: u64) -> String {
    let parts: Vec<String> =
        tier.segments.iter().map(|segment| format!("{} {}", segment.name, bytes(segment.bytes))).collect();
    format!("{}: {} of {} used: {}", tier.name, bytes(used), bytes(tier.there), parts.join(", "))
}

/// A small square of a part's colour and pattern.
pub(super) fn swatch(html: &mut Html, class: &str) {
    let attributes: [(&'static str, &dyn std::fmt::Display); 3] =
        [("class", &"swatch"), ("viewBox", &"0 0 14 14"), ("aria-hidden", &"true")];
    html.element("svg", &attributes, |html| {
        html.leaf("rect", &[("class", &class), ("width", &14), ("height", &14)]);
    });
}

/// Bytes in the largest binary unit of which there is one, with two digits: `1.25 GiB`.
pub(super) fn bytes(n: u64) -> String {
    /// From the largest.
    const UNITS: [(&str, u32); 4] = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    match UNITS.into_iter().find(|(_, shift)| n >> shift > 0) {
        Some((unit, shift)) => {
            let hundredths = (u128::from(n) * 100 + (1 << (shift - 1))) >> shift;
            let (whole, part) = (hundredths / 100, hundredths % 100);
            format!("{}.{part:02} {unit}", grouped(u64::try_from(whole).unwrap_or(u64::MAX)))
        }
        None => format!("{n} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn bytes_have_a_unit() {
        assert_eq!(bytes(0), "0 B");
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(1536), "1.50 KiB");
        assert_eq!(bytes(64 << 30), "64.00 GiB");
        assert_eq!(bytes(u64::MAX), "16,777,216.00 TiB");
    }
}
