//! Elementwise operations as stages: one map over the tiles.

use crate::lower::{Bound, LowerError, Net, Want, storage_bytes};
use crate::spatial::{Emission, Primitive};

/// One operand, one map over its tiles, `ops` elementwise operations an element.
pub(super) fn lower_map(net: &mut Net<'_>, bound: &Bound<'_>, ops: u64) -> Result<(), LowerError> {
    let a = bound.operands[0];
    let work = net.lanes(net.tile(bound.result), ops);
    let map = net.compute(1, Primitive::Map, net.tiles(bound.result) * net.groups, work, Emission::Stream(1));
    net.feed(map, a, Want::Stream(1))?;
    net.emit(bound.result, map);
    net.mark_from_product(bound.result, net.is_from_product(a));
    Ok(())
}

/// Two operands, the second possibly a one-row weight.
pub(super) fn lower_pair(net: &mut Net<'_>, bound: &Bound<'_>, ops: u64) -> Result<(), LowerError> {
    let (a, b) = (bound.operands[0], bound.operands[1]);
    let tile = net.tile(bound.result);
    let weight = net.is_weight(b).then(|| {
        let bytes = storage_bytes(tile, net.value(b).storage);
        net.load(0, b, net.tiles(bound.result), bytes)
    });
    let work = net.lanes(tile, ops);
    let map = net.compute(1, Primitive::Map, net.tiles(bound.result) * net.groups, work, Emission::Stream(1));
    net.feed(map, a, Want::Stream(1))?;
    match weight {
        Some(load) => net.feed_loaded(map, load, net.weight_port())?,
        None => net.feed(map, b, Want::Stream(1))?,
    }
    net.emit(bound.result, map);
    let streams = net.is_from_product(a) || net.is_from_product(b);
    net.mark_from_product(bound.result, streams);
    Ok(())
}

#[cfg(any(test, feature = "simulate"))]
pub(super) use fire::{fire_map, fire_pair};

#[cfg(any(test, feature = "simulate"))]
mod fire {
    use crate::ops::form::MAX_OPERANDS;
    use crate::simulate::machine::{Fire, Firing, Token, Trouble};

    /// A tile of the one operand.
    pub(in crate::ops) fn fire_map(op: &impl Fire, firing: &mut Firing<'_>) -> Result<(), Trouble> {
        let a = firing.joined(0)?;
        let mut data = [None; MAX_OPERANDS];
        data[0] = Some(&a);
        let result = firing.evaluate(op, data, None)?;
        firing.emit(result);
        Ok(())
    }

    /// A tile of each of two operands, the second possibly a one-row weight.
    pub(in crate::ops) fn fire_pair(op: &impl Fire, firing: &mut Firing<'_>) -> Result<(), Trouble> {
        let b = firing.operand(1)?;
        if firing.part == 0 {
            return firing.load_rows(b, firing.result, firing.index);
        }
        let a = firing.joined(0)?;
        let b = if firing.is_weight(b) {
            match firing.token(1, firing.within())? {
                Token::Data(data) => data.clone(),
                Token::Weight(_) | Token::State(_) | Token::Empty => {
                    return Err(Trouble::Kind { expected: "a tile of a weight's row" });
                }
            }
        } else {
            firing.joined(1)?
        };
        let mut data = [None; MAX_OPERANDS];
        (data[0], data[1]) = (Some(&a), Some(&b));
        let result = firing.evaluate(op, data, None)?;
        firing.emit(result);
        Ok(())
    }
}
