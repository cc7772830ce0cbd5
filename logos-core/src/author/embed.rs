//! Token ids to the first hidden state.

use crate::author::draft::Draft;
use crate::author::{Authored, Cut};
use crate::ops::{Rows, Scaled, SumOverChips};
use crate::refusal::Refusal;
use crate::request::Form;
use crate::spec::ModelSpec;

/// `x = rows of E at token`, times the model's embedding factor. Each chip holds its rows of the vocabulary and gives
/// zeros for the others', so the sum over the chips is the row.
pub(super) fn author(spec: &ModelSpec, cut: &Cut) -> Result<Authored, Refusal> {
    let mut draft = Draft::new(spec, cut)?;
    match cut.step {
        Form::Forward { .. } => return Err(draft.refuse("the first hidden state of a forward step is an input")),
        Form::Decode { .. } | Form::Prefill { .. } => {}
    }
    let token = draft.index("token")?;
    let table = draft.embedding("E")?;
    let over_chips = draft.chips() > 1;
    let name = |last: bool, stem: &'static str| if last { "x" } else { stem };
    let plain = spec.embedding_scale.is_none();
    let mut x = draft.bind(name(plain && !over_chips, "xe"), Rows, &[table, token])?;
    if over_chips {
        x = draft.bind(name(plain, "xs"), SumOverChips, &[x])?;
    }
    if let Some(factor) = spec.embedding_scale {
        x = draft.bind("x", Scaled { by: factor }, &[x])?;
    }
    draft.show(x)?;
    draft.finish()
}
