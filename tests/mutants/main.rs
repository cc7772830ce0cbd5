//! Mutations of what the compiler puts out: each must be rejected, and by a rule that is meant to.
//!
//! The bundles of `subjects` are taken apart into rows, changed through the layout's names and sealed again with a digest
//! that agrees, so that rule 12 hides nothing. A mutant's rules stand where it is made: `Kind("a credit less", &[0, 7])` must
//! be rejected by rule 0 or rule 7, and may be by others besides. Which rules did reject which, and which alone:
//!
//! ```text
//! cargo test -p logos-tests --test mutants matrix -- --nocapture
//! ```
//!
//! `payload` has what only a program's text contradicts, `words` every word that a table holds by choice, `accepted` what must
//! not be rejected, `damage` what no compiler makes.

mod accepted;
mod coverage;
mod damage;
mod frame;
mod manifest;
mod net;
mod payload;
mod places;
mod sharding;
mod space;
mod state;
mod subjects;
mod table;
mod timing;
mod trial;
mod words;

use std::sync::LazyLock;
use std::thread;

use logos_bundle::check::RULES;

use subjects::{Subject, big, small};
use trial::{Tally, Trial};

/// Every mutant of every subject, made once for all tests.
static TALLY: LazyLock<Tally> = LazyLock::new(|| {
    let subjects: Vec<&Subject> = small().iter().chain(big()).collect();
    let halves = thread::scope(|scope| {
        let half = |at: usize| {
            let subjects: Vec<&Subject> = subjects.iter().skip(at).step_by(2).copied().collect();
            scope.spawn(move || mutate(&subjects))
        };
        [half(0), half(1)].map(|half| half.join().expect("no panic on a mutant"))
    });
    halves.into_iter().fold(Tally::default(), |mut all, half| {
        all.add(half);
        all
    })
});

fn mutate(subjects: &[&Subject]) -> Tally {
    let mut tally = Tally::default();
    for subject in subjects {
        let trial = &mut Trial { subject, tally: &mut tally };
        net::run(trial);
        timing::run(trial);
        space::run(trial);
        coverage::run(trial);
        sharding::run(trial);
        state::run(trial);
        manifest::run(trial);
        frame::run(trial);
    }
    tally
}

#[test]
fn every_mutant_is_rejected_by_a_rule_that_is_meant_to() {
    let wrong = TALLY.wrong();
    let shown: Vec<&str> = wrong.iter().take(40).map(String::as_str).collect();
    assert!(wrong.is_empty(), "{} of {} mutants:\n{}", wrong.len(), TALLY.made(), shown.join("\n"));
}

/// The kill matrix: without any one rule some mutant would pass, so none of them is dead or said twice. It is not by what
/// stops the checker: the mutant is checked again with that one rule silent.
#[test]
fn matrix() {
    println!("{}", *TALLY);
    for (rule, name) in RULES.iter().enumerate() {
        assert!(TALLY.needed(rule) > 0, "no mutant shows what rule {rule} ({name}) is needed for");
    }
}
