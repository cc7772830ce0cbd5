//! Every family in every form, to a bundle that checks.

use std::path::{Path, PathBuf};

use super::*;
use crate::request::Weights;

const FORMS: [Form; 5] = [
    Form::Forward { rows: 13 },
    Form::Decode { ctx: 200, batch: 1 },
    Form::Decode { ctx: 200, batch: 3 },
    Form::Prefill { ctx: 200, chunk: 12, batch: 1 },
    Form::Prefill { ctx: 200, chunk: 7, batch: 3 },
];

/// Configs by the name of their folder: `tiny` ones, one a family, or `configs` of released models.
fn configs(of: &str) -> Vec<(String, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures").join(of);
    let folders = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    let mut found: Vec<_> =
        folders.map(|path| (name(&path), std::fs::read(path.join("config.json")).unwrap())).collect();
    found.sort();
    assert!(found.len() > 20, "{} configs", found.len());
    found
}

/// Compiles a deployment, and reads the bundle's programs again from their texts.
fn compiled(spec: &ModelSpec, form: Form, tp: u32) -> Result<(), Vec<Refusal>> {
    let chip = crate::chip::lookup("SN50").unwrap();
    let deployment = DeploymentRequest::new("D", form, Some(tp));
    let deployments = std::slice::from_ref(&deployment);
    let request = Request {
        model: "m",
        config: &[],
        chip: "SN50".into(),
        weights: Weights::Config,
        checkpoint: None,
        vocabulary: spec.vocabulary,
        deployments,
    };
    let ready = compile_deployment(&request, spec, chip, &deployment)?;
    assert_eq!(crate::inspect::verify(&ready.words), Ok(()), "{form:?} over {tp}");
    Ok(())
}

#[test]
fn every_family_compiles_in_every_form() {
    let mut failed = Vec::new();
    for (family, config) in configs("tiny") {
        let spec = config::read(&config).unwrap_or_else(|found| panic!("{family}: {found:?}"));
        for (form, tp) in FORMS.iter().flat_map(|form| [1, 2].map(|tp| (*form, tp))) {
            let Err(found) = compiled(&spec, form, tp) else { continue };
            failed.extend(found.iter().map(|refusal| format!("{family}, {form:?} over {tp}: {refusal}")));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn what_exceeds_the_scratchpads_is_said_of_its_rows() {
    let refused = |model: &str, form| {
        let (_, config) = configs("configs").into_iter().find(|(name, _)| name == model).unwrap();
        let spec = config::read(&config).unwrap();
        let refusal = compiled(&spec, form, 1).unwrap_err().remove(0);
        (spec, refusal.at.clone(), refusal.to_string())
    };
    let (spec, at, text) = refused("phi-4", Form::Prefill { ctx: 4096, chunk: 4096, batch: 1 });
    assert_eq!(at, At::Key("D".into(), Key::Chunk));
    let begin = "LOGOS-LOW-02: layer 0 (attention) needs more scratchpad than the chip has\n  its buffers: ";
    assert!(text.starts_with(begin), "{text}");
    let most = |text: &str, key: &str| -> u32 {
        let help = text.rsplit_once(&format!("help: `{key}: ")).unwrap().1;
        help.strip_suffix("` lowers; a larger width needs less as well").unwrap().parse().unwrap()
    };
    // What the help says is so, and a 64th more is not.
    let chunk = most(&text, "chunk");
    assert_eq!(compiled(&spec, Form::Prefill { ctx: 4096, chunk, batch: 1 }, 1), Ok(()));
    let more = Form::Prefill { ctx: 4096, chunk: chunk + 64, batch: 1 };
    assert_eq!(compiled(&spec, more, 1).unwrap_err()[0].code, Code::LowerSpace);

    // Of several sequences fewer do, and so does a smaller chunk.
    let form = |chunk, batch| Form::Prefill { ctx: 4096, chunk, batch };
    let (spec, at, text) = refused("phi-4", form(512, 8));
    assert_eq!(at, At::Key("D".into(), Key::Batch));
    let help = text.rsplit_once("help: `batch: ").unwrap().1;
    let (batch, rest) = help.split_once("` or `chunk: ").unwrap();
    let chunk = rest.strip_suffix("` lowers; a larger width needs less as well").unwrap();
    let (batch, chunk): (u32, u32) = (batch.parse().unwrap(), chunk.parse().unwrap());
    for (lowers, more) in [(form(512, batch), form(512, batch + 1)), (form(chunk, 8), form(chunk + 8, 8))] {
        assert_eq!(compiled(&spec, lowers, 1), Ok(()));
        assert_eq!(compiled(&spec, more, 1).unwrap_err()[0].code, Code::LowerSpace);
    }

    let (spec, at, text) = refused("qwen2-7b-instruct", Form::Forward { rows: 2048 });
    assert_eq!(at, At::Key("D".into(), Key::Rows));
    assert_eq!(compiled(&spec, Form::Forward { rows: most(&text, "rows") }, 1), Ok(()));

    // A slot that 32 bits do not count is as much a matter of rows: scores of 65536 rows by 65536 positions, 2 bytes each.
    let (spec, at, text) = refused("llama-3.1-8b", Form::Prefill { ctx: 65_536, chunk: 65_536, batch: 1 });
    assert_eq!(at, At::Key("D".into(), Key::Chunk));
    assert!(text.starts_with("LOGOS-LOW-02: layer 0 (attention) needs more scratchpad than the chip has"), "{text}");
    assert!(text.contains("\n  a slot of a buffer of statement 7 (`c0`): 8,589,934,592 bytes (8.0 GiB)\n"), "{text}");
    assert_eq!(compiled(&spec, Form::Prefill { ctx: 65_536, chunk: most(&text, "chunk"), batch: 1 }, 1), Ok(()));

    // Far more than lowers: what is offered is found all the same.
    let (spec, _, text) = refused("falcon-7b-instruct", Form::Decode { ctx: 1, batch: 65_536 });
    let batch = most(&text, "batch");
    assert_eq!(compiled(&spec, Form::Decode { ctx: 1, batch }, 1), Ok(()));
}

#[test]
fn a_norm_with_a_row_a_head_compiles_where_there_is_one_head() {
    let (_, config) = configs("tiny").into_iter().find(|(family, _)| family == "cohere").unwrap();
    let mut value: serde_json::Value = serde_json::from_slice(&config).unwrap();
    (value["num_key_value_heads"], value["use_qk_norm"]) = (1.into(), true.into());
    let spec = config::read(&serde_json::to_vec(&value).unwrap()).unwrap();
    for form in FORMS {
        assert_eq!(compiled(&spec, form, 1), Ok(()), "{form:?}");
    }
}

#[test]
fn released_models_compile_over_a_node_or_what_holds_them() {
    let forms = [
        Form::Decode { ctx: 2048, batch: 8 },
        Form::Prefill { ctx: 2048, chunk: 256, batch: 1 },
        Form::Prefill { ctx: 2048, chunk: 64, batch: 3 },
    ];
    let mut refused = Vec::new();
    for (name, config) in configs("configs") {
        let spec = config::read(&config).unwrap_or_else(|found| panic!("{name}: {found:?}"));
        for form in forms {
            let results = [8, 16, 64].map(|tp| compiled(&spec, form, tp));
            if results.iter().any(Result::is_ok) {
                continue;
            }
            let found = results.into_iter().find_map(Result::err).unwrap_or_default();
            refused.extend(found.iter().map(|refusal| format!("{name} {:?}", refusal.code)));
        }
    }
    refused.dedup();
    // Heads that no eight chips share evenly.
    let expected = [
        "falcon-7b-instruct TpSplit",
        "gemma-3-1b-it TpSplit",
        "phi-4 TpSplit",
        "qwen2-7b-instruct TpSplit",
        "smollm2-135m TpSplit",
    ];
    assert_eq!(refused, expected);
}

/// S13: state that one deployment keeps in SRAM and another's buffers would displace is said of it, with both sizes.
#[test]
fn what_deployments_keep_of_the_same_chips_sram_is_said_where_it_does_not_fit_together() {
    let notes = |slug: &str, tp: u32, deployments: &[(&str, Form)]| {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/configs").join(slug);
        let config = std::fs::read(folder.join("config.json")).unwrap();
        let deployments: Vec<DeploymentRequest> =
            deployments.iter().map(|&(name, form)| DeploymentRequest::new(name, form, Some(tp))).collect();
        let request = Request {
            model: slug,
            config: &config,
            chip: "SN50".into(),
            weights: Weights::Config,
            checkpoint: None,
            vocabulary: crate::Vocabulary::Exact,
            deployments: &deployments,
        };
        let compiled = compile(&request).unwrap();
        compiled.into_iter().map(|compiled| compiled.notes).collect::<Vec<_>>()
    };
    let decode = |batch| ("DECODE", Form::Decode { ctx: 32_768, batch });
    let prefill = ("PREFILL", Form::Prefill { ctx: 32_768, chunk: 512, batch: 1 });
    // One sequence's caches and memories stay, 274 MiB of 432; a chunk's buffers take more than the rest.
    let said = notes("qwen3.5-27b", 8, &[decode(1), prefill]);
    assert_eq!((said[0].len(), said[1].len()), (1, 0), "{said:?}");
    assert!(said[0][0].starts_with("287,678,464 bytes (274.3 MiB) of state a chip stay in SRAM"), "{said:?}");
    assert!(said[0][0].contains("`PREFILL`"), "{said:?}");
    // Alone there is nothing to make way for.
    assert_eq!(notes("qwen3.5-27b", 8, &[decode(1)]), [Vec::<String>::new()]);
    // What eight sequences keep of a mixture fits beside a chunk's buffers.
    assert_eq!(notes("qwen3.5-35b-a3b", 2, &[decode(8), prefill]), [Vec::<String>::new(), Vec::new()]);
}
