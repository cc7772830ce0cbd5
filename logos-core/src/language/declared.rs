//! What must hold of one declared value: shape, storage and sharding for its role and element, and a table's recipe.

use super::ast::{Axis, Element, Origin, Program, Recipe, Role, RopeTable, Shape, Sharding, Storage, Value};
use super::builder::MAX_CHIPS;
use super::error::Problem;
use crate::ops::operation::wrong_shape;
use crate::spec::{BLOCK_ROWS, SCALED, Scaling, Temperature};

/// What concerns one declared value: shape, storage and sharding for its role and element.
pub(super) fn declared(program: &Program, value: &Value) -> Result<(), Problem> {
    let Origin::Declared(role) = &value.origin else { return Ok(()) };
    let attribute = |name, expected: String, found: String| {
        Err(Problem::Attribute { name, expected: expected.into(), found: found.into() })
    };
    let Shape { seqs, rows, cols } = value.shape;
    if seqs == 0 || rows == 0 || cols == 0 {
        return Err(wrong_shape("the value", value, "above 0 in every extent"));
    }
    let elements = u64::from(rows).checked_mul(u64::from(cols)).and_then(|n| n.checked_mul(u64::from(seqs)));
    // Four bytes an element at most, and the bytes must stay below 2^63.
    if elements.is_none_or(|n| n >= 1 << 61) {
        return Err(Problem::Overflow { what: "the size in bytes" });
    }
    if seqs != 1 && !matches!(role, Role::State | Role::Weight) {
        return Err(wrong_shape("the value", value, "one matrix: only states and weights of experts are several"));
    }
    match (value.element, value.storage) {
        (Element::Int, Storage::I32) | (Element::Real, Storage::F32 | Storage::F16 | Storage::Bf16) => {}
        (Element::Real, storage) if storage.in_blocks() && *role == Role::Weight => {}
        (Element::Int, found) => return attribute("stored", "i32 for Int".into(), found.to_string()),
        (Element::Real, found) => {
            return attribute(
                "stored",
                "f32, f16 or bf16 (weights also q8_0, f8_e4m3 or mxfp4)".into(),
                found.to_string(),
            );
        }
    }
    if value.element == Element::Int && *role != Role::Input {
        return attribute("of", "Real for all but inputs".into(), "Int".into());
    }
    declared_sharding(program, value, role)?;
    match role {
        Role::Table(Recipe::Rope(table)) => rope_table(value, table),
        Role::Table(Recipe::Temperature(temperature)) => temperatures(value, temperature),
        Role::Input | Role::Weight | Role::State => Ok(()),
    }
}

fn declared_sharding(program: &Program, value: &Value, role: &Role) -> Result<(), Problem> {
    if program.chips == 0 || program.chips > MAX_CHIPS {
        return Err(Problem::Chips { limit: MAX_CHIPS, found: program.chips });
    }
    let refuse = |expected: String| {
        let name = value.name.as_str().into();
        Err(Problem::Sharding { operand: "the value", name, expected: expected.into(), found: value.sharding })
    };
    let (extent, parts, axis) = match value.sharding {
        Sharding::Whole => return Ok(()),
        Sharding::Partial => return refuse("whole or split: no declared value is a partial sum".into()),
        Sharding::Split { axis: Axis::Rows, parts } => (value.shape.rows, parts, Axis::Rows),
        Sharding::Split { axis: Axis::Columns, parts } => (value.shape.cols, parts, Axis::Columns),
        Sharding::Split { axis: Axis::Experts, .. } if *role != Role::Weight => {
            return refuse("whole or split otherwise: weights alone have experts".into());
        }
        Sharding::Split { axis: Axis::Experts, parts } => (value.shape.seqs, parts, Axis::Experts),
    };
    if parts == 0 || !program.chips.is_multiple_of(parts) {
        return refuse(format!("split into a divisor of the {} chips", program.chips));
    }
    if !extent.is_multiple_of(parts) {
        return refuse(format!("split into a divisor of {extent}"));
    }
    if value.element == Element::Int || matches!(role, Role::Table(_)) {
        return refuse("whole".into());
    }
    let (block, along) = match (value.storage, axis) {
        (Storage::Q8_0 | Storage::Mxfp4, Axis::Rows) => (BLOCK_ROWS, "rows"),
        (Storage::F8E4M3, Axis::Rows) => (SCALED, "rows"),
        (Storage::F8E4M3, Axis::Columns) => (SCALED, "columns"),
        (Storage::Q8_0 | Storage::Mxfp4, Axis::Columns | Axis::Experts)
        | (Storage::F8E4M3, Axis::Experts)
        | (Storage::F32 | Storage::F16 | Storage::Bf16 | Storage::I32, _) => return Ok(()),
    };
    if !(extent / parts).is_multiple_of(block) {
        return refuse(format!("split at whole blocks of {block} {along}, as it is stored {}", value.storage));
    }
    Ok(())
}

fn rope_table(value: &Value, table: &RopeTable) -> Result<(), Problem> {
    let refuse = |name, expected: String, found: String| {
        Err(Problem::Attribute { name, expected: expected.into(), found: found.into() })
    };
    if !(table.theta.is_finite() && table.theta > 0.0) {
        return refuse("theta", "a finite number above 0".into(), table.theta.to_string());
    }
    if table.rotary == 0 || !table.rotary.is_multiple_of(2) {
        return refuse("rotary", "even and above 0".into(), table.rotary.to_string());
    }
    let pairs = table.rotary / 2;
    if value.shape.cols != pairs {
        return Err(wrong_shape("the table", value, format!("{pairs} wide, half the rotary width")));
    }
    let mut reals: Vec<(&'static str, f32)> = Vec::new();
    match &table.scaling {
        Scaling::None => {}
        Scaling::Linear { factor } | Scaling::Dynamic { factor, .. } => reals.push(("factor", *factor)),
        Scaling::Llama3 { factor, low, high, .. } => {
            reals.extend([("factor", *factor), ("low", *low), ("high", *high)]);
        }
        Scaling::Yarn { factor, beta_fast, beta_slow, attention_factor, .. } => reals.extend([
            ("factor", *factor),
            ("beta fast", *beta_fast),
            ("beta slow", *beta_slow),
            ("attention factor", *attention_factor),
        ]),
        Scaling::LongRope { short, long, attention_factor, .. } => {
            for (name, list) in [("short", short), ("long", long)] {
                if list.len() != pairs as usize {
                    return refuse(name, format!("{pairs} factors, one a pair"), list.len().to_string());
                }
                reals.extend(list.iter().map(|factor| (name, *factor)));
            }
            reals.push(("attention factor", *attention_factor));
        }
    }
    match reals.into_iter().find(|(_, x)| !(x.is_finite() && *x > 0.0)) {
        Some((name, x)) => refuse(name, "a finite number above 0".into(), x.to_string()),
        None => Ok(()),
    }
}

fn temperatures(value: &Value, temperature: &Temperature) -> Result<(), Problem> {
    if value.shape.cols != 1 {
        return Err(wrong_shape("the table", value, "1 wide, one factor a row"));
    }
    let refuse = |name, expected: &str, x: f32| {
        Err(Problem::Attribute { name, expected: expected.into(), found: x.to_string().into() })
    };
    let Temperature { scale, floor } = *temperature;
    if !scale.is_finite() {
        return refuse("scale", "a finite number", scale);
    }
    if !(floor.is_finite() && floor > 0.0) {
        return refuse("floor", "a finite number above 0", floor);
    }
    Ok(())
}

/// The storages an activation may have.
pub(super) fn activations(storage: Storage) -> Result<(), Problem> {
    match storage {
        Storage::F32 | Storage::F16 | Storage::Bf16 => Ok(()),
        Storage::Q8_0 | Storage::I32 | Storage::F8E4M3 | Storage::Mxfp4 => Err(Problem::Attribute {
            name: "activations",
            expected: "f32, f16 or bf16".into(),
            found: storage.to_string().into(),
        }),
    }
}
