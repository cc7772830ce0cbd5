//! Documentation of generated constants: what hovering over `qwen35::DECODE` shows. The macro and the build helper
//! write the same lines.

use logos_bundle::Form;
use logos_bundle::view::{Bundle, Program, ProgramRole};
use logos_core::Compiled;
use logos_core::fit::report::Report;

/// Documentation lines of a module, in Markdown. The first is empty, to stand apart from the user's own documentation.
pub fn module(config: &str, compiled: &[Compiled]) -> Vec<String> {
    let chip = compiled.iter().find_map(|c| Some(Bundle::read(&c.words).ok()?.chip()?.name().to_string()));
    let names: Vec<String> = compiled.iter().map(|c| format!("`{}`", c.name)).collect();
    let on = chip.map_or_else(String::new, |chip| format!(" on {chip}"));
    vec![String::new(), format!("Compiled by LOGOS from `{config}`{on}: {}.", names.join(", "))]
}

/// Documentation lines of a deployment, in Markdown, read from its bundle; and what of the checkpoint is not kept as it is stored.
pub fn deployment(compiled: &Compiled) -> Vec<String> {
    let Ok(bundle) = Bundle::read(&compiled.words) else {
        return vec![String::new(), "A bundle that cannot be read.".to_owned()];
    };
    let chip = bundle.chip().map_or_else(String::new, |chip| chip.name().to_string());
    let fit = bundle.fit();
    let mut lines = vec![
        String::new(),
        format!(
            "{} of `{}` on {} x {chip}: {}.",
            capital(bundle.form()),
            bundle.model(),
            bundle.chips(),
            step(&bundle)
        ),
        String::new(),
        "| bytes a chip | |".to_owned(),
        "|---|---:|".to_owned(),
        format!("| weights | {} |", grouped(fit.weight_bytes)),
        format!("| of them in DDR | {} |", grouped(fit.ddr_weight_bytes)),
        format!("| carried state | {} |", grouped(fit.state_bytes)),
        format!("| of it KV cache | {} |", grouped(fit.kv_bytes)),
        format!("| of it in SRAM | {} |", grouped(fit.sram_state_bytes)),
        format!("| main memory | {} |", grouped(fit.memory_bytes)),
        format!("| headroom | {} |", signed(fit.hbm_headroom_bytes)),
        String::new(),
        format!("{} layers; programs:", bundle.layer_count()),
        String::new(),
    ];
    lines.extend(bundle.programs().map(|program| format!("- {}", program_line(&program))));
    lines.push(String::new());
    if !compiled.required.is_empty() {
        let required: Vec<String> = compiled.required.iter().map(|required| format!("`{required}`")).collect();
        lines.push(format!("Required: {}.", required.join(", ")));
        lines.push(String::new());
    }
    if !compiled.notes.is_empty() {
        lines.push("To be known:".to_owned());
        lines.push(String::new());
        lines.extend(compiled.notes.iter().map(|note| format!("- {note}")));
        lines.push(String::new());
    }
    let whose =
        if logos_core::chip::NAMES.contains(&chip.as_str()) { "its vendor's figure" } else { "the figure of its file" };
    lines.push(format!(
        "Bytes are derived from the config and the deployment, the chip's memory is {whose}; no speed is claimed."
    ));
    lines
}

/// Documentation lines of the module of a document's texts.
pub fn report(report: Report) -> Vec<String> {
    let (schema, command) = match report {
        Report::Fit => ("logos.rdu.fit", "fit"),
        Report::VllmPlan => ("logos.rdu.vllm_plan", "plan"),
    };
    vec![
        String::new(),
        format!(
            "`{schema}` of each deployment but forward ones, named as it is: the JSON that `cargo logos {command} --json` writes."
        ),
    ]
}

/// Documentation lines of a document's text.
pub fn text(report: Report, deployment: &str) -> Vec<String> {
    let what = match report {
        Report::Fit => "What it needs of the chips, every figure traced",
        Report::VllmPlan => "How vLLM would serve it",
    };
    vec![String::new(), format!("{what}, as JSON: the `{}` report of `{deployment}`.", report.as_str())]
}

fn capital(form: Form) -> String {
    let word = form.to_string();
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn step(bundle: &Bundle<'_>) -> String {
    let (sequences, tokens, ctx) = (bundle.sequences(), bundle.tokens(), grouped(u64::from(bundle.ctx())));
    match bundle.form() {
        Form::Decode if sequences == 1 => format!("a token of one sequence a step, over a context of {ctx}"),
        Form::Decode => format!("a token of each of {sequences} sequences a step, over a context of {ctx}"),
        Form::Prefill if sequences == 1 => format!("{tokens} tokens of a sequence a step, over a context of {ctx}"),
        Form::Prefill => format!("{tokens} tokens of each of {sequences} sequences a step, over a context of {ctx}"),
        _ => format!("{tokens} tokens, stateless"),
    }
}

fn program_line(program: &Program<'_>) -> String {
    let stages: usize = program.sections().map(|section| section.stages().count()).sum();
    match program.role() {
        ProgramRole::Layer => {
            format!("`{}`, of {} layers ({stages} stages)", program.name(), program.layer_count())
        }
        _ => format!("`{}` ({stages} stages)", program.name()),
    }
}

/// `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `-1,234`.
pub(crate) fn signed(number: i64) -> String {
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{}", grouped(number.unsigned_abs()))
}

#[cfg(test)]
mod tests {
    use super::{grouped, signed};

    #[test]
    fn thousands_are_grouped() {
        for (number, text) in
            [(0, "0"), (999, "999"), (1_000, "1,000"), (262_144, "262,144"), (1 << 36, "68,719,476,736")]
        {
            assert_eq!(grouped(number), text);
        }
        assert_eq!(signed(-1_000), "-1,000");
    }
}
