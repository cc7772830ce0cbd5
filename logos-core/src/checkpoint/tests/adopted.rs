//! Weights kept as a checkpoint stores them.

use expect_test::{Expect, expect};

use super::super::{Adopted, Checkpoint, Headers, adopt, hold_to_description};
use super::described::released;
use super::fixture;
use crate::language::ast::Storage;
use crate::{DeploymentRequest, Description, Form, Request, Vocabulary, Weights, compile, kinds};

const DECODE: Form = Form::Decode { ctx: 64, batch: 1 };

/// A tiny model with its quantised file's headers.
fn quantised(model: &str) -> (Vec<u8>, Headers) {
    let config = std::fs::read(fixture(model, "config.json")).unwrap();
    let file = match model {
        "gpt_oss" => "model-mxfp4.safetensors",
        "qwen3_fp8" => "model-fp8.safetensors",
        _ => "model-q8_0.gguf",
    };
    (config, Checkpoint::open(&fixture(model, file)).unwrap().headers().clone())
}

fn adopted(model: &str) -> Adopted {
    let (config, headers) = quantised(model);
    adopt(&headers, crate::config::read(&config).unwrap()).unwrap_or_else(|found| panic!("{}", super::lines(&found)))
}

/// Declared weights by storage, in the programs of a width.
fn storages(adopted: &Adopted, tp: u32) -> String {
    let programs = kinds::programs(&adopted.spec, DECODE, tp, Weights::Config).unwrap();
    let mut text = String::new();
    for kind in programs {
        let values = &kind.authored.program.values;
        let of = |storage: Storage| {
            let weights = values.iter().zip(&kind.authored.bindings).filter(|(value, binding)| {
                value.storage == storage && matches!(binding.source, crate::author::Source::Weight { .. })
            });
            weights.map(|(value, _)| value.name.as_str()).collect::<Vec<_>>().join(" ")
        };
        let parts = Storage::ALL.map(|storage| (storage, of(storage)));
        let parts = parts.iter().filter(|(_, names)| !names.is_empty());
        let parts: Vec<String> = parts.map(|(storage, names)| format!("{storage}: {names}")).collect();
        text += &format!("{}: {}\n", kind.name, parts.join("; "));
    }
    text
}

#[track_caller]
fn keeps(model: &str, tp: u32, expect: Expect) {
    expect.assert_eq(&storages(&adopted(model), tp));
}

#[test]
fn blocks_are_kept_where_chips_hold_whole_ones() {
    keeps(
        "llama",
        1,
        expect![[r#"
        embed: f32: E
        attention: f32: an0 mn0; q8_0: Wq0 Wk0 Wv0 Wo0 Wgate0 Wup0 Wdown0
        head: f32: nw; q8_0: Wlm
    "#]],
    );
    keeps(
        "llama",
        2,
        expect![[r#"
        embed: f32: E
        attention: f32: an0 mn0 Wdown0; q8_0: Wq0 Wk0 Wv0 Wo0 Wgate0 Wup0
        head: f32: nw; q8_0: Wlm
    "#]],
    );
    keeps(
        "qwen3_5",
        1,
        expect![[r#"
        embed: f32: E
        gated deltanet: f32: an0 Cq0 Ck0 Cv0 A0 dt0 yw0 Wo0 mn0; q8_0: Wq0 Wk0 Wv0 Wz0 Wb0 Wa0 Wgate0 Wup0 Wdown0
        attention: f32: an3 qw3 kw3 mn3; q8_0: Wq3 Wk3 Wv3 Wg3 Wo3 Wgate3 Wup3 Wdown3
        head: f32: nw; q8_0: Wlm
    "#]],
    );
}

/// S3, S10: FP8 and MXFP4 as they are stored, where a chip's inputs and outputs are whole blocks.
#[test]
fn blocks_of_fp8_and_mxfp4_likewise() {
    keeps(
        "qwen3_fp8",
        1,
        expect![[r#"
        embed: bf16: E
        attention: bf16: an0 qw0 kw0 mn0; f8_e4m3: Wq0 Wk0 Wv0 Wo0 Wgate0 Wup0 Wdown0
        head: bf16: nw Wlm
    "#]],
    );
    keeps(
        "qwen3_fp8",
        2,
        expect![[r#"
        embed: bf16: E
        attention: bf16: an0 Wk0 Wv0 qw0 kw0 mn0; f8_e4m3: Wq0 Wo0 Wgate0 Wup0 Wdown0
        head: bf16: nw Wlm
    "#]],
    );
    keeps(
        "qwen3_fp8",
        4,
        expect![[r#"
        embed: bf16: E
        attention: bf16: an0 Wq0 Wk0 Wv0 qw0 kw0 Wo0 mn0 Wgate0 Wup0 Wdown0
        head: bf16: nw Wlm
    "#]],
    );
    keeps(
        "gpt_oss",
        1,
        expect![[r#"
        embed: f32: E
        attention, window 5, experts: f32: an0 Wq0 bq0 Wk0 bk0 Wv0 bv0 sinks0 Wo0 bo0 mn0 Wr0 br0 bge0 bue0 bde0; mxfp4: Wge0 Wue0 Wde0
        attention, experts: f32: an1 Wq1 bq1 Wk1 bk1 Wv1 bv1 sinks1 Wo1 bo1 mn1 Wr1 br1 bge1 bue1 bde1; mxfp4: Wge1 Wue1 Wde1
        head: f32: nw Wlm
    "#]],
    );
    keeps(
        "gpt_oss",
        2,
        expect![[r#"
        embed: f32: E
        attention, window 5, experts: f32: an0 Wq0 bq0 Wk0 bk0 Wv0 bv0 sinks0 Wo0 bo0 mn0 Wr0 br0 Wde0 bge0 bue0 bde0; mxfp4: Wge0 Wue0
        attention, experts: f32: an1 Wq1 bq1 Wk1 bk1 Wv1 bv1 sinks1 Wo1 bo1 mn1 Wr1 br1 Wde1 bge1 bue1 bde1; mxfp4: Wge1 Wue1
        head: f32: nw Wlm
    "#]],
    );
}

/// The descriptions beside the quantised files, which stand for them where no file is opened.
#[test]
fn descriptions_are_those_of_the_files() {
    for (model, file) in [("qwen3_fp8", "checkpoint-fp8.json"), ("gpt_oss", "checkpoint-mxfp4.json")] {
        let (_, headers) = quantised(model);
        expect_test::expect_file![fixture(model, file)].assert_eq(&headers.describe());
    }
}

fn notes(config: &[u8], headers: &Headers, tp: u32) -> String {
    let text = headers.describe();
    let deployments = [DeploymentRequest::new("D", DECODE, Some(tp))];
    let checkpoint = Some(Description { file: "d.json", text: text.as_bytes() });
    let request = Request {
        model: "m",
        config,
        chip: "SN50".into(),
        weights: Weights::Config,
        checkpoint,
        vocabulary: Vocabulary::Exact,
        deployments: &deployments,
    };
    let compiled = compile(&request).unwrap_or_else(|found| panic!("{}", super::lines(&found)));
    compiled[0].notes.join("\n")
}

#[test]
fn what_is_read_dense_is_said() {
    let (config, headers) = quantised("llama");
    expect!["1 weight stored as Q8_0 is read dense, as f32: chips would cut their blocks of 32, or they are no products' weights: E"].assert_eq(&notes(&config, &headers, 1));
    expect!["7 weights stored as Q8_0 are read dense, as f32: chips would cut their blocks of 32, or they are no products' weights: E, Wdown{l}, Wo{l}"].assert_eq(&notes(&config, &headers, 4));
    let dense = |model: &str| {
        let (headers, spec) = released(model);
        adopt(&headers, spec).unwrap().dense
    };
    let (config, headers) = quantised("qwen3_fp8");
    expect![""].assert_eq(&notes(&config, &headers, 1));
    expect!["4 weights stored as F8_E4M3 are read dense, as bf16: chips would cut their blocks of 128 by 128, or they are no products' weights: Wk{l}, Wv{l}"].assert_eq(&notes(&config, &headers, 2));
    expect!["14 weights stored as F8_E4M3 are read dense, as bf16: chips would cut their blocks of 128 by 128, or they are no products' weights: Wdown{l}, Wgate{l}, Wk{l}, Wo{l}, Wq{l}, Wup{l}, Wv{l}"].assert_eq(&notes(&config, &headers, 4));
    expect![[r#"{"F8_E4M3 with a scale a row": 43364}"#]].assert_eq(&format!("{:?}", dense("glm-4.5")));
    for model in ["qwen2.5-72b", "deepseek-v3", "gpt-oss-20b"] {
        assert!(dense(model).is_empty(), "{model}");
    }
}

/// Released models in FP8 and MXFP4 over the widths they are run at: certified, with what their slices would cut.
#[test]
fn released_models_in_blocks_compile() {
    let notes = |model: &str, tp: u32| {
        let (headers, _) = released(model);
        let config = [env!("CARGO_MANIFEST_DIR"), "..", "tests", "fixtures", "configs", model, "config.json"];
        notes(&std::fs::read(config.iter().collect::<std::path::PathBuf>()).unwrap(), &headers, tp)
    };
    expect![[""]].assert_eq(&notes("gpt-oss-20b", 2));
    expect!["24 weights stored as MXFP4 are read dense, as bf16: chips would cut their blocks of 32, or they are no products' weights: Wde{l}"].assert_eq(&notes("gpt-oss-20b", 4));
    expect!["244 weights stored as F8_E4M3 are read dense, as bf16: chips would cut their blocks of 128 by 128, or they are no products' weights: Wqr{l}, Wq{l}, Wuk{l}, Wuv{l}"].assert_eq(&notes("deepseek-v3", 16));
    expect!["186 weights stored as F8_E4M3 are read dense, as bf16: chips would cut their blocks of 128 by 128, or they are no products' weights: Wde{l}, Wge{l}, Wue{l}"].assert_eq(&notes("minimax-m2.7", 8));
}

#[test]
fn a_checkpoint_in_the_configs_dtype_changes_nothing() {
    let (headers, spec) = released("qwen2.5-72b");
    let adopted = adopt(&headers, spec.clone()).unwrap();
    assert_eq!(adopted.spec, spec);
    assert_eq!(adopted.spec.digest(), spec.digest());
}

#[test]
fn layers_that_are_stored_differently_are_distinct() {
    let (headers, spec) = released("qwen2.5-72b");
    let text = headers.describe();
    let one =
        r#"{"name":"model.layers.{}.self_attn.o_proj.weight","storage":"BF16","shape":[8192,8192],"at":[[[0,79]]]}"#;
    assert!(text.contains(one), "{text}");
    let several = "{\"name\":\"model.layers.{}.self_attn.o_proj.weight\",\"storage\":\"BF16\",\"shape\":[8192,8192],\"at\":[[[1,79]]]},\
        {\"name\":\"model.layers.0.self_attn.o_proj.weight\",\"storage\":\"F32\",\"shape\":[8192,8192]}";
    let headers = Headers::from_description("d.json", text.replace(one, several).as_bytes()).unwrap();
    let adopted = adopt(&headers, spec.clone()).unwrap();
    assert_eq!((spec.layers.len(), adopted.spec.layers.len()), (1, 2));
    assert_eq!(adopted.spec.layer_of[..3], [0, 1, 1]);
    assert_ne!(adopted.spec.digest(), spec.digest());
    let programs = kinds::programs(&adopted.spec, DECODE, 8, Weights::Config).unwrap();
    assert_eq!(programs.iter().map(|kind| kind.layers.len()).collect::<Vec<_>>(), [0, 1, 79, 0]);
}

#[test]
fn a_checkpoint_is_held_to_its_description() {
    let (config, headers) = quantised("qwen3_fp8");
    let spec = crate::config::read(&config).unwrap();
    let text = headers.describe();
    let described = |text: &str| Headers::from_description("d.json", text.as_bytes()).unwrap();
    assert_eq!(hold_to_description(&headers, &described(&text), &spec), Ok(()));
    // The same tensors, one of them not quantised when it was described; how its scales are stored is the reader's.
    let text = text.replace(r#"o_proj.weight","storage":"F8_E4M3""#, r#"o_proj.weight","storage":"BF16""#);
    let refusals = hold_to_description(&headers, &described(&text), &spec).unwrap_err();
    expect![[r#"
        LOGOS-CKPT-04: tensor `model.layers.0.self_attn.o_proj.weight` of model-fp8.safetensors: it is not stored as the description has it; expected: BF16; found: F8_E4M3, a scale every 128 by 128
        LOGOS-CKPT-04: tensor `model.layers.1.self_attn.o_proj.weight` of model-fp8.safetensors: it is not stored as the description has it; expected: BF16; found: F8_E4M3, a scale every 128 by 128
    "#]].assert_eq(&super::lines(&refusals));
}
