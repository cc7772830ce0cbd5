//! `cargo logos check --explain-widths`: what every tensor-parallel width makes of a model.

use std::fmt::Display;
use std::io::Write;

use clap::ArgMatches;
use logos_core::widths::{Dense, Explained, Holding, Width, explain};
use serde_json::{Value, json};

use super::report::{align, print, row, table};
use super::{Failure, document, request};
use crate::describe::grouped;

/// A line a width, or a document.
pub(super) fn widths(matches: &ArgMatches, out: &mut dyn Write) -> Result<(), Failure> {
    let (model, explained) =
        request::with_model(matches, |asked| Ok((asked.model.to_owned(), explain(asked, request::experts(matches))?)))?;
    if matches.get_flag("json") {
        document::write(out, &of(&model, &explained))?;
        return Ok(());
    }
    people(out, &model, &explained)
}

fn people(out: &mut dyn Write, model: &str, explained: &Explained) -> Result<(), Failure> {
    let Explained { chip, most, vocab, widths, notes } = explained;
    writeln!(out, "{model} on 1 to {most} x {chip}\n")?;
    let mut lines = table(["chips", "weights a chip", "KV copies", "why not, or what of it"]);
    for width in widths {
        let why = sentences(*vocab, width).join("\n");
        match &width.held {
            Some(held) => {
                let copies = held.kv_copies.to_string();
                row(&mut lines, [&width.tp as &dyn Display, &grouped(held.weight_bytes), &copies, &why]);
            }
            None => row(&mut lines, [&width.tp as &dyn Display, &"no", &"", &why]),
        }
    }
    align(&mut lines, &[0, 1, 2]);
    print(out, &lines)?;
    let admitted = widths.iter().filter(|width| width.held.is_some()).map(|width| width.tp.to_string());
    writeln!(out, "\nadmitted: {}", admitted.collect::<Vec<_>>().join(", "))?;
    writeln!(out, "bytes are derived from the config; KV copies: most chips that hold the same KV head or latent")?;
    notes.iter().try_for_each(|note| writeln!(out, "note: {note}"))?;
    Ok(())
}

/// What is said of a width.
fn sentences(vocab: u32, width: &Width) -> Vec<String> {
    // The line begins with the chips.
    let over = format!(" over {} chips", width.tp);
    let against = width.against.iter().map(|reason| reason.to_string().trim_end_matches(&over).to_owned());
    let mut sentences: Vec<String> = against.collect();
    sentences
        .extend(width.padding_admits.map(|rows| format!("`--vocab padded` admits it: {vocab} rows become {rows}")));
    let Some(held) = &width.held else { return sentences };
    if held.kv_copied_bytes > 0 {
        let (copied, all) = (grouped(held.kv_copied_bytes), grouped(held.kv_bytes));
        sentences.push(format!("{copied} of {all} bytes a position, all chips' caches, are copies"));
    }
    if held.vocab_padding > 0 {
        let Holding { vocab_rows, vocab_padding, chips_of_padding, .. } = held;
        let alone = match chips_of_padding {
            0 => String::new(),
            1 => "; 1 chip holds nothing else".to_owned(),
            n => format!("; {n} chips hold nothing else"),
        };
        sentences.push(format!("{vocab_padding} of {vocab_rows} vocabulary rows are padding{alone}"));
    }
    sentences.extend(held.dense.iter().map(|dense| {
        let Dense { name, storage, weights, inputs, outputs } = dense;
        let many = if *weights == 1 { String::new() } else { format!(" ({weights} layers)") };
        let blocks = blocks(dense);
        format!("{name}{many} is read dense: {inputs} by {outputs} of {storage} cuts blocks of {blocks}")
    }));
    sentences
}

/// What of a storage shares bytes or a scale.
fn blocks(dense: &Dense) -> String {
    match dense.storage.scaled() {
        Some((rows, columns)) => format!("{rows} by {columns}"),
        None => dense.storage.block().0.to_string(),
    }
}

fn of(model: &str, explained: &Explained) -> Value {
    let Explained { chip, most, vocab, widths, notes } = explained;
    let widths: Vec<Value> = widths.iter().map(width).collect();
    document::widths([
        ("model", model.into()),
        ("chip", chip.as_str().into()),
        ("chips_of_the_domain", (*most).into()),
        ("vocabulary_rows", (*vocab).into()),
        ("widths", widths.into()),
        ("notes", notes.as_slice().into()),
    ])
}

fn width(width: &Width) -> Value {
    let Width { tp, against, padding_admits, held } = width;
    let against: Vec<Value> = against
        .iter()
        .map(|reason| json!({ "what": reason.name(), "size": reason.size(), "message": reason.to_string() }))
        .collect();
    json!({
        "tp": tp,
        "admitted": held.is_some(),
        "against": against,
        "padded_vocabulary_would_admit_it_with_rows": padding_admits,
        "held": held.as_ref().map(holding),
    })
}

fn holding(held: &Holding) -> Value {
    let Holding {
        weight_bytes,
        kv_copies,
        kv_bytes,
        kv_copied_bytes,
        vocab_rows,
        vocab_padding,
        chips_of_padding,
        dense,
    } = held;
    let dense: Vec<Value> = dense
        .iter()
        .map(|dense| {
            let Dense { name, storage, weights, inputs, outputs } = dense;
            json!({
                "weight": name,
                "stored": storage.as_str(),
                "blocks_of": blocks(dense),
                "layers": weights,
                "inputs_per_chip": inputs,
                "outputs_per_chip": outputs,
            })
        })
        .collect();
    json!({
        "weights_per_chip_bytes": weight_bytes,
        "kv_copies": kv_copies,
        "kv_cache_bytes_per_position_all_chips": kv_bytes,
        "of_them_copies_bytes": kv_copied_bytes,
        "vocabulary_rows_with_padding": vocab_rows,
        "padding_rows": vocab_padding,
        "chips_of_padding_alone": chips_of_padding,
        "read_dense": dense,
    })
}
