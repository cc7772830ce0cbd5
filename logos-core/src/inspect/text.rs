//! A program's rows against its text, read again.

use std::fmt::Display;

use logos_bundle::table::layout::{NONE, Part, rope as rope_row, statement as statement_row};
use logos_bundle::view::{self, BindingClass, Bundle, Storage as ViewStorage, ValueRole as ViewRole};

use super::{Mismatch, rows};
use crate::emit::{Row, recipe_row, statement_row};
use crate::language;
use crate::language::ast::{Axis, Origin, Program, Recipe, Role, RopePart, Sharding, Storage, Value};
use crate::lower::{Row as StatementRow, rows_of};
use crate::spec::Temperature;

/// Where the comparison stands.
struct Place<'a> {
    program: u32,
    words: &'a [u32],
    /// Positions that the deployment reaches.
    length: u32,
}

impl Place<'_> {
    fn differs(&self, place: String, text: impl Display, table: impl Display) -> Mismatch {
        Mismatch::Row { program: self.program, place, text: text.to_string(), table: table.to_string() }
    }

    fn same<T: PartialEq + Display>(&self, what: &str, of: &str, text: T, table: T) -> Result<(), Mismatch> {
        if text == table { Ok(()) } else { Err(self.differs(format!("{what} of {of}"), text, table)) }
    }
}

/// Compares a program of a bundle with its own text.
pub(super) fn compare(words: &[u32], bundle: &Bundle<'_>, table: &view::Program<'_>) -> Result<(), Mismatch> {
    let at = Place { program: table.index(), words, length: bundle.tokens().max(bundle.ctx()) };
    let program = language::parse(&table.text().to_string()).map_err(|errors| match errors.into_iter().next() {
        Some(error) => Mismatch::Unreadable { program: at.program, error: Box::new(error) },
        None => at.differs("the text".to_owned(), "nothing", "a program"),
    })?;
    let name = format!("`{}`", table.name());
    at.same("chips", &name, program.chips, bundle.chips())?;
    at.same("number of values", &name, program.values.len(), table.values().count())?;
    let lines = rows_of(&program);
    at.same("number of statements", &name, lines.len(), table.statements().count())?;
    for (value, row) in program.values.iter().zip(table.values()) {
        compare_value(&at, &program, &lines, value, &row)?;
    }
    for (i, line) in lines.iter().enumerate() {
        compare_statement(&at, &program, *line, table, i as u32)?;
    }
    for binding in table.bindings() {
        // The hidden state goes by what the layer before shows.
        if binding.class() != BindingClass::Hidden
            && let Some(value) = binding.value()
        {
            let (text, found) = (value.name().to_string(), binding.name(table.first_layer()).to_string());
            at.same("name bound to a value", &name, text, found)?;
        }
    }
    Ok(())
}

fn compare_value(
    at: &Place<'_>,
    program: &Program,
    lines: &[StatementRow],
    value: &Value,
    row: &view::Value<'_>,
) -> Result<(), Mismatch> {
    let name = format!("`{}`", value.name);
    at.same("name", &format!("value {}", row.index()), value.name.clone(), row.name().to_string())?;
    at.same("role", &name, role(&value.origin), row.role())?;
    at.same("storage", &name, storage(value.storage), row.storage())?;
    let shape = view::Share { sequences: value.shape.seqs, rows: value.shape.rows, columns: value.shape.cols };
    at.same("shape", &name, shape, row.shape())?;
    at.same("sharding", &name, sharding(value.sharding), row.sharding())?;
    let binds = |line: &StatementRow| match *line {
        StatementRow::Input(input) => program.value(input).name == value.name,
        StatementRow::Statement(s) => value.origin == Origin::Bound(language::StatementId(s)),
    };
    let word = |index: Option<u32>| index.unwrap_or(NONE);
    let bound = lines.iter().position(binds).map(|line| line as u32);
    at.same("statement", &name, word(bound), word(row.statement().map(|statement| statement.index())))?;
    compare_recipe(at, &name, value, row)
}

fn compare_recipe(at: &Place<'_>, name: &str, value: &Value, row: &view::Value<'_>) -> Result<(), Mismatch> {
    let found = row.rope();
    let Origin::Declared(Role::Table(recipe)) = &value.origin else {
        return at.same("recipe", name, "none", if found.is_some() { "one" } else { "none" });
    };
    let Some(found) = found else { return Err(at.differs(format!("recipe of {name}"), "one", "none")) };
    let row = rows(at.words, Part::Ropes).get(found.index() as usize);
    // Factors may lie anywhere: where the row says, if they are the ones.
    let place = |factors: &[f32]| {
        let same = found.factors().map(f32::to_bits).eq(factors.iter().map(|factor| factor.to_bits()));
        row.filter(|_| same).map_or(NONE, |row| row[rope_row::FACTORS])
    };
    if row == Some(&recipe_row(recipe, at.length, place)) {
        return Ok(());
    }
    Err(at.differs(format!("recipe of {name}"), told(recipe), found))
}

/// As the table's own view puts it.
fn told(recipe: &Recipe) -> String {
    let recipe = match recipe {
        Recipe::Rope(recipe) => recipe,
        Recipe::Temperature(Temperature { scale, floor }) => {
            return format!("temperature scale {scale:?}, floor {floor:?}");
        }
    };
    let part = match recipe.part {
        RopePart::Cos => "cosines",
        RopePart::Sin => "sines",
    };
    format!("{part} theta {}, rotary {}, {:?}", recipe.theta, recipe.rotary, recipe.scaling)
}

fn compare_statement(
    at: &Place<'_>,
    program: &Program,
    line: StatementRow,
    table: &view::Program<'_>,
    index: u32,
) -> Result<(), Mismatch> {
    let expected = statement_row(program, line);
    let Some((found, row)) = table.statement(index).and_then(|s| Some((s, row_of(at, table, index)?))) else {
        return Err(at.differs(format!("statement {index}"), "one", "none"));
    };
    if expected == *row {
        return Ok(());
    }
    let word = (0..expected.len()).find(|&word| expected[word] != row[word]).unwrap_or(0);
    let (text, table) = (expected[word], row[word]);
    let place = match word.checked_sub(statement_row::ATTRIBUTES) {
        Some(attribute) => match found.attributes().nth(attribute) {
            Some((name, _)) => format!("{name} of `{found}`"),
            None => format!("attribute {attribute} of `{found}`"),
        },
        None => format!("word {word} of `{found}`"),
    };
    Err(at.differs(place, Word(text), Word(table)))
}

fn row_of<'w>(at: &Place<'w>, table: &view::Program<'_>, index: u32) -> Option<&'w Row> {
    // Programs' statements lie one after another, in program order.
    let bundle = table.bundle();
    let before: usize = bundle.programs().take(table.index() as usize).map(|p| p.statements().count()).sum();
    rows(at.words, Part::Statements).get(before + index as usize)
}

/// A word that may be a number, an absent index, or the bits of a real number.
struct Word(u32);

impl Display for Word {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            NONE => f.write_str("none"),
            bits if bits > 0x2000_0000 => write!(f, "{:?} ({bits:#x})", f32::from_bits(bits)),
            count => write!(f, "{count}"),
        }
    }
}

const fn role(origin: &Origin) -> ViewRole {
    match origin {
        Origin::Declared(Role::Input) => ViewRole::Input,
        Origin::Declared(Role::Weight) => ViewRole::Weight,
        Origin::Declared(Role::State) => ViewRole::State,
        Origin::Declared(Role::Table(_)) => ViewRole::Table,
        Origin::Bound(_) => ViewRole::Bound,
    }
}

const fn storage(storage: Storage) -> ViewStorage {
    match storage {
        Storage::F32 => ViewStorage::F32,
        Storage::F16 => ViewStorage::F16,
        Storage::Bf16 => ViewStorage::Bf16,
        Storage::Q8_0 => ViewStorage::Q8_0,
        Storage::F8E4M3 => ViewStorage::F8E4M3,
        Storage::Mxfp4 => ViewStorage::Mxfp4,
        Storage::I32 => ViewStorage::I32,
    }
}

const fn sharding(sharding: Sharding) -> view::Sharding {
    match sharding {
        Sharding::Whole => view::Sharding::Whole,
        Sharding::Split { axis: Axis::Rows, parts } => view::Sharding::Rows { parts },
        Sharding::Split { axis: Axis::Columns, parts } => view::Sharding::Columns { parts },
        Sharding::Split { axis: Axis::Experts, parts } => view::Sharding::Experts { parts },
        Sharding::Partial => view::Sharding::Partial,
    }
}
