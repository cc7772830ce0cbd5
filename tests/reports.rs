//! B1: the documents of a deployment are the same bytes from the macro, the build helper and the command.

use std::fs;
use std::path::Path;

use logos_build::Report;
use serde_json::Value;

logos_rdu::logos_model! {
    pub mod qwen35 {
        model: config "fixtures/configs/qwen3.5-27b/config.json",
        chip: SN50,
        deployments: {
            PREFILL: prefill { tp: 8, ctx: 262_144, chunk: 512 },
            DECODE: decode { tp: 8, ctx: 262_144, batch: 8 },
            SHORT: decode { ctx: 4_096 },
        },
        reports: [vllm_plan, fit],
    }
}

// Texts are constants like any other.
const _: () = assert!(qwen35::fit_json::DECODE.len() > 100_000 && qwen35::vllm_plan_json::SHORT.len() > 10_000);

fn command(line: &str) -> String {
    let mut words: Vec<std::ffi::OsString> = ["cargo-logos", "logos"].map(Into::into).into();
    words.extend(line.split(' ').map(|word| match word {
        "CONFIG" => logos_tests::config("qwen3.5-27b").into_os_string(),
        _ => word.into(),
    }));
    let (mut out, mut err) = (Vec::new(), Vec::new());
    assert_eq!(logos_build::cli::run(words, &mut out, &mut err), 0, "{}", String::from_utf8_lossy(&err));
    String::from_utf8(out).expect("text")
}

#[test]
fn the_command_writes_the_macros_texts() {
    let decode = "CONFIG --chip SN50 --tp 8 --ctx 262144 --batch 8 --name qwen35 --json";
    let short = "CONFIG --chip SN50 --ctx 4096 --name qwen35 --json";
    let prefill = "CONFIG --chip SN50 --mode prefill --tp 8 --ctx 262144 --chunk 512 --name qwen35 --json";
    assert!(command(&format!("fit {prefill}")) == qwen35::fit_json::PREFILL);
    assert!(command(&format!("plan {prefill}")) == qwen35::vllm_plan_json::PREFILL);
    assert!(command(&format!("fit {decode}")) == qwen35::fit_json::DECODE);
    assert!(command(&format!("plan {decode}")) == qwen35::vllm_plan_json::DECODE);
    assert!(command(&format!("fit {short}")) == qwen35::fit_json::SHORT);
    assert!(command(&format!("plan {short}")) == qwen35::vllm_plan_json::SHORT);
}

#[test]
fn the_build_helper_writes_the_macros_texts() {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("reports");
    fs::create_dir_all(&out).expect("a folder of our own");
    logos_build::model("fixtures/configs/qwen3.5-27b/config.json")
        .chip("SN50")
        .prefill("PREFILL", |prefill| prefill.tp(8).ctx(262_144).chunk(512))
        .decode("DECODE", |decode| decode.tp(8).ctx(262_144).batch(8))
        .decode("SHORT", |decode| decode.ctx(4_096))
        .reports([Report::Fit, Report::VllmPlan])
        .emit_to("qwen35", Path::new(env!("CARGO_MANIFEST_DIR")), &out, &mut Vec::new())
        .expect("compiles");
    for (file, text) in [
        ("qwen35.PREFILL.fit.json", qwen35::fit_json::PREFILL),
        ("qwen35.DECODE.fit.json", qwen35::fit_json::DECODE),
        ("qwen35.DECODE.vllm_plan.json", qwen35::vllm_plan_json::DECODE),
        ("qwen35.SHORT.fit.json", qwen35::fit_json::SHORT),
        ("qwen35.SHORT.vllm_plan.json", qwen35::vllm_plan_json::SHORT),
    ] {
        assert!(fs::read_to_string(out.join(file)).expect("written") == text, "{file} differs");
    }
    let text = fs::read_to_string(out.join("qwen35.rs")).expect("written");
    assert!(
        text.contains("    fit_json {\n") && text.contains("        DECODE: \"qwen35.DECODE.fit.json\",\n"),
        "{text}"
    );
}

/// F5: what the document says of the memory is what the embedded facts say.
#[test]
fn texts_and_facts_agree() {
    let document: Value = serde_json::from_str(qwen35::fit_json::DECODE).expect("JSON");
    let fit = qwen35::DECODE.fit();
    assert_eq!(document["schema"], "logos.rdu.fit");
    let parallel = &document["tensor_parallel"];
    assert_eq!(parallel["weights_per_chip_bytes"], fit.weight_bytes);
    assert_eq!(parallel["hbm_headroom_bytes"], fit.hbm_headroom_bytes);
    assert_eq!(parallel["max_ctx_in_hbm"], fit.max_ctx);
    let plan: Value = serde_json::from_str(qwen35::vllm_plan_json::DECODE).expect("JSON");
    assert_eq!(plan["schema"], "logos.rdu.vllm_plan");
}
