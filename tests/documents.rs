//! The documents of models, byte for byte, and the schemas that tell tools how to read them.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// A document that is kept: its name, and the command that writes it.
const DOCUMENTS: [(&str, &str); 20] = [
    // Eight chips are the widest that Qwen3.5-27B admits, whatever the domain: its heads are 24, 16 and 48.
    ("qwen3.5-27b.fit", "fit CONFIG:qwen3.5-27b --chip SN50 --tp 8 --json"),
    ("llama-3.1-70b.fit", "fit CONFIG:llama-3.1-70b --chip SN50 --json"),
    ("gemma-3-27b-it.fit", "fit CONFIG:gemma-3-27b-it --chip SN50 --json"),
    ("deepseek-v3.fit", "fit CONFIG:deepseek-v3 --chip SN50 --json"),
    ("gpt-oss-20b.fit", "fit CONFIG:gpt-oss-20b --chip SN50 --json"),
    ("mixtral-8x7b-v0.1.fit", "fit CONFIG:mixtral-8x7b-v0.1 --chip SN50 --json"),
    ("qwen3.8-2.4t-a95b.fit", "fit CONFIG:qwen3.8-2.4t-a95b --chip SN50 --json"),
    ("gemm.sn50.fit", "gemm --chip SN50 --json"),
    ("qwen3.5-27b.plan", "plan CONFIG:qwen3.5-27b --chip SN50 --tp 8 --json"),
    ("llama-3.1-70b.plan", "plan CONFIG:llama-3.1-70b --chip SN50 --json"),
    ("gemma-3-27b-it.plan", "plan CONFIG:gemma-3-27b-it --chip SN50 --json"),
    ("deepseek-v3.plan", "plan CONFIG:deepseek-v3 --chip SN50 --tp 32 --json"),
    ("gpt-oss-20b.plan", "plan CONFIG:gpt-oss-20b --chip SN50 --json"),
    ("mixtral-8x7b-v0.1.plan", "plan CONFIG:mixtral-8x7b-v0.1 --chip SN50 --json"),
    // Experts that no rack's HBM holds leave it.
    ("qwen3.8-2.4t-a95b.plan", "plan CONFIG:qwen3.8-2.4t-a95b --chip SN50 --json"),
    (
        "tiny-deepseek_v3.prefill.fit",
        "fit TINY:deepseek_v3 --chip SN50 --mode prefill --tp 2 --experts parallel --ctx 32 --chunk 8 --batch 2 --json",
    ),
    (
        "tiny-deepseek_v3.prefill.plan",
        "plan TINY:deepseek_v3 --chip SN50 --mode prefill --tp 2 --experts parallel --ctx 32 --chunk 8 --batch 2 --json",
    ),
    (
        "tiny-qwen3.q8_0-checkpoint.fit",
        "fit TINY:qwen3 --chip SN40L --tp 2 --ctx 32 --weights-from fixtures/tiny/qwen3/described-q8_0.json --json",
    ),
    ("tiny-llama.chip-file.fit", "fit TINY:llama --chip-file fixtures/chips/ex1.toml --tp 2 --ctx 32 --json"),
    ("tiny-gpt_oss.vocab-padded.fit", "fit TINY:gpt_oss --chip SN50 --tp 2 --vocab padded --ctx 32 --json"),
];

fn logos(line: &str) -> String {
    let words = ["cargo-logos", "logos"].into_iter().map(Into::into).chain(line.split_whitespace().map(|word| {
        match word.strip_prefix("CONFIG:") {
            Some(slug) => logos_tests::config(slug).into_os_string(),
            None => match word.strip_prefix("TINY:") {
                Some(name) => format!("fixtures/tiny/{name}/config.json").into(),
                None => word.into(),
            },
        }
    }));
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let status = logos_build::cli::run(words, &mut out, &mut err);
    assert_eq!(status, 0, "{line}\n{}", String::from_utf8_lossy(&err));
    String::from_utf8(out).expect("text")
}

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden").join(format!("{name}.json"))
}

fn schema_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join("schemas").join(format!("{name}.json"))
}

/// Holds a file to a text, or writes it with `UPDATE_EXPECT=1`; what differs is the first line that does.
fn hold(file: &Path, text: &str) -> Result<(), String> {
    // What is as it was is not written: other tests read the files meanwhile.
    let kept = fs::read_to_string(file).unwrap_or_default();
    if kept != text && env::var_os("UPDATE_EXPECT").is_some() {
        fs::create_dir_all(file.parent().expect("a folder")).map_err(|error| error.to_string())?;
        return fs::write(file, text).map_err(|error| error.to_string());
    }
    if kept == text {
        return Ok(());
    }
    let at = kept.lines().zip(text.lines()).take_while(|(kept, now)| kept == now).count();
    let line = |text: &str| text.lines().nth(at).unwrap_or("(its end)").trim().to_owned();
    Err(format!("{}, line {}:\n  kept: {}\n  now:  {}", file.display(), at + 1, line(&kept), line(text)))
}

/// F12: the same request, the same bytes; pretty, with one trailing newline.
#[test]
fn documents_are_reproduced_byte_for_byte() {
    let mut wrong = Vec::new();
    for (name, command) in DOCUMENTS {
        let text = logos(command);
        assert!(text.ends_with("}\n") && !text.ends_with("\n\n"), "{name}");
        wrong.extend(hold(&golden(name), &text).err());
    }
    assert!(wrong.is_empty(), "UPDATE_EXPECT=1 writes them anew; read the difference\n{}", wrong.join("\n"));
}

/// F12: the schemas that are shipped are those of the types, and every document is as its schema has it.
#[test]
fn documents_are_as_their_schemas_have_them() {
    let names: Vec<String> = logos("schema").lines().map(str::to_owned).collect();
    assert_eq!(names, ["logos.rdu.bundle", "logos.rdu.fit", "logos.rdu.vllm_plan"]);
    for name in &names {
        hold(&schema_file(name), &logos(&format!("schema {name}"))).unwrap_or_else(|wrong| panic!("{wrong}"));
    }
    let bundle = Path::new(env!("CARGO_TARGET_TMPDIR")).join("documents");
    fs::create_dir_all(&bundle).expect("a folder of our own");
    let file = bundle.join("x.logos");
    logos(&format!("emit CONFIG:gpt-oss-20b --chip SN50 --tp 8 --ctx 4096 -o {}", file.display()));
    logos(&format!("inspect {} --export {}", file.display(), bundle.display()));
    let documents = DOCUMENTS.iter().map(|(name, _)| golden(name)).chain([bundle.join("0.json")]);
    for file in documents {
        let document: Value = serde_json::from_slice(&fs::read(&file).expect("a document")).expect("JSON");
        let name = document["schema"].as_str().expect("a schema");
        assert!(names.iter().any(|known| known == name), "{name}");
        let schema: Value = serde_json::from_slice(&fs::read(schema_file(name)).expect("a schema")).expect("JSON");
        if let Err(wrong) = check(&schema, &schema, &document, "") {
            panic!("{}: {wrong}", file.display());
        }
        assert_eq!(document["no_speed_claim"], true);
    }
}

#[test]
fn a_document_that_is_not_as_its_schema_has_it_is_found() {
    let schema: Value =
        serde_json::from_slice(&fs::read(schema_file("logos.rdu.fit")).expect("a schema")).expect("JSON");
    let sound: Value = serde_json::from_slice(&fs::read(golden("gemm.sn50.fit")).expect("a document")).expect("JSON");
    assert_eq!(check(&schema, &schema, &sound, ""), Ok(()));
    for (pointer, value) in [
        ("/workload/m", Value::from("144")),
        ("/workload/m", Value::from(-1)),
        ("/chip/cites", Value::from(1)),
        ("/arithmetic/operands/0/bytes", Value::from(1.5)),
        ("/chip/hbm_bytes/provenance", Value::from("guessed")),
    ] {
        let mut wrong = sound.clone();
        *wrong.pointer_mut(pointer).expect("a member") = value;
        assert!(check(&schema, &schema, &wrong, "").is_err(), "{pointer}");
    }
    let mut wrong = sound.clone();
    wrong.as_object_mut().expect("an object").remove("workload");
    assert!(check(&schema, &schema, &wrong, "").is_err());
    let mut wrong = sound;
    wrong["workload"]["speed"] = Value::from(1);
    assert!(check(&schema, &schema, &wrong, "").is_err());
}

/// Whether a value is as a schema has it: the keywords that are used here, and no others.
fn check(root: &Value, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
    let wrong = |what: String| Err(format!("{at}: {what}"));
    let schema = match schema {
        Value::Bool(true) => return Ok(()),
        Value::Object(schema) => schema,
        _ => return wrong("a schema is an object".to_owned()),
    };
    for (keyword, rule) in schema {
        match keyword.as_str() {
            "$schema"
            | "title"
            | "description"
            | "$defs"
            | "format"
            | "default"
            | "properties"
            | "additionalProperties" => {}
            "$ref" => {
                let target = rule.as_str().and_then(|path| root.pointer(path.trim_start_matches('#')));
                check(root, target.ok_or(format!("{at}: no {rule}"))?, value, at)?;
            }
            "type" => {
                let one = |kind: &Value| match kind.as_str() {
                    Some("object") => value.is_object(),
                    Some("array") => value.is_array(),
                    Some("string") => value.is_string(),
                    Some("boolean") => value.is_boolean(),
                    Some("null") => value.is_null(),
                    Some("integer") => value.is_u64() || value.is_i64(),
                    Some("number") => value.is_number(),
                    _ => false,
                };
                let fits = rule.as_array().map_or_else(|| one(rule), |kinds| kinds.iter().any(one));
                if !fits {
                    return wrong(format!("{value} is not of type {rule}"));
                }
            }
            "enum" if rule.as_array().is_some_and(|known| known.contains(value)) => {}
            "const" if rule == value => {}
            "minimum" => {
                if value.as_f64().zip(rule.as_f64()).is_some_and(|(value, least)| value < least) {
                    return wrong(format!("{value} is below {rule}"));
                }
            }
            "maximum" => {
                if value.as_f64().zip(rule.as_f64()).is_some_and(|(value, most)| value > most) {
                    return wrong(format!("{value} is above {rule}"));
                }
            }
            "required" => {
                for name in rule.as_array().into_iter().flatten().filter_map(Value::as_str) {
                    if value.as_object().is_some_and(|members| !members.contains_key(name)) {
                        return wrong(format!("`{name}` is missing"));
                    }
                }
            }
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(root, rule, item, &format!("{at}/{index}"))?;
                }
            }
            "anyOf" | "oneOf" => {
                let found: Vec<String> =
                    rule.as_array().into_iter().flatten().filter_map(|one| check(root, one, value, at).err()).collect();
                if found.len() == rule.as_array().map_or(0, Vec::len) {
                    return wrong(format!("is none of several: {}", found.join("; ")));
                }
            }
            other => return wrong(format!("{value} is not as `{other}` has it")),
        }
    }
    let Some(members) = value.as_object() else { return Ok(()) };
    let properties = schema.get("properties").and_then(Value::as_object);
    let further = schema.get("additionalProperties");
    for (name, item) in members {
        let at = format!("{at}/{name}");
        match (properties.and_then(|known| known.get(name)), further) {
            (Some(known), _) => check(root, known, item, &at)?,
            (None, Some(further)) => check(root, further, item, &at)?,
            // A member that no schema of an object names; a schema that only refers names none.
            (None, None) if properties.is_some() => return Err(format!("{at} is not in the schema")),
            (None, None) => {}
        }
    }
    Ok(())
}
