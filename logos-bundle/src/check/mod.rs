//! The independent checker of RULES.md: constant functions over rows of words.
//!
//! Input: the words of a table and nothing else. Output: [`Verdicts`], one a rule. It does not know the compiler, and
//! trusts nothing that can be derived again from the statements, the values and the chip.
//!
//! Everything is a `const fn` without allocation: rustc evaluates it while it compiles the user's crate, and the same
//! function serves at run time. Arithmetic is exact by width, not by overflow checks (a constant function carries the
//! profile of the crate it was built in): rule 0 bounds every number it lets through, products
//! of bounded numbers are formed in 64 bits, sums of products and triple products in 128.

mod report;

pub use report::confirm;

/// Names of the rules, by number.
pub const RULES: [&str; 13] = [
    "range", "shape", "payload", "coverage", "net", "balance", "time", "space", "tight", "place", "state", "sharding",
    "digest",
];

/// What a rule found at a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Number of the rule, 0 to 12.
    pub rule: u32,
    /// Part of the table the row is in: a [`Part`](crate::table::layout::Part) as a number, or [`HEADER`].
    pub part: u32,
    /// Row, counted from the part's first.
    pub row: u32,
    /// What the rule derives (a bound, where `what` says *at most* or *at least*).
    pub expected: u64,
    /// What the table says.
    pub found: u64,
    /// The quantity.
    pub what: &'static str,
}

/// [`Fault::part`] of a fault in the header.
pub const HEADER: u32 = u32::MAX;

/// What the checker has to say of a table, a rule at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdicts {
    /// The first fault of each rule.
    pub faults: [Option<Fault>; 13],
    /// How many comparisons each rule made.
    pub obligations: [u64; 13],
    /// Whether the checker went through all of a rule. It stops where a fault leaves later rows without a meaning; a rule
    /// without fault that was not gone through says nothing, and then some other rule has a fault.
    pub reached: [bool; 13],
}

impl Verdicts {
    /// Whether the certificate holds: every rule was gone through and none has a fault.
    pub const fn hold(&self) -> bool {
        let mut rule = 0;
        while rule < 13 {
            if self.faults[rule].is_some() || !self.reached[rule] {
                return false;
            }
            rule += 1;
        }
        true
    }

    /// The fault of the lowest rule that has one.
    pub const fn first_fault(&self) -> Option<Fault> {
        let mut rule = 0;
        while rule < 13 {
            if self.faults[rule].is_some() {
                return self.faults[rule];
            }
            rule += 1;
        }
        None
    }
}

/// Checks every rule of RULES.md on a table.
pub const fn all(words: &[u32]) -> Verdicts {
    let _ = words;
    Verdicts { faults: [None; 13], obligations: [0; 13], reached: [false; 13] }
}
