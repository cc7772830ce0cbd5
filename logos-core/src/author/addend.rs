//! What blocks add to the residual stream, and its sum over the chips.

use crate::author::draft::{Draft, LinearNames};
use crate::language::ast::{Sharding, ValueId};
use crate::ops::{MatMul, Plus, SumOverChips};
use crate::refusal::Refusal;
use crate::spec::Linear;

/// What a block makes of the rows: over several chips the part that each has of it, over one all of it.
pub(super) struct Addend {
    /// The stem of the block's result.
    pub(super) name: &'static str,
    /// The part, a partial sum over several chips.
    pub(super) part: ValueId,
    /// What is added to the sum of the parts, once.
    pub(super) bias: Option<ValueId>,
}

/// The result of two blocks that read the same rows.
const BOTH: &str = "od";

impl Draft<'_> {
    /// `x W + b` of an `x` whose columns lie over the chips, before the products are summed.
    pub(super) fn row_parallel(&mut self, names: &LinearNames, linear: &Linear, x: ValueId) -> Result<Addend, Refusal> {
        let LinearNames(weight, bias, name) = *names;
        let w = self.matrix(weight, linear, self.split_rows())?;
        let bias = match &linear.bias {
            None => None,
            Some(b) => Some(self.vector(bias, b, linear.out, Sharding::Whole)?),
        };
        let is_last = self.chips() == 1 && bias.is_none();
        let part = self.bind(&named(name, "m", is_last), MatMul, &[x, w])?;
        Ok(Addend { name, part, bias })
    }

    /// The sum of a block's parts over the chips, then its bias.
    pub(super) fn summed(&mut self, addend: &Addend) -> Result<ValueId, Refusal> {
        self.over_chips(addend.name, addend.part, &[addend.bias])
    }

    /// The sum of two blocks: what a chip has of both is added up first, so that one sum over the chips serves them.
    pub(super) fn summed_together(&mut self, [one, other]: [&Addend; 2]) -> Result<ValueId, Refusal> {
        let is_last = self.chips() == 1 && one.bias.is_none() && other.bias.is_none();
        let part = self.bind(&named(BOTH, "m", is_last), Plus, &[one.part, other.part])?;
        self.over_chips(BOTH, part, &[one.bias, other.bias])
    }

    fn over_chips(&mut self, name: &str, part: ValueId, biases: &[Option<ValueId>]) -> Result<ValueId, Refusal> {
        let mut y = part;
        let mut left = biases.iter().flatten().count();
        if self.chips() > 1 {
            y = self.bind(&named(name, "s", left == 0), SumOverChips, &[y])?;
        }
        for &bias in biases.iter().flatten() {
            left -= 1;
            y = self.bind(&named(name, "b", left == 0), Plus, &[y, bias])?;
        }
        Ok(y)
    }
}

/// The last of the values that lead to a result has its name, those before it a letter more.
fn named(name: &str, letter: &str, is_last: bool) -> String {
    if is_last { name.to_owned() } else { format!("{name}{letter}") }
}
