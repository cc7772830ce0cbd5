//! What a build script leaves in `OUT_DIR` and tells Cargo.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use logos_core::fit::report::{Report, Text};
use logos_core::refusal::Plain;
use logos_core::{At, Code, Compiled, Refusal};

use crate::describe;
use crate::error::BuildError;
use crate::model::Model;

impl Model {
    /// Compiles the request and writes it to `OUT_DIR` as `name`, for `logos_rdu::include_model!("name")` to include: a module of that
    /// name with a constant a deployment.
    ///
    /// Tells Cargo to run the script again when the config, the description or the chip file changes, and prints every refusal as a `cargo::error`. Files
    /// are written only when their bytes change.
    ///
    /// # Errors
    /// Every refusal that can be known, a name that was emitted before among them; outside a build script, that; a file that cannot be
    /// written.
    pub fn emit(&self, name: &str) -> Result<(), BuildError> {
        let root = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
        let out = PathBuf::from(variable("OUT_DIR")?);
        let mut cargo = io::stdout().lock();
        if !claim(&out, name) {
            let message =
                format!("the name `{name}` is of an earlier model of this build script, which this one would replace");
            let refusal = Refusal::new(Code::RequestForm, At::Request, message).help("emit it under a name of its own");
            let told = writeln!(cargo, "cargo::error={}", one_line(&refusal));
            told.map_err(|source| BuildError::Write { path: PathBuf::from("standard output"), source })?;
            let refusals = vec![refusal];
            return Err(BuildError::Refused { name: name.to_owned(), config: self.config.clone(), refusals });
        }
        self.emit_to(name, &root, &out, &mut cargo)
    }

    /// [`emit`](Model::emit) with the package's folder, the output folder and the stream to Cargo named.
    ///
    /// # Errors
    /// As [`emit`](Model::emit).
    pub fn emit_to(&self, name: &str, root: &Path, out: &Path, cargo: &mut dyn Write) -> Result<(), BuildError> {
        let tell = |cargo: &mut dyn Write, line: String| {
            writeln!(cargo, "{line}")
                .map_err(|source| BuildError::Write { path: PathBuf::from("standard output"), source })
        };
        // A path that could break the line protocol is refused below, without having been printed.
        for path in std::iter::once(&self.config).chain(&self.checkpoint).chain(&self.chip_file) {
            if !path.chars().any(char::is_control) {
                tell(cargo, format!("cargo::rerun-if-changed={path}"))?;
            }
        }
        match self.compile_with_reports(root, name) {
            Ok((compiled, texts)) => {
                write_all(out, name, &Written { config: &self.config, compiled, reports: &self.reports, texts })
            }
            Err(refusals) => {
                for refusal in &refusals {
                    tell(cargo, format!("cargo::error={}", one_line(refusal)))?;
                }
                Err(BuildError::Refused { name: name.to_owned(), config: self.config.clone(), refusals })
            }
        }
    }
}

/// Takes a name for a model of this process; whether it was free.
fn claim(out: &Path, name: &str) -> bool {
    static TAKEN: Mutex<BTreeSet<(PathBuf, String)>> = Mutex::new(BTreeSet::new());
    // A set is whole whatever became of whoever held it.
    TAKEN.lock().unwrap_or_else(PoisonError::into_inner).insert((out.to_owned(), name.to_owned()))
}

fn variable(variable: &'static str) -> Result<std::ffi::OsString, BuildError> {
    env::var_os(variable).ok_or(BuildError::NotABuildScript { variable })
}

/// A refusal as one line, which is what an instruction to Cargo can hold.
fn one_line(refusal: &Refusal) -> String {
    let mut line = format!("{}: {} ({})", refusal.code, refusal.message, refusal.at);
    if let Some(help) = &refusal.help {
        line.push_str("; help: ");
        line.push_str(help);
    }
    Plain(&line).to_string()
}

/// What is written.
struct Written<'a> {
    config: &'a str,
    compiled: Vec<Compiled>,
    reports: &'a [Report],
    texts: Vec<Text>,
}

impl Written<'_> {
    /// The texts of a document, each with its deployment's name.
    fn texts(&self, report: Report) -> impl Iterator<Item = (&str, &str)> {
        let texts = self.texts.iter().filter(move |text| text.report == report);
        texts.filter_map(|text| Some((self.compiled.get(text.deployment)?.name.as_str(), text.text.as_str())))
    }
}

fn write_all(out: &Path, name: &str, written: &Written<'_>) -> Result<(), BuildError> {
    for deployment in &written.compiled {
        let bytes: Vec<u8> = deployment.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        write_if_changed(&out.join(file_name(name, deployment)), &bytes)?;
    }
    for &report in written.reports {
        for (deployment, text) in written.texts(report) {
            write_if_changed(&out.join(text_name(name, deployment, report)), text.as_bytes())?;
        }
    }
    write_if_changed(&out.join(format!("{name}.rs")), module(name, written).as_bytes())
}

fn file_name(name: &str, deployment: &Compiled) -> String {
    format!("{name}.{}.logos", deployment.name)
}

fn text_name(name: &str, deployment: &str, report: Report) -> String {
    format!("{name}.{deployment}.{}.json", report.as_str())
}

/// The file that is included: one call of a macro, since an included file is user code and must pass the user's lints.
fn module(name: &str, written: &Written<'_>) -> String {
    let mut text = format!("// Made by logos-build {}; do not edit.\n__logos_embed! {{\n", env!("CARGO_PKG_VERSION"));
    let documented = |text: &mut String, indent: &str, lines: Vec<String>| {
        lines.iter().for_each(|line| text.push_str(&format!("{indent}#[doc = {line:?}]\n")));
    };
    documented(&mut text, "    ", describe::module(written.config, &written.compiled));
    text.push_str(&format!("    {name} {{\n"));
    for deployment in &written.compiled {
        documented(&mut text, "        ", describe::deployment(deployment));
        let (words, file) = (deployment.words.len(), file_name(name, deployment));
        let required: Vec<String> = deployment.required.iter().map(|required| format!("[{required}]")).collect();
        let required = required.join(" ");
        text.push_str(&format!("        {}: {words} words of {file:?} require {{ {required} }},\n", deployment.name));
    }
    text.push_str("    }\n");
    for &report in written.reports {
        documented(&mut text, "    ", describe::report(report));
        text.push_str(&format!("    {} {{\n", report.module()));
        for (deployment, _) in written.texts(report) {
            documented(&mut text, "        ", describe::text(report, deployment));
            let file = text_name(name, deployment, report);
            text.push_str(&format!("        {deployment}: {file:?},\n"));
        }
        text.push_str("    }\n");
    }
    text.push_str("}\n");
    text
}

/// Leaves a file with equal bytes untouched, so that what depends on its time is not built again.
fn write_if_changed(path: &Path, bytes: &[u8]) -> Result<(), BuildError> {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    fs::write(path, bytes).map_err(|source| BuildError::Write { path: path.to_path_buf(), source })
}
