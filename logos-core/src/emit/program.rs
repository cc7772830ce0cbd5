//! The rows of one program: itself, its values, statements and digests.

use logos_bundle::table::layout::{
    NONE, Part, digest as digest_row, op, program as program_row, rope as rope_row, statement as statement_row,
    storage, value as value_row,
};
use sha2::{Digest, Sha256};

use crate::author::Source;
use crate::kinds::{KindProgram, Role as ProgramRole};
use crate::language::ast::{
    Axis, Origin, Program, Recipe, Role, RopePart, RopeTable, Sharding, Statement, Storage, ValueId,
};
use crate::lower::Row as StatementRow;
use crate::refusal::Refusal;
use crate::request::Form;
use crate::spatial::{SpatialProgram, Tier};
use crate::spec::{Scaling, Temperature};

use super::table::{Row, Table, blank, index, put_pair, put_sha, put_wide};
use super::{Contents, Lowering, manifest, net};

pub(super) fn write(table: &mut Table, contents: &Contents<'_>, part: &Lowering<'_>) -> Result<(), Refusal> {
    let &Lowering { kind, spatial } = part;
    let program = table.count(Part::Programs);
    let mut row = blank();
    put_pair(&mut row, program_row::NAME, table.string(&kind.name));
    put_pair(&mut row, program_row::TEXT, table.string(&kind.text));
    row[program_row::ROLE] = match kind.role {
        ProgramRole::Embed => 0,
        ProgramRole::Layer => 1,
        ProgramRole::Head => 2,
    };
    row[program_row::LAYERS] = match kind.role {
        ProgramRole::Embed | ProgramRole::Head => 1,
        ProgramRole::Layer => kind.layers.len() as u32,
    };
    row[program_row::ROWS] = spatial.rows as u32;
    row[program_row::FIRST_LAYER] = kind.first_layer.unwrap_or(0);
    let counts = [
        (program_row::VALUES, Part::Values),
        (program_row::STATEMENTS, Part::Statements),
        (program_row::SECTIONS, Part::Sections),
        (program_row::BINDINGS, Part::Bindings),
    ];
    for (word, rows) in counts {
        row[word] = table.count(rows);
    }
    table.push(Part::Programs, row);

    write_values(table, contents, part);
    write_statements(table, part);
    net::write(table, program, spatial);
    manifest::write_bindings(table, kind)?;
    for (word, rows) in counts {
        let count = table.count(rows) - row[word];
        table.set(Part::Programs, program, word + 1, count);
    }

    let mut digest = blank();
    put_sha(&mut digest, digest_row::IDENTITY, &kind.identity);
    put_sha(&mut digest, digest_row::TEXT, &Sha256::digest(kind.text.as_bytes()).into());
    table.push(Part::Digests, digest);
    Ok(())
}

fn write_values(table: &mut Table, contents: &Contents<'_>, part: &Lowering<'_>) {
    let &Lowering { kind, spatial } = part;
    let program = &kind.authored.program;
    let bound_by = bound_by(spatial, part.kind);
    for (i, value) in program.values.iter().enumerate() {
        let id = ValueId(i as u32);
        let mut row = blank();
        put_pair(&mut row, value_row::NAME, table.string(&value.name));
        row[value_row::ROLE] = match &value.origin {
            Origin::Declared(Role::Input) => 0,
            Origin::Declared(Role::Weight) => 1,
            Origin::Declared(Role::State) => 2,
            Origin::Declared(Role::Table(_)) => 3,
            Origin::Bound(_) => 4,
        };
        row[value_row::STORAGE] = match value.storage {
            Storage::F32 => storage::F32,
            Storage::F16 => storage::F16,
            Storage::Bf16 => storage::BF16,
            Storage::Q8_0 => storage::Q8_0,
            Storage::F8E4M3 => storage::F8_E4M3,
            Storage::Mxfp4 => storage::MXFP4,
            Storage::I32 => storage::I32,
        };
        row[value_row::SEQS] = value.shape.seqs;
        row[value_row::ROWS] = value.shape.rows;
        row[value_row::COLS] = value.shape.cols;
        (row[value_row::SHARDING], row[value_row::PARTS]) = match value.sharding {
            Sharding::Whole => (0, 1),
            Sharding::Split { axis: Axis::Rows, parts } => (1, parts),
            Sharding::Split { axis: Axis::Columns, parts } => (2, parts),
            Sharding::Partial => (3, 1),
            Sharding::Split { axis: Axis::Experts, parts } => (4, parts),
        };
        row[value_row::TILE] = spatial.tile[i] as u32;
        row[value_row::TIER] = spatial.tier[i].map_or(NONE, tier_word);
        row[value_row::STATEMENT] = index(bound_by[i]);
        row[value_row::ROPE] = match &value.origin {
            Origin::Declared(Role::Table(recipe)) => write_recipe(table, contents.form, recipe),
            Origin::Declared(Role::Input | Role::Weight | Role::State) | Origin::Bound(_) => NONE,
        };
        row[value_row::FLAGS] = u32::from(counted_elsewhere(contents, kind, id));
        table.push(Part::Values, row);
    }
}

/// The statement row that binds each value, or loads it (inputs).
fn bound_by(spatial: &SpatialProgram, kind: &KindProgram) -> Vec<Option<u32>> {
    let program = &kind.authored.program;
    let mut rows = vec![None; program.values.len()];
    for (i, row) in spatial.statements.iter().enumerate() {
        match row {
            StatementRow::Input(value) => rows[value.0 as usize] = Some(i as u32),
            StatementRow::Statement(s) => {
                if let Statement::Let { result, .. } = &program.statements[*s as usize] {
                    rows[result.0 as usize] = Some(i as u32);
                }
            }
        }
    }
    rows
}

/// Whether a head's weight is the embedding's own bytes: the same tensor, stored the same way.
fn counted_elsewhere(contents: &Contents<'_>, kind: &KindProgram, value: ValueId) -> bool {
    let held = |kind: &KindProgram, value: ValueId| {
        let binding = kind.authored.bindings.iter().find(|b| b.value == value)?;
        match &binding.source {
            Source::Weight { weight, .. } => {
                Some((weight.tensor.name.clone(), kind.authored.program.value(value).storage))
            }
            Source::State | Source::Table | Source::Hidden | Source::Index => None,
        }
    };
    let embeddings = contents.programs.iter().map(|p| p.kind).filter(|k| k.role == ProgramRole::Embed);
    let Some(own) = held(kind, value).filter(|_| kind.role == ProgramRole::Head) else { return false };
    embeddings.flat_map(|e| e.authored.bindings.iter().filter_map(move |b| held(e, b.value))).any(|other| other == own)
}

pub(super) const fn tier_word(tier: Tier) -> u32 {
    match tier {
        Tier::Sram => 0,
        Tier::Hbm => 1,
        Tier::Ddr => 2,
    }
}

/// Writes a rotary recipe and gives its row.
fn write_recipe(table: &mut Table, form: Form, recipe: &Recipe) -> u32 {
    let length = form.tokens().max(form.context().unwrap_or(0));
    let row = recipe_row(recipe, length, |factors| table.factors(factors));
    table.push(Part::Ropes, row);
    table.count(Part::Ropes) - 1
}

/// The row of a recipe in a deployment of `length` positions: its context, or the rows of a forward step. `place` tells where
/// a list of factors lies.
pub(crate) fn recipe_row(recipe: &Recipe, length: u32, place: impl FnOnce(&[f32]) -> u32) -> Row {
    match recipe {
        Recipe::Rope(recipe) => rotary_row(recipe, length, place),
        Recipe::Temperature(Temperature { scale, floor }) => {
            let mut row = blank();
            row[rope_row::PART] = 2;
            row[rope_row::PARAMETERS] = scale.to_bits();
            row[rope_row::PARAMETERS + 1] = floor.to_bits();
            row
        }
    }
}

fn rotary_row(recipe: &RopeTable, length: u32, place: impl FnOnce(&[f32]) -> u32) -> Row {
    let mut row = blank();
    row[rope_row::PART] = match recipe.part {
        RopePart::Cos => 0,
        RopePart::Sin => 1,
    };
    put_wide(&mut row, rope_row::THETA, recipe.theta.to_bits());
    row[rope_row::ROTARY] = recipe.rotary;
    row[rope_row::FACTOR] = 1f32.to_bits();
    let (code, parameters): (u32, Vec<f32>) = match &recipe.scaling {
        Scaling::None => (0, vec![]),
        Scaling::Linear { factor } => (1, vec![*factor]),
        Scaling::Dynamic { factor, original } => (2, vec![*factor, *original as f32]),
        Scaling::Llama3 { factor, low, high, original } => (3, vec![*factor, *low, *high, *original as f32]),
        Scaling::Yarn { factor, beta_fast, beta_slow, original, truncate, attention_factor } => {
            row[rope_row::FACTOR] = attention_factor.to_bits();
            (4, vec![*factor, *beta_fast, *beta_slow, *original as f32, f32::from(u8::from(*truncate))])
        }
        Scaling::LongRope { short, long, original, attention_factor } => {
            row[rope_row::FACTOR] = attention_factor.to_bits();
            // One list for the whole deployment, as serving stacks have it: cached keys keep their angles.
            row[rope_row::FACTORS] = place(if length > *original { long } else { short });
            (5, vec![*original as f32])
        }
    };
    row[rope_row::SCALING] = code;
    for (word, parameter) in row[rope_row::PARAMETERS..].iter_mut().zip(parameters) {
        *word = parameter.to_bits();
    }
    row
}

fn write_statements(table: &mut Table, part: &Lowering<'_>) {
    for statement in &part.spatial.statements {
        table.push(Part::Statements, statement_row(&part.kind.authored.program, *statement));
    }
}

/// The row of a statement of a program, or of an input's load.
pub(crate) fn statement_row(program: &Program, statement: StatementRow) -> Row {
    let mut row = blank();
    let mut operands = [None; statement_row::OPERAND_COUNT];
    let (code, result) = match statement {
        StatementRow::Input(value) => (op::INPUT, value),
        StatementRow::Statement(s) => match &program.statements[s as usize] {
            Statement::Let { result, op, operands: given } => {
                operands = op.form().place(given);
                row[statement_row::ATTRIBUTES..][..statement_row::ATTRIBUTE_COUNT].copy_from_slice(&op.attributes());
                (op.code(), *result)
            }
            Statement::Append { value, state, pos } => {
                (operands[0], operands[1]) = (Some(*value), Some(*pos));
                (op::APPEND, *state)
            }
            Statement::Show { value } => (op::SHOW, *value),
        },
    };
    row[statement_row::OP] = code;
    row[statement_row::RESULT] = result.0;
    for (at, operand) in operands.iter().enumerate() {
        row[statement_row::OPERANDS + at] = index(operand.map(|v| v.0));
    }
    row
}
