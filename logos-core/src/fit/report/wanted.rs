//! The documents that a request may ask for beside its bundles, by name.

use super::subject::{Asked, AskedStep, Subject};
use super::{model, vllm_plan};
use crate::request::{DeploymentRequest, Form, Request};
use crate::{At, Code, Refusal};

/// A document of a decode or prefill deployment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Report {
    /// `logos.rdu.fit`, as `cargo logos fit --json` writes it.
    Fit,
    /// `logos.rdu.vllm_plan`, as `cargo logos plan --json` writes it.
    VllmPlan,
}

impl Report {
    /// Every document.
    pub const ALL: [Report; 2] = [Report::Fit, Report::VllmPlan];

    /// The names of the documents, in the order of [`Report::ALL`].
    pub const NAMES: [&'static str; 2] = [Report::Fit.as_str(), Report::VllmPlan.as_str()];

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Report::Fit => "fit",
            Report::VllmPlan => "vllm_plan",
        }
    }

    /// The module that has its texts as constants, each named as its deployment.
    pub const fn module(self) -> &'static str {
        match self {
            Report::Fit => "fit_json",
            Report::VllmPlan => "vllm_plan_json",
        }
    }

    /// The document of a name.
    pub fn from_name(name: &str) -> Option<Report> {
        Report::ALL.into_iter().find(|report| report.as_str() == name)
    }

    /// The document's text: JSON for people, ending in one newline.
    ///
    /// # Errors
    /// Where none is made: no plan of vLLM's for the model, or a size beyond 64 bits.
    pub fn text(self, subject: &Subject<'_>) -> Result<String, Refusal> {
        match self {
            Report::Fit => model(subject).map(|document| document.to_text()),
            Report::VllmPlan => vllm_plan(subject).map(|document| document.to_text()),
        }
    }
}

/// A document's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// Which document.
    pub report: Report,
    /// Of which deployment of the request, by its index.
    pub deployment: usize,
    /// JSON for people, ending in one newline.
    pub text: String,
}

/// The documents of every deployment of a request that compiles but of forward steps, by document.
///
/// # Errors
/// Of each document that is not made, why.
pub fn texts(request: &Request<'_>, wanted: &[Report]) -> Result<Vec<Text>, Vec<(Report, Refusal)>> {
    let Some(&first) = wanted.first() else { return Ok(Vec::new()) };
    let (mut subjects, mut refusals) = (Vec::new(), Vec::new());
    for (index, deployment) in request.deployments.iter().enumerate() {
        let Some(asked) = Asked::of(request, deployment) else { continue };
        match Subject::new(asked) {
            Ok(subject) => subjects.push((index, subject)),
            Err(found) => refusals.extend(found.into_iter().map(|refusal| (first, refusal))),
        }
    }
    let mut texts = Vec::new();
    for &report in wanted {
        if subjects.is_empty() && refusals.is_empty() {
            let message =
                format!("`{}` is a report of decode and prefill deployments, and there is none", report.as_str());
            let refusal = Refusal::new(Code::RequestForm, At::Request, message);
            return Err(vec![(report, refusal.help("add one, or leave the report out"))]);
        }
        for (deployment, subject) in &subjects {
            match report.text(subject) {
                Ok(text) => texts.push(Text { report, deployment: *deployment, text }),
                Err(refusal) => refusals.push((report, refusal)),
            }
        }
    }
    if refusals.is_empty() { Ok(texts) } else { Err(refusals) }
}

impl<'a> Asked<'a> {
    /// A deployment of a request; none where it is a forward step, of which there are no documents.
    pub fn of(request: &Request<'a>, deployment: &'a DeploymentRequest) -> Option<Asked<'a>> {
        let (ctx, step) = match deployment.form {
            Form::Forward { rows: _ } => return None,
            Form::Decode { ctx, batch } => (ctx, AskedStep::Decode { batch }),
            Form::Prefill { ctx, chunk, batch } => (ctx, AskedStep::Prefill { chunk, batch }),
        };
        let Request { model, config, chip, weights, checkpoint, vocabulary, deployments: _ } = *request;
        let DeploymentRequest { tp, experts, ref require, .. } = *deployment;
        Some(Asked { model, config, chip, weights, checkpoint, vocabulary, ctx: Some(ctx), step, tp, experts, require })
    }
}
