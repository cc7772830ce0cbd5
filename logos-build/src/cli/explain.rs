//! `cargo logos explain CODE`.

use std::io::Write;

use clap::ArgMatches;
use logos_core::{At, Code, Refusal, nearest};

use super::Failure;

pub(super) fn explain(matches: &ArgMatches, out: &mut dyn Write) -> Result<(), Failure> {
    let Some(name) = matches.get_one::<String>("code") else {
        for code in Code::ALL {
            writeln!(out, "{:<16} {}", code.as_str(), code.title())?;
        }
        return Ok(());
    };
    let Some(code) = Code::from_name(name) else {
        let upper = name.to_ascii_uppercase();
        let short = !upper.starts_with("LOGOS-");
        let codes = Code::ALL.iter().map(|code| code.as_str());
        let near = nearest(&upper, codes.map(|code| if short { code.trim_start_matches("LOGOS-") } else { code }));
        let hint = near
            .map_or_else(|| "`cargo logos explain` lists the codes".to_owned(), |near| format!("did you mean {near}?"));
        return Err(Refusal::new(Code::RequestForm, At::Request, format!("no code `{name}`")).help(hint).into());
    };
    writeln!(out, "{code}: {}\n", code.title())?;
    for line in wrapped(code.explanation(), 80) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// Lines of at most `width` characters, broken at spaces.
pub(super) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.is_empty() || line.chars().count() + 1 + word.chars().count() <= width => {
                if !line.is_empty() {
                    line.push(' ');
                }
                line.push_str(word);
            }
            Some(_) | None => lines.push(word.to_owned()),
        }
    }
    lines
}
