//! Which sections a program becomes: one, or cut around operations that need every group first, and how many rows a
//! group has. Of the candidates that fit the chip, the one with the least sum of intervals.

use std::ops::Range;

use crate::chip::UnitModel;
use crate::language::ast::{Program, ValueId};
use crate::lower::{Context, Cuts, Homes, StatementError, has_barrier, lower};
use crate::place::PlaceError;
use crate::spatial::{Binder, Section, SpatialProgram, Tier};

use super::schedule::{Order, certify};

/// What a program is for its deployment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duty {
    /// Runs once a step.
    OnceAStep,
    /// Runs for this many layers, one after another.
    Layers(u64),
}

/// A program to be lowered.
#[derive(Clone, Copy, Debug)]
pub struct Composition<'a> {
    /// Shape- and sharding-checked.
    pub program: &'a Program,
    /// The chip.
    pub unit: &'a UnitModel,
    /// Rows of an activation.
    pub rows: u64,
    /// Sequences.
    pub seqs: u64,
    /// What it is for.
    pub duty: Duty,
    /// Memories of weights, states and the hidden state.
    pub homes: &'a Homes,
}

/// Why a program has no certified lowering.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ComposeError {
    /// A statement that does not lower.
    Statement(StatementError),
    /// A net that does not fit the chip or the range of the rules.
    Place(PlaceError),
}

/// Group sizes tried where a step has many rows, besides all rows at once: near these, whole passes of the array.
const GROUP_ROWS: [u64; 4] = [8, 16, 32, 64];

/// The multiple of the array's rows, from three quarters of `near` to one and a half of it, that takes the fewest passes over all
/// rows; `near` itself where there is none. Of equals the smallest, as more groups make a shorter loop.
fn group_size(unit: &UnitModel, rows: u64, near: u64) -> u64 {
    let array = u64::from(unit.array_rows);
    let passes = |size: u64| rows.div_ceil(size) * size.div_ceil(array);
    let sizes = (near * 3 / 4).div_ceil(array)..=near * 3 / 2 / array;
    sizes.map(|n| n * array).min_by_key(|&size| passes(size)).unwrap_or(near)
}

/// Lowers and certifies a program.
///
/// # Errors
/// [`ComposeError`] of the candidate that came nearest: the first statement that does not lower, or what does not fit.
pub fn compose(composition: &Composition<'_>) -> Result<SpatialProgram, ComposeError> {
    let &Composition { program, unit, rows, seqs, duty, homes } = composition;
    let at_once = |error| StatementError { statement: 0, binder: String::new(), error };
    let cx = Context::new(program, unit, rows, seqs, homes).map_err(|error| ComposeError::Statement(at_once(error)))?;
    let single = Cuts::single(&cx);
    let order = match duty {
        Duty::OnceAStep => Order::Repeats,
        Duty::Layers(layers) => Order::Loops { layers },
    };
    let cut = Cuts::around_barriers(&cx);
    let other = (cut != single && cx.tokens() > 1).then(|| sections(&cx, &cut, Order::Once, true));
    // What has another way is not worth a long search.
    let patient = !matches!(other, Some(Ok(_)));
    let one = sections(&cx, &single, order, patient);
    let best = match (one, other) {
        (Ok(one), Some(Ok(two))) => Ok(if total(&two) < total(&one) { two } else { one }),
        (Err(_), Some(Ok(sections))) => Ok(sections),
        (one, Some(Err(_)) | None) => one,
    };
    let sections = best?;
    let tier = (0..program.values.len() as u32).map(|i| tier_of(&cx, ValueId(i), &sections)).collect();
    Ok(SpatialProgram { rows, tile: cx.tile.clone(), statements: cx.statements, tier, sections })
}

fn total(sections: &[Section]) -> u64 {
    sections.iter().map(|s| s.interval).fold(0, u64::saturating_add)
}

/// The best group size of each section of a cut.
fn sections(cx: &Context<'_>, cuts: &Cuts, order: Order, patient: bool) -> Result<Vec<Section>, ComposeError> {
    let mut sections = Vec::with_capacity(cuts.0.len());
    for (i, range) in cuts.0.iter().enumerate() {
        sections.push(best_groups(cx, cuts, i, range, order, patient)?);
    }
    Ok(sections)
}

fn best_groups(
    cx: &Context<'_>,
    cuts: &Cuts,
    section: usize,
    range: &Range<u32>,
    order: Order,
    patient: bool,
) -> Result<Section, ComposeError> {
    let chips = u64::from(cx.program.chips);
    let resident = cx.resident_bytes();
    let attempt = |rows: u64, patient: bool| {
        let lowered = lower(cx, cuts, section, rows).map_err(ComposeError::Statement)?;
        certify(cx.unit, chips, lowered, order, resident, patient).map_err(ComposeError::Place)
    };
    let all = cx.rows_of_program;
    let mut grouped: Option<Result<Section, ComposeError>> = None;
    if cx.tokens() > 1 && !has_barrier(cx, range) {
        let sizes = GROUP_ROWS.into_iter().map(|near| group_size(cx.unit, all, near));
        for rows in sizes.filter(|&rows| rows < all) {
            let section = attempt(rows, patient);
            grouped = Some(match grouped {
                Some(best) => better(best, section),
                None => section,
            });
        }
    }
    match grouped {
        Some(Ok(section)) => better(attempt(all, false), Ok(section)),
        Some(Err(_)) | None => attempt(all, patient),
    }
}

/// The candidate that costs less, then takes less scratchpad; the first where neither does.
fn better(one: Result<Section, ComposeError>, other: Result<Section, ComposeError>) -> Result<Section, ComposeError> {
    let key = |s: &Section| (cost(s), s.buffer_bytes());
    match (one, other) {
        (Ok(one), Ok(other)) => Ok(if key(&other) < key(&one) { other } else { one }),
        (Err(_), Ok(section)) => Ok(section),
        (one, Err(_)) => one,
    }
}

/// An interval that is proven tight is preferred to one that is less than a thirty-second shorter.
fn cost(section: &Section) -> u64 {
    section.interval + if section.is_tight() || section.binder == Binder::Span { 0 } else { section.interval / 32 }
}

/// The tier of a value between sections or steps: of what is declared, shown or crosses sections.
fn tier_of(cx: &Context<'_>, value: ValueId, sections: &[Section]) -> Option<Tier> {
    use crate::language::ast::Origin;
    match cx.program.value(value).origin {
        Origin::Declared(_) => Some(cx.tier(value)),
        Origin::Bound(_) => cx.shown_tier(value).or_else(|| {
            let spilled = sections.iter().any(|s| {
                s.stages.iter().any(|stage| {
                    stage.part == logos_bundle::table::layout::part::SPILL && cx.binds(stage.statement, value)
                })
            });
            spilled.then_some(cx.homes.main)
        }),
    }
}
