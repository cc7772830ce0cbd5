//! The whole compiler, stage by stage.

use logos_bundle::check;

use crate::author::Part;
use crate::certify::{ComposeError, Composition, Duty, compose};
use crate::chip::Chip;
use crate::emit::{self, Contents, Lowering};
use crate::kinds::{self, Identities, KindProgram, Role};
use crate::lower::StatementError;
use crate::place::PlaceError;
use crate::refusal::{At, Code, Key, Refusal};
use crate::request::{self, DeploymentRequest, Form, Request};
use crate::spatial::{SpatialProgram, Tier};
use crate::spec::{Dtype, ModelSpec};
use crate::{chip, config, fit};

/// A compiled deployment.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The deployment's name.
    pub name: String,
    /// The bundle's words.
    pub words: Vec<u32>,
}

/// Compiles every deployment of a request, in order.
///
/// # Errors
/// All refusals that can be known, not just the first; where the model or chip itself is refused, no deployment is tried.
pub fn compile(request: &Request<'_>) -> Result<Vec<Compiled>, Vec<Refusal>> {
    let mut refusals = Vec::new();
    let chip = chip::lookup(request.chip).map_err(|refusal| refusals.push(refusal)).ok();
    let spec = config::read(request.config).map_err(|found| refusals.extend(found)).ok();
    refusals.extend(request::check_names(request.deployments));
    let (Some(chip), Some(spec)) = (chip, spec) else { return Err(refusals) };
    let mut compiled = Vec::with_capacity(request.deployments.len());
    for deployment in request.deployments {
        match compile_deployment(request, &spec, chip, deployment) {
            Ok(words) => compiled.push(Compiled { name: deployment.name.clone(), words }),
            Err(found) => refusals.extend(found),
        }
    }
    if refusals.is_empty() { Ok(compiled) } else { Err(refusals) }
}

pub(crate) fn compile_deployment(
    request: &Request<'_>,
    spec: &ModelSpec,
    chip: &'static Chip,
    deployment: &DeploymentRequest,
) -> Result<Vec<u32>, Vec<Refusal>> {
    let deployment = &deployment.at_width(spec, chip);
    let refusals = request::check_deployment(spec, chip, deployment);
    if !refusals.is_empty() {
        return Err(refusals);
    }
    let fit = fit::facts(spec, chip, deployment, request.weights).map_err(|refusal| vec![refusal])?;
    let DeploymentRequest { name, form, .. } = deployment;
    let tp = &deployment.chips();
    let here = |refusal: Refusal| in_deployment(refusal, name);
    let programs = kinds::programs(spec, *form, *tp, request.weights)
        .map_err(|found| found.into_iter().map(here).collect::<Vec<_>>())?;

    let lowered: Vec<Result<SpatialProgram, Refusal>> = programs
        .iter()
        .map(|kind| lower(spec, chip, *form, kind).map_err(|error| refusal(error, name, *form, kind)))
        .collect();
    let mut spatial = Vec::with_capacity(lowered.len());
    let mut refusals = Vec::new();
    for result in lowered {
        match result {
            Ok(program) => spatial.push(program),
            Err(refusal) => refusals.push(refusal),
        }
    }
    if !refusals.is_empty() {
        return Err(refusals);
    }
    let parts: Vec<Lowering<'_>> =
        programs.iter().zip(&spatial).map(|(kind, spatial)| Lowering { kind, spatial }).collect();
    let identities = Identities::new(spec, *form, *tp, request.weights);
    let words = emit::bundle(&Contents {
        model: request.model,
        chip,
        form: *form,
        tp: *tp,
        depth: spec.depth() as u32,
        fit: &fit,
        programs: &parts,
        identity: &|layer| identities.of(Part::Layer(layer)),
    })
    .map_err(|refusal| vec![here(refusal)])?;
    verify(&words, name).map_err(|refusal| vec![refusal])?;
    Ok(words)
}

/// Lowers and certifies one program of a deployment.
pub(crate) fn lower(
    spec: &ModelSpec,
    chip: &Chip,
    form: Form,
    kind: &KindProgram,
) -> Result<SpatialProgram, ComposeError> {
    let (seqs, tokens, _) = emit::sizes(form);
    let unit = chip.unit_at(kind.authored.program.chips);
    let main = if unit.hbm_rate > 0 { Tier::Hbm } else { Tier::Ddr };
    let last_rows_only = kind.role == Role::Head && matches!(form, Form::Prefill { .. });
    let rows = if last_rows_only { u64::from(seqs) } else { u64::from(seqs) * u64::from(tokens) };
    compose(&Composition {
        program: &kind.authored.program,
        unit: &unit,
        rows,
        seqs: u64::from(seqs),
        duty: match kind.role {
            Role::Embed | Role::Head => Duty::OnceAStep,
            Role::Layer => Duty::Layers(kind.layers.len() as u64),
        },
        main,
        hidden: hidden_tier(spec, chip, u64::from(seqs) * u64::from(tokens), main),
    })
}

/// The tier of the hidden state between programs: SRAM where what enters and what leaves take no more than a quarter of it.
fn hidden_tier(spec: &ModelSpec, chip: &Chip, rows: u64, main: Tier) -> Tier {
    let bytes = match spec.dtype {
        Dtype::F32 => 4,
        Dtype::F16 | Dtype::Bf16 => 2,
    };
    let both = 2 * bytes * rows * u64::from(spec.hidden);
    let unit = chip.unit();
    if both <= u64::from(unit.cells) * u64::from(unit.scratchpad) / 4 { Tier::Sram } else { main }
}

/// The last word is the independent checker's.
fn verify(words: &[u32], deployment: &str) -> Result<(), Refusal> {
    let verdicts = check::all(words);
    if verdicts.hold() {
        return Ok(());
    }
    let what = verdicts.first_fault().map_or_else(|| "a rule was not reached".to_owned(), |fault| fault.to_string());
    let at = At::Deployment(deployment.to_owned());
    Err(Refusal::new(Code::Certificate, at, format!("the certificate does not check: {what}"))
        .help("this is a fault of the compiler, not of the model: please report it with the config"))
}

/// A refusal of a program, at the deployment it belongs to.
fn in_deployment(mut refusal: Refusal, deployment: &str) -> Refusal {
    refusal.at = match refusal.at {
        At::Program(_, program) => At::Program(deployment.to_owned(), program),
        At::Request | At::Text { .. } => At::Deployment(deployment.to_owned()),
        at @ (At::Model | At::ConfigKey(_) | At::Chip | At::Deployment(_) | At::Key(..) | At::Checkpoint { .. }) => at,
    };
    refusal
}

fn refusal(error: ComposeError, deployment: &str, form: Form, kind: &KindProgram) -> Refusal {
    let program = match kind.first_layer {
        Some(layer) => format!("layer {layer} ({})", kind.name),
        None => kind.name.clone(),
    };
    let at = At::Program(deployment.to_owned(), program.clone());
    match error {
        ComposeError::Statement(StatementError { statement, binder, error }) => {
            let message = format!("{program} does not lower: statement {statement} (`{binder}`): {error}");
            Refusal::new(Code::LowerStatement, at, message)
        }
        ComposeError::Place(error) => {
            let (key, what) = match form {
                Form::Decode { .. } => (Key::Batch, "a smaller batch"),
                Form::Prefill { .. } => (Key::Chunk, "a smaller chunk"),
                Form::Forward { .. } => (Key::Rows, "fewer rows"),
            };
            let at = At::Key(deployment.to_owned(), key);
            let help = format!("{what} or a larger width needs less");
            match error {
                PlaceError::Scratchpad { needed, available } => {
                    let message = format!("{program} needs more scratchpad than the chip has");
                    Refusal::new(Code::LowerSpace, at, message)
                        .fact("its buffers", fit::bytes(u128::from(needed)))
                        .fact("free for them", fit::bytes(u128::from(available)))
                }
                PlaceError::Cells { .. } | PlaceError::Range => {
                    Refusal::new(Code::LowerSpace, at, format!("{program} has no certified schedule: {error}"))
                }
            }
            .help(help)
        }
    }
}

#[cfg(test)]
mod tests;
