//! Rules 4 to 7 and 9 on an edge: it is the one its port asks for, its tokens balance, its data are in time, its buffer
//! has room and a place of its own.

use super::frame::Chip;
use super::ledger::{At, Ledger, each, failed, hold, holds};
use super::parts::{self, Expected, Take};
use super::place::hops;
use super::program::{Program, bytes_of, ceil};
use super::section::{Section, Stage, UNREACHED};
use crate::table::layout::{NONE, primitive};

/// An edge between two stages, with what time and space are measured by.
struct Edge {
    capacity: i128,
    /// Start of a producer's firing to the token's use; start of a consumer's to the slot's release.
    latency: i128,
    release: i128,
}

/// Matches the next edge rows of the section with the ports of stage `to`; what is asked of every edge is counted for all of a
/// section's.
pub(super) const fn ports(
    p: &mut Program<'_>,
    s: &mut Section,
    to: usize,
    e: &Expected,
    stage_of: &[u32; parts::MOST],
    l: &mut Ledger,
) {
    let mut next_port = 0;
    while next_port < e.count {
        let n = next_port;
        let port = e.ports[n];
        next_port = n + 1;
        if s.edges >= s.edge_count {
            l.fault(4, s.stage_at(to), n as i128 + 1, n as i128, "edges of the stage, at least");
            continue;
        }
        let next = s.edges;
        let row = p.frame.edges[s.first_edge as usize + next];
        let [from, consumer, number, kind, tokens_out, tokens_in, groups, capacity, slot, address, value, ..] = row;
        s.edges = next + 1;
        let of_value = port.value != NONE;
        let producer = if of_value {
            let v = &p.values[port.value as usize];
            hold!(
                l,
                4,
                v.section == s.index,
                s.edge_at(next),
                s.index,
                v.section,
                "section whose stage emits the value read"
            );
            v.stage
        } else {
            stage_of[port.part]
        };
        each!(l, 4 * 4, s.edge_at(next),
            producer == from => producer, from, "producer";
            to as u32 == consumer => to, consumer, "consumer";
            n as u32 == number => n, number, "port";
            port.value == value => port.value, value, "value that flows";
        );
        if failed!(l, 4) {
            continue;
        }
        let from = from as usize;
        let u = s.stages[from];
        let v = s.stages[to];
        s.stages[from].read = true;
        let whole = of_value && u.whole;
        let mut all = false;
        let mut stream = 0;
        let holds = match port.take {
            Take::Stream(k) if !whole => {
                stream = k;
                0
            }
            Take::HoldAll => {
                all = true;
                1
            }
            Take::HoldIn(groups) => groups,
            Take::Stream(_) | Take::Hold => s.groups,
        };
        each!(l, 4 * 2, s.edge_at(next),
            (holds != 0) == (kind == 1) => holds != 0, kind, "kind of the edge: 0 a stream, 1 a hold";
            holds == groups as i128 => holds, groups, "groups of a hold";
        );
        if failed!(l, 4) {
            continue;
        }
        let expected = if u.primitive == primitive::LOAD {
            if holds == 0 {
                u.bytes
            } else if holds == 1 {
                u.bytes * u.firings
            } else {
                u.bytes * (u.firings / holds)
            }
        } else if of_value {
            let x = &p.values[port.value as usize];
            let n = if all {
                p.m * x.cols_l
            } else if holds != 0 {
                s.rows * x.cols_l
            } else {
                s.rows * x.tile
            };
            bytes_of!(x.storage, n)
        } else {
            port.slot
        };
        let slot = slot as i128;
        let capacity = capacity as i128;
        let start = address as i128;
        each!(l, 9 * 3, s.edge_at(next),
            expected == slot => expected, slot, "bytes of a slot";
            address & 63 == 0 => 0, address & 63, "address, a multiple of 64: rest";
            start >= s.end => s.end, start, "address, at least the end of the buffer before";
        );
        s.end = start + capacity * slot;
        let way = hops!(p.frame.chip, u.area, v.area);
        let latency = u.ii + u.tail + way;
        let release = v.ii + 2 + way;
        let mut groups_of = (1, 1);
        if holds == 0 {
            let out = tokens_out as i128;
            let taken = tokens_in as i128;
            // Within a statement every firing of one part meets one of the next; a value's are as its emitter says.
            let emits = if of_value { u.emits } else { 1 };
            let n = out * u.firings;
            let value_tokens = if of_value { p.values[port.value as usize].tiles * s.groups } else { n };
            let most = taken * v.firings;
            holds!(l, 5 * 4, s.edge_at(next),
                emits == out => emits, out, "tokens a producer firing";
                stream == taken => stream, taken, "tokens a consumer firing";
                value_tokens == n => value_tokens, n, "tokens of the value";
                most - taken < n && n <= most => n, most, "tokens taken, the last firing's perhaps in part";
            );
            let bytes = taken * slot;
            if bytes > v.taken {
                s.stages[to].taken = bytes;
            }
            let bytes = out * slot;
            if bytes > u.given {
                s.stages[from].given = bytes;
            }
            if failed!(l, 5) {
                continue;
            }
            // One token for one, as most streams are, with inequalities that hold as they are or by more than they need.
            let steady = out == 1 && taken == 1 && u.firings == v.firings && {
                let k = u.firings - 1;
                let late = k * u.period;
                let last = k * v.period;
                let gap = v.start - u.start;
                let behind = gap + release;
                let room = if capacity < u.firings {
                    capacity * u.period >= behind && late + capacity * v.period >= behind + last
                } else {
                    s.interval >= behind && s.interval + late >= behind + last
                };
                room && gap >= latency && gap + last >= late + latency
            };
            if steady {
                l.obligations.6 += 3;
                l.obligations.7 += 3;
            } else {
                let e = Edge { capacity, latency, release };
                stream_holds(s.interval, s.edge_at(next), &u, &v, &e, out, taken, l);
            }
        } else {
            let a = if holds == 1 { u.firings } else { u.firings / holds };
            let b = if holds == 1 { v.firings } else { v.firings / holds };
            holds!(l, 5 * 2, s.edge_at(next),
                a * holds == u.firings => a * holds, u.firings, "firings of the producer, a multiple of the groups";
                b * holds == v.firings => b * holds, v.firings, "firings of the consumer, a multiple of the groups";
            );
            groups_of = (a, b);
            let made = a * u.period;
            let used = b * v.period;
            let arrival = u.start + made - u.period + latency;
            let free = v.start + used - v.period + release;
            if holds == 1 {
                let have = u.start + capacity * s.interval;
                holds!(l, 6 * 1, s.edge_at(next), v.start >= arrival => arrival, v.start, "start of the consumer, at least";);
                holds!(l, 7 * 1, s.edge_at(next), have >= free => free, have, "start of the next value in the same buffer, at least";);
            } else {
                let g = Groups { count: holds, made, used, arrival, free };
                hold_holds(s.interval, s.edge_at(next), u.start, v.start, capacity, &g, l);
            }
        }
        if u.last != UNREACHED {
            // Distances from the input's last token, at initiation intervals alone, to the first and to the last firing.
            let (a, b) = groups_of;
            let own = paced(&p.frame.chip, &u);
            let way = latency - u.ii + own;
            let first = if holds == 1 {
                u.last + way
            } else if u.first != UNREACHED {
                u.first + way + if a == 1 { 0 } else { (a - 1) * own }
            } else {
                UNREACHED
            };
            if first > v.first {
                s.stages[to].first = first;
            }
            if holds != 1 {
                let last = u.last + way + if b == 1 { 0 } else { (b - 1) * paced(&p.frame.chip, &v) };
                if last > v.last {
                    s.stages[to].last = last;
                }
            }
        }
    }
    let v = &s.stages[to];
    if v.first != UNREACHED {
        let own = paced(&p.frame.chip, v);
        let last = v.first + (v.firings - 1) * own;
        if v.primitive == primitive::GATHER && v.turn != NONE && v.tier <= 2 {
            s.gathered[v.tier as usize] += v.firings * v.bytes;
            if s.ids == UNREACHED || v.first < s.ids {
                s.ids = v.first;
            }
        }
        if last > v.last {
            s.stages[to].last = last;
        }
    }
    if s.ids != UNREACHED && s.stages[to].primitive == primitive::GEMM_B {
        chosen(&p.frame.chip, s, to);
    }
}

/// What a statement gathers comes through its memories in some order, all of it before the last firing of the product that ends it.
const fn chosen(c: &Chip, s: &mut Section, to: usize) {
    let mut tier = 1;
    while tier <= 2 {
        if s.gathered[tier] > 0 && c.rate[tier] > 0 {
            let through = s.ids + ceil!(s.gathered[tier] * 65536, c.rate[tier]);
            let last = through + c.depth + c.latency[tier] + 2 + c.inject;
            if last > s.stages[to].last {
                s.stages[to].last = last;
            }
        }
        tier += 1;
    }
    s.gathered = [0; 3];
    s.ids = UNREACHED;
}

/// The interval a stage's bound counts with: a load's in a turn is the schedule's choice, and no choice is below its token's
/// bytes at the memory's whole rate.
pub(super) const fn paced(c: &Chip, v: &Stage) -> i128 {
    if v.turn == NONE || v.tier > 2 || c.rate[v.tier as usize] == 0 {
        return v.ii;
    }
    largest(1, ceil!(v.bytes * 65536, c.rate[v.tier as usize]))
}

const fn largest(a: i128, b: i128) -> i128 {
    if a > b { a } else { b }
}

const fn gcd(mut a: i128, mut b: i128) -> i128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
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
    holds!(l, 6 * 3, at,
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
    holds!(l, 7 * 3, at,
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
const fn hold_holds(interval: i128, at: At, u: i128, v: i128, capacity: i128, g: &Groups, l: &mut Ledger) {
    let Groups { count, made, used, arrival, free } = *g;
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
    let have = load.start + p.layers * s.interval;
    let need = stage.start + (stage.firings - 1) * stage.period + stage.ii + stage.tail + way;
    hold!(l, 6, have >= need, at, need, have, "start of the state's next load, at least");
    let rows = p.frame.stages;
    let first = s.first_stage as usize;
    if rows[first + k][0] != rows[first + state.stage as usize][0] {
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
