//! CONFORMANCE.md: a line a tiny model, written by the tests that it tells of.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;

use logos_core::spec::{ModelSpec, inventory};

/// Tests run beside one another; the file is one.
static FILE: Mutex<()> = Mutex::new(());

const HEAD: &str = "\
# Conformance

Tiny models with random weights, one a family at least (`kimi_k2` is read as `deepseek_v3`), run every way there is and compared with transformers in float32: a full forward pass at
every position, cached decoding, both prompts as one batch, prefill whole and in chunks of one and five followed by decoding, and two and three
sequences prefilled together, each to a position of its own, followed by decoding as one batch. *Evaluated* is the program statement by statement, *executed* the bundle stage by stage and firing by firing, in the schedule's order and in
self-timed ones. A difference is the largest of any logit in any of them, at every width listed; tokens are those generated with a cache, the
same in every run. A wrong reading of one key of a config moves a logit by 1e-3 or more.

Written by `UPDATE_EXPECT=1 cargo test -p logos-core --test reference`, which without `UPDATE_EXPECT` holds each run to its line.

| model | weights | parameters | tensors | chips | evaluated | executed | at most | tokens |
|---|---|---:|---:|---|---:|---:|---:|---|
";

/// What is told of a model.
pub(crate) struct Line<'a> {
    pub(crate) name: &'a str,
    /// How the checkpoint stores them.
    pub(crate) weights: &'a str,
    pub(crate) spec: &'a ModelSpec,
    pub(crate) widths: &'a [u32],
    /// Largest differences of a logit.
    pub(crate) evaluated: f32,
    pub(crate) executed: f32,
    pub(crate) tolerance: f32,
    /// Tokens generated, all equal.
    pub(crate) tokens: usize,
}

impl Line<'_> {
    /// Holds what was measured to the line that is written, or writes it.
    #[track_caller]
    pub(crate) fn hold(&self) {
        let guard = FILE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "..", "CONFORMANCE.md"].iter().collect();
        let text = fs::read_to_string(&path).unwrap_or_default();
        let mut lines: BTreeMap<(String, String), String> = text
            .lines()
            .skip_while(|line| !line.starts_with("|---"))
            .skip(1)
            .filter_map(|line| {
                let cells = cells(line);
                Some(((cells.first()?.clone(), cells.get(1)?.clone()), line.to_owned()))
            })
            .collect();
        let key = (self.name.to_owned(), self.weights.to_owned());
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            lines.insert(key, self.text());
            let mut text = HEAD.to_owned();
            lines.values().for_each(|line| writeln!(text, "{line}").unwrap());
            fs::write(&path, text).unwrap();
            return;
        }
        drop(guard);
        let Some(line) = lines.get(&key) else {
            panic!(
                "CONFORMANCE.md has no line of {} with {} weights: UPDATE_EXPECT=1 writes it",
                self.name, self.weights
            );
        };
        let (found, written) = (cells(&self.text()), cells(line));
        for column in 0..found.len() {
            let (found, written) = (&found[column], written.get(column).map_or("", String::as_str));
            if column == 5 || column == 6 {
                // Sums differ a little with the kernels of the processor.
                let [found, written] = [found.as_str(), written].map(|cell| cell.parse::<f32>().unwrap_or(f32::NAN));
                assert!(found <= 3.0 * written, "{}: {found} is more than the {written} of CONFORMANCE.md", self.name);
            } else {
                assert_eq!(found, written, "{}, column {column} of CONFORMANCE.md", self.name);
            }
        }
    }

    fn text(&self) -> String {
        let inventory = inventory(self.spec).unwrap();
        let chips: Vec<String> = self.widths.iter().map(u32::to_string).collect();
        format!(
            "| {} | {} | {} | {} | {} | {:.1e} | {:.1e} | {:.0e} | all {} equal |",
            self.name,
            self.weights,
            inventory.params,
            inventory.tensors,
            chips.join(", "),
            self.evaluated,
            self.executed,
            self.tolerance,
            self.tokens,
        )
    }
}

fn cells(line: &str) -> Vec<String> {
    line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
}
