//! `cargo logos schema`: the JSON schemas of the documents.

use std::io::Write;

use clap::ArgMatches;
use logos_core::fit::report;
use logos_core::{At, Code, Refusal, nearest};

use super::{Failure, document};

pub(super) fn schema(matches: &ArgMatches, out: &mut dyn Write) -> Result<(), Failure> {
    let Some(name) = matches.get_one::<String>("schema") else {
        report::SCHEMAS.iter().try_for_each(|name| writeln!(out, "{name}"))?;
        return Ok(());
    };
    let Some(text) = report::schema(name) else {
        let refusal = Refusal::new(Code::RequestForm, At::Request, format!("no document is called `{name}`"));
        let near = nearest(name, report::SCHEMAS.iter().copied());
        let help = near
            .map_or_else(|| format!("write one of {}", report::SCHEMAS.join(", ")), |near| format!("write `{near}`"));
        return Err(refusal.help(help).into());
    };
    document::deliver(matches, out, &text)
}
