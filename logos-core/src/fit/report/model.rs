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
use super::subject::{AskedStep, Made, Subject};
use crate::chip::Chip;
use crate::fit::TooLarge;
use crate::fit::inventory::{self, Inventory};
use crate::fit::live::{self, Live, Peak};
use crate::fit::work::{self, Macs, StepWork, Works};
use crate::kinds::{self, KindProgram};
use crate::request::Form;
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
    /// `decode` or `prefill`.
    pub step: &'static str,
    /// Chips.
    pub tp: u32,
    /// Positions.
    pub ctx: u32,
    /// Sequences.
    pub batch: u32,
    /// Tokens of a sequence in a step; absent of a decode, which has one.
    pub chunk: Option<u32>,
    /// How weights are asked to be stored: `config`, `q8_0`, or `checkpoint` where each is stored as a checkpoint has it.
    pub weights: &'static str,
    /// `columns` or `parallel`: how routed experts lie over the chips; absent where there are none.
    pub experts: Option<&'static str>,
    /// `exact` or `padded`: the vocabulary's rows.
    pub vocab: &'static str,
}

/// What the blocks are made from.
struct Quantities<'s> {
    subject: &'s Subject<'s>,
    stock: Inventory<'s>,
    work: StepWork,
    /// Of one token at the context, where the step's rows are not all such.
    token: Option<TokenWork>,
    /// Of each program.
    live: Vec<Live>,
}

impl<'s> Quantities<'s> {
    fn of(subject: &'s Subject<'s>) -> Result<Self, Refusal> {
        let programs = subject.programs();
        Ok(Quantities {
            subject,
            stock: inventory::inventory(&subject.spec, programs)?,
            work: work::step(programs, subject.form())?,
            token: match subject.asked.step {
                AskedStep::Decode { .. } => None,
                AskedStep::Prefill { .. } => Some(TokenWork::of(subject)?),
            },
            live: programs.iter().map(|kind| live::live(&kind.authored.program)).collect::<Result<_, TooLarge>>()?,
        })
    }
}

/// What a decoded token computes.
struct TokenWork {
    programs: Vec<KindProgram>,
    work: StepWork,
}

impl TokenWork {
    fn of(subject: &Subject<'_>) -> Result<TokenWork, Refusal> {
        let form = Form::Decode { ctx: subject.ctx, batch: 1 };
        // The deployment's own width and sizes: what is refused is a fault that its programs would have shown.
        let programs = kinds::programs(&subject.spec, form, subject.tp, subject.asked.weights)
            .map_err(|mut refusals| refusals.swap_remove(0))?;
        let work = work::step(&programs, form)?;
        Ok(TokenWork { programs, work })
    }
}

impl Quantities<'_> {
    /// Of a token at the context, in a layer.
    fn token_in(&self, layer: u32) -> Result<Macs, TooLarge> {
        let (programs, work) = self.token();
        let runs = |kind: &KindProgram| kind.layers.binary_search(&layer).is_ok();
        let at = programs.iter().position(runs).ok_or(TooLarge)?;
        self.a_token(work.programs.get(at).ok_or(TooLarge)?)
    }

    /// Of a token at the context, in what `of` names.
    fn token_of(&self, of: impl Fn(&StepWork) -> &Works) -> Result<Macs, TooLarge> {
        self.a_token(of(self.token().1))
    }

    fn token(&self) -> (&[KindProgram], &StepWork) {
        match &self.token {
            Some(token) => (&token.programs, &token.work),
            None => (self.subject.programs(), &self.work),
        }
    }

    /// Every row of a decode step is alike.
    fn a_token(&self, works: &Works) -> Result<Macs, TooLarge> {
        works.whole.macs.a_row(self.token().1.rows).ok_or(TooLarge)
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
            step: subject.asked.step.as_str(),
            tp: subject.tp,
            ctx: subject.ctx,
            batch: subject.sequences(),
            chunk: subject.asked.step.chunk(),
            weights: match subject.asked.checkpoint {
                Some(_) => "checkpoint",
                None => subject.asked.weights.as_str(),
            },
            experts: subject.spec.has_experts().then(|| subject.asked.experts.as_str()),
            vocab: subject.asked.vocabulary.as_str(),
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
