//! One deployment: `NAME: form { key: number, … } require { … }`.

use logos_core::{DeploymentRequest, ExpertSplit, Form, Key};
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};

use super::{entries, is_name, require};
use crate::cursor::Cursor;
use crate::fault::Fault;
use crate::model::{Deployment, Model};
use crate::number::{self, Number};

#[derive(Clone, Copy)]
enum Kind {
    Decode,
    Prefill,
    Forward,
}

/// A form's word, the keys it takes, and of these the ones that must be given.
struct Shape {
    kind: Kind,
    word: &'static str,
    keys: &'static [Key],
    required: &'static [Key],
}

const SHAPES: [Shape; 3] = [
    Shape {
        kind: Kind::Decode,
        word: "decode",
        keys: &[Key::Tp, Key::Ctx, Key::Batch, Key::Experts],
        required: &[Key::Ctx],
    },
    Shape {
        kind: Kind::Prefill,
        word: "prefill",
        keys: &[Key::Tp, Key::Ctx, Key::Chunk, Key::Batch, Key::Experts],
        required: &[Key::Ctx, Key::Chunk],
    },
    Shape { kind: Kind::Forward, word: "forward", keys: &[Key::Tp, Key::Rows, Key::Experts], required: &[Key::Rows] },
];

/// Reads the value of the deployment `name` and adds it to the model, at fault or not: its constant has to exist.
pub(super) fn parse(
    model: &mut Model,
    attributes: TokenStream,
    name: Ident,
    cursor: &mut Cursor,
    faults: &mut Vec<Fault>,
) -> Result<(), Fault> {
    let text = name.to_string();
    if !is_name(&name) {
        return Err(Fault::form(format!("`{text}` cannot name a constant"), name.span())
            .help("write letters, digits and underscores, as in `DECODE_LONG`; no keyword"));
    }
    if text.starts_with("__") {
        return Err(Fault::form(
            format!("`{text}` is reserved: two underscores begin the macro's own names"),
            name.span(),
        )
        .help("write a name that begins otherwise, as `DECODE_LONG` does"));
    }
    if model.deployments.iter().any(|deployment| deployment.name == text) {
        return Err(entries::twice(&text, name.span()).help("give one of the two another name"));
    }
    let conditions = conditions(&attributes);
    model.deployments.push(Deployment {
        attributes,
        conditions,
        name,
        request: None,
        keys: Vec::new(),
        required: Vec::new(),
    });
    let (shape, group) = form(cursor)?;
    let before = faults.len();
    let Values { numbers, experts } = values(shape, &group, faults);
    let required = require::parse(cursor, faults)?;
    let Some(deployment) = model.deployments.last_mut() else { return Ok(()) };
    deployment.keys.push((Key::Form, group.0.span()));
    deployment.keys.extend(numbers.iter().map(|(key, number)| (*key, number.span)));
    deployment.keys.extend(experts.map(|(_, span)| (Key::Experts, span)));
    let value = |wanted| numbers.iter().find(|(key, _)| *key == wanted).map(|(_, number)| number.value);
    if faults.len() == before {
        let request = request(shape, text, value);
        let experts = experts.map_or(ExpertSplit::Columns, |(split, _)| split);
        let require = required.iter().map(|required| required.requirement).collect();
        deployment.request = request.map(|request| DeploymentRequest { experts, require, ..request });
    }
    deployment.required = required;
    Ok(())
}

/// The form's word and its braces.
fn form(cursor: &mut Cursor) -> Result<(&'static Shape, (Ident, Group)), Fault> {
    let words = SHAPES.each_ref().map(|shape| shape.word);
    let span = cursor.span();
    let Some(word) = cursor.take_ident() else {
        return Err(Fault::form(format!("expected a form, found {}", entries::found(cursor.peek())), span)
            .help(format!("a form is one of {}", entries::list(&words))));
    };
    let Some(shape) = SHAPES.iter().find(|shape| word == shape.word) else {
        return Err(entries::unknown("form of deployment", &word, &words));
    };
    match cursor.take_group(Delimiter::Brace) {
        Some(group) => Ok((shape, (word, group))),
        None => Err(Fault::form(
            format!("expected `{{` after `{word}`, found {}", entries::found(cursor.peek())),
            cursor.span(),
        )
        .help(format!("write its sizes in braces: `{word} {{ {} }}`", sizes(shape)))),
    }
}

/// The sizes that a form needs, as they might be written.
fn sizes(shape: &Shape) -> String {
    let sizes: Vec<String> =
        shape.required.iter().map(|key| format!("{}: {}", key.as_str(), number::example(key.as_str()))).collect();
    sizes.join(", ")
}

/// What stands in a form's braces.
#[derive(Default)]
struct Values {
    numbers: Vec<(Key, Number)>,
    experts: Option<(ExpertSplit, Span)>,
}

/// Reads the sizes and options, and says which are missing.
fn values(shape: &Shape, (word, group): &(Ident, Group), faults: &mut Vec<Fault>) -> Values {
    let mut values = Values::default();
    let mut seen: Vec<Key> = Vec::new();
    let keys: Vec<&str> = shape.keys.iter().map(|key| key.as_str()).collect();
    // A key that was misspelt is not reported as missing as well.
    let mut offered: Vec<&str> = Vec::new();
    entries::read(Cursor::of(group), "a key", faults, |attributes, name, cursor, faults| {
        faults.extend(entries::no_attributes(attributes, &name));
        let Some(&key) = shape.keys.iter().find(|key| name == key.as_str()) else {
            offered.extend(entries::near(&name, &keys));
            return Err(wrong_key(shape, &name, &keys));
        };
        if seen.contains(&key) {
            return Err(entries::twice(key.as_str(), name.span()));
        }
        seen.push(key);
        match key {
            Key::Experts => values.experts = Some(experts(cursor)?),
            Key::Form | Key::Tp | Key::Ctx | Key::Batch | Key::Chunk | Key::Rows => {
                values.numbers.push((key, number::parse(key.as_str(), cursor)?));
            }
        }
        Ok(())
    });
    for key in shape.required {
        if !seen.contains(key) && !offered.contains(&key.as_str()) {
            let key = key.as_str();
            let message = format!("`{key}` is missing: {} needs it", shape.word);
            faults.push(Fault::form(message, word.span()).help(format!("write `{key}: {}`", number::example(key))));
        }
    }
    values
}

/// How routed experts lie over the chips.
fn experts(cursor: &mut Cursor) -> Result<(ExpertSplit, Span), Fault> {
    let span = cursor.span();
    let Some(word) = cursor.take_ident() else {
        let found = entries::found(cursor.peek());
        return Err(Fault::form(format!("`experts` is a word, found {found}"), span)
            .help("write `experts: parallel`, or leave it out for experts that are cut by columns"));
    };
    match ExpertSplit::from_name(&word.to_string()) {
        Some(split) => Ok((split, span)),
        None => Err(entries::unknown("split of experts", &word, &ExpertSplit::NAMES)),
    }
}

/// A key that this form does not take: another form's, or nobody's.
fn wrong_key(shape: &Shape, name: &Ident, keys: &[&str]) -> Fault {
    let takes = |other: &&Shape| other.keys.iter().any(|key| name == key.as_str());
    let owners: Vec<&str> = SHAPES.iter().filter(takes).map(|owner| owner.word).collect();
    match owners[..] {
        [_, ..] => {
            let message = format!("`{name}` is a key of {}, not of {}", owners.join(" and "), shape.word);
            Fault::unknown(message, name.span()).help(format!("{} takes {}", shape.word, entries::list(keys)))
        }
        [] if super::body::KEYS.iter().any(|key| name == key) => {
            Fault::unknown(format!("`{name}` is a key of the module, not of {}", shape.word), name.span())
                .help("write it beside `deployments`")
        }
        [] if name == require::WORD => {
            Fault::unknown(format!("`{name}` is no key of {}", shape.word), name.span()).help(require::PLACE)
        }
        [] => entries::unknown(&format!("key of {}", shape.word), name, keys),
    }
}

fn request(shape: &Shape, name: String, value: impl Fn(Key) -> Option<u32>) -> Option<DeploymentRequest> {
    let form = match shape.kind {
        Kind::Decode => Form::Decode { ctx: value(Key::Ctx)?, batch: value(Key::Batch).unwrap_or(1) },
        Kind::Prefill => {
            let batch = value(Key::Batch).unwrap_or(1);
            Form::Prefill { ctx: value(Key::Ctx)?, chunk: value(Key::Chunk)?, batch }
        }
        Kind::Forward => Form::Forward { rows: value(Key::Rows)? },
    };
    Some(DeploymentRequest::new(name, form, value(Key::Tp)))
}

/// Of attributes, the `cfg`s.
fn conditions(attributes: &TokenStream) -> TokenStream {
    let mut conditions = TokenStream::new();
    let tokens: Vec<TokenTree> = attributes.clone().into_iter().collect();
    for pair in tokens.chunks(2) {
        let [sign, TokenTree::Group(group)] = pair else { continue };
        if matches!(group.stream().into_iter().next(), Some(TokenTree::Ident(word)) if word == "cfg") {
            conditions.extend([sign.clone(), TokenTree::Group(group.clone())]);
        }
    }
    conditions
}
