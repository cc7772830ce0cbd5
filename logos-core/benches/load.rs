//! How fast a chip's slices are loaded from a mapped file, beside a plain sequential read of as many bytes.
//!
//! The model has the shape of Gemma-3-270M, with random weights written under `target/`; its slices are a chip's of four: whole rows,
//! runs of columns, and what every chip has. Both start with the file closed and in the page cache and end with the bytes in
//! memory; they take turns, and the least time of each counts, as the machine is shared. `cargo bench -p logos-core --features checkpoint
//! --bench load`.

#[path = "simulate/checkpoint.rs"]
mod checkpoint;

use std::fs::File;
use std::hint::black_box;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

use logos_bundle::load::{Ranges, ReadAt};
use logos_bundle::view::Bundle;
use logos_core::checkpoint::Checkpoint;
use logos_core::checkpoint::load::{Files, Loader};
use logos_core::{DeploymentRequest, Form, Request, Weights, compile};

/// The shape of Gemma-3-270M.
const CONFIG: &str = include_str!("simulate/gemma-3-270m.json");
const CHIPS: u32 = 4;
/// Runs of each.
const RUNS: usize = 12;

fn main() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("gemma-3-270m");
    let path = checkpoint::write(&folder, CONFIG).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let opened = Checkpoint::open(&folder).unwrap_or_else(|refusal| panic!("{refusal}"));
    let words = bundle();
    let bundle = Bundle::read(&words).expect("the compiler's bundle reads");
    let loader = Loader::new(bundle, &opened);
    for chip in [0, CHIPS - 1] {
        let slices = slices(&loader, chip);
        let bytes = slices.count();
        let runs = slices.as_slice().len();
        let [mut mapped, mut positioned, mut plain, mut fetched] = [Duration::MAX; 4];
        let mut memory = vec![0u8; usize::try_from(bytes).expect("it fits memory")];
        for _ in 0..RUNS {
            plain = plain.min(timed(|| sequential(&path, &mut memory)));
            mapped = mapped.min(timed(|| {
                let opened = Checkpoint::open(&folder).unwrap_or_else(|refusal| panic!("{refusal}"));
                read(&slices, &opened, &mut memory);
            }));
            positioned = positioned.min(timed(|| {
                let files = Files::open(&folder, opened.headers()).expect("the file opens");
                read(&slices, &files, &mut memory);
            }));
            fetched = fetched.min(timed(|| {
                black_box(loader.fetch(chip, &opened).unwrap_or_else(|error| panic!("{error}")));
            }));
        }
        let of = |time: Duration| plain.as_secs_f64() / time.as_secs_f64();
        let rate = bytes as f64 / plain.as_secs_f64() / 1e9;
        println!("chip {chip}: {bytes} bytes in {runs} runs, read sequentially at {rate:.2} GB/s; of that speed");
        println!("  slices of a mapped file          {:.2}", of(mapped));
        println!("  slices read at their positions   {:.2}", of(positioned));
        println!("  the simulator's chip, and what to read found anew  {:.2}", of(fetched));
    }
}

fn bundle() -> Vec<u32> {
    let form = Form::Decode { ctx: 256, batch: 1 };
    let deployments = [DeploymentRequest::new("D", form, Some(CHIPS))];
    let request = Request {
        model: "gemma-3-270m",
        config: CONFIG.as_bytes(),
        chip: "SN50".into(),
        weights: Weights::Config,
        checkpoint: None,
        vocabulary: logos_core::Vocabulary::Exact,
        deployments: &deployments,
    };
    compile(&request).unwrap_or_else(|refusals| panic!("{refusals:?}")).remove(0).words
}

/// Of the only file, each byte once.
fn slices(loader: &Loader<'_>, chip: u32) -> Ranges {
    let mut slices = Ranges::default();
    let loads = loader.chip(chip).unwrap_or_else(|error| panic!("{error}"));
    for load in loads {
        let load = load.unwrap_or_else(|error| panic!("{error}"));
        slices.extend(load.parts.into_iter().flat_map(|part| part.ranges));
    }
    slices.merged()
}

fn timed(run: impl FnOnce()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

fn sequential(path: &Path, memory: &mut [u8]) {
    let mut file = File::open(path).expect("the file opens");
    file.read_exact(memory).expect("the file is longer than a chip's slices");
    black_box(memory);
}

fn read(slices: &Ranges, source: &impl ReadAt, memory: &mut [u8]) {
    slices.read(source, 0, memory).expect("slices lie in the file");
    black_box(memory);
}
