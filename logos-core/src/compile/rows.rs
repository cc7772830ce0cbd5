//! How many rows at a time do lower, where those asked for do not. Only a refusal asks.

use crate::chip::Chip;
use crate::kinds;
use crate::request::{Form, Weights};
use crate::spec::ModelSpec;

use super::lay;

/// Parts of the rows asked for that are told apart.
const STEPS: u32 = 64;

/// The most rows at a time with which all programs lower: a chunk, a batch or rows of a forward step, to a 64th of what is asked for. Found by
/// halving, as fewer rows need less nearly everywhere; none where not even a 64th lowers. `excess` as [`lay`] takes it.
pub(super) fn largest(
    spec: &ModelSpec,
    chip: &Chip,
    form: Form,
    tp: u32,
    weights: Weights,
    excess: u64,
) -> Option<u32> {
    let asked = match form {
        Form::Forward { rows } => rows,
        Form::Decode { batch, .. } => batch,
        Form::Prefill { chunk, .. } => chunk,
    };
    let step = (asked.checked_next_power_of_two()? / STEPS).max(1);
    let lowers = |steps: u32| {
        let form = match form {
            Form::Forward { .. } => Form::Forward { rows: steps * step },
            Form::Decode { ctx, .. } => Form::Decode { ctx, batch: steps * step },
            Form::Prefill { ctx, .. } => Form::Prefill { ctx, chunk: steps * step },
        };
        kinds::programs(spec, form, tp, weights).is_ok_and(|programs| lay(spec, chip, form, &programs, excess).is_ok())
    };
    let (mut most, mut fails) = (0, asked.div_ceil(step));
    while most + 1 < fails {
        let middle = most.midpoint(fails);
        if lowers(middle) { most = middle } else { fails = middle }
    }
    (most > 0).then_some(most * step)
}
