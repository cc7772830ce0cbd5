//! The two ways a deployment runs on the host: evaluated statement by statement, and executed stage by stage from its bundle.

use logos_bundle::view::Bundle;
use logos_core::reference::{Matrix, Output, RopeLength, Session, Shards};
use logos_core::simulate::TensorStore;
use logos_core::simulate::machine::{Machine, Order};
use logos_core::{DeploymentRequest, Form, Request, Vocabulary, Weights, compile, kinds};

use super::fixture::Fixture;

/// Which way.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Way {
    Evaluated,
    Executed(Order),
}

/// A deployment that runs.
pub(crate) enum Runner {
    Evaluated(Box<Session>),
    Executed(Box<Machine>),
}

impl Runner {
    /// `length` is what scaled rotary angles reckon with: one list of longrope's factors for all steps, as a bundle has it.
    pub(crate) fn new(
        way: Way,
        fixture: &Fixture,
        store: &dyn TensorStore,
        form: Form,
        tp: u32,
        length: u32,
        shards: &mut Shards<'_>,
    ) -> Runner {
        let name = fixture.name;
        match way {
            Way::Evaluated => {
                let programs = kinds::programs(&fixture.spec, form, tp, Weights::Config)
                    .unwrap_or_else(|refusals| panic!("{name}: {refusals:?}"));
                let session = Session::new(form, &programs, shards);
                let mut session = session.unwrap_or_else(|error| panic!("{name}: {error}"));
                session.set_rope_length(RopeLength::Fixed(length));
                Runner::Evaluated(Box::new(session))
            }
            Way::Executed(order) => {
                let experts = fixture.spec.expert_split;
                let deployments = [DeploymentRequest { experts, ..DeploymentRequest::new("D", form, Some(tp)) }];
                let request = Request {
                    model: name,
                    config: fixture.config.as_bytes(),
                    chip: "SN50".into(),
                    weights: Weights::Config,
                    checkpoint: None,
                    vocabulary: Vocabulary::Exact,
                    deployments: &deployments,
                };
                let compiled = compile(&request).unwrap_or_else(|refusals| panic!("{name}: {refusals:?}"));
                let bundle = Bundle::read(&compiled[0].words).unwrap();
                let mut machine =
                    Machine::new(&bundle, store).unwrap_or_else(|error| panic!("{name} {form:?} over {tp}: {error}"));
                machine.set_order(order);
                machine.set_rope_length(RopeLength::Fixed(length));
                Runner::Executed(Box::new(machine))
            }
        }
    }

    pub(crate) fn step(&mut self, tokens: &[u32]) -> Output {
        match self {
            Runner::Evaluated(session) => session.step(tokens).unwrap(),
            Runner::Executed(machine) => machine.step(tokens).unwrap_or_else(|error| panic!("{error}")),
        }
    }

    pub(crate) fn forward(&mut self, hidden: Matrix) -> Output {
        match self {
            Runner::Evaluated(session) => session.forward(hidden).unwrap(),
            Runner::Executed(machine) => machine.forward(hidden).unwrap_or_else(|error| panic!("{error}")),
        }
    }

    pub(crate) fn adopt(&mut self, sequence: usize, from: &Runner, from_sequence: usize) {
        match (self, from) {
            (Runner::Evaluated(session), Runner::Evaluated(from)) => {
                session.adopt(sequence, from, from_sequence).unwrap()
            }
            (Runner::Executed(machine), Runner::Executed(from)) => {
                machine.adopt(sequence, from, from_sequence).unwrap()
            }
            (Runner::Evaluated(_), Runner::Executed(_)) | (Runner::Executed(_), Runner::Evaluated(_)) => {
                panic!("a deployment continues one that runs the same way")
            }
        }
    }

    pub(crate) fn restart(&mut self, sequence: usize) {
        match self {
            Runner::Evaluated(session) => session.restart(sequence).unwrap(),
            Runner::Executed(machine) => machine.restart(sequence).unwrap(),
        }
    }

    pub(crate) fn seen(&self) -> &[u32] {
        match self {
            Runner::Evaluated(session) => session.seen(),
            Runner::Executed(machine) => machine.seen(),
        }
    }
}
