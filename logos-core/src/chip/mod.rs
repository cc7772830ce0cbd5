//! Chips: cited facts, and the unit model that the lowering and the checker count with.
//!
//! A chip is one file (see [`Chip::read`]). Those of `logos-core/chips` come with the compiler and are asked for by name; a
//! user's own is read by the same reader. Nothing here knows of models or deployments.

mod builtin;
mod fact;
mod field;
mod figures;
mod file;
mod precision;
mod toml;
mod unit;

#[cfg(test)]
mod tests;

pub use builtin::{NAMES, lookup, text};
pub use fact::{Fact, Provenance, Source, Value};
pub use field::{Field, Form, Need};
pub use file::LARGEST_CHIP_BYTES;
pub use precision::Precision;
pub use unit::{RATE_CYCLES, UnitModel};

use std::sync::Arc;

use crate::Refusal;
use figures::Figures;

/// A chip: its facts, and what follows from them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chip {
    /// What it is called, `SN50`: the name in a bundle.
    pub name: String,
    /// The part, as its vendor calls it.
    pub part: String,
    /// What programs for it are marked with, `sn50`.
    pub target: String,
    /// In order of field, each field at most once.
    facts: Vec<Fact>,
    sources: Vec<Arc<Source>>,
    unit: UnitModel,
    link_rate_between_nodes: u32,
    chips_per_node: u32,
    chips_per_rack: Option<u32>,
    domain: u32,
}

impl Chip {
    /// Reads a chip file, TOML of a small kind: `name`, `part` and `target`, a table `[facts.FIELD]` a fact, with `value`, `unit`,
    /// `provenance`, `cite` and `note`, and a table `[sources.KEY]` a source, with `title`, `publisher`, `date` and `url`. Fields
    /// and their units are [`Field`]'s. `file` is the file's name, for refusals.
    ///
    /// # Errors
    /// Every reason, at its line and column: what is not of this form; a field, key or source that is not known, with the nearest;
    /// a fact without unit, provenance or citation; a figure that is out of range or contradicts another; a missing one that the
    /// unit model needs; the name of a chip that comes with the compiler on facts that are not that chip's.
    pub fn read(file: &str, bytes: &[u8]) -> Result<Chip, Vec<Refusal>> {
        let chip = file::read(file, bytes)?;
        builtin::check_name(file, bytes, &chip).map_err(|refusal| vec![refusal])?;
        Ok(chip)
    }

    /// The chip of facts in order of field; none where the unit model lacks a figure.
    fn new(names: [String; 3], facts: Vec<Fact>, sources: Vec<Arc<Source>>, figures: &Figures) -> Option<Chip> {
        let [name, part, target] = names;
        let unit = UnitModel::resolve(figures)?;
        let chips_per_node = figures.word(Field::ChipsPerNode)?;
        Some(Chip {
            name,
            part,
            target,
            facts,
            sources,
            unit,
            link_rate_between_nodes: unit::rate_of(figures, Field::ScaleUpInterNode)?,
            chips_per_node,
            chips_per_rack: figures.word(Field::ChipsPerRack),
            domain: match figures.word(Field::ScaleUpChipsMax) {
                Some(chips) => chips,
                None if unit.link_rate == 0 => 1,
                None => chips_per_node,
            },
        })
    }

    /// The unit model, for any width within a node: [`Chip::unit_at`] knows of wider ones.
    pub const fn unit(&self) -> UnitModel {
        self.unit
    }

    /// The unit model for a width of `chips`: above a node, the rate between chips is what leaves the node, where the
    /// vendor publishes it.
    pub const fn unit_at(&self, chips: u32) -> UnitModel {
        let mut unit = self.unit;
        if chips > self.chips_per_node && self.link_rate_between_nodes > 0 {
            unit.link_rate = self.link_rate_between_nodes;
        }
        unit
    }

    /// All facts, in order of field.
    pub fn facts(&self) -> &[Fact] {
        &self.facts
    }

    /// The fact on `field`, if there is one: its value, unit, provenance, what it cites, and the note.
    pub fn fact(&self, field: Field) -> Option<&Fact> {
        self.facts.binary_search_by_key(&field, |fact| fact.field).ok().map(|index| &self.facts[index])
    }

    /// The number of the fact on `field`, if there is one and it is a number.
    pub fn number(&self, field: Field) -> Option<u64> {
        self.fact(field).and_then(Fact::number)
    }

    /// Everything that the chip's file describes as a source, in order of key.
    pub fn sources(&self) -> &[Arc<Source>] {
        &self.sources
    }

    /// Fields whose figures were chosen because no vendor publishes them, in order.
    pub fn modeled_fields(&self) -> impl Iterator<Item = Field> {
        self.facts.iter().filter(|fact| fact.provenance == Provenance::Modeled).map(|fact| fact.field)
    }

    /// The number formats of the chip's facts, in their order; none where the file has no such fact.
    pub fn precisions(&self) -> impl Iterator<Item = Precision> {
        let names = match self.fact(Field::Precisions).map(|fact| &fact.value) {
            Some(Value::List(names)) => names.as_slice(),
            Some(Value::Number(_) | Value::Text(_)) | None => &[],
        };
        names.iter().filter_map(|name| Precision::from_name(name))
    }

    /// Chips of a node.
    pub const fn chips_per_node(&self) -> u32 {
        self.chips_per_node
    }

    /// Chips of a rack, where the vendor tabulates it.
    pub const fn chips_per_rack(&self) -> Option<u32> {
        self.chips_per_rack
    }

    /// The default width: the rack where the vendor tabulates it, else the node, the chip's domain at most; one chip where no rate
    /// between chips is known. What is served is the widest that a model admits within it.
    pub fn tensor_parallel_width(&self) -> u32 {
        let rack = self.chips_per_rack.unwrap_or(0).max(self.chips_per_node);
        if self.has_link() { rack.min(self.domain) } else { 1 }
    }

    /// Most chips a width may use: the published scale-up limit, else a node, and one where no link rate is known.
    pub const fn domain(&self) -> u32 {
        self.domain
    }

    /// Whether a rate between chips is known, published or modeled; without one no width above 1 can be lowered.
    pub const fn has_link(&self) -> bool {
        self.unit.link_rate > 0
    }

    /// The fact that states the bytes of [`Chip::main_memory`].
    pub const fn main_memory_field(&self) -> Field {
        match self.unit.hbm_bytes {
            0 => Field::DdrBytesSizing,
            _ => Field::HbmBytes,
        }
    }

    /// Bytes and name of the memory that weights and states live in: HBM, or DDR where the chip has no HBM.
    pub const fn main_memory(&self) -> (u64, &'static str) {
        match self.unit.hbm_bytes {
            0 => (self.unit.ddr_bytes, "DDR"),
            hbm => (hbm, "HBM"),
        }
    }
}
