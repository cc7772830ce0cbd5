//! Reading a declaration.

use super::ast::{Axis, Element, Recipe, Role, RopePart, RopeTable, Shape, Sharding, Storage};
use super::error::Problem;
use super::lexer::Kind;
use super::operation::{element, words};
use super::reader::{Fault, Reader, unknown};
use crate::spec::{Scaling, Temperature};

/// A declaration as read.
pub(super) struct Read {
    pub(super) role: Role,
    pub(super) shape: Shape,
    pub(super) element: Element,
    pub(super) storage: Storage,
    pub(super) sharding: Sharding,
}

/// The role's word, before a table's recipe is known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    Input,
    Weight,
    State,
    Table,
}

const ROLES: [(&str, Word); 4] =
    [("input", Word::Input), ("weight", Word::Weight), ("state", Word::State), ("table", Word::Table)];

/// Whether a declaration stands here: a number, or an article and a number.
pub(super) fn starts(reader: &Reader<'_>) -> bool {
    let article = matches!(reader.word(), Some("a" | "an"));
    reader.kind_at(reader.at + usize::from(article)) == Kind::Number
}

/// Reads a declaration and the full stop after it.
pub(super) fn read(reader: &mut Reader<'_>, chips: u32, activations: Storage) -> Result<Read, Fault> {
    let _ = reader.eat_word("a") || reader.eat_word("an");
    let mut shape = Shape { seqs: 1, rows: reader.count()?, cols: 0 };
    if reader.eat_word("of") {
        shape.seqs = shape.rows;
        shape.rows = reader.count()?;
    }
    reader.expect_word("by")?;
    shape.cols = reader.count()?;
    let role = role(reader)?;
    reader.expect_word("of")?;
    let element = element(reader)?;
    let (mut storage, mut sharding, mut table) = (None, None, None);
    while reader.kind() == Kind::Comma {
        reader.at += 1;
        let start = reader.at;
        let twice = |given: bool, name| {
            if given { Err(Fault { at: start, problem: Problem::AttributeTwice { name } }) } else { Ok(()) }
        };
        match reader.word() {
            Some("stored") => {
                twice(storage.is_some(), "stored")?;
                reader.at += 1;
                storage = Some(reader.storage()?);
            }
            Some("split") => {
                twice(sharding.is_some(), "split")?;
                reader.at += 1;
                sharding = Some(split(reader, chips)?);
            }
            Some("cosines" | "sines") if role == Word::Table => {
                table = Some(Recipe::Rope(rope(reader)?));
                break;
            }
            Some("temperature") if role == Word::Table => {
                table = Some(Recipe::Temperature(temperature(reader)?));
                break;
            }
            Some(word) => {
                let known = if role == Word::Table {
                    &["stored", "split", "cosines", "sines", "temperature"][..]
                } else {
                    &["stored", "split"]
                };
                return Err(reader.here(unknown("attribute", word, known.iter().copied())));
            }
            None => return Err(reader.unexpected("an attribute")),
        }
    }
    let role = match (role, table) {
        (Word::Table, Some(table)) => Role::Table(table),
        (Word::Table, None) => {
            return Err(reader.unexpected("`, cosines of theta ...`, `, sines of theta ...` or `, temperature of ...`"));
        }
        (Word::Input, _) => Role::Input,
        (Word::Weight, _) => Role::Weight,
        (Word::State, _) => Role::State,
    };
    reader.expect_stop()?;
    let storage = storage.unwrap_or(match element {
        Element::Real => activations,
        Element::Int => Storage::I32,
    });
    Ok(Read { role, shape, element, storage, sharding: sharding.unwrap_or(Sharding::Whole) })
}

fn role(reader: &mut Reader<'_>) -> Result<Word, Fault> {
    let Some(word) = reader.word() else {
        return Err(reader.unexpected("a role (`input`, `weight`, `state`, `table`)"));
    };
    if word == "tensor" {
        return Err(reader.here(Problem::Literal { word: "tensor" }));
    }
    match ROLES.iter().find(|(name, _)| *name == word) {
        Some((_, role)) => {
            reader.at += 1;
            Ok(*role)
        }
        None => Err(reader.here(unknown("role", word, ROLES.iter().map(|(name, _)| *name)))),
    }
}

fn split(reader: &mut Reader<'_>, chips: u32) -> Result<Sharding, Fault> {
    let axis = match reader.word() {
        Some("rows") => Axis::Rows,
        Some("columns") => Axis::Columns,
        Some("experts") => Axis::Experts,
        Some(word) => return Err(reader.here(unknown("axis", word, ["rows", "columns", "experts"]))),
        None => return Err(reader.unexpected("`rows`, `columns` or `experts`")),
    };
    reader.at += 1;
    if reader.kind() != Kind::Number {
        return Ok(Sharding::Split { axis, parts: chips });
    }
    let parts = reader.count()?;
    if !reader.eat_word("way") {
        reader.expect_word("ways")?;
    }
    Ok(Sharding::Split { axis, parts })
}

/// `cosines of theta 10000000, rotary 64` and a scaling.
fn rope(reader: &mut Reader<'_>) -> Result<RopeTable, Fault> {
    let part = if reader.word() == Some("sines") { RopePart::Sin } else { RopePart::Cos };
    reader.at += 1;
    reader.expect_word("of")?;
    reader.expect_word("theta")?;
    let theta = reader.double()?;
    comma(reader)?;
    reader.expect_word("rotary")?;
    let rotary = reader.count()?;
    let scaling = if reader.kind() == Kind::Comma {
        reader.at += 1;
        scaling(reader)?
    } else {
        Scaling::None
    };
    Ok(RopeTable { part, theta, rotary, scaling })
}

/// `temperature of scale 0.1, floor 8192`.
fn temperature(reader: &mut Reader<'_>) -> Result<Temperature, Fault> {
    reader.at += 1;
    reader.expect_word("of")?;
    let scale = named(reader, "scale")?;
    Ok(Temperature { scale, floor: next(reader, "floor")? })
}

fn scaling(reader: &mut Reader<'_>) -> Result<Scaling, Fault> {
    let Some(word) = reader.word() else { return Err(reader.unexpected("a scaling")) };
    let at = reader.at;
    reader.at += 1;
    match word {
        "linear" => Ok(Scaling::Linear { factor: named(reader, "factor")? }),
        "dynamic" => {
            let factor = named(reader, "factor")?;
            Ok(Scaling::Dynamic { factor, original: original(reader)? })
        }
        "llama3" => {
            let factor = named(reader, "factor")?;
            let low = next(reader, "low")?;
            let high = next(reader, "high")?;
            Ok(Scaling::Llama3 { factor, low, high, original: original(reader)? })
        }
        "yarn" => {
            let factor = named(reader, "factor")?;
            let beta_fast = next(reader, "beta fast")?;
            let beta_slow = next(reader, "beta slow")?;
            let original = original(reader)?;
            comma(reader)?;
            let truncate = reader.eat_word("truncated");
            if truncate {
                comma(reader)?;
            }
            let attention_factor = named(reader, "attention factor")?;
            Ok(Scaling::Yarn { factor, beta_fast, beta_slow, original, truncate, attention_factor })
        }
        "longrope" => {
            let short = list(reader, "short")?;
            comma(reader)?;
            let long = list(reader, "long")?;
            let original = original(reader)?;
            Ok(Scaling::LongRope { short, long, original, attention_factor: next(reader, "attention factor")? })
        }
        _ => {
            let known = ["linear", "dynamic", "llama3", "yarn", "longrope"];
            Err(Fault { at, problem: unknown("scaling", word, known) })
        }
    }
}

fn comma(reader: &mut Reader<'_>) -> Result<(), Fault> {
    if reader.kind() != Kind::Comma {
        return Err(reader.unexpected("`,`"));
    }
    reader.at += 1;
    Ok(())
}

fn named(reader: &mut Reader<'_>, name: &'static str) -> Result<f32, Fault> {
    if !words(reader, name) {
        return Err(reader.unexpected(&format!("`{name}`")));
    }
    reader.real()
}

fn next(reader: &mut Reader<'_>, name: &'static str) -> Result<f32, Fault> {
    comma(reader)?;
    named(reader, name)
}

fn original(reader: &mut Reader<'_>) -> Result<u32, Fault> {
    comma(reader)?;
    reader.expect_word("original")?;
    reader.count()
}

fn list(reader: &mut Reader<'_>, name: &'static str) -> Result<Vec<f32>, Fault> {
    reader.expect_word(name)?;
    let mut list = vec![reader.real()?];
    while reader.kind() == Kind::Number {
        list.push(reader.real()?);
    }
    Ok(list)
}
