//! Admission against what a serving stack accepts, and slices of whole models.

use std::collections::BTreeSet;
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
    Vocabulary,
}

/// The kind of one of ours; none for what the families here have not.
fn ours(reason: SplitReason) -> Kind {
    match reason {
        SplitReason::QueryHeads { .. } => Kind::QueryHeads,
        SplitReason::KvHeads { .. } => Kind::KvHeads,
        SplitReason::KeyHeads { .. } => Kind::KeyHeads,
        SplitReason::ValueHeads { .. } => Kind::ValueHeads,
        SplitReason::FeedForward { .. } => Kind::FeedForward,
        SplitReason::Vocabulary { .. } => Kind::Vocabulary,
        SplitReason::NoChips
        | SplitReason::LatentHeads { .. }
        | SplitReason::WholeRowNorm { .. }
        | SplitReason::Expert { .. }
        | SplitReason::SharedExpert { .. } => panic!("{reason} of a dense model"),
    }
}

/// The kind of one of theirs; none for the vision tower, which no program of ours has.
fn theirs(reason: &str) -> Option<Kind> {
    let has = |word: &str| reason.contains(word);
    let kinds = [
        (has("attention heads"), Kind::QueryHeads),
        (has("KV heads"), Kind::KvHeads),
        (has("GDN key width"), Kind::KeyHeads),
        (has("GDN value width") || has("v-heads %"), Kind::ValueHeads),
        (has("intermediate"), Kind::FeedForward),
        (has("vocab "), Kind::Vocabulary),
    ];
    let named: Vec<Kind> = kinds.into_iter().filter(|(found, _)| *found).map(|(_, kind)| kind).collect();
    match named[..] {
        [kind] => Some(kind),
        [] if has("vision") => None,
        _ => panic!("no single kind for: {reason}"),
    }
}

/// Where we say more than they do, on purpose.
const DIFFERENCES: [(&str, u64, Kind, &str); 1] = [(
    "qwen3.5-27b",
    32,
    Kind::KeyHeads,
    "they compare the keys' 2,048 columns with the width, which divide, and fail at the first step as 16 heads do not",
)];

#[test]
fn reasons_are_those_of_a_serving_stack_but_for_the_differences_listed() {
    let table: Value = serde_json::from_slice(&fixture("tp_admission.json")).unwrap();
    let rows = table["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 70);
    let mut differences = Vec::new();
    for row in rows {
        let (config, tp) = (row["config"].as_str().unwrap(), row["tp"].as_u64().unwrap());
        let got: BTreeSet<Kind> = admission(&model(config), tp as u32).into_iter().map(ours).collect();
        let reasons = row["reasons"].as_array().unwrap().iter().map(|reason| reason.as_str().unwrap());
        let expected: BTreeSet<Kind> = reasons.filter_map(theirs).collect();
        differences.extend(got.symmetric_difference(&expected).map(|kind| (config.to_owned(), tp, *kind)));
    }
    let listed: Vec<_> = DIFFERENCES.iter().map(|(config, tp, kind, _)| ((*config).to_owned(), *tp, *kind)).collect();
    assert_eq!(differences, listed);
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
