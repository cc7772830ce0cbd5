//! `logos.rdu.fit` of a model in a deployment.

mod identity;
mod layers;
mod parallel;
mod residency;
mod serving;
pub(super) mod trace;

use logos_bundle::view::Bundle;

pub use identity::{EmbeddingBlock, Excluded, GgufBlock, ModelBlock, StoredBlock, TensorRow, WeightsBlock};
pub use layers::{HeadBlock, LayerRow, Totals};
pub use parallel::{CutRow, KvBlock, LadderRow, TensorParallel};
pub(super) use residency::sram_until_ctx;
pub use residency::{KvTier, ResidencyBlock, Tiers};
pub use serving::ServingRow;
pub(super) use serving::buffers;

use super::chip::{self, ChipBlock};
use super::frame::Document;
use super::ii::{self, IiReport};
use super::program::{self, CertificateSummary, ProgramSummary};
use super::subject::{Made, Subject};
use crate::chip::Chip;
use crate::fit::TooLarge;
use crate::fit::inventory::{self, Inventory};
use crate::fit::live::{self, Live, Peak};
use crate::fit::work::{self, StepWork};
use crate::kinds::KindProgram;
use crate::{At, Code, Refusal};

/// The members of the fit of a model.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelFit {
    /// The model.
    pub model: ModelBlock,
    /// The deployment.
    pub deployment: DeploymentBlock,
    /// The chip.
    pub chip: ChipBlock,
    /// What a chip of the width holds, and what narrower and wider ones would.
    pub tensor_parallel: TensorParallel,
    /// Where it lies.
    pub residency: ResidencyBlock,
    /// How a node, a rack and all chips that a width may use would serve the model.
    pub serving: Vec<ServingRow>,
    /// Layer by layer.
    pub per_layer: Vec<LayerRow>,
    /// The head.
    pub lm_head: HeadBlock,
    /// The whole step.
    pub totals: Totals,
    /// The programs; none where they are not certified.
    pub programs: Vec<ProgramSummary>,
    /// Their certificate.
    pub certificate: Option<CertificateSummary>,
    /// Why there is none.
    pub not_certified: Option<String>,
    /// The II view of the program that takes most of a step.
    pub ii_report: Option<IiReport>,
    /// That of the others.
    pub ii_of_others: Vec<IiReport>,
}

/// What was asked for.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeploymentBlock {
    /// Always `decode`.
    pub step: &'static str,
    /// Chips.
    pub tp: u32,
    /// Positions.
    pub ctx: u32,
    /// Sequences.
    pub batch: u32,
    /// How weights are asked to be stored.
    pub weights: &'static str,
}

/// What the blocks are made from.
struct Quantities<'s> {
    subject: &'s Subject<'s>,
    stock: Inventory<'s>,
    work: StepWork,
    /// Of each program.
    live: Vec<Live>,
}

impl<'s> Quantities<'s> {
    fn of(subject: &'s Subject<'s>) -> Result<Self, TooLarge> {
        let programs = subject.programs();
        Ok(Quantities {
            subject,
            stock: inventory::inventory(&subject.spec, programs)?,
            work: work::step(programs, subject.form())?,
            live: programs.iter().map(|kind| live::live(&kind.authored.program)).collect::<Result<_, _>>()?,
        })
    }
}

/// The fit of a model.
///
/// # Errors
/// [`Code::SizeOverflow`] where a figure leaves 64 bits.
pub fn model(subject: &Subject<'_>) -> Result<Document<ModelFit>, Refusal> {
    let body = body(subject)?;
    Ok(Document::new("logos.rdu.fit", body, trace::TABLES, &subject.keys))
}

fn body(subject: &Subject<'_>) -> Result<ModelFit, Refusal> {
    let quantities = Quantities::of(subject)?;
    let certified = certified(subject)?;
    Ok(ModelFit {
        model: identity::block(&quantities)?,
        deployment: DeploymentBlock {
            step: "decode",
            tp: subject.tp,
            ctx: subject.ctx,
            batch: subject.asked.batch,
            weights: subject.asked.weights.as_str(),
        },
        chip: chip::block(&subject.chip),
        tensor_parallel: parallel::block(&quantities)?,
        residency: residency::block(&quantities)?,
        serving: serving::rows(&quantities)?,
        per_layer: layers::rows(&quantities)?,
        lm_head: layers::head(&quantities)?,
        totals: layers::totals(&quantities)?,
        programs: certified.programs,
        certificate: certified.certificate,
        not_certified: certified.why_not,
        ii_report: certified.ii,
        ii_of_others: certified.others,
    })
}

/// What a certificate gives; empty where there is none.
#[derive(Default)]
struct Certified {
    programs: Vec<ProgramSummary>,
    certificate: Option<CertificateSummary>,
    why_not: Option<String>,
    ii: Option<IiReport>,
    others: Vec<IiReport>,
}

fn certified(subject: &Subject<'_>) -> Result<Certified, Refusal> {
    let deployed = match &subject.made {
        Made::Certified(deployed) => deployed,
        Made::TooLarge(_, refusal) => {
            return Ok(Certified { why_not: Some(refusal.message.clone()), ..Certified::default() });
        }
    };
    let bundle = Bundle::read(&deployed.words)
        .map_err(|error| Refusal::new(Code::Bundle, At::Request, format!("the compiler's own bundle: {error}")))?;
    let chip: &Chip = &subject.chip;
    let views = bundle.programs().zip(&deployed.laid.spatial);
    let mut reports: Vec<(u64, IiReport)> = views
        .map(|(program, spatial)| {
            let report = ii::report(chip, &program, spatial);
            (report.pipeline_ii.saturating_mul(u64::from(program.layer_count())), report)
        })
        .collect();
    // The first of equals.
    let longest = reports.iter().map(|(cycles, _)| *cycles).max().unwrap_or(0);
    let at = reports.iter().position(|(cycles, _)| *cycles == longest);
    let ii = at.map(|at| reports.remove(at).1);
    Ok(Certified {
        programs: bundle.programs().map(|program| program::summary(&program)).collect(),
        certificate: Some(program::certificate(&bundle, &deployed.words)),
        why_not: None,
        ii,
        others: reports.into_iter().map(|(_, report)| report).collect(),
    })
}

/// The program with the largest peak of live activations, among layers.
fn peak_layer<'s>(quantities: &'s Quantities<'_>, of: impl Fn(&Live) -> Peak) -> Option<(&'s KindProgram, Peak)> {
    let kinds = quantities.subject.programs().iter().zip(&quantities.live);
    let layers = kinds.filter(|(kind, _)| !kind.layers.is_empty()).map(|(kind, live)| (kind, of(live)));
    layers.fold(None, |most, next| match most {
        Some((_, peak)) if next.1.bytes <= peak.bytes => most,
        Some(_) | None => Some(next),
    })
}
