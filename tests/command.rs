//! `cargo logos`, in process: output, errors, exit status.

use std::fs;
use std::path::{Path, PathBuf};

use logos_bundle::check;
use logos_bundle::table::digest;
use logos_bundle::table::layout::{Part, ROW, header, op, statement};
use serde_json::Value;

/// Runs `cargo logos` with words separated by spaces, `CONFIG:slug` standing for a fixture; status, output, errors.
fn logos(line: &str) -> (u8, String, String) {
    let words = ["cargo-logos", "logos"].into_iter().map(Into::into).chain(line.split_whitespace().map(|word| {
        match word.strip_prefix("CONFIG:") {
            Some(slug) => logos_tests::config(slug).into_os_string(),
            None => word.into(),
        }
    }));
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let status = logos_build::cli::run(words, &mut out, &mut err);
    (status, String::from_utf8(out).expect("text"), String::from_utf8(err).expect("text"))
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in\n{text}"))
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("command").join(name);
    fs::create_dir_all(&folder).expect("a folder of our own");
    folder
}

const DECODE: &str = "CONFIG:qwen3.5-27b --chip SN50 --mode decode --tp 8 --ctx 262144 --batch 8";

#[test]
fn check_shows_what_holds() {
    let (status, out, err) = logos(&format!("check {DECODE}"));
    assert_eq!((status, err.as_str()), (0, ""), "{out}");
    for part in ["gated deltanet", "attention", "never a time", "the certificate holds"] {
        assert!(out.contains(part), "{part} is not in\n{out}");
    }
    for line in out.lines().filter(|line| line.starts_with(' ')) {
        assert!(line.chars().count() <= 80, "a table wider than a terminal: {line}");
    }
    let (status, out, _) = logos(&format!("check {DECODE} --json"));
    let document = json(&out);
    assert_eq!(status, 0);
    assert_eq!(document["schema"], "logos.rdu.check");
    assert_eq!(document["no_speed_claim"], true);
    assert_eq!(document["certificate"]["rechecked"], true);
    assert_eq!(document["deployment"]["layers"], 64);
    let rules = document["certificate"]["rules"].as_array().expect("rules");
    assert_eq!(rules.len(), 13);
    assert!(rules.iter().all(|rule| rule["holds"] == true && rule["obligations"].as_u64() > Some(0)), "{rules:?}");
}

#[test]
fn kinds_of_qwen35_are_two() {
    let (status, out, _) = logos(&format!("kinds {DECODE} --json"));
    assert_eq!(status, 0);
    let document = json(&out);
    let programs: Vec<(&str, usize)> = document["programs"]
        .as_array()
        .expect("programs")
        .iter()
        .map(|p| (p["name"].as_str().expect("a name"), p["layers"].as_array().expect("layers").len()))
        .collect();
    let kinds: Vec<_> = programs.iter().filter(|(_, layers)| *layers > 0).collect();
    assert_eq!(kinds, [&("gated deltanet", 48), &("attention", 16)]);
    assert_eq!(logos(&format!("kinds {DECODE}")).0, 0);
}

/// What a name or a file of others holds is text to a terminal, whatever stream and form it comes in.
#[test]
fn no_name_is_an_order_to_the_terminal() {
    let seen = |text: &str| !text.chars().any(|c| c != '\n' && logos_core::refusal::is_unseen(c));
    let evil = "a\u{1b}[2J\u{202e}b\u{9b}";
    for command in ["check", "fit", "plan", "kinds"] {
        let ask = format!("{command} CONFIG:qwen3-0.6b --chip SN50 --tp 1 --ctx 64 --name {evil}");
        let (status, out, err) = logos(&ask);
        assert!(status == 0 && seen(&out) && seen(&err), "{out}{err}");
        assert_eq!(command != "kinds", out.contains("a\\u{1b}[2J\\u{202e}b\\u{9b}"), "{out}");
        let (status, out, _) = logos(&format!("{ask} --json"));
        assert!(status == 0 && seen(&out), "{out}");
        let document = json(&out);
        let name = Value::from(evil).to_string();
        assert!(document.to_string().contains(&name), "{command}: {document}");
    }
    let folder = folder("orders");
    let config = folder.join("config.json");
    fs::write(
        &config,
        format!("{{\"model_type\": \"qwen3\", {:?}: true}}", "k\u{202e}").replace("\\u{202e}", "\u{202e}\\u001b"),
    )
    .expect("written");
    for line in [
        format!("fit {} --chip SN50", config.display()),
        format!("fit {evil} --chip {evil}/ --weights-from {evil}"),
        format!("fit CONFIG:qwen3-0.6b --chip SN50 -o {evil}/x"),
        format!("inspect {evil}"),
        format!("describe {evil}"),
        format!("explain {evil}"),
        format!("schema {evil}"),
        evil.to_owned(),
    ] {
        let (status, out, err) = logos(&line);
        assert!(status != 0 && seen(&out) && seen(&err) && err.contains("\\u{1b}"), "{line:?}: {out}{err}");
        assert!(status == 2 || err.contains("LOGOS-") && err.contains("\n  help: "), "{line:?}: {err}");
    }
}

/// What never ends is not read.
#[cfg(unix)]
#[test]
fn devices_are_not_read() {
    for (line, code) in [
        ("inspect /dev/zero", "LOGOS-REQ-03"),
        ("describe /dev/zero", "LOGOS-CKPT-01"),
        ("fit /dev/zero --chip SN50", "LOGOS-REQ-03"),
        ("fit CONFIG:qwen3-0.6b --chip-file /dev/zero", "LOGOS-REQ-03"),
    ] {
        let (status, _, err) = logos(line);
        assert!(status == 1 && err.contains(code) && err.contains("\n  help: "), "{line}: {err}");
    }
}

#[test]
fn a_program_is_text() {
    let (status, out, _) = logos(&format!("program {DECODE} --layer 3"));
    assert_eq!(status, 0);
    assert!(out.starts_with("## Main over 8 chips\n") && out.contains(" be attention of "), "{out}");
    assert!(out.ends_with(".\n") && !out.ends_with("\n\n"));
    assert_eq!(logos(&format!("program {DECODE} --layer 7")).1, out, "layers 3 and 7 are one kind");
    let (status, _, err) = logos(&format!("program {DECODE} --layer 64"));
    let expected = "error: LOGOS-REQ-01: there is no layer 64: the layers are 0 to 63\n  help: write `--layer 63`\n  at: the command line\n";
    assert_eq!((status, err.as_str()), (1, expected));
    assert_eq!(logos(&format!("program {DECODE}")).0, 2, "one of --layer, --embed, --head is required");
    let (status, _, err) = logos("program CONFIG:smollm2-135m --chip SN40L --mode forward --rows 8 --embed");
    assert_eq!(status, 1);
    assert!(err.contains("its first hidden state is an input"), "{err}");
}

#[test]
fn a_file_is_emitted_and_inspected() {
    let folder = folder("emitted");
    let file = folder.join("x.logos");
    let path = file.to_str().expect("text");
    assert_eq!(logos(&format!("emit {DECODE} -o {path}")).0, 0);
    let bytes = fs::read(&file).expect("written");
    assert!(bytes.len() < 64 << 10, "{} bytes", bytes.len());
    let (status, out, _) = logos(&format!("inspect {path}"));
    assert_eq!(status, 0, "{out}");
    assert!(out.contains("every program's rows are its text's, and the text has the stored SHA-256"), "{out}");
    let export = folder.join("export");
    assert_eq!(logos(&format!("inspect {path} --json --export {}", export.display())).0, 0);
    assert_eq!(fs::read(export.join("0.logos")).expect("exported"), bytes);

    for (name, damaged) in [
        ("cut", bytes[..bytes.len() / 2].to_vec()),
        ("extended", [&bytes[..], &[0; 64]].concat()),
        ("changed", {
            let mut changed = bytes.clone();
            let middle = changed.len() / 2;
            changed[middle] ^= 1;
            changed
        }),
    ] {
        let file = folder.join(name);
        fs::write(&file, damaged).expect("written");
        let (status, out, err) = logos(&format!("inspect {}", file.display()));
        assert_eq!(status, 1, "{name}\n{out}{err}");
        let (status, out, _) = logos(&format!("inspect --json {}", file.display()));
        assert_eq!((status, json(&out)["bundles"].as_array().map(Vec::len)), (1, Some(1)), "{name}");
    }
}

#[test]
fn rows_that_only_the_text_contradicts_are_refused() {
    let file = folder("contradicted").join("x.logos");
    let path = file.to_str().expect("text");
    assert_eq!(logos(&format!("emit {DECODE} -o {path}")).0, 0);
    let bytes = fs::read(&file).expect("written");
    let mut words: Vec<u32> = bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let first = words[header::DIRECTORY + 2 * Part::Statements as usize] as usize * ROW;
    let norm = (first..).step_by(ROW).find(|&row| words[row + statement::OP] == op::RMSNORM).expect("a norm");
    words[norm + statement::ATTRIBUTES] = 2e-6f32.to_bits();
    let digest = digest(&words);
    (words[header::DIGEST], words[header::DIGEST + 1]) = (digest as u32, (digest >> 32) as u32);
    assert!(check::all(&words).hold(), "the rules cannot know the epsilon");
    fs::write(&file, words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>()).expect("written");
    let (status, out, _) = logos(&format!("inspect {path}"));
    assert_eq!(status, 1, "{out}");
    assert!(out.contains(", eps of `") && out.contains("THE CERTIFICATE DOES NOT HOLD"), "{out}");
    let (status, out, _) = logos(&format!("inspect --json {path}"));
    let certificate = &json(&out)["bundles"][0]["certificate"];
    assert_eq!((status, &certificate["rechecked"]), (1, &false.into()));
    assert_eq!(certificate["mismatches"].as_array().map(Vec::len), Some(1), "{certificate}");
}

#[test]
fn what_is_no_bundle_is_said_so() {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let (status, _, err) = logos(&format!("inspect {manifest}"));
    assert_eq!(status, 1);
    assert!(err.contains("is neither a .logos file nor an ELF, Mach-O or PE file"), "{err}");
    let (status, _, err) = logos("inspect no-such-file");
    assert_eq!(status, 1);
    assert!(err.contains("`no-such-file` cannot be read"), "{err}");
    // A binary without a deployment: the Cargo that runs this test.
    if cfg!(target_os = "linux") {
        let (status, _, err) = logos(&format!("inspect {}", env!("CARGO")));
        assert_eq!(status, 1);
        assert!(err.contains("has no .logos section"), "{err}");
    }
}

#[test]
fn a_checkpoint_is_described() {
    let tiny = |name: &str| logos_tests::fixtures().join("tiny").join(name).display().to_string();
    let file = folder("described").join("llama.json");
    let path = file.to_str().expect("text");
    let (status, text, err) = logos(&format!("describe {} --config {}/config.json", tiny("llama"), tiny("llama")));
    assert_eq!((status, err.as_str()), (0, ""));
    // Nine tensors a layer are nine rows, whatever the depth.
    assert_eq!(json(&text)["tensors"].as_array().map(Vec::len), Some(12));
    let row = r#"{"name":"model.layers.{}.mlp.up_proj.weight","storage":"F32","shape":[96,64],"at":[[[0,2]]]}"#;
    assert!(text.contains(row), "{text}");
    let (status, out, _) = logos(&format!("describe {} -o {path}", tiny("llama")));
    assert_eq!((status, out), (0, format!("{path}: 30 tensors described in {} bytes\n", text.len())));
    assert_eq!(fs::read_to_string(&file).expect("written"), text);
    // Of GGUF the names are its own, and the model's all the same.
    let gguf = tiny("qwen3_5/model-q8_0.gguf");
    let (status, out, err) = logos(&format!("describe {gguf} --config {}/config.json", tiny("qwen3_5")));
    assert_eq!((status, err.as_str()), (0, ""));
    assert_eq!(json(&out)["gguf"]["architecture"], "qwen35");
    for (line, code, place) in [
        (format!("describe {gguf} --config {}/config.json", tiny("llama")), "LOGOS-CKPT-06", "of model-q8_0.gguf"),
        (format!("describe {}", tiny("")), "LOGOS-CKPT-01", "tiny"),
        ("describe no-such-folder".to_owned(), "LOGOS-CKPT-01", "no-such-folder"),
    ] {
        let (status, out, err) = logos(&line);
        assert_eq!((status, out.as_str()), (1, ""), "{line}");
        assert!(err.contains(code) && err.contains(place), "{err}");
    }
}

#[test]
fn refusals_have_a_place_on_the_command_line() {
    let (status, out, err) = logos("check CONFIG:qwen3.5-27b --chip SN50 --tp 16 --ctx 262144 --json");
    assert_eq!(status, 1);
    assert!(err.contains("error: LOGOS-TP-02: the 24 query heads do not split over 16 chips"), "{err}");
    let document = json(&out);
    let refusals = document["refusals"].as_array().expect("refusals");
    assert!(refusals.iter().all(|refusal| refusal["at"] == "--tp"), "{refusals:?}");
    for (line, status, part) in [
        ("check CONFIG:qwen3.5-27b --chip SN50 --tp -8 --ctx 1", 2, "a size is not negative"),
        ("check CONFIG:qwen3.5-27b --tp 8 --ctx 1", 2, "--chip"),
        ("check CONFIG:qwen3.5-27b --chip SN51 --ctx 1", 1, "LOGOS-CHIP-01"),
        ("check CONFIG:qwen3.5-27b --chip SN50 --chunk 8", 1, "decode takes no --chunk"),
        ("check no/config.json --chip SN50 --ctx 8", 1, "there is no file `no/config.json`"),
        ("chek", 2, "check"),
        ("explain LOGOS-TP-99", 1, "did you mean LOGOS-TP-0"),
    ] {
        let (found, _, err) = logos(line);
        assert_eq!(found, status, "{line}\n{err}");
        assert!(err.contains(part), "{line}: {part} is not in\n{err}");
    }
}

#[test]
fn codes_are_explained() {
    let (status, out, _) = logos("explain logos-fit-01");
    assert_eq!(status, 0);
    assert!(out.starts_with("LOGOS-FIT-01: the deployment does not fit the memory\n\n"), "{out}");
    assert!(out.lines().all(|line| line.chars().count() <= 90), "{out}");
    assert_eq!(logos("explain").1.lines().count(), logos_core::Code::ALL.len());
    assert_eq!(logos("--help").0, 0);
}

/// The tokens that the reference implementation generates, read from whole prompts, chunks and single tokens, by every way to run.
#[test]
fn a_tiny_model_generates_the_references_tokens() {
    let model = tiny("llama");
    let expected = json(&fs::read_to_string(model.join("expected.json")).expect("expected.json"));
    let prompt = &expected["prompts"][0];
    let ids: Vec<String> = prompt["ids"].as_array().expect("ids").iter().map(ToString::to_string).collect();
    let line = format!("simulate {} --tokens {} --json", model.display(), ids.join(","));
    let mut found = Vec::new();
    for more in ["", "--tp 2 --chunk 3", "--chunk 1 --ctx 64", "--order self-timed --seed 7", "--evaluate"] {
        let (status, out, err) = logos(&format!("{line} {more}"));
        assert_eq!((status, err.as_str()), (0, ""), "{more}");
        let document = json(&out);
        assert_eq!(document["tokens"], prompt["greedy"], "{more}");
        assert_eq!(document["logits"].as_array().map(Vec::len), Some(16), "{more}");
        found.push(document);
    }
    let logits = |document: &Value, step: usize| -> Vec<f64> {
        document["logits"][step].as_array().expect("a row").iter().map(|x| x.as_f64().expect("a number")).collect()
    };
    for (step, document) in (0..16).flat_map(|step| found.iter().map(move |document| (step, document))) {
        let (expected, found) = (logits(&found[0], step), logits(document, step));
        assert!(expected.iter().zip(&found).all(|(a, b)| (a - b).abs() < 1e-4), "step {step}");
    }
    let (status, out, _) = logos(&format!("simulate {} --tokens 1,2 --steps 3", model.display()));
    assert_eq!(status, 0);
    assert!(out.starts_with("prompt    1 2\ngenerated ") && out.contains("not on an RDU"), "{out}");
}

#[test]
fn what_cannot_be_simulated_is_refused() {
    let model = tiny("llama");
    let model = model.display();
    for (line, status, part) in [
        (format!("{model} --tokens 1,2,3 --ctx 8"), 1, "3 tokens and 16 steps reach 18 positions, the context has 8"),
        (format!("{model} --tokens 1,999999"), 1, "token 999999 is beyond the vocabulary of 128"),
        (format!("{model} --tokens 1 --tp 3"), 1, "LOGOS-TP-"),
        (format!("{model} --tokens 1 --chip SN5"), 1, "write `SN50`"),
        (format!("{model} --tokens 1 --seed 3"), 1, "--order self-timed"),
        (format!("{model}/none --tokens 1"), 1, "config.json"),
        (format!("{model} --tokens 1, --steps 1"), 2, "a size is a whole number"),
        (format!("{model} --tokens 1 --steps 0"), 2, "--steps"),
        (format!("{model} --tokens 1 --checkpoint {model}/config.json"), 1, "at: config.json"),
    ] {
        let (found, out, err) = logos(&format!("simulate {line}"));
        assert_eq!(found, status, "{line}\n{out}{err}");
        assert!(err.contains(part), "{line}: {part} is not in\n{err}");
    }
}

/// Quantised files beside the model's own, each with the tokens that the reference has for the values it stores.
#[test]
fn weights_are_read_as_they_are_stored() {
    for (name, file, expected) in [
        ("qwen3_5", "model-q8_0.gguf", "expected-q8.json"),
        ("gemma3", "model-q8_0.gguf", "expected-q8.json"),
        ("gpt_oss", "model-mxfp4.safetensors", "expected-mxfp4.json"),
    ] {
        let model = tiny(name);
        let expected = json(&fs::read_to_string(model.join(expected)).expect("expected"));
        let prompt = &expected["prompts"][1];
        let ids: Vec<String> = prompt["ids"].as_array().expect("ids").iter().map(ToString::to_string).collect();
        let (path, ids) = (model.display(), ids.join(","));
        let (status, out, err) = logos(&format!("simulate {path} --checkpoint {path}/{file} --tokens {ids} --json"));
        assert_eq!(status, 0, "{err}");
        assert_eq!(json(&out)["tokens"], prompt["greedy"], "{name}");
    }
}

/// S3: chips keep weights as a description has them, to which the checkpoint that is run is held; or as it is itself.
#[test]
fn a_checkpoint_is_run_as_it_is_described() {
    for (name, way) in [("qwen3_fp8", "fp8"), ("gpt_oss", "mxfp4")] {
        let model = tiny(name);
        let expected = json(&fs::read_to_string(model.join(format!("expected-{way}.json"))).expect("expected"));
        let prompt = &expected["prompts"][1];
        let ids: Vec<String> = prompt["ids"].as_array().expect("ids").iter().map(ToString::to_string).collect();
        let path = model.display();
        let file = format!("{path}/model-{way}.safetensors");
        let line = format!("simulate {path} --tp 2 --tokens {} --json --checkpoint", ids.join(","));
        for from in [format!("{path}/checkpoint-{way}.json"), file.clone()] {
            let (status, out, err) = logos(&format!("{line} {file} --weights-from {from}"));
            assert_eq!(status, 0, "{err}");
            assert_eq!(json(&out)["tokens"], prompt["greedy"], "{name}");
        }
    }
    let path = tiny("gpt_oss");
    let path = path.display();
    let line = format!("simulate {path} --checkpoint {path}/model.safetensors --tokens 1 --weights-from");
    let (status, _, err) = logos(&format!("{line} {path}/checkpoint-mxfp4.json"));
    assert_eq!(status, 1);
    assert!(err.contains("it is not stored as the description has it") && err.contains("expected: MXFP4"), "{err}");
}

/// A value that is no number, and a file that was cut.
#[test]
fn damaged_checkpoints_are_refused() {
    let folder = folder("damaged");
    fs::copy(tiny("llama").join("config.json"), folder.join("config.json")).expect("copied");
    let bytes = fs::read(tiny("llama").join("model.safetensors")).expect("read");
    let mut not_a_number = bytes.clone();
    let end = not_a_number.len();
    not_a_number[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    for (bytes, part) in [(&not_a_number[..], "found: NaN"), (&bytes[..end - 100], "model.safetensors")] {
        fs::write(folder.join("model.safetensors"), bytes).expect("written");
        let (status, out, err) = logos(&format!("simulate {} --tokens 1 --json", folder.display()));
        assert_eq!(status, 1, "{out}");
        assert!(err.contains(part) && err.contains("expected: "), "{part} is not in {err}");
        assert_eq!(json(&out)["refusals"].as_array().map(Vec::len), Some(1));
    }
}

/// The config of another model: what is missing, too much or of another shape is named, with what was expected and found.
#[test]
fn a_checkpoint_of_another_model_is_refused_by_tensor() {
    let folder = folder("other");
    fs::copy(tiny("qwen3").join("config.json"), folder.join("config.json")).expect("copied");
    fs::copy(tiny("llama").join("model.safetensors"), folder.join("model.safetensors")).expect("copied");
    let (status, out, err) = logos(&format!("simulate {} --tokens 1 --json", folder.display()));
    assert_eq!(status, 1);
    assert!(err.contains("model.layers.0.self_attn.q_norm.weight"), "{err}");
    assert!(json(&out)["refusals"].as_array().is_some_and(|refusals| !refusals.is_empty()));
}

fn tiny(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "fixtures", "tiny", name].iter().collect()
}

/// F10: the product that is asked for, else eight by eight tiles over four, as a table and as a document with a schema.
#[test]
fn a_product_is_certified() {
    let (status, out, err) = logos("gemm --chip SN50");
    assert_eq!((status, err.as_str()), (0, ""));
    for part in ["144 x 1024 x 512 q8_0", "never a time", "the certificate holds"] {
        assert!(out.contains(part), "{part} is not in\n{out}");
    }
    let (status, out, _) = logos("gemm --chip SN40L --m 7 --n 4096 --k 4096 --precision bf16 --json");
    let document = json(&out);
    assert_eq!((status, &document["workload"]["macs"]), (0, &(7_u64 * 4096 * 4096).into()));
    assert_eq!((&document["schema"], &document["certificate"]["rechecked"]), (&"logos.rdu.fit".into(), &true.into()));
    assert!(out.ends_with("}\n") && !out.ends_with("\n\n"));
    let file = folder("gemm").join("gemm.json");
    let line = format!("gemm --chip SN40L --m 7 --n 4096 --k 4096 --precision bf16 -o {}", file.display());
    assert_eq!((logos(&line).0, fs::read_to_string(&file).expect("written")), (0, out));
    for precision in ["fp8", "f8_e4m3", "mxfp4"] {
        let (status, out, _) = logos(&format!("gemm --chip SN50 --m 7 --n 4096 --k 4096 --precision {precision}"));
        assert_eq!((status, out.contains("the certificate holds")), (0, true), "{out}");
    }
    for (line, status, part) in [
        ("gemm --chip SN50 --k 33", 1, "write a multiple of 32, 64 for instance"),
        ("gemm --chip SN50 --m 0", 1, "`m` is 0"),
        ("gemm --chip SN5", 1, "write `SN50`"),
        ("gemm --chip SN50 --precision int4", 2, "int4"),
        ("schema logos.rdu.fi", 1, "write `logos.rdu.fit`"),
    ] {
        let (found, _, err) = logos(line);
        assert!(found == status && err.contains(part), "{line}: {part} is not in\n{err}");
    }
    assert_eq!(json(&logos("schema logos.rdu.fit").1)["title"], "Fit");
}

/// F5: documents are of decode and prefill steps, however experts lie, and of what is required; a forward step has none.
#[test]
fn a_document_is_of_the_step_that_is_asked_for() {
    let config = logos_tests::config("deepseek-v3").display().to_string();
    let line = format!("{config} --chip SN50 --tp 8 --mode prefill --ctx 8192 --chunk 64 --batch 2");
    let (status, out, err) = logos(&format!("fit {line} --experts parallel --require sequences>=2 --json"));
    assert_eq!((status, err.as_str()), (0, ""));
    let document = json(&out);
    let deployment = &document["deployment"];
    for (key, value) in [("step", "prefill"), ("experts", "parallel"), ("vocab", "exact")] {
        assert_eq!(deployment[key], value);
    }
    for (key, value) in [("ctx", 8192), ("chunk", 64), ("batch", 2)] {
        assert_eq!(deployment[key], value);
    }
    // 128 rows choose among all of a chip's experts; the head takes two.
    assert_eq!(document["lm_head"]["step_macs"].as_u64(), document["lm_head"]["macs"].as_u64().map(|macs| 2 * macs));
    let (status, out, _) = logos(&format!("plan {line} --experts parallel --json"));
    let command = json(&out)["serve"]["command"].as_str().expect("a command").to_owned();
    assert!(command.contains(" --enable-expert-parallel --max-num-batched-tokens 128 "), "{command}");
    assert_eq!(status, 0);
    for (line, part) in [
        (format!("fit {config} --chip SN50 --mode forward --rows 8"), "there is no document of one"),
        (format!("plan {config} --chip SN50 --mode forward --rows 8"), "there is no document of one"),
        (format!("fit {config} --chip SN50 --tp 8 --ctx 8192 --require hbm_fit"), "`hbm_fit` does not hold"),
        (format!("plan {config} --chip SN50 --tp 8 --ctx 8192 --require hbm_fit"), "`hbm_fit` does not hold"),
        (format!("report {config} --chip SN50 --tp 8 --ctx 8192 --require hbm_fit"), "`hbm_fit` does not hold"),
        (
            format!("fit {config} --chip SN50 --tp 1 --ctx 8192 --require ctx>=16"),
            "the weights alone exceed the HBM and DDR",
        ),
        (format!("fit {config} --chip SN50 --ctx 8192 --require ctx>=9,ctx<9"), "contradicts `ctx >= 9`"),
        (format!("fit {config} --chip SN50 --tp 8 --ctx 8192 --require speed"), "speed"),
    ] {
        let (status, _, err) = logos(&line);
        assert!(status == 1 && err.contains(part), "{line}: {part} is not in\n{err}");
    }
}

/// F5, F6: what a model needs, as a table for people, with where each figure comes from where that is asked for.
#[test]
fn a_fit_is_a_table() {
    let (status, out, err) = logos("fit CONFIG:qwen3.5-27b --chip SN50 --tp 8");
    assert_eq!((status, err.as_str()), (0, ""));
    for part in [
        "26,895,998,464 parameters",
        "it fits; every program is certified",
        "most sequences that the memories hold at this context: 13",
        "rack     16      8",
        "the 24 query heads do not split over 16 chips",
        "no speed is claimed",
    ] {
        assert!(out.contains(part), "{part} is not in\n{out}");
    }
    for line in out.lines().filter(|line| line.starts_with(' ')) {
        assert!(line.chars().count() <= 80, "a table wider than a terminal: {line}");
    }
    assert!(!out.contains("/tensor_parallel/"));
    let (_, sources, _) = logos("fit CONFIG:qwen3.5-27b --chip SN50 --tp 8 --sources");
    assert!(sources.starts_with(&out));
    for part in [
        "/residency/kv_cache_bytes_per_token (derived): a row of every state that attention reads",
        "text_config.dtype",
        "facts: hbm_bytes, ddr_bytes_sizing_default",
        "HC26: Dataflow at Scale",
    ] {
        assert!(sources.contains(part), "{part} is not in\n{sources}");
    }
    // What does not fit is no error: it is what was asked.
    let (status, out, _) = logos("fit CONFIG:llama-3.1-70b --chip SN50 --tp 1");
    assert_eq!(status, 0);
    assert!(out.contains("IT DOES NOT FIT: the weights alone exceed the HBM of 1 chip"), "{out}");
    let (status, out, _) = logos("fit CONFIG:llama-3.1-70b --chip SN50 --tp 1 --json");
    assert_eq!((status, &json(&out)["tensor_parallel"]["hbm_fit"]), (0, &false.into()));
    for (line, part) in [
        ("--ctx 0", "a context of 0 positions holds nothing"),
        ("--ctx 262_145", "a context of 262145 positions is above the model's 262144"),
        ("--batch 0", "a step of 0 sequences computes nothing"),
        ("--tp 16", "the 24 query heads do not split over 16 chips"),
    ] {
        for command in ["fit", "plan"] {
            let (status, _, err) = logos(&format!("{command} CONFIG:qwen3.5-27b --chip SN50 {line}"));
            assert!(status == 1 && err.contains(part), "{command} {line}: {part} is not in\n{err}");
        }
    }
}

/// F12: the page shows the same to a person, in one file.
#[test]
fn a_report_is_a_page() {
    let file = folder("report").join("report.html");
    let (status, out, err) =
        logos(&format!("report CONFIG:qwen3.5-27b --chip SN50 --tp 8 --batch 8 -o {}", file.display()));
    assert_eq!((status, err.as_str()), (0, ""));
    let page = fs::read_to_string(&file).expect("a page");
    assert_eq!(out, format!("{}: {} bytes\n", file.display(), page.len()));
    for part in [
        "<h1>qwen3.5-27b</h1>",
        "8 × SN50 · decode of 8 sequences of 262,144 positions",
        "id=\"memory\"",
        "id=\"ladder\"",
        "id=\"depth\"",
        "id=\"roofline\"",
        "class=\"mesh\"",
        "class=\"timeline\"",
        "the 24 query heads do not split over 16 chips",
        "title=\"published: ",
        "no speed is claimed",
    ] {
        assert!(page.contains(part), "{part} is not in the page");
    }
    assert!(page.ends_with("</html>\n") && !page.contains("<script"));
}

/// F11: a plan is a command that can start, or a refusal with what would.
#[test]
fn a_plan_is_a_command() {
    let (status, out, err) = logos("plan CONFIG:qwen3.5-27b --chip SN50 --tp 8 --name Qwen/Qwen3.5-27B");
    assert_eq!((status, err.as_str()), (0, ""));
    let command = "vllm serve Qwen/Qwen3.5-27B --tensor-parallel-size 8 --dtype bfloat16 --max-model-len 262144\n";
    assert!(out.starts_with(command), "{out}");
    assert!(out.contains("the gated delta rule over 48 value heads"), "{out}");
    // Experts that HBM does not hold leave it; where a wider width needs none of that, the plan says so.
    let (status, out, _) = logos("plan CONFIG:deepseek-v3 --chip SN50");
    assert!(status == 0 && out.contains(" --cpu-offload-params experts\n"), "{out}");
    assert!(out.contains("of experts a chip leave its memory") && out.contains("`--tp 32` needs none"), "{out}");
    let (status, out, _) = logos("plan CONFIG:qwen3.8-2.4t-a95b --chip SN50");
    assert!(status == 0 && out.contains("no admitted width of the chip's domain does without"), "{out}");
    // A dense model's weights are all read in every step: none of them leave.
    let (status, _, err) = logos("plan CONFIG:llama-3.1-405b --chip SN50 --tp 8");
    assert!(status == 1 && err.contains("LOGOS-FIT-01") && err.contains("write `tp: 16`"), "{err}");
}

/// The example of a chip that does not exist.
fn ex1() -> String {
    logos_tests::fixtures().join("chips/ex1.toml").display().to_string()
}

/// Where the bytes of HBM are said to come from.
fn label(out: &str) -> &str {
    let line = out.lines().find(|line| line.trim_start().starts_with("HBM ")).expect("a row of HBM");
    line.trim_start_matches(|c: char| !c.is_ascii_digit()).trim_start_matches(|c: char| !c.is_alphabetic()).trim_end()
}

#[test]
fn a_bundle_of_a_files_chip_is_compared_with_the_file() {
    let chip = ex1();
    let file = folder("own").join("own.logos");
    let path = file.display();
    let asked = format!("CONFIG:smollm2-135m --chip-file {chip} --ctx 512");
    let (status, out, _) = logos(&format!("check {asked}"));
    assert_eq!((status, label(&out)), (0, "modeled"), "{out}");
    assert_eq!(label(&logos(&format!("check {DECODE}")).1), "published");
    assert_eq!(logos(&format!("emit {asked} -o {path}")).0, 0);
    // By itself it says what chip it is for, and not whose figures those are.
    let (status, out, _) = logos(&format!("inspect {path}"));
    assert_eq!(status, 1);
    let said = "no chip is named `EX1`: without its file its words cannot be compared with facts";
    assert!(out.contains(said), "{out}");
    assert_eq!(label(&out), "its own chip file");
    let (status, out, err) = logos(&format!("inspect {path} --chip-file {chip}"));
    assert_eq!((status, err.as_str()), (0, ""), "{out}");
    // A file of the same name and another figure is told apart by that figure.
    let other = folder("own").join("other.toml");
    let text =
        fs::read_to_string(&chip).expect("the example").replace("value = 16_000_000_000", "value = 17_000_000_000");
    fs::write(&other, text).expect("written");
    let (status, out, _) = logos(&format!("inspect {path} --chip-file {}", other.display()));
    assert_eq!(status, 1);
    assert!(out.contains("chip EX1, word"), "{out}");
}

#[test]
fn chips_are_listed_and_shown() {
    let (status, out, _) = logos("chips");
    assert_eq!(status, 0);
    for name in logos_core::chip::NAMES {
        assert!(out.lines().any(|line| line.starts_with(name)), "{out}");
        let (status, out, _) = logos(&format!("chips {name}"));
        assert_eq!(status, 0);
        assert!(out.lines().all(|line| line.chars().count() <= 80 || line.contains("https://")), "{out}");
        // The file of a chip is a template: as printed it is that chip.
        let (status, text, _) = logos(&format!("chips {name} --toml"));
        assert_eq!(status, 0);
        let file = folder("chips").join(format!("{name}.toml"));
        fs::write(&file, &text).expect("written");
        assert_eq!(logos(&format!("chips --chip-file {}", file.display())).1, out);
    }
    let (_, out, _) = logos("chips sn50");
    assert!(out.contains("hbm_bytes: 64,000,000,000 bytes (published; HC26, PROD)"), "{out}");
    assert!(out.contains("array_rows: 18 count (modeled; HC26, PLAST)"), "{out}");
    let document = json(&logos("chips SN50 --json").1);
    assert_eq!(document["schema"], "logos.rdu.chip");
    let facts = document["chip"]["facts"].as_array().expect("facts");
    assert!(facts.iter().all(|fact| fact["cite"].as_array().is_some_and(|keys| !keys.is_empty())), "{facts:?}");
    assert_eq!(json(&logos("chips --json").1)["chips"].as_array().map(Vec::len), Some(4));
    for (line, status, part) in [
        ("chips SN51", 1, "write `SN50`".to_owned()),
        ("chips --toml", 2, "required".to_owned()),
        (
            "check CONFIG:qwen3.5-27b --chip chips/mine.toml --ctx 8",
            1,
            "write `--chip-file chips/mine.toml`".to_owned(),
        ),
        (
            "check CONFIG:qwen3.5-27b --chip-file chips/mine.toml --ctx 8",
            1,
            "there is no file `chips/mine.toml`".to_owned(),
        ),
        (
            "check CONFIG:qwen3.5-27b --chip-file CONFIG:qwen3.5-27b --ctx 8",
            1,
            format!("at: {}:1:1", logos_tests::config("qwen3.5-27b").display()),
        ),
    ] {
        let (found, _, err) = logos(line);
        assert_eq!(found, status, "{line}\n{err}");
        assert!(err.contains(&part), "{line}: {part} is not in\n{err}");
    }
}
