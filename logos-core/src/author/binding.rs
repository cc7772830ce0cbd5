//! Where the declared values of a program come from, for any layer and chip.

use std::ops::Range;

use crate::language::ast::{Program, ValueId};
use crate::shard::{self, Slice, SliceError, Stored};
use crate::spec::Weight;

/// How a declared value is named and found. One binding serves every layer that runs the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The declared value.
    pub value: ValueId,
    /// Its name, `{l}` for the layer: `Wq{l}`. That of the hidden state is `x`: see [`Binding::name_at`].
    pub name: String,
    /// What fills it.
    pub source: Source,
}

/// What fills a declared value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A tensor of the checkpoint.
    Weight {
        /// The stored tensor, `{l}` in its name for the layer, and the indices that are taken: of its axis 0, unless a bank
        /// says otherwise.
        weight: Weight,
        /// Whether the program's rows are stored axis 1 and its columns stored axis 0.
        transposed: bool,
        /// Of a weight of experts, how they are stored.
        bank: Option<Bank>,
        /// Zeros that the value has after the indices taken, along their axis: those of a padded vocabulary.
        padding: u32,
    },
    /// Carried from one step to the next.
    State,
    /// A rotary table, filled by the host, the same for every layer.
    Table,
    /// The hidden state that the part before shows.
    Hidden,
    /// Token ids or positions.
    Index,
}

/// How the tensors of a weight of experts are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bank {
    /// Experts.
    pub experts: u32,
    /// Whether they are one tensor, with an axis of its own for them before the others; else each is one, `{e}` in its name.
    pub stacked: bool,
    /// The axis of one expert's tensor along which indices are taken.
    pub taken: Axis,
}

/// A stored axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// The outermost.
    Zero,
    /// The next one, further ones folded in.
    One,
}

impl Source {
    /// The stored axis along which a weight takes indices.
    pub(crate) fn taken(bank: Option<Bank>) -> Axis {
        bank.map_or(Axis::Zero, |bank| bank.taken)
    }

    /// The class of a binding row of the bundle.
    pub const fn class(&self) -> u32 {
        match self {
            Source::Weight { .. } => 0,
            Source::State => 1,
            Source::Table => 2,
            Source::Hidden => 3,
            Source::Index => 4,
        }
    }
}

/// A binding at one layer and chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expanded {
    /// The value's name at this layer.
    pub name: String,
    /// The checkpoint tensor and what the chip loads of it; none for what no checkpoint holds.
    pub load: Option<Load>,
}

/// What a chip loads for a weight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    /// Name of the stored tensor; `{e}` in it for an expert where experts are stored apart: see [`Load::tensor_of`].
    pub tensor: String,
    /// The part of it; of each expert's the same.
    pub slice: Slice,
    /// Of a weight of experts, those that the chip loads; else the one copy.
    pub copies: Range<u32>,
    /// Whether the program's rows are stored axis 1.
    pub transposed: bool,
    /// Of a weight of experts, how they are stored.
    pub bank: Option<Bank>,
}

impl Load {
    /// Name of the tensor that holds an expert.
    pub fn tensor_of(&self, expert: u32) -> String {
        match self.bank {
            Some(Bank { stacked: false, .. }) => self.tensor.replace("{e}", &expert.to_string()),
            Some(Bank { stacked: true, .. }) | None => self.tensor.clone(),
        }
    }
}

impl Binding {
    /// The value's name at a layer. The hidden state goes by what the part before shows: `x` into layer 0, `xo{l-1}` into
    /// layer `l`, so the head's is that of a layer one past the last.
    pub fn name_at(&self, layer: u32) -> String {
        match self.source {
            Source::Hidden => match layer.checked_sub(1) {
                Some(before) => format!("xo{before}"),
                None => "x".to_owned(),
            },
            Source::Weight { .. } | Source::State | Source::Table | Source::Index => at_layer(&self.name, layer),
        }
    }

    /// The binding at a layer and a chip of the program's.
    ///
    /// # Errors
    /// [`SliceError::Chip`] for a chip the program is not written for.
    pub fn expand(&self, program: &Program, layer: u32, chip: u32) -> Result<Expanded, SliceError> {
        let name = self.name_at(layer);
        let load = match &self.source {
            &Source::Weight { ref weight, transposed, bank, padding } => {
                let sharding = program.value(self.value).sharding;
                let stacked = bank.is_some_and(|bank| bank.stacked);
                let stored = Stored { weight, stacked, taken: Source::taken(bank), transposed, padding };
                let slice = shard::slice(stored, sharding, program.chips, chip)?;
                let copies = shard::experts(bank.map_or(1, |bank| bank.experts), sharding, program.chips, chip)?;
                Some(Load { tensor: at_layer(&weight.tensor.name, layer), slice, copies, transposed, bank })
            }
            Source::State | Source::Table | Source::Hidden | Source::Index => None,
        };
        Ok(Expanded { name, load })
    }
}

/// Puts the layer into a template.
fn at_layer(template: &str, layer: u32) -> String {
    template.replace("{l}", &layer.to_string())
}
