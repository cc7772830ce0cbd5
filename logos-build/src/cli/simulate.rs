//! `cargo logos simulate`: a model's own weights through its compiled programs, on the host.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use logos_core::checkpoint::{Checkpoint, Headers, adopt, hold_to_description};
use logos_core::reference::Output;
use logos_core::simulate::machine::Order;
use logos_core::spec::ModelSpec;
use logos_core::{At, Code, Description, Form, Key, Refusal, Vocabulary, Weights, config};

use super::host::{Host, Model, Way};
use super::progress::Progress;
use super::request::ChipArgument;
use super::{Failure, document};
use crate::source::{read_any_config, read_any_description};

/// Tokens of a prompt that are prefilled at once where no chunk is asked for.
const LARGEST_CHUNK: usize = 512;

/// What is asked for.
struct Ask {
    prompt: Vec<u32>,
    steps: u32,
    ctx: u32,
    /// Tokens of a prefill step; none where the prompt goes through decode.
    chunk: Option<u32>,
    way: Way,
    json: bool,
}

pub(super) fn simulate(matches: &ArgMatches, out: &mut dyn Write) -> Result<(), Failure> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let ask = ask(matches)?;
    let (config_path, checkpoint_path) = files(text("model").unwrap_or(""), text("checkpoint"));
    let config = read_any_config(&config_path.to_string_lossy())?;
    let vocabulary = text("vocab").and_then(Vocabulary::from_name).unwrap_or_default();
    let expert_split = super::request::experts(matches);
    let spec = ModelSpec { vocabulary, expert_split, ..config::read(&config).map_err(Failure::Refused)? };
    within_vocabulary(&ask.prompt, &spec)?;
    let chip = ChipArgument::read(matches)?;
    let checkpoint = Checkpoint::open(&checkpoint_path)?;
    let from = text("weights-from");
    let description = from.map(|from| described(from, &checkpoint_path, &checkpoint)).transpose()?;
    let description = from.zip(description.as_deref()).map(|(file, text)| Description { file, text });
    let spec = match description {
        None => spec,
        Some(Description { file, text }) => {
            let headers = Headers::from_description(file, text)?;
            hold_to_description(checkpoint.headers(), &headers, &spec).map_err(Failure::Refused)?;
            adopt(&headers, spec).map_err(Failure::Refused)?.spec
        }
    };
    let weights = checkpoint.weights(&spec).map_err(Failure::Refused)?;
    {
        let _progress = Progress::begin("checking weights", 0);
        weights.check_values().map_err(Failure::Refused)?;
    }
    let model = Model {
        name: config_path.parent().and_then(Path::file_name).and_then(|name| name.to_str()).unwrap_or("model"),
        config: &config,
        spec: &spec,
        chip: chip.request(),
        storage: text("weights").and_then(Weights::from_name).unwrap_or_default(),
        description,
        tp: matches.get_one::<u32>("tp").copied().unwrap_or(1),
        weights: &weights,
    };
    let mut forms = vec![Form::Decode { ctx: ask.ctx, batch: 1 }];
    forms.extend(ask.chunk.map(|chunk| Form::Prefill { ctx: ask.ctx, chunk, batch: 1 }));
    let mut hosts = {
        let _progress = Progress::begin("loading", 0);
        model.hosts(ask.way, &forms)?
    };
    let prefill = if hosts.len() > 1 { hosts.pop() } else { None };
    let Some(decode) = hosts.pop() else { return Err(Failure::Run("nothing was compiled".to_owned())) };
    run(&ask, decode, prefill, out)
}

/// Refuses an id that stands for no token.
fn within_vocabulary(prompt: &[u32], spec: &ModelSpec) -> Result<(), Refusal> {
    let Some(token) = prompt.iter().find(|&&token| token >= spec.vocab) else { return Ok(()) };
    let message = format!("token {token} is beyond the vocabulary of {}", spec.vocab);
    let help = format!("write ids from 0 to {}", spec.vocab.saturating_sub(1));
    Err(Refusal::new(Code::RequestForm, At::Request, message).help(help))
}

fn ask(matches: &ArgMatches) -> Result<Ask, Failure> {
    let number = |name: &str| matches.get_one::<u32>(name).copied();
    let prompt: Vec<u32> = matches.get_many::<u32>("tokens").into_iter().flatten().copied().collect();
    let steps = number("steps").unwrap_or(1);
    // The last token generated is not read again.
    let reached = prompt.len() as u64 + u64::from(steps) - 1;
    let key =
        |key, code, message, help| Failure::from(Refusal::new(code, At::Key(String::new(), key), message).help(help));
    if let Some(ctx) = number("ctx").filter(|&ctx| reached > u64::from(ctx)) {
        let message =
            format!("{} tokens and {steps} steps reach {reached} positions, the context has {ctx}", prompt.len());
        return Err(key(
            Key::Ctx,
            Code::CtxRange,
            message,
            format!("write `--ctx {reached}`, or fewer tokens or steps"),
        ));
    }
    let most = || {
        let message = format!("{reached} positions are more than any context");
        key(Key::Ctx, Code::CtxRange, message, "write fewer tokens or steps".to_owned())
    };
    let ctx = match number("ctx") {
        Some(ctx) => ctx,
        None => u32::try_from(reached).map_err(|_| most())?,
    };
    if number("chunk") == Some(0) {
        let message = "a chunk of 0 tokens reads no prompt".to_owned();
        return Err(key(Key::Chunk, Code::RequestForm, message, "write `--chunk 1`, or leave it out".to_owned()));
    }
    let chunk = number("chunk").map_or_else(|| prompt.len().min(LARGEST_CHUNK), |chunk| chunk as usize);
    let chunk = (chunk > 1 && chunk <= prompt.len()).then_some(chunk as u32);
    let self_timed = matches.get_one::<String>("order").is_some_and(|order| order == "self-timed");
    let seed = matches.get_one::<u64>("seed").copied();
    if seed.is_some() && !self_timed {
        let refusal = Refusal::new(Code::RequestForm, At::Request, "`--seed` draws a self-timed order");
        return Err(refusal.help("add `--order self-timed`, or leave the seed out").into());
    }
    let way = if matches.get_flag("evaluate") {
        Way::Evaluated
    } else if self_timed {
        Way::Executed(Order::SelfTimed { seed: seed.unwrap_or(0) })
    } else {
        Way::Executed(Order::Schedule)
    };
    Ok(Ask { prompt, steps, ctx, chunk, way, json: matches.get_flag("json") })
}

/// The description that is named; of the checkpoint that is run, where that is.
fn described(from: &str, checkpoint_path: &Path, checkpoint: &Checkpoint) -> Result<Vec<u8>, Failure> {
    let same = Path::new(from).canonicalize().ok().zip(checkpoint_path.canonicalize().ok());
    if same.is_some_and(|(from, path)| from == path) {
        return Ok(checkpoint.headers().describe().into_bytes());
    }
    Ok(read_any_description(from)?)
}

/// The config and the checkpoint of what is named: a folder, or a checkpoint file beside its config.
fn files(model: &str, checkpoint: Option<&str>) -> (PathBuf, PathBuf) {
    let model = PathBuf::from(model);
    let folder = if model.is_file() { model.parent().unwrap_or(Path::new("")).to_owned() } else { model.clone() };
    (folder.join("config.json"), checkpoint.map_or(model, PathBuf::from))
}

fn run(ask: &Ask, mut decode: Host, prefill: Option<Host>, out: &mut dyn Write) -> Result<(), Failure> {
    if !ask.json {
        write!(out, "prompt   ")?;
        ask.prompt.iter().try_for_each(|token| write!(out, " {token}"))?;
        writeln!(out)?;
    }
    let mut output = read_prompt(ask, &mut decode, prefill)?;
    let (mut tokens, mut logits) = (Vec::new(), Vec::new());
    if !ask.json {
        write!(out, "generated")?;
    }
    let progress = ask.json.then(|| Progress::begin("generating", u64::from(ask.steps)));
    for step in 0..ask.steps {
        if step > 0 {
            output = decode.step(&tokens[tokens.len() - 1..])?;
        }
        let (Some(&token), row) = (output.tokens.last(), output.logits.rows()) else {
            return Err(Failure::Run("a step gives no token".to_owned()));
        };
        tokens.push(token);
        match &progress {
            Some(progress) => {
                logits.push(output.logits.row(row.saturating_sub(1)).to_vec());
                progress.advance(1);
            }
            None => {
                write!(out, " {token}")?;
                out.flush()?;
            }
        }
    }
    drop(progress);
    if ask.json {
        document::simulated(out, &ask.prompt, &tokens, &logits)?;
    } else {
        let how = match ask.way {
            Way::Executed(Order::SelfTimed { seed }) => {
                format!("executed firing by firing, self-timed from seed {seed}")
            }
            Way::Executed(_) => "executed firing by firing, in the schedule's order".to_owned(),
            Way::Evaluated => "evaluated statement by statement".to_owned(),
        };
        writeln!(out, "\n{how}, in f32 on this machine, not on an RDU")?;
    }
    Ok(())
}

/// Reads the prompt: in whole chunks, and what is left token by token. Gives the last step's output.
fn read_prompt(ask: &Ask, decode: &mut Host, prefill: Option<Host>) -> Result<Output, Failure> {
    let progress = Progress::begin("reading the prompt", ask.prompt.len() as u64);
    let mut last = None;
    let mut rest = &ask.prompt[..];
    if let (Some(mut prefill), Some(chunk)) = (prefill, ask.chunk) {
        while let Some((tokens, after)) = rest.split_at_checked(chunk as usize) {
            last = Some(prefill.step(tokens)?);
            progress.advance(u64::from(chunk));
            rest = after;
        }
        decode.adopt(&prefill)?;
    }
    for &token in rest {
        last = Some(decode.step(&[token])?);
        progress.advance(1);
    }
    last.ok_or_else(|| Failure::Stream(io::Error::other("the prompt has no token")))
}
