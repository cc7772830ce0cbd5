//! Sharding: sums over chips missing, twice or as something else, shardings and parts of every value, KV heads elsewhere,
//! the number of chips.

use logos_bundle::table::layout::{NONE, Part, deployment, op, statement, storage, value};

use super::places::ProgramRows;
use super::trial::{Kind, Trial};

/// Shardings of the table.
const WHOLE: u32 = 0;
const ROWS: u32 = 1;
const COLUMNS: u32 = 2;
const PARTIAL: u32 = 3;
const EXPERTS: u32 = 4;

pub(crate) fn run(trial: &mut Trial<'_>) {
    let table = trial.table();
    for program in table.programs() {
        sums(trial, &program);
        for v in program.values.clone() {
            cut(trial, &program, v);
        }
        heads(trial, &program);
    }
    let chips = table.get(Part::Deployment, 0, deployment::CHIPS);
    if chips > 1 {
        for other in [chips / 2, chips + 1, 2 * chips] {
            trial.reject(Kind("another number of chips", &[11]), other, |t| {
                t.set(Part::Deployment, 0, deployment::CHIPS, other);
            });
        }
    }
}

fn sums(trial: &mut Trial<'_>, program: &ProgramRows) {
    let table = trial.table();
    let sums: Vec<usize> = table.statements(program, op::SUM_CHIPS).collect();
    let result = |s| table.get(Part::Statements, s, statement::RESULT);
    let operand = |s| table.get(Part::Statements, s, statement::OPERANDS);
    for &sum in &sums {
        // Whoever reads the sum reads what was to be summed.
        trial.reject(Kind("sum over chips missing", &[11]), format_args!("statement {sum}"), |t| {
            for s in sum + 1..program.statements.end {
                let row = t.row(Part::Statements, s);
                let operands = &mut row[statement::OPERANDS..][..statement::OPERAND_COUNT];
                operands.iter_mut().filter(|x| **x == result(sum)).for_each(|x| *x = operand(sum));
                if row[statement::OP] == op::SHOW && row[statement::RESULT] == result(sum) {
                    row[statement::RESULT] = operand(sum);
                }
            }
        });
        for (kind, code) in [
            (Kind("sum over chips a plain copy", &[11]), op::SCALED),
            (Kind("sum over chips a gather", &[1, 11]), op::GATHER_CHIPS),
        ] {
            trial.reject(kind, format_args!("statement {sum}"), |t| {
                t.set(Part::Statements, sum, statement::OP, code);
                t.set(Part::Statements, sum, statement::ATTRIBUTES, u32::from(code == op::SCALED) * 1f32.to_bits());
            });
        }
        // The operation before the sum sums already.
        if sum > program.statements.start {
            trial.reject(Kind("sum over chips twice", &[1, 11]), format_args!("statement {sum}"), |t| {
                t.set(Part::Statements, sum - 1, statement::OP, op::SUM_CHIPS);
                t.row(Part::Statements, sum - 1)[statement::OPERANDS + 1..].fill(NONE);
                t.row(Part::Statements, sum - 1)[statement::ATTRIBUTES..].fill(0);
            });
        }
    }
    if let [first, second] = sums[..] {
        trial.reject(Kind("sum of a sum", &[11]), format_args!("statement {second}"), |t| {
            t.set(Part::Statements, second, statement::OPERANDS, result(first));
        });
    }
}

/// Every other sharding of a value; other numbers of parts.
fn cut(trial: &mut Trial<'_>, program: &ProgramRows, v: usize) {
    let table = trial.table();
    let [sharding, parts, chips] = [
        table.get(Part::Values, v, value::SHARDING),
        table.get(Part::Values, v, value::PARTS),
        table.get(Part::Deployment, 0, deployment::CHIPS),
    ];
    for other in [WHOLE, ROWS, COLUMNS, PARTIAL, EXPERTS] {
        let parts = if matches!(other, ROWS | COLUMNS | EXPERTS) { chips } else { 1 };
        // Besides the sharding rules, its tile may be wider than the share, or a split may be no split over one chip.
        trial.reject(Kind("sharding of a value", &[1, 11]), format_args!("value {v} {other}"), |t| {
            t.set(Part::Values, v, value::SHARDING, other);
            t.set(Part::Values, v, value::PARTS, parts);
        });
    }
    if matches!(sharding, ROWS | COLUMNS | EXPERTS) {
        for other in [1, parts / 2, 2 * parts] {
            trial.reject(Kind("parts of a split", &[0, 1, 11]), format_args!("value {v} {other}"), |t| {
                t.set(Part::Values, v, value::PARTS, other);
            });
        }
    }
    let rows = table.get(Part::Values, v, value::ROWS) / if sharding == ROWS { parts } else { 1 };
    let cols = table.get(Part::Values, v, value::COLS) / if sharding == COLUMNS { parts } else { 1 };
    let weight = table.get(Part::Values, v, value::ROLE) == 1;
    // The embedding is looked up row by row: its blocks lie along its columns.
    if weight && program.role != 0 && sharding == ROWS && !rows.is_multiple_of(32) {
        for (kind, storage) in [
            (Kind("Q8_0 cut within a block", &[11]), storage::Q8_0),
            (Kind("MXFP4 cut within a block", &[11]), storage::MXFP4),
        ] {
            trial.reject(kind, format_args!("value {v}"), |t| t.set(Part::Values, v, value::STORAGE, storage));
        }
    }
    let halved = sharding == ROWS && !rows.is_multiple_of(128) || sharding == COLUMNS && !cols.is_multiple_of(128);
    // What is no product's weight is not stored so at all.
    if weight && halved {
        trial.reject(Kind("F8_E4M3 cut within a block", &[1, 11]), format_args!("value {v}"), |t| {
            t.set(Part::Values, v, value::STORAGE, storage::F8_E4M3);
        });
    }
    if !weight {
        for storage in [storage::Q8_0, storage::F8_E4M3, storage::MXFP4] {
            trial.reject(Kind("blocks of what is no weight", &[0, 1]), format_args!("value {v}"), |t| {
                t.set(Part::Values, v, value::STORAGE, storage);
            });
        }
    }
}

/// All that attention has of KV heads moved together: fewer parts than the rule for groups of chips allows, and a bias or
/// projection that stays whole.
fn heads(trial: &mut Trial<'_>, program: &ProgramRows) {
    let table = trial.table();
    for s in table.statements(program, op::ATTENTION) {
        let first = program.values.start;
        let k = first + table.get(Part::Statements, s, statement::OPERANDS + 1) as usize;
        let parts = table.get(Part::Values, k, value::PARTS);
        let (kv_heads, chips) = (
            table.get(Part::Statements, s, statement::ATTRIBUTES + 1),
            table.get(Part::Deployment, 0, deployment::CHIPS),
        );
        let columns = table.get(Part::Values, k, value::COLS);
        let alike: Vec<usize> = program
            .values
            .clone()
            .filter(|&v| table.get(Part::Values, v, value::PARTS) == parts && parts > 1)
            .filter(|&v| table.get(Part::Values, v, value::SHARDING) == COLUMNS)
            .filter(|&v| table.get(Part::Values, v, value::COLS) == columns)
            .collect();
        for other in [parts / 2, 2 * parts].into_iter().filter(|&other| other > 1) {
            if other == kv_heads || other == chips && kv_heads.is_multiple_of(chips) {
                continue;
            }
            trial.reject(Kind("KV heads away from their queries", &[1, 11]), format_args!("{other} parts"), |t| {
                for &v in &alike {
                    t.set(Part::Values, v, value::PARTS, other);
                    let tile = t.get(Part::Values, v, value::TILE).min(columns / other);
                    t.set(Part::Values, v, value::TILE, tile);
                }
            });
        }
    }
    for s in table.statements(program, op::PLUS) {
        let bias = program.values.start + table.get(Part::Statements, s, statement::OPERANDS + 1) as usize;
        if table.get(Part::Values, bias, value::ROLE) == 1 && table.get(Part::Values, bias, value::SHARDING) != WHOLE {
            trial.reject(Kind("whole bias of a split row", &[11]), format_args!("statement {s}"), |t| {
                t.set(Part::Values, bias, value::SHARDING, WHOLE);
                t.set(Part::Values, bias, value::PARTS, 1);
            });
        }
    }
}
