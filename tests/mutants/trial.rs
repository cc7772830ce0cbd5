//! Making a mutant, checking it, and keeping count of which rule rejects what.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::panic::catch_unwind;

use logos_bundle::check::{RULES, Verdicts, all, all_but};

use super::subjects::Subject;
use super::table::{Table, seal};

/// A kind of mutant: what it does, and the rules one of which has to reject it.
#[derive(Clone, Copy)]
pub(crate) struct Kind(pub(crate) &'static str, pub(crate) &'static [usize]);

/// Mutants of a kind, of one subject and rule, that are checked again without the rule.
const TRIED: u32 = 4;
/// Kinds that only rule 0 has a word for and that no other rule reads. Others may not be shown the rest: rows that rule 0
/// refuses are no rows to them.
const UNREAD: [&str; 2] = ["string past the strings", "reserved word"];

/// What became of the mutants of a kind.
#[derive(Clone, Default)]
struct Count {
    rules: &'static [usize],
    /// Mutants made.
    made: u32,
    /// Of these, those a rule has a fault for.
    by: [u32; 13],
    /// Those that were checked again without the one rule that has a fault for them.
    tried: [u32; 13],
    /// Of these, those that are accepted then.
    needed: [u32; 13],
}

/// Mutants by kind.
#[derive(Default)]
pub(crate) struct Tally {
    kinds: BTreeMap<&'static str, Count>,
    wrong: Vec<String>,
}

/// Mutates one subject.
pub(crate) struct Trial<'s> {
    pub(crate) subject: &'s Subject,
    pub(crate) tally: &'s mut Tally,
}

impl<'s> Trial<'s> {
    /// The rows to be mutated.
    pub(crate) fn table(&self) -> &'s Table {
        &self.subject.table
    }

    /// Changes rows, seals the table, and expects a rule of the kind to reject it. A change that changes nothing is none.
    pub(crate) fn reject(&mut self, kind: Kind, site: impl Display, change: impl FnOnce(&mut Table)) {
        let mut table = self.subject.table.clone();
        change(&mut table);
        if table != self.subject.table {
            self.judge(kind, site, &table.words());
        }
    }

    /// Changes words and seals the table.
    pub(crate) fn reject_words(&mut self, kind: Kind, site: impl Display, change: impl FnOnce(&mut Vec<u32>)) {
        let mut words = self.subject.words.clone();
        change(&mut words);
        if words != self.subject.words {
            seal(&mut words);
            self.judge(kind, site, &words);
        }
    }

    /// Checks words that are a mutant as they are.
    pub(crate) fn judge(&mut self, Kind(name, rules): Kind, site: impl Display, words: &[u32]) {
        let verdicts = all(words);
        let count = self.tally.kinds.entry(name).or_insert_with(|| Count { rules, ..Count::default() });
        count.made += 1;
        let faulty: Vec<usize> = (0..13).filter(|&rule| verdicts.faults[rule].is_some()).collect();
        for &rule in &faulty {
            count.by[rule] += 1;
        }
        if let [rule] = faulty[..]
            && count.tried[rule] < TRIED
            && (rule != 0 || UNREAD.contains(&name))
        {
            count.tried[rule] += 1;
            // Rows that the rule would have refused may be no rows to the others.
            let accepted = catch_unwind(|| all_but(words, rule).hold()).unwrap_or(false);
            count.needed[rule] += u32::from(accepted);
        }
        if verdicts.hold() || !rules.iter().any(|rule| faulty.contains(rule)) {
            let found = Found(&verdicts);
            self.tally.wrong.push(format!("{}: {name}, {site}: {found}", self.subject.name));
        }
    }
}

/// The faults of verdicts.
struct Found<'a>(&'a Verdicts);

impl Display for Found<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.hold() {
            return f.write_str("accepted");
        }
        self.0.faults.iter().flatten().try_for_each(|fault| write!(f, "[{fault}] "))
    }
}

impl Tally {
    /// Mutants that were accepted, or that none of their rules rejects.
    pub(crate) fn wrong(&self) -> &[String] {
        &self.wrong
    }

    /// All mutants.
    pub(crate) fn made(&self) -> u32 {
        self.kinds.values().map(|count| count.made).sum()
    }

    /// Mutants that are accepted without this rule.
    pub(crate) fn needed(&self, rule: usize) -> u32 {
        self.kinds.values().map(|count| count.needed[rule]).sum()
    }

    /// Takes up another tally.
    pub(crate) fn add(&mut self, other: Tally) {
        self.wrong.extend(other.wrong);
        for (name, count) in other.kinds {
            let sum = self.kinds.entry(name).or_insert_with(|| Count { rules: count.rules, ..Count::default() });
            assert_eq!(sum.rules, count.rules, "{name} has one list of rules");
            sum.made += count.made;
            for rule in 0..13 {
                sum.by[rule] += count.by[rule];
                sum.tried[rule] += count.tried[rule];
                sum.needed[rule] += count.needed[rule];
            }
        }
    }
}

impl Display for Tally {
    /// Mutants of each kind, and how many each rule rejects; a `+` after those of which some are accepted without it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:46} {:>6}", "mutant", "made")?;
        RULES.iter().enumerate().try_for_each(|(rule, name)| write!(f, " {:>7}", format!("{rule}{}", &name[..3])))?;
        writeln!(f, "  expected")?;
        for (name, count) in &self.kinds {
            write!(f, "{name:46} {:>6}", count.made)?;
            for rule in 0..13 {
                let mark = if count.needed[rule] > 0 { "+" } else { "" };
                let by = if count.by[rule] == 0 { ".".to_owned() } else { format!("{}{mark}", count.by[rule]) };
                write!(f, " {by:>7}")?;
            }
            writeln!(f, "  {:?}", count.rules)?;
        }
        write!(f, "{:46} {:>6}", "accepted without the rule", self.made())?;
        (0..13).try_for_each(|rule| write!(f, " {:>7}", self.needed(rule)))
    }
}
