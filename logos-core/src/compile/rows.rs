//! How many rows at a time do lower, where those asked for do not. Only a refusal asks.

use crate::chip::Chip;
use crate::kinds;
use crate::refusal::Key;
use crate::request::{Form, Weights};
use crate::spec::ModelSpec;

use super::lay;

/// Parts of the rows asked for that are told apart; where not even one lowers, parts of that.
const STEPS: u32 = 64;

/// Smaller sizes with which all programs lower, of each key that has one: a batch, a chunk or rows of a forward step, each with the others as
/// they are asked for and to a 64th of what is. `excess` as [`lay`] takes it.
pub(super) fn largest(
    spec: &ModelSpec,
    chip: &Chip,
    form: Form,
    tp: u32,
    weights: Weights,
    excess: u64,
) -> Vec<(Key, u32)> {
    let lowers = |form| {
        kinds::programs(spec, form, tp, weights).is_ok_and(|programs| lay(spec, chip, form, &programs, excess).is_ok())
    };
    match form {
        Form::Forward { rows } => search(Key::Rows, rows, |rows| lowers(Form::Forward { rows })),
        Form::Decode { ctx, batch } => search(Key::Batch, batch, |batch| lowers(Form::Decode { ctx, batch })),
        Form::Prefill { ctx, chunk, batch } => {
            let fewer = search(Key::Batch, batch, |batch| lowers(Form::Prefill { ctx, chunk, batch }));
            let shorter = search(Key::Chunk, chunk, |chunk| lowers(Form::Prefill { ctx, chunk, batch }));
            [fewer, shorter].concat()
        }
    }
}

/// The most below `asked` with which all programs lower, to a 64th of it; where not even that lowers, to a 64th of that. Found by halving, as
/// fewer rows need less nearly everywhere; none where one does not lower.
fn search(key: Key, asked: u32, lowers: impl Fn(u32) -> bool) -> Vec<(Key, u32)> {
    let mut asked = asked;
    loop {
        let step = (asked.checked_next_power_of_two().unwrap_or(asked) / STEPS).max(1);
        let (mut most, mut fails) = (0, asked.div_ceil(step));
        while most + 1 < fails {
            let middle = most.midpoint(fails);
            if lowers(middle * step) { most = middle } else { fails = middle }
        }
        match (most, step) {
            (0, 1) => return Vec::new(),
            (0, _) => asked = step,
            (_, _) => return vec![(key, most * step)],
        }
    }
}
