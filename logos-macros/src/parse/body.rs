//! The inside of a model's module.

use logos_core::fit::report::Report;
use logos_core::{Vocabulary, Weights};
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use syn::Lit;

use super::{deployment, entries, require};
use crate::cursor::Cursor;
use crate::fault::Fault;
use crate::model::{Chip, Model, Spanned};

pub(super) const KEYS: [&str; 6] = ["model", "chip", "weights", "vocab", "deployments", "reports"];

/// What begins the path of a chip file.
const FILE: &str = "file";

/// What begins the path of a checkpoint's description.
const CHECKPOINT: &str = "checkpoint";

/// Reads a module's braces. A model always results, its faults beside it.
pub(super) fn parse(attributes: TokenStream, visibility: TokenStream, name: Ident, group: &Group) -> Model {
    let mut model = Model {
        attributes,
        visibility,
        name,
        braces: group.span(),
        config: None,
        chip: None,
        weights: Weights::Config,
        vocabulary: Vocabulary::Exact,
        checkpoint: None,
        deployments: Vec::new(),
        reports: Vec::new(),
        faults: Vec::new(),
    };
    let mut cursor = Cursor::of(group);
    // `//!` at the top of the braces documents the module, as in any module.
    match entries::attributes(&mut cursor) {
        Ok(inner) => model.attributes.extend(inner),
        Err(fault) => model.faults.push(fault),
    }
    let mut faults = std::mem::take(&mut model.faults);
    let mut seen: Vec<&str> = Vec::new();
    // A key that was misspelt is not reported as missing as well.
    let mut offered: Vec<&str> = Vec::new();
    entries::read(cursor, "a key", &mut faults, |attributes, key, cursor, faults| {
        faults.extend(entries::no_attributes(attributes, &key));
        let known = match KEYS.into_iter().find(|known| key == *known) {
            Some(known) => known,
            None if key == require::WORD => {
                return Err(Fault::unknown(format!("`{key}` is no key of the module"), key.span()).help(require::PLACE));
            }
            None => {
                let near = entries::near(&key, &KEYS);
                offered.extend(near);
                let fault = entries::unknown("key", &key, &KEYS);
                // Deployments under a misspelt key are read all the same: their constants have to exist.
                let Some(meant @ "deployments") = near else { return Err(fault) };
                faults.push(fault);
                meant
            }
        };
        if seen.contains(&known) {
            return Err(entries::twice(known, key.span()));
        }
        seen.push(known);
        match known {
            "model" => config(&mut model, cursor, faults),
            "chip" => chip(&mut model, cursor, faults),
            "weights" => weights(&mut model, cursor),
            "vocab" => vocab(&mut model, cursor),
            "reports" => reports(&mut model, cursor, faults),
            _ => deployments(&mut model, cursor, faults),
        }
    });
    for key in ["model", "chip", "deployments"] {
        if !seen.contains(&key) && !offered.contains(&key) {
            faults.push(Fault::form(format!("`{key}` is missing"), model.name.span()).help(match key {
                "model" => "write `model: config \"models/NAME/config.json\"`",
                "chip" => "write `chip: SN50`, or `chip: file \"chips/NAME.toml\"`",
                _ => "write `deployments: { DECODE: decode { tp: 8, ctx: 8_192 } }`",
            }));
        }
    }
    model.faults = faults;
    model
}

/// `config "path"`.
fn config(model: &mut Model, cursor: &mut Cursor, faults: &mut Vec<Fault>) -> Result<(), Fault> {
    let help = "write `config \"models/NAME/config.json\"`";
    let known = cursor.take_word("config");
    if !known {
        let found = entries::found(cursor.peek());
        let fault = Fault::form(format!("expected `config`, found {found}"), cursor.span()).help(help);
        if !matches!(cursor.peek(), Some(TokenTree::Literal(_))) {
            cursor.take_ident().ok_or_else(|| fault.clone())?;
        }
        // What was meant is plain where a path follows: the file is read as well.
        faults.push(fault);
    }
    match string(cursor) {
        Some(path) => {
            model.config = Some(path);
            Ok(())
        }
        None => {
            let found = entries::found(cursor.peek());
            let fault = Fault::form(format!("the config's path is a string, found {found}"), cursor.span()).help(help);
            Err(if known { fault } else { faults.pop().unwrap_or(fault) })
        }
    }
}

fn string(cursor: &mut Cursor) -> Option<Spanned<String>> {
    let Some(TokenTree::Literal(literal)) = cursor.peek() else { return None };
    let Lit::Str(path) = Lit::new(literal.clone()) else { return None };
    cursor.next();
    Some(Spanned { value: path.value(), span: path.span() })
}

/// A chip's name, as a word, or `file "path"`.
fn chip(model: &mut Model, cursor: &mut Cursor, faults: &mut Vec<Fault>) -> Result<(), Fault> {
    let span = cursor.span();
    if let Some(word) = cursor.take_ident() {
        model.chip = match (word == FILE, string(cursor)) {
            (true, Some(path)) => Some(Chip::File(path)),
            (true, None) => {
                let found = entries::found(cursor.peek());
                let fault = Fault::form(format!("the chip file's path is a string, found {found}"), cursor.span());
                return Err(fault.help("write `file \"chips/NAME.toml\"`"));
            }
            (false, None) => Some(Chip::Named(Spanned { value: word.to_string(), span })),
            // What was meant is plain where a path follows: the file is read as well.
            (false, Some(path)) => {
                faults.push(
                    Fault::form(format!("expected `file` before the path of a chip file, found `{word}`"), span)
                        .help(format!("write `chip: file \"{}\"`", path.value)),
                );
                Some(Chip::File(path))
            }
        };
        return Ok(());
    }
    let fault = Fault::form(format!("the chip is a name, found {}", entries::found(cursor.peek())), span);
    match string(cursor) {
        Some(path) if is_path(&path.value) => {
            faults.push(fault.help(format!("write `chip: file \"{}\"`", path.value)));
            model.chip = Some(Chip::File(path));
            Ok(())
        }
        Some(name) => {
            faults.push(fault.help(format!("write `chip: {}`", name.value)));
            model.chip = Some(Chip::Named(name));
            Ok(())
        }
        None => Err(fault.help("write `chip: SN50`, or `chip: file \"chips/NAME.toml\"`")),
    }
}

/// Whether a text can only be a file: no chip's name has a slash or ends so.
fn is_path(text: &str) -> bool {
    text.contains('/') || text.ends_with(".toml")
}

/// The name of a storage, or `checkpoint "path"`.
fn weights(model: &mut Model, cursor: &mut Cursor) -> Result<(), Fault> {
    let span = cursor.span();
    let Some(word) = cursor.take_ident() else {
        return Err(Fault::form(
            format!("the weights' storage is a name, found {}", entries::found(cursor.peek())),
            span,
        )
        .help("write `weights: q8_0`, or leave it out for the config's own dtype"));
    };
    if word == CHECKPOINT {
        let Some(path) = string(cursor) else {
            let found = entries::found(cursor.peek());
            return Err(Fault::form(format!("the description's path is a string, found {found}"), cursor.span())
                .help("write `checkpoint \"models/NAME/checkpoint.json\"`, which `cargo logos describe` writes"));
        };
        model.checkpoint = Some(path);
        return Ok(());
    }
    match Weights::from_name(&word.to_string()) {
        Some(weights) => {
            model.weights = weights;
            Ok(())
        }
        // No nearest one is offered: `q4_0` is no misspelt `q8_0`, but another storage.
        None => Err(Fault::unknown(format!("unknown storage of weights `{word}`"), span).help({
            let [config, q8_0] = Weights::NAMES;
            format!("known: {}", entries::list(&[config, q8_0, CHECKPOINT]))
        })),
    }
}

/// Whether the vocabulary is padded.
fn vocab(model: &mut Model, cursor: &mut Cursor) -> Result<(), Fault> {
    let span = cursor.span();
    let help = "write `vocab: padded`, or leave it out for a vocabulary that is cut exactly";
    let Some(word) = cursor.take_ident() else {
        let found = entries::found(cursor.peek());
        return Err(Fault::form(format!("the vocabulary's cut is a word, found {found}"), span).help(help));
    };
    match Vocabulary::from_name(&word.to_string()) {
        Some(vocabulary) => {
            model.vocabulary = vocabulary;
            Ok(())
        }
        None => Err(entries::unknown("cut of the vocabulary", &word, &Vocabulary::NAMES)),
    }
}

/// The braces of the deployments.
fn deployments(model: &mut Model, cursor: &mut Cursor, faults: &mut Vec<Fault>) -> Result<(), Fault> {
    let Some(group) = cursor.take_group(Delimiter::Brace) else {
        let found = entries::found(cursor.peek());
        return Err(Fault::form(format!("expected `{{` after `deployments:`, found {found}"), cursor.span())
            .help("write `deployments: { DECODE: decode { tp: 8, ctx: 8_192 } }`"));
    };
    let place: Span = group.span_open();
    entries::read(Cursor::of(&group), "a deployment's name", faults, |attributes, name, cursor, faults| {
        deployment::parse(model, attributes, name, cursor, faults)
    });
    if model.deployments.is_empty() && Cursor::of(&group).is_empty() {
        faults.push(
            Fault::form("there is no deployment", place)
                .help("write `DECODE: decode { tp: 8, ctx: 8_192 }` between the braces"),
        );
    }
    Ok(())
}

/// `[fit, vllm_plan]`.
fn reports(model: &mut Model, cursor: &mut Cursor, faults: &mut Vec<Fault>) -> Result<(), Fault> {
    let help = "write `reports: [fit, vllm_plan]`, or one of them";
    let Some(group) = cursor.take_group(Delimiter::Bracket) else {
        let found = entries::found(cursor.peek());
        return Err(Fault::form(format!("expected `[` after `reports:`, found {found}"), cursor.span()).help(help));
    };
    let mut inner = Cursor::of(&group);
    if inner.is_empty() {
        faults.push(Fault::form("there is no report", group.span_open()).help(help));
    }
    while !inner.is_empty() {
        let span = inner.span();
        let Some(word) = inner.take_ident() else {
            let found = entries::found(inner.peek());
            faults.push(Fault::form(format!("a report is a name, found {found}"), span).help(help));
            inner.skip_entry();
            continue;
        };
        match Report::from_name(&word.to_string()) {
            Some(report) if model.reports.iter().any(|earlier| earlier.value == report) => {
                faults.push(entries::twice(report.as_str(), span));
            }
            Some(report) => model.reports.push(Spanned { value: report, span }),
            None => faults.push(entries::unknown("report", &word, &Report::NAMES)),
        }
        if !inner.is_empty() && !inner.take_sign(',') {
            let found = entries::found(inner.peek());
            faults.push(Fault::form(format!("expected a comma, found {found}"), inner.span()));
            inner.skip_entry();
        }
    }
    Ok(())
}
