//! Rule 8 on what ids choose: how long after the ids the product that ends an experts' statement fires last, whatever the order of reading.

use super::edges::largest;
use super::place::hops;
use super::program::{Program, ceil};
use super::section::{Section, Stage, UNREACHED};
use crate::table::layout::primitive;

/// What the statements before store, and this one gathers, in bytes by tier.
struct Moved {
    stored: [i128; 3],
    /// Of gate and of up.
    early: [[i128; 3]; 2],
    /// Of down, and of one of its tokens.
    late: [i128; 3],
    token: [i128; 3],
}

/// The least distance to the last firing of `product`, which is to be stage `to`; forgets what was gathered.
///
/// All that is gathered comes through its memories, no faster than at the rate that what earlier statements store leaves. And what is used later than down
/// is there earlier: see [`parted`].
pub(super) const fn last(p: &Program<'_>, s: &mut Section, to: usize, product: &Stage) -> i128 {
    let c = &p.frame.chip;
    let moved = moved(p, s, to);
    let mut most = UNREACHED;
    let mut tier = 1;
    while tier <= 2 {
        let rate = c.rate[tier] - ceil!(moved.stored[tier] * 65536, s.interval);
        if s.gathered[tier] > 0 && rate > 0 {
            let together = ceil!(s.gathered[tier] * 65536, rate);
            let cycles = largest(together, parted(p, s, to, product, &moved, tier, rate));
            most = largest(most, s.ids + cycles + c.load_tail[tier] + c.inject);
        }
        tier += 1;
    }
    s.gathered = [0; 3];
    s.ids = UNREACHED;
    most
}

const fn moved(p: &Program<'_>, s: &Section, to: usize) -> Moved {
    let rows = p.frame.stages;
    let first = s.first_stage as usize;
    let statement = rows[first + to].statement;
    let mut moved = Moved { stored: [0; 3], early: [[0; 3]; 2], late: [0; 3], token: [0; 3] };
    let mut k = 0;
    while k < to {
        let v = &s.stages[k];
        if v.tier <= 2 {
            let tier = v.tier as usize;
            let bytes = v.firings * v.bytes;
            if let primitive::STORE = v.primitive {
                moved.stored[tier] += bytes;
            } else if let primitive::GATHER = v.primitive
                && rows[first + k].statement == statement
            {
                match rows[first + k].part {
                    part @ (0 | 1) => moved.early[part as usize][tier] = bytes,
                    2 => (moved.late[tier], moved.token[tier]) = (bytes, v.bytes),
                    _ => {}
                }
            }
        }
        k += 1;
    }
    moved
}

/// Cycles from the ids to the end of what down's last firing could as well have come with.
///
/// Gate and up pass two more stages than down, so they end by as much earlier. The last turn that has one of the three has gate or up, and its loads' rates
/// add up to no more than the memory's; or down alone, and then the product has all its firings after the others' bytes.
const fn parted(
    p: &Program<'_>,
    s: &Section,
    to: usize,
    product: &Stage,
    moved: &Moved,
    tier: usize,
    rate: i128,
) -> i128 {
    let [gate, up] = [moved.early[0][tier], moved.early[1][tier]];
    if gate + up == 0 || to < 3 {
        return 0;
    }
    let least = if gate == 0 || up > 0 && up < gate { up } else { gate };
    let c = &p.frame.chip;
    let map = &s.stages[to - 1];
    let (one, other) = (&s.stages[to - 3], &s.stages[to - 2]);
    let one = one.ii + one.tail + hops!(c, one.area, map.area);
    let other = other.ii + other.tail + hops!(c, other.area, map.area);
    let detour = if one < other { one } else { other } + map.ii + map.tail + hops!(c, map.area, product.area);
    let late = moved.late[tier];
    let together = ceil!((gate + up + late) * 65536, rate) + detour * least / (least + late);
    if late == 0 {
        return together;
    }
    let apart = ceil!((gate + up) * 65536, rate) + ceil!(moved.token[tier] * 65536, rate);
    let apart = apart + (product.firings - 1) * product.ii;
    if apart < together { apart } else { together }
}
