//! The `cargo logos` command: the compiler's answers as tables for people, as JSON for machines, and as an exit status for
//! scripts: 0 if what was asked holds, 1 if it is refused or does not check, 2 if the command line is wrong.

mod args;
mod checkpoint;
mod chips;
mod document;
mod explain;
mod fit;
mod gemm;
mod host;
mod html;
mod inspect;
mod opinion;
mod progress;
mod report;
mod request;
mod schema;
mod simulate;
mod widths;

use std::ffi::OsString;
use std::io::{self, Write};

use clap::ArgMatches;
use logos_core::Refusal;

/// Runs the command: arguments as the process has them, its two streams; gives the exit status.
pub fn run(arguments: impl IntoIterator<Item = OsString>, out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    // Cargo runs `cargo-logos logos …` for `cargo logos …`.
    if arguments.get(1).is_some_and(|argument| argument == "logos") {
        arguments.remove(1);
    }
    let matches = match args::command().try_get_matches_from(arguments) {
        Ok(matches) => matches,
        Err(error) => {
            let text = error.render();
            // A stream that is closed leaves nobody to tell.
            let _ = if error.use_stderr() { write!(err, "{text}") } else { write!(out, "{text}") };
            return if error.use_stderr() { 2 } else { 0 };
        }
    };
    let json = matches.subcommand().is_some_and(|(_, m)| matches!(m.try_get_one::<bool>("json"), Ok(Some(true))));
    match dispatch(&matches, out) {
        Ok(()) => 0,
        Err(Failure::Stream(error)) if error.kind() == io::ErrorKind::BrokenPipe => 0,
        Err(Failure::Stream(error)) => {
            let _ = writeln!(err, "error: {error}");
            1
        }
        Err(Failure::Refused(refusals)) => {
            if json {
                let _ = document::write(out, &document::refusals(&refusals));
            }
            for refusal in &refusals {
                let _ = writeln!(err, "error: {refusal}\n  at: {}", request::place(&refusal.at));
            }
            1
        }
        Err(Failure::File(message) | Failure::Run(message)) => {
            let _ = writeln!(err, "error: {message}");
            1
        }
        // What failed was printed with the rest.
        Err(Failure::Unchecked) => 1,
    }
}

fn dispatch(matches: &ArgMatches, out: &mut dyn Write) -> Result<(), Failure> {
    match matches.subcommand() {
        Some(("check", matches)) if matches.get_flag("explain-widths") => widths::widths(matches, out),
        Some(("check", matches)) => report::check(matches, out),
        Some(("kinds", matches)) => report::kinds(matches, out),
        Some(("program", matches)) => report::program(matches, out),
        Some(("emit", matches)) => report::emit(matches, out),
        Some(("simulate", matches)) => simulate::simulate(matches, out),
        Some(("fit", matches)) => fit::fit(matches, out),
        Some(("report", matches)) => html::report(matches, out),
        Some(("plan", matches)) => fit::plan(matches, out),
        Some(("gemm", matches)) => gemm::gemm(matches, out),
        Some(("schema", matches)) => schema::schema(matches, out),
        Some(("describe", matches)) => checkpoint::describe(matches, out),
        Some(("chips", matches)) => chips::chips(matches, out),
        Some(("inspect", matches)) => inspect::inspect(matches, out),
        Some(("explain", matches)) => explain::explain(matches, out),
        Some((other, _)) => Err(Failure::File(format!("no command `{other}`"))),
        None => Ok(()),
    }
}

/// Why a command does not end with status 0.
enum Failure {
    /// The compiler refuses.
    Refused(Vec<Refusal>),
    /// A certificate does not check; the output says so.
    Unchecked,
    /// A file that cannot be read, written or understood.
    File(String),
    /// A step that cannot be run on the host.
    Run(String),
    /// The output stream.
    Stream(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Stream(error)
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Failure::Refused(vec![refusal])
    }
}
