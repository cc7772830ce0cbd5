//! Documents of models: every figure is traced, the trace is complete, and figures are right.

use std::collections::BTreeMap;

use super::*;
use crate::language::ast::Storage as Stored;
use crate::{ChipRequest, Code, Weights};

fn fixture(path: &str) -> Vec<u8> {
    std::fs::read(format!("{}/../tests/fixtures/{path}/config.json", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn asked<'a>(model: &'a str, config: &'a [u8], chip: &'a str) -> Asked<'a> {
    let (weights, checkpoint) = (Weights::Config, None);
    Asked {
        model,
        config,
        chip: chip.into(),
        weights,
        checkpoint,
        vocabulary: crate::Vocabulary::Exact,
        ctx: None,
        step: AskedStep::Decode { batch: 1 },
        tp: None,
        experts: crate::ExpertSplit::Columns,
        require: &[],
    }
}

fn fit(asked: Asked<'_>) -> Document<ModelFit> {
    let subject = Subject::new(asked).unwrap_or_else(|refusals| panic!("{}: {refusals:?}", asked.model));
    super::super::model(&subject).unwrap()
}

/// F1: of every released config, on chips with HBM and without.
#[test]
fn every_figure_of_every_model_is_traced() {
    let folder = format!("{}/../tests/fixtures/configs", env!("CARGO_MANIFEST_DIR"));
    let mut models = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".json") {
            continue;
        }
        let config = fixture(&format!("configs/{name}"));
        let json: Value = serde_json::from_slice(&config).unwrap();
        let chip = if models % 4 == 0 { "SN10" } else { "SN50" };
        let subject =
            Subject::new(asked(&name, &config, chip)).unwrap_or_else(|refusals| panic!("{name}: {refusals:?}"));
        let document = super::super::model(&subject).unwrap();
        every_figure_is_traced(&document.to_value(), &json);
        assert_eq!(document.body.certificate.is_some(), document.body.tensor_parallel.fits, "{name}");
        assert!(document.body.certificate.is_none_or(|certificate| certificate.rechecked), "{name}");
        match super::super::vllm_plan(&subject) {
            Ok(plan) => every_figure_is_traced(&plan.to_value(), &json),
            Err(refusal) => assert_eq!(refusal.code, Code::FitMemory, "{name}: {refusal}"),
        }
        models += 1;
    }
    assert!(models > 40, "{models}");
}

/// Figures of a document by pointer, those of the certificate left out.
fn derived_figures(document: &Value) -> BTreeMap<String, Value> {
    let mut pointers = Vec::new();
    for (name, member) in document.as_object().unwrap() {
        if !["programs", "certificate", "ii_report", "ii_of_others"].contains(&name.as_str()) {
            figures(member, &format!("/{name}"), &mut pointers);
        }
    }
    let known = pointers.into_iter().filter(|pointer| !pointer.starts_with("/model/config/"));
    known.filter_map(|pointer| Some((pointer.clone(), document.pointer(&pointer)?.clone()))).collect()
}

/// What changed between two documents and does not name `what` among its sources.
fn unnamed(before: &Value, after: &Value, member: &str, what: &str) -> Vec<String> {
    let trace = before["provenance"]["trace"].as_array().unwrap();
    let groups = &before["provenance"]["keys"];
    let names_it = |row: &Value| {
        let list = row[member].as_array().map_or(&[][..], Vec::as_slice);
        let in_group = |name: &Value| groups[name.as_str().unwrap()].as_array().unwrap().iter().any(|key| key == what);
        row["certificate"].is_array()
            || if member == "config" { list.iter().any(in_group) } else { list.iter().any(|name| name == what) }
    };
    let after = derived_figures(after);
    let mut found = Vec::new();
    for (pointer, value) in derived_figures(before) {
        if after.get(&pointer).is_none_or(|now| *now == value) {
            continue;
        }
        let row = trace.iter().find(|row| names(row["figures"].as_str().unwrap(), &pointer)).unwrap();
        if !names_it(row) && !found.contains(&row["figures"].as_str().unwrap().to_owned()) {
            found.push(row["figures"].as_str().unwrap().to_owned());
        }
    }
    found
}

/// The config with the value under a path changed.
fn changed(config: &Value, path: &str, change: &dyn Fn(&Value) -> Option<Value>) -> Option<Vec<u8>> {
    let mut config = config.clone();
    let pointer = format!("/{}", path.replace('.', "/"));
    let value = config.pointer_mut(&pointer)?;
    *value = change(value)?;
    serde_json::to_vec(&config).ok()
}

/// F1: a figure that follows a key of the config names it.
#[test]
fn the_trace_names_every_key_that_a_figure_follows() {
    let mut tried = 0;
    let mut missing = BTreeSet::new();
    for name in ["llama", "qwen3_5", "deepseek_v3", "gpt_oss", "gemma3"] {
        let bytes = fixture(&format!("tiny/{name}"));
        let config: Value = serde_json::from_slice(&bytes).unwrap();
        let before = fit(Asked { ctx: Some(16), ..asked(name, &bytes, "SN50") }).to_value();
        for key in crate::config::keys_read(&bytes) {
            let doubled = |value: &Value| value.as_u64().map(|n| Value::from(2 * n));
            let halved = |value: &Value| value.as_u64().filter(|n| *n > 1).map(|n| Value::from(n / 2));
            let turned = |value: &Value| value.as_bool().map(|flag| Value::from(!flag));
            for change in [&doubled as &dyn Fn(&Value) -> Option<Value>, &halved, &turned] {
                let Some(bytes) = changed(&config, &key, change) else { continue };
                let asked = Asked { ctx: Some(16), ..asked(name, &bytes, "SN50") };
                let Ok(subject) = Subject::new(asked) else { continue };
                let after = super::super::model(&subject).unwrap().to_value();
                missing.extend(unnamed(&before, &after, "config", &key).into_iter().map(|row| (row, key.clone())));
                tried += 1;
            }
        }
    }
    assert!(tried > 40, "{tried}");
    assert_eq!(missing, BTreeSet::new(), "rows, and keys that they do not name");
}

/// F1: a figure that follows the request, or a fact of the chip, names it.
#[test]
fn the_trace_names_what_was_asked_and_the_facts() {
    for name in ["qwen3_5", "deepseek_v3", "gemma3"] {
        let bytes = fixture(&format!("tiny/{name}"));
        let base = Asked { ctx: Some(16), tp: Some(1), ..asked(name, &bytes, "SN50") };
        let before = fit(base).to_value();
        for (what, asked) in [
            ("ctx", Asked { ctx: Some(32), ..base }),
            ("batch", Asked { step: AskedStep::Decode { batch: 3 }, ..base }),
            ("tp", Asked { tp: Some(2), ..base }),
            ("weights", Asked { weights: Weights::Q8_0, ..base }),
        ] {
            let Ok(subject) = Subject::new(asked) else { continue };
            let after = super::super::model(&subject).unwrap().to_value();
            assert_eq!(unnamed(&before, &after, "request", what), Vec::<String>::new(), "{name}: {what}");
        }
        let wide = Asked { tp: Some(2), ..base };
        let mut missing = BTreeSet::new();
        let chunk = |chunk| Asked { step: AskedStep::Prefill { chunk, batch: 2 }, ..wide };
        for (what, base, asked) in [
            ("chunk", chunk(4), chunk(6)),
            ("experts", wide, Asked { experts: crate::ExpertSplit::Parallel, ..wide }),
            ("vocab", wide, Asked { vocabulary: crate::Vocabulary::Padded, ..wide }),
            ("vocab", chunk(4), Asked { vocabulary: crate::Vocabulary::Padded, ..chunk(4) }),
        ] {
            let (Ok(base), Ok(subject)) = (Subject::new(base), Subject::new(asked)) else {
                assert!(what == "experts" && name != "deepseek_v3", "{name}: {what}");
                continue;
            };
            let [before, after] = [base, subject].map(|subject| {
                let document = super::super::model(&subject).unwrap();
                every_figure_is_traced(&document.to_value(), &serde_json::from_slice(&bytes).unwrap());
                document.to_value()
            });
            assert_ne!(before["deployment"], after["deployment"], "{name}: {what}");
            missing.extend(unnamed(&before, &after, "request", what).into_iter().map(|row| (row, what)));
        }
        assert_eq!(missing, BTreeSet::new(), "rows of {name}, and what of the request they do not name");
        let file = crate::chip::text("SN50").unwrap().replace("name = \"SN50\"", "name = \"MINE\"");
        let before = {
            let chip = ChipRequest::File { file: "mine.toml", text: file.as_bytes() };
            fit(Asked { chip, ..base }).to_value()
        };
        let mut tried = 0;
        for field in Field::ALL {
            let head = format!("[facts.{field}]\nvalue = ");
            let Some(at) = file.find(&head) else { continue };
            let end = at + head.len() + file[at + head.len()..].find('\n').unwrap();
            let Ok(number) = file[at + head.len()..end].replace('_', "").parse::<u64>() else { continue };
            let mine = format!("{}{}{}", &file[..at + head.len()], number / 2, &file[end..]);
            let chip = ChipRequest::File { file: "mine.toml", text: mine.as_bytes() };
            let Ok(subject) = Subject::new(Asked { chip, ..base }) else { continue };
            let after = super::super::model(&subject).unwrap().to_value();
            assert_eq!(unnamed(&before, &after, "facts", field.as_str()), Vec::<String>::new(), "{name}: {field}");
            tried += 1;
        }
        assert!(tried > 10, "{tried}");
    }
}

/// F4, F5, F6: figures of Qwen3.5-27B on eight SN50 that public sources give.
#[test]
fn qwen35_on_a_node() {
    let bytes = fixture("configs/qwen3.5-27b");
    let body = fit(Asked { tp: Some(8), ..asked("qwen3.5-27b", &bytes, "SN50") }).body;
    let weights = &body.model.weights;
    assert_eq!((weights.params, weights.bf16_bytes), (26_895_998_464, 2 * 26_895_998_464));
    assert_eq!(body.model.inherits.as_deref(), Some("qwen3_5"));
    let kv = &body.tensor_parallel.kv_cache_at_ctx;
    assert_eq!((kv.bytes, kv.per_chip_bytes), (65_536 * 262_144, 16_384 * 262_144));
    assert_eq!((kv.kv_shards, kv.replication), (4, 2));
    assert_eq!(body.residency.kv_cache_bytes_per_token, 65_536);
    // 48 layers of 48 heads' 128 by 128 f32 memory, and of 3 inputs of 10,240 bf16 channels.
    assert_eq!(body.residency.gdn_state_bytes, 48 * 3_145_728);
    assert_eq!(body.residency.conv_state_bytes, 48 * 61_440);
    assert_eq!(body.residency.tiers.gdn_state, "SRAM");
    assert_eq!(body.per_layer.len(), 64);
    // 24 heads of 256 score and sum over 262,144 positions.
    assert_eq!(body.per_layer[3].attention_macs_at_ctx, 2 * 24 * 256 * 262_144);
    assert_eq!(body.per_layer[0].gdn_recurrence_macs, 4 * 48 * 128 * 128);
    assert_eq!(body.per_layer[0].conv_macs, 4 * 10_240);
    let macs: u64 = body.per_layer.iter().map(|row| row.macs).sum();
    assert_eq!(body.totals.macs_per_token_at_ctx, macs + body.totals.lm_head_macs);
    assert_eq!(body.totals.lm_head_macs, 248_320 * 5120);
    let params: u64 = body.per_layer.iter().map(|row| row.weight_params).sum();
    assert_eq!(weights.params, params + 2 * 248_320 * 5120 + 5120);
    let widths: Vec<u32> = body.tensor_parallel.ladder.iter().map(|row| row.chips).collect();
    assert_eq!(widths, [1, 8, 16]);
    let rack = &body.tensor_parallel.ladder[2];
    assert_eq!((rack.refused[0].as_str(), rack.tensor_parallel), ("the 24 query heads do not split over 16 chips", 8));
    // F9: two replicas a rack, of thirteen sequences each.
    let serving = &body.serving[1];
    assert_eq!((serving.domain, serving.chips), ("rack", 16));
    assert_eq!((serving.tensor_parallel, serving.data_parallel), (Some(8), Some(2)));
    assert_eq!((serving.max_sequences_per_replica, serving.max_sequences), (Some(13), Some(26)));
    assert_eq!(serving.sequence_bytes_per_chip, Some(16_384 * 262_144 + 48 * 400_896));
    // The dominant program is the one whose layers take most of a step.
    let cycles = |report: &IiReport, layers: u64| report.pipeline_ii * layers;
    let ii = body.ii_report.as_ref().unwrap();
    let layers = |name: &str| body.programs.iter().find(|program| program.name == name).map(|p| u64::from(p.layers));
    for other in &body.ii_of_others {
        assert!(cycles(ii, layers(&ii.program).unwrap()) >= cycles(other, layers(&other.program).unwrap()));
    }
}

/// F7: of every program, the terms of an interval are the certificate's, at the real widths.
#[test]
fn the_ii_view_is_the_certificates() {
    for (name, tp) in [("qwen3.5-27b", 8), ("deepseek-v3", 16), ("gpt-oss-20b", 8)] {
        let bytes = fixture(&format!("configs/{name}"));
        let body = fit(Asked { tp: Some(tp), ctx: Some(4096), ..asked(name, &bytes, "SN50") }).body;
        for view in body.ii_report.iter().chain(&body.ii_of_others) {
            for stage in &view.stages {
                let most = stage.resource_ii.max(stage.recurrence_ii).max(stage.memory_ii).max(1);
                let windowed = ["load", "gather", "reload"].iter().any(|word| stage.name.starts_with(word));
                assert!(
                    if windowed { stage.ii >= most } else { stage.ii == most },
                    "{name} {}: {stage:?}",
                    view.program
                );
            }
            for edge in &view.credit_depths {
                assert!(u64::from(edge.depth) >= edge.n_buffer_depth, "{name} {}: {edge:?}", view.program);
            }
        }
        assert_eq!(1 + body.ii_of_others.len(), body.programs.len());
    }
}

/// F11: the numbers that vLLM's own functions give, and what is asked of a backend.
#[test]
fn the_plan_is_held_to_vllms_allocator() {
    let bytes = fixture("configs/qwen3.5-27b");
    let subject = Subject::new(Asked { tp: Some(8), ..asked("qwen3.5-27b", &bytes, "SN50") }).unwrap();
    let plan = super::super::vllm_plan(&subject).unwrap().body;
    assert_eq!(
        plan.serve.command,
        "vllm serve qwen3.5-27b --tensor-parallel-size 8 --dtype bfloat16 --max-model-len 262144"
    );
    assert!(plan.vllm_version.contains("7cfb97e33791 (2026-08-20)"));
    let reserved = &plan.reserved;
    assert_eq!((reserved.blocks_per_sequence, reserved.pool_block_bytes), (662, 6_553_600));
    assert_eq!(reserved.sequence_bytes, 4_338_483_200 + 6_553_600);
    assert!(reserved.fits && reserved.max_sequences == 12);
    assert!(plan.intake_question.contains("the gated delta rule over 48 value heads"), "{}", plan.intake_question);
    assert_eq!(plan.state_bytes_per_layer.attention_kv_per_token, 4096);
    assert_eq!((plan.state_bytes_per_layer.gdn_memory, plan.state_bytes_per_layer.conv_rings), (3_145_728, 61_440));
    let attention = plan.ops_the_backend_must_support.iter().find(|row| row.op == "attention").unwrap();
    assert_eq!(attention.times_a_step, 16);
    assert!(attention.statement.contains(" be attention of "), "{}", attention.statement);
    let delta: u64 = plan.unusual.iter().filter(|row| row.op == "gated delta").map(|row| row.layers).sum();
    assert_eq!(delta, 48);

    let bytes = fixture("configs/gpt-oss-20b");
    let subject = Subject::new(asked("gpt-oss-20b", &bytes, "SN50")).unwrap();
    let plan = super::super::vllm_plan(&subject).unwrap().body;
    for part in ["a window of 128 positions", "a sink logit a head", "32 experts of which a token takes 4"] {
        assert!(plan.intake_question.contains(part), "{part} is not in {}", plan.intake_question);
    }
    let bytes = fixture("configs/llama-3.1-8b");
    let subject = Subject::new(Asked { tp: Some(1), ..asked("llama", &bytes, "SN50") }).unwrap();
    let plan = super::super::vllm_plan(&subject).unwrap().body;
    assert!(plan.unusual.is_empty() && plan.intake_question.contains("all decoders have"));
    assert_eq!(plan.reserved.sequence_bytes, 17_179_869_184 + 2_097_152);
}

/// F11: a context that vLLM's allocator does not grant is planned shorter, and one that grants none is refused.
#[test]
fn a_plan_is_never_one_that_cannot_start() {
    let bytes = fixture("configs/qwen3.5-27b");
    let subject = Subject::new(Asked { tp: Some(1), ..asked("q", &bytes, "SN50") }).unwrap();
    let plan = super::super::vllm_plan(&subject).unwrap().body;
    assert!(plan.serve.max_model_len < 262_144 && plan.serve.reduced_from == Some(262_144));
    assert!(plan.reserved.sequence_bytes <= plan.reserved.available_bytes);
    assert!(plan.fallbacks.iter().any(|row| row.then == "plan with `--tp 2`"), "{:?}", plan.fallbacks);
    let bytes = fixture("configs/llama-3.1-70b");
    let subject = Subject::new(Asked { tp: Some(2), ..asked("l", &bytes, "SN50") }).unwrap();
    let refusal = super::super::vllm_plan(&subject).unwrap_err();
    assert!(refusal.code == Code::FitMemory && refusal.to_string().contains("write `tp: 4`"), "{refusal}");
}

/// F11: experts that no device's memory holds beside a sequence leave it, by whole GiB, and no more than must.
#[test]
fn a_plan_takes_experts_out_of_the_devices_memory() {
    for (name, tp) in [("qwen3.8-2.4t-a95b", 16), ("deepseek-v3", 16)] {
        let bytes = fixture(&format!("configs/{name}"));
        let subject = Subject::new(Asked { tp: Some(tp), ..asked(name, &bytes, "SN50") }).unwrap();
        let plan = super::super::vllm_plan(&subject).unwrap().body;
        let offload = plan.serve.offload.unwrap();
        assert_eq!(offload.bytes, u64::from(offload.gib) << 30);
        assert!(plan.serve.command.ends_with(&format!(
            " --offload-backend uva --cpu-offload-gb {} --cpu-offload-params experts",
            offload.gib
        )));
        assert!(offload.bytes + offload.largest_parameter_bytes <= offload.ddr_bytes);
        assert!(offload.bytes <= offload.experts_bytes && plan.serve.reduced_from.is_none());
        let reserved = &plan.reserved;
        let stays = plan.from_fit.weights_per_chip_bytes - offload.bytes;
        assert_eq!(reserved.available_bytes, reserved.usable_bytes - stays);
        // A GiB less, and one sequence of the context does not fit.
        assert!(reserved.fits && reserved.sequence_bytes > reserved.available_bytes - (1 << 30), "{name}");
        assert!(plan.unusual.iter().any(|row| row.what.contains("read in place")));
    }
    // Of a dense model nothing leaves.
    let bytes = fixture("configs/llama-3.1-8b");
    let subject = Subject::new(Asked { tp: Some(1), ..asked("llama", &bytes, "SN50") }).unwrap();
    assert_eq!(super::super::vllm_plan(&subject).unwrap().body.serve.offload, None);
}

/// F4: a chunk's rows see what is before them, so that a step is less than its tokens at the context; a token is a decode's.
#[test]
fn a_prefills_figures_are_of_its_step() {
    let bytes = fixture("configs/llama-3.1-8b");
    let decode = fit(Asked { tp: Some(1), ctx: Some(1000), ..asked("llama", &bytes, "SN50") }).body;
    let step = AskedStep::Prefill { chunk: 10, batch: 2 };
    let prefill = fit(Asked { step, tp: Some(1), ctx: Some(1000), ..asked("llama", &bytes, "SN50") }).body;
    assert_eq!(prefill.totals.macs_per_token_at_ctx, decode.totals.macs_per_token_at_ctx);
    let row = &prefill.per_layer[0];
    // 32 heads of 128 score and sum over 991 to 1000 positions, of two sequences.
    let seen: u64 = 2 * (991..=1000).sum::<u64>();
    assert_eq!(row.step_macs, 20 * row.weight_macs + seen * 2 * 32 * 128);
    assert_eq!(row.attention_macs_at_ctx, 1000 * 2 * 32 * 128);
    assert_eq!(prefill.lm_head.step_macs, 2 * prefill.lm_head.macs);
    let layers: u64 = prefill.per_layer.iter().map(|row| row.step_macs).sum();
    assert_eq!(prefill.totals.step_macs, layers + prefill.lm_head.step_macs);
    assert_eq!((prefill.deployment.step, prefill.deployment.chunk, prefill.deployment.batch), ("prefill", Some(10), 2));
    assert_eq!(prefill.tensor_parallel.kv_cache_at_ctx.bytes, 2 * decode.tensor_parallel.kv_cache_at_ctx.bytes);
}

/// S13, F5: what no rack holds in HBM alone lies in DDR with its experts, and the document says so.
#[test]
fn experts_go_to_ddr() {
    let bytes = fixture("configs/qwen3.8-2.4t-a95b");
    let body = fit(asked("qwen3.8-2.4t-a95b", &bytes, "SN50")).body;
    let tp = &body.tensor_parallel;
    assert!(tp.weights_per_chip_bytes > tp.hbm_bytes_per_chip && tp.ddr_weight_bytes_per_chip > 0);
    assert!(tp.fits && !tp.hbm_fit && tp.hbm_need_bytes <= tp.hbm_bytes_per_chip);
    assert_eq!(body.residency.tiers.weights, "HBM, DDR");
}

/// F5: a deployment that does not fit has a document that says so, with numbers and without a certificate.
#[test]
fn what_does_not_fit_is_said() {
    let bytes = fixture("configs/llama-3.1-70b");
    let body = fit(Asked { tp: Some(1), ..asked("llama-3.1-70b", &bytes, "SN50") }).body;
    let tp = &body.tensor_parallel;
    assert!(
        !tp.fits && !tp.hbm_fit && tp.hbm_headroom_bytes < 0 && body.certificate.is_none() && body.ii_report.is_none()
    );
    assert_eq!(tp.hbm_headroom_bytes, tp.hbm_bytes_per_chip as i64 - tp.hbm_need_bytes as i64);
    assert!(body.not_certified.unwrap().contains("the weights alone exceed the HBM"));
}

/// F12: a bundle's document is its words', and every figure is traced.
#[test]
fn a_bundle_is_exported() {
    let product = Gemm { m: 8, n: 256, k: 256, precision: Stored::Bf16 };
    let words = product.certify(crate::chip::lookup("SN50").unwrap()).unwrap().words;
    let document = super::super::bundle(&words).unwrap();
    assert!(document.body.certificate.rechecked);
    let value = document.to_value();
    let mut found = Vec::new();
    figures(&value, "", &mut found);
    let trace = value["provenance"]["trace"].as_array().unwrap();
    for pointer in &found {
        let rows = trace.iter().filter(|row| names(row["figures"].as_str().unwrap(), pointer)).count();
        assert_eq!(rows, 1, "{pointer}");
    }
    assert!(super::super::bundle(&words[..16]).is_err());
}
