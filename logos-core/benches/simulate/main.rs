//! How fast a bundle is executed on the host, beside a plain loop over the same products.
//!
//! The model has the shape of Gemma-3-270M, with random weights written under `target/`. A decode step is executed firing by
//! firing from its bundle and mapped bf16 weights; the plain loop has the same matrices as f32 in memory and nothing else to do. The
//! ratio is what is reported. `cargo bench -p logos-core --features simulate,checkpoint --bench simulate`.

mod checkpoint;

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use logos_bundle::view::Bundle;
use logos_core::checkpoint::{Checkpoint, ModelWeights, TensorRead};
use logos_core::simulate::machine::Machine;
use logos_core::spec::{ModelSpec, inventory};
use logos_core::{DeploymentRequest, Form, Request, Vocabulary, Weights, compile, config};

/// The shape of Gemma-3-270M.
const CONFIG: &str = include_str!("gemma-3-270m.json");
/// Positions, and those of the prefill bundle's chunk.
const CTX: u32 = 256;
const CHUNK: u32 = 128;
/// Decode steps timed, each followed by a plain loop; the least time of each counts, as the machine is shared.
const STEPS: usize = 32;

fn main() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("gemma-3-270m");
    checkpoint::write(&folder, CONFIG).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    println!("checkpoint: {}", folder.display());
    let checkpoint = Checkpoint::open(&folder).unwrap_or_else(|refusal| panic!("{refusal}"));
    let spec = config::read(CONFIG.as_bytes()).unwrap_or_else(|refusals| panic!("{refusals:?}"));
    let weights = checkpoint.weights(&spec).unwrap_or_else(|refusals| panic!("{refusals:?}"));

    let mut decode = machine(&weights, Form::Decode { ctx: CTX, batch: 1 });
    let plain = Plain::new(&spec, &checkpoint);
    let mut tokens = vec![1];
    let [mut executed, mut dots, mut gemm] = [Duration::MAX; 3];
    for _ in 0..STEPS {
        let start = Instant::now();
        let output = decode.step(&tokens[tokens.len() - 1..]).unwrap_or_else(|error| panic!("{error}"));
        executed = executed.min(start.elapsed());
        tokens.extend(output.tokens);
        dots = dots.min(plain.time(dot_product));
    }
    for _ in 0..STEPS / 8 {
        gemm = gemm.min(plain.time(sgemm));
    }
    let prefill = time_prefill(machine(&weights, Form::Prefill { ctx: CTX, chunk: CHUNK, batch: 1 }));

    println!("tokens {tokens:?}");
    let of = |time: Duration| time.as_secs_f64() / executed.as_secs_f64();
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    println!("decode step, executed        {:8.1} ms", milliseconds(executed));
    println!("plain loop, dot products     {:8.1} ms: executing is {:.2} as fast", milliseconds(dots), of(dots));
    println!("plain loop, matrixmultiply   {:8.1} ms: executing is {:.2} as fast", milliseconds(gemm), of(gemm));
    println!("prefill, a token             {:8.1} ms: {:.2} of a step", milliseconds(prefill), of(prefill));
}

fn machine(weights: &ModelWeights<'_>, form: Form) -> Machine {
    let deployments = [DeploymentRequest::new("D", form, Some(1))];
    let request = Request {
        model: "gemma-3-270m",
        config: CONFIG.as_bytes(),
        chip: "SN50".into(),
        weights: Weights::Config,
        checkpoint: None,
        vocabulary: Vocabulary::Exact,
        deployments: &deployments,
    };
    let compiled = compile(&request).unwrap_or_else(|refusals| panic!("{refusals:?}"));
    let bundle = Bundle::read(&compiled[0].words).expect("the compiler's bundle reads");
    if std::env::var_os("SHOW").is_some() {
        for program in bundle.programs() {
            for section in program.sections() {
                let firings: u64 = section.stages().map(|stage| u64::from(stage.firings())).sum();
                println!("{program}: {} stages, {firings} firings", section.stages().count());
            }
        }
    }
    Machine::new(&bundle, weights).unwrap_or_else(|error| panic!("{error}"))
}

/// The least time of a chunk, a token.
fn time_prefill(mut machine: Machine) -> Duration {
    let prompt: Vec<u32> = (0..CHUNK).map(|i| i * 977 % 262_144).collect();
    let chunk = || {
        let start = Instant::now();
        machine.restart(0).unwrap_or_else(|error| panic!("{error}"));
        black_box(machine.step(&prompt).unwrap_or_else(|error| panic!("{error}")));
        start.elapsed() / CHUNK
    };
    std::iter::repeat_with(chunk).take(STEPS / 8).min().unwrap_or_default()
}

/// Every matrix of a step as f32, rows of outputs.
struct Plain(Vec<(usize, usize, Vec<f32>)>);

impl Plain {
    fn new(spec: &ModelSpec, checkpoint: &Checkpoint) -> Plain {
        let inventory = inventory(spec).unwrap_or_else(|refusal| panic!("{refusal}"));
        let matrices = inventory.iter().filter(|tensor| tensor.shape.len() == 2).map(|tensor| {
            let view = checkpoint.tensor(&tensor.name).ok().flatten().expect("written with the others");
            (view.rows(), view.columns(), view.values().into_owned())
        });
        // The embedding is the head, too: it is multiplied once.
        Plain(matrices.collect())
    }

    /// The time of every product with a vector, one after another.
    fn time(&self, product: fn(&[f32], &[f32], &mut [f32])) -> Duration {
        let widest = self.0.iter().map(|(rows, columns, _)| *rows.max(columns)).max().unwrap_or(0);
        let x = vec![0.5f32; widest];
        let mut y = vec![0.0f32; widest];
        let start = Instant::now();
        for (rows, columns, w) in &self.0 {
            product(&x[..*columns], w, &mut y[..*rows]);
            black_box(&mut y);
        }
        start.elapsed()
    }
}

fn dot_product(x: &[f32], w: &[f32], y: &mut [f32]) {
    for (y, w) in y.iter_mut().zip(w.chunks_exact(x.len())) {
        let mut sums = [0.0f32; 16];
        for (x, w) in x.as_chunks::<16>().0.iter().zip(w.as_chunks::<16>().0) {
            for lane in 0..16 {
                sums[lane] += x[lane] * w[lane];
            }
        }
        *y = sums.iter().sum();
    }
}

fn sgemm(x: &[f32], w: &[f32], y: &mut [f32]) {
    let (k, n) = (x.len(), y.len());
    assert!(w.len() == n * k, "a row of k weights for each of n results");
    // SAFETY: x has k elements, w n rows of k, y n elements, as the strides say.
    unsafe {
        matrixmultiply::sgemm(
            1,
            k,
            n,
            1.0,
            x.as_ptr(),
            k as isize,
            1,
            w.as_ptr(),
            1,
            k as isize,
            0.0,
            y.as_mut_ptr(),
            n as isize,
            1,
        );
    }
}
