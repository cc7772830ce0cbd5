//! What states come to, by what they are for.

use super::super::size::{TooLarge, bytes_of, elements, mul, share, stored, word};
use crate::kinds::KindProgram;
use crate::language::ast::{Program, Shape, Statement, Value};
use crate::ops::form::OperandKind;
use crate::ops::operation::MacsOf;

/// Bytes of states, of all layers and sequences of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StateBytes {
    /// All chips together, each part once.
    pub whole: u64,
    /// On one chip.
    pub a_chip: u64,
}

/// What a model carries from one step to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct States {
    /// Caches of attention: keys and values, latents and turned keys. A window or a chunk bounds them.
    pub caches: StateBytes,
    /// One position of every layer's cache, of one sequence.
    pub a_position: StateBytes,
    /// Memories of recurrences.
    pub memories: StateBytes,
    /// Last inputs of convolutions.
    pub rings: StateBytes,
}

impl States {
    /// The states that the programs declare, each program's for every layer that runs it.
    ///
    /// # Errors
    /// Where a size leaves 64 bits.
    pub fn of(programs: &[KindProgram]) -> Result<States, TooLarge> {
        let mut states = States::default();
        for kind in programs {
            let layers = (kind.layers.len() as u128).max(1);
            for (value, of) in used(&kind.authored.program) {
                let bytes = |shape: Shape| mul(bytes_of(shape, value.storage)?, layers);
                let sizes = match of {
                    MacsOf::Attention => {
                        let position = |shape: Shape| mul(stored(elements(shape)?, 1, value.storage)?, layers);
                        let one = |shape: Shape| Shape { seqs: 1, rows: 1, ..shape };
                        add(&mut states.a_position, position(one(value.shape))?, position(one(share(value)))?)?;
                        &mut states.caches
                    }
                    MacsOf::Recurrence => &mut states.memories,
                    MacsOf::Convolution => &mut states.rings,
                    // No operation of these names a state.
                    MacsOf::Nothing | MacsOf::Weights => continue,
                };
                add(sizes, bytes(value.shape)?, bytes(share(value))?)?;
            }
        }
        Ok(states)
    }
}

fn add(sizes: &mut StateBytes, whole: u128, a_chip: u128) -> Result<(), TooLarge> {
    sizes.whole = word(super::add(u128::from(sizes.whole), whole)?)?;
    sizes.a_chip = word(super::add(u128::from(sizes.a_chip), a_chip)?)?;
    Ok(())
}

/// Each state of a program with what the operation that names it does.
fn used(program: &Program) -> impl Iterator<Item = (&Value, MacsOf)> {
    program.statements.iter().flat_map(|statement| {
        let operands = match statement {
            Statement::Let { op, operands, .. } => Some((op, op.form().place(operands))),
            Statement::Append { .. } | Statement::Show { .. } => None,
        };
        operands.into_iter().flat_map(|(op, places)| {
            let named = op.form().operands.iter().zip(places);
            let states = named.filter(|(operand, _)| operand.kind == OperandKind::State);
            states.filter_map(|(_, id)| Some((program.values.get(id?.0 as usize)?, op.macs_of())))
        })
    })
}
