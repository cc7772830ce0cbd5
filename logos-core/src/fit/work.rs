//! What a step computes and moves: multiply-accumulates by what they are of, bytes of off-chip memory, and their quotient.
//!
//! Both are asked of each operation's own row ([`crate::ops`]), once a program, and counted for every layer that runs it. Experts
//! count as far as the step's rows can choose them; a window or a chunk bounds attention.

mod intensity;
mod traffic;

use super::size::{TooLarge, sum, times};
use crate::kinds::{self, KindProgram};
use crate::language::ast::{Axis, Program, Sharding, Statement, StatementId, ValueId};
use crate::ops::operation::{MacsOf, Words};
use crate::ops::{self, Op};
use crate::request::Form;

pub use intensity::Intensity;
pub use traffic::Traffic;

/// Multiply-accumulates by what they are of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Macs {
    /// Weights' elements with rows'.
    pub weights: u64,
    /// Scores of queries with keys, and weighted sums of values.
    pub attention: u64,
    /// Passes over the memories of recurrences.
    pub recurrence: u64,
    /// Taps over channels.
    pub convolution: u64,
}

impl Macs {
    /// All of them.
    ///
    /// # Errors
    /// Where they leave 64 bits.
    pub fn total(&self) -> Result<u64, TooLarge> {
        sum(sum(self.weights, self.attention)?, sum(self.recurrence, self.convolution)?)
    }

    /// Of each of so many rows alike; none where the rows differ.
    pub fn a_row(&self, rows: u32) -> Option<Macs> {
        let each = |macs: u64| {
            let rows = u64::from(rows);
            (rows > 0 && macs.is_multiple_of(rows)).then(|| macs / rows)
        };
        Some(Macs {
            weights: each(self.weights)?,
            attention: each(self.attention)?,
            recurrence: each(self.recurrence)?,
            convolution: each(self.convolution)?,
        })
    }

    fn add(&mut self, other: &Macs, n: u64) -> Result<(), TooLarge> {
        let Macs { weights, attention, recurrence, convolution } = self;
        for (all, one) in [
            (weights, other.weights),
            (attention, other.attention),
            (recurrence, other.recurrence),
            (convolution, other.convolution),
        ] {
            *all = sum(*all, times(one, n)?)?;
        }
        Ok(())
    }

    fn of(&mut self, of: MacsOf) -> Option<&mut u64> {
        match of {
            MacsOf::Nothing => None,
            MacsOf::Weights => Some(&mut self.weights),
            MacsOf::Attention => Some(&mut self.attention),
            MacsOf::Recurrence => Some(&mut self.recurrence),
            MacsOf::Convolution => Some(&mut self.convolution),
        }
    }
}

/// What is computed and moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Multiply-accumulates.
    pub macs: Macs,
    /// Bytes of off-chip memory.
    pub traffic: Traffic,
}

impl Work {
    /// Multiply-accumulates a byte.
    ///
    /// # Errors
    /// Where a sum leaves 64 bits.
    pub fn intensity(&self) -> Result<Intensity, TooLarge> {
        Ok(Intensity { macs: self.macs.total()?, bytes: self.traffic.total()? })
    }

    fn add(&mut self, other: &Work, n: u64) -> Result<(), TooLarge> {
        self.macs.add(&other.macs, n)?;
        self.traffic.add(&other.traffic, n)
    }
}

/// Work of the whole model and of one chip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Works {
    /// All chips together; what several of them compute or hold alike is counted once.
    pub whole: Work,
    /// One chip.
    pub a_chip: Work,
}

impl Works {
    fn add(&mut self, other: &Works, n: u64) -> Result<(), TooLarge> {
        self.whole.add(&other.whole, n)?;
        self.a_chip.add(&other.a_chip, n)
    }
}

/// What a step of a deployment computes and moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepWork {
    /// Rows of the step: sequences of a batch, tokens of their chunks.
    pub rows: u32,
    /// Of each program once, in the order of the programs: a layer of the kind, the embedding, the head.
    pub programs: Vec<Works>,
    /// All layers.
    pub layers: Works,
    /// The head.
    pub head: Works,
    /// Embedding, layers and head.
    pub total: Works,
}

/// The work of a step whose programs these are.
///
/// # Errors
/// Where a size leaves 64 bits.
pub fn step(programs: &[KindProgram], form: Form) -> Result<StepWork, TooLarge> {
    let rows = form.rows().ok_or(TooLarge)?;
    let ctx = form.context().unwrap_or(rows);
    let zero = Works::default();
    let mut step =
        StepWork { rows, programs: Vec::with_capacity(programs.len()), layers: zero, head: zero, total: zero };
    for kind in programs {
        let works = program(&kind.authored.program, ctx)?;
        let times = match kind.role {
            kinds::Role::Embed | kinds::Role::Head => 1,
            kinds::Role::Layer => kind.layers.len() as u64,
        };
        match kind.role {
            kinds::Role::Embed => {}
            kinds::Role::Layer => step.layers.add(&works, times)?,
            kinds::Role::Head => step.head.add(&works, times)?,
        }
        step.total.add(&works, times)?;
        step.programs.push(works);
    }
    Ok(step)
}

/// The names of the operations whose multiply-accumulates are of a sort: what a figure of it comes from.
pub fn operations(of: MacsOf) -> impl Iterator<Item = &'static str> {
    // What an operation accumulates does not hang on its attributes.
    let rows = ops::FORMS.iter().map(|(form, op)| (form.name, op(Words::default())));
    rows.filter(move |(_, op)| op.macs_of() == of).map(|(name, _)| name)
}

/// The work of a program in a step that ends at `ctx` positions of every sequence.
///
/// # Errors
/// Where a size leaves 64 bits.
pub fn program(program: &Program, ctx: u32) -> Result<Works, TooLarge> {
    let mut works = Works::default();
    for (at, statement) in (0u32..).map(StatementId).zip(&program.statements) {
        let Statement::Let { result, op, operands } = statement else { continue };
        let macs = program.statement_macs(at, ctx).ok_or(TooLarge)?;
        let (Some(whole), Some(a_chip)) = (works.whole.macs.of(op.macs_of()), works.a_chip.macs.of(op.macs_of()))
        else {
            continue;
        };
        *whole = sum(*whole, macs)?;
        // The chips divide a statement's work as finely as what it reads or makes is cut; each does all of the rest.
        let cut = |id: &ValueId| match program.value(*id).sharding {
            Sharding::Split { parts, .. } => parts,
            Sharding::Whole | Sharding::Partial => 1,
        };
        let parts = operands.iter().chain([result]).map(cut).fold(1, u32::max);
        let whole_experts = operands
            .iter()
            .any(|id| matches!(program.value(*id).sharding, Sharding::Split { axis: Axis::Experts, .. }));
        let share = if let Op::ExpertsOp(experts) = op
            && whole_experts
        {
            // At worst as many of the experts a row chooses as a chip has are one chip's.
            let most = experts.top.min(experts.count / parts.max(1));
            (macs / u64::from(experts.top.max(1))).saturating_mul(u64::from(most))
        } else {
            macs.div_ceil(u64::from(parts))
        };
        *a_chip = sum(*a_chip, share)?;
    }
    works.whole.traffic = traffic::whole(program, ctx)?;
    works.a_chip.traffic = traffic::a_chip(program, ctx)?;
    Ok(works)
}

#[cfg(test)]
mod tests;
