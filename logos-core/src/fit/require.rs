//! Whether a deployment's requirements hold for what was compiled; of one that does not, what does and what would.
//!
//! What is advised is tried: a size is advised with which the deployment fits, the requirement holds, and so does every other one that
//! held before.

#[cfg(test)]
mod tests;

use super::{FitFacts, Need, bytes, count};
use crate::chip::{self, Chip};
use crate::kinds::KindProgram;
use crate::request::require::{self, Compare, Figure, Requirement};
use crate::request::{self, DeploymentRequest, Form, Weights};
use crate::spatial::SpatialProgram;
use crate::spec::ModelSpec;
use crate::{Code, Key, Refusal, shard};

/// A deployment that was compiled.
pub(crate) struct Found<'a> {
    pub(crate) spec: &'a ModelSpec,
    pub(crate) chip: &'a Chip,
    /// At its width.
    pub(crate) deployment: &'a DeploymentRequest,
    pub(crate) weights: Weights,
    pub(crate) fit: &'a FitFacts,
    pub(crate) programs: &'a [KindProgram],
    /// Of each program, what it was lowered to.
    pub(crate) spatial: &'a [SpatialProgram],
}

impl Found<'_> {
    /// Every requirement that does not hold, at its place.
    pub(crate) fn unmet(&self) -> Vec<Refusal> {
        let asked = &self.deployment.require;
        // Requirements that exclude each other are reported as that.
        if asked.is_empty() || !require::contradictions(&self.deployment.name, asked).is_empty() {
            return Vec::new();
        }
        let held: Vec<Requirement> = asked.iter().copied().filter(|&r| self.holds(r)).collect();
        let unmet = asked.iter().enumerate().filter(|(_, requirement)| !held.contains(requirement));
        unmet.map(|(at, &requirement)| self.refusal(at, requirement, &held)).collect()
    }

    fn holds(&self, requirement: Requirement) -> bool {
        match requirement {
            Requirement::Tight => self.loose().next().is_none(),
            Requirement::HbmFit | Requirement::Figure { .. } => {
                met(requirement, self.deployment.form, self.chip, self.fit)
            }
        }
    }

    /// Programs of one section whose interval is not tight, each with its section.
    fn loose(&self) -> impl Iterator<Item = (&KindProgram, &crate::spatial::Section)> {
        self.programs.iter().zip(self.spatial).filter_map(|(kind, program)| match &*program.sections {
            [section] if !section.is_tight() => Some((kind, section)),
            _ => None,
        })
    }

    fn refusal(&self, index: usize, requirement: Requirement, held: &[Requirement]) -> Refusal {
        let Found { chip, deployment, fit, .. } = self;
        let at = require::at(&deployment.name, index);
        let refused = |why: String| {
            let message = format!("`{requirement}` does not hold: {why}");
            Refusal::new(Code::RequireUnmet, at.clone(), message)
        };
        match requirement {
            Requirement::HbmFit | Requirement::Figure { figure: Figure::HbmHeadroom, .. } if !has_hbm(chip) => {
                let with = chip::NAMES.into_iter().filter(|name| chip::lookup(name).is_ok_and(has_hbm));
                let with: Vec<&str> = with.collect();
                refused(format!("{} has no HBM", chip.name)).help(format!("take a chip with HBM: {}", with.join(", ")))
            }
            Requirement::HbmFit => {
                let ddr = bytes(u128::from(fit.ddr_weight_bytes));
                let memory = bytes(u128::from(fit.memory_bytes));
                let all = u128::from(fit.weight_bytes) + u128::from(fit.state_bytes);
                refused(format!("of the experts of a chip {ddr} lie in DDR"))
                    .fact("weights and state of a chip", bytes(all))
                    .fact(format!("HBM of one {}", chip.name), memory)
                    .help(self.advice(requirement, held, "leave `hbm_fit` out".to_owned()))
            }
            Requirement::Tight => {
                let names: Vec<String> = self.loose().map(|(kind, _)| format!("`{}`", kind.name)).collect();
                let are = if names.len() == 1 { "is" } else { "are" };
                self.loose()
                    .fold(refused(format!("{} {are} not tight", names.join(", "))), |refusal, (kind, section)| {
                        let (interval, bound) = (section.interval, section.bound);
                        let said = format!("interval {interval}, bound {bound} ({})", section.binder.as_str());
                        refusal.fact(format!("cycles of `{}`", kind.name), said)
                    })
                    .help("leave `tight` out; another batch, chunk or width makes another schedule")
            }
            Requirement::Figure { figure, .. } if !carried(figure, deployment.form) => {
                refused("a forward step carries no state".to_owned())
                    .help("require it of the decode or prefill deployment that does")
            }
            Requirement::Figure { figure, compare, value } => {
                let found = figure_of(figure, fit);
                let (sequences, ctx) = (deployment.form.sequences(), deployment.form.context().unwrap_or(0));
                let refusal = match figure {
                    Figure::Ctx => {
                        let most = self.spec.max_context;
                        let largest =
                            format!("the largest context that fits with {} is {found}", count(sequences, "sequence"));
                        refused(largest).fact("the model's own context", most)
                    }
                    Figure::Sequences => {
                        refused(format!("the most sequences that fit over {ctx} positions are {found}"))
                    }
                    Figure::HbmHeadroom => {
                        let all = u128::from(fit.memory_bytes).saturating_sub(u128::from(found));
                        refused(format!("the headroom is {}", bytes(u128::from(found))))
                            .fact("required", bytes(u128::from(value)))
                            .fact("needed a chip", bytes(all))
                            .fact(format!("HBM of one {}", chip.name), bytes(u128::from(fit.memory_bytes)))
                    }
                };
                let inclusive = match compare {
                    Compare::AtLeast | Compare::Above => Compare::AtLeast,
                    Compare::AtMost | Compare::Below => Compare::AtMost,
                    Compare::Equal => Compare::Equal,
                };
                let weaker = Requirement::Figure { figure, compare: inclusive, value: found };
                refusal.help(self.advice(requirement, held, format!("require `{weaker}`")))
            }
        }
    }

    /// Changes of the deployment with which the requirement would hold; last, what to require instead.
    fn advice(&self, requirement: Requirement, held: &[Requirement], instead: String) -> String {
        let mut wanted = held.to_vec();
        wanted.push(requirement);
        let tried = |deployment: &DeploymentRequest, weights| self.would_hold(&wanted, deployment, weights);
        let form = |form| DeploymentRequest { form, ..self.deployment.clone() };
        let mut advice = Vec::new();
        match self.deployment.form {
            Form::Decode { ctx, batch } => {
                let fewer = |batch| tried(&form(Form::Decode { ctx, batch }), self.weights);
                let shorter = |ctx| tried(&form(Form::Decode { ctx, batch }), self.weights);
                advice.extend(largest_below(1, batch, fewer).map(|n| written(Key::Batch, n)));
                advice.extend(largest_below(1, ctx, shorter).map(|n| written(Key::Ctx, n)));
            }
            Form::Prefill { ctx, chunk, batch } => {
                let fewer = |batch| tried(&form(Form::Prefill { ctx, chunk, batch }), self.weights);
                let shorter = |ctx| tried(&form(Form::Prefill { ctx, chunk, batch }), self.weights);
                advice.extend(largest_below(1, batch, fewer).map(|n| written(Key::Batch, n)));
                advice.extend(largest_below(chunk, ctx, shorter).map(|n| written(Key::Ctx, n)));
            }
            Form::Forward { rows: _ } => {}
        }
        let width = |tp| DeploymentRequest { tp: Some(tp), ..self.deployment.clone() };
        let widths = shard::widths(self.spec, self.chip.domain());
        let width = widths.into_iter().find(|&tp| tried(&width(tp), self.weights));
        advice.extend(width.map(|tp| written(Key::Tp, tp)));
        let dense = self.weights == Weights::Config && self.spec.as_stored.is_empty();
        if dense && tried(self.deployment, Weights::Q8_0) {
            advice.push("`weights: q8_0`".to_owned());
        }
        if advice.is_empty() { instead } else { format!("write {}, or {instead}", advice.join(", or ")) }
    }

    /// Whether a deployment can be had, fits, and meets all of these. Tightness is the schedule's, and not tried.
    fn would_hold(&self, wanted: &[Requirement], deployment: &DeploymentRequest, weights: Weights) -> bool {
        let Found { spec, chip, .. } = *self;
        if !request::check_deployment(spec, chip, deployment).is_empty() {
            return false;
        }
        let need = Need::of(spec, chip, deployment, weights);
        // As many experts in DDR as have to be: more never make a context, a number of sequences or a headroom smaller.
        let Ok(fit) = need.and_then(|need| need.facts(need.excess(), 0)) else { return false };
        let figures = wanted.iter().filter(|requirement| **requirement != Requirement::Tight);
        figures.into_iter().all(|&requirement| met(requirement, deployment.form, chip, &fit))
    }
}

/// Whether facts of fit meet a requirement; [`Requirement::Tight`] is not about them.
fn met(requirement: Requirement, form: Form, chip: &Chip, fit: &FitFacts) -> bool {
    match requirement {
        Requirement::Tight => false,
        Requirement::HbmFit => has_hbm(chip) && fit.ddr_weight_bytes == 0,
        Requirement::Figure { figure, compare, value } => {
            let there = match figure {
                Figure::Ctx | Figure::Sequences => carried(figure, form),
                Figure::HbmHeadroom => has_hbm(chip),
            };
            there && compare.holds(figure_of(figure, fit), value)
        }
    }
}

/// Whether a step of this form has the figure: contexts and sequences are those of state that is carried.
fn carried(figure: Figure, form: Form) -> bool {
    match figure {
        Figure::Ctx | Figure::Sequences => !matches!(form, Form::Forward { .. }),
        Figure::HbmHeadroom => true,
    }
}

fn figure_of(figure: Figure, fit: &FitFacts) -> u64 {
    match figure {
        Figure::Ctx => u64::from(fit.max_ctx),
        Figure::Sequences => u64::from(fit.max_seqs),
        Figure::HbmHeadroom => fit.headroom_bytes(),
    }
}

fn has_hbm(chip: &Chip) -> bool {
    chip.unit().hbm_bytes > 0
}

/// The largest number below `now`, and at least `from`, with which something holds that holds the sooner the smaller the number is.
fn largest_below(from: u32, now: u32, holds: impl Fn(u32) -> bool) -> Option<u32> {
    let (mut yes, mut no) = (from, now);
    if now <= from || !holds(yes) {
        return None;
    }
    while no - yes > 1 {
        let middle = yes + (no - yes) / 2;
        if holds(middle) {
            yes = middle;
        } else {
            no = middle;
        }
    }
    Some(yes)
}

fn written(key: Key, value: u32) -> String {
    format!("`{}: {value}`", key.as_str())
}
