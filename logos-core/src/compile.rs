//! The whole compiler, stage by stage.

use std::collections::BTreeMap;

use logos_bundle::check;

use crate::author::{self, Part, Source};
use crate::certify::{ComposeError, Composition, Duty, compose};
use crate::checkpoint::{self, Adopted, Headers};
use crate::chip::{Chip, UnitModel};
use crate::emit::{self, Contents, Lowering};
use crate::fit::require::Found;
use crate::kinds::{self, Identities, KindProgram, Role};
use crate::lower::{Homes, LowerError, StatementError};
use crate::place::PlaceError;
use crate::refusal::{At, Code, Key, Refusal};
use crate::request::{self, DeploymentRequest, Description, Form, Request, Requirement, Weights};
use crate::residency::Laid;
use crate::spatial::{SpatialProgram, Tier};
use crate::spec::{Dtype, Held, ModelSpec};
use crate::{config, fit, residency};
use together::OnChip;

/// A compiled deployment.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The deployment's name.
    pub name: String,
    /// The bundle's words.
    pub words: Vec<u32>,
    /// What of the checkpoint is not kept as it is stored, and what lies in no main memory: sentences, for people.
    pub notes: Vec<String>,
    /// What was required of it, and holds.
    pub required: Vec<Requirement>,
}

/// Compiles every deployment of a request, in order.
///
/// # Errors
/// All refusals that can be known, not just the first; where the model or chip itself is refused, no deployment is tried.
pub fn compile(request: &Request<'_>) -> Result<Vec<Compiled>, Vec<Refusal>> {
    let mut refusals = Vec::new();
    let chip = request.chip.chip().map_err(|found| refusals.extend(found)).ok();
    let spec = config::read(request.config).map_err(|found| refusals.extend(found)).ok();
    refusals.extend(request::check_names(request.deployments));
    refusals.extend(request::check_requirements(request.deployments));
    let model = spec.and_then(|spec| held_to(request, spec).map_err(|found| refusals.extend(found)).ok());
    let (Some(chip), Some((spec, dense))) = (chip, model) else { return Err(refusals) };
    let mut compiled = Vec::with_capacity(request.deployments.len());
    let mut on_chips = Vec::with_capacity(request.deployments.len());
    for deployment in request.deployments {
        match compile_deployment(request, &spec, &chip, deployment) {
            Ok(Ready { words, notes, on_chip }) => {
                let notes = dense.iter().cloned().chain(notes).collect();
                let (name, required) = (deployment.name.clone(), deployment.require.clone());
                compiled.push(Compiled { name, words, notes, required });
                on_chips.push(on_chip);
            }
            Err(found) => refusals.extend(found),
        }
    }
    if !refusals.is_empty() {
        return Err(refusals);
    }
    let sram = chip.unit().sram_bytes;
    for (compiled, notes) in compiled.iter_mut().zip(together::notes(request.deployments, &on_chips, sram)) {
        compiled.notes.extend(notes);
    }
    Ok(compiled)
}

/// The model with its vocabulary as the request has it, held to the checkpoint where there is one, and what is said of tensors that are
/// read dense.
pub(crate) fn held_to(request: &Request<'_>, spec: ModelSpec) -> Result<(ModelSpec, Vec<String>), Vec<Refusal>> {
    let spec = ModelSpec { vocabulary: request.vocabulary, ..spec };
    let Some(Description { file, text }) = request.checkpoint else { return Ok((spec, Vec::new())) };
    let headers = Headers::from_description(file, text).map_err(|refusal| vec![refusal])?;
    if request.weights != Weights::Config {
        let message = "weights are declared to be stored in one way, and as the checkpoint stores them";
        let refusal = Refusal::new(Code::RequestForm, At::Request, message);
        return Err(vec![refusal.help("leave one of the two out")]);
    }
    let Adopted { spec, dense } = checkpoint::adopt(&headers, spec)?;
    let dtype = author::storage_of(spec.dtype);
    let said = |(way, tensors): (String, u64)| {
        let (many, are) = if tensors == 1 { ("tensor", "is") } else { ("tensors", "are") };
        format!("{tensors} {many} stored as {way} {are} read dense, as {dtype}")
    };
    Ok((spec, dense.into_iter().map(said).collect()))
}

/// What is said of weights that the checkpoint stores in blocks and a program does not keep so.
fn blocks_cut(spec: &ModelSpec, programs: &[KindProgram]) -> Vec<String> {
    let mut cut: BTreeMap<Held, BTreeMap<&str, u64>> = BTreeMap::new();
    for kind in programs {
        let layers = kind.layers.iter().map(|&layer| (layer, spec.layer_of.get(layer as usize).copied()));
        let whole = kind.layers.is_empty().then_some((0, None));
        for (layer, row) in layers.chain(whole) {
            for binding in kind.bindings(layer) {
                let Source::Weight { weight, .. } = &binding.source else { continue };
                let Some(held) = spec.held(row, &weight.tensor) else { continue };
                if kind.authored.program.value(binding.value).storage != author::kept_as(held) {
                    *cut.entry(held).or_default().entry(&binding.name).or_default() += 1;
                }
            }
        }
    }
    let dtype = author::storage_of(spec.dtype);
    let said = |(held, cut): (Held, BTreeMap<&str, u64>)| {
        // What is stored as floats is kept so.
        let (way, blocks) = held.blocks()?;
        let weights: u64 = cut.values().sum();
        let (many, are) = if weights == 1 { ("weight", "is") } else { ("weights", "are") };
        let why = format!("chips would cut their {blocks}, or they are no products' weights");
        let names: Vec<&str> = cut.into_keys().collect();
        Some(format!("{weights} {many} stored as {way} {are} read dense, as {dtype}: {why}: {}", names.join(", ")))
    };
    cut.into_iter().filter_map(said).collect()
}

/// A deployment that compiled.
pub(crate) struct Ready {
    /// Its words.
    pub(crate) words: Vec<u32>,
    /// What is said of it.
    notes: Vec<String>,
    /// What it takes of a chip's SRAM.
    on_chip: OnChip,
}

/// The words of a deployment, and what is said of it.
pub(crate) fn compile_deployment(
    request: &Request<'_>,
    spec: &ModelSpec,
    chip: &Chip,
    deployment: &DeploymentRequest,
) -> Result<Ready, Vec<Refusal>> {
    let deployed = deploy(request, spec, chip, deployment)?;
    let spec = &*deployment.of(spec);
    let unmet = unmet(spec, chip, &deployment.at_width(spec, chip), request.weights, &deployed);
    if !unmet.is_empty() {
        return Err(unmet);
    }
    let cut = blocks_cut(spec, &deployed.programs);
    let elsewhere = (deployed.fit.ddr_weight_bytes > 0).then(|| {
        let bytes = fit::bytes(u128::from(deployed.fit.ddr_weight_bytes));
        format!("{bytes} of experts a chip lie in DDR: HBM does not hold them beside all else")
    });
    let notes = cut.into_iter().chain(elsewhere).collect();
    let on_chip = OnChip::of(deployment.at_width(spec, chip).chips(), &deployed);
    Ok(Ready { words: deployed.words, notes, on_chip })
}

/// What is required of a deployment and does not hold; `deployment` is at its width and `spec` as it cuts the model.
pub(crate) fn unmet(
    spec: &ModelSpec,
    chip: &Chip,
    deployment: &DeploymentRequest,
    weights: Weights,
    deployed: &Deployed,
) -> Vec<Refusal> {
    let Deployed { fit, programs, laid, words: _ } = deployed;
    Found { spec, chip, deployment, weights, fit, programs, spatial: &laid.spatial }.unmet()
}

/// A deployment, lowered and certified: its words, and what they were written from.
pub(crate) struct Deployed {
    /// Facts of fit.
    pub(crate) fit: fit::FitFacts,
    /// The programs, in order.
    pub(crate) programs: Vec<KindProgram>,
    /// Of each its memories and its lowering.
    pub(crate) laid: Laid,
    /// The bundle's words, checked.
    pub(crate) words: Vec<u32>,
}

/// Lowers and certifies a deployment of a model.
pub(crate) fn deploy(
    request: &Request<'_>,
    spec: &ModelSpec,
    chip: &Chip,
    deployment: &DeploymentRequest,
) -> Result<Deployed, Vec<Refusal>> {
    let spec = &*deployment.of(spec);
    let deployment = &deployment.at_width(spec, chip);
    let refusals = request::check_deployment(spec, chip, deployment);
    if !refusals.is_empty() {
        return Err(refusals);
    }
    let need = fit::Need::of(spec, chip, deployment, request.weights).map_err(|refusal| vec![refusal])?;
    let DeploymentRequest { name, form, .. } = deployment;
    let tp = &deployment.chips();
    let here = |refusal: Refusal| in_deployment(refusal, name);
    let programs = kinds::programs(spec, *form, *tp, request.weights)
        .map_err(|found| found.into_iter().map(here).collect::<Vec<_>>())?;
    let laid = lay(spec, chip, *form, &programs, need.excess());
    let Layout { laid, in_ddr, in_sram } = laid.map_err(|errors| {
        let placed = errors.iter().any(|(_, error)| of_rows(error));
        let largest = || rows::largest(spec, chip, *form, *tp, request.weights, need.excess());
        let most = if placed { largest() } else { Vec::new() };
        let refused = |(at, error): (usize, ComposeError)| refusal(error, name, *form, &programs[at], &most);
        errors.into_iter().map(refused).collect::<Vec<_>>()
    })?;
    if let Some(refusal) = need.beyond_ddr(in_ddr) {
        return Err(vec![refusal]);
    }
    let fit = need.facts(in_ddr, in_sram).map_err(|refusal| vec![refusal])?;
    let parts: Vec<Lowering<'_>> =
        programs.iter().zip(&laid.spatial).map(|(kind, spatial)| Lowering { kind, spatial }).collect();
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
    Ok(Deployed { fit, programs, laid, words })
}

/// A deployment's programs in their memories, lowered and certified.
pub(crate) struct Layout {
    pub(crate) laid: Laid,
    /// Bytes of experts in DDR because HBM does not hold them.
    pub(crate) in_ddr: u64,
    /// Bytes of state that stay in SRAM.
    pub(crate) in_sram: u64,
}

/// Decides the memories of all programs together and lowers each; `excess` bytes of experts have to leave HBM.
///
/// # Errors
/// Of each program that does not lower, its place in the list and why.
pub(crate) fn lay(
    spec: &ModelSpec,
    chip: &Chip,
    form: Form,
    programs: &[KindProgram],
    excess: u64,
) -> Result<Layout, Vec<(usize, ComposeError)>> {
    let rows = u64::from(form.sequences()) * u64::from(form.tokens());
    let unit = chip.unit_at(programs.first().map_or(1, |kind| kind.authored.program.chips));
    let mut homes = vec![homes(spec, chip, rows); programs.len()];
    let in_ddr = residency::offload(programs, &mut homes, rows, excess, fit::beside(chip));
    let mut spatial = Vec::with_capacity(programs.len());
    let mut errors = Vec::new();
    for (at, (kind, homes)) in programs.iter().zip(&homes).enumerate() {
        match lower(&unit, form, kind, homes) {
            Ok(program) => spatial.push(program),
            Err(error) => errors.push((at, error)),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut laid = Laid { homes, spatial };
    let in_sram =
        residency::keep_states(programs, &unit, &mut laid, |at, homes| lower(&unit, form, &programs[at], homes));
    Ok(Layout { laid, in_ddr, in_sram })
}

/// Lowers and certifies one program of a deployment.
fn lower(unit: &UnitModel, form: Form, kind: &KindProgram, homes: &Homes) -> Result<SpatialProgram, ComposeError> {
    let seqs = u64::from(form.sequences());
    let last_rows_only = kind.role == Role::Head && matches!(form, Form::Prefill { .. });
    let rows = if last_rows_only { seqs } else { seqs * u64::from(form.tokens()) };
    compose(&Composition {
        program: &kind.authored.program,
        unit,
        rows,
        seqs,
        duty: match kind.role {
            Role::Embed | Role::Head => Duty::OnceAStep,
            Role::Layer => Duty::Layers(kind.layers.len() as u64),
        },
        homes,
    })
}

/// Weights and states in the main memory, HBM where there is one; the hidden state between programs where [`hidden_tier`] says.
fn homes(spec: &ModelSpec, chip: &Chip, rows: u64) -> Homes {
    let main = if chip.unit().hbm_rate > 0 { Tier::Hbm } else { Tier::Ddr };
    Homes::all_in(main, hidden_tier(chip, hidden_bytes(spec, rows), main))
}

/// Bytes of a hidden state that enters and one that leaves.
fn hidden_bytes(spec: &ModelSpec, rows: u64) -> u64 {
    let bytes = match spec.dtype {
        Dtype::F32 => 4,
        Dtype::F16 | Dtype::Bf16 => 2,
    };
    2 * bytes * rows * u64::from(spec.hidden)
}

/// The tier of what enters and leaves programs: SRAM where both take no more than a quarter of it.
pub(crate) fn hidden_tier(chip: &Chip, both: u64, main: Tier) -> Tier {
    let unit = chip.unit();
    if both <= u64::from(unit.cells) * u64::from(unit.scratchpad) / 4 { Tier::Sram } else { main }
}

/// The last word is the independent checker's.
pub(crate) fn verify(words: &[u32], deployment: &str) -> Result<(), Refusal> {
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
        at @ (At::Model
        | At::ConfigKey(_)
        | At::Chip
        | At::ChipFile { .. }
        | At::Deployment(_)
        | At::Key(..)
        | At::Require(..)
        | At::Checkpoint { .. }) => at,
    };
    refusal
}

/// Whether fewer rows may mend it.
const fn of_rows(error: &ComposeError) -> bool {
    match error {
        ComposeError::Place(_) => true,
        ComposeError::Statement(StatementError { error, .. }) => match error {
            LowerError::Slot { .. } => true,
            LowerError::NoEmitter { .. }
            | LowerError::Ragged { .. }
            | LowerError::Tile { .. }
            | LowerError::Form { .. } => false,
        },
    }
}

/// Why a program does not lower; with any one of the sizes of `most` it does.
pub(crate) fn refusal(
    error: ComposeError,
    deployment: &str,
    form: Form,
    kind: &KindProgram,
    most: &[(Key, u32)],
) -> Refusal {
    let program = match kind.first_layer {
        Some(layer) => format!("layer {layer} ({})", kind.name),
        None => kind.name.clone(),
    };
    let key = match form {
        Form::Decode { .. } => Key::Batch,
        Form::Prefill { batch: 1, .. } => Key::Chunk,
        Form::Prefill { .. } => Key::Batch,
        Form::Forward { .. } => Key::Rows,
    };
    // Where no smaller batch lowers, it is the chunk that is too large.
    let at = At::Key(deployment.to_owned(), most.first().map_or(key, |(key, _)| *key));
    let lower: Vec<String> = most.iter().map(|(key, most)| format!("`{}: {most}`", key.as_str())).collect();
    let help = match (lower.is_empty(), form) {
        (false, _) => format!("{} lowers; a larger width needs less as well", lower.join(" or ")),
        (true, Form::Prefill { batch: 2.., .. }) => {
            "neither one sequence nor one token of each lowers: both smaller, or a larger width, need less".to_owned()
        }
        (true, Form::Decode { .. } | Form::Prefill { .. } | Form::Forward { .. }) => {
            format!("not even `{}: 1` lowers: a larger width needs less", key.as_str())
        }
    };
    let scratchpad = || format!("{program} needs more scratchpad than the chip has");
    match error {
        ComposeError::Statement(StatementError { statement, binder, error: LowerError::Slot { bytes } }) => {
            Refusal::new(Code::LowerSpace, at, scratchpad())
                .fact(
                    format!("a slot of a buffer of statement {statement} (`{binder}`)"),
                    fit::bytes(u128::from(bytes)),
                )
                .help(help)
        }
        ComposeError::Statement(StatementError { statement, binder, error }) => {
            let message = format!("{program} does not lower: statement {statement} (`{binder}`): {error}");
            let at = At::Program(deployment.to_owned(), program);
            Refusal::new(Code::LowerStatement, at, message)
                .help("the statement has no lowering of these sizes yet: please report it with the config")
        }
        ComposeError::Place(PlaceError::Scratchpad { needed, available }) => {
            Refusal::new(Code::LowerSpace, at, scratchpad())
                .fact("its buffers", fit::bytes(u128::from(needed)))
                .fact("free for them", fit::bytes(u128::from(available)))
                .help(help)
        }
        ComposeError::Place(error @ (PlaceError::Cells { .. } | PlaceError::Range)) => {
            Refusal::new(Code::LowerSpace, at, format!("{program} has no certified schedule: {error}")).help(help)
        }
    }
}

mod rows;
mod together;

#[cfg(test)]
mod tests;
