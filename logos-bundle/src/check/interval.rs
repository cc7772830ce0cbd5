//! Rules 6, 8 and 9 on a section as a whole: initiation intervals, the turns and rates of the memories, span, loop, the
//! bound on the interval, the order of sites.

use super::MAX_TURNS;
use super::frame::Chip;
use super::heads;
use super::ledger::{At, Ledger, count, each, equal, hold, holds, part};
use super::parts::Recurrence;
use super::place::hops;
use super::program::{Program, ceil};
use super::section::{Section, Stage, UNREACHED, UNREAD, log2, wide};
use crate::table::layout::{self, NONE, primitive};

/// What the stages add up to.
struct Sums {
    /// Bytes of an iteration by tier, of loads and gathers, and of stores.
    loaded: [i128; 3],
    stored: [i128; 3],
    /// Bytes per 65,536 cycles that the loads of a turn ask for, and how many they are.
    rate: [i128; MAX_TURNS],
    loads: [u32; MAX_TURNS],
    /// Largest `f * II` of a load in a turn at the memory's whole rate.
    load: i128,
    /// Largest `f * II` of a stage out of turns, and of one whose recurrence gives its interval.
    stage: i128,
    recurrence: i128,
    first: i128,
    last: i128,
}

/// Checks a section whose stages and edges have been matched.
pub(super) const fn section(p: &Program<'_>, s: &Section, l: &mut Ledger) {
    let mut sums = Sums {
        loaded: [0; 3],
        stored: [0; 3],
        rate: [0; MAX_TURNS],
        loads: [0; MAX_TURNS],
        load: 0,
        stage: 0,
        recurrence: 0,
        first: s.stages[0].start,
        last: 0,
    };
    let c = &p.frame.chip;
    stages(p, s, &mut sums, l);
    let at = s.at();
    let span = sums.last - sums.first;
    hold!(l, 6, span <= s.span, at, span, s.span, "span, at least the last result after the first start");
    let once = p.sections != 1;
    hold!(
        l,
        6,
        !once || s.interval >= s.span,
        at,
        s.span,
        s.interval,
        "interval of a section that runs once, at least"
    );
    turns(s, p, &sums, l);
    let room = c.bytes[0] - p.resident;
    hold!(l, 9, s.end <= room, at, room, s.end, "end of the last buffer, at most");
    let looped = if once || p.role != 1 { 0 } else { layer_loop(p, s, l) };
    bound(s, c, &sums, once, looped, l);
}

/// The stages: each one's interval from the unit model, its period inside the section's, its sites after those before; each is
/// read by an edge, but stores.
const fn stages(p: &Program<'_>, s: &Section, sums: &mut Sums, l: &mut Ledger) {
    let c = &p.frame.chip;
    let interval = s.interval;
    let mut first = sums.first;
    let mut last = 0;
    let mut sites = 0;
    let mut stage = 0;
    let mut k = 0;
    let end = s.count;
    count!(l, end, 9 * 1, 6 * 3);
    while k < end {
        let v = s.stages[k];
        let busy = v.firings * v.period;
        // What its work, or memory, or link allows; a recurrence where it allows less.
        let mut recurrence = 0;
        let ii = if v.turn != NONE {
            turn(s, p, k, &v, sums, l);
            v.period
        } else if let primitive::LOAD | primitive::GATHER | primitive::STORE | primitive::COLLECTIVE = v.primitive {
            moved(p, s, k, &v, sums, l)
        } else {
            let pairs = v.each_a * v.each_b;
            let work = if let 1 = v.base { pairs } else { v.base * pairs };
            let bytes = if v.taken > v.given { v.taken } else { v.given };
            let space = v.cells * c.scratchpad_rate;
            let work = if bytes > work * space { ceil!(bytes, space) } else { work };
            recurrence = match v.recurrence {
                Recurrence::None => 0,
                Recurrence::Softmax => 12,
                Recurrence::Delta => 2 * pairs + 2 * (c.depth + c.tree * log2(v.nb) + if v.nb > 1 { 8 } else { 0 }),
            };
            if recurrence > work {
                recurrence
            } else {
                recurrence = 0;
                if work > 1 { work } else { 1 }
            }
        };
        each!(l, 9 * 1, s.stage_at(k), of [v: Stage, sites: i128], v.end >= sites + v.cells => sites, v.end - v.cells, "first site, at least the end of the stage before";);
        each!(l, 6 * 3, s.stage_at(k), of [v: Stage, ii: i128, busy: i128, interval: i128],
            ii == v.ii => ii, v.ii, "initiation interval";
            v.period >= v.ii => v.ii, v.period, "period, at least the initiation interval";
            busy <= interval => interval, busy, "firings times period, at most the interval";
        );
        each!(l, 1 * 1, s.stage_at(k), of [v: Stage], v.given != UNREAD || v.primitive == primitive::STORE => 1, 0, "edges that read the stage, at least";);
        sites = v.end;
        if v.start < first {
            first = v.start;
        }
        let through = v.start + busy - v.period + v.ii;
        if through > last {
            last = through;
        }
        let total = v.firings * v.pace;
        if v.turn != NONE {
            if total > sums.load {
                sums.load = total;
            }
        } else if recurrence > 0 {
            if total > sums.recurrence {
                sums.recurrence = total;
            }
        } else if total > stage {
            stage = total;
        }
        k += 1;
    }
    sums.first = first;
    sums.last = last;
    sums.stage = stage;
}

/// A load in its turn.
const fn turn(s: &Section, p: &Program<'_>, k: usize, v: &Stage, sums: &mut Sums, l: &mut Ledger) {
    let v = *v;
    let t = v.turn as usize;
    let row = p.frame.turns[s.first_turn as usize + t];
    let [tier, _, s0, s1, n0, n1, ..] = row;
    let start = wide!(s0, s1);
    let end = start + wide!(n0, n1);
    let (mut begun, mut through) = (v.start, v.start + v.firings * v.period);
    if begun < start {
        // Its first firings are in the turn's head, or it is served an interval earlier.
        if let Some(a) = heads::ahead(p, s, &v) {
            heads::load(s.stage_at(k), &v, a, l);
            begun += a.firings * v.period;
        } else {
            (begun, through) = (begun + s.interval, through + s.interval);
        }
    }
    holds!(l, 6 * 3, s.stage_at(k), of [v: Stage, tier: u32, begun: i128, start: i128, through: i128, end: i128],
        v.tier == tier => v.tier, tier, "tier of the load's turn";
        begun >= start => start, begun, "start of a load, at least its turn's";
        through <= end => end, through, "end of a load, at most its turn's";
    );
    sums.rate[t] += ceil!(v.bytes * 65536, v.period);
    sums.loads[t] += 1;
    if v.tier <= 2 {
        sums.loaded[v.tier as usize] += v.firings * v.bytes;
    }
}

/// Interval of a stage out of turns that a memory or a link gives, whose bytes it adds up.
const fn moved(p: &Program<'_>, s: &Section, k: usize, v: &Stage, sums: &mut Sums, l: &mut Ledger) -> i128 {
    let c = &p.frame.chip;
    let v = *v;
    let scaled = v.bytes * 65536;
    let ii = if let primitive::COLLECTIVE = v.primitive {
        let chips = p.frame.deployment.chips;
        hold!(l, 6, c.link_rate > 0, s.stage_at(k), 1, c.link_rate, "link rate, at least");
        if c.link_rate == 0 {
            1
        } else if v.adds {
            ceil!(scaled * 2 * (chips - 1), chips * c.link_rate)
        } else {
            ceil!(scaled * (chips - 1), c.link_rate)
        }
    } else {
        if v.tier <= 2 {
            let all = v.firings * v.bytes;
            if let primitive::STORE = v.primitive {
                sums.stored[v.tier as usize] += all;
            } else {
                sums.loaded[v.tier as usize] += all;
            }
        }
        if let 0 = v.tier {
            ceil!(v.bytes, c.scratchpad_rate * c.sram_ports)
        } else {
            let rate = if v.tier <= 2 { c.rate[v.tier as usize] } else { 0 };
            hold!(l, 6, rate > 0, s.stage_at(k), 1, rate, "rate of the store's tier, at least");
            if rate > 0 { ceil!(scaled, rate) } else { 1 }
        }
    };
    if ii > 1 { ii } else { 1 }
}

/// The memories' cyclic order, and their rates turn by turn.
const fn turns(s: &Section, p: &Program<'_>, sums: &Sums, l: &mut Ledger) {
    let c = &p.frame.chip;
    // Of each tier: first start, and end of the last turn so far.
    let (mut first, mut end) = ([0; 3], [0; 3]);
    let mut seen = [false; 3];
    let mut t = 0;
    while t < s.turn_count {
        let at = At(part::TURNS, s.first_turn + t as u32);
        let row = p.frame.turns[s.first_turn as usize + t];
        let [tier, _, s0, s1, n0, n1, ..] = row;
        let (m, start, length) = (tier as usize, wide!(s0, s1), wide!(n0, n1));
        if seen[m] {
            hold!(l, 6, start >= end[m], at, end[m], start, "start of a turn, at least the end of the one before");
        } else {
            (first[m], seen[m]) = (start, true);
        }
        end[m] = start + length;
        if row[layout::turn::AHEAD] > 0 {
            heads::turn(p, s, t, at, sums.loads[t], l);
        } else {
            hold!(l, 4, sums.loads[t] > 0, at, 1, sums.loads[t], "loads of a turn, at least");
        }
        let rate = sums.rate[t] + ceil!(sums.stored[m] * 65536, s.interval);
        hold!(l, 6, rate <= c.rate[m], at, c.rate[m], rate, "bytes per 65,536 cycles, at most");
        t += 1;
    }
    let wrap = first[1] + s.interval;
    hold!(l, 6, end[1] <= wrap, s.at(), wrap, end[1], "end of the last turn of HBM, at most the next first");
    let wrap = first[2] + s.interval;
    hold!(l, 6, end[2] <= wrap, s.at(), wrap, end[2], "end of the last turn of DDR, at most the next first");
}

/// The layer loop: the next layer's input is this one's result. Returns its bound.
const fn layer_loop(p: &Program<'_>, s: &Section, l: &mut Ledger) -> i128 {
    let at = s.at();
    hold!(l, 4, s.input != NONE && s.shown != NONE, at, 1, 0, "input's load and show's store of a layer");
    if s.input == NONE || s.shown == NONE {
        return 0;
    }
    let (x, y) = (&s.stages[s.input as usize], &s.stages[s.shown as usize]);
    equal!(l, 4, at, x.firings, y.firings, "firings of the result's store");
    let latency = y.ii + y.tail + hops!(p.frame.chip, y.area, x.area);
    let (have, need) = (x.start + s.interval, y.start + latency);
    hold!(l, 6, have >= need, at, need, have, "start of the next layer's first input token, at least");
    let last = x.firings - 1;
    let (have, need) = (have + last * x.period, need + last * y.period);
    hold!(l, 6, have >= need, at, need, have, "start of the next layer's last input token, at least");
    // A result that no edge leads to from the input is as far as nothing.
    if y.last == UNREACHED { 0 } else { y.last + latency }
}

/// The bound on the interval, and what it says binds.
const fn bound(s: &Section, c: &Chip, sums: &Sums, once: bool, looped: i128, l: &mut Ledger) {
    let at = s.at();
    let mut memory = sums.load;
    let mut tier = 1;
    while tier <= 2 {
        let bytes = (sums.loaded[tier] + sums.stored[tier]) * 65536;
        if bytes > 0 {
            hold!(l, 6, c.rate[tier] > 0, at, 1, c.rate[tier], "rate of a tier that is used, at least");
            let cycles = if c.rate[tier] > 0 { ceil!(bytes, c.rate[tier]) } else { 0 };
            memory = if cycles > memory { cycles } else { memory };
        }
        tier += 1;
    }
    let (mut most, mut binder) = (memory, 0);
    if sums.stage > most {
        (most, binder) = (sums.stage, 1);
    }
    if sums.recurrence > most {
        (most, binder) = (sums.recurrence, 2);
    }
    if looped > most {
        (most, binder) = (looped, 3);
    }
    if once {
        binder = 4;
    }
    equal!(l, 8, at, most, s.bound, "bound on the interval");
    equal!(l, 8, at, binder, s.binder, "what binds");
    hold!(l, 8, s.interval >= most, at, most, s.interval, "interval, at least its bound");
}
