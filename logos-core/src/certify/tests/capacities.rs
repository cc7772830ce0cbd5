//! The inequalities of an edge against every firing of a few iterations.

use super::super::capacity::{Ends, ceil_div, gcd};
use crate::spatial::Flow;

/// Numbers that repeat from run to run (Marsaglia's xorshift64).
struct Draw(u64);

impl Draw {
    fn within(&mut self, low: i64, high: i64) -> i64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        low + (self.0 % (high - low + 1) as u64) as i64
    }

    /// Times of an edge whose ends have these firings: the consumer at its earliest, or some cycles later.
    fn ends(&mut self, (fu, fv): (i64, i64), flow: Flow) -> Ends {
        let (tu, tv) = (self.within(1, 20), self.within(1, 20));
        let interval = (fu * tu).max(fv * tv) + [0, self.within(0, 40)][self.within(0, 1) as usize];
        let mut ends = Ends {
            from: (self.within(0, 30), fu, tu),
            to: (0, fv, tv),
            latency: self.within(1, 60),
            release: self.within(1, 30),
            interval,
        };
        let late = [0, self.within(0, 20), self.within(0, 3 * interval)][self.within(0, 2) as usize];
        ends.to.0 = ends.earliest(flow) + late;
        ends
    }
}

/// What an edge's firings need and give, one by one.
struct Firings {
    ends: Ends,
    flow: Flow,
}

impl Firings {
    fn start((start, firings, period): (i64, i64, i64), interval: i64, k: i64) -> i64 {
        start + k.div_euclid(firings) * interval + k.rem_euclid(firings) * period
    }

    /// Tokens an iteration.
    fn tokens(&self) -> i64 {
        match self.flow {
            Flow::Stream { p, .. } => p as i64 * self.ends.from.1,
            Flow::Hold { groups } => groups as i64,
        }
    }

    /// The producer's first and last firing that make token `t`, and the consumer's first and last that use it, all counted
    /// over all iterations.
    fn uses(&self, t: i64) -> [i64; 4] {
        let n = self.tokens();
        let ((_, fu, _), (_, fv, _)) = (self.ends.from, self.ends.to);
        let (iteration, within) = (t.div_euclid(n), t.rem_euclid(n));
        match self.flow {
            Flow::Stream { p, q } => {
                let (made, used) = (iteration * fu + within / p as i64, iteration * fv + within / q as i64);
                [made, made, used, used]
            }
            Flow::Hold { .. } => {
                let (a, b) = (fu / n, fv / n);
                let (made, used) = (iteration * fu + within * a, iteration * fv + within * b);
                [made, made + a - 1, used, used + b - 1]
            }
        }
    }

    fn times(&self, t: i64) -> [i64; 4] {
        let [first, last, from, until] = self.uses(t);
        let h = self.ends.interval;
        let producer = |k| Self::start(self.ends.from, h, k);
        let consumer = |k| Self::start(self.ends.to, h, k);
        [producer(first), producer(last), consumer(from), consumer(until)]
    }

    /// Whether every token of an iteration is there when it is used.
    fn in_time(&self) -> bool {
        (0..self.tokens()).all(|t| {
            let [_, made, used, _] = self.times(t);
            used >= made + self.ends.latency
        })
    }

    /// Whether, with `c` slots, each token of an iteration finds the slot of the one `c` before it free.
    fn has_room(&self, c: i64) -> bool {
        (0..self.tokens()).all(|t| {
            let [filled, ..] = self.times(t);
            let [.., read] = self.times(t - c);
            filled >= read + self.ends.release
        })
    }
}

fn stream(draw: &mut Draw) -> (Flow, (i64, i64)) {
    let (p, q, fu) = (draw.within(1, 6), draw.within(1, 6), draw.within(1, 14));
    (Flow::Stream { p: p as u64, q: q as u64 }, (fu, ceil_div(p * fu, q)))
}

fn hold(draw: &mut Draw) -> (Flow, (i64, i64)) {
    let groups = draw.within(1, 6);
    (Flow::Hold { groups: groups as u64 }, (groups * draw.within(1, 5), groups * draw.within(1, 5)))
}

/// Capacities that are possible at all, up to `most`, for a flow.
fn possible(flow: Flow, most: i64) -> impl Iterator<Item = i64> {
    let (unit, least) = match flow {
        Flow::Stream { p, q } => (gcd(p as i64, q as i64), p.max(q) as i64),
        Flow::Hold { .. } => (1, 1),
    };
    (1..=most / unit).map(move |n| n * unit).filter(move |&c| c >= least)
}

#[test]
fn what_is_accepted_never_runs_dry_and_never_runs_over() {
    let mut draw = Draw(0x9e37_79b9);
    let mut ragged = 0;
    for case in 0..20_000 {
        let (flow, firings) = if case % 2 == 0 { stream(&mut draw) } else { hold(&mut draw) };
        let ends = draw.ends(firings, flow);
        let edge = Firings { ends, flow };
        assert!(edge.in_time(), "{flow:?} {ends:?}");
        let capacity = ends.capacity(flow).unwrap() as i64;
        assert!(edge.has_room(capacity), "{flow:?} {ends:?} {capacity}");
        if let Flow::Stream { q, .. } = flow {
            ragged += i32::from(edge.tokens() % q as i64 != 0);
        }
    }
    assert!(ragged > 3_000, "{ragged}");
}

#[test]
fn a_slot_less_is_rejected_by_the_inequality_and_a_cycle_earlier_too() {
    let mut draw = Draw(0x1234_5678);
    let mut beyond_least = 0;
    for case in 0..20_000 {
        let (flow, firings) = if case % 2 == 0 { stream(&mut draw) } else { hold(&mut draw) };
        let ends = draw.ends(firings, flow);
        let capacity = ends.capacity(flow).unwrap() as i64;
        // Room grows with the slots, so the least capacity is the first that holds.
        let first = possible(flow, capacity).find(|&c| ends.holds(flow, c));
        assert_eq!(first, Some(capacity), "{flow:?} {ends:?}");
        beyond_least += i32::from(possible(flow, capacity).count() > 1);

        let mut earlier = ends;
        earlier.to.0 = ends.earliest(flow);
        assert!(earlier.latest(flow) >= ends.from.0, "{flow:?} {ends:?}");
        earlier.to.0 -= 1;
        assert!(earlier.latest(flow) < ends.from.0, "{flow:?} {ends:?}");
    }
    assert!(beyond_least > 10_000, "{beyond_least}");
}

#[test]
fn of_holds_nothing_is_lost_and_of_streams_little() {
    let mut draw = Draw(0xdead_beef);
    let (mut lost, mut valid) = (0, 0);
    for case in 0..20_000 {
        let (flow, firings) = if case % 2 == 0 { stream(&mut draw) } else { hold(&mut draw) };
        let ends = draw.ends(firings, flow);
        let edge = Firings { ends, flow };
        // A capacity that the edge may or may not get by with.
        let least = ends.capacity(flow).unwrap() as i64;
        let near: Vec<i64> = possible(flow, least + 6).collect();
        let c = near[near.len() - 1 - draw.within(0, 12.min(near.len() as i64 - 1)) as usize];
        match flow {
            Flow::Hold { .. } => assert_eq!(ends.holds(flow, c), edge.has_room(c), "{flow:?} {ends:?} {c}"),
            Flow::Stream { .. } => {
                valid += i32::from(edge.has_room(c));
                lost += i32::from(edge.has_room(c) && !ends.holds(flow, c));
            }
        }
    }
    assert!(valid > 4_000 && lost * 20 < valid, "{lost} of {valid}");
}

#[test]
fn the_earliest_start_of_a_hold_is_the_first_that_works() {
    let mut draw = Draw(0xfeed);
    for _ in 0..5_000 {
        let (flow, firings) = hold(&mut draw);
        let mut ends = draw.ends(firings, flow);
        ends.to.0 = ends.earliest(flow);
        assert!(Firings { ends, flow }.in_time(), "{flow:?} {ends:?}");
        ends.to.0 -= 1;
        assert!(!Firings { ends, flow }.in_time(), "{flow:?} {ends:?}");
    }
}

#[test]
fn an_edge_by_hand() {
    // Four tokens, one every 10 cycles, used from cycle 32 one every 10; a slot is free 5 cycles after its use.
    let ends = Ends { from: (0, 4, 10), to: (32, 4, 10), latency: 32, release: 5, interval: 40 };
    let flow = Flow::Stream { p: 1, q: 1 };
    assert_eq!((ends.earliest(flow), ends.latest(flow)), (32, 0));
    // A token's slot is taken for 37 cycles.
    assert_eq!(ends.capacity(flow), Some(4));
    // Two groups of two tokens: the second is there at 30 + 32 and used until 62 + 10, so its buffer is free at 77; the first group's
    // buffer is filled again from 40 on, when the first has been read until 42 + 5.
    let flow = Flow::Hold { groups: 2 };
    assert_eq!(ends.earliest(flow), 42);
    let ends = Ends { to: (42, 4, 10), ..ends };
    assert_eq!(ends.capacity(flow), Some(3));
}
