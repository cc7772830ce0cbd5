//! The page: what it is made of, and in which order.

use logos_bundle::view::{Bundle, Program, Section};
use logos_core::Form;
use logos_core::fit::report::{Document, ModelFit, Step};
use logos_core::kinds::Role;

use super::origin::{Origin, Shown, address_free};
use super::write::Html;
use super::{bars, depth, ladder, mesh, roofline, timeline};
use crate::describe::grouped;

const STYLE: &str = include_str!("style.css");

/// What a page shows.
pub(super) struct Page<'a> {
    pub(super) document: &'a Document<ModelFit>,
    pub(super) step: &'a Step,
    /// The step's certified programs; none where it does not fit.
    pub(super) bundle: Option<Bundle<'a>>,
    /// The form of step that the document is of.
    pub(super) document_form: Form,
}

/// What lies in a chip's memories.
pub(super) struct Held {
    pub(super) buffers: u64,
    pub(super) sram_state: u64,
    pub(super) main_weights: u64,
    pub(super) kv: u64,
    pub(super) state: u64,
    pub(super) ddr_weights: u64,
}

impl Page<'_> {
    /// Where a figure of the document comes from.
    pub(super) fn origin(&self, pointer: &str) -> Option<Origin> {
        Origin::of(self.document, pointer)
    }

    /// What lies where: as certified, else as the document says it would have to.
    pub(super) fn held(&self) -> Held {
        let (tp, residency) = (&self.document.body.tensor_parallel, &self.document.body.residency);
        let kept = |weights: u64, ddr: u64, kv: u64, state: u64, sram: u64, buffers: u64| {
            // What recurs stays in SRAM before anything else does.
            let recurring = state.saturating_sub(kv);
            let out_of_main = sram.min(recurring);
            Held {
                buffers,
                sram_state: sram,
                main_weights: weights.saturating_sub(ddr),
                kv: kv.saturating_sub(sram - out_of_main),
                state: recurring - out_of_main,
                ddr_weights: ddr,
            }
        };
        match &self.bundle {
            Some(bundle) => {
                let fit = bundle.fit();
                let sections = bundle.programs().flat_map(|program| program.sections());
                let buffers = sections.map(|section| section.buffer_bytes()).max().unwrap_or(0);
                kept(
                    fit.weight_bytes,
                    fit.ddr_weight_bytes,
                    fit.kv_bytes,
                    fit.state_bytes,
                    fit.sram_state_bytes,
                    buffers,
                )
            }
            None => {
                let kv = tp.kv_cache_at_ctx.per_chip_bytes;
                kept(
                    tp.weights_per_chip_bytes,
                    tp.ddr_weight_bytes_per_chip,
                    kv,
                    tp.state_bytes_per_chip.saturating_add(kv),
                    residency.sram_state_bytes_per_chip,
                    residency.reserve_bytes.unwrap_or(0),
                )
            }
        }
    }

    /// The step that the document's figures are of, in words.
    pub(super) fn document_step(&self) -> String {
        step_in_words(self.document_form)
    }

    /// The whole page.
    pub(super) fn write(&self) -> String {
        let mut html = Html::default();
        let mut shown = Shown::default();
        let (model, tp) = (&self.document.body.model, &self.document.body.tensor_parallel);
        html.markup("<!DOCTYPE html>\n");
        html.element("html", &[("lang", &"en")], |html| {
            html.element("head", &[], |html| {
                html.leaf("meta", &[("charset", &"utf-8")]);
                html.leaf("meta", &[("name", &"viewport"), ("content", &"width=device-width, initial-scale=1")]);
                html.leaf("meta", &[("name", &"color-scheme"), ("content", &"light dark")]);
                html.leaf("meta", &[("name", &"generator"), ("content", &self.document.generated_by)]);
                html.texts(
                    "title",
                    &[],
                    format_args!("{} on {} × {}", model.id, tp.chips, self.document.body.chip.chip),
                );
                html.element("style", &[], |html| html.markup(STYLE));
            });
            html.line();
            html.element("body", &[], |html| {
                patterns(html);
                html.element("main", &[], |html| {
                    self.headline(html, &mut shown);
                    bars::write(html, self, &mut shown);
                    ladder::write(html, self, &mut shown);
                    depth::write(html, self);
                    roofline::write(html, self, &mut shown);
                    self.programs(html);
                    self.end(html, &shown);
                });
            });
        });
        html.line();
        html.finish()
    }

    fn headline(&self, html: &mut Html, shown: &mut Shown) {
        let body = &self.document.body;
        let (model, tp, totals) = (&body.model, &body.tensor_parallel, &body.totals);
        html.element("header", &[], |html| {
            html.texts("p", &[("class", &"kicker")], format_args!("{} · fit report", model.hf_model_type));
            html.texts("h1", &[], &model.id);
            html.texts(
                "p",
                &[("class", &"lead")],
                format_args!("{} × {} · {}", tp.chips, body.chip.chip, step_in_words(self.step.form)),
            );
            html.element("p", &[], |html| {
                ladder::verdict(html, self.bundle.is_some());
                match (&self.bundle, &body.not_certified) {
                    (None, Some(why)) => html.text(format_args!(" {why}")),
                    (None, None) | (Some(_), _) => html.text(" every program is placed, scheduled and certified"),
                }
            });
            html.element("p", &[("class", &"honest")], |html| {
                html.element("strong", &[], |html| html.text("Nothing here ran on an RDU, and no speed is claimed. "));
                html.text(
                    "Bytes and counts are derived from the config, the programs and cited chip facts. Cycles are cycles of a unit \
                     model, never a time.",
                );
            });
            html.element("dl", &[("class", &"tiles")], |html| {
                let mut tile = |what: &str, value: String, pointer: &str| {
                    html.element("div", &[], |html| {
                        html.texts("dt", &[], what);
                        html.element("dd", &[], |html| shown.figure(html, what, &value, self.origin(pointer)));
                    });
                };
                let one = self.document_form.sequences() == 1;
                tile("parameters", grouped(model.weights.params), "/model/weights/params");
                tile("weights as stored", bars::bytes(model.weights.bytes), "/model/weights/bytes");
                tile(
                    if one { "largest context, 1 sequence" } else { "largest context, these sequences" },
                    grouped(u64::from(tp.max_ctx_in_hbm)),
                    "/tensor_parallel/max_ctx_in_hbm",
                );
                tile(
                    "most sequences, by memory",
                    grouped(u64::from(tp.max_sequences_in_hbm)),
                    "/tensor_parallel/max_sequences_in_hbm",
                );
                tile(
                    "multiply-accumulates, a decoded token",
                    grouped(totals.macs_per_token_at_ctx),
                    "/totals/macs_per_token_at_ctx",
                );
            });
        });
        html.line();
    }

    fn programs(&self, html: &mut Html) {
        let Some(bundle) = &self.bundle else { return };
        html.element("section", &[("id", &"programs")], |html| {
            html.texts("h2", &[], "Placement and schedule");
            html.texts(
                "p",
                &[],
                "Of every kind of program the certified rows: where its stages are on the mesh, and when they fire. All in cycles of \
                 the unit model.",
            );
            let longest = longest(bundle);
            for program in bundle.programs() {
                let open = Some(program.index()) == longest;
                let attributes: &[(&'static str, &dyn std::fmt::Display)] =
                    if open { &[("class", &"kind"), ("open", &"open")] } else { &[("class", &"kind")] };
                html.element("details", attributes, |html| self.program(html, bundle, &program));
                html.line();
            }
        });
        html.line();
    }

    fn program(&self, html: &mut Html, bundle: &Bundle<'_>, program: &Program<'_>) {
        let at = program.index() as usize;
        let sections: Vec<Section<'_>> = program.sections().collect();
        let cycles = sections.iter().fold(0u64, |sum, section| sum.saturating_add(section.interval_cycles()));
        html.element("summary", &[], |html| {
            depth::chip(html, &self.step.kinds, at);
            html.element("strong", &[], |html| html.text(program.name()));
            let role = self.step.kinds.get(at).map(|kind| (kind.role, kind.layers.len()));
            match role {
                Some((Role::Layer, 1)) => html.text(" · 1 layer"),
                Some((Role::Layer, layers)) => html.text(format_args!(" · {layers} layers")),
                Some((Role::Embed | Role::Head, _)) | None => {}
            }
            let parts = if sections.len() == 1 { "section" } else { "sections" };
            html.text(format_args!(" · {} {parts} · {} cycles an iteration", sections.len(), grouped(cycles)));
        });
        for section in &sections {
            html.element("div", &[("class", &"section")], |html| {
                html.texts("h3", &[], format_args!("section {} of {}", section.index() + 1, sections.len()));
                html.texts("p", &[], timeline::binds(section));
                if let Some(chip) = bundle.chip() {
                    mesh::write(html, &chip, section);
                }
                timeline::write(html, section);
            });
        }
    }

    fn end(&self, html: &mut Html, shown: &Shown) {
        html.element("footer", &[], |html| {
            let labels = &self.document.provenance.labels;
            html.texts("h2", &[], "How figures are known");
            html.element("dl", &[("class", &"labels")], |html| {
                for (label, meaning) in [
                    ("published", labels.published),
                    ("derived", labels.derived),
                    ("modeled", labels.modeled),
                    ("measured", labels.measured),
                ] {
                    html.element("dt", &[], |html| html.texts("span", &[("class", &format!("fig {label}"))], label));
                    html.texts("dd", &[], meaning);
                }
            });
            shown.write(html);
            html.element("details", &[], |html| {
                html.texts("summary", &[], "Sources of the chip's facts");
                html.element("ul", &[], |html| {
                    for (key, source) in &self.document.body.chip.cites {
                        html.texts("li", &[], format_args!("{key}: {}", address_free(source)));
                    }
                });
            });
            html.texts("p", &[], self.document.honesty);
            if let Some(bundle) = &self.bundle {
                html.texts("p", &[], format_args!("Digest of the schedule: {:016x}.", bundle.schedule_digest()));
            }
        });
    }
}

/// The program that takes most of a step; the first of equals.
fn longest(bundle: &Bundle<'_>) -> Option<u32> {
    let cycles = |program: &Program<'_>| {
        let once = program.sections().fold(0u64, |sum, section| sum.saturating_add(section.interval_cycles()));
        once.saturating_mul(u64::from(program.layer_count()))
    };
    let longest = bundle.programs().map(|program| cycles(&program)).max()?;
    bundle.programs().find(|program| cycles(program) == longest).map(|program| program.index())
}

fn step_in_words(form: Form) -> String {
    let counted = |n: u32, what: &str| format!("{} {what}{}", grouped(n.into()), if n == 1 { "" } else { "s" });
    match form {
        Form::Decode { ctx, batch } => {
            format!("decode of {} of {}", counted(batch, "sequence"), counted(ctx, "position"))
        }
        Form::Prefill { ctx, chunk, batch } => {
            let (tokens, most) = (counted(chunk, "token"), counted(ctx, "position"));
            let of = if batch == 1 { String::new() } else { format!(" of each of {}", counted(batch, "sequence")) };
            format!("prefill of {tokens}{of} a step, up to {most}")
        }
        Form::Forward { rows } => format!("forward of {}", counted(rows, "token")),
    }
}

/// Hatches, so that parts are told apart without their colours.
fn patterns(html: &mut Html) {
    html.markup(concat!(
        "<svg width=\"0\" height=\"0\" aria-hidden=\"true\" class=\"defs\"><defs>",
        "<pattern id=\"kv\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">",
        "<rect class=\"f-kv\" width=\"8\" height=\"8\"/><rect class=\"f-line\" width=\"2\" height=\"8\"/></pattern>",
        "<pattern id=\"state\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">",
        "<rect class=\"f-state\" width=\"6\" height=\"6\"/><circle class=\"f-line\" cx=\"3\" cy=\"3\" r=\"1.3\"/></pattern>",
        "<pattern id=\"experts\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(-45)\">",
        "<rect class=\"f-experts\" width=\"8\" height=\"8\"/><rect class=\"f-line\" width=\"2\" height=\"8\"/></pattern>",
        "</defs></svg>\n",
    ));
}
