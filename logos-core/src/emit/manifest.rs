//! The manifest: how declared values are named and found, and which program each layer runs.

use logos_bundle::table::layout::{Part, binding as binding_row, layer as layer_row};

use crate::author::{Source, StoredAxis};
use crate::kinds::{KindProgram, Role};
use crate::refusal::{At, Code, Refusal};

use super::Contents;
use super::table::{Table, blank, put_pair, put_sha};

pub(super) fn write_bindings(table: &mut Table, kind: &KindProgram) -> Result<(), Refusal> {
    if let Some(exception) = kind.exceptions.first() {
        let at = At::Program(String::new(), kind.name.clone());
        let message = format!(
            "layers {:?} run the kind of layer {} with differently named tensors, which a bundle has no rows for yet",
            exception.layers,
            kind.first_layer.unwrap_or(0)
        );
        return Err(Refusal::new(Code::LowerStatement, at, message));
    }
    for binding in &kind.authored.bindings {
        let mut row = blank();
        row[binding_row::VALUE] = binding.value.0;
        put_pair(&mut row, binding_row::NAME, table.string(&binding.name));
        row[binding_row::CLASS] = binding.source.class();
        match &binding.source {
            &Source::Weight { ref weight, transposed, bank, padding } => {
                row[binding_row::PADDING] = padding;
                put_pair(&mut row, binding_row::TENSOR, table.string(&weight.tensor.name));
                row[binding_row::TRANSPOSED] = u32::from(transposed);
                row[binding_row::TAKEN] = match Source::taken(bank) {
                    StoredAxis::Zero => 0,
                    StoredAxis::One => 1,
                };
                let stacked = bank.is_some_and(|bank| bank.stacked);
                row[binding_row::STACKED] = u32::from(stacked);
                row[binding_row::OFFSET] = weight.take.offset;
                row[binding_row::RUN] = weight.take.run;
                // One run has no next: a fused tensor of one group says where it would be.
                let take = weight.take;
                row[binding_row::STRIDE] = if take.count == 1 { take.run } else { take.stride };
                row[binding_row::COUNT] = weight.take.count;
                let shape = weight.tensor.shape.get(usize::from(stacked)..).unwrap_or_default();
                let (first, rest) = shape.split_first().unwrap_or((&0, &[]));
                let folded = rest.iter().try_fold(1u32, |product, &axis| product.checked_mul(axis));
                let folded = folded.ok_or_else(|| {
                    let message = format!("a row of `{}` has more than 2^32 elements", weight.tensor.name);
                    Refusal::new(Code::SizeOverflow, At::Model, message)
                })?;
                put_pair(&mut row, binding_row::STORED, (*first, folded));
            }
            Source::State | Source::Table | Source::Hidden | Source::Index => {}
        }
        table.push(Part::Bindings, row);
    }
    Ok(())
}

pub(super) fn write_layers(table: &mut Table, contents: &Contents<'_>) {
    let mut program_of = vec![0; contents.depth as usize];
    for (i, part) in contents.programs.iter().enumerate() {
        if part.kind.role == Role::Layer {
            for &layer in &part.kind.layers {
                program_of[layer as usize] = i as u32;
            }
        }
    }
    for (layer, program) in program_of.into_iter().enumerate() {
        let mut row = blank();
        row[layer_row::PROGRAM] = program;
        put_sha(&mut row, layer_row::IDENTITY, &(contents.identity)(layer as u32));
        table.push(Part::Layers, row);
    }
}
