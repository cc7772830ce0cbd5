use super::*;
use crate::fit::inventory::{Inventory, inventory, tests::spec_of, tests::zoo};
use crate::kinds::Role;
use crate::request::Weights;
use crate::shard;
use crate::spec::{Mixer, ModelSpec};

fn decode(spec: &ModelSpec, (ctx, batch): (u32, u32), tp: u32) -> (Vec<KindProgram>, StepWork) {
    let form = Form::Decode { ctx, batch };
    let programs = kinds::programs(spec, form, tp, Weights::Config).unwrap();
    let work = step(&programs, form).unwrap();
    (programs, work)
}

/// The work of the first kind whose name says so.
fn kind<'w>((programs, work): &'w (Vec<KindProgram>, StepWork), name: &str) -> &'w Works {
    let at = programs.iter().position(|kind| kind.name.starts_with(name)).unwrap();
    &work.programs[at]
}

/// F4: one a weight element of each matrix and row: all that is no norm, and no table that is looked up.
#[test]
fn a_dense_model_accumulates_its_matrices() {
    let (_, work) = decode(&spec_of("llama-3.1-8b"), (131_072, 1), 1);
    let macs = work.total.whole.macs;
    assert_eq!(macs.weights, 8_030_261_248 - 128_256 * 4096 - 65 * 4096);
    assert_eq!(work.head.whole.macs.weights, 128_256 * 4096);
    assert_eq!(macs.attention, 32 * 32 * (128 + 128) * 131_072);
    assert_eq!((macs.recurrence, macs.convolution), (0, 0));
    assert_eq!(macs.total().unwrap(), macs.weights + macs.attention);
}

/// F4: of 256 experts eight, and one that all tokens pass.
#[test]
fn a_mixture_accumulates_its_active_experts() {
    let (_, work) = decode(&spec_of("deepseek-v3"), (4096, 1), 1);
    let norms = 61 * (2 * 7168 + 1536 + 512) + 7168;
    let asleep = 58 * (256 - 8) * 3 * 7168 * 2048;
    assert_eq!(work.total.whole.macs.weights, 671_026_404_352 - 129_280 * 7168 - norms - asleep);
    // 128 heads over one latent of 512 with 64 turned columns.
    assert_eq!(work.total.whole.macs.attention, 61 * 128 * (512 + 64 + 512) * 4096);
}

/// F4: four passes over the memory of 48 value heads; four taps over 10240 channels; attention in every fourth layer.
#[test]
fn a_hybrid_of_recurrences_and_attention() {
    let spec = spec_of("qwen3.5-27b");
    let step = decode(&spec, (262_144, 1), 8);
    let delta = kind(&step, "gated deltanet");
    assert_eq!(delta.whole.macs.recurrence, 4 * 48 * 128 * 128);
    assert_eq!(delta.whole.macs.convolution, 4 * 10_240);
    assert_eq!((delta.whole.macs.attention, delta.a_chip.macs.recurrence), (0, 4 * 6 * 128 * 128));
    let attention = kind(&step, "attention");
    assert_eq!(attention.whole.macs.attention, 24 * (256 + 256) * 262_144);
    assert_eq!(attention.a_chip.macs.attention, 3 * (256 + 256) * 262_144);
    let projections = 5120 * (3 * 24 * 256 + 24 * 256 - 2 * 24 * 256 + 2 * 4 * 256 + 3 * 17_408);
    assert_eq!(attention.whole.macs.weights, projections + 5120 * 24 * 256);
    // KV heads are copied beyond their four: a chip's part of keys and values is a quarter, of all else an eighth.
    let eighth = 5120 * (3 * 24 * 256 + 3 * 17_408) / 8;
    assert_eq!(attention.a_chip.macs.weights, eighth + 5120 * 2 * 256);
    let all = step.1.total.whole.macs;
    assert_eq!((all.recurrence, all.convolution), (48 * 4 * 48 * 128 * 128, 48 * 4 * 10_240));
    assert_eq!(all.attention, 16 * 24 * 512 * 262_144);
}

/// F4: windows and chunks bound attention; the row at the end of a context sees what is left of its chunk.
#[test]
fn windows_and_chunks_bound_attention() {
    let spec = spec_of("gemma-3-27b-it");
    let macs = |ctx| decode(&spec, (ctx, 1), 1).1.total.whole.macs.attention;
    let a_position = 32 * (128 + 128);
    assert_eq!(macs(131_072), (10 * 131_072 + 52 * 1024) * a_position);
    assert_eq!(macs(700), 62 * 700 * a_position);
    let spec = spec_of("llama-4-scout-17b-16e-instruct");
    let macs = |ctx| decode(&spec, (ctx, 1), 1).1.total.whole.macs.attention;
    let a_position = 40 * (128 + 128);
    assert_eq!(macs(131_072), (12 * 131_072 + 36 * 8192) * a_position);
    assert_eq!(macs(8200), (12 * 8200 + 36 * 8) * a_position);
}

#[test]
fn a_chunk_of_prefill_sees_a_triangle() {
    let spec = spec_of("llama-3.1-8b");
    let form = Form::Prefill { ctx: 1000, chunk: 10, batch: 1 };
    let programs = kinds::programs(&spec, form, 1, Weights::Config).unwrap();
    let macs = step(&programs, form).unwrap().total.whole.macs;
    let seen: u64 = (991..=1000).sum();
    assert_eq!(macs.attention, 32 * 32 * 256 * seen);
    assert_eq!(macs.a_row(10), None, "its rows see unlike numbers of positions");
    let batch = decode(&spec, (1000, 10), 1).1.total.whole.macs;
    assert_eq!(batch.a_row(10), Some(decode(&spec, (1000, 1), 1).1.total.whole.macs));
}

/// F4, S11: several sequences of a prefill accumulate as often as each alone, read every weight once, and each its own caches.
#[test]
fn sequences_of_a_prefill_share_the_weights_alone() {
    for name in ["llama-3.1-8b", "qwen3.5-27b"] {
        let spec = spec_of(name);
        let of = |batch| {
            let form = Form::Prefill { ctx: 1000, chunk: 10, batch };
            let work = step(&kinds::programs(&spec, form, 1, Weights::Config).unwrap(), form).unwrap();
            (work.rows, work.layers.whole, work.total.whole.macs)
        };
        let ((one_rows, one, one_macs), (rows, three, macs)) = (of(1), of(3));
        assert_eq!((one_rows, rows), (10, 30));
        assert_eq!(macs.weights, 3 * one_macs.weights, "{name}: of the head one row a sequence");
        assert_eq!((macs.attention, macs.recurrence), (3 * one_macs.attention, 3 * one_macs.recurrence));
        assert_eq!(three.traffic.weights, one.traffic.weights, "{name}");
        assert_eq!(three.traffic.states_read, 3 * one.traffic.states_read, "{name}");
        assert_eq!(three.traffic.states_written, 3 * one.traffic.states_written, "{name}");
    }
}

/// F4: a decode step reads every weight once and the cache up to the step, and writes one position.
#[test]
fn traffic_of_a_dense_model() {
    let spec = spec_of("llama-3.1-8b");
    let step = decode(&spec, (4096, 2), 8);
    let Works { whole, a_chip } = *kind(&step, "attention");
    let layer = 4096 * (2 * 4096 + 2 * 1024 + 3 * 14_336);
    assert_eq!(
        whole.traffic,
        Traffic {
            weights: 2 * (layer + 2 * 4096),
            // 64 cosines and 64 sines a row, in f32.
            tables: 2 * 2 * 64 * 4,
            states_read: 2 * 2 * 4095 * 1024 * 2,
            states_written: 2 * 2 * 1024 * 2,
            // The hidden state and a position a row.
            inputs: 2 * 4096 * 2 + 2 * 4,
            outputs: 2 * 4096 * 2,
        }
    );
    assert_eq!(a_chip.traffic.weights, 2 * (layer / 8 + 2 * 4096));
    assert_eq!((a_chip.traffic.states_read, a_chip.traffic.states_written), (2 * 2 * 4095 * 128 * 2, 2 * 2 * 128 * 2));
    assert_eq!((a_chip.traffic.inputs, a_chip.traffic.tables), (whole.traffic.inputs, whole.traffic.tables));
    // The embedding is looked up, not read.
    let at = step.0.iter().position(|kind| kind.role == Role::Embed).unwrap();
    assert_eq!(step.1.programs[at].whole.traffic.weights, 2 * 4096 * 2);
    assert_eq!(step.1.head.whole.traffic.weights, 2 * 4096 * (128_256 + 1));
}

/// F4: a mixture reads the experts that its rows can choose, and all of them once there are rows enough.
#[test]
fn traffic_of_a_mixture() {
    let spec = spec_of("mixtral-8x7b-v0.1");
    let expert = 3 * 4096 * 14_336 * 2;
    let read = |batch| kind(&decode(&spec, (512, batch), 1), "attention").whole.traffic.weights;
    let rest = read(1) - 2 * expert;
    assert_eq!(rest, 2 * (4096 * (2 * 4096 + 2 * 1024 + 8) + 2 * 4096));
    assert_eq!([2, 3, 4, 32].map(|batch| (read(batch) - rest) / expert), [4, 6, 8, 8]);
}

/// F4: a recurrence reads and writes its whole memory and its last inputs.
#[test]
fn traffic_of_a_recurrence() {
    let step = decode(&spec_of("qwen3.5-27b"), (4096, 3), 8);
    let Works { whole, a_chip } = *kind(&step, "gated deltanet");
    let state = 48 * 128 * 128 * 4 + 3 * 10_240 * 2;
    assert_eq!((whole.traffic.states_read, whole.traffic.states_written), (3 * state, 3 * state));
    assert_eq!((a_chip.traffic.states_read, a_chip.traffic.states_written), (3 * state / 8, 3 * state / 8));
    // A window reads one position less than it holds; a chunk what came before in it.
    let windows = decode(&spec_of("gemma-3-27b-it"), (131_072, 1), 1);
    assert_eq!(kind(&windows, "attention, window").whole.traffic.states_read, 2 * 1023 * 16 * 128 * 2);
    let chunks = decode(&spec_of("llama-4-scout-17b-16e-instruct"), (8200, 1), 1);
    assert_eq!(kind(&chunks, "attention, chunks").whole.traffic.states_read, 2 * 7 * 8 * 128 * 2);
}

/// F4: of every released model, what two ways to the same number give.
#[test]
fn figures_of_all_models_agree_with_their_inventory() {
    for (name, spec) in zoo() {
        let widths: Vec<u32> = shard::widths(&spec, 8).into_iter().filter(|tp| [1, 8].contains(tp)).collect();
        for tp in widths {
            let (programs, work) = decode(&spec, (4096, 1), tp);
            let stock: Inventory<'_> = inventory(&spec, &programs).unwrap();
            // Rows enough to choose every expert read every weight, the table of tokens aside.
            let full = decode(&spec, (4096, 1024), tp).1;
            let table = stock.weights.embedding.bytes;
            let looked_up = full.programs[0].whole.traffic.weights;
            let tied = if spec.head.tied { table } else { 0 };
            let read = full.total.whole.traffic.weights - looked_up + table - tied;
            assert_eq!(read, stock.weights.total.bytes, "{name} tp {tp}");
            // Whole figures are the same at every width; a chip has at least its part of them.
            let at_one = decode(&spec, (4096, 1), 1).1;
            assert_eq!(work.total.whole.macs, at_one.total.whole.macs, "{name} tp {tp}");
            let (whole, a_chip) = (work.total.whole.macs.total().unwrap(), work.total.a_chip.macs.total().unwrap());
            assert!(u64::from(tp) * a_chip >= whole && a_chip <= whole, "{name} tp {tp}");
            if tp == 1 {
                assert_eq!(work.total.whole, work.total.a_chip, "{name}");
            }
            let latent = spec.layers.iter().any(|layer| matches!(layer.mixer, Mixer::Latent(_)));
            // A decode step of one row is about one accumulation for an element of a weight, of two bytes or four.
            let intensity = work.layers.whole.intensity().unwrap();
            assert!(latent || (20..260).contains(&intensity.hundredths()), "{name}: {intensity}");
        }
    }
}

#[test]
fn intensity_is_exact_and_shown_rounded() {
    let of = |macs, bytes| Intensity { macs, bytes };
    assert_eq!((of(1, 3).to_string(), of(2, 3).to_string()), ("0.33".into(), "0.67".into()));
    assert_eq!((of(1, 200).to_string(), of(7, 0).to_string()), ("0.01".into(), "0.00".into()));
    assert_eq!(of(u64::MAX, 1).hundredths(), u64::MAX);
    assert_eq!(of(995, 1000).rounded(), 1.0);
}

#[test]
fn operations_are_named_by_what_they_accumulate() {
    let names = |of| operations(of).collect::<Vec<_>>();
    assert_eq!(names(MacsOf::Weights), ["matmul", "head matmul", "experts"]);
    assert_eq!(names(MacsOf::Attention), ["attention", "latent attention"]);
    assert_eq!((names(MacsOf::Recurrence), names(MacsOf::Convolution)), (vec!["gated delta"], vec!["causal conv"]));
}

/// Sizes that leave 64 bits are refused, in a sentence that says so.
#[test]
fn sizes_beyond_64_bits_are_refused() {
    let macs = Macs { weights: u64::MAX, attention: 1, ..Macs::default() };
    assert_eq!(macs.total(), Err(TooLarge));
    let work = Work { macs: Macs { weights: u64::MAX / 2, ..Macs::default() }, ..Work::default() };
    assert_eq!(Work::default().add(&work, 3), Err(TooLarge));
    let huge = Traffic { weights: u64::MAX, inputs: 1, ..Traffic::default() };
    assert_eq!(huge.total(), Err(TooLarge));
    assert_eq!(crate::Refusal::from(TooLarge).code, crate::Code::SizeOverflow);
    // Rows times columns times outputs of a product, each within 32 bits.
    let text = "## Main\nActivations are bf16.\nLet x be a 1048576 by 16777216 input of Real.\n\
                Let w be a 16777216 by 16777216 weight of Real, stored bf16.\nLet y be x matmul w.\nShow y.\n";
    assert_eq!(program(&crate::language::parse(text).unwrap(), 1), Err(TooLarge));
}
