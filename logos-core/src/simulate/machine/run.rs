//! One iteration of one section, on every chip, firing by firing.

use std::sync::Arc;

use logos_bundle::table::layout::part::{RELOAD, SPILL};

use super::firing::{Chest, Firing, Given, Memory, part_of};
use super::image::{EdgeImage, ProgramImage, SectionImage, StageImage};
use super::token::{Buffer, Token};
use super::trouble::{MachineError, Trouble};
use crate::language::{Statement, ValueId};
use crate::lower::Row;
use crate::ops::form::MAX_OPERANDS;
use crate::reference::{Data, Matrix};
use crate::spatial::{Flow, Primitive};

/// In which order firings are executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// As the certificate's schedule starts them.
    Schedule,
    /// Any stage whose tokens and slots are there, drawn from a seed.
    SelfTimed {
        /// The seed.
        seed: u64,
    },
}

/// What is the same in every iteration of a section.
pub(super) struct Setting<'a> {
    pub(super) image: &'a ProgramImage,
    pub(super) number: usize,
    pub(super) section: &'a SectionImage,
    pub(super) seqs: usize,
    pub(super) context_tile: usize,
    pub(super) positions: &'a [u32],
}

/// Buffers, memories and counts of one chip.
struct ChipRun {
    buffers: Vec<Buffer>,
    memories: Vec<Memory>,
}

pub(super) fn run(setting: &Setting<'_>, chests: &mut [Chest], order: Order) -> Result<(), MachineError> {
    let section = setting.section;
    let buffer = |flow| match flow {
        Flow::Stream { .. } => Buffer::stream(),
        Flow::Hold { .. } => Buffer::hold(),
    };
    let mut chips: Vec<ChipRun> = chests
        .iter()
        .map(|_| ChipRun {
            buffers: section.edges.iter().map(|edge| buffer(edge.flow)).collect(),
            memories: section.stages.iter().map(|_| Memory::default()).collect(),
        })
        .collect();
    let mut fired = vec![0; section.stages.len()];
    match order {
        Order::Schedule => {
            for &stage in &section.order {
                fire(setting, &mut chips, chests, &mut fired, stage as usize)?;
            }
        }
        Order::SelfTimed { seed } => self_timed(setting, &mut chips, chests, &mut fired, seed)?,
    }
    for chip in &chips {
        if let Some(edge) = chip.buffers.iter().position(|buffer| !buffer.is_empty()) {
            return Err(MachineError::Left { program: setting.image.name.clone(), section: setting.number, edge });
        }
    }
    Ok(())
}

/// Fires stages that can fire until all have, in an order drawn from `seed`.
fn self_timed(
    setting: &Setting<'_>,
    chips: &mut [ChipRun],
    chests: &mut [Chest],
    fired: &mut [usize],
    seed: u64,
) -> Result<(), MachineError> {
    let stages = &setting.section.stages;
    let mut random = seed;
    let mut left: usize = stages.iter().map(|stage| stage.firings).sum();
    while left > 0 {
        // SplitMix64: where to begin looking.
        random = random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let first = ((z ^ (z >> 31)) % stages.len() as u64) as usize;
        let ready = (0..stages.len()).map(|i| (first + i) % stages.len()).find(|&stage| {
            fired[stage] < stages[stage].firings
                && chips.iter().all(|chip| obstacle(setting, chip, stage, fired[stage]).is_none())
                && !overtakes(setting, fired, stage)
        });
        let Some(stage) = ready else {
            // Say what the first stage that has firings left waits for.
            let stage = (0..stages.len()).find(|&s| fired[s] < stages[s].firings).unwrap_or(0);
            let trouble = obstacle(setting, &chips[0], stage, fired[stage]).unwrap_or(Trouble::Token { port: 0 });
            return Err(at(setting, stage, fired[stage], trouble));
        };
        fire(setting, chips, chests, fired, stage)?;
        left -= 1;
    }
    Ok(())
}

/// An append waits for the loads of its state: the order edge between them is no buffer.
fn overtakes(setting: &Setting<'_>, fired: &[usize], stage: usize) -> bool {
    let image = setting.image;
    let stages = &setting.section.stages;
    let state = match statement_of(image, stages[stage].statement) {
        Some(Statement::Append { state, .. }) => *state,
        Some(Statement::Let { .. } | Statement::Show { .. }) | None => return false,
    };
    stages.iter().zip(fired).any(|(other, &fired)| {
        let reads = match statement_of(image, other.statement) {
            Some(Statement::Let { operands, .. }) => operands.contains(&state),
            Some(Statement::Append { .. } | Statement::Show { .. }) | None => false,
        };
        other.primitive == Primitive::Load && reads && fired < other.firings
    })
}

fn statement_of(image: &ProgramImage, row: usize) -> Option<&Statement> {
    match image.statements.get(row)? {
        Row::Input(_) => None,
        Row::Statement(index) => image.program.statements.get(*index as usize),
    }
}

/// What keeps a stage from firing.
fn obstacle(setting: &Setting<'_>, chip: &ChipRun, stage: usize, firing: usize) -> Option<Trouble> {
    let section = setting.section;
    let image = &section.stages[stage];
    for (port, edge) in image.takes.clone().enumerate() {
        let wanted = wanted(&section.edges[edge], firing);
        if !chip.buffers[edge].has(wanted) {
            return Some(Trouble::Token { port });
        }
    }
    for &edge in &image.gives {
        let flow = &section.edges[edge];
        let tokens = match flow.flow {
            Flow::Stream { p, .. } => p as usize,
            Flow::Hold { .. } => 0,
        };
        if !chip.buffers[edge].has_room(tokens, flow.capacity) {
            return Some(Trouble::Slot { to: flow.to, capacity: flow.capacity });
        }
    }
    None
}

/// Tokens that a firing takes at an edge: the last may take fewer.
fn wanted(edge: &EdgeImage, firing: usize) -> usize {
    match edge.flow {
        Flow::Hold { .. } => 1,
        Flow::Stream { p: _, q } => (q as usize).min(edge.tokens.saturating_sub(firing * q as usize)),
    }
}

fn at(setting: &Setting<'_>, stage: usize, firing: usize, trouble: Trouble) -> MachineError {
    MachineError::Firing { program: setting.image.name.clone(), section: setting.number, stage, firing, trouble }
}

/// Executes the next firing of a stage on every chip.
fn fire(
    setting: &Setting<'_>,
    chips: &mut [ChipRun],
    chests: &mut [Chest],
    fired: &mut [usize],
    stage: usize,
) -> Result<(), MachineError> {
    let image = &setting.section.stages[stage];
    let index = fired[stage];
    let wrong = |trouble| at(setting, stage, index, trouble);
    for chip in chips.iter() {
        if let Some(trouble) = obstacle(setting, chip, stage, index) {
            return Err(wrong(trouble));
        }
    }
    fired[stage] += 1;
    if image.primitive == Primitive::Collective {
        return collective(setting, chips, stage, index).map_err(wrong);
    }
    for (number, (chip, chest)) in chips.iter_mut().zip(chests).enumerate() {
        let ports = take(setting, chip, image, index);
        let (mut results, mut internals) = (Vec::new(), Vec::new());
        let ChipRun { buffers, memories } = chip;
        let mut firing = Firing {
            program: &setting.image.program,
            operands: [None; MAX_OPERANDS],
            result: ValueId(0),
            part: image.part,
            primitive: image.primitive,
            index,
            firings: image.firings,
            group_rows: setting.section.group_rows,
            groups: setting.section.groups,
            all_rows: setting.image.rows,
            seqs: setting.seqs,
            chip: number,
            context_tile: setting.context_tile,
            feeds: image.gives.first().map(|&edge| setting.section.stages[setting.section.edges[edge].to].primitive),
            within_statement: image.gives.iter().any(|&edge| !setting.section.edges[edge].carries_value),
            tile: &setting.image.tile,
            ports: &ports,
            memory: &mut memories[stage],
            chest,
            results: &mut results,
            internals: &mut internals,
        };
        execute(setting, image, &mut firing).map_err(wrong)?;
        give(setting, buffers, image, &results, &internals).map_err(wrong)?;
    }
    Ok(())
}

/// Takes a firing's tokens out of the buffers.
fn take(setting: &Setting<'_>, chip: &mut ChipRun, image: &StageImage, index: usize) -> Vec<Given> {
    let mut ports = Vec::with_capacity(image.takes.len());
    for edge in image.takes.clone() {
        let wanted = wanted(&setting.section.edges[edge], index);
        let (_, readings) = setting.section.edges[edge].per_group;
        ports.push(match &mut chip.buffers[edge] {
            Buffer::Stream { waiting } => Given::Tokens(waiting.drain(..wanted).collect()),
            Buffer::Hold { whole, .. } => {
                let group = whole[0].clone();
                let within = index % readings;
                if within + 1 == readings {
                    whole.pop_front();
                }
                let share = group.tokens.len() / readings;
                Given::Group(group, within * share..(within + 1) * share)
            }
        });
    }
    ports
}

/// Puts what a firing hands on into the buffers.
fn give(
    setting: &Setting<'_>,
    buffers: &mut [Buffer],
    image: &StageImage,
    results: &[Token],
    internals: &[Token],
) -> Result<(), Trouble> {
    for &edge in &image.gives {
        let flow = &setting.section.edges[edge];
        let tokens = if flow.carries_value { results } else { internals };
        if let Flow::Stream { p, .. } = flow.flow
            && tokens.len() != p as usize
        {
            return Err(Trouble::Rate { to: flow.to, expected: p as usize, found: tokens.len() });
        }
        buffers[edge].push(tokens, flow.per_group.0);
    }
    Ok(())
}

/// A firing of a stage between the chips.
fn collective(setting: &Setting<'_>, chips: &mut [ChipRun], stage: usize, index: usize) -> Result<(), Trouble> {
    let image = &setting.section.stages[stage];
    let Some(Statement::Let { op, .. }) = statement_of(setting.image, image.statement) else {
        return Err(Trouble::Part { part: image.part });
    };
    let mut tokens = Vec::with_capacity(chips.len());
    for chip in chips.iter_mut() {
        let ports = take(setting, chip, image, index);
        tokens.push(match ports.first() {
            Some(Given::Tokens(tokens)) => super::token::join(tokens)?,
            Some(Given::Group(group, range)) => super::token::join(&group.tokens[range.clone()])?,
            None => return Err(Trouble::Port { port: 0 }),
        });
    }
    let combined = [Token::Data(op.combine(image.part, &tokens)?)];
    for chip in chips {
        give(setting, &mut chip.buffers, image, &combined, &combined)?;
    }
    Ok(())
}

/// One firing on one chip.
fn execute(setting: &Setting<'_>, image: &StageImage, firing: &mut Firing<'_>) -> Result<(), Trouble> {
    let program = &setting.image.program;
    let row = &setting.image.statements[image.statement];
    match row {
        Row::Input(value) => load_tile(firing, *value),
        Row::Statement(index) => match &program.statements[*index as usize] {
            Statement::Let { result, .. } if image.part == RELOAD => load_tile(firing, *result),
            Statement::Let { result, .. } if image.part == SPILL => store_tile(firing, *result),
            Statement::Let { result, op, operands } => {
                firing.operands = op.form().place(operands);
                firing.result = *result;
                op.fire(firing)
            }
            Statement::Append { value, state, .. } => append(firing, *value, *state, setting.positions),
            Statement::Show { value } => store_tile(firing, *value),
        },
    }
}

/// A tile of what lies in a tier.
fn load_tile(firing: &mut Firing<'_>, value: ValueId) -> Result<(), Trouble> {
    let (rows, cols) = (firing.rows(), firing.tile_columns(value, firing.within()));
    let tile = match firing.chip_value(value)? {
        Data::Real(matrix) => part_of(matrix, rows, cols),
        Data::Int(_) => return Err(Trouble::Kind { expected: "numbers" }),
    };
    firing.results.push(tile.into());
    Ok(())
}

/// A tile into a tier.
fn store_tile(firing: &mut Firing<'_>, value: ValueId) -> Result<(), Trouble> {
    let (rows, cols) = (firing.rows(), firing.tile_columns(value, firing.within()));
    let (all_rows, all_cols) = (firing.all_rows, firing.cols(value));
    let tile = firing.joined(0)?;
    let slot = &mut firing.chest.values[value.0 as usize];
    match tile {
        Data::Real(tile) => {
            let mut matrix = match slot.take() {
                Some(Data::Real(matrix)) if firing.index > 0 => Arc::unwrap_or_clone(matrix),
                Some(_) | None => Matrix::zeros(all_rows, all_cols),
            };
            for (at, row) in rows.enumerate() {
                matrix.row_mut(row)[cols.clone()].copy_from_slice(tile.row(at));
            }
            *slot = Some(Data::Real(Arc::new(matrix)));
        }
        Data::Int(ids) => {
            let mut all = match slot.take() {
                Some(Data::Int(all)) if firing.index > 0 => all.to_vec(),
                Some(_) | None => Vec::new(),
            };
            all.extend_from_slice(&ids);
            *slot = Some(Data::Int(all.into()));
        }
    }
    Ok(())
}

/// A tile of fresh rows into a state, at their positions.
fn append(firing: &mut Firing<'_>, value: ValueId, state: ValueId, positions: &[u32]) -> Result<(), Trouble> {
    let (rows, cols) = (firing.rows(), firing.tile_columns(value, firing.within()));
    let tile = firing.real(0)?;
    let tokens = (firing.all_rows / firing.seqs).max(1);
    let state = firing.chip_state(state)?;
    for (at, row) in rows.enumerate() {
        let position = positions.get(row).copied().ok_or(Trouble::Absent { what: "position" })?;
        state.append_columns(row / tokens, position as usize, cols.start, tile.row(at));
    }
    Ok(())
}
