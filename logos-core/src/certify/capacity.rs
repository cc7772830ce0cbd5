//! The least capacity of each edge for which the schedule's space inequalities hold (RULES.md section 5).

use crate::spatial::Flow;

/// The two ends of an edge in time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends {
    /// Start, firings and period of the producer.
    pub(super) from: (i64, i64, i64),
    /// Of the consumer.
    pub(super) to: (i64, i64, i64),
    /// Cycles from a token to its use.
    pub(super) latency: i64,
    /// Cycles from a use to the slot's reuse.
    pub(super) release: i64,
    /// Interval of the section.
    pub(super) interval: i64,
}

pub(super) fn gcd(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// `⌈a/b⌉` for a positive `b` and any `a`.
pub(super) const fn ceil_div(a: i64, b: i64) -> i64 {
    let quotient = a.div_euclid(b);
    if a.rem_euclid(b) == 0 { quotient } else { quotient + 1 }
}

impl Ends {
    /// The earliest start of the consumer that the data inequalities allow, for the producer's start.
    pub(super) fn earliest(&self, flow: Flow) -> i64 {
        let (_, _, tv) = self.to;
        let mut least = i64::MIN;
        self.data(flow, |j, ready| least = least.max(ready - j * tv));
        least
    }

    /// The latest start of the producer that they allow, for the consumer's start.
    pub(super) fn latest(&self, flow: Flow) -> i64 {
        let (su, _, _) = self.from;
        let (sv, _, tv) = self.to;
        let mut most = i64::MAX;
        self.data(flow, |j, ready| most = most.min(sv + j * tv - (ready - su)));
        most
    }

    /// Calls `at(j, ready)` for each data inequality: firing `j` of the consumer not before cycle `ready`.
    pub(super) fn data(&self, flow: Flow, mut at: impl FnMut(i64, i64)) {
        let (su, fu, tu) = self.from;
        let (_, fv, _) = self.to;
        match flow {
            Flow::Stream { p, q } => {
                let (p, q) = (p as i64, q as i64);
                let g = gcd(p, q);
                at(fv - 1, su + (fu - 1) * tu + self.latency);
                if fv >= 2 {
                    for j in [0, fv - 2] {
                        at(j, su + self.latency + ceil_div(tu * ((j + 1) * q - g), p));
                    }
                }
            }
            Flow::Hold { groups } => {
                let groups = groups as i64;
                let (a, b) = (fu / groups, fv / groups);
                for g in [0, groups - 1] {
                    at(g * b, su + ((g + 1) * a - 1) * tu + self.latency);
                }
            }
        }
    }

    /// The least capacity; none where none below 2²² is enough.
    pub(super) fn capacity(&self, flow: Flow) -> Option<u64> {
        let unit = match flow {
            Flow::Stream { p, q } => gcd(p as i64, q as i64),
            Flow::Hold { .. } => 1,
        };
        let least = match flow {
            Flow::Stream { p, q } => ceil_div(p.max(q) as i64, unit),
            Flow::Hold { .. } => 1,
        };
        if self.holds(flow, least * unit) {
            return Some((least * unit) as u64);
        }
        let (mut low, mut high) = (least, least * 2);
        while !self.holds(flow, high * unit) {
            low = high;
            high *= 2;
            if high * unit > 1 << 22 {
                return None;
            }
        }
        while low + 1 < high {
            let middle = low + (high - low) / 2;
            if self.holds(flow, middle * unit) { high = middle } else { low = middle }
        }
        Some((high * unit) as u64)
    }

    /// Whether the space inequalities hold with capacity `c`.
    pub(super) fn holds(&self, flow: Flow, c: i64) -> bool {
        let (su, fu, tu) = self.from;
        let (sv, fv, tv) = self.to;
        match flow {
            Flow::Stream { p, q } => {
                let (p, q) = (p as i64, q as i64);
                let g = gcd(p, q);
                let n = p * fu;
                let (whole, rest) = (c / n, c % n);
                let space = |k: i64| {
                    let free = q * (su + k * tu + whole * self.interval - sv - self.release);
                    free >= tv * ((k + 1) * p - rest - g)
                };
                space(rest / p) && space(fu - 1)
            }
            Flow::Hold { groups } => {
                let groups = groups as i64;
                let (a, b) = (fu / groups, fv / groups);
                let (whole, rest) = (c / groups, c % groups);
                let until = |j: i64| sv + ((j + 1) * b - 1) * tv + self.release;
                let near = |j: i64| su + (j + rest) * a * tu + whole * self.interval >= until(j);
                let far = |j: i64| su + (j + rest - groups) * a * tu + (whole + 1) * self.interval >= until(j);
                near(0) && near(groups - 1 - rest) && (rest == 0 || (far(groups - rest) && far(groups - 1)))
            }
        }
    }
}
