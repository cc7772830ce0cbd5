//! A model's deployments run on the host: executed from their bundles stage by stage, or evaluated statement by statement.

use logos_bundle::view::Bundle;
use logos_core::checkpoint::ModelWeights;
use logos_core::reference::{Output, RopeLength, Session, Shards};
use logos_core::simulate::machine::{Machine, Order};
use logos_core::spec::ModelSpec;
use logos_core::{ChipRequest, Compiled, DeploymentRequest, Description, Form, Request, Weights, kinds};

use super::{Failure, own_bundle};

/// Which way.
#[derive(Clone, Copy, Debug)]
pub(super) enum Way {
    /// Stage by stage, in this order.
    Executed(Order),
    /// Statement by statement, with no certificate and no tiles.
    Evaluated,
}

/// A model with its weights.
pub(super) struct Model<'a> {
    pub(super) name: &'a str,
    pub(super) config: &'a [u8],
    pub(super) spec: &'a ModelSpec,
    pub(super) chip: ChipRequest<'a>,
    pub(super) storage: Weights,
    /// What chips keep weights as, where that is not `storage`'s to say; `spec` is held to it.
    pub(super) description: Option<Description<'a>>,
    pub(super) tp: u32,
    pub(super) weights: &'a ModelWeights<'a>,
}

/// A deployment that runs.
pub(super) enum Host {
    Executed(Box<Machine>),
    Evaluated(Box<Session>),
}

impl Model<'_> {
    /// Compiles these forms and makes each ready to run. What is evaluated is compiled all the same: what cannot be had is refused.
    pub(super) fn hosts(&self, way: Way, forms: &[Form]) -> Result<Vec<Host>, Failure> {
        let name = |form: &Form| match form {
            Form::Decode { .. } => "DECODE",
            Form::Prefill { .. } => "PREFILL",
            Form::Forward { .. } => "FORWARD",
        };
        let deployments: Vec<DeploymentRequest> = forms
            .iter()
            .map(|&form| DeploymentRequest {
                experts: self.spec.expert_split,
                ..DeploymentRequest::new(name(&form), form, Some(self.tp))
            })
            .collect();
        let request = Request {
            model: self.name,
            config: self.config,
            chip: self.chip,
            weights: self.storage,
            checkpoint: self.description,
            vocabulary: self.spec.vocabulary,
            deployments: &deployments,
        };
        let compiled = logos_core::compile(&request).map_err(Failure::Refused)?;
        match way {
            Way::Executed(order) => compiled.iter().map(|compiled| self.machine(compiled, order)).collect(),
            Way::Evaluated => {
                let mut shards = Shards::new(self.weights);
                forms.iter().map(|&form| self.session(form, &mut shards)).collect()
            }
        }
    }

    fn machine(&self, compiled: &Compiled, order: Order) -> Result<Host, Failure> {
        let bundle = Bundle::read(&compiled.words).map_err(|error| own_bundle(&error))?;
        let mut machine = Machine::new(&bundle, self.weights).map_err(|error| Failure::Run(error.to_string()))?;
        machine.set_order(order);
        Ok(Host::Executed(Box::new(machine)))
    }

    fn session(&self, form: Form, shards: &mut Shards<'_>) -> Result<Host, Failure> {
        let programs = kinds::programs(self.spec, form, self.tp, self.storage).map_err(Failure::Refused)?;
        let mut session = Session::new(form, &programs, shards).map_err(|error| Failure::Run(error.to_string()))?;
        // As a bundle has it.
        if let Some(ctx) = form.context() {
            session.set_rope_length(RopeLength::Fixed(ctx));
        }
        Ok(Host::Evaluated(Box::new(session)))
    }
}

impl Host {
    /// One step.
    pub(super) fn step(&mut self, tokens: &[u32]) -> Result<Output, Failure> {
        match self {
            Host::Executed(machine) => machine.step(tokens).map_err(|error| Failure::Run(error.to_string())),
            Host::Evaluated(session) => session.step(tokens).map_err(|error| Failure::Run(error.to_string())),
        }
    }

    /// Continues the one sequence of another deployment that runs the same way.
    pub(super) fn adopt(&mut self, from: &Host) -> Result<(), Failure> {
        match (self, from) {
            (Host::Executed(machine), Host::Executed(from)) => {
                machine.adopt(0, from, 0).map_err(|error| Failure::Run(error.to_string()))
            }
            (Host::Evaluated(session), Host::Evaluated(from)) => {
                session.adopt(0, from, 0).map_err(|error| Failure::Run(error.to_string()))
            }
            (Host::Executed(_), Host::Evaluated(_)) | (Host::Evaluated(_), Host::Executed(_)) => {
                Err(Failure::Run("an executed sequence does not continue an evaluated one".to_owned()))
            }
        }
    }
}
