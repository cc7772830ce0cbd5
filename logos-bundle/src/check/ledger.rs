//! Where rules write what they compared and what they found.

use super::{Fault, Verdicts};

/// Verdicts in the making.
pub(super) struct Ledger {
    pub(super) faults: [Option<Fault>; 13],
    /// Comparisons by rule: fields, as constant evaluation pays for an index into an array as much as for the sum.
    pub(super) obligations: Counts,
    /// Rules with a fault, as a bit set.
    pub(super) failed: u32,
    /// A rule whose faults are not noted; 13 for none.
    ignored: usize,
}

/// A number a rule.
type Counts = (u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64);

/// A row: its part of the table, and its place in the part.
#[derive(Clone, Copy)]
pub(super) struct At(pub(super) u32, pub(super) u32);

/// Parts of the table by number, for [`At`]: constant evaluation pays for every conversion.
pub(super) mod part {
    use crate::table::layout::Part;

    pub(in super::super) const DEPLOYMENT: u32 = Part::Deployment as u32;
    pub(in super::super) const CHIP: u32 = Part::Chip as u32;
    pub(in super::super) const PROGRAMS: u32 = Part::Programs as u32;
    pub(in super::super) const SECTIONS: u32 = Part::Sections as u32;
    pub(in super::super) const VALUES: u32 = Part::Values as u32;
    pub(in super::super) const STATEMENTS: u32 = Part::Statements as u32;
    pub(in super::super) const STAGES: u32 = Part::Stages as u32;
    pub(in super::super) const EDGES: u32 = Part::Edges as u32;
    pub(in super::super) const TURNS: u32 = Part::Turns as u32;
    pub(in super::super) const ROPES: u32 = Part::Ropes as u32;
    pub(in super::super) const BINDINGS: u32 = Part::Bindings as u32;
    pub(in super::super) const LAYERS: u32 = Part::Layers as u32;
    pub(in super::super) const FACTORS: u32 = Part::Factors as u32;
}

impl Ledger {
    pub(super) const fn new() -> Ledger {
        Ledger::without(13)
    }

    /// A ledger that notes no fault of a rule.
    pub(super) const fn without(rule: usize) -> Ledger {
        Ledger { faults: [None; 13], obligations: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), failed: 0, ignored: rule }
    }

    /// Notes a fault, unless its rule has one already.
    pub(super) const fn fault(&mut self, rule: usize, at: At, expected: i128, found: i128, what: &'static str) {
        if self.faults[rule].is_none() && rule != self.ignored {
            let (expected, found) = (word(expected), word(found));
            self.failed |= 1 << rule;
            self.faults[rule] = Some(Fault { rule: rule as u32, part: at.0, row: at.1, expected, found, what });
        }
    }

    /// How many comparisons each rule made.
    pub(super) const fn obligations(&self) -> [u64; 13] {
        let (a, b, c, d, e, f, g, h, i, j, k, m, n) = self.obligations;
        [a, b, c, d, e, f, g, h, i, j, k, m, n]
    }

    /// The verdicts of a check that went through everything, or stopped where rows had lost their meaning.
    pub(super) const fn verdicts(self, complete: bool) -> Verdicts {
        let mut reached = [complete; 13];
        let mut rule = 0;
        while rule < 13 {
            if self.failed & 1 << rule != 0 {
                reached[rule] = true;
            }
            rule += 1;
        }
        Verdicts { faults: self.faults, obligations: self.obligations(), reached }
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
    ($ledger:expr, $rule:tt, $holds:expr, $at:expr, $expected:expr, $found:expr, $what:literal) => {{
        $ledger.obligations.$rule += 1;
        if !$holds {
            $ledger.fault($rule, $at, $expected as i128, $found as i128, $what);
        }
    }};
}

/// [`hold!`] of an equality.
macro_rules! equal {
    ($ledger:expr, $rule:tt, $at:expr, $expected:expr, $found:expr, $what:literal) => {
        hold!($ledger, $rule, ($expected) == ($found), $at, $expected, $found, $what)
    };
}

/// Several comparisons of one rule at one row, counted at once: constant evaluation pays for every step, so where there are
/// many rows there is one addition for all. The number is checked while this crate is compiled.
macro_rules! holds {
    ($ledger:expr, $rule:tt * $count:literal, $($rest:tt)+) => {{
        $ledger.obligations.$rule += $count;
        $crate::check::ledger::each!($ledger, $rule * $count, $($rest)+);
    }};
}

/// [`holds!`] without the count, for rows whose comparisons [`count!`] counts. A comparison is a condition or, cheaper where a
/// field is compared with constants, `let pattern = field`: that takes no copy of it.
///
/// Where the variables that the comparisons are made of are given, `of [name: type]`, which of them fails is told in a function
/// of its own. rustc reads a function when it is first called, and pays at every call for each of its statements, executed
/// or not; what only a faulty table needs then costs a good one nothing. `else` says where to go on after a fault.
macro_rules! each {
    ($ledger:expr, $rule:tt * $count:literal, $at:expr, of [$($name:ident: $of:ty),+] $(else $then:expr)?, $($items:tt)+) => {
        $crate::check::ledger::unless!([] $($items)+ {
            #[allow(clippy::too_many_arguments, reason = "as many as the comparisons have variables")]
            const fn faults(l: &mut $crate::check::ledger::Ledger, at: $crate::check::ledger::At, $($name: $of),+) {
                $crate::check::ledger::each!(l, $rule * $count, at, $($items)+);
            }
            faults($ledger, $at, $($name),+);
            $($then)?
        });
    };
    ($ledger:expr, $rule:tt * $count:literal, $at:expr, $($items:tt)+) => {{
        const _: () = assert!($crate::check::ledger::counted!($($items)+) == $count, "comparisons as counted");
        $crate::check::ledger::one_by_one!($ledger, $rule, $at, $($items)+);
    }};
}

/// Runs a block unless all comparisons hold.
macro_rules! unless {
    ([$($all:tt)*] let $pattern:pat = $field:expr => $expected:expr, $found:expr, $what:literal; $($rest:tt)+) => {
        $crate::check::ledger::unless!([$($all)* [let $pattern = $field]] $($rest)+)
    };
    ([$($all:tt)*] $holds:expr => $expected:expr, $found:expr, $what:literal; $($rest:tt)+) => {
        $crate::check::ledger::unless!([$($all)* [$holds]] $($rest)+)
    };
    ([[$($first:tt)+] $([$($other:tt)+])*] $block:block) => {
        if $($first)+ $(&& $($other)+)* {} else $block
    };
}

/// Notes the fault of each comparison that does not hold.
macro_rules! one_by_one {
    ($ledger:expr, $rule:tt, $at:expr, let $pattern:pat = $field:expr => $expected:expr, $found:expr, $what:literal; $($rest:tt)*) => {
        if let $pattern = $field {} else {
            $ledger.fault($rule, $at, $expected as i128, $found as i128, $what);
        }
        $crate::check::ledger::one_by_one!($ledger, $rule, $at, $($rest)*);
    };
    ($ledger:expr, $rule:tt, $at:expr, $holds:expr => $expected:expr, $found:expr, $what:literal; $($rest:tt)*) => {
        if !$holds {
            $ledger.fault($rule, $at, $expected as i128, $found as i128, $what);
        }
        $crate::check::ledger::one_by_one!($ledger, $rule, $at, $($rest)*);
    };
    ($ledger:expr, $rule:tt, $at:expr,) => {};
}

/// How many comparisons these are.
macro_rules! counted {
    (let $pattern:pat = $field:expr => $expected:expr, $found:expr, $what:literal; $($rest:tt)*) => {
        1 + $crate::check::ledger::counted!($($rest)*)
    };
    ($holds:expr => $expected:expr, $found:expr, $what:literal; $($rest:tt)*) => {
        1 + $crate::check::ledger::counted!($($rest)*)
    };
    () => {
        0
    };
}

/// Counts so many comparisons of each of these rules for each of `n` rows: one sum for all of them.
macro_rules! count {
    ($ledger:expr, $n:expr, $($rule:tt * $count:literal),+) => {{
        let n = $n as u64;
        $($ledger.obligations.$rule += $count * n;)+
    }};
}

/// Whether one of these rules has a fault, without a call and without a shift to evaluate.
macro_rules! failed {
    ($ledger:expr, $($rule:tt)|+) => {
        $ledger.failed & ($($crate::check::ledger::bit!($rule))|+) != 0
    };
}

/// The bit of a rule that later rows depend on.
macro_rules! bit {
    (0) => {
        0x1
    };
    (1) => {
        0x2
    };
    (2) => {
        0x4
    };
    (3) => {
        0x8
    };
    (4) => {
        0x10
    };
    (5) => {
        0x20
    };
    (11) => {
        0x800
    };
}

pub(super) use bit;
pub(super) use count;
pub(super) use counted;
pub(super) use each;
pub(super) use equal;
pub(super) use failed;
pub(super) use hold;
pub(super) use holds;
pub(super) use one_by_one;
pub(super) use unless;
