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
mod terminal;
mod widths;

use std::ffi::OsString;
use std::io::{self, Write};

use clap::ArgMatches;
use logos_bundle::view::BundleError;
use logos_core::refusal::Plain;
use logos_core::{At, Code, Refusal};
use terminal::{Escapes, Terminal};

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
            let text = error.render().to_string();
            // A stream that is closed leaves nobody to tell.
            return if error.use_stderr() {
                let _ = Terminal::new(err, Escapes::Text).write_all(text.as_bytes());
                2
            } else {
                let _ = out.write_all(text.as_bytes());
                0
            };
        }
    };
    let json = matches.subcommand().is_some_and(|(_, m)| matches!(m.try_get_one::<bool>("json"), Ok(Some(true))));
    let file = matches.subcommand().is_some_and(|(_, m)| matches!(m.try_get_one::<bool>("toml"), Ok(Some(true))));
    let escapes = match (file, json) {
        (true, _) => Escapes::None,
        (false, true) => Escapes::Json,
        (false, false) => Escapes::Text,
    };
    let (out, err) = (&mut Terminal::new(out, escapes), &mut Terminal::new(err, Escapes::Text));
    match dispatch(&matches, out) {
        Ok(()) => 0,
        Err(Failure::Stream(error)) if error.kind() == io::ErrorKind::BrokenPipe => 0,
        Err(Failure::Stream(error)) => {
            let code = Code::RequestFile;
            let _ = writeln!(err, "error: {code}: the output cannot be written: {}", error.kind());
            let _ =
                writeln!(err, "  help: write it where there is room, with `>` or, where the command has it, `-o FILE`");
            1
        }
        Err(Failure::Refused(refusals)) => {
            if json {
                let _ = document::write(out, &document::refusals(&refusals));
            }
            for refusal in &refusals {
                let _ = writeln!(err, "error: {refusal}\n  at: {}", Plain(&request::place(&refusal.at)));
            }
            1
        }
        Err(Failure::Run(message)) => {
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
        Some((other, _)) => Err(Refusal::new(Code::RequestForm, At::Request, format!("no command `{other}`")).into()),
        None => Ok(()),
    }
}

/// Why a command does not end with status 0.
enum Failure {
    /// The compiler refuses.
    Refused(Vec<Refusal>),
    /// A certificate does not check; the output says so.
    Unchecked,
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

/// A file that cannot be written.
fn unwritten(file: &str, error: &io::Error) -> Failure {
    let message = format!("`{file}` cannot be written: {}", error.kind());
    Failure::from(
        Refusal::new(Code::RequestFile, At::Request, message)
            .help("name a file in a folder that there is and may be written to"),
    )
}

/// The compiler's own bundle, which it cannot read.
fn own_bundle(error: &BundleError) -> Failure {
    let message = format!("the compiler's own bundle: {error}");
    Failure::from(
        Refusal::new(Code::Bundle, At::Request, message)
            .help("this is a fault of the compiler: please report it with the config"),
    )
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Failure::Refused(vec![refusal])
    }
}
