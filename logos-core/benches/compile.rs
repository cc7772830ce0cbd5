//! How long the compiler takes, and how little that depends on the size of what is asked.
//!
//! Two times a row: the whole way from config to checked bundle, and of that the lowering and certifying of its programs,
//! which is to stay the same whatever the depth, width, context and batch. Both are the least of many runs, as the
//! machine is shared; a ratio is to the table's first row.
//!
//! `cargo bench -p logos-core` runs it optimised, `cargo bench -p logos-core --profile dev` as a proc macro runs. Times
//! are this machine's and this compiler's own; none is of a program it makes. A filter (`cargo bench -- depth`) picks
//! tables by name.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use logos_core::certify::{Composition, Duty, compose};
use logos_core::chip::{self, Chip};
use logos_core::kinds::{self, KindProgram, Role};
use logos_core::lower::Homes;
use logos_core::spatial::Tier;
use logos_core::{DeploymentRequest, Form, Request, Vocabulary, Weights, compile, config};

const CHIP: &str = "SN50";

/// Counts what is allocated at once: the peak of it is what a build pays.
struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is the system allocator's own; the counters are not read by it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(live, Ordering::Relaxed);
        // SAFETY: as the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const QWEN35: &[u8] = include_bytes!("../../tests/fixtures/configs/qwen3.5-27b/config.json");

/// One row of a table.
struct Case {
    label: String,
    config: Vec<u8>,
    deployments: Vec<DeploymentRequest>,
}

impl Case {
    fn new(label: impl Into<String>, config: &[u8], deployments: Vec<DeploymentRequest>) -> Self {
        Case { label: label.into(), config: config.to_vec(), deployments }
    }

    /// The words of all bundles.
    fn compile(&self) -> usize {
        let request = Request {
            model: "bench",
            config: &self.config,
            chip: CHIP.into(),
            weights: Weights::Config,
            checkpoint: None,
            vocabulary: Vocabulary::Exact,
            deployments: &self.deployments,
        };
        match compile(&request) {
            Ok(compiled) => compiled.iter().map(|c| c.words.len()).sum(),
            Err(refusals) => {
                let reasons: Vec<String> = refusals.iter().map(ToString::to_string).collect();
                panic!("{} is refused:\n{}", self.label, reasons.join("\n"))
            }
        }
    }

    /// Lowers and certifies every program of the deployments, as `compile` does between authoring and the bundle.
    fn lower(&self, programs: &[(DeploymentRequest, Vec<KindProgram>)]) {
        for (deployment, kinds) in programs {
            let seqs = u64::from(deployment.form.sequences());
            let rows = seqs * u64::from(deployment.form.tokens());
            let unit = chip().unit_at(deployment.chips());
            for kind in kinds {
                let head_of_prefill = kind.role == Role::Head && matches!(deployment.form, Form::Prefill { .. });
                let composed = compose(&Composition {
                    program: &kind.authored.program,
                    unit: &unit,
                    rows: if head_of_prefill { seqs } else { rows },
                    seqs,
                    duty: match kind.role {
                        Role::Embed | Role::Head => Duty::OnceAStep,
                        Role::Layer => Duty::Layers(kind.layers.len() as u64),
                    },
                    homes: &Homes::all_in(Tier::Hbm, Tier::Sram),
                });
                std::hint::black_box(
                    composed.unwrap_or_else(|error| panic!("{} of {}: {error:?}", kind.name, self.label)),
                );
            }
        }
    }

    fn programs(&self) -> Vec<(DeploymentRequest, Vec<KindProgram>)> {
        let spec = config::read(&self.config).expect("compiled before");
        let programs = |d: &DeploymentRequest| {
            kinds::programs(&spec, d.form, d.chips(), Weights::Config).expect("compiled before")
        };
        self.deployments.iter().map(|d| (d.clone(), programs(d))).collect()
    }

    /// The most bytes alive at once in a compilation.
    fn peak(&self) -> usize {
        let before = LIVE.load(Ordering::Relaxed);
        PEAK.store(before, Ordering::Relaxed);
        self.compile();
        PEAK.load(Ordering::Relaxed) - before
    }
}

/// The least time of many runs.
fn least(mut run: impl FnMut()) -> Duration {
    let begun = Instant::now();
    let mut best = Duration::MAX;
    let mut runs = 0;
    while runs < 10 || begun.elapsed() < Duration::from_millis(800) {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed());
        runs += 1;
    }
    best
}

fn chip() -> &'static Chip {
    chip::lookup(CHIP).expect("a known chip")
}

fn decode(tp: u32, ctx: u32, batch: u32) -> DeploymentRequest {
    DeploymentRequest::new("DECODE", Form::Decode { ctx, batch }, Some(tp))
}

fn prefill(tp: u32, ctx: u32, chunk: u32) -> DeploymentRequest {
    DeploymentRequest::new("PREFILL", Form::Prefill { ctx, chunk, batch: 1 }, Some(tp))
}

/// A dense model that admits every width up to 64 and a context of a million, so that one size can grow alone.
fn dense(layers: u32) -> Vec<u8> {
    format!(
        r#"{{"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 2048, "intermediate_size": 8192,
            "num_hidden_layers": {layers}, "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64,
            "vocab_size": 128000, "max_position_embeddings": 1048576, "rms_norm_eps": 1e-5, "rope_theta": 500000.0,
            "hidden_act": "silu", "tie_word_embeddings": false, "torch_dtype": "bfloat16"}}"#
    )
    .into_bytes()
}

fn tables() -> Vec<(&'static str, Vec<Case>)> {
    let grown = |name: &str, sizes: &[u32], case: &dyn Fn(u32) -> (Vec<u8>, DeploymentRequest)| -> Vec<Case> {
        let row = |&n| {
            let (config, deployment) = case(n);
            Case::new(format!("{name} {n}"), &config, vec![deployment])
        };
        sizes.iter().map(row).collect()
    };
    let qwen = || QWEN35.to_vec();
    vec![
        ("qwen3.5-27b", {
            let (d, p) = (decode(8, 262_144, 8), prefill(8, 262_144, 512));
            vec![
                Case::new("decode and prefill", QWEN35, vec![d.clone(), p.clone()]),
                Case::new("decode", QWEN35, vec![d]),
                Case::new("prefill", QWEN35, vec![p]),
            ]
        }),
        ("depth", grown("layers", &[64, 512, 4096], &|n| (dense(n), decode(16, 4096, 1)))),
        ("width", grown("tp", &[1, 8, 64], &|n| (dense(64), decode(n, 4096, 1)))),
        ("context", grown("ctx", &[4096, 65_536, 1_048_576], &|n| (dense(64), decode(8, n, 1)))),
        ("context, prefill", grown("ctx", &[4096, 65_536, 1_048_576], &|n| (dense(64), prefill(8, n, 512)))),
        ("batch", grown("batch", &[1, 16, 256], &|n| (dense(64), decode(8, 4096, n)))),
        ("batch, qwen3.5-27b", grown("batch", &[1, 16, 256], &|n| (qwen(), decode(8, 4096, n)))),
        ("chunk, qwen3.5-27b", grown("chunk", &[64, 512, 4096], &|n| (qwen(), prefill(8, 262_144, n)))),
    ]
}

fn main() {
    // `cargo bench` and `cargo test --benches` pass flags of the usual harness, which this is not.
    let mut arguments = std::env::args().skip(1);
    let testing = std::env::args().any(|a| a == "--test");
    let filter = arguments.find(|a| !a.starts_with('-')).unwrap_or_default();
    for (name, cases) in tables().into_iter().filter(|(name, _)| name.contains(&filter)) {
        println!("\n{name:<22} {:>11}         {:>11}", "whole", "lowering");
        let mut first = None;
        for case in cases {
            if testing {
                println!("  {:<24} {} words", case.label, case.compile());
                continue;
            }
            let words = case.compile();
            let peak = case.peak();
            let programs = case.programs();
            let times = [
                least(|| {
                    std::hint::black_box(case.compile());
                }),
                least(|| case.lower(&programs)),
            ];
            let [whole, lower] = times.map(|t| t.as_secs_f64() * 1e3);
            let base = *first.get_or_insert([whole, lower]);
            println!(
                "  {:<20} {whole:>8.2} ms x{:<5.2}  {lower:>8.2} ms x{:<5.2} {words:>7} words  {:>4} KiB alive at most",
                case.label,
                whole / base[0],
                lower / base[1],
                peak / 1024
            );
        }
    }
    if !testing && "chip file".contains(&filter) {
        chip_file();
    }
}

/// A process reads the file of the chip it is asked for once; what is above does not show it.
fn chip_file() {
    let text = chip::text(CHIP).expect("a known chip").replace("name = \"SN50\"", "name = \"SN50-own\"");
    let time = least(|| {
        std::hint::black_box(Chip::read("sn50.toml", text.as_bytes()).expect("a chip"));
    });
    println!("\nchip file\n  {CHIP:<20} {:>8.2} ms", time.as_secs_f64() * 1e3);
}
