//! Faults in words: at compile time by a panic, at run time by `Display`.

use super::{Fault, HEADER, RULES, Verdicts};
use core::fmt;

/// Names of the parts of a table, by number.
const PARTS: [&str; 15] = [
    "deployment",
    "chip",
    "programs",
    "sections",
    "values",
    "statements",
    "stages",
    "edges",
    "turns",
    "ropes",
    "bindings",
    "layers",
    "digests",
    "strings",
    "factors",
];

/// Does nothing if `rule` has no fault, and otherwise panics with the fault in words: in a constant, a compile error at
/// the caller. A rule the checker did not get to passes here (the rule that stopped it has the fault), so a
/// certificate holds when all thirteen are confirmed.
///
/// # Panics
/// If `rule` has a fault, if it is no rule's number, or if no rule has a fault and yet `rule` was not reached.
#[track_caller]
pub const fn confirm(verdicts: &Verdicts, rule: usize) {
    if rule >= 13 {
        panic!("there are thirteen rules, 0 to 12");
    }
    if let Some(fault) = &verdicts.faults[rule] {
        let text = Text::of(fault);
        let (used, _) = text.bytes.split_at(text.len);
        match core::str::from_utf8(used) {
            Ok(message) => panic!("{}", message),
            Err(_) => panic!("a rule of the certificate does not hold"),
        }
    }
    if !verdicts.reached[rule] && verdicts.first_fault().is_none() {
        panic!("the certificate was not checked");
    }
}

/// A message under construction; what does not fit is left out.
struct Text {
    bytes: [u8; 512],
    len: usize,
}

impl Text {
    const fn of(fault: &Fault) -> Text {
        let mut text = Text { bytes: [0; 512], len: 0 };
        text.push("LOGOS certificate: rule ");
        text.number(fault.rule as u64);
        text.push(" (");
        text.push(if (fault.rule as usize) < 13 { RULES[fault.rule as usize] } else { "unknown" });
        text.push(") does not hold\n  ");
        text.push(part_name(fault.part));
        text.push(", row ");
        text.number(fault.row as u64);
        text.push(": ");
        text.push(fault.what);
        text.push("\n  expected ");
        text.number(fault.expected);
        text.push("\n     found ");
        text.number(fault.found);
        text
    }

    const fn push(&mut self, s: &str) {
        let bytes = s.as_bytes();
        let mut i = 0;
        while i < bytes.len() && self.len < self.bytes.len() {
            self.bytes[self.len] = bytes[i];
            self.len += 1;
            i += 1;
        }
    }

    const fn number(&mut self, n: u64) {
        let mut digits = [0u8; 20];
        let mut first = 20;
        let mut rest = n;
        loop {
            first -= 1;
            digits[first] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        while first < 20 && self.len < self.bytes.len() {
            self.bytes[self.len] = digits[first];
            self.len += 1;
            first += 1;
        }
    }
}

const fn part_name(part: u32) -> &'static str {
    if part == HEADER {
        "header"
    } else if (part as usize) < PARTS.len() {
        PARTS[part as usize]
    } else {
        "unknown part"
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rule = RULES.get(self.rule as usize).copied().unwrap_or("unknown");
        write!(
            f,
            "rule {} ({rule}): {}, row {}: {}: expected {}, found {}",
            self.rule,
            part_name(self.part),
            self.row,
            self.what,
            self.expected,
            self.found
        )
    }
}

impl core::error::Error for Fault {}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    const FAULT: Fault =
        Fault { rule: 6, part: 7, row: 12, expected: u64::MAX, found: 0, what: "start of the consumer, at least" };

    fn with(fault: Fault) -> Verdicts {
        let mut verdicts = Verdicts { faults: [None; 13], obligations: [0; 13], reached: [true; 13] };
        verdicts.faults[fault.rule as usize] = Some(fault);
        verdicts
    }

    #[test]
    #[should_panic(expected = "rule 6 (time) does not hold\n  edges, row 12: start of the consumer, at least\n  \
                               expected 18446744073709551615\n     found 0")]
    fn a_confirmed_fault_is_a_readable_panic() {
        confirm(&with(FAULT), 6);
    }

    #[test]
    fn other_rules_pass_and_the_fault_displays() {
        confirm(&with(FAULT), 5);
        assert_eq!(
            FAULT.to_string(),
            "rule 6 (time): edges, row 12: start of the consumer, at least: expected 18446744073709551615, found 0"
        );
        assert!(!with(FAULT).hold());
        assert_eq!(with(FAULT).first_fault(), Some(FAULT));
    }

    #[test]
    #[should_panic(expected = "not checked")]
    fn an_unchecked_table_is_not_confirmed() {
        confirm(&Verdicts { faults: [None; 13], obligations: [0; 13], reached: [false; 13] }, 3);
    }
}
