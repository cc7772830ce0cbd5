//! The bundles that are mutated: real output of the compiler.

use std::fs;
use std::sync::LazyLock;

use logos_core::{DeploymentRequest, Description, ExpertSplit, Form, Request, Vocabulary, Weights, compile};

use super::table::Table;

/// A compiled deployment.
pub(crate) struct Subject {
    /// What was compiled.
    pub(crate) name: String,
    /// The bundle.
    pub(crate) words: Vec<u32>,
    /// Its rows.
    pub(crate) table: Table,
}

fn subject(model: &str, weights: Weights, tp: u32, form: Form) -> Subject {
    stored(model, weights, None, Vocabulary::Exact, tp, form)
}

/// With weights as a checkpoint stores them, whose description is that file beside the config, or a padded vocabulary.
fn stored(
    model: &str,
    weights: Weights,
    description: Option<&str>,
    vocabulary: Vocabulary,
    tp: u32,
    form: Form,
) -> Subject {
    compiled(model, (weights, description), vocabulary, DeploymentRequest::new("IT", form, Some(tp)))
}

fn split(model: &str, experts: ExpertSplit, tp: u32, form: Form) -> Subject {
    let deployment = DeploymentRequest { experts, ..DeploymentRequest::new("IT", form, Some(tp)) };
    compiled(model, (Weights::Config, None), Vocabulary::Exact, deployment)
}

fn compiled(
    model: &str,
    (weights, description): (Weights, Option<&str>),
    vocabulary: Vocabulary,
    deployment: DeploymentRequest,
) -> Subject {
    let folder = if model.contains('-') { "configs" } else { "tiny" };
    let read = |file| fs::read(logos_tests::fixtures().join(folder).join(model).join(file)).expect("the fixture");
    let config = read("config.json");
    let text = description.map(read);
    let checkpoint = description.zip(text.as_deref()).map(|(file, text)| Description { file, text });
    let kept = description.map_or(format!("{weights:?}"), str::to_owned);
    let DeploymentRequest { form, tp, experts, .. } = deployment;
    let name = format!("{model} {form:?} tp {} {kept} {vocabulary:?} {experts:?}", tp.unwrap_or(1));
    let deployments = [deployment];
    let request = Request {
        model,
        config: &config,
        chip: "SN50".into(),
        weights,
        checkpoint,
        vocabulary,
        deployments: &deployments,
    };
    let mut compiled = compile(&request).unwrap_or_else(|refusals| panic!("{name}: {refusals:?}"));
    let words = compiled.remove(0).words;
    let table = Table::read(&words);
    assert_eq!(table.words(), words, "{name}: taken apart and put together");
    Subject { name, words, table }
}

const DECODE: Form = Form::Decode { ctx: 64, batch: 2 };
const PREFILL: Form = Form::Prefill { ctx: 64, chunk: 16, batch: 1 };

const TOGETHER: Form = Form::Prefill { ctx: 64, chunk: 16, batch: 3 };

/// Models of a few rows and columns, in every form; two kinds of layer or one, fused and biased projections, a tied head,
/// a sliding window, weights in blocks, a padded vocabulary with a biased head, one chip and two.
pub(crate) fn small() -> &'static [Subject] {
    static SUBJECTS: LazyLock<Vec<Subject>> = LazyLock::new(|| {
        vec![
            subject("qwen3_5", Weights::Config, 2, DECODE),
            subject("qwen3_5", Weights::Config, 1, PREFILL),
            subject("llama", Weights::Config, 2, PREFILL),
            subject("qwen3_5", Weights::Config, 2, TOGETHER),
            subject("llama3_tied", Weights::Q8_0, 1, DECODE),
            subject("qwen2", Weights::Config, 2, DECODE),
            subject("mistral", Weights::Config, 2, Form::Forward { rows: 24 }),
            subject("gpt_oss", Weights::Config, 2, DECODE),
            subject("phi", Weights::Config, 1, DECODE),
            stored("phi", Weights::Config, None, Vocabulary::Padded, 2, DECODE),
            subject("deepseek_v3", Weights::Config, 2, DECODE),
            subject("llama4", Weights::Config, 1, PREFILL),
            subject("olmo2", Weights::Config, 4, DECODE),
            stored("qwen3_fp8", Weights::Config, Some("checkpoint-fp8.json"), Vocabulary::Exact, 2, DECODE),
            stored("gpt_oss", Weights::Config, Some("checkpoint-mxfp4.json"), Vocabulary::Exact, 2, DECODE),
            split("mixtral", ExpertSplit::Parallel, 2, DECODE),
        ]
    });
    &SUBJECTS
}

/// Qwen3.5-27B over eight chips: a decode whose memory binds, and a prefill of 32 groups in several sections; and a mixture's decode of 64 sequences, which
/// begins to read the next layer's cache while it waits for ids.
pub(crate) fn big() -> &'static [Subject] {
    static SUBJECTS: LazyLock<Vec<Subject>> = LazyLock::new(|| {
        let ctx = 262_144;
        vec![
            subject("qwen3.5-27b", Weights::Config, 8, Form::Decode { ctx, batch: 8 }),
            subject("qwen3.5-27b", Weights::Config, 8, Form::Prefill { ctx, chunk: 512, batch: 1 }),
            subject("qwen3-235b-a22b", Weights::Config, 16, Form::Decode { ctx: 8192, batch: 64 }),
        ]
    });
    &SUBJECTS
}
