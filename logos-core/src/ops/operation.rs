//! What every operation answers, and the checks that are the same for all.

use super::form::{AttributeKind, Form, OperandKind, Places};
use crate::language::ast::{Axis, Element, Origin, Recipe, Role, RopePart, RopeTable, Shape, Sharding, Value, ValueId};
use crate::language::error::Problem;

/// Attribute words of an operation, in the order of [`logos_bundle::table::layout::op`]: a real number is its f32 bits,
/// an absent one 0.
pub type Words = [u32; 6];

/// What the multiply-accumulates of an operation are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MacsOf {
    /// It has none that are counted: it works element by element, chooses or moves.
    Nothing,
    /// Each a weight's element with a row's.
    Weights,
    /// Scores of queries with keys, and weighted sums of values.
    Attention,
    /// Passes over the memory of a recurrence.
    Recurrence,
    /// Taps over channels.
    Convolution,
}

/// An operation of the language.
pub trait Operation: Copy {
    /// Its code in the word table.
    const CODE: u32;
    /// How it reads.
    const FORM: Form;

    /// Its attributes as words.
    fn attributes(&self) -> Words;

    /// The operation of these words.
    fn from_attributes(words: Words) -> Self;

    /// The result's whole shape. Operand count, roles, elements and attribute ranges have been checked.
    ///
    /// # Errors
    /// The operand or attribute that does not fit.
    fn shape(&self, operands: Operands<'_>) -> Result<Shape, Problem>;

    /// The result's sharding (`RULES.md` section 8). The shapes have been checked.
    ///
    /// # Errors
    /// What is missing.
    fn sharding(&self, operands: Operands<'_>) -> Result<Sharding, Problem>;

    /// Whether it replaces the state it names, if it is given one: a recurrence.
    const REPLACES_STATE: bool = false;

    /// Whether its Real result is stored f32 whatever the activations are.
    const KEEPS_F32: bool = false;

    /// What its multiply-accumulates are of.
    const MACS_OF: MacsOf = MacsOf::Nothing;

    /// Multiply-accumulates of the whole program's statement in a step that ends at `ctx` positions of every sequence, all chips
    /// together; none if that leaves 64 bits.
    fn macs(&self, operands: Operands<'_>, result: Shape, ctx: u32) -> Option<u64> {
        let _ = (operands, result, ctx);
        Some(0)
    }

    /// The most that a step that ends at `ctx` positions reads of the operand at `index`, which is given: so many of its copies, rows
    /// and columns. What an operation does not say otherwise of is read whole.
    fn reads(&self, operands: Operands<'_>, index: usize, ctx: u32) -> Shape {
        let _ = ctx;
        operands.at(index).shape
    }
}

/// Operands of one statement, in the order of the operation's documentation.
#[derive(Clone, Copy, Debug)]
pub struct Operands<'a> {
    values: &'a [Value],
    ids: &'a [ValueId],
    /// Where each operand stands among `ids`; none: at its own index.
    places: Option<Places>,
    chips: u32,
}

impl<'a> Operands<'a> {
    /// Operands `ids` among `values`, over `chips` chips.
    ///
    /// # Errors
    /// [`Problem::Foreign`] for an id beyond the values.
    pub fn new(values: &'a [Value], ids: &'a [ValueId], chips: u32) -> Result<Self, Problem> {
        match ids.iter().find(|id| id.0 as usize >= values.len()) {
            Some(id) => Err(Problem::Foreign { index: id.0 }),
            None => Ok(Operands { values, ids, places: None, chips }),
        }
    }

    /// The same by the operand indices of a form.
    pub(super) fn of(self, form: &Form) -> Result<Self, Problem> {
        match form.places(self.ids.len()) {
            Some(places) => Ok(Operands { places: Some(places), ..self }),
            None => {
                let expected: Vec<String> = form.counts().iter().map(usize::to_string).collect();
                let expected = expected.join(" or ").into();
                Err(Problem::OperandCount { op: form.name, expected, found: self.ids.len() })
            }
        }
    }

    /// Chips of the program.
    pub fn chips(&self) -> u32 {
        self.chips
    }

    /// The operand at `index`, if given.
    pub fn get(&self, index: usize) -> Option<&'a Value> {
        let at = match self.places {
            Some(places) => places.get(index).copied().flatten()?,
            None => index,
        };
        self.ids.get(at).map(|id| &self.values[id.0 as usize])
    }

    /// The operand at `index`, which the form requires.
    pub fn at(&self, index: usize) -> &'a Value {
        match self.get(index) {
            Some(value) => value,
            // The count of operands was compared with the form's before anything asks.
            None => unreachable!("operand {index} is required"),
        }
    }
}

/// What the checks shared by all operations find.
pub(super) fn check_form(form: &Form, words: Words, operands: Operands<'_>) -> Result<(), Problem> {
    for (index, operand) in form.operands.iter().enumerate() {
        if let Some(value) = operands.get(index) {
            expect_kind(operand.name, value, operand.kind)?;
        }
    }
    for attribute in form.attributes {
        check_attribute(attribute.name, attribute.kind, words[attribute.word])?;
    }
    Ok(())
}

/// Refuses `value` unless it is what `kind` says.
pub(crate) fn expect_kind(operand: &'static str, value: &Value, kind: OperandKind) -> Result<(), Problem> {
    if admits(kind, value) {
        return Ok(());
    }
    let name = value.name.as_str().into();
    Err(Problem::OperandKind { operand, name, expected: kind_words(kind), found: value_words(value) })
}

fn check_attribute(name: &'static str, kind: AttributeKind, word: u32) -> Result<(), Problem> {
    match kind {
        AttributeKind::Count if word == 0 => {
            Err(Problem::Attribute { name, expected: "a whole number above 0".into(), found: "0".into() })
        }
        AttributeKind::Real(range) | AttributeKind::OptionalReal(range) | AttributeKind::Inline(range) => {
            let x = f32::from_bits(word);
            // An optional number left out is the word 0, whatever its range.
            if range.holds(x) || (word == 0 && matches!(kind, AttributeKind::OptionalReal(_))) {
                Ok(())
            } else {
                Err(Problem::Attribute { name, expected: range.expected().into(), found: format!("{x}").into() })
            }
        }
        AttributeKind::Count
        | AttributeKind::OptionalCount
        | AttributeKind::Flag
        | AttributeKind::Choice(_)
        | AttributeKind::OneOf(_)
        | AttributeKind::Bit(_)
        | AttributeKind::RowsOf(_) => Ok(()),
    }
}

fn admits(kind: OperandKind, value: &Value) -> bool {
    let real = value.element == Element::Real;
    match (&value.origin, kind) {
        (Origin::Bound(_), OperandKind::Value | OperandKind::ValueOrWeight | OperandKind::RowFactor) => real,
        (
            Origin::Declared(Role::Input),
            OperandKind::Value | OperandKind::ValueOrWeight | OperandKind::RowFactor | OperandKind::Input,
        ) => real,
        (Origin::Declared(Role::Input), OperandKind::Index) => !real,
        (Origin::Declared(Role::Weight), OperandKind::Weight | OperandKind::ValueOrWeight) => value.shape.seqs == 1,
        (Origin::Declared(Role::Weight), OperandKind::Experts) => true,
        (Origin::Declared(Role::State), OperandKind::State) => true,
        (Origin::Declared(Role::Table(Recipe::Rope(table))), OperandKind::Cosines) => table.part == RopePart::Cos,
        (Origin::Declared(Role::Table(Recipe::Rope(table))), OperandKind::Sines) => table.part == RopePart::Sin,
        (Origin::Declared(Role::Table(Recipe::Temperature(_))), OperandKind::RowFactor) => true,
        (Origin::Bound(_) | Origin::Declared(_), _) => false,
    }
}

fn kind_words(kind: OperandKind) -> &'static str {
    match kind {
        OperandKind::Value => "a Real value or input",
        OperandKind::ValueOrWeight => "a Real value, an input or a weight",
        OperandKind::Weight => "a weight",
        OperandKind::Experts => "a weight of experts",
        OperandKind::State => "a state",
        OperandKind::Index => "an input of Int",
        OperandKind::Input => "an input of Real",
        OperandKind::Cosines => "a table of cosines",
        OperandKind::Sines => "a table of sines",
        OperandKind::RowFactor => "a Real value, an input or a table of temperatures",
    }
}

fn value_words(value: &Value) -> &'static str {
    match (&value.origin, value.element) {
        (Origin::Bound(_), Element::Real) => "a Real value",
        (Origin::Bound(_), Element::Int) => "a value of Int",
        (Origin::Declared(Role::Input), Element::Real) => "an input of Real",
        (Origin::Declared(Role::Input), Element::Int) => "an input of Int",
        (Origin::Declared(Role::Weight), _) if value.shape.seqs > 1 => "a weight of experts",
        (Origin::Declared(Role::Weight), _) => "a weight",
        (Origin::Declared(Role::State), _) => "a state",
        (Origin::Declared(Role::Table(recipe)), _) => match recipe {
            Recipe::Rope(RopeTable { part: RopePart::Cos, .. }) => "a table of cosines",
            Recipe::Rope(RopeTable { part: RopePart::Sin, .. }) => "a table of sines",
            Recipe::Temperature(_) => "a table of temperatures",
        },
    }
}

/// Refuses `value` unless its shape is `expected`.
pub(crate) fn expect_shape(operand: &'static str, value: &Value, expected: Shape) -> Result<(), Problem> {
    if value.shape == expected {
        return Ok(());
    }
    Err(wrong_shape(operand, value, expected.to_string()))
}

/// The refusal of `value`'s shape.
pub(crate) fn wrong_shape(operand: &'static str, value: &Value, expected: impl Into<Box<str>>) -> Problem {
    Problem::Shape { operand, name: value.name.as_str().into(), expected: expected.into(), found: value.shape }
}

/// The refusal of `value`'s sharding; a partial sum is a missing sum over chips.
pub(crate) fn wrong_sharding(
    op: &'static str,
    operand: &'static str,
    value: &Value,
    expected: impl Into<Box<str>>,
) -> Problem {
    let name = value.name.as_str().into();
    match value.sharding {
        Sharding::Partial => Problem::MissingSum { name, user: op },
        Sharding::Whole | Sharding::Split { .. } => {
            Problem::Sharding { operand, name, expected: expected.into(), found: value.sharding }
        }
    }
}

/// Refuses `value` unless its sharding is `expected`.
pub(crate) fn expect_sharding(
    op: &'static str,
    operand: &'static str,
    value: &Value,
    expected: Sharding,
) -> Result<(), Problem> {
    if value.sharding == expected {
        return Ok(());
    }
    Err(wrong_sharding(op, operand, value, expected.to_string()))
}

/// Split by columns into `parts`.
pub(super) const fn columns(parts: u32) -> Sharding {
    Sharding::Split { axis: Axis::Columns, parts }
}

/// Split by rows into `parts`.
pub(super) const fn rows(parts: u32) -> Sharding {
    Sharding::Split { axis: Axis::Rows, parts }
}

/// The product of factors, if it stays in 64 bits.
pub(super) fn product(factors: &[u32]) -> Option<u64> {
    factors.iter().try_fold(1_u64, |n, &factor| n.checked_mul(u64::from(factor)))
}
