//! The builder: a request as a build script writes it.

use std::path::Path;

use logos_core::fit::report::{self, Report, Text};
use logos_core::{
    At, ChipRequest, Code, Compiled, DeploymentRequest, Description, Refusal, Request, Vocabulary, Weights,
};

use crate::form::{Decode, Forward, Prefill};
use crate::{name, source};

/// A model's config with a chip and named deployments, as [`model`](crate::model) begins it.
#[derive(Clone, Debug)]
#[must_use = "nothing is compiled before `emit`"]
pub struct Model {
    pub(crate) config: String,
    chip: Option<String>,
    pub(crate) chip_file: Option<String>,
    weights: Weights,
    pub(crate) checkpoint: Option<String>,
    vocabulary: Vocabulary,
    deployments: Vec<Result<DeploymentRequest, Vec<Refusal>>>,
    pub(crate) reports: Vec<Report>,
}

impl Model {
    pub(crate) fn new(config: String) -> Self {
        Model {
            config,
            chip: None,
            chip_file: None,
            weights: Weights::Config,
            checkpoint: None,
            vocabulary: Vocabulary::Exact,
            deployments: Vec::new(),
            reports: Vec::new(),
        }
    }

    /// The chip, by its vendor's name: `SN50`.
    pub fn chip(self, name: impl Into<String>) -> Self {
        Model { chip: Some(name.into()), ..self }
    }

    /// A chip of one's own, by its file: a path relative to the folder of the package's Cargo.toml. The file has the same fields as those
    /// of the chips that come with the compiler, each fact with its provenance and citation: see [`logos_core::chip::Chip::read`].
    pub fn chip_file(self, path: impl Into<String>) -> Self {
        Model { chip_file: Some(path.into()), ..self }
    }

    /// How weights are stored; in the config's own dtype if left out.
    pub fn weights(self, weights: Weights) -> Self {
        Model { weights, ..self }
    }

    /// Weights as the checkpoint stores each, by its description, which `cargo logos describe` writes: a path relative to the folder of
    /// the package's Cargo.toml. What the checkpoint lacks of the model, or has in another shape, is refused.
    pub fn weights_from(self, description: impl Into<String>) -> Self {
        Model { checkpoint: Some(description.into()), ..self }
    }

    /// Whether the vocabulary is padded, as serving stacks do, to a multiple of 64 and of the width, so that it lies over the chips whatever
    /// the width; cut exactly if left out. No token is ever one of the padding's.
    pub fn vocab(self, vocabulary: Vocabulary) -> Self {
        Model { vocabulary, ..self }
    }

    /// Adds a decode deployment, the constant `name`: one token of each sequence a step.
    pub fn decode(self, name: &str, sizes: impl FnOnce(Decode) -> Decode) -> Self {
        self.with(sizes(Decode::default()).request(name))
    }

    /// Adds a prefill deployment, the constant `name`: a chunk of tokens of each sequence a step.
    pub fn prefill(self, name: &str, sizes: impl FnOnce(Prefill) -> Prefill) -> Self {
        self.with(sizes(Prefill::default()).request(name))
    }

    /// Adds a forward deployment, the constant `name`: one stateless pass.
    pub fn forward(self, name: &str, sizes: impl FnOnce(Forward) -> Forward) -> Self {
        self.with(sizes(Forward::default()).request(name))
    }

    /// Documents of every deployment but forward ones that become constants too: `qwen35::fit_json::DECODE`, a `&str` of JSON. They take the build
    /// longer and the binary no byte unless they are used.
    pub fn reports(mut self, reports: impl IntoIterator<Item = Report>) -> Self {
        for report in reports {
            if !self.reports.contains(&report) {
                self.reports.push(report);
            }
        }
        self
    }

    fn with(mut self, deployment: Result<DeploymentRequest, Vec<Refusal>>) -> Self {
        self.deployments.push(deployment);
        self
    }

    /// Compiles the request as the model `name`, the config's path relative to `root`. The bundles are those that
    /// `logos_model!` makes of the same request in a module `name`, byte for byte.
    ///
    /// # Errors
    /// Every refusal that can be known.
    pub fn compile(&self, root: &Path, name: &str) -> Result<Vec<Compiled>, Vec<Refusal>> {
        self.make(root, name, |_, compiled| Ok(compiled))
    }

    /// The bundles, as [`compile`](Model::compile) has them, and the documents that are asked for.
    ///
    /// # Errors
    /// Every refusal that can be known.
    pub fn compile_with_reports(&self, root: &Path, name: &str) -> Result<(Vec<Compiled>, Vec<Text>), Vec<Refusal>> {
        self.make(root, name, |request, compiled| match report::texts(request, &self.reports) {
            Ok(texts) => Ok((compiled, texts)),
            Err(refusals) => Err(refusals.into_iter().map(|(_, refusal)| refusal).collect()),
        })
    }

    fn make<T>(
        &self,
        root: &Path,
        name: &str,
        then: impl FnOnce(&Request<'_>, Vec<Compiled>) -> Result<T, Vec<Refusal>>,
    ) -> Result<T, Vec<Refusal>> {
        let mut refusals = Vec::new();
        refusals.extend(name::check("name", name).err());
        let config = source::read_config(root, &self.config).map_err(|refusal| refusals.push(refusal)).ok();
        let read = |path: &String| source::read_description(root, path);
        let description = self.checkpoint.as_ref().map(read).transpose();
        let description = description.map_err(|refusal| refusals.push(refusal)).ok();
        let chip_text = self.chip_file.as_ref().map(|path| source::read_chip(root, path)).transpose();
        let chip_text = chip_text.map_err(|refusal| refusals.push(refusal)).ok();
        let chip = match (&self.chip, &self.chip_file) {
            (Some(name), None) => Some(ChipRequest::Named(name)),
            (None, Some(file)) => {
                chip_text.as_ref().and_then(Option::as_deref).map(|text| ChipRequest::File { file, text })
            }
            (None, None) => {
                let refusal = Refusal::new(Code::RequestForm, At::Chip, "the request names no chip");
                refusals.push(refusal.help("add `.chip(\"SN50\")`, or `.chip_file(\"chips/NAME.toml\")`"));
                None
            }
            (Some(_), Some(_)) => {
                let refusal = Refusal::new(Code::RequestForm, At::Chip, "the request names a chip and a chip file");
                refusals.push(refusal.help("leave one of `.chip(…)` and `.chip_file(…)` out"));
                None
            }
        };
        if self.deployments.is_empty() {
            refusals.push(
                Refusal::new(Code::RequestForm, At::Request, "the request has no deployment")
                    .help("add `.decode(\"DECODE\", |d| d.tp(8).ctx(8_192))`"),
            );
        }
        let mut deployments: Vec<DeploymentRequest> = Vec::new();
        for deployment in &self.deployments {
            match deployment {
                Ok(deployment) => match self.check_name(deployment, &deployments) {
                    Ok(()) => deployments.push(deployment.clone()),
                    Err(refusal) => refusals.push(refusal),
                },
                Err(found) => refusals.extend(found.iter().cloned()),
            }
        }
        let (Some(config), Some(description), Some(chip), false) = (config, description, chip, deployments.is_empty())
        else {
            return Err(refusals);
        };
        // The well-formed deployments are compiled even when another is not: their faults are wanted too.
        let files = self.checkpoint.as_deref().zip(description.as_deref());
        let checkpoint = files.map(|(file, text)| Description { file, text });
        let request = Request {
            model: name,
            config: &config,
            chip,
            weights: self.weights,
            checkpoint,
            vocabulary: self.vocabulary,
            deployments: &deployments,
        };
        match logos_core::compile(&request) {
            Ok(compiled) if refusals.is_empty() => then(&request, compiled),
            Ok(_) => Err(refusals),
            Err(more) => {
                refusals.extend(more);
                Err(refusals)
            }
        }
    }

    fn check_name(&self, deployment: &DeploymentRequest, earlier: &[DeploymentRequest]) -> Result<(), Refusal> {
        name::check("deployment name", &deployment.name)?;
        // Bundles lie in files named after their deployments, and some file systems fold case.
        match earlier.iter().find(|other| other.name.eq_ignore_ascii_case(&deployment.name)) {
            None => Ok(()),
            Some(other) => Err(Refusal::new(
                Code::RequestForm,
                At::Deployment(deployment.name.clone()),
                format!("the name {} is taken by an earlier deployment", other.name),
            )
            .help("give one of the two another name")),
        }
    }
}
