//! The programs of a deployment with the weights and states of each layer that runs one.

use super::data::{Data, State};
use super::error::LoadError;
use super::shards::Shards;
use crate::author::{Authored, Binding, Source};
use crate::kinds::{KindProgram, Role};
use crate::language::{self, Axis, Element, Origin, Program, Recipe, Sharding, Statement, Value, ValueId};
use crate::ops::Op;

/// A program as the session runs it.
pub(super) struct Kind {
    pub(super) program: Program,
    /// What to fill each step, in the order of the declared values.
    pub(super) inputs: Vec<(ValueId, Input)>,
    /// The values shown.
    pub(super) shown: Vec<ValueId>,
}

/// An input that is filled each step.
#[derive(Clone, PartialEq)]
pub(super) enum Input {
    /// Token ids in the embedding, positions in a layer.
    Index,
    /// The hidden state of the part before.
    Hidden,
    /// A table.
    Table(Recipe),
}

/// A part of the step: a program on the weights and states of a layer.
pub(super) struct Part {
    /// Which program.
    pub(super) kind: usize,
    /// Weights, by value and chip; empty for other values.
    pub(super) weights: Vec<Vec<Data>>,
    /// States, by value and chip; empty for other values.
    pub(super) states: Vec<Vec<State>>,
}

/// All parts of a step.
pub(super) struct Loaded {
    pub(super) kinds: Vec<Kind>,
    pub(super) embed: Option<Part>,
    pub(super) layers: Vec<Part>,
    pub(super) head: Part,
    /// The value of the head's program that the next token is the largest of.
    pub(super) logits: ValueId,
    /// How many of its columns stand for tokens.
    pub(super) tokens: usize,
    /// Rows of the embedding.
    pub(super) vocab: Option<u32>,
    pub(super) chips: usize,
}

pub(super) fn load(programs: &[KindProgram], shards: &mut Shards<'_>) -> Result<Loaded, LoadError> {
    let together = |what: &str| LoadError::Programs { what: what.to_owned() };
    let Some(chips) = programs.first().map(|program| program.authored.program.chips) else {
        return Err(together("there is none"));
    };
    let mut kinds = Vec::with_capacity(programs.len());
    let (mut embed, mut head) = (None, None);
    let mut vocab = None;
    let mut layers = Vec::new();
    for (index, kind) in programs.iter().enumerate() {
        kinds.push(checked(kind, chips)?);
        let mut part = |layer| part(index, kind, layer, shards);
        match kind.role {
            Role::Embed => {
                vocab = embedding_rows(kind);
                embed = Some(part(0)?);
            }
            Role::Head => head = Some((index, part(depth(programs))?)),
            Role::Layer => {
                for &layer in &kind.layers {
                    layers.push((layer, part(layer)?));
                }
            }
        }
    }
    layers.sort_by_key(|(layer, _)| *layer);
    if let Some((expected, _)) = (0u32..).zip(&layers).find(|(expected, (layer, _))| expected != layer) {
        return Err(LoadError::Programs { what: format!("layer {expected} has no program, or two") });
    }
    let Some((index, head)) = head else { return Err(together("there is no head")) };
    let (logits, tokens) = logits(&kinds[index]).ok_or_else(|| together("the head shows no argmax"))?;
    let layers = layers.into_iter().map(|(_, part)| part).collect();
    Ok(Loaded { kinds, embed, layers, head, logits, tokens, vocab, chips: chips as usize })
}

/// The layer one past the last: what the head's hidden state is named after.
fn depth(programs: &[KindProgram]) -> u32 {
    programs.iter().flat_map(|kind| &kind.layers).max().map_or(0, |last| last.saturating_add(1))
}

fn checked(kind: &KindProgram, chips: u32) -> Result<Kind, LoadError> {
    let program = &kind.authored.program;
    if let Err(errors) = language::check(program) {
        let error = errors.into_iter().next().map(Box::new);
        return Err(match error {
            Some(error) => LoadError::Program { program: kind.name.clone(), error },
            None => LoadError::Programs { what: format!("`{}` does not check", kind.name) },
        });
    }
    if program.chips != chips {
        let what = format!("`{}` is for {} chips and the first for {chips}", kind.name, program.chips);
        return Err(LoadError::Programs { what });
    }
    for bindings in std::iter::once(&kind.authored.bindings).chain(kind.exceptions.iter().map(|e| &e.bindings)) {
        bound(kind, bindings)?;
    }
    let mut inputs = Vec::new();
    for binding in &kind.authored.bindings {
        let input = match (&binding.source, &program.value(binding.value).origin) {
            (Source::Weight { .. } | Source::State, _) => continue,
            (Source::Index, _) => Input::Index,
            (Source::Hidden, _) => Input::Hidden,
            (Source::Table, Origin::Declared(language::Role::Table(recipe))) => Input::Table(recipe.clone()),
            (Source::Table, Origin::Declared(_) | Origin::Bound(_)) => {
                return Err(LoadError::Programs {
                    what: format!("`{}` is bound as a table and is none", binding.name),
                });
            }
        };
        inputs.push((binding.value, input));
    }
    let shown = program.statements.iter().filter_map(|statement| match statement {
        Statement::Show { value } => Some(*value),
        Statement::Let { .. } | Statement::Append { .. } => None,
    });
    Ok(Kind { inputs, shown: shown.collect(), program: program.clone() })
}

/// Whether each declared value is bound, in order, as what it is declared.
fn bound(kind: &KindProgram, bindings: &[Binding]) -> Result<(), LoadError> {
    let values = &kind.authored.program.values;
    let declared = values.iter().take_while(|value| matches!(value.origin, Origin::Declared(_))).count();
    if bindings.len() != declared {
        let what = format!("`{}` declares {declared} values and binds {}", kind.name, bindings.len());
        return Err(LoadError::Programs { what });
    }
    for (value, (number, binding)) in values.iter().zip((0u32..).zip(bindings)) {
        use language::Role;
        let Origin::Declared(role) = &value.origin else { continue };
        let fits = match (&binding.source, role) {
            (Source::Weight { .. }, Role::Weight) | (Source::State, Role::State) | (Source::Table, Role::Table(_)) => {
                true
            }
            (Source::Hidden, Role::Input) => value.element == Element::Real,
            (Source::Index, Role::Input) => value.element == Element::Int,
            (
                Source::Weight { .. } | Source::State | Source::Table | Source::Hidden | Source::Index,
                Role::Weight | Role::State | Role::Table(_) | Role::Input,
            ) => false,
        };
        if !fits || binding.value != ValueId(number) {
            let what = format!("`{}` of `{}` is bound as what it is not declared", value.name, kind.name);
            return Err(LoadError::Programs { what });
        }
    }
    Ok(())
}

/// Weights and states of a layer.
fn part(index: usize, kind: &KindProgram, layer: u32, shards: &mut Shards<'_>) -> Result<Part, LoadError> {
    let program = &kind.authored.program;
    let declared = kind.bindings(layer).len();
    let mut part = Part { kind: index, weights: vec![Vec::new(); declared], states: vec![Vec::new(); declared] };
    for binding in kind.bindings(layer) {
        let at = binding.value.0 as usize;
        match &binding.source {
            Source::Weight { .. } => part.weights[at] = weight(program, binding, layer, shards)?,
            Source::State => {
                let (rows, cols) = share(program, program.value(binding.value));
                let seqs = program.value(binding.value).shape.seqs as usize;
                part.states[at] = vec![State::new(seqs, rows, cols); program.chips as usize];
            }
            Source::Table | Source::Hidden | Source::Index => {}
        }
    }
    Ok(part)
}

/// Each chip's share of a weight.
fn weight(program: &Program, binding: &Binding, layer: u32, shards: &mut Shards<'_>) -> Result<Vec<Data>, LoadError> {
    let Source::Weight { weight, .. } = &binding.source else { return Ok(Vec::new()) };
    let value = program.value(binding.value);
    let each = (0..program.chips).map(|chip| {
        let failed = |error| LoadError::Slice { tensor: weight.tensor.name.clone(), error };
        let load = binding.expand(program, layer, chip).map_err(failed)?.load;
        let Some(load) = load else {
            return Err(LoadError::Programs { what: format!("`{}` is a weight of no tensor", value.name) });
        };
        let stacked = load.bank.is_some_and(|bank| bank.stacked);
        let [axis0, inner] = match weight.tensor.shape[usize::from(stacked).min(weight.tensor.shape.len())..] {
            [] => [1, 1],
            [axis0, ref inner @ ..] => [u64::from(axis0), inner.iter().map(|&len| u64::from(len)).product()],
        };
        let beyond = |ranges: &[std::ops::Range<u64>], end| ranges.iter().any(|range| range.end > end);
        if beyond(&load.slice.axis1, inner) || beyond(&load.slice.axis0, axis0) {
            let what = format!("`{}` takes more of `{}` than there is", value.name, load.tensor);
            return Err(LoadError::Programs { what });
        }
        let matrix = shards.share(&weight.tensor, &load)?;
        let (rows, cols) = share(program, value);
        let rows = rows * crate::lower::share(value, Axis::Experts) as usize;
        if (matrix.rows(), matrix.cols()) != (rows, cols) {
            let found = format!("{} by {}", matrix.rows(), matrix.cols());
            let what =
                format!("`{}` is {rows} by {cols} a chip, and its slice of `{}` {found}", value.name, load.tensor);
            return Err(LoadError::Programs { what });
        }
        Ok(Data::Real(matrix))
    });
    each.collect()
}

/// Rows and columns of a value on one chip.
fn share(program: &Program, value: &Value) -> (usize, usize) {
    let (rows, cols) = (value.shape.rows as usize, value.shape.cols as usize);
    debug_assert!(program.chips > 0);
    match value.sharding {
        Sharding::Whole | Sharding::Partial => (rows, cols),
        Sharding::Split { axis: Axis::Rows, parts } => (rows / parts as usize, cols),
        Sharding::Split { axis: Axis::Columns, parts } => (rows, cols / parts as usize),
        Sharding::Split { axis: Axis::Experts, .. } => (rows, cols),
    }
}

/// The value that the shown token is the argmax of, and how many of its columns are chosen from.
fn logits(head: &Kind) -> Option<(ValueId, usize)> {
    head.program.statements.iter().find_map(|statement| match statement {
        Statement::Let { result, op: Op::ArgMax(argmax), operands } if head.shown.contains(result) => {
            let logits = *operands.first()?;
            let below = argmax.below.unwrap_or(head.program.value(logits).shape.cols);
            Some((logits, below as usize))
        }
        Statement::Let { .. } | Statement::Append { .. } | Statement::Show { .. } => None,
    })
}

/// Rows of the table that tokens are looked up in, without padding.
fn embedding_rows(kind: &KindProgram) -> Option<u32> {
    let Authored { program, bindings } = &kind.authored;
    program.statements.iter().find_map(|statement| match statement {
        Statement::Let { op: Op::Rows(_), operands, .. } => operands.first().map(|&table| {
            let padding = bindings.iter().filter(|binding| binding.value == table).find_map(|b| match b.source {
                Source::Weight { padding, .. } => Some(padding),
                Source::State | Source::Table | Source::Hidden | Source::Index => None,
            });
            program.value(table).shape.rows.saturating_sub(padding.unwrap_or(0))
        }),
        Statement::Let { .. } | Statement::Append { .. } | Statement::Show { .. } => None,
    })
}
