//! What of the carried state stays in SRAM from step to step.

use crate::chip::UnitModel;
use crate::kinds::{KindProgram, Role as ProgramRole};
use crate::language::ast::{Element, Origin, Role, Statement, ValueId};
use crate::lower::{Homes, resident_bytes};
use crate::place::{assign_addresses, buffer_space};
use crate::spatial::{SpatialProgram, Tier};

use super::choose::{Item, choose};
use super::{bytes, layers};

/// The programs of a deployment where they have been laid: memories and lowerings, one each a program.
#[derive(Clone, Debug)]
pub struct Laid {
    /// Memories.
    pub homes: Vec<Homes>,
    /// Lowerings.
    pub spatial: Vec<SpatialProgram>,
}

/// A carried state.
struct State {
    program: usize,
    value: ValueId,
    /// A recurrence's own: it does not grow with the context.
    recurrent: bool,
    item: Item,
}

/// Moves states into the SRAM that the largest section's buffers leave free, where that makes the step shorter, and lowers
/// the programs that carry them once more. Tries all states, then those of recurrences alone; returns the bytes that stay in SRAM.
///
/// `lower` lowers and certifies the `n`th program with the given memories.
pub fn keep_states<E>(
    programs: &[KindProgram],
    unit: &UnitModel,
    laid: &mut Laid,
    lower: impl Fn(usize, &Homes) -> Result<SpatialProgram, E>,
) -> u64 {
    let sram = u64::from(unit.cells) * u64::from(unit.scratchpad);
    let room = sram.saturating_sub(footprint(programs, laid));
    let states = states(programs);
    let mut tried: Vec<bool> = Vec::new();
    for recurrent_only in [false, true] {
        let of_kind = |state: &State| state.recurrent || !recurrent_only;
        let items: Vec<Item> =
            states.iter().map(|s| if of_kind(s) { s.item } else { Item { worth: 0, ..s.item } }).collect();
        let chosen = choose(&items, room);
        if !chosen.contains(&true) {
            return 0;
        }
        if chosen == tried {
            continue;
        }
        if let Some(kept) = attempt(programs, unit, laid, &states, &chosen, &lower) {
            return kept;
        }
        tried = chosen;
    }
    0
}

/// Lays the programs anew with the chosen states in SRAM; `None`, and nothing is changed, where a program then does not
/// fit or the step is no shorter.
fn attempt<E>(
    programs: &[KindProgram],
    unit: &UnitModel,
    laid: &mut Laid,
    states: &[State],
    chosen: &[bool],
    lower: &impl Fn(usize, &Homes) -> Result<SpatialProgram, E>,
) -> Option<u64> {
    let mut next = laid.clone();
    let mut kept = 0u64;
    let mut anew = vec![false; programs.len()];
    for (state, _) in states.iter().zip(chosen).filter(|(_, chosen)| **chosen) {
        kept = kept.checked_add(state.item.bytes)?;
        next.homes.get_mut(state.program)?.put(state.value, Tier::Sram);
        *anew.get_mut(state.program)? = true;
    }
    let laid_anew = next.homes.iter_mut().zip(&mut next.spatial).zip(programs).zip(anew).enumerate();
    for (at, (((homes, spatial), kind), anew)) in laid_anew {
        homes.kept = kept;
        if anew {
            *spatial = lower(at, homes).ok()?;
            continue;
        }
        let resident = resident_bytes(&kind.authored.program, homes);
        for section in &mut spatial.sections {
            assign_addresses(unit, &section.stages, &mut section.edges, resident).ok()?;
        }
    }
    if cycles(programs, &next.spatial) >= cycles(programs, &laid.spatial) {
        return None;
    }
    *laid = next;
    Some(kept)
}

/// Scratchpad bytes of the section that takes most, with what its program keeps beside the buffers.
pub fn footprint(programs: &[KindProgram], laid: &Laid) -> u64 {
    let of = |((kind, homes), spatial): ((&KindProgram, &Homes), &SpatialProgram)| {
        let buffers = spatial.sections.iter().map(|section| buffer_space(&section.edges)).max().unwrap_or(0);
        buffers.saturating_add(resident_bytes(&kind.authored.program, homes))
    };
    programs.iter().zip(&laid.homes).zip(&laid.spatial).map(of).max().unwrap_or(0)
}

/// Cycles of a step: every program's intervals, as often as layers run it.
fn cycles(programs: &[KindProgram], spatial: &[SpatialProgram]) -> u128 {
    let one = |program: &SpatialProgram| program.sections.iter().map(|s| u128::from(s.interval)).sum::<u128>();
    programs.iter().zip(spatial).map(|(kind, program)| one(program) * u128::from(layers(kind))).sum()
}

/// Every carried state of the layers. A step reads all of it, and writes all of a recurrence's and the appended rows of a cache.
fn states(programs: &[KindProgram]) -> Vec<State> {
    let mut states = Vec::new();
    for (program, kind) in programs.iter().enumerate().filter(|(_, kind)| kind.role == ProgramRole::Layer) {
        let code = &kind.authored.program;
        for (i, value) in (0u32..).zip(&code.values) {
            if value.origin != Origin::Declared(Role::State) || value.element != Element::Real {
                continue;
            }
            let id = ValueId(i);
            let appended = code.statements.iter().any(|s| matches!(s, Statement::Append { state, .. } if *state == id));
            let all = bytes(kind, value);
            let worth = if appended { all } else { all.saturating_mul(2) };
            states.push(State { program, value: id, recurrent: !appended, item: Item { bytes: all, worth } });
        }
    }
    states
}
