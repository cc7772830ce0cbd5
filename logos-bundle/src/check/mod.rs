//! The independent checker of RULES.md: constant functions over rows of words.
//!
//! Input: the words of a table and nothing else. Output: [`Verdicts`], one a rule. It does not know the compiler, and
//! trusts nothing that can be derived again from the statements, the values and the chip.
//!
//! Everything is a `const fn` without allocation: rustc evaluates it while it compiles the user's crate, and the same
//! function serves at run time. Arithmetic is exact by width, not by overflow checks (a constant function carries the
//! profile of the crate it was built in): rule 0 bounds every number it lets through, and what is made of bounded numbers
//! is formed in 128 bits.
//!
//! What it costs rustc: a decode of Qwen3.5-27B (four programs, 673 rows of which 111 are text, 13,000 comparisons) about
//! 65 ms, two fifths of them in matching stages and edges; of the 2,000,000 calls and loop turns that rustc lets a
//! constant take, below 10,000. Nothing is optimised before it is evaluated, and each of these was measured to matter:
//!
//! - A row is copied whole and its fields are read by name (`rows.rs`): taken apart, every word is a step.
//! - A field is compared with constants by a pattern, which takes no copy of it, and most sums have an overflow check.
//! - Comparisons of many rows are counted at once, and which of them fails is told in functions that no good table calls:
//!   every statement of a function costs when rustc decodes it and again at each call, executed or not.
//! - There are few calls in the loops over rows (a slice's `len` is one), and what is called often is short.
//! - No constant is large, as rustc validates every field of one.
//!
//! A step of the evaluation is some thousand instructions, whatever it does: a sum of two locals is four, a comparison with a
//! literal by a pattern two, any other three, a call ten and one more for every fifty statements of the callee.

mod attending;
mod chosen;
mod edges;
mod expected;
mod experts;
mod frame;
mod heads;
mod interval;
mod ledger;
mod matching;
mod mixing;
mod model;
mod operands;
mod padding;
mod parts;
mod place;
mod program;
mod range;
mod recurring;
mod report;
mod rows;
mod section;
mod shape;
mod sharding;
mod slices;
mod state;
#[cfg(test)]
mod tests;

use crate::table;
use crate::table::layout::{header, program as program_row};
use frame::Frame;
use ledger::{At, Ledger, equal, failed, hold, part};
use model::Totals;
use program::{Program, Statement, Value};
use section::Section;

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

/// Firings, cells, tokens, tiles and chip words stay below this, 2^22.
const RANGE_LIMIT: u32 = 1 << 22;
/// Rows, columns and copies of a value are at most this, 2^30.
const SHAPE_LIMIT: u32 = 1 << 30;
/// Values a program may have.
const MAX_VALUES: usize = 512;
/// Statements a program may have.
const MAX_STATEMENTS: usize = 512;
/// Stages a section may have.
const MAX_STAGES: usize = 256;
/// Turns a section may have.
const MAX_TURNS: usize = 64;

/// Checks every rule of RULES.md on a table.
pub const fn all(words: &[u32]) -> Verdicts {
    checked(words, Ledger::new())
}

/// Checks every rule but one, as if that one always held: for tests that ask what each rule is needed for. Without
/// rule 0, 1 or 11 the others may meet rows they cannot read, and panic.
#[doc(hidden)]
#[must_use]
pub const fn all_but(words: &[u32], rule: usize) -> Verdicts {
    checked(words, Ledger::without(rule))
}

const fn checked(words: &[u32], mut ledger: Ledger) -> Verdicts {
    let l = &mut ledger;
    let Some(frame) = frame::frame(words, l) else {
        return ledger.verdicts(false);
    };
    digest(words, l);
    range::rows(&frame, l);
    if failed!(l, 0) {
        return ledger.verdicts(false);
    }
    let complete = programs(&frame, l);
    if complete {
        vacuous(l);
    }
    ledger.verdicts(complete)
}

const fn digest(words: &[u32], l: &mut Ledger) {
    let found = words[header::DIGEST] as u64 | (words[header::DIGEST + 1] as u64) << 32;
    equal!(l, 12, At(HEADER, 0), table::digest(words), found, "digest of the table");
}

/// Goes through all programs; `false` where a fault stopped it.
const fn programs(frame: &Frame<'_>, l: &mut Ledger) -> bool {
    model::layers(frame, l);
    let mut totals = Totals::NOTHING;
    let mut values = [Value::NOTHING; MAX_VALUES];
    let mut section = Section::none();
    let count = frame.programs.len();
    let mut i = 0;
    while i < count {
        model::runs(frame, i, l);
        if !program(frame, i, &mut values, &mut section, &mut totals, l) {
            return false;
        }
        i += 1;
    }
    totals.close(frame, l);
    true
}

const fn program(
    frame: &Frame<'_>,
    index: usize,
    values: &mut [Value; MAX_VALUES],
    s: &mut Section,
    totals: &mut Totals,
    l: &mut Ledger,
) -> bool {
    let row = &frame.programs[index];
    let at = At(part::PROGRAMS, index as u32);
    let mut p = Program::new(frame, row, at, values, l);
    if failed!(l, 0 | 1 | 11) {
        return false;
    }
    let p = &mut p;
    let count = p.statement_count;
    let mut i = 0;
    while i < count {
        let st = Statement::read(p, i);
        shape::statement(p, &st, l);
        if failed!(l, 1 | 2) {
            return false;
        }
        sharding::statement(p, &st, l);
        state::statement(p, &st, l);
        i += 1;
    }
    p.close(l);
    slices::bindings(p, row[program_row::BINDINGS], row[program_row::BINDINGS + 1], l);
    // Local heads and columns mean something only where the cuts are as the rules say.
    if failed!(l, 1 | 11) {
        return false;
    }
    let (first, sections) = (row[program_row::SECTIONS], row[program_row::SECTIONS + 1]);
    let mut i = first;
    while i < first + sections {
        s.open(p, i, l);
        if failed!(l, 3) || !matching::matched(p, s, l) {
            return false;
        }
        interval::section(p, s, l);
        let scratch = s.end + p.resident;
        if scratch > totals.scratch {
            totals.scratch = scratch;
        }
        i += 1;
    }
    matching::close(p, at, l);
    totals.add(p);
    totals.hands_on(p, l);
    !failed!(l, 1)
}

/// A rule that had nothing to compare has not been checked. Only a table without states has nothing for rule 10, and
/// that there are none is itself compared there.
const fn vacuous(l: &mut Ledger) {
    let obligations = l.obligations();
    let mut rule = 0;
    while rule < 13 {
        if obligations[rule] == 0 {
            l.fault(rule, At(HEADER, 0), 1, 0, "comparisons of this rule, at least");
        }
        rule += 1;
    }
}
