//! Admission against what a serving stack accepts, and slices of whole models.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::Value;

use super::*;
use crate::config;
use crate::refusal::{At, Code};
use crate::spec::ModelSpec;

fn fixture(path: &str) -> Vec<u8> {
    let file = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures")).join(path);
    std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn model(config: &str) -> ModelSpec {
    config::read(&fixture(&format!("configs/{config}/config.json"))).unwrap()
}

/// The kinds of reason, without their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    QueryHeads,
    KvHeads,
    KeyHeads,
    ValueHeads,
    FeedForward,
    Expert,
    SharedExpert,
    Vocabulary,
    /// Blocks of a quantised weight that a chip would cut.
    Blocks,
    /// The tower of a model that also sees.
    Vision,
}

/// The kind of one of ours; none for what the models there have not.
fn ours(reason: SplitReason) -> Kind {
    match reason {
        SplitReason::QueryHeads { .. } | SplitReason::LatentHeads { .. } => Kind::QueryHeads,
        SplitReason::KvHeads { .. } => Kind::KvHeads,
        SplitReason::KeyHeads { .. } => Kind::KeyHeads,
        SplitReason::ValueHeads { .. } => Kind::ValueHeads,
        SplitReason::FeedForward { .. } => Kind::FeedForward,
        SplitReason::Expert { .. } => Kind::Expert,
        SplitReason::SharedExpert { .. } => Kind::SharedExpert,
        SplitReason::Vocabulary { .. } => Kind::Vocabulary,
        SplitReason::NoChips | SplitReason::WholeRowNorm { .. } | SplitReason::Experts { .. } => panic!("{reason}"),
    }
}

/// The kind of one of theirs.
fn theirs(reason: &str) -> Kind {
    let has = |word: &str| reason.contains(word);
    let kinds = [
        (has("vision"), Kind::Vision),
        (has("FP8 block_") || has("AWQ groups"), Kind::Blocks),
        (has("attention heads"), Kind::QueryHeads),
        (has("KV heads"), Kind::KvHeads),
        (has("GDN key width") || has("GDN in_proj_qkvz width") || has("k-heads //"), Kind::KeyHeads),
        (has("GDN value width") || has("v-heads %"), Kind::ValueHeads),
        (has("shared-expert width"), Kind::SharedExpert),
        (has("expert intermediate") && !has("FP8"), Kind::Expert),
        (has("intermediate") && !has("expert") && !has("AWQ"), Kind::FeedForward),
        (has("vocab "), Kind::Vocabulary),
    ];
    let named: Vec<Kind> = kinds.into_iter().filter(|(found, _)| *found).map(|(_, kind)| kind).collect();
    match named[..] {
        [kind] => kind,
        _ => panic!("not one kind but {named:?} for: {reason}"),
    }
}

/// Who has the reason that the other has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Whose {
    Ours,
    Theirs,
}

/// Differences of one reason on purpose.
struct Class {
    kind: Kind,
    whose: Whose,
    /// Models and widths.
    at: &'static [(&'static str, &'static [u64])],
    they: &'static str,
    we: &'static str,
    why: &'static str,
}

const CLASSES: &[Class] = &[
    Class {
        kind: Kind::Vision,
        whose: Whose::Theirs,
        at: &[("Gemma-3-27B", &[3, 5, 6, 7, 12, 14, 24, 28, 32]), ("Qwen3.5-27B", &[3, 5, 6, 7, 12, 14, 24, 28, 32])],
        they: "refuses: the vision tower's heads and widths do not divide, even where the model is served without it",
        we: "no reason",
        why: "programs are of the language model alone; its admission does not depend on what stands before it",
    },
    Class {
        kind: Kind::KeyHeads,
        whose: Whose::Ours,
        at: &[
            ("Qwen3-Next-80B-A3B", &[3, 6, 12, 24]),
            ("Qwen3-Next-80B-A3B-FP8, blocks of 128x128", &[3, 6, 12, 24]),
            ("Qwen3.5-27B", &[32]),
        ],
        they: "compares the columns of all Gated DeltaNet key heads with the width, and fails at the first step",
        we: "a reason: the 16 key heads do not divide",
        why: "a key head's recurrence is whole on a chip",
    },
    Class {
        kind: Kind::KvHeads,
        whose: Whose::Theirs,
        at: &[("gpt-oss-20b", &[16, 32]), ("gpt-oss-120b", &[16, 32])],
        they: "divides by zero: gpt-oss takes 8 // width KV heads, and does not replicate them",
        we: "admitted: each KV head lies on 2 or 4 chips",
        why: "a group of query heads finds its KV head on its own chip, as in every other model",
    },
    Class {
        kind: Kind::KvHeads,
        whose: Whose::Ours,
        at: &[("gpt-oss-20b", &[3, 5, 6, 7, 12, 14, 28]), ("gpt-oss-120b", &[3, 5, 6, 7, 12, 14, 28])],
        they: "does not compare gpt-oss's KV heads with the width (the query heads are refused before)",
        we: "a reason beside the query heads'",
        why: "every reason is told, not the first",
    },
    Class {
        kind: Kind::Blocks,
        whose: Whose::Theirs,
        at: &[
            ("DeepSeek-V3", &[32]),
            ("Qwen2.5-72B-AWQ, groups of 128", &[2, 4, 6, 8, 12, 14, 16, 24, 28, 32]),
            ("Qwen3-30B-A3B-FP8, blocks of 128x128", &[4, 8, 12, 16, 24, 32]),
            ("Qwen3-Next-80B-A3B-FP8, blocks of 128x128", &[8, 16, 32]),
        ],
        they: "refuses: a chip's inputs or outputs cut a block of weights that share a scale",
        we: "no reason, but a note: `cargo logos check --explain-widths` and the deployment say which weights",
        why: "a weight whose blocks would be cut is read dense, in the config's dtype: it takes more bytes, and computes the same",
    },
];

/// Their reasons and ours, model by model and width by width, where they are not the same.
fn differences() -> Vec<(String, u64, Kind, Whose)> {
    let table: Value = serde_json::from_slice(&fixture("tp_admission.json")).unwrap();
    let rows = table["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 266);
    let mut models: BTreeMap<&str, ModelSpec> = BTreeMap::new();
    let mut differences = Vec::new();
    for row in rows {
        let text = |key: &str| row[key].as_str().unwrap();
        let (name, tp) = (text("model"), row["tp"].as_u64().unwrap());
        let spec = models.entry(text("config")).or_insert_with_key(|config| model(config));
        let got: BTreeSet<Kind> = admission(spec, tp as u32).into_iter().map(ours).collect();
        let reasons = row["reasons"].as_array().unwrap().iter().map(|reason| reason.as_str().unwrap());
        let expected: BTreeSet<Kind> = reasons.map(theirs).collect();
        let only = |whose, a: &BTreeSet<Kind>, b: &BTreeSet<Kind>| {
            a.difference(b).map(|&kind| (name.to_owned(), tp, kind, whose)).collect::<Vec<_>>()
        };
        differences.extend(only(Whose::Ours, &got, &expected));
        differences.extend(only(Whose::Theirs, &expected, &got));
    }
    differences
}

/// T3: every reason, for every row, is that of a serving stack but for the differences listed, each of which occurs.
#[test]
fn reasons_are_those_of_a_serving_stack_but_for_the_differences_listed() {
    let found: BTreeSet<(String, u64, Kind, Whose)> = differences().into_iter().collect();
    let listed = CLASSES.iter().flat_map(|Class { kind, whose, at, .. }| {
        at.iter().flat_map(|(model, widths)| widths.iter().map(|&tp| ((*model).to_owned(), tp, *kind, *whose)))
    });
    let listed: BTreeSet<_> = listed.collect();
    let unlisted: Vec<_> = found.difference(&listed).collect();
    let unfound: Vec<_> = listed.difference(&found).collect();
    assert!(unlisted.is_empty() && unfound.is_empty(), "not listed: {unlisted:#?}\nnot found: {unfound:#?}");
}

/// The differences as the documentation of the module has them.
#[test]
fn differences_are_documented() {
    let mut text = "# Where admission differs from vLLM's\n\n\
        vLLM at 7cfb97e33791, its reasons read from its source for 19 models at 14 widths each (`tests/fixtures/tp_admission.json`); \
        a test holds every\nreason for every one of them to ours, and these are all that differ, on purpose.\n\n\
        | model, widths | vLLM | here | why |\n|---|---|---|---|\n"
        .to_owned();
    for Class { at, they, we, why, .. } in CLASSES {
        let widths = |(model, widths): &(&str, &[u64])| {
            let widths: Vec<String> = widths.iter().map(u64::to_string).collect();
            format!("{model}: {}", widths.join(", "))
        };
        let at: Vec<String> = at.iter().map(widths).collect();
        text += &format!("| {} | {they} | {we} | {why} |\n", at.join("; "));
    }
    text += "\nNot seen there, as each of these vocabularies is a multiple of 64: vLLM pads any other to one, whether asked or not; here \
        `vocab: padded` does,\nto a multiple of 64 and of the width, and without it a vocabulary that does not divide is a reason.\n";
    expect_test::expect_file!["differences.md"].assert_eq(&text);
    let table: Value = serde_json::from_slice(&fixture("tp_admission.json")).unwrap();
    let configs: BTreeSet<&str> =
        table["rows"].as_array().unwrap().iter().map(|r| r["config"].as_str().unwrap()).collect();
    assert!(configs.into_iter().all(|config| model(config).vocab.is_multiple_of(64)));
}

#[test]
fn admitted_widths_are_listed() {
    assert_eq!(widths(&model("qwen3.5-27b"), 16), [1, 2, 4, 8]);
    assert_eq!(widths(&model("llama-3.1-8b"), 64), [1, 2, 4, 8, 16, 32]);
    assert_eq!(widths(&model("qwen2-7b-instruct"), 64), [1, 2, 4]);
    assert_eq!(widths(&model("smollm2-135m"), 9), [1, 3]);
}

#[test]
fn a_width_is_refused_with_every_reason_and_the_widths_that_do() {
    let at = At::Request;
    let spec = model("qwen3.5-27b");
    let refused = |tp| -> Vec<(Code, String)> {
        let refusals = admits(&spec, tp, 16, &at).unwrap_err();
        let help = "widths admitted up to 16: 1, 2, 4, 8";
        assert!(refusals.iter().all(|refusal| refusal.help.as_deref() == Some(help) && refusal.at == at));
        refusals.into_iter().map(|refusal| (refusal.code, refusal.message)).collect()
    };
    assert_eq!(admits(&spec, 8, 16, &at), Ok(()));
    assert_eq!(refused(0), [(Code::TpWidth, "a model does not run on 0 chips".into())]);
    assert_eq!(refused(16), [(Code::TpSplit, "the 24 query heads do not split over 16 chips".into())]);
    let five = [
        "the 16 gated deltanet key heads do not split over 5 chips",
        "the 48 gated deltanet value heads do not split over 5 chips",
        "the 17408 feed-forward columns do not split over 5 chips",
        "the 24 query heads do not split over 5 chips",
        "the 4 KV heads do not replicate evenly over 5 chips",
    ];
    assert_eq!(refused(5), five.map(|message| (Code::TpSplit, message.to_owned())));
    let wide = refused(24);
    assert_eq!(wide[0], (Code::TpWidth, "24 chips are more than the 16 of the chip's domain".into()));
    assert_eq!(wide.last().unwrap().1, "the 248320 vocabulary rows do not split over 24 chips");
}
