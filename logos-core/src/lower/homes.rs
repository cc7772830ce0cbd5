//! Which memory each weight and state of a program lies in, and the hidden state between programs.

use crate::language::ast::ValueId;
use crate::spatial::Tier;

/// The memories of one program's declared values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Homes {
    /// Of weights and states, unless they are listed; and of what crosses sections.
    pub main: Tier,
    /// Of the hidden state between programs.
    pub hidden: Tier,
    /// Weights and states that lie elsewhere, ascending.
    pub elsewhere: Vec<(ValueId, Tier)>,
    /// Bytes of SRAM that states keep from step to step, those of the deployment's other programs with them.
    pub kept: u64,
}

impl Homes {
    /// Every weight and state in `main`.
    pub const fn all_in(main: Tier, hidden: Tier) -> Self {
        Homes { main, hidden, elsewhere: Vec::new(), kept: 0 }
    }

    /// Where a declared weight or state lies.
    pub fn of(&self, value: ValueId) -> Tier {
        let listed = self.elsewhere.binary_search_by_key(&value, |&(id, _)| id);
        listed.ok().and_then(|at| self.elsewhere.get(at)).map_or(self.main, |&(_, tier)| tier)
    }

    /// Puts a weight or state elsewhere.
    pub fn put(&mut self, value: ValueId, tier: Tier) {
        match self.elsewhere.binary_search_by_key(&value, |&(id, _)| id) {
            Ok(at) => self.elsewhere[at].1 = tier,
            Err(at) => self.elsewhere.insert(at, (value, tier)),
        }
    }
}
