//! Rules 4 to 7 and 9 on an edge: it is the one its port asks for, its tokens balance, its data are in time, its buffer
//! has room and a place of its own.

use super::ledger::{Ledger, equal, hold};
use super::parts::{self, Port, Take};
use super::place::hops;
use super::program::{Program, bytes};
use super::section::{Section, Stage, UNREACHED};
use crate::table::layout::{NONE, primitive};

/// An edge between two stages, with what time and space are measured by.
struct Edge {
    capacity: i128,
    /// Start of a producer's firing to the token's use; start of a consumer's to the slot's release.
    latency: i128,
    release: i128,
}

/// Matches the next edge row of the section with port `n` of stage `to`.
pub(super) const fn port(
    p: &mut Program<'_>,
    s: &mut Section,
    to: usize,
    n: usize,
    port: &Port,
    stage_of: &[u32; parts::MOST],
    l: &mut Ledger,
) {
    if s.edges >= s.edge_count {
        l.fault(4, s.stage_at(to), n as i128 + 1, n as i128, "edges of the stage, at least");
        return;
    }
    let at = s.edge_at(s.edges);
    let [from, consumer, number, kind, tokens_out, tokens_in, groups, capacity, slot, address, value, ..] =
        p.frame.edges[s.first_edge as usize + s.edges];
    s.edges += 1;
    let producer = if port.value == NONE {
        stage_of[port.part]
    } else {
        let v = &p.values[port.value as usize];
        equal!(l, 4, at, s.index, v.section, "section whose stage emits the value read");
        v.stage
    };
    equal!(l, 4, at, producer, from, "producer");
    equal!(l, 4, at, to, consumer as usize, "consumer");
    equal!(l, 4, at, n, number as usize, "port");
    equal!(l, 4, at, port.value, value, "value that flows");
    if l.failed(4) {
        return;
    }
    let from = from as usize;
    let (u, v) = (s.stages[from], s.stages[to]);
    s.stages[from].read = true;
    let whole = port.value != NONE && u.whole;
    let (stream, holds) = match port.take {
        Take::Stream(k) if !whole => (k, 0),
        Take::HoldAll => (0, 1),
        Take::Stream(_) | Take::Hold => (0, s.groups),
    };
    equal!(l, 4, at, holds != 0, kind == 1, "kind of the edge: 0 a stream, 1 a hold");
    equal!(l, 4, at, holds, groups as i128, "groups of a hold");
    if l.failed(4) {
        return;
    }
    let slot = slot as i128;
    let all = matches!(port.take, Take::HoldAll);
    let expected = if u.primitive == primitive::LOAD {
        if holds == 0 { u.bytes } else { u.bytes * (u.firings / holds) }
    } else if port.value == NONE {
        port.slot
    } else {
        let x = &p.values[port.value as usize];
        let n = if all {
            p.m * x.cols_l
        } else if holds != 0 {
            s.rows * x.cols_l
        } else {
            s.rows * x.tile
        };
        bytes(x.storage, n)
    };
    equal!(l, 9, at, expected, slot, "bytes of a slot");
    let (capacity, address) = (capacity as i128, address as i128);
    equal!(l, 9, at, 0, address % 64, "address, a multiple of 64: rest");
    hold!(l, 9, address >= s.end, at, s.end, address, "address, at least the end of the buffer before");
    s.end = address + capacity * slot;
    let c = &p.frame.chip;
    let way = hops(c, &u.area, &v.area);
    let e = Edge { capacity, latency: u.ii + u.tail + way, release: v.ii + 2 + way };
    // Distances from the input's load, at initiation intervals alone: first firing to first, last to last.
    let reached = u.first != UNREACHED;
    let (mut first, mut last) = (u.first + e.latency, u.last + e.latency);
    if holds == 0 {
        let (out, taken) = (tokens_out as i128, tokens_in as i128);
        // Within a statement every firing of one part meets one of the next; a value's are as its emitter says.
        equal!(l, 5, at, if port.value == NONE { 1 } else { u.emits }, out, "tokens a producer firing");
        equal!(l, 5, at, stream, taken, "tokens a consumer firing");
        if port.value != NONE {
            let n = p.values[port.value as usize].tiles * s.groups;
            equal!(l, 5, at, n, out * u.firings, "tokens of the value");
        }
        s.stages[to].taken = largest(v.taken, taken * slot);
        s.stages[from].given = largest(u.given, out * slot);
        if !l.failed(5) {
            stream_holds(s, &u, &v, &e, out, taken, l);
        }
    } else {
        equal!(l, 5, at, 0, u.firings % holds, "firings of the producer, a multiple of the groups: rest");
        equal!(l, 5, at, 0, v.firings % holds, "firings of the consumer, a multiple of the groups: rest");
        first += (u.firings / holds - 1) * u.ii;
        last += (v.firings / holds - 1) * v.ii;
        hold_holds(s, &u, &v, &e, holds, l);
    }
    if reached {
        let v = &mut s.stages[to];
        v.first = largest(v.first, first);
        v.last = largest(v.last, last);
    }
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
const fn stream_holds(s: &Section, u: &Stage, v: &Stage, e: &Edge, p: i128, q: i128, l: &mut Ledger) {
    let at = s.edge_at(s.edges - 1);
    let n = p * u.firings;
    let ragged = q * (v.firings - 1) < n && n <= q * v.firings;
    hold!(l, 5, ragged, at, n, q * v.firings, "tokens taken, the last firing's perhaps in part");
    let g = if p == 1 || q == 1 { 1 } else { gcd(p, q) };
    let c = e.capacity;
    hold!(
        l,
        7,
        c % g == 0 && c >= p && c >= q,
        at,
        largest(p, q),
        c,
        "capacity, a multiple of the common rate, at least"
    );
    let last = v.start + (v.firings - 1) * v.period;
    let full = u.start + (u.firings - 1) * u.period + e.latency;
    hold!(l, 6, last >= full, at, full, last, "start of the consumer's last firing, at least");
    let lead = v.start - u.start - e.latency;
    if v.firings >= 2 {
        let need = u.period * (q - g);
        hold!(l, 6, p * lead >= need, at, need, p * lead, "tokens in time for the first firing (cycles), at least");
        let j = v.firings - 2;
        let (have, need) = (p * (lead + j * v.period), u.period * ((j + 1) * q - g));
        hold!(l, 6, have >= need, at, need, have, "tokens in time for the last firings (cycles), at least");
    }
    let (rounds, c1) = (c / n, c % n);
    let room = u.start + rounds * s.interval - v.start - e.release;
    let k = c1 / p;
    let (have, need) = (q * (room + k * u.period), v.period * ((k + 1) * p - c1 - g));
    hold!(l, 7, have >= need, at, need, have, "room for the first firing that waits (cycles), at least");
    let k = u.firings - 1;
    let (have, need) = (q * (room + k * u.period), v.period * ((k + 1) * p - c1 - g));
    hold!(l, 7, have >= need, at, need, have, "room for the last firing (cycles), at least");
}

/// A hold of `groups` whole groups: the two ends of every inequality.
const fn hold_holds(s: &Section, u: &Stage, v: &Stage, e: &Edge, groups: i128, l: &mut Ledger) {
    let at = s.edge_at(s.edges - 1);
    let (a, b) = (u.firings / groups, v.firings / groups);
    let last = groups - 1;
    let full = u.start + (a - 1) * u.period + e.latency;
    hold!(l, 6, v.start >= full, at, full, v.start, "start of the consumer's first group, at least");
    let (start, full) = (v.start + last * b * v.period, full + last * a * u.period);
    hold!(l, 6, start >= full, at, full, start, "start of the consumer's last group, at least");
    let (rounds, r) = (e.capacity / groups, e.capacity % groups);
    // Group j is released when the last firing that holds it is through; the producer's group j + r reuses its buffer.
    let base = u.start + rounds * s.interval;
    let free = v.start + (b - 1) * v.period + e.release;
    let have = base + r * a * u.period;
    hold!(l, 7, have >= free, at, free, have, "start of the group that reuses the first buffer, at least");
    let j = last - r;
    let (have, need) = (base + (j + r) * a * u.period, free + j * b * v.period);
    hold!(l, 7, have >= need, at, need, have, "start of the last group of the iteration, at least");
    if r > 0 {
        let base = base + s.interval;
        let j = groups - r;
        let (have, need) = (base, free + j * b * v.period);
        hold!(l, 7, have >= need, at, need, have, "start of the next iteration's first group, at least");
        let (have, need) = (base + (r - 1) * a * u.period, free + last * b * v.period);
        hold!(l, 7, have >= need, at, need, have, "start of the group that reuses the last buffer, at least");
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
    let way = hops(&p.frame.chip, &stage.area, &load.area);
    let have = load.start + p.layers * s.interval;
    let need = stage.start + (stage.firings - 1) * stage.period + stage.ii + stage.tail + way;
    hold!(l, 6, have >= need, at, need, have, "start of the state's next load, at least");
}
