//! Rules 4 to 7 and 9 on an edge: it is the one its port asks for, its tokens balance, its data are in time, its buffer
//! has room and a place of its own.

use super::chosen;
use super::expected::Port;
use super::heads;
use super::ledger::{At, Ledger, each, failed, hold, holds};
use super::parts::{self, Expected, Take};
use super::place::hops;
use super::program::{Program, bytes_of};
use super::rows::EdgeRow;
use super::section::{Section, Stage, UNREACHED};
use crate::table::layout::{NONE, primitive};

/// An edge between two stages, with what time and space are measured by.
struct Edge {
    capacity: i128,
    /// Start of a producer's firing to the token's use; start of a consumer's to the slot's release.
    latency: i128,
    release: i128,
}

/// Whether the inequalities of a stream hold that takes one token for one, as most do: in the same order as in
/// [`stream_holds`], which looks at what does not hold here, as more is asked than needed.
macro_rules! one_for_one {
    ($interval:expr, $u:ident, $v:ident, $capacity:ident, $latency:ident, $release:ident) => {{
        let gap = $v.start - $u.start;
        let behind = gap + $release;
        let short = $capacity < $u.firings;
        if $u.period == $v.period {
            // The last firings are as far apart as the first.
            gap >= $latency && if short { $capacity * $u.period } else { $interval } >= behind
        } else {
            let k = $u.firings - 1;
            let late = k * $u.period;
            let last = k * $v.period;
            let room = if short {
                $capacity * $u.period >= behind && late + $capacity * $v.period >= behind + last
            } else {
                $interval >= behind && $interval + late >= behind + last
            };
            room && gap >= $latency && gap + last >= late + $latency
        }
    }};
}

/// Matches the next edge rows of the section with the ports of stage `to`, and says in the stage what they take in and how far
/// it is from the input's load; what is asked of every edge is counted for all of a section's.
pub(super) const fn ports(
    p: &Program<'_>,
    s: &mut Section,
    to: usize,
    mut v: Stage,
    e: Expected,
    stage_of: &[u32; parts::MOST],
    l: &mut Ledger,
) -> Stage {
    let rows = p.frame.edges;
    let first_edge = s.first_edge as usize;
    let count = e.count;
    let mut next = s.edges;
    let mut end = s.end;
    let mut n = 0;
    while n < count {
        if next >= s.edge_count {
            l.fault(4, s.stage_at(to), n as i128 + 1, n as i128, "edges of the stage, at least");
            break;
        }
        let k = next;
        let number = n;
        next += 1;
        n += 1;
        let row = rows[first_edge + k];
        let port = e.ports[number];
        let of_value = port.value != NONE;
        let from = if of_value {
            let v = &p.values[port.value as usize];
            if v.section != s.index {
                let what = "section whose stage emits the value read";
                l.fault(4, s.edge_at(k), s.index as i128, v.section as i128, what);
            }
            s.of_values += 1;
            v.stage
        } else {
            stage_of[port.part]
        };
        each!(l, 4 * 4, s.edge_at(k), of [row: EdgeRow, port: Port, from: u32, to: usize, number: usize] else continue,
            from == row.from => from, row.from, "producer";
            to == row.to as usize => to, row.to, "consumer";
            number == row.port as usize => number, row.port, "port";
            port.value == row.value => port.value, row.value, "value that flows";
        );
        let u = s.stages[from as usize];
        let mut all = false;
        let mut stream = 0;
        let holds = match port.take {
            Take::Stream(k) => {
                if of_value && u.whole {
                    s.groups
                } else {
                    stream = k;
                    0
                }
            }
            Take::Hold => s.groups,
            Take::HoldAll => {
                all = true;
                1
            }
            Take::HoldIn(groups) => groups,
        };
        // That a stream has no groups and a hold some is rule 0's: of the right number an edge is of the right kind.
        each!(l, 4 * 1, s.edge_at(k), of [row: EdgeRow, holds: i128],
            holds == row.groups as i128 => holds, row.groups, "groups of a hold";
        );
        let expected = if let primitive::LOAD = u.primitive {
            match holds {
                0 => u.bytes,
                1 => u.bytes * u.firings,
                _ => u.bytes * (u.firings / holds),
            }
        } else if of_value {
            let x = &p.values[port.value as usize];
            let n = if all {
                p.m * x.cols_l
            } else if let 0 = holds {
                s.rows * x.tile
            } else {
                s.rows * x.cols_l
            };
            bytes_of!(x.storage, n)
        } else {
            port.slot
        };
        let slot = row.slot_bytes as i128;
        let capacity = row.capacity as i128;
        let start = row.address as i128;
        each!(l, 9 * 3, s.edge_at(k), of [row: EdgeRow, expected: i128, slot: i128, start: i128, end: i128],
            expected == slot => expected, slot, "bytes of a slot";
            row.address & 63 == 0 => 0, row.address & 63, "address, a multiple of 64: rest";
            start >= end => end, start, "address, at least the end of the buffer before";
        );
        end = start + capacity * slot;
        let way = hops!(p.frame.chip, u.area, v.area);
        let tail = u.tail + way;
        let latency = u.ii + tail;
        let release = v.ii + 2 + way;
        let mut given = 0;
        // Firings that make a group, and that use one.
        let mut a = 1;
        let mut b = 1;
        if let 0 = holds {
            s.streams += 1;
            let tokens =
                if of_value { p.values[port.value as usize].tiles * s.groups } else { row.p as i128 * u.firings };
            // Within a statement every firing of one part meets one of the next; a value's are as its emitter says.
            let emits = if of_value { u.emits } else { 1 };
            let taken = if let EdgeRow { p: 1, q: 1, .. } = row
                && let 1 = emits
                && let 1 = stream
                && u.firings == v.firings
                && u.firings == tokens
            {
                given = slot;
                if !one_for_one!(s.interval, u, v, capacity, latency, release) {
                    let edge = Edge { capacity, latency, release };
                    stream_holds(s.interval, s.edge_at(k), &u, &v, &edge, 1, 1, l);
                }
                slot
            } else {
                let edge = Edge { capacity, latency, release };
                ragged(s.interval, s.edge_at(k), row, &u, &v, &edge, [emits, stream, tokens], l);
                given = row.p as i128 * slot;
                row.q as i128 * slot
            };
            if taken > v.taken {
                v.taken = taken;
            }
        } else {
            a = if let 1 = holds { u.firings } else { u.firings / holds };
            b = if let 1 = holds { v.firings } else { v.firings / holds };
            let made = a * u.period;
            let used = b * v.period;
            let arrival = u.start + made - u.period + latency;
            let free = v.start + used - v.period + release;
            if let 1 = holds {
                s.singles += 1;
                let have = u.start + capacity * s.interval;
                each!(l, 6 * 1, s.edge_at(k), of [v: Stage, arrival: i128], v.start >= arrival => arrival, v.start, "start of the consumer, at least";);
                each!(l, 7 * 1, s.edge_at(k), of [have: i128, free: i128], have >= free => free, have, "start of the next value in the same buffer, at least";);
            } else {
                let g = Groups { count: holds, made, used, arrival, free };
                hold_holds(s.interval, s.edge_at(k), &u, &v, capacity, &g, l);
            }
        }
        if given > u.given {
            s.stages[from as usize].given = given;
        }
        if s.headed
            && u.turn != NONE
            && let Some(a) = heads::ahead(p, s, &u)
        {
            let single = matches!(row, EdgeRow { p: 1, q: 1, .. }) && holds == 0;
            heads::edge(s.edge_at(k), (&u, &v), a, single, (capacity, release), l);
        }
        if let UNREACHED = u.last {
            continue;
        }
        // Distances from the input's last token, at initiation intervals alone, to the first and to the last firing.
        let way = tail + u.pace;
        let first = if let 1 = holds {
            u.last + way
        } else if u.first != UNREACHED {
            u.first + way + if let 1 = a { 0 } else { (a - 1) * u.pace }
        } else {
            UNREACHED
        };
        if first > v.first {
            v.first = first;
        }
        if holds != 1 {
            let last = u.last + way + if let 1 = b { 0 } else { (b - 1) * v.pace };
            if last > v.last {
                v.last = last;
            }
        }
    }
    s.edges = next;
    s.end = end;
    if v.first != UNREACHED {
        let last = v.first + (v.firings - 1) * v.pace;
        if last > v.last {
            v.last = last;
        }
        if let primitive::GATHER = v.primitive {
            gathered(s, &v);
        }
    }
    if s.ids != UNREACHED
        && let primitive::GEMM_B = v.primitive
    {
        v.last = largest(v.last, chosen::last(p, s, to, &v));
    }
    v
}

/// Notes what a statement gathers by ids that are reached.
const fn gathered(s: &mut Section, v: &Stage) {
    if v.turn != NONE && v.tier <= 2 {
        s.gathered[v.tier as usize] += v.firings * v.bytes;
        if s.ids == UNREACHED || v.first < s.ids {
            s.ids = v.first;
        }
    }
}

pub(super) const fn largest(a: i128, b: i128) -> i128 {
    if a > b { a } else { b }
}

const fn gcd(mut a: i128, mut b: i128) -> i128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// A stream that does not take one token for one: what its ends say balances, and the inequalities hold.
#[expect(clippy::too_many_arguments, reason = "constant evaluation pays for every field written and read")]
const fn ragged(
    interval: i128,
    at: At,
    row: EdgeRow,
    u: &Stage,
    v: &Stage,
    e: &Edge,
    [emits, stream, tokens]: [i128; 3],
    l: &mut Ledger,
) {
    let out = row.p as i128;
    let taken = row.q as i128;
    let made = out * u.firings;
    let most = taken * v.firings;
    each!(l, 5 * 4, at,
        emits == out => emits, out, "tokens a producer firing";
        stream == taken => stream, taken, "tokens a consumer firing";
        tokens == made => tokens, made, "tokens of the value";
        most - taken < made && made <= most => made, most, "tokens taken, the last firing's perhaps in part";
    );
    if !failed!(l, 5) {
        stream_holds(interval, at, u, v, e, out, taken, l);
    }
}

/// A stream of `p` tokens a producer firing and `q` a consumer firing: the two ends of both inequalities.
#[expect(clippy::too_many_arguments, reason = "constant evaluation pays for every field read twice")]
const fn stream_holds(interval: i128, at: At, u: &Stage, v: &Stage, e: &Edge, p: i128, q: i128, l: &mut Ledger) {
    let g = if p == 1 || q == 1 { 1 } else { gcd(p, q) };
    let c = e.capacity;
    let n = p * u.firings;
    let k = u.firings - 1;
    let j = v.firings - 1;
    let late = k * u.period;
    let lead = v.start - u.start - e.latency;
    let last = j * v.period;
    // Tokens in time for the first firing, and for the last but one; the last takes what is left.
    let early = if j > 0 { u.period * (q - g) } else { p * lead };
    let middle = if j > 0 { u.period * (j * q - g) } else { p * lead };
    let have = if j > 0 { p * (lead + last - v.period) } else { p * lead };
    each!(l, 6 * 3, at, of [lead: i128, last: i128, late: i128, p: i128, early: i128, have: i128, middle: i128],
        lead + last >= late => late, lead + last, "cycles from the producer's first token to the consumer's last firing, at least";
        p * lead >= early => early, p * lead, "cycles (times tokens) to the first firing, at least";
        have >= middle => middle, have, "cycles (times tokens) to the last firing but one, at least";
    );
    // Room for the first firing that has to wait for a slot, and for the last.
    let rounds = if c < n { 0 } else { c / n };
    let c1 = if c < n { c } else { c % n };
    let room = u.start + rounds * interval - v.start - e.release;
    let k0 = if p == 1 { c1 } else { c1 / p };
    let wait = v.period * ((k0 + 1) * p - c1 - g);
    let full = v.period * (n - c1 - g);
    let first = q * (room + k0 * u.period);
    let end = q * (room + late);
    each!(l, 7 * 3, at, of [c: i128, p: i128, q: i128, g: i128, first: i128, wait: i128, end: i128, full: i128],
        c >= p && c >= q && (g == 1 || c % g == 0) => largest(p, q), c, "capacity, a multiple of the common rate, at least";
        first >= wait => wait, first, "cycles (times tokens) of room for the first firing that waits, at least";
        end >= full => full, end, "cycles (times tokens) of room for the last firing, at least";
    );
}

/// A hold of several groups: how many, cycles of the firings that make one and that use one, arrival of the first, and the
/// first's release.
struct Groups {
    count: i128,
    made: i128,
    used: i128,
    arrival: i128,
    free: i128,
}

/// A hold of several groups: the two ends of every inequality, of a producer that starts at `u` and a consumer at `v`.
const fn hold_holds(interval: i128, at: At, u: &Stage, v: &Stage, capacity: i128, g: &Groups, l: &mut Ledger) {
    let Groups { count, made, used, arrival, free } = *g;
    holds!(l, 5 * 2, at, of [u: &Stage, v: &Stage, count: i128],
        u.firings / count * count == u.firings => u.firings / count * count, u.firings, "firings of the producer, a multiple of the groups";
        v.firings / count * count == v.firings => v.firings / count * count, v.firings, "firings of the consumer, a multiple of the groups";
    );
    let (u, v) = (u.start, v.start);
    let last = count - 1;
    let start = v + last * used;
    let final_arrival = arrival + last * made;
    holds!(l, 6 * 2, at,
        v >= arrival => arrival, v, "start of the consumer's first group, at least";
        start >= final_arrival => final_arrival, start, "start of the consumer's last group, at least";
    );
    let rounds = capacity / count;
    let r = capacity % count;
    // Group j is released when the last firing that holds it is through; the producer's group j + r reuses its buffer.
    let base = u + rounds * interval;
    let reuse = base + r * made;
    let final_group = base + last * made;
    let released = free + (last - r) * used;
    holds!(l, 7 * 2, at,
        reuse >= free => free, reuse, "start of the group that reuses the first buffer, at least";
        final_group >= released => released, final_group, "start of the last group of the iteration, at least";
    );
    if r > 0 {
        let base = base + interval;
        let first_free = free + (count - r) * used;
        let last_free = free + last * used;
        let reuse = base + (r - 1) * made;
        holds!(l, 7 * 2, at,
            base >= first_free => first_free, base, "start of the next iteration's first group, at least";
            reuse >= last_free => last_free, reuse, "start of the group that reuses the last buffer, at least";
        );
    }
}

/// A state's load or store, where both lie in this section: the next step's load waits for the store.
pub(super) const fn carried(p: &mut Program<'_>, s: &mut Section, k: usize, v: u32, l: &mut Ledger) {
    let stage = s.stages[k];
    if stage.primitive == primitive::LOAD {
        let state = &mut p.values[v as usize];
        (state.section, state.stage) = (s.index, k as u32);
        return;
    }
    let state = &p.values[v as usize];
    if state.section != s.index {
        return;
    }
    let load = &s.stages[state.stage as usize];
    let at = s.stage_at(k);
    let way = hops!(p.frame.chip, stage.area, load.area);
    let first = match heads::ahead(p, s, load) {
        Some(a) => a.start - s.interval,
        None => load.start,
    };
    let have = first + p.layers * s.interval;
    let need = stage.start + (stage.firings - 1) * stage.period + stage.ii + stage.tail + way;
    hold!(l, 6, have >= need, at, need, have, "start of the state's next load, at least");
    let rows = p.frame.stages;
    let first = s.first_stage as usize;
    if rows[first + k].statement != rows[first + state.stage as usize].statement {
        // Appended by a statement of its own: what it replaces has been read.
        let read = load.start + (load.firings - 1) * load.period + load.ii;
        hold!(
            l,
            6,
            stage.start >= read,
            at,
            read,
            stage.start,
            "start of an append after the load of its state, at least"
        );
    }
}
