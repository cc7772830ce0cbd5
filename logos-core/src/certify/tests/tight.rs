//! How near their bounds the programs of released models come: every config, on two chips, in decodes of few and many sequences and in
//! prefills.

use std::fmt::Write as _;
use std::path::PathBuf;

use expect_test::expect;
use logos_bundle::view::{Binder, Bundle, Section};

use crate::chip::{self, Chip};
use crate::compile::lay;
use crate::fit::Need;
use crate::request::{self, DeploymentRequest, Form, Request, Weights};
use crate::spec::{ModelSpec, Vocabulary};
use crate::{kinds, shard};

/// The width that holds a deployment: the least from eight chips on, or the widest below.
fn width(spec: &ModelSpec, chip: &Chip, form: Form) -> Option<u32> {
    let holds = |&tp: &u32| {
        let deployment = DeploymentRequest::new("D", form, Some(tp));
        request::check_deployment(spec, chip, &deployment).is_empty()
            && Need::of(spec, chip, &deployment, Weights::Config)
                .is_ok_and(|need| need.excess() == 0 && need.facts(0, 0).is_ok())
    };
    let (below, from): (Vec<u32>, Vec<u32>) = shard::widths(spec, 64).into_iter().partition(|&tp| tp < 8);
    from.into_iter().find(holds).or_else(|| below.into_iter().rev().find(holds))
}

/// Programs of one section in the deployment, and a line for each that is not tight.
fn sweep(model: &str, spec: &ModelSpec, chip: &Chip, form: Form, table: &mut String) -> u32 {
    let Some(tp) = width(spec, chip, form) else { return 0 };
    let kinds = kinds::programs(spec, form, tp, Weights::Config).unwrap();
    let Ok(layout) = lay(spec, chip, form, &kinds, 0) else { return 0 };
    let mut programs = 0;
    for (kind, spatial) in kinds.iter().zip(&layout.laid.spatial) {
        let [section] = &spatial.sections[..] else { continue };
        programs += 1;
        let over = section.interval - section.bound;
        if 256 * over > section.bound {
            let what = match form {
                Form::Decode { batch, .. } => format!("decode {batch}"),
                Form::Prefill { chunk, batch: 1, .. } => format!("prefill {chunk}"),
                Form::Prefill { chunk, batch, .. } => format!("prefill {chunk} of {batch}"),
                Form::Forward { rows } => format!("forward {rows}"),
            };
            let binder = format!("{:?}", section.binder).to_lowercase();
            let (over, at) = (format!("{over} over {}", section.bound), format!("{} tp {tp}", chip.name));
            writeln!(table, "{model}, {at}, {what}, {}: {over}, {binder}", kind.name).unwrap();
        }
    }
    programs
}

#[test]
fn programs_of_one_section_come_within_a_256th_of_their_bound() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/configs");
    let mut models: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    models.sort();
    let (mut table, mut programs) = (String::new(), 0);
    for path in models.into_iter().filter(|path| path.is_dir()) {
        let spec = crate::config::read(&std::fs::read(path.join("config.json")).unwrap()).unwrap();
        let ctx = spec.max_context.min(8192);
        let decodes = [1, 8, 64, 256].map(|batch| Form::Decode { ctx, batch });
        let prefills = [(128, 1), (512, 1), (128, 4)].map(|(chunk, batch)| Form::Prefill { ctx, chunk, batch });
        for chip in ["SN40L", "SN50"].map(|name| chip::lookup(name).unwrap()) {
            for form in decodes.into_iter().chain(prefills) {
                programs += sweep(&path.file_name().unwrap().to_string_lossy(), &spec, chip, form, &mut table);
            }
        }
    }
    assert!(programs > 1000, "{programs}");
    expect![[r#"
        gpt-oss-20b, SN40L tp 8, decode 256, attention, window 128, experts: 2350 over 352358, loop
        llama-3.2-1b-instruct, SN50 tp 8, decode 64, attention: 579 over 145221, memory
    "#]]
    .assert_eq(&table);
}

/// A decode's bundle, which the checker has gone through.
fn bundle(model: &str, chip: &str, tp: u32, batch: u32) -> Vec<u32> {
    let config = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/configs").join(model);
    let form = Form::Decode { ctx: 8192, batch };
    let deployment = DeploymentRequest::new("D", form, Some(tp));
    let config = std::fs::read(config.join("config.json")).unwrap();
    let request = Request {
        model: "m",
        config: &config,
        chip: chip.into(),
        weights: Weights::Config,
        checkpoint: None,
        vocabulary: Vocabulary::Exact,
        deployments: std::slice::from_ref(&deployment),
    };
    crate::compile(&request).unwrap().remove(0).words
}

/// The section of the first program with such a name.
fn section<'a>(bundle: &Bundle<'a>, name: &str) -> Section<'a> {
    let program = bundle.programs().find(|program| program.name().to_string().contains(name)).unwrap();
    program.sections().next().unwrap()
}

/// Experts come at the rate that the delta's states leave, which are stored at the same time: that, not the memory's whole rate, bounds the loop.
#[test]
fn what_is_stored_slows_down_what_ids_choose() {
    let words = bundle("qwen3.5-35b-a3b", "SN40L", 8, 256);
    let section = section(&Bundle::read(&words).unwrap(), "delta");
    assert_eq!(section.binder(), Binder::Loop);
    let memory = section.turns().map(|turn| turn.length_cycles()).sum::<u64>();
    assert!(section.bound_cycles() > memory, "{} against {memory}", section.bound_cycles());
}

/// The cache of 256 sequences is read as it is used, so the memory waited for the ids that depend on the last of it: now it reads the first of the next layer's.
#[test]
fn where_ids_are_waited_for_the_next_layers_cache_is_begun() {
    let words = bundle("mixtral-8x7b-v0.1", "SN40L", 8, 256);
    let section = section(&Bundle::read(&words).unwrap(), "attention");
    let (head, (of, firings)) = section.turns().find_map(|turn| Some((turn, turn.head_of()?))).unwrap();
    assert!(section.is_tight() && of.index() == 0, "{} against {}", section.interval_cycles(), section.bound_cycles());
    let ahead: Vec<_> = of.loads().filter(|load| load.start_cycles() < of.start_cycles()).collect();
    assert_eq!(ahead.len(), 2, "keys and values");
    for load in ahead {
        // What the turn begins with is the next of the same cache.
        assert_eq!(load.start_cycles() + u64::from(firings) * load.period_cycles(), of.start_cycles());
        assert_eq!(u64::from(firings) * load.period_cycles(), head.length_cycles());
    }
}
