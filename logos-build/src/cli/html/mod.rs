//! A page for people: one self-contained HTML file without scripts that fetches nothing. What is in it is the fit document, and the
//! certified bundle of the step.

mod bars;
mod depth;
mod ladder;
mod mesh;
mod origin;
mod page;
mod roofline;
mod svg;
#[cfg(test)]
mod tests;
mod timeline;
mod write;

use std::io::Write;

use clap::ArgMatches;
use logos_bundle::view::Bundle;
use logos_core::fit::report::{self, AskedStep};

use super::{Failure, document, fit, own_bundle, request};

/// `cargo logos report`.
pub(super) fn report(matches: &ArgMatches, out: &mut dyn Write) -> Result<(), Failure> {
    let form = request::form(matches, true).map_err(Failure::Refused)?;
    // There is no document of a forward step: what it would carry is a decode's of one sequence, as far as the step gets.
    let rows = request::number(matches, "rows");
    let (ctx, step) = fit::step_of(matches, form).unwrap_or((rows, AskedStep::Decode { batch: 1 }));
    fit::with_subject(matches, ctx, step, |subject| {
        let fit = report::model(subject)?;
        let step = subject.step(form.unwrap_or_else(|| subject.form())).map_err(Failure::Refused)?;
        let bundle = step.words.as_deref().map(Bundle::read).transpose();
        let bundle = bundle.map_err(|error| own_bundle(&error))?;
        let page = page::Page { document: &fit, step: &step, bundle, document_form: subject.form() };
        document::deliver(matches, out, &page.write())
    })
}
