//! The last hidden state to the next token.

use crate::author::draft::{Draft, LinearNames, NormNames};
use crate::author::{Authored, Cut};
use crate::ops::{ArgMax, LastRow, Scaled, SoftCap};
use crate::refusal::Refusal;
use crate::request::Form;
use crate::spec::ModelSpec;

/// `token = argmax(head(norm(x)))`: of every row, but in prefill of the last of each sequence's chunk.
pub(super) fn author(spec: &ModelSpec, cut: &Cut) -> Result<Authored, Refusal> {
    let mut draft = Draft::new(spec, cut)?;
    let mut x = draft.hidden()?;
    match cut.step {
        Form::Prefill { .. } => x = draft.bind("xl", LastRow { sequences: draft.seqs() }, &[x])?,
        Form::Forward { .. } | Form::Decode { .. } => {}
    }
    let x = draft.norm(&NormNames("nw", "nb", "xn"), &spec.final_norm, (0, spec.hidden), x)?;
    let head = &spec.head;
    let (mut logits, below) = draft.logits(&LinearNames("Wlm", "blm", "logits"), &head.linear, x)?;
    if let Some(factor) = head.scale {
        logits = draft.bind("scaled", Scaled { by: factor }, &[logits])?;
    }
    if let Some(cap) = head.softcap {
        logits = draft.bind("capped", SoftCap { cap }, &[logits])?;
    }
    let token = draft.bind("token", ArgMax { below }, &[logits])?;
    draft.show(token)?;
    draft.finish()
}
