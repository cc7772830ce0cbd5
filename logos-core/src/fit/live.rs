//! The peak live set of a program: what lies in memory at once, of what a step is given and makes.
//!
//! A walk over the statements: a value is live from the statement that makes it (an input from the first) to the last that uses
//! it, and what is shown to the end. Weights, states and tables are not here; they have rows of their own.

use super::size::{Size, TooLarge, add, bytes_of, share, word};
use crate::language::ast::{Origin, Program, Role, Statement, StatementId, Value, ValueId};

/// The most bytes that are live at a statement, and the first statement at which they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peak {
    /// Bytes.
    pub bytes: u64,
    /// The statement: its operands and result are live.
    pub at: StatementId,
}

/// The peak live set of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Live {
    /// Of whole values, each counted once however many chips hold it.
    pub whole: Peak,
    /// On one chip: of each value the share it holds; of a sum that is still to be taken over the chips a whole one.
    pub a_chip: Peak,
}

/// The peak live set of a checked program.
///
/// # Errors
/// Where it leaves 64 bits.
pub fn live(program: &Program) -> Result<Live, TooLarge> {
    let spans = spans(program);
    let peak = |size: &dyn Fn(&Value) -> Size| -> Result<Peak, TooLarge> {
        // What begins and what ends at each statement, so that one pass adds and takes away.
        let mut begins = vec![0u128; program.statements.len()];
        let mut ends = begins.clone();
        for (value, span) in program.values.iter().zip(&spans) {
            let &Some((first, last)) = span else { continue };
            let bytes = size(value)?;
            for (sums, at) in [(&mut begins, first), (&mut ends, last)] {
                if let Some(sum) = sums.get_mut(at) {
                    *sum = add(*sum, bytes)?;
                }
            }
        }
        let (mut now, mut most, mut at) = (0u128, 0u128, 0);
        for (statement, (begins, ends)) in begins.iter().zip(&ends).enumerate() {
            now = add(now, *begins)?;
            if now > most {
                (most, at) = (now, statement);
            }
            now -= ends;
        }
        Ok(Peak { bytes: word(most)?, at: StatementId(at as u32) })
    };
    Ok(Live {
        whole: peak(&|value| bytes_of(value.shape, value.storage))?,
        a_chip: peak(&|value| bytes_of(share(value), value.storage))?,
    })
}

/// For each value, the first and last statement at which it is live; none for what is no activation or is never used.
fn spans(program: &Program) -> Vec<Option<(usize, usize)>> {
    let mut spans = vec![None; program.values.len()];
    for (at, statement) in program.statements.iter().enumerate() {
        let mut used = |id: ValueId, last: usize| {
            let Some((value, span)) = program.values.get(id.0 as usize).zip(spans.get_mut(id.0 as usize)) else {
                return;
            };
            let first = match value.origin {
                Origin::Declared(Role::Weight | Role::State | Role::Table(_)) => return,
                Origin::Declared(Role::Input) => 0,
                Origin::Bound(StatementId(made)) => made as usize,
            };
            let before: Option<(usize, usize)> = *span;
            *span = Some((first, before.map_or(last, |(_, before)| before.max(last))));
        };
        match statement {
            Statement::Let { result, op: _, operands } => {
                used(*result, at);
                operands.iter().for_each(|&operand| used(operand, at));
            }
            Statement::Append { value, state: _, pos } => {
                used(*value, at);
                used(*pos, at);
            }
            Statement::Show { value } => used(*value, program.statements.len().saturating_sub(1)),
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::inventory::tests::spec_of;
    use crate::kinds::{self, Role};
    use crate::language;
    use crate::request::{Form, Weights};

    /// Two products with a silu between them, added to what came in.
    fn block(over: &str, weights: [&str; 2], sum: &str) -> Program {
        let text = format!(
            "## Main{over}\nActivations are bf16.\nLet x be a 2 by 8 input of Real.\n\
             Let w be an 8 by 16 weight of Real, {}stored bf16.\nLet u be a 16 by 8 weight of Real, {}stored bf16.\n\
             Let a be x matmul w.\nLet b be silu of a.\nLet c be b matmul u.\n{sum}Let y be x plus d.\nShow y.\n",
            weights[0], weights[1]
        );
        language::parse(&text).unwrap_or_else(|errors| panic!("{errors:?}"))
    }

    /// F4: x is 32 bytes, a and b are 64 each, c, d and y 32.
    #[test]
    fn what_is_used_later_stays() {
        let one = live(&block("", ["", ""], "Let d be c scaled by 2.\n")).unwrap();
        let peak = Peak { bytes: 32 + 64 + 64, at: StatementId(1) };
        assert_eq!(one, Live { whole: peak, a_chip: peak });
        let cut = ["split columns 4 ways, ", "split rows 4 ways, "];
        let four = live(&block(" over 4 chips", cut, "Let d be sum of c over chips.\n")).unwrap();
        // A quarter of a and b; the sum's parts are as large as the sum: x, c and d.
        assert_eq!(four, Live { whole: peak, a_chip: Peak { bytes: 32 + 32 + 32, at: StatementId(3) } });
    }

    /// F6: the head's live set is its logits beside what they are made of, and on a chip its share of the vocabulary.
    #[test]
    fn a_head_holds_its_logits() {
        let spec = spec_of("qwen3.5-27b");
        let form = Form::Decode { ctx: 262_144, batch: 1 };
        let programs = kinds::programs(&spec, form, 8, Weights::Config).unwrap();
        let head = programs.iter().find(|kind| kind.role == Role::Head).unwrap();
        let Live { whole, a_chip } = live(&head.authored.program).unwrap();
        assert_eq!(whole.bytes, 2 * (5120 + 248_320));
        assert_eq!(a_chip.bytes, 2 * (5120 + 248_320 / 8));
        assert_eq!(whole.at, a_chip.at);
    }
}
