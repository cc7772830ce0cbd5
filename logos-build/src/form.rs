//! The three forms of deployment as a build script writes them. A setter takes the size's unit as its name says; a
//! size left out is refused, except `batch`, which is 1, and `tp`, which is the widest that the model admits within the chip's rack.

use logos_core::{At, Code, DeploymentRequest, ExpertSplit, Form, Refusal};

use crate::require::{self, Require};

/// One token of each sequence of a batch, over `ctx` positions of carried state.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Decode {
    require: Vec<Require>,
    tp: Option<u32>,
    ctx: Option<u32>,
    batch: Option<u32>,
    experts: ExpertSplit,
}

/// A chunk of tokens of each sequence of a batch, over the decode step's own carried state.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Prefill {
    require: Vec<Require>,
    tp: Option<u32>,
    ctx: Option<u32>,
    chunk: Option<u32>,
    batch: Option<u32>,
    experts: ExpertSplit,
}

/// One stateless pass over the tokens of one sequence; the first hidden state is an input.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Forward {
    require: Vec<Require>,
    tp: Option<u32>,
    rows: Option<u32>,
    experts: ExpertSplit,
}

impl Decode {
    /// Tensor-parallel width, chips; the widest that the model admits within a rack if left out.
    pub fn tp(self, chips: u32) -> Self {
        Decode { tp: Some(chips), ..self }
    }

    /// Context, positions.
    pub fn ctx(self, positions: u32) -> Self {
        Decode { ctx: Some(positions), ..self }
    }

    /// Sequences of a step; 1 if left out.
    pub fn batch(self, sequences: u32) -> Self {
        Decode { batch: Some(sequences), ..self }
    }

    /// How routed experts lie over the chips: a part of every expert on each if left out, or whole ones.
    pub fn experts(self, split: ExpertSplit) -> Self {
        Decode { experts: split, ..self }
    }

    /// What has to hold of it, or the build fails: `"hbm_fit, ctx >= 131_072"`, or a [`Requirement`](logos_core::Requirement).
    pub fn require(mut self, requirements: impl Into<Require>) -> Self {
        self.require.push(requirements.into());
        self
    }

    pub(crate) fn request(self, name: &str) -> Result<DeploymentRequest, Vec<Refusal>> {
        let ctx = required(self.ctx, name, "decode", "ctx", "the positions its carried state holds")?;
        let form = Form::Decode { ctx, batch: self.batch.unwrap_or(1) };
        let deployment = DeploymentRequest { experts: self.experts, ..DeploymentRequest::new(name, form, self.tp) };
        require::required(deployment, self.require)
    }
}

impl Prefill {
    /// Tensor-parallel width, chips; the widest that the model admits within a rack if left out.
    pub fn tp(self, chips: u32) -> Self {
        Prefill { tp: Some(chips), ..self }
    }

    /// Context, positions.
    pub fn ctx(self, positions: u32) -> Self {
        Prefill { ctx: Some(positions), ..self }
    }

    /// Tokens of each sequence in a step.
    pub fn chunk(self, tokens: u32) -> Self {
        Prefill { chunk: Some(tokens), ..self }
    }

    /// Sequences of a step; 1 if left out.
    pub fn batch(self, sequences: u32) -> Self {
        Prefill { batch: Some(sequences), ..self }
    }

    /// How routed experts lie over the chips: a part of every expert on each if left out, or whole ones.
    pub fn experts(self, split: ExpertSplit) -> Self {
        Prefill { experts: split, ..self }
    }

    /// What has to hold of it, or the build fails: `"hbm_fit, ctx >= 131_072"`, or a [`Requirement`](logos_core::Requirement).
    pub fn require(mut self, requirements: impl Into<Require>) -> Self {
        self.require.push(requirements.into());
        self
    }

    pub(crate) fn request(self, name: &str) -> Result<DeploymentRequest, Vec<Refusal>> {
        let ctx = required(self.ctx, name, "prefill", "ctx", "the positions its carried state holds")?;
        let chunk = required(self.chunk, name, "prefill", "chunk", "the tokens of a step")?;
        let form = Form::Prefill { ctx, chunk, batch: self.batch.unwrap_or(1) };
        let deployment = DeploymentRequest { experts: self.experts, ..DeploymentRequest::new(name, form, self.tp) };
        require::required(deployment, self.require)
    }
}

impl Forward {
    /// Tensor-parallel width, chips; the widest that the model admits within a rack if left out.
    pub fn tp(self, chips: u32) -> Self {
        Forward { tp: Some(chips), ..self }
    }

    /// Tokens of the step.
    pub fn rows(self, tokens: u32) -> Self {
        Forward { rows: Some(tokens), ..self }
    }

    /// How routed experts lie over the chips: a part of every expert on each if left out, or whole ones.
    pub fn experts(self, split: ExpertSplit) -> Self {
        Forward { experts: split, ..self }
    }

    /// What has to hold of it, or the build fails: `"hbm_fit, ctx >= 131_072"`, or a [`Requirement`](logos_core::Requirement).
    pub fn require(mut self, requirements: impl Into<Require>) -> Self {
        self.require.push(requirements.into());
        self
    }

    pub(crate) fn request(self, name: &str) -> Result<DeploymentRequest, Vec<Refusal>> {
        let rows = required(self.rows, name, "forward", "rows", "the tokens of the step")?;
        let deployment = DeploymentRequest {
            experts: self.experts,
            ..DeploymentRequest::new(name, Form::Forward { rows }, self.tp)
        };
        require::required(deployment, self.require)
    }
}

fn required(value: Option<u32>, name: &str, form: &str, key: &str, meaning: &str) -> Result<u32, Vec<Refusal>> {
    value.ok_or_else(|| {
        let message = format!("{form} needs `{key}`, {meaning}");
        let help = format!("add `.{key}({})`", if key == "ctx" { "8_192" } else { "512" });
        vec![Refusal::new(Code::RequestForm, At::Deployment(name.to_owned()), message).help(help)]
    })
}
