//! A checkpoint held to the description that stands for it in a build.

use super::compare::Faults;
use super::headers::Headers;
use super::resolve::{Parts, Resolved};
use crate::spec::{ModelSpec, inventory};
use crate::{Code, Refusal};

/// Holds a checkpoint to a description: each tensor that the model binds is stored in the way that is described, whatever its file.
/// What a program was compiled to keep, by the description, is then what is there.
///
/// # Errors
/// A refusal a tensor, up to a number; then how many more there are.
pub fn hold_to_description(checkpoint: &Headers, description: &Headers, spec: &ModelSpec) -> Result<(), Vec<Refusal>> {
    let inventory = inventory(spec).map_err(|refusal| vec![refusal])?;
    let mut faults = Faults::default();
    for bound in inventory.iter() {
        let resolve = |headers: &Headers| headers.resolve(&bound.name).map_err(|refusal| vec![refusal]);
        let (found, described) = (resolve(checkpoint)?, resolve(description)?);
        let way = |headers: &Headers, resolved: &Option<Resolved>| {
            resolved.as_ref().map_or_else(|| "no such tensor".to_owned(), |resolved| way(headers, resolved))
        };
        let (stored, expected) = (way(checkpoint, &found), way(description, &described));
        if stored == expected {
            continue;
        }
        faults.push(|| {
            let place = found.map_or(checkpoint.whole(), |found| checkpoint.place(found.parts.first()));
            let what = "it is not stored as the description has it";
            let refusal = place.refuse(Code::CheckpointStorage, what, expected, stored);
            let refusal =
                if place.tensor == Some(&bound.name) { refusal } else { refusal.fact("the model's name", &bound.name) };
            refusal.help("describe this checkpoint with `cargo logos describe`, or name the one that is described")
        });
    }
    faults.done(checkpoint)
}

fn way(headers: &Headers, resolved: &Resolved) -> String {
    let of_first = headers.get(resolved.parts.first()).storage;
    match resolved.parts {
        Parts::Plain(_) => of_first.to_string(),
        Parts::Scaled { block: [high, wide], .. } => format!("{of_first}, a scale every {high} by {wide}"),
        Parts::Mxfp4 { .. } => "MXFP4".to_owned(),
    }
}
