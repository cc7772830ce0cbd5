//! `cargo logos fit` and `cargo logos plan`: documents of a model in a deployment, as tables for people or as JSON.

use std::fmt::Display;
use std::io::Write;

use clap::ArgMatches;
use logos_core::fit::report::{self, Asked, AskedStep, Document, LadderRow, ModelFit, ServingRow, Subject, VllmPlan};
use logos_core::{At, Code, Description, Form, Key, Refusal, Vocabulary, Weights};

use super::report::{align, print, row, table};
use super::request::ChipArgument;
use super::{Failure, document, request};
use crate::describe::{grouped, signed};
use crate::source::{read_any_config, read_any_description};

/// `cargo logos fit`.
pub(super) fn fit(matches: &ArgMatches, out: &mut dyn Write) -> Result<(), Failure> {
    let (ctx, step) = asked_step(matches)?;
    with_subject(matches, ctx, step, |subject| {
        let document = report::model(subject)?;
        if wants_json(matches) {
            return document::deliver(matches, out, &document.to_text());
        }
        people(out, &document)?;
        if matches.get_flag("sources") { sources(out, &document) } else { Ok(()) }
    })
}

/// `cargo logos plan`.
pub(super) fn plan(matches: &ArgMatches, out: &mut dyn Write) -> Result<(), Failure> {
    let (ctx, step) = asked_step(matches)?;
    with_subject(matches, ctx, step, |subject| {
        let document = report::vllm_plan(subject)?;
        if wants_json(matches) {
            return document::deliver(matches, out, &document.to_text());
        }
        planned(out, &document)
    })
}

fn wants_json(matches: &ArgMatches) -> bool {
    matches.get_flag("json") || matches.contains_id("output")
}

/// The context and the step that a document is of.
fn asked_step(matches: &ArgMatches) -> Result<(Option<u32>, AskedStep), Failure> {
    let form = request::form(matches, true).map_err(Failure::Refused)?;
    step_of(matches, form).ok_or_else(|| {
        let at = At::Key(String::new(), Key::Form);
        let message = "a forward step carries no state and serves nobody: there is no document of one";
        let refusal = Refusal::new(Code::RequestForm, at, message);
        Failure::from(
            refusal.help("write `--mode decode` or `--mode prefill`, or see `cargo logos check --mode forward`"),
        )
    })
}

/// The context and the step of a form; none of a forward step.
pub(super) fn step_of(matches: &ArgMatches, form: Option<Form>) -> Option<(Option<u32>, AskedStep)> {
    match form {
        // The model's own most.
        None => Some((None, AskedStep::Decode { batch: request::number(matches, "batch").unwrap_or(1) })),
        Some(Form::Decode { ctx, batch }) => Some((Some(ctx), AskedStep::Decode { batch })),
        Some(Form::Prefill { ctx, chunk, batch }) => Some((Some(ctx), AskedStep::Prefill { chunk, batch })),
        Some(Form::Forward { rows: _ }) => None,
    }
}

/// Reads, lowers and certifies the step that the command line asks for.
pub(super) fn with_subject(
    matches: &ArgMatches,
    ctx: Option<u32>,
    step: AskedStep,
    then: impl FnOnce(&Subject<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let path = request::text(matches, "config");
    let mut refusals: Vec<Refusal> = Vec::new();
    let config = read_any_config(path).map_err(|refusal| refusals.push(refusal)).ok();
    let from = matches.get_one::<String>("weights-from").map(String::as_str);
    let description = from.map(read_any_description).transpose().map_err(|refusal| refusals.push(refusal)).ok();
    let chip = ChipArgument::read(matches).map_err(|refusal| refusals.push(refusal)).ok();
    let require = request::require(matches, step.as_str()).map_err(|found| refusals.extend(found)).ok();
    let (Some(config), Some(description), Some(chip), Some(require)) = (config, description, chip, require) else {
        return Err(Failure::Refused(refusals));
    };
    let asked = Asked {
        model: request::name(matches, path),
        config: &config,
        chip: chip.request(),
        weights: Weights::from_name(request::text(matches, "weights")).unwrap_or_default(),
        checkpoint: from.zip(description.as_deref()).map(|(file, text)| Description { file, text }),
        vocabulary: Vocabulary::from_name(request::text(matches, "vocab")).unwrap_or_default(),
        ctx,
        step,
        tp: request::number(matches, "tp"),
        experts: request::experts(matches),
        require: &require,
    };
    let subject = Subject::new(asked).map_err(Failure::Refused)?;
    then(&subject)
}

fn sequences(n: u32) -> String {
    if n == 1 { "1 sequence".to_owned() } else { format!("{} sequences", grouped(u64::from(n))) }
}

fn chips(n: u32) -> String {
    if n == 1 { "1 chip".to_owned() } else { format!("{n} chips") }
}

fn people(out: &mut dyn Write, document: &Document<ModelFit>) -> Result<(), Failure> {
    let ModelFit { model, deployment, chip, tensor_parallel: tp, residency, totals, .. } = &document.body;
    writeln!(
        out,
        "{} ({}) on {} x {}, {}{} of {} positions\n",
        model.id,
        model.hf_model_type,
        tp.chips,
        chip.chip,
        deployment
            .chunk
            .map(|chunk| format!("prefill in chunks of {}, ", grouped(u64::from(chunk))))
            .unwrap_or_default(),
        sequences(deployment.batch),
        grouped(u64::from(deployment.ctx))
    )?;
    writeln!(
        out,
        "{} parameters in {} tensors; {} bytes as stored, {} in bf16, {} as GGUF Q8_0\n",
        grouped(model.weights.params),
        grouped(model.weights.tensors),
        grouped(model.weights.bytes),
        grouped(model.weights.bf16_bytes),
        grouped(model.weights.gguf_bytes)
    )?;
    let tiers = &residency.tiers;
    let mut bytes = table(["bytes a chip", "", "in"]);
    let mut line = |name: &str, value: String, tier: &str| row(&mut bytes, [&name as &dyn Display, &value, &tier]);
    line("weights", grouped(tp.weights_per_chip_bytes), &tiers.weights);
    if tp.ddr_weight_bytes_per_chip > 0 {
        line("  of them experts", grouped(tp.ddr_weight_bytes_per_chip), "DDR");
    }
    line("recurrent state", grouped(residency.gdn_state_bytes_per_chip), &tiers.gdn_state);
    line("convolution rings", grouped(residency.conv_state_bytes_per_chip), &tiers.conv_state);
    line("KV cache", grouped(tp.kv_cache_at_ctx.per_chip_bytes), &tiers.kv_cache.then);
    line("activations, at most", grouped(live_per_chip(document)), tiers.activations);
    line("needed", grouped(tp.hbm_need_bytes), tp.memory);
    line("there", grouped(tp.hbm_bytes_per_chip), tp.memory);
    line(if tp.shortfall_bytes > 0 { "lacking" } else { "headroom" }, signed(tp.hbm_headroom_bytes), tp.memory);
    align(&mut bytes, &[1]);
    print(out, &bytes)?;
    match &document.body.not_certified {
        None => writeln!(out, "\nit fits; every program is certified")?,
        Some(why) => writeln!(out, "\nIT DOES NOT FIT: {why}")?,
    }
    writeln!(
        out,
        "largest context that the memories hold with {}: {}",
        sequences(deployment.batch),
        grouped(u64::from(tp.max_ctx_in_hbm))
    )?;
    writeln!(
        out,
        "most sequences that the memories hold at this context: {}",
        grouped(u64::from(tp.max_sequences_in_hbm))
    )?;
    writeln!(
        out,
        "context up to which SRAM would hold the KV cache: {}",
        grouped(u64::from(tiers.kv_cache.sram_until_ctx))
    )?;
    writeln!(
        out,
        "{} multiply-accumulates a token at this context; {} of a step a byte moved\n",
        grouped(totals.macs_per_token_at_ctx),
        totals.arithmetic_intensity_macs_per_byte
    )?;
    ladder(out, &tp.ladder)?;
    writeln!(out, "\nserved at this context, the most sequences that fit")?;
    serving(out, &document.body.serving)?;
    writeln!(out, "\n{}", document.honesty)?;
    Ok(())
}

/// The largest live set of any program on one chip.
fn live_per_chip(document: &Document<ModelFit>) -> u64 {
    let residency = &document.body.residency;
    let recurrent = residency.gdn_state_bytes_per_chip.saturating_add(residency.conv_state_bytes_per_chip);
    let layer = residency.recurrent_working_set_per_chip_bytes.saturating_sub(recurrent);
    layer.max(residency.lm_head_live_set_per_chip_bytes)
}

fn ladder(out: &mut dyn Write, rows: &[LadderRow]) -> Result<(), Failure> {
    let mut table = table(["", "chips", "width", "weights", "headroom", "largest ctx", ""]);
    for step in rows {
        row(
            &mut table,
            [
                &step.domain as &dyn Display,
                &step.chips,
                &step.tensor_parallel,
                &grouped(step.weights_per_chip_bytes),
                &signed(step.hbm_headroom_bytes),
                &grouped(u64::from(step.max_ctx_in_hbm)),
                &if step.fits { "fits" } else { "short" },
            ],
        );
    }
    align(&mut table, &[1, 2, 3, 4, 5]);
    print(out, &table)?;
    for step in rows.iter().filter(|step| step.shortfall_bytes > 0) {
        let experts = match step.ddr_weight_bytes_per_chip {
            0 => String::new(),
            held => format!(" beside {} bytes of experts that DDR holds", grouped(held)),
        };
        writeln!(out, "{}: {} bytes lack{experts}", chips(step.chips), grouped(step.shortfall_bytes))?;
    }
    for step in rows.iter().filter(|step| !step.refused.is_empty()) {
        writeln!(out, "{}: {}", chips(step.chips), step.refused.join("; "))?;
    }
    Ok(())
}

/// How the chips that there are serve the model.
fn serving(out: &mut dyn Write, rows: &[ServingRow]) -> Result<(), Failure> {
    let mut table = table(["", "chips", "tp", "dp", "sequences each", "in all", ""]);
    for plan in rows {
        let size = |value: Option<u64>| value.map_or_else(|| "-".to_owned(), grouped);
        row(
            &mut table,
            [
                &plan.domain as &dyn Display,
                &plan.chips,
                &size(plan.tensor_parallel.map(u64::from)),
                &size(plan.data_parallel.map(u64::from)),
                &size(plan.max_sequences_per_replica.map(u64::from)),
                &size(plan.max_sequences),
                &if plan.error.is_some() { "short" } else { "fits" },
            ],
        );
    }
    align(&mut table, &[1, 2, 3, 4, 5]);
    print(out, &table)?;
    let errors = rows.iter().filter_map(|plan| Some((plan.chips, plan.error.as_ref()?)));
    errors.into_iter().try_for_each(|(n, error)| writeln!(out, "{}: {error}", chips(n)))?;
    Ok(())
}

/// Where each figure of the table comes from.
fn sources(out: &mut dyn Write, document: &Document<ModelFit>) -> Result<(), Failure> {
    writeln!(out, "\nwhere the figures come from\n")?;
    for row in &document.provenance.trace {
        let shown = ["/model/weights/", "/tensor_parallel/", "/residency/", "/totals/"];
        if !shown.iter().any(|under| row.figures.starts_with(under)) {
            continue;
        }
        writeln!(out, "{} ({}): {}", row.figures, row.label.as_str(), row.how)?;
        for (what, names) in [("facts", &row.facts), ("operations", &row.operations), ("asked", &row.request)] {
            if !names.is_empty() {
                writeln!(out, "    {what}: {}", names.join(", "))?;
            }
        }
        let keys = row.config.iter().filter_map(|group| document.provenance.keys.get(group)).flatten();
        let keys: Vec<&str> = keys.map(String::as_str).collect();
        if !keys.is_empty() {
            writeln!(out, "    config: {}", keys.join(", "))?;
        }
    }
    for (key, source) in &document.body.chip.cites {
        writeln!(out, "{key}: {source}")?;
    }
    Ok(())
}

fn planned(out: &mut dyn Write, document: &Document<VllmPlan>) -> Result<(), Failure> {
    let VllmPlan { vllm_version, serve, reserved, intake_question, fallbacks, .. } = &document.body;
    writeln!(out, "{}\n\nfor {vllm_version}\n", serve.command)?;
    if let Some(asked) = serve.reduced_from {
        writeln!(
            out,
            "{} positions were asked for and are more than its allocator grants\n",
            grouped(u64::from(asked))
        )?;
    }
    if let Some(offload) = &serve.offload {
        writeln!(
            out,
            "{} GiB of experts a chip leave its memory, for the {} bytes of DDR beside it\n",
            offload.gib,
            grouped(offload.ddr_bytes)
        )?;
    }
    let mut bytes = table(["reserved a chip", ""]);
    for (name, value) in [
        ("taken by the server", reserved.usable_bytes),
        ("left beside the weights", reserved.available_bytes),
        ("one sequence", reserved.sequence_bytes),
    ] {
        row(&mut bytes, [&name as &dyn Display, &grouped(value)]);
    }
    align(&mut bytes, &[1]);
    print(out, &bytes)?;
    writeln!(
        out,
        "\nsequences of {} at once: {}\n",
        grouped(u64::from(serve.max_model_len)),
        grouped(reserved.max_sequences)
    )?;
    writeln!(out, "{intake_question}\n")?;
    fallbacks.iter().try_for_each(|fallback| writeln!(out, "without {}: {}", fallback.without, fallback.then))?;
    Ok(())
}
