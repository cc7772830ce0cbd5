//! The ladder: the same model on one chip, a node and a rack, a card each.

use super::bars::bytes;
use super::origin::Shown;
use super::page::Page;
use super::svg::Tenths;
use super::write::Html;
use crate::describe::{grouped, signed};

/// Width of a card's bar, in its own units.
const WIDTH: u32 = 400;

/// The cards.
pub(super) fn write(html: &mut Html, page: &Page<'_>, shown: &mut Shown) {
    let tp = &page.document.body.tensor_parallel;
    html.element("section", &[("id", &"ladder")], |html| {
        html.texts("h2", &[], "The ladder");
        html.texts(
            "p",
            &[],
            format_args!(
                "What a chip would need at the widest tensor-parallel width that the model admits in each domain, for {}. \
                 It counts all that is carried from step to step, also states that a certificate keeps in SRAM.",
                page.document_step()
            ),
        );
        if tp.ladder.iter().any(|step| step.ddr_weight_bytes_per_chip > 0) {
            html.texts(
                "p",
                &[],
                "Of experts it puts as few bytes into DDR as have to go; a certificate moves a kind's weight as a whole, which \
                 leaves HBM more room.",
            );
        }
        html.element("ol", &[("class", &"cards")], |html| {
            for at in 0..tp.ladder.len() {
                html.element("li", &[("class", &"card")], |html| card(html, page, at, shown));
                html.line();
            }
        });
    });
    html.line();
}

fn card(html: &mut Html, page: &Page<'_>, at: usize, shown: &mut Shown) {
    let tp = &page.document.body.tensor_parallel;
    let Some(step) = tp.ladder.get(at) else { return };
    let of = |field: &str| page.origin(&format!("/tensor_parallel/ladder/{at}/{field}"));
    let name = |what: &str| format!("ladder, {}: {what}", step.domain);
    html.element("h3", &[], |html| {
        html.text(step.domain);
        html.element("small", &[], |html| {
            let chips = if step.chips == 1 { "chip" } else { "chips" };
            html.text(format_args!(" · {} {chips}, width {}", step.chips, step.tensor_parallel));
        });
    });
    verdict(html, step.fits);
    let there = tp.hbm_bytes_per_chip;
    let scale = there.max(step.hbm_need_bytes).max(1);
    let spoken = format!("{} needed of {} of {}", bytes(step.hbm_need_bytes), bytes(there), tp.memory);
    let view = format!("0 0 {WIDTH} 14");
    html.element(
        "svg",
        &[
            ("class", &"bar thin"),
            ("viewBox", &view),
            ("preserveAspectRatio", &"none"),
            ("role", &"img"),
            ("aria-label", &spoken),
        ],
        |html| {
            let end = Tenths::share(there, scale, WIDTH);
            html.leaf("rect", &[("class", &"there"), ("width", &end), ("height", &14)]);
            let need = Tenths::share(step.hbm_need_bytes, scale, WIDTH);
            html.leaf("rect", &[("class", &"s-weights"), ("width", &need), ("height", &14)]);
            if step.hbm_need_bytes > there {
                html.leaf("rect", &[("class", &"limit"), ("x", &end), ("width", &3), ("height", &14)]);
            }
        },
    );
    html.element("dl", &[], |html| {
        for (what, field, size) in [
            ("weights a chip", "weights_per_chip_bytes", step.weights_per_chip_bytes),
            ("of them in DDR", "ddr_weight_bytes_per_chip", step.ddr_weight_bytes_per_chip),
            ("KV cache a chip", "kv_cache_per_chip_bytes", step.kv_cache_per_chip_bytes),
            ("recurrent state a chip", "state_bytes_per_chip", step.state_bytes_per_chip),
            ("needed", "hbm_need_bytes", step.hbm_need_bytes),
        ] {
            // Most deployments have none of these.
            let rare = field.starts_with("ddr") || field.starts_with("state");
            if size > 0 || !rare {
                html.texts("dt", &[], what);
                html.element("dd", &[], |html| shown.bytes(html, &name(what), size, of(field)));
            }
        }
        let headroom = step.hbm_headroom_bytes;
        html.texts("dt", &[], if headroom < 0 { "lacking" } else { "headroom" });
        html.element("dd", &[], |html| {
            let origin = of("hbm_headroom_bytes").map(|origin| origin.prefixed(&format!("{} bytes", signed(headroom))));
            shown.figure(html, &name("headroom"), &bytes(headroom.unsigned_abs()), origin);
        });
        html.texts("dt", &[], "largest context");
        html.element("dd", &[], |html| {
            let largest = grouped(u64::from(step.max_ctx_in_hbm));
            shown.figure(html, &name("largest context"), &largest, of("max_ctx_in_hbm"));
        });
    });
    if step.shortfall_bytes > 0 && step.ddr_weight_bytes_per_chip > 0 {
        html.texts("p", &[("class", &"note")], "the experts that HBM does not hold are more than DDR holds");
    }
    for why in &step.refused {
        html.texts("p", &[("class", &"note")], why);
    }
}

/// A verdict: a mark, a word and a colour.
pub(super) fn verdict(html: &mut Html, fits: bool) {
    let (class, text) = if fits { ("verdict fits", "✓ fits") } else { ("verdict short", "✗ does not fit") };
    html.texts("span", &[("class", &class)], text);
}
