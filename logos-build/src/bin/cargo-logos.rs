//! `cargo logos`: see [`logos_build::cli`].

use std::io::{stderr, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(logos_build::cli::run(std::env::args_os(), &mut stdout().lock(), &mut stderr().lock()))
}
