//! From the command line to a request, and back from a refusal's place to the option it came from.

use std::path::Path;

use clap::ArgMatches;
use logos_core::chip::Chip;
use logos_core::{
    At, ChipRequest, Code, Compiled, DeploymentRequest, Description, ExpertSplit, Form, Key, Refusal, Request,
    Requirement, Vocabulary, Weights,
};

use super::Failure;
use crate::source::{read_any_chip, read_any_config, read_any_description};

/// Compiles what the command line asks for: one deployment.
pub(super) fn compile(matches: &ArgMatches) -> Result<Compiled, Failure> {
    let deployment = deployment(matches);
    let mut compiled = with_model(matches, |request| {
        let deployment = deployment.clone()?;
        logos_core::compile(&Request { deployments: std::slice::from_ref(&deployment), ..request.clone() })
    })
    // Files that cannot be read do not hide what is wrong with the form.
    .map_err(|failure| match (failure, deployment) {
        (Failure::Refused(mut refusals), Err(more)) if refusals != more => {
            refusals.extend(more);
            Failure::Refused(refusals)
        }
        (failure, _) => failure,
    })?;
    compiled.pop().ok_or_else(|| {
        Failure::from(Refusal::new(Code::RequestForm, At::Request, "nothing was compiled, and no reason given"))
    })
}

/// The form with its sizes, and what is required of it.
fn deployment(matches: &ArgMatches) -> Result<DeploymentRequest, Vec<Refusal>> {
    let name = text(matches, "mode").to_ascii_uppercase();
    let needed = || vec![refusal(Key::Ctx, format!("{} needs --ctx", text(matches, "mode")))];
    let form = form(matches, false).and_then(|form| form.ok_or_else(needed));
    let (form, require) = match (form, require(matches, &name)) {
        (Ok(form), Ok(require)) => (form, require),
        (form, require) => return Err([form.err(), require.err()].into_iter().flatten().flatten().collect()),
    };
    let experts = experts(matches);
    Ok(DeploymentRequest { experts, require, ..DeploymentRequest::new(name, form, number(matches, "tp")) })
}

/// Reads the model, chip and storage that the command line names; without deployments.
pub(super) fn with_model<T>(
    matches: &ArgMatches,
    then: impl FnOnce(&Request<'_>) -> Result<T, Vec<Refusal>>,
) -> Result<T, Failure> {
    let path = text(matches, "config");
    let mut refusals = Vec::new();
    let config = read_any_config(path).map_err(|refusal| refusals.push(refusal)).ok();
    let from = matches.get_one::<String>("weights-from").map(String::as_str);
    let description = from.map(read_any_description).transpose().map_err(|refusal| refusals.push(refusal)).ok();
    let chip = ChipArgument::read(matches).map_err(|refusal| refusals.push(refusal)).ok();
    let (Some(config), Some(description), Some(chip)) = (config, description, chip) else {
        return Err(Failure::Refused(refusals));
    };
    let weights = Weights::from_name(text(matches, "weights")).unwrap_or_default();
    let request = Request {
        model: name(matches, path),
        config: &config,
        chip: chip.request(),
        weights,
        checkpoint: from.zip(description.as_deref()).map(|(file, text)| Description { file, text }),
        vocabulary: Vocabulary::from_name(text(matches, "vocab")).unwrap_or_default(),
        deployments: &[],
    };
    then(&request).map_err(Failure::Refused)
}

/// How routed experts are to lie over the chips.
pub(super) fn experts(matches: &ArgMatches) -> ExpertSplit {
    ExpertSplit::from_name(text(matches, "experts")).unwrap_or_default()
}

/// What `--chip` or `--chip-file` say.
pub(super) enum ChipArgument {
    Named(String),
    File { file: String, text: Vec<u8> },
}

impl ChipArgument {
    /// Reads the file, where it is one.
    pub(super) fn read(matches: &ArgMatches) -> Result<ChipArgument, Refusal> {
        match matches.get_one::<String>("chip-file") {
            Some(file) => read_any_chip(file).map(|text| ChipArgument::File { file: file.clone(), text }),
            None => match text(matches, "chip") {
                path if path.contains('/') || path.ends_with(".toml") => {
                    let message = format!("`{path}` is a file, and --chip takes a name");
                    Err(Refusal::new(Code::RequestForm, At::Chip, message).help(format!("write `--chip-file {path}`")))
                }
                name => Ok(ChipArgument::Named(name.to_owned())),
            },
        }
    }

    pub(super) fn request(&self) -> ChipRequest<'_> {
        match self {
            ChipArgument::Named(name) => ChipRequest::Named(name),
            ChipArgument::File { file, text } => ChipRequest::File { file, text },
        }
    }
}

/// The chips of every `--chip-file`.
pub(super) fn own_chips(matches: &ArgMatches) -> Result<Vec<Chip>, Failure> {
    let mut chips = Vec::new();
    for file in matches.get_many::<String>("chip-file").into_iter().flatten() {
        chips.push(Chip::read(file, &read_any_chip(file)?).map_err(Failure::Refused)?);
    }
    Ok(chips)
}

/// The name asked for, else that of the config's folder, else the file's own.
pub(super) fn name<'m>(matches: &'m ArgMatches, path: &'m str) -> &'m str {
    if let Some(name) = matches.get_one::<String>("name") {
        return name;
    }
    let path = Path::new(path);
    let folder = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    folder.or_else(|| path.file_stem().and_then(|stem| stem.to_str())).unwrap_or("model")
}

/// The form of the step. Where a decode step's context may be left out for the model's own most, it is none without one.
pub(super) fn form(matches: &ArgMatches, most: bool) -> Result<Option<Form>, Vec<Refusal>> {
    let mode = text(matches, "mode");
    let (taken, required): (&[Key], &[Key]) = match mode {
        "prefill" => (&[Key::Ctx, Key::Chunk, Key::Batch], &[Key::Ctx, Key::Chunk]),
        "forward" => (&[Key::Rows], &[Key::Rows]),
        _ => (&[Key::Ctx, Key::Batch], if most { &[] } else { &[Key::Ctx] }),
    };
    let value = |key: Key| number(matches, key.as_str());
    let mut refusals = Vec::new();
    for key in [Key::Ctx, Key::Batch, Key::Chunk, Key::Rows] {
        let name = key.as_str();
        if value(key).is_some() && !taken.contains(&key) {
            refusals.push(refusal(key, format!("{mode} takes no --{name}")));
        }
        if value(key).is_none() && required.contains(&key) {
            refusals.push(refusal(key, format!("{mode} needs --{name}")));
        }
    }
    if !refusals.is_empty() {
        return Err(refusals);
    }
    let size = |key| value(key).unwrap_or(1);
    Ok(match mode {
        "prefill" => Some(Form::Prefill { ctx: size(Key::Ctx), chunk: size(Key::Chunk), batch: size(Key::Batch) }),
        "forward" => Some(Form::Forward { rows: size(Key::Rows) }),
        _ => value(Key::Ctx).map(|ctx| Form::Decode { ctx, batch: size(Key::Batch) }),
    })
}

/// What is required, of every time that something is.
pub(super) fn require(matches: &ArgMatches, deployment: &str) -> Result<Vec<Requirement>, Vec<Refusal>> {
    let lists: Vec<&str> = matches.get_many::<String>("require").into_iter().flatten().map(String::as_str).collect();
    if lists.is_empty() { Ok(Vec::new()) } else { Requirement::list(&lists.join(","), deployment, 0) }
}

fn refusal(key: Key, message: String) -> Refusal {
    Refusal::new(Code::RequestForm, At::Key(String::new(), key), message)
}

pub(super) fn text<'m>(matches: &'m ArgMatches, name: &str) -> &'m str {
    matches.get_one::<String>(name).map_or("", String::as_str)
}

pub(super) fn number(matches: &ArgMatches, name: &str) -> Option<u32> {
    matches.get_one::<u32>(name).copied()
}

/// A refusal's place, as the command line says it.
pub(super) fn place(at: &At) -> String {
    match at {
        At::Request | At::Deployment(_) => "the command line".to_owned(),
        At::Model => "CONFIG".to_owned(),
        At::ConfigKey(key) => format!("CONFIG, key `{key}`"),
        At::Chip => "--chip or --chip-file".to_owned(),
        At::ChipFile { .. } => at.to_string(),
        At::Key(_, Key::Form) => "--mode".to_owned(),
        At::Require(..) => "--require".to_owned(),
        At::Key(_, key) => format!("--{}", key.as_str()),
        At::Text { line, column } => format!("line {line}, column {column}"),
        At::Program(_, program) => format!("program `{program}`"),
        At::Checkpoint { .. } => at.to_string(),
    }
}
