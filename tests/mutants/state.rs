//! State: read at its old value, written once, the same bytes for the whole model.

use logos_bundle::table::layout::{NONE, Part, deployment, op, section, stage, statement, value};

use super::places::ProgramRows;
use super::trial::{Kind, Trial};

pub(crate) fn run(trial: &mut Trial<'_>) {
    for program in trial.table().programs() {
        appends(trial, &program);
        recurrences(trial, &program);
    }
    stateless(trial);
    stores(trial);
}

fn appends(trial: &mut Trial<'_>, program: &ProgramRows) {
    let table = trial.table();
    let appends: Vec<usize> = table.statements(program, op::APPEND).collect();
    for (&s, &other) in appends.iter().zip(appends.iter().rev()) {
        let cache = table.get(Part::Statements, other, statement::RESULT);
        trial.reject(
            Kind("two appends to one cache, none to the other", &[1, 10]),
            format_args!("statement {s}"),
            |t| {
                t.set(Part::Statements, s, statement::RESULT, cache);
            },
        );
    }
    for s in table.statements(program, op::ATTENTION) {
        // The append that follows comes first: the two statements and the rows that name them exchange their numbers.
        let Some(&append) = appends.iter().find(|&&append| append == s + 1) else { continue };
        let numbers = [s, append].map(|row| (row - program.statements.start) as u32);
        trial.reject(Kind("append before the old value is read", &[10]), format_args!("statement {s}"), |t| {
            let (a, b) = (t.rows(Part::Statements)[s], t.rows(Part::Statements)[append]);
            *t.row(Part::Statements, s) = b;
            *t.row(Part::Statements, append) = a;
            let exchange = |word: u32| match numbers.iter().position(|&number| number == word) {
                Some(at) => numbers[1 - at],
                None => word,
            };
            for v in program.values.clone() {
                let bound = t.get(Part::Values, v, value::STATEMENT);
                t.set(Part::Values, v, value::STATEMENT, exchange(bound));
            }
            let sections = t.sections().filter(|section| section.program == program.index);
            for g in sections.flat_map(|section| section.stages).collect::<Vec<_>>() {
                let own = t.get(Part::Stages, g, stage::STATEMENT);
                t.set(Part::Stages, g, stage::STATEMENT, exchange(own));
            }
        });
        for operand in [4, 5] {
            let [one, two] = [4, 5].map(|x| table.get(Part::Statements, s, statement::OPERANDS + x));
            let cache = if operand == 4 { two } else { one };
            trial.reject(Kind("both caches the same", &[10]), format_args!("statement {s}"), |t| {
                t.set(Part::Statements, s, statement::OPERANDS + operand, cache);
            });
        }
        trial.reject(Kind("attention without its caches", &[1, 10]), format_args!("statement {s}"), |t| {
            t.row(Part::Statements, s)[statement::OPERANDS + 3..][..3].fill(NONE);
        });
    }
}

fn recurrences(trial: &mut Trial<'_>, program: &ProgramRows) {
    let table = trial.table();
    for (code, operand) in [(op::CONV, 2), (op::DELTA, 5)] {
        let all: Vec<usize> = table.statements(program, code).collect();
        for &s in &all {
            let state = table.get(Part::Statements, s, statement::OPERANDS + operand);
            if state == NONE {
                continue;
            }
            trial.reject(Kind("recurrence that forgets its state", &[10]), format_args!("statement {s}"), |t| {
                t.set(Part::Statements, s, statement::OPERANDS + operand, NONE);
            });
            for &other in all.iter().filter(|&&other| other != s) {
                trial.reject(Kind("recurrence over another's state", &[1, 10]), format_args!("statement {s}"), |t| {
                    let state = t.get(Part::Statements, other, statement::OPERANDS + operand);
                    t.set(Part::Statements, s, statement::OPERANDS + operand, state);
                });
            }
        }
    }
    for v in program.values.clone().filter(|&v| table.get(Part::Values, v, value::ROLE) == 2) {
        let [rows, copies] = [value::ROWS, value::SEQS].map(|field| table.get(Part::Values, v, field));
        for (kind, field, word) in [
            (Kind("rows of a state", &[0, 1, 11]), value::ROWS, rows + 1),
            (Kind("rows of a state", &[0, 1, 11]), value::ROWS, rows - 1),
            (Kind("copies of a state", &[1]), value::SEQS, copies + 1),
        ] {
            trial.reject(kind, format_args!("value {v}"), |t| t.set(Part::Values, v, field, word));
        }
    }
}

fn stateless(trial: &mut Trial<'_>) {
    let table = trial.table();
    let form = table.get(Part::Deployment, 0, deployment::FORM);
    if form != 0 {
        trial.reject(Kind("states of a forward step", &[1, 10]), "deployment", |t| {
            t.set(Part::Deployment, 0, deployment::FORM, 0);
            t.set(Part::Deployment, 0, deployment::CTX, 0);
        });
        let ctx = table.get(Part::Deployment, 0, deployment::CTX);
        for other in [ctx / 2, ctx - 1, ctx + 1] {
            trial.reject(Kind("another context than the caches'", &[1, 9]), other, |t| {
                t.set(Part::Deployment, 0, deployment::CTX, other);
            });
        }
    }
}

/// A store of a state so late that the layer's next step would load it before.
fn stores(trial: &mut Trial<'_>) {
    let table = trial.table();
    for s in table.sections() {
        let layers = u64::from(table.get(Part::Programs, s.program, logos_bundle::table::layout::program::LAYERS));
        let interval = table.wide(Part::Sections, s.index, section::INTERVAL);
        for g in s.stages.clone() {
            let own = table.get(Part::Stages, g, stage::STATEMENT) as usize;
            let statement = table.programs().nth(s.program).map_or(0, |p| p.statements.start) + own;
            let code = table.get(Part::Statements, statement, statement::OP);
            let stores = table.get(Part::Stages, g, stage::PRIMITIVE) == 1;
            if stores && matches!(code, op::APPEND | op::CONV | op::DELTA) {
                trial.reject(Kind("state stored after its next load", &[6]), format_args!("stage {g}"), |t| {
                    let late = layers * interval;
                    let start = t.wide(Part::Stages, g, stage::START);
                    t.set_wide(Part::Stages, g, stage::START, start + late);
                    let span = t.wide(Part::Sections, s.index, section::SPAN);
                    t.set_wide(Part::Sections, s.index, section::SPAN, span + late);
                });
            }
        }
    }
}
