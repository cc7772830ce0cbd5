//! Norms as stages: by whole rows, or head by head.

use super::heads::HeadFirings;
use crate::lower::{Bound, LowerError, Net, Slot, Want, storage_bytes};
use crate::spatial::{Emission, Primitive};

/// A norm of whole rows: a fold over the tiles, then a map that waits for the row's scalar; of rows that lie over the chips,
/// for the chips' sum of it.
pub(super) fn lower_row_norm(net: &mut Net<'_>, bound: &Bound<'_>, over_chips: bool) -> Result<(), LowerError> {
    let x = bound.operands[0];
    let tile = net.tile(x);
    let firings = net.tiles(x) * net.groups;
    let fold = net.compute(0, Primitive::Reduce, firings, net.lanes(tile, 2), Emission::Whole);
    net.feed(fold, x, Want::Stream(1))?;
    let mut loads = Vec::with_capacity(2);
    for (part, &weight) in (1..).zip(&bound.operands[1..]) {
        let bytes = storage_bytes(tile, net.value(weight).storage);
        loads.push(net.load(part, weight, net.tiles(x), bytes));
    }
    let scalar = net.rows * 4;
    let folded = if over_chips {
        let sum = net.all_reduce(2, net.groups, scalar, Emission::Whole);
        net.link(sum, fold, Want::Hold, Slot::one(scalar))?;
        sum
    } else {
        fold
    };
    let map = net.compute(3, Primitive::Map, firings, net.lanes(tile, 3), Emission::Stream(1));
    net.feed(map, x, Want::Stream(1))?;
    net.link(map, folded, Want::Hold, Slot::one(scalar))?;
    for load in loads {
        net.feed_loaded(map, load, net.weight_port())?;
    }
    net.emit(bound.result, map);
    Ok(())
}

/// A norm head by head: a firing takes a whole head, or a tile of whole heads.
pub(super) fn lower_head_norm(net: &mut Net<'_>, bound: &Bound<'_>, heads: u32) -> Result<(), LowerError> {
    let x = bound.operands[0];
    let head = HeadFirings::of(net, x, heads);
    let mut loads = Vec::with_capacity(2);
    for (part, &weight) in (1..).zip(&bound.operands[1..]) {
        let elements = net.cx.rows(weight) * net.cx.cols(weight);
        let bytes = storage_bytes(elements, net.value(weight).storage);
        loads.push(net.load(part, weight, 1, bytes));
    }
    let work = net.lanes(head.columns, 5);
    let reduce = net.compute(3, Primitive::Reduce, head.firings, work, Emission::Stream(head.tokens));
    net.feed(reduce, x, Want::Stream(u64::from(head.tokens)))?;
    for load in loads {
        net.feed_loaded(reduce, load, Want::HoldAll)?;
    }
    net.emit(bound.result, reduce);
    net.mark_from_product(bound.result, net.is_from_product(x));
    Ok(())
}

#[cfg(any(test, feature = "simulate"))]
pub(super) use fire::fire_head_norm;

#[cfg(any(test, feature = "simulate"))]
mod fire {
    use std::ops::Range;
    use std::sync::Arc;

    use crate::ops::form::MAX_OPERANDS;
    use crate::reference::Data;
    use crate::simulate::machine::{Fire, Firing, Trouble, part_of};

    /// A norm head by head: whole heads in a firing, with all of the weights.
    pub(in crate::ops) fn fire_head_norm(op: &impl Fire, heads: u32, firing: &mut Firing<'_>) -> Result<(), Trouble> {
        if firing.part < 3 {
            let weight = firing.operand(firing.part as usize)?;
            return firing.load_all(weight);
        }
        let x = firing.joined(0)?;
        let heads = rows_of_tile(firing, &x, heads)?;
        let weight = if firing.has_port(1) { Some(of_heads(firing, 1, &heads)?) } else { None };
        let bias = if firing.has_port(2) { Some(of_heads(firing, 2, &heads)?) } else { None };
        let mut data = [None; MAX_OPERANDS];
        (data[0], data[1], data[2]) = (Some(&x), weight.as_ref(), bias.as_ref());
        let result = firing.evaluate(op, data, None)?;
        firing.emit(result);
        Ok(())
    }

    /// The heads that a firing takes, among the chip's.
    fn rows_of_tile(firing: &Firing<'_>, x: &Data, heads: u32) -> Result<Range<usize>, Trouble> {
        let Data::Real(tile) = x else { return Err(Trouble::Kind { expected: "numbers" }) };
        let width = (firing.program.value(firing.operand(0)?).shape.cols / heads.max(1)) as usize;
        let taken = tile.cols() / width.max(1);
        Ok(firing.within() * taken..(firing.within() + 1) * taken)
    }

    /// A weight of one row for all heads, or of the given heads' own rows.
    fn of_heads(firing: &Firing<'_>, port: usize, heads: &Range<usize>) -> Result<Data, Trouble> {
        let weight = firing.row(port, 0)?;
        if weight.rows() == 1 {
            return Ok(Data::Real(weight));
        }
        Ok(Data::Real(Arc::new(part_of(&weight, heads.clone(), 0..usize::MAX))))
    }
}
