//! What one chip loads for one layer.

use std::io::{self, Write};

use logos_rdu::Deployment;
use logos_rdu::view::{Binding, BindingClass};

use crate::text::{Align, bytes, grouped, table};

/// Prints the layer's bindings on the chip, for every deployment; nothing to check, hence always `true`.
pub fn print(out: &mut impl Write, deployments: &[(&str, Deployment)], layer: u32, chip: u32) -> io::Result<bool> {
    let mut before: Option<(&str, Vec<[String; 8]>)> = None;
    for (index, (name, deployment)) in deployments.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        let bundle = deployment.bundle();
        let Some((row, program)) = bundle.layer(layer).and_then(|row| Some((row, row.program()?))) else {
            writeln!(out, "{name}: no layer {layer}")?;
            continue;
        };
        writeln!(out, "{name}: layer {layer} is `{}`; chip {chip} of {}", program.name(), bundle.chips())?;
        writeln!(out, "  identity {}", row.identity())?;
        let bindings: Vec<Binding<'_>> = program.bindings().collect();
        let loaded = bindings.iter().filter(|binding| binding.class() == BindingClass::Weight);
        writeln!(out, "\n  from the checkpoint: {}", bytes(loaded.clone().map(Binding::bytes).sum::<u64>()))?;
        let rows: Vec<[String; 8]> = loaded.map(|binding| weight(binding, layer, chip)).collect();
        match &before {
            Some((other, same)) if *same == rows => writeln!(out, "  the same as {other} loads")?,
            Some(_) | None => weights(out, &rows)?,
        }
        before = Some((name, rows));
        writeln!(out, "\n  not from the checkpoint")?;
        let others = bindings.iter().filter(|binding| binding.class() != BindingClass::Weight);
        let rows: Vec<[String; 5]> = others.map(|binding| other(binding, layer)).collect();
        table(
            out,
            [
                ("value", Align::Left),
                ("class", Align::Left),
                ("on the chip", Align::Left),
                ("bytes", Align::Right),
                ("", Align::Left),
            ],
            &rows,
        )?;
    }
    writeln!(
        out,
        "\nt: the program's rows are the stored tensor's axis 1. Ranges are of stored indices, the end left out."
    )?;
    Ok(true)
}

fn weights(out: &mut impl Write, rows: &[[String; 8]]) -> io::Result<()> {
    table(
        out,
        [
            ("weight", Align::Left),
            ("on the chip", Align::Left),
            ("storage", Align::Left),
            ("bytes", Align::Right),
            ("tensor", Align::Left),
            ("stored", Align::Left),
            ("axis 0", Align::Left),
            ("axis 1", Align::Left),
        ],
        rows,
    )
}

fn weight(binding: &Binding<'_>, layer: u32, chip: u32) -> [String; 8] {
    let [rows, columns] = binding.stored();
    let runs: Vec<String> = binding.axis0(chip).map(|run| run.to_string()).collect();
    [
        binding.name(layer).to_string(),
        share(binding),
        binding.value().map_or(String::new(), |value| value.storage().to_string()),
        grouped(binding.bytes()),
        binding.tensor(layer).map_or("-".into(), |tensor| tensor.to_string()),
        format!("{rows} x {columns}{}", if binding.transposed() { " t" } else { "" }),
        runs.join(", "),
        binding.axis1(chip).to_string(),
    ]
}

fn other(binding: &Binding<'_>, layer: u32) -> [String; 5] {
    let note = match (binding.class(), binding.value().and_then(|value| value.rope())) {
        (_, Some(rope)) => rope.to_string(),
        (BindingClass::State, None) => "carried to the next step".into(),
        (BindingClass::Hidden, None) => "shown by the layer before".into(),
        (BindingClass::Index, None) => "given with the step".into(),
        (_, None) => String::new(),
    };
    [binding.name(layer).to_string(), binding.class().to_string(), share(binding), grouped(binding.bytes()), note]
}

/// Shape and storage of the chip's share.
fn share(binding: &Binding<'_>) -> String {
    binding.value().map_or(String::new(), |value| value.share().to_string())
}
