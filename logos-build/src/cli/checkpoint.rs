//! `cargo logos describe`: what a checkpoint holds, as a text to keep beside the config.

use std::fs;
use std::io::Write;
use std::path::Path;

use clap::ArgMatches;
use logos_core::checkpoint::{Checkpoint, compare};
use logos_core::config;

use super::{Failure, unwritten};
use crate::source::read_any_config;

pub(super) fn describe(matches: &ArgMatches, out: &mut dyn Write) -> Result<(), Failure> {
    let text = |name: &str| matches.get_one::<String>(name);
    let path = text("checkpoint").map_or("", String::as_str);
    let checkpoint = Checkpoint::open(Path::new(path))?;
    let headers = checkpoint.headers();
    if let Some(config) = text("config") {
        let spec = config::read(&read_any_config(config)?).map_err(Failure::Refused)?;
        compare(headers, &spec).map_err(Failure::Refused)?;
    }
    let description = headers.describe();
    match text("output") {
        None => Ok(out.write_all(description.as_bytes())?),
        Some(file) => {
            fs::write(file, &description).map_err(|error| unwritten(file, &error))?;
            let (tensors, bytes) = (headers.tensors().len(), description.len());
            Ok(writeln!(out, "{file}: {tensors} tensors described in {bytes} bytes")?)
        }
    }
}
