//! What widths make of released models.

use std::path::PathBuf;

use super::*;
use crate::refusal::Code;
use crate::request::Description;
use crate::spec::Vocabulary;

fn read(path: &str) -> Vec<u8> {
    let file = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures")).join(path);
    std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

struct Ask {
    weights: Weights,
    vocabulary: Vocabulary,
    stored: bool,
}

const PLAIN: Ask = Ask { weights: Weights::Config, vocabulary: Vocabulary::Exact, stored: false };

fn explained(model: &str, chip: &str, ask: Ask) -> Explained {
    let config = read(&format!("configs/{model}/config.json"));
    let text = ask.stored.then(|| read(&format!("checkpoints/{model}.json")));
    let checkpoint = text.as_deref().map(|text| Description { file: "checkpoint.json", text });
    let Ask { weights, vocabulary, .. } = ask;
    let chip = chip.into();
    let request = Request { model, config: &config, chip, weights, checkpoint, vocabulary, deployments: &[] };
    explain(&request, ExpertSplit::Columns).unwrap_or_else(|refusals| panic!("{model}: {refusals:?}"))
}

fn at(explained: &Explained, tp: u32) -> &Width {
    let width = &explained.widths[tp as usize - 1];
    assert_eq!(width.tp, tp);
    width
}

fn held(explained: &Explained, tp: u32) -> &Holding {
    at(explained, tp).held.as_ref().unwrap()
}

#[test]
fn kv_heads_beyond_the_width_are_copies() {
    // 28 layers of 4 KV heads of 128 in BF16: 57,344 bytes a position.
    let qwen2 = explained("qwen2-7b-instruct", "SN50", PLAIN);
    let kv = |tp| (held(&qwen2, tp).kv_copies, held(&qwen2, tp).kv_bytes, held(&qwen2, tp).kv_copied_bytes);
    assert_eq!([1, 2, 4].map(kv), [(1, 57_344, 0), (1, 57_344, 0), (1, 57_344, 0)]);
    assert!(at(&qwen2, 8).held.is_none() && !at(&qwen2, 8).against.is_empty());
    // 8 KV heads over 32 chips, four to a head: of the cache three quarters are copies.
    let llama = explained("llama-3.1-8b", "SN50", PLAIN);
    let Holding { kv_copies, kv_bytes, kv_copied_bytes, .. } = *held(&llama, 32);
    assert_eq!((kv_copies, kv_bytes, kv_copied_bytes), (4, 4 * 131_072, 3 * 131_072));
    // A latent of 512 and 64 turned columns lies whole on every chip, of 61 layers.
    let deepseek = explained("deepseek-v3", "SN50", PLAIN);
    let Holding { kv_copies, kv_bytes, kv_copied_bytes, .. } = *held(&deepseek, 8);
    assert_eq!((kv_copies, kv_bytes, kv_copied_bytes), (8, 8 * 61 * 576 * 2, 7 * 61 * 576 * 2));
}

#[test]
fn blocks_that_chips_would_cut_are_named() {
    let dense = |model: &str, ask: Ask, tp: u32| {
        let explained = explained(model, "SN50", ask);
        let dense = held(&explained, tp).dense.clone();
        dense.into_iter().map(|d| (d.name, d.storage, d.weights, d.inputs, d.outputs)).collect::<Vec<_>>()
    };
    let q8_0 = || Ask { weights: Weights::Q8_0, ..PLAIN };
    // 1536 / 3 = 512 inputs are whole blocks, and so is a head of 64; 14336 / 32 = 448 too.
    assert_eq!(dense("smollm2-135m", q8_0(), 3), []);
    assert_eq!(dense("llama-3.1-8b", q8_0(), 32), []);
    // 10944 feed-forward columns over 16 chips are 684 each, 1408 of an expert 88, 2816 of the shared ones 176.
    let deepseek = dense("deepseek-v2-lite", q8_0(), 16);
    let found: Vec<_> =
        deepseek.iter().map(|(name, _, weights, inputs, _)| (name.as_str(), *weights, *inputs)).collect();
    assert_eq!(found, [("Wde{l}", 26, 88), ("Wdown{l}", 1, 684), ("Wsdown{l}", 26, 176)]);
    // MXFP4 experts of 2880 columns: 360 at 8 chips, 1440 at 2.
    let stored = || Ask { stored: true, ..PLAIN };
    let experts = dense("gpt-oss-20b", stored(), 8);
    assert_eq!(experts.iter().map(|d| (d.1, d.2, d.3)).collect::<Vec<_>>(), [(Storage::Mxfp4, 24, 360)]);
    assert_eq!(dense("gpt-oss-20b", stored(), 2), []);
    // FP8 in blocks of 128 by 128: 2048 columns of an expert are 64 at 32 chips, which vLLM refuses.
    let v3 = dense("deepseek-v3", stored(), 32);
    assert!(v3.iter().any(|d| d.1 == Storage::F8E4M3 && d.2 == 58 && d.3 == 64), "{v3:?}");
    assert!(v3.iter().any(|d| d.1 == Storage::F8E4M3 && d.2 == 3 && d.3 == 576), "{v3:?}");
}

#[test]
fn padding_is_told_where_it_is_and_where_it_would_help() {
    let exact = explained("phi-4", "SN50", PLAIN);
    assert_eq!((at(&exact, 5).held.is_none(), at(&exact, 5).padding_admits), (true, Some(100_480)));
    assert_eq!((at(&exact, 3).padding_admits, at(&exact, 2).padding_admits), (None, None));
    let padded = explained("phi-4", "SN50", Ask { vocabulary: Vocabulary::Padded, ..PLAIN });
    let of = |tp| (held(&padded, tp).vocab_rows, held(&padded, tp).vocab_padding, held(&padded, tp).chips_of_padding);
    assert_eq!([1, 2, 5].map(of), [(100_352, 0, 0), (100_352, 0, 0), (100_480, 128, 0)]);
    // Embedding and head are 5120 wide in BF16.
    let grown = held(&padded, 5).weight_bytes;
    assert_eq!(5 * grown - grown_without_padding(&padded), 128 * 5120 * 2 * 2);
}

/// Bytes of weights over five chips with no row of padding: those of one chip, and what five hold whole beside the first.
fn grown_without_padding(padded: &Explained) -> u64 {
    let one = held(padded, 1).weight_bytes;
    // Of 40 layers two norms of 5120 in BF16, and the last.
    let whole = (2 * 40 + 1) * 5120 * 2;
    one + 4 * whole
}

#[test]
fn every_released_model_is_explained() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/configs");
    let mut models: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().path().is_dir())
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    models.sort();
    assert!(models.len() >= 40);
    for model in &models {
        let config = read(&format!("configs/{model}/config.json"));
        let Ok(spec) = config::read(&config) else { continue };
        let explained = explained(model, "SN40L", PLAIN);
        let admitted: Vec<u32> = explained.widths.iter().filter(|w| w.held.is_some()).map(|w| w.tp).collect();
        assert_eq!(admitted, shard::widths(&spec, explained.most), "{model}");
        for Width { tp, against, padding_admits, held } in &explained.widths {
            assert_eq!(held.is_some(), against.is_empty(), "{model} over {tp}");
            assert!(padding_admits.is_none() || against.len() == 1, "{model} over {tp}");
            let Some(held) = held else { continue };
            assert!(held.dense.is_empty() && held.vocab_padding == 0, "{model} over {tp}: nothing is in blocks");
            assert!(held.kv_copied_bytes < held.kv_bytes.max(1), "{model} over {tp}");
            assert!((held.kv_copies > 1) == (held.kv_copied_bytes > 0) || held.kv_bytes == 0, "{model} over {tp}");
        }
    }
}

#[test]
fn a_chip_without_a_link_has_one_width_and_two_storages_are_refused() {
    assert_eq!(explained("smollm2-135m", "SN30", PLAIN).widths.len(), 1);
    let config = read("configs/gpt-oss-20b/config.json");
    let text = read("checkpoints/gpt-oss-20b.json");
    let request = Request {
        model: "m",
        config: &config,
        chip: "SN50".into(),
        weights: Weights::Q8_0,
        checkpoint: Some(Description { file: "checkpoint.json", text: &text }),
        vocabulary: Vocabulary::Exact,
        deployments: &[],
    };
    let refusals = explain(&request, ExpertSplit::Columns).unwrap_err();
    assert_eq!(refusals[0].code, Code::RequestForm);
    // 32 experts over 16 chips are two each, whole: no block is cut. Over 9 they do not divide.
    let whole = explain(&Request { weights: Weights::Config, ..request.clone() }, ExpertSplit::Parallel).unwrap();
    assert_eq!((&held(&whole, 16).dense[..], at(&whole, 9).against.len()), (&[][..], 4));
    let config = read("configs/smollm2-135m/config.json");
    let dense = Request { config: &config, checkpoint: None, ..request };
    assert_eq!(explain(&dense, ExpertSplit::Parallel).unwrap_err()[0].code, Code::TpSplit);
}
