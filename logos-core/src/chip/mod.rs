//! Chips: cited facts, and the unit model that the lowering and the checker count with.
//!
//! A chip is one file (its facts) and one row of [`CHIPS`]. Nothing here knows of models or deployments.

mod fact;
mod plasticine;
mod sn10;
mod sn30;
mod sn40l;
mod sn50;
mod source;
mod unit;

#[cfg(test)]
mod tests;

pub use fact::{Fact, Field, Provenance, Source, Value};
pub use unit::{RATE_CYCLES, UnitModel};

use crate::refusal::nearest;
use crate::{At, Code, Refusal};

/// Every chip, oldest first.
pub static CHIPS: &[&Chip] = &[&sn10::CHIP, &sn30::CHIP, &sn40l::CHIP, &sn50::CHIP];

/// A chip: its facts, and what follows from them.
#[derive(Debug)]
pub struct Chip {
    /// Part name, `SN50`.
    pub name: &'static str,
    /// Its own facts, in order of field. [`Chip::facts`] adds those all chips share.
    pub own: &'static [Fact],
    unit: UnitModel,
    link_rate_between_nodes: u32,
    chips_per_node: u32,
    chips_per_rack: u32,
    domain: u32,
}

impl Chip {
    /// Evaluated in a constant: facts that do not make a unit model do not compile.
    const fn new(name: &'static str, own: &'static [Fact]) -> Chip {
        let node = count(own, Field::ChipsPerNode);
        let unit = UnitModel::resolve(own);
        Chip {
            name,
            own,
            unit,
            link_rate_between_nodes: unit::rate_of(own, Field::ScaleUpInterNode),
            chips_per_node: node,
            chips_per_rack: count(own, Field::ChipsPerRack),
            domain: match fact::find(own, &[], Field::ScaleUpChipsMax) {
                Some(n) => n as u32,
                None if unit.link_rate == 0 => 1,
                None => node,
            },
        }
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

    /// All facts: the chip's own, then those of the unit model that all chips share.
    pub fn facts(&self) -> impl Iterator<Item = &'static Fact> {
        self.own.iter().chain(plasticine::FACTS)
    }

    /// The fact on `field`, if there is one.
    pub fn fact(&self, field: Field) -> Option<&'static Fact> {
        self.facts().find(|f| f.field == field)
    }

    /// Chips of a node.
    pub const fn chips_per_node(&self) -> u32 {
        self.chips_per_node
    }

    /// Chips of a rack.
    pub const fn chips_per_rack(&self) -> u32 {
        self.chips_per_rack
    }

    /// Most chips a width may use: the published scale-up limit, else a node, and one where no link rate is known.
    pub const fn domain(&self) -> u32 {
        self.domain
    }

    /// Whether a rate between chips is known, published or modeled; without one no width above 1 can be lowered.
    pub const fn has_link(&self) -> bool {
        self.unit.link_rate > 0
    }

    /// Bytes and name of the memory that weights and states live in: HBM, or DDR where the chip has no HBM.
    pub const fn main_memory(&self) -> (u64, &'static str) {
        match self.unit.hbm_bytes {
            0 => (self.unit.ddr_bytes, "DDR"),
            hbm => (hbm, "HBM"),
        }
    }
}

const fn count(own: &[Fact], field: Field) -> u32 {
    match fact::find(own, &[], field) {
        Some(n) if n > 0 && n <= u32::MAX as u64 => n as u32,
        _ => panic!("a chip lacks its node or rack"),
    }
}

/// The chip named `name`, in any case.
///
/// # Errors
/// [`Code::ChipUnknown`] with the known names and the nearest.
pub fn lookup(name: &str) -> Result<&'static Chip, Refusal> {
    if let Some(chip) = CHIPS.iter().find(|c| c.name.eq_ignore_ascii_case(name)) {
        return Ok(chip);
    }
    let known: Vec<&str> = CHIPS.iter().map(|c| c.name).collect();
    let refusal = Refusal::new(Code::ChipUnknown, At::Chip, format!("no chip is named `{name}`"))
        .fact("known chips", known.join(", "));
    Err(match nearest(name, known.iter().copied()) {
        Some(near) => refusal.help(format!("write `{near}`")),
        None => refusal.help(format!("write one of {}", known.join(", "))),
    })
}
