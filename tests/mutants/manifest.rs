//! What the programs make together: layers and who runs them, bindings and slices, bytes.

use logos_bundle::table::layout::{Part, ROW, binding, chip, deployment, layer, program, storage, value};

use super::places::ProgramRows;
use super::trial::{Kind, Trial};

pub(crate) fn run(trial: &mut Trial<'_>) {
    layers(trial);
    let table = trial.table();
    for program in table.programs() {
        for b in program.bindings.clone() {
            named(trial, &program, b);
            if table.get(Part::Bindings, b, binding::CLASS) == 0 {
                sliced(trial, &program, b);
            }
        }
        for v in program.values.clone() {
            tiers(trial, &program, v);
        }
    }
    totals(trial);
}

fn layers(trial: &mut Trial<'_>) {
    let table = trial.table();
    let programs = table.rows(Part::Programs).len() as u32;
    for l in 0..table.rows(Part::Layers).len() {
        for other in 0..programs {
            trial.reject(Kind("layer of another program", &[1]), format_args!("layer {l}"), |t| {
                t.set(Part::Layers, l, layer::PROGRAM, other);
            });
        }
        trial.reject(Kind("layer dropped", &[1]), format_args!("layer {l}"), |t| t.remove_loose(Part::Layers, l));
    }
    let layers = table.get(Part::Deployment, 0, deployment::LAYERS);
    for other in [layers - 1, layers + 1] {
        trial.reject(Kind("layers of the model", &[1]), other, |t| {
            t.set(Part::Deployment, 0, deployment::LAYERS, other);
        });
    }
    for p in 0..programs as usize {
        for by in [1, u32::MAX] {
            for (field, kind) in [
                (program::LAYERS, Kind("layers that run a program", &[1])),
                (program::FIRST_LAYER, Kind("first layer of a program", &[1])),
                (program::ROLE, Kind("role of a program", &[0, 1])),
                (program::ROWS, Kind("rows of a program", &[0, 1])),
            ] {
                trial.reject(kind, format_args!("program {p}"), |t| {
                    let word = t.get(Part::Programs, p, field).wrapping_add(by);
                    t.set(Part::Programs, p, field, word);
                });
            }
        }
    }
}

fn named(trial: &mut Trial<'_>, program: &ProgramRows, b: usize) {
    let table = trial.table();
    let site = format!("binding {b}");
    trial.reject(Kind("binding dropped", &[1]), &site, |t| {
        t.remove(Part::Bindings, program.index, b);
    });
    trial.reject(Kind("binding doubled", &[0, 1]), &site, |t| {
        let row = t.rows(Part::Bindings)[b];
        t.insert(Part::Bindings, program.index, b, row);
    });
    for by in [1, u32::MAX] {
        for (field, kind) in [
            (binding::VALUE, Kind("binding of another value", &[0, 1])),
            (binding::CLASS, Kind("class of a binding", &[0, 1])),
        ] {
            trial.reject(kind, &site, |t| {
                let word = t.get(Part::Bindings, b, field).wrapping_add(by);
                t.set(Part::Bindings, b, field, word);
            });
        }
    }
    if table.get(Part::Bindings, b, binding::CLASS) != 0 {
        trial.reject(Kind("tensor of what no checkpoint holds", &[11]), &site, |t| {
            t.set(Part::Bindings, b, binding::TENSOR + 1, 1);
        });
        trial.reject(Kind("slice of what no checkpoint holds", &[11]), &site, |t| {
            t.set(Part::Bindings, b, binding::RUN, 1);
        });
    }
}

fn sliced(trial: &mut Trial<'_>, program: &ProgramRows, b: usize) {
    let table = trial.table();
    let site = format!("binding {b}");
    let v = program.values.start + table.get(Part::Bindings, b, binding::VALUE) as usize;
    let (run, count) = (table.get(Part::Bindings, b, binding::RUN), table.get(Part::Bindings, b, binding::COUNT));
    if table.get(Part::Values, v, value::STORAGE) == storage::F8_E4M3 && count == 1 && run.is_multiple_of(4) {
        // The same indices, in runs that are no whole blocks.
        trial.reject(Kind("F8_E4M3 taken from within a block", &[11]), &site, |t| {
            t.set(Part::Bindings, b, binding::RUN, run / 4);
            t.set(Part::Bindings, b, binding::STRIDE, run / 4);
            t.set(Part::Bindings, b, binding::COUNT, 4);
        });
    }
    for by in [1, u32::MAX] {
        for (field, kind) in [
            (binding::OFFSET, Kind("first stored index", &[0, 11])),
            (binding::RUN, Kind("indices of a run", &[11])),
            (binding::STRIDE, Kind("distance between runs", &[11])),
            (binding::COUNT, Kind("runs", &[11])),
            (binding::STORED, Kind("stored axis 0", &[11])),
            (binding::STORED + 1, Kind("stored axis 1", &[11])),
            (binding::STACKED, Kind("axis of the experts", &[0, 11])),
            (binding::PADDING, Kind("zeros after the last stored index", &[0, 11])),
        ] {
            trial.reject(kind, &site, |t| {
                let word = t.get(Part::Bindings, b, field).wrapping_add(by);
                t.set(Part::Bindings, b, field, word);
            });
        }
    }
    trial.reject(Kind("weight of no tensor", &[11]), &site, |t| t.set(Part::Bindings, b, binding::TENSOR + 1, 0));
    let v = program.values.start + table.get(Part::Bindings, b, binding::VALUE) as usize;
    if table.get(Part::Values, v, value::ROWS) != table.get(Part::Values, v, value::COLS) {
        trial.reject(Kind("weight transposed", &[11]), &site, |t| {
            let word = 1 - t.get(Part::Bindings, b, binding::TRANSPOSED);
            t.set(Part::Bindings, b, binding::TRANSPOSED, word);
        });
        trial.reject(Kind("indices taken along the other axis", &[11]), &site, |t| {
            let word = 1 - t.get(Part::Bindings, b, binding::TAKEN);
            t.set(Part::Bindings, b, binding::TAKEN, word);
        });
    }
    // Another weight's tensor: one is then taken twice.
    for other in program.bindings.clone().filter(|&other| other != b) {
        if table.get(Part::Bindings, other, binding::CLASS) == 0 {
            trial.reject(Kind("two weights of one tensor", &[11]), format_args!("{site} as {other}"), |t| {
                for field in binding::TENSOR..=binding::TENSOR + 1 {
                    let word = t.get(Part::Bindings, other, field);
                    t.set(Part::Bindings, b, field, word);
                }
                for field in (binding::TRANSPOSED..=binding::PADDING).filter(|&field| field != binding::CLASS) {
                    let word = t.get(Part::Bindings, other, field);
                    t.set(Part::Bindings, b, field, word);
                }
            });
        }
    }
}

fn tiers(trial: &mut Trial<'_>, program: &ProgramRows, v: usize) {
    let table = trial.table();
    let [role, tier, flags] = [value::ROLE, value::TIER, value::FLAGS].map(|field| table.get(Part::Values, v, field));
    // What the head shows is nobody's input: any memory will do.
    let last = program.role == 2 && table.get(Part::Values, v, value::STORAGE) == storage::I32;
    if table.is_activation(v) && tier != u32::MAX && !last {
        for other in (0..3).filter(|&other| other != tier) {
            trial.reject(
                Kind("hidden or crossing value in another tier", &[4, 6, 8, 9]),
                format_args!("value {v}"),
                |t| {
                    t.set(Part::Values, v, value::TIER, other);
                },
            );
        }
    }
    if role == 4 && tier == u32::MAX {
        trial.reject(Kind("tier of a value that crosses nothing", &[9]), format_args!("value {v}"), |t| {
            t.set(Part::Values, v, value::TIER, 0);
        });
    }
    if role == 1 && flags == 0 {
        // Its bytes are left out of the deployment's as well.
        let bytes = bytes(trial, program, v);
        trial.reject(Kind("weight that nobody counts", &[9]), format_args!("value {v}"), |t| {
            t.set(Part::Values, v, value::FLAGS, 1);
            let all = t.wide(Part::Deployment, 0, deployment::WEIGHT_BYTES);
            t.set_wide(Part::Deployment, 0, deployment::WEIGHT_BYTES, all - bytes);
        });
    }
}

/// Bytes of a weight on a chip, in all layers.
fn bytes(trial: &Trial<'_>, program: &ProgramRows, v: usize) -> u64 {
    let bundle = logos_bundle::view::Bundle::read(&trial.subject.words).expect("a bundle");
    let of = bundle.program(program.index as u32).expect("the program");
    let value = of.value((v - program.values.start) as u32).expect("the value");
    value.bytes() * u64::from(of.layer_count())
}

fn totals(trial: &mut Trial<'_>) {
    let table = trial.table();
    for (field, kind) in [
        (deployment::WEIGHT_BYTES, Kind("weight bytes", &[9])),
        (deployment::STATE_BYTES, Kind("state bytes", &[9])),
        (deployment::KV_BYTES, Kind("KV cache bytes", &[9])),
        (deployment::DDR_WEIGHT_BYTES, Kind("weight bytes in DDR", &[9])),
        (deployment::SRAM_STATE_BYTES, Kind("state bytes in SRAM", &[9])),
    ] {
        let (row, field) = (field / ROW, field % ROW);
        let bytes = table.wide(Part::Deployment, row, field);
        for other in [bytes + 1, bytes.saturating_sub(1), bytes / 2] {
            trial.reject(kind, other, |t| t.set_wide(Part::Deployment, row, field, other));
        }
    }
    let [seqs, ctx] = [deployment::MAX_SEQS, deployment::CTX].map(|field| table.get(Part::Deployment, 0, field));
    for other in [seqs.wrapping_add(1), seqs.wrapping_sub(1)] {
        trial.reject(Kind("sequences that fit", &[9]), other, |t| {
            t.set(Part::Deployment, 0, deployment::MAX_SEQS, other);
        });
    }
    trial.reject(Kind("context that fits, below the deployment's", &[9]), ctx, |t| {
        t.set(Part::Deployment, 0, deployment::MAX_CTX, ctx.wrapping_sub(1));
    });
    let weights = table.wide(Part::Deployment, 0, deployment::WEIGHT_BYTES);
    trial.reject(Kind("memory smaller than the weights", &[9]), weights, |t| {
        t.set_wide(Part::Chip, 1, chip::HBM_BYTES - 16, weights - 1);
    });
}
