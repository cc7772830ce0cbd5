//! What documents of a model are made from: the model, the deployment and its programs, read and lowered once.

use std::borrow::Cow;

use crate::chip::Chip;
use crate::compile::{self, Deployed};
use crate::config;
use crate::fit::serving::{Demand, Needs};
use crate::kinds::{self, KindProgram};
use crate::request::{self, ChipRequest, DeploymentRequest, Description, Form, Request, Requirement, Weights};
use crate::spec::{ExpertSplit, ModelSpec, Vocabulary};
use crate::{Code, Refusal};

/// The step that documents are of. A forward step carries no state and serves nobody: there is no document of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskedStep {
    /// A token of each sequence.
    Decode {
        /// Sequences of a step.
        batch: u32,
    },
    /// Tokens of each sequence, the last of which is at the context's end.
    Prefill {
        /// Tokens of each sequence in a step.
        chunk: u32,
        /// Sequences of a step.
        batch: u32,
    },
}

impl AskedStep {
    /// The step over a context.
    pub const fn form(self, ctx: u32) -> Form {
        match self {
            AskedStep::Decode { batch } => Form::Decode { ctx, batch },
            AskedStep::Prefill { chunk, batch } => Form::Prefill { ctx, chunk, batch },
        }
    }

    /// Its sequences.
    pub const fn sequences(self) -> u32 {
        match self {
            AskedStep::Decode { batch } | AskedStep::Prefill { batch, .. } => batch,
        }
    }

    /// Tokens of a chunk; none of a decode.
    pub const fn chunk(self) -> Option<u32> {
        match self {
            AskedStep::Decode { .. } => None,
            AskedStep::Prefill { chunk, .. } => Some(chunk),
        }
    }

    /// The same step of one sequence.
    pub(super) const fn of_one(self) -> AskedStep {
        match self {
            AskedStep::Decode { batch: _ } => AskedStep::Decode { batch: 1 },
            AskedStep::Prefill { chunk, batch: _ } => AskedStep::Prefill { chunk, batch: 1 },
        }
    }

    /// The form's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            AskedStep::Decode { .. } => "decode",
            AskedStep::Prefill { .. } => "prefill",
        }
    }

    /// The name of a deployment that has no other.
    const fn deployment(self) -> &'static str {
        match self {
            AskedStep::Decode { .. } => "DECODE",
            AskedStep::Prefill { .. } => "PREFILL",
        }
    }
}

/// What a document of a model is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The model's name, for people.
    pub model: &'a str,
    /// The bytes of `config.json`.
    pub config: &'a [u8],
    /// The chip.
    pub chip: ChipRequest<'a>,
    /// How weights are stored.
    pub weights: Weights,
    /// The checkpoint that the model is held to.
    pub checkpoint: Option<Description<'a>>,
    /// Whether the vocabulary is padded to lie over the chips.
    pub vocabulary: Vocabulary,
    /// Positions; the model's own most if left out.
    pub ctx: Option<u32>,
    /// The step.
    pub step: AskedStep,
    /// Tensor-parallel width; the widest the model admits within a rack if left out.
    pub tp: Option<u32>,
    /// How routed experts lie over the chips.
    pub experts: ExpertSplit,
    /// What has to hold of it, or there is no document.
    pub require: &'a [Requirement],
}

impl Asked<'_> {
    /// The compiler's request of deployments of the same model, chip and storage.
    pub(super) fn request<'r>(&'r self, deployments: &'r [DeploymentRequest]) -> Request<'r> {
        Request {
            model: self.model,
            config: self.config,
            chip: self.chip,
            weights: self.weights,
            checkpoint: self.checkpoint,
            vocabulary: self.vocabulary,
            deployments,
        }
    }
}

/// A model in a deployment.
pub struct Subject<'a> {
    pub(super) asked: Asked<'a>,
    /// Paths of the config's keys that were read.
    pub(super) keys: Vec<String>,
    pub(super) spec: ModelSpec,
    pub(super) chip: Cow<'static, Chip>,
    pub(super) tp: u32,
    pub(super) ctx: u32,
    /// What a chip needs.
    pub(super) needs: Needs,
    /// `model_type` of the config whose `text_config` the model is.
    pub(super) inherits: Option<String>,
    pub(super) made: Made,
}

/// What the compiler makes of a deployment.
pub(super) enum Made {
    /// Lowered and certified.
    Certified(Box<Deployed>),
    /// More than the chips' memory holds: the programs, and why they are not lowered.
    TooLarge(Vec<KindProgram>, Box<Refusal>),
}

impl<'a> Subject<'a> {
    /// Reads, lowers and certifies what is asked for. That it does not fit the memory is no error here: documents say so, unless something
    /// is required of it.
    ///
    /// # Errors
    /// Every refusal but that one.
    pub fn new(asked: Asked<'a>) -> Result<Subject<'a>, Vec<Refusal>> {
        let chip = asked.chip.chip();
        let spec = config::read(asked.config);
        let (chip, spec) = match (chip, spec) {
            (Ok(chip), Ok(spec)) => (chip, spec),
            (chip, spec) => {
                return Err([chip.err(), spec.err()].into_iter().flatten().flatten().collect());
            }
        };
        let ctx = asked.ctx.unwrap_or(spec.max_context);
        let form = asked.step.form(ctx);
        let deployment = DeploymentRequest {
            experts: asked.experts,
            require: asked.require.to_vec(),
            ..DeploymentRequest::new(asked.step.deployment(), form, asked.tp)
        };
        let request = asked.request(std::slice::from_ref(&deployment));
        let (spec, _) = compile::held_to(&request, spec)?;
        let spec = deployment.of(&spec).into_owned();
        let deployment = deployment.at_width(&spec, &chip);
        let mut refusals = request::check_deployment(&spec, &chip, &deployment);
        refusals.extend(request::check_requirements(std::slice::from_ref(&deployment)));
        if !refusals.is_empty() {
            return Err(refusals);
        }
        let tp = deployment.chips();
        let sequences = asked.step.sequences();
        let demand = Demand { spec: &spec, chip: &chip, weights: asked.weights, ctx, sequences };
        let needs = demand.at(tp).map_err(|error| vec![error.into()])?;
        let made = match compile::deploy(&request, &spec, &chip, &deployment) {
            Ok(deployed) => {
                let unmet = compile::unmet(&spec, &chip, &deployment, asked.weights, &deployed);
                if !unmet.is_empty() {
                    return Err(unmet);
                }
                Made::Certified(Box::new(deployed))
            }
            Err(mut refusals) => match refusals.iter().position(|refusal| refusal.code == Code::FitMemory) {
                Some(0) if refusals.len() == 1 && asked.require.is_empty() => {
                    let programs = kinds::programs(&spec, form, tp, asked.weights)?;
                    Made::TooLarge(programs, Box::new(refusals.swap_remove(0)))
                }
                Some(_) | None => return Err(refusals),
            },
        };
        let keys = config::keys_read(asked.config);
        let inherits = config::outer_model_type(asked.config);
        Ok(Subject { asked, keys, spec, chip, tp, ctx, needs, inherits, made })
    }

    /// The deployment's programs.
    pub(super) fn programs(&self) -> &[KindProgram] {
        match &self.made {
            Made::Certified(deployed) => &deployed.programs,
            Made::TooLarge(programs, _) => programs,
        }
    }

    /// What is asked of the chips.
    pub(super) fn demand(&self) -> Demand<'_> {
        let Subject { spec, chip, ctx, .. } = self;
        Demand { spec, chip, weights: self.asked.weights, ctx: *ctx, sequences: self.sequences() }
    }

    /// Bytes of experts in DDR beside an HBM: as the certificate has them, else as many as have to.
    pub(super) fn ddr_weight_bytes(&self) -> u64 {
        match &self.made {
            Made::Certified(deployed) => deployed.fit.ddr_weight_bytes,
            Made::TooLarge(..) => self.needs.experts_in_ddr_bytes,
        }
    }

    /// Bytes of SRAM that the buffers of the largest section take; none where nothing is certified.
    pub(super) fn reserve_bytes(&self) -> Option<u64> {
        match &self.made {
            Made::Certified(deployed) => Some(super::model::buffers(&deployed.laid)),
            Made::TooLarge(..) => None,
        }
    }

    /// The form of step that documents are of.
    pub const fn form(&self) -> Form {
        self.asked.step.form(self.ctx)
    }

    /// Sequences of a step.
    pub(super) const fn sequences(&self) -> u32 {
        self.asked.step.sequences()
    }

    /// The program that runs a layer, by its number among all.
    pub(super) fn kind_of(&self, layer: u32) -> Option<(usize, &KindProgram)> {
        self.programs().iter().enumerate().find(|(_, kind)| kind.layers.binary_search(&layer).is_ok())
    }
}
