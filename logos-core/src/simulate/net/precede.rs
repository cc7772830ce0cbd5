//! What must happen before what, besides tokens: the turns of the memory, the layer before, the state's last store.

use crate::chip::UnitModel;
use crate::language::ast::{Origin, Program, Role, Statement, ValueId};
use crate::lower::Row;
use crate::ops::Op;
use crate::spatial::{Primitive, Section, SpatialProgram, Stage, StageId};

use super::delay;

/// Which firings a precedence joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// Each with the one of the same number.
    Each,
    /// The last of an iteration with the first of another.
    LastToFirst,
    /// One of an iteration with one of another, by their numbers.
    One(u64, u64),
}

/// `to` in an iteration not before `delay` cycles after `from` in the iteration `lag` before it, or, below zero, after it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Precedence {
    pub(super) from: StageId,
    pub(super) to: StageId,
    pub(super) lag: i64,
    pub(super) delay: u64,
    pub(super) which: Which,
}

impl Precedence {
    /// The firing of `from` that firing `j` of `to` waits for, both counted over all iterations; `from` and `to` have as many
    /// firings an iteration as the pair says.
    pub(super) fn awaits(&self, j: u64, (from, to): (u64, u64)) -> Option<u64> {
        let (iteration, within) = (j / to, j % to);
        let before = iteration.checked_add_signed(-self.lag)?;
        match self.which {
            Which::Each => Some(before * from + within),
            Which::LastToFirst => (within == 0).then(|| before * from + from - 1),
            Which::One(awaited, waits) => (within == waits).then(|| before * from + awaited),
        }
    }
}

fn ids(section: &Section) -> impl Iterator<Item = (StageId, &Stage)> {
    (0..).map(StageId).zip(&section.stages)
}

/// A memory serves turn after turn, and its first again after its last. A load that starts before its turn is served in the one of the
/// interval before, or, where the turn has a head, its first firings in that.
pub(super) fn turns(section: &Section) -> Vec<Precedence> {
    let mut found = Vec::new();
    for (number, turn) in (0u32..).zip(&section.turns) {
        let of_tier = (0u32..).zip(&section.turns).filter(|(_, other)| other.tier == turn.tier).map(|(n, _)| n);
        let before = of_tier.clone().filter(|&n| n < number).max();
        let (before, lag) = match before {
            Some(before) => (before, 0),
            None => (of_tier.max().unwrap_or(number), 1),
        };
        for next in served(section, number) {
            for last in served(section, before) {
                let (lag, which) = (lag + next.early - last.early, Which::One(last.firings.1, next.firings.0));
                let delay = section.stage(last.load).period;
                found.push(Precedence { from: last.load, to: next.load, lag, delay, which });
            }
        }
    }
    found
}

/// What of a load a turn serves.
struct Served {
    load: StageId,
    /// First and last firing.
    firings: (u64, u64),
    /// Iterations that it is ahead.
    early: i64,
}

/// The loads of a turn; of a head, what it has of another turn's.
fn served(section: &Section, turn: u32) -> impl Iterator<Item = Served> {
    let window = section.turns[turn as usize];
    let of = window.head.map_or(turn, |head| head.of);
    ids(section).filter(move |(_, stage)| stage.turn == Some(of)).filter_map(move |(load, stage)| {
        match (section.ahead(stage), window.head) {
            (Some((_, firings)), Some(_)) => Some(Served { load, firings: (0, firings - 1), early: 1 }),
            (Some((_, firings)), None) => Some(Served { load, firings: (firings, stage.firings - 1), early: 0 }),
            (None, Some(_)) => None,
            (None, None) => {
                let early = i64::from(stage.start < window.start);
                Some(Served { load, firings: (0, stage.firings - 1), early })
            }
        }
    })
}

/// The next iteration is the next layer: what it loads as its input is what this one stores as its result, token by token.
pub(super) fn layer_loop(
    unit: &UnitModel,
    spatial: &SpatialProgram,
    program: &Program,
    section: &Section,
) -> Option<Precedence> {
    let statement = |stage: &Stage| spatial.statements[stage.statement as usize];
    let (x, load) = ids(section).find(|(_, stage)| matches!(statement(stage), Row::Input(_)))?;
    let (xo, store) = ids(section).find(|(_, stage)| match statement(stage) {
        Row::Input(_) => false,
        Row::Statement(index) => matches!(program.statements[index as usize], Statement::Show { .. }),
    })?;
    Some(Precedence { from: xo, to: x, lag: 1, delay: delay::forward(unit, store, load), which: Which::Each })
}

/// A layer's state is loaded when what its last step stored is there, `layers` iterations ago; and appended to when what is
/// replaced has been read.
pub(super) fn states(
    unit: &UnitModel,
    spatial: &SpatialProgram,
    program: &Program,
    section: &Section,
    layers: u64,
) -> Vec<Precedence> {
    let mut found = Vec::new();
    for (to, load) in ids(section) {
        let Some(state) = state_of(spatial, program, load, Primitive::Load) else { continue };
        for (from, store) in ids(section) {
            if state_of(spatial, program, store, Primitive::Store) == Some(state) {
                let delay = delay::forward(unit, store, load);
                found.push(Precedence { from, to, lag: layers as i64, delay, which: Which::LastToFirst });
                if store.statement != load.statement {
                    let (delay, which) = (load.ii, Which::LastToFirst);
                    found.push(Precedence { from: to, to: from, lag: 0, delay, which });
                }
            }
        }
    }
    found
}

/// The state a stage loads or stores, from its operation and part (RULES.md section 3).
fn state_of(spatial: &SpatialProgram, program: &Program, stage: &Stage, as_a: Primitive) -> Option<ValueId> {
    if stage.primitive != as_a {
        return None;
    }
    let Row::Statement(index) = spatial.statements[stage.statement as usize] else { return None };
    let value = match &program.statements[index as usize] {
        Statement::Append { state, .. } => Some(*state),
        Statement::Show { .. } => None,
        Statement::Let { op, operands, .. } => {
            let operand = if matches!(op, Op::AttentionOp(_)) && stage.part <= 1 {
                Some(4 + stage.part as usize)
            } else if matches!(op, Op::LatentAttentionOp(_)) && stage.part <= 1 {
                Some(5 + stage.part as usize)
            } else if matches!(op, Op::CausalConv(_)) && [1, 3].contains(&stage.part) {
                Some(2)
            } else if matches!(op, Op::GatedDeltaOp(_)) && [0, 2].contains(&stage.part) {
                Some(5)
            } else {
                None
            };
            operand.and_then(|at| op.form().place(operands)[at])
        }
    };
    value.filter(|&value| matches!(program.value(value).origin, Origin::Declared(Role::State)))
}
