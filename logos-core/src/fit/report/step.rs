//! What a page shows of a step beside a document: its certified bundle, and what each of its programs computes and moves.

use super::subject::{Made, Subject};
use crate::Refusal;
use crate::chip::{RATE_CYCLES, UnitModel};
use crate::compile;
use crate::fit::TooLarge;
use crate::fit::work::{self, Intensity, Work};
use crate::kinds::{KindProgram, Role};
use crate::request::{DeploymentRequest, Form};

/// A step of a model in its deployment.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its form.
    pub form: Form,
    /// The words of its certified bundle; none where the chips' memory does not hold it.
    pub words: Option<Vec<u32>>,
    /// Its programs, in the bundle's order.
    pub kinds: Vec<StepKind>,
    /// What the whole step is on one chip.
    pub a_chip: Work,
    /// The unit model of a chip at the width.
    pub unit: UnitModel,
}

/// A program of a step.
#[derive(Clone, Debug)]
pub struct StepKind {
    /// `embed`, the kind's name, or `head`.
    pub name: String,
    /// What it is for.
    pub role: Role,
    /// The layers that run it, ascending; none of embedding and head.
    pub layers: Vec<u32>,
    /// What one run of it is on one chip.
    pub a_chip: Work,
}

impl Step {
    /// Multiply-accumulates of all arrays in so many cycles of the unit model, over the bytes that the main memory moves in them;
    /// none where the model has no such memory.
    pub fn ridge(&self) -> Option<Intensity> {
        let unit = &self.unit;
        let rate = if unit.hbm_rate > 0 { unit.hbm_rate } else { unit.ddr_rate };
        let array = self.macs_a_cycle().checked_mul(RATE_CYCLES)?;
        (rate > 0).then_some(Intensity { macs: array, bytes: u64::from(rate) })
    }

    /// Multiply-accumulates of all arrays in a cycle of the unit model.
    pub fn macs_a_cycle(&self) -> u64 {
        let unit = &self.unit;
        [unit.array_rows, unit.array_columns]
            .into_iter()
            .fold(u64::from(unit.cells), |all, n| all.saturating_mul(u64::from(n)))
    }
}

impl Subject<'_> {
    /// A step of the model in the same chips: of the form that documents are of, or another.
    ///
    /// # Errors
    /// Every refusal of a step of another form; of the documents' own only sizes that leave 64 bits.
    pub fn step(&self, form: Form) -> Result<Step, Vec<Refusal>> {
        if form == self.form() {
            let words = match &self.made {
                Made::Certified(deployed) => Some(deployed.words.clone()),
                Made::TooLarge(..) => None,
            };
            return self.step_of(form, words, self.programs()).map_err(|error| vec![error.into()]);
        }
        let asked = &self.asked;
        let deployment =
            DeploymentRequest { experts: asked.experts, ..DeploymentRequest::new("STEP", form, Some(self.tp)) };
        let request = asked.request(std::slice::from_ref(&deployment));
        let deployed = compile::deploy(&request, &self.spec, &self.chip, &deployment)?;
        self.step_of(form, Some(deployed.words), &deployed.programs).map_err(|error| vec![error.into()])
    }

    fn step_of(&self, form: Form, words: Option<Vec<u32>>, programs: &[KindProgram]) -> Result<Step, TooLarge> {
        let work = work::step(programs, form)?;
        let kinds = programs.iter().zip(&work.programs).map(|(kind, works)| StepKind {
            name: kind.name.clone(),
            role: kind.role,
            layers: kind.layers.clone(),
            a_chip: works.a_chip,
        });
        Ok(Step { form, words, kinds: kinds.collect(), a_chip: work.total.a_chip, unit: self.chip.unit_at(self.tp) })
    }
}
