//! Weights kept as a checkpoint stores them.

use expect_test::{Expect, expect};

use super::super::{Adopted, Checkpoint, Headers, adopt};
use super::described::released;
use super::fixture;
use crate::language::ast::Storage;
use crate::{DeploymentRequest, Description, Form, Request, Weights, compile, kinds};

const DECODE: Form = Form::Decode { ctx: 64, batch: 1 };

/// A tiny model with its quantised file's headers.
fn quantised(model: &str) -> (Vec<u8>, Headers) {
    let config = std::fs::read(fixture(model, "config.json")).unwrap();
    (config, Checkpoint::open(&fixture(model, "model-q8_0.gguf")).unwrap().headers().clone())
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

fn notes(config: &[u8], headers: &Headers, tp: u32) -> String {
    let text = headers.describe();
    let deployments = [DeploymentRequest { name: "D".to_owned(), form: DECODE, tp: Some(tp) }];
    let checkpoint = Some(Description { file: "d.json", text: text.as_bytes() });
    let request = Request {
        model: "m",
        config,
        chip: "SN50".into(),
        weights: Weights::Config,
        checkpoint,
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
    expect![[r#"{"F8_E4M3": 45032}"#]].assert_eq(&format!("{:?}", dense("deepseek-v3")));
    expect![[r#"{"MXFP4": 48}"#]].assert_eq(&format!("{:?}", dense("gpt-oss-20b")));
    assert!(dense("qwen2.5-72b").is_empty());
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
