//! Where rules write what they compared and what they found.

use super::{Fault, Verdicts};

/// Verdicts in the making.
pub(super) struct Ledger {
    pub(super) faults: [Option<Fault>; 13],
    pub(super) obligations: [u64; 13],
    /// A rule whose faults are not noted; 13 for none.
    ignored: usize,
}

/// A row: its part of the table, and its place in the part.
#[derive(Clone, Copy)]
pub(super) struct At(pub(super) u32, pub(super) u32);

impl Ledger {
    pub(super) const fn new() -> Ledger {
        Ledger::without(13)
    }

    /// A ledger that notes no fault of a rule.
    pub(super) const fn without(rule: usize) -> Ledger {
        Ledger { faults: [None; 13], obligations: [0; 13], ignored: rule }
    }

    /// Notes a fault, unless its rule has one already.
    pub(super) const fn fault(&mut self, rule: usize, at: At, expected: i128, found: i128, what: &'static str) {
        if self.faults[rule].is_none() && rule != self.ignored {
            let (expected, found) = (word(expected), word(found));
            self.faults[rule] = Some(Fault { rule: rule as u32, part: at.0, row: at.1, expected, found, what });
        }
    }

    /// Whether a rule has a fault.
    pub(super) const fn failed(&self, rule: usize) -> bool {
        self.faults[rule].is_some()
    }

    /// The verdicts of a check that went through everything, or stopped where rows had lost their meaning.
    pub(super) const fn verdicts(self, complete: bool) -> Verdicts {
        let mut reached = [complete; 13];
        let mut rule = 0;
        while rule < 13 {
            if self.faults[rule].is_some() {
                reached[rule] = true;
            }
            rule += 1;
        }
        Verdicts { faults: self.faults, obligations: self.obligations, reached }
    }
}

const fn word(n: i128) -> u64 {
    if n < 0 {
        0
    } else if n > u64::MAX as i128 {
        u64::MAX
    } else {
        n as u64
    }
}

/// Counts a comparison of a rule and notes a fault where it does not hold.
macro_rules! hold {
    ($ledger:expr, $rule:literal, $holds:expr, $at:expr, $expected:expr, $found:expr, $what:literal) => {{
        $ledger.obligations[$rule] += 1;
        if !$holds {
            $ledger.fault($rule, $at, $expected as i128, $found as i128, $what);
        }
    }};
}

/// [`hold!`] of an equality.
macro_rules! equal {
    ($ledger:expr, $rule:literal, $at:expr, $expected:expr, $found:expr, $what:literal) => {
        hold!($ledger, $rule, ($expected) == ($found), $at, $expected, $found, $what)
    };
}

/// Several comparisons of one rule at one row, counted at once: constant evaluation pays for every step, so where there are
/// many rows there is one addition for all. The number is checked while this crate is compiled.
macro_rules! holds {
    ($ledger:expr, $rule:literal * $count:literal, $at:expr,
     $($holds:expr => $expected:expr, $found:expr, $what:literal;)+) => {{
        const _: () = assert!([$($what),+].len() == $count, "comparisons as counted");
        $ledger.obligations[$rule] += $count;
        $(
            if !$holds {
                $ledger.fault($rule, $at, $expected as i128, $found as i128, $what);
            }
        )+
    }};
}

/// Whether a rule has a fault, without a call.
macro_rules! failed {
    ($ledger:expr, $rule:literal) => {
        if let Some(_) = $ledger.faults[$rule] { true } else { false }
    };
}

pub(super) use equal;
pub(super) use failed;
pub(super) use hold;
pub(super) use holds;
