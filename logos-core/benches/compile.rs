//! How long the compiler takes, and how little that depends on the size of what is asked.
//!
//! `cargo bench -p logos-core` runs it optimised, `cargo bench -p logos-core --profile dev` as a proc macro runs. Times
//! are this machine's and this compiler's own; none is of a program it makes. A filter (`cargo bench -- depth`) picks
//! tables by name.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use logos_core::{DeploymentRequest, Form, Request, Weights, compile};

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
            chip: "SN50",
            weights: Weights::Config,
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

    /// Median of some runs, the bundle's words, and the most bytes alive at once.
    fn measure(&self) -> (Duration, usize, usize) {
        let before = LIVE.load(Ordering::Relaxed);
        PEAK.store(before, Ordering::Relaxed);
        let words = self.compile();
        let peak = PEAK.load(Ordering::Relaxed) - before;
        let mut times: Vec<Duration> = Vec::new();
        let begun = Instant::now();
        while times.len() < 5 || (times.len() < 51 && begun.elapsed() < Duration::from_millis(1500)) {
            let start = Instant::now();
            std::hint::black_box(self.compile());
            times.push(start.elapsed());
        }
        times.sort_unstable();
        (times[times.len() / 2], words, peak)
    }
}

fn decode(tp: u32, ctx: u32, batch: u32) -> DeploymentRequest {
    DeploymentRequest { name: "DECODE".into(), form: Form::Decode { ctx, batch }, tp }
}

fn prefill(tp: u32, ctx: u32, chunk: u32) -> DeploymentRequest {
    DeploymentRequest { name: "PREFILL".into(), form: Form::Prefill { ctx, chunk }, tp }
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
        println!("\n{name}");
        let mut first = None;
        for case in cases {
            if testing {
                println!("  {:<24} {} words", case.label, case.compile());
                continue;
            }
            let (median, words, peak) = case.measure();
            let base = *first.get_or_insert(median);
            println!(
                "  {:<24} {:>9.2} ms  x{:<5.2} {:>7} words  {:>6} KiB alive at most",
                case.label,
                median.as_secs_f64() * 1e3,
                median.as_secs_f64() / base.as_secs_f64(),
                words,
                peak / 1024
            );
        }
    }
}
