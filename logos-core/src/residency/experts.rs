//! What of the experts goes to DDR where HBM does not hold all weights.

use crate::kinds::KindProgram;
use crate::language::ast::{Axis, Origin, Role, Statement, ValueId};
use crate::lower::{Homes, share};
use crate::ops::Op;
use crate::spatial::Tier;

use super::choose::{Item, choose};
use super::{bytes, layers};

/// A weight of experts.
struct Weight {
    program: usize,
    value: ValueId,
    item: Item,
}

/// Puts weights of experts into DDR until `excess` bytes have left HBM; those stay that a step reads most of. A kind's weight
/// goes as a whole, in all layers that run the kind, as they share one program. Returns the bytes that went.
///
/// `rows` are the tokens of a step, `ddr` the bytes that DDR has for them. Where all of them together are less than `excess`, all of them
/// go: the caller has seen to it that this is enough, and that some choice of them is no more than `ddr`.
pub fn offload(programs: &[KindProgram], homes: &mut [Homes], rows: u64, excess: u64, ddr: u64) -> u64 {
    if excess == 0 {
        return 0;
    }
    let weights = weights(programs, rows);
    let items: Vec<Item> = weights.iter().map(|weight| weight.item).collect();
    let all = items.iter().fold(0u64, |sum, item| sum.saturating_add(item.bytes));
    let room = all.saturating_sub(excess);
    let mut stay = choose(&items, room);
    let goes = |stay: &[bool]| {
        let gone = items.iter().zip(stay).filter(|(_, stays)| !**stays);
        gone.fold(0u64, |sum, (item, _)| sum.saturating_add(item.bytes))
    };
    if goes(&stay) > ddr {
        let by_bytes: Vec<Item> = items.iter().map(|item| Item { worth: item.bytes, ..*item }).collect();
        stay = choose(&by_bytes, room);
    }
    let mut gone = 0u64;
    for (weight, stays) in weights.iter().zip(stay) {
        if !stays && let Some(homes) = homes.get_mut(weight.program) {
            homes.put(weight.value, Tier::Ddr);
            gone = gone.saturating_add(weight.item.bytes);
        }
    }
    gone
}

/// Every weight of experts, with its bytes and what of them a step reads: of each layer as many of the chip's experts as
/// the step's tokens choose, at most.
fn weights(programs: &[KindProgram], rows: u64) -> Vec<Weight> {
    let mut weights = Vec::new();
    for (program, kind) in programs.iter().enumerate() {
        for statement in &kind.authored.program.statements {
            let Statement::Let { op: Op::ExpertsOp(op), operands, .. } = statement else { continue };
            for &id in operands {
                let value = kind.authored.program.value(id);
                if value.origin != Origin::Declared(Role::Weight) {
                    continue;
                }
                let copies = share(value, Axis::Experts).max(1);
                let read = rows.saturating_mul(u64::from(op.top)).min(copies);
                let all = bytes(kind, value);
                let one = all / copies / layers(kind);
                let item = Item { bytes: all, worth: one.saturating_mul(read).saturating_mul(layers(kind)) };
                weights.push(Weight { program, value: id, item });
            }
        }
    }
    weights
}
