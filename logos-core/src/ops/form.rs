//! The surface form of an operation, as data: parser and printer read the same table.

use crate::language::ast::{Element, ValueId};

/// Most operands of an operation: those of a statement's row.
pub const MAX_OPERANDS: usize = logos_bundle::table::layout::statement::OPERAND_COUNT;

/// How an operation reads.
#[derive(Debug)]
pub struct Form {
    /// The operation's name in messages.
    pub name: &'static str,
    /// Operands, in the order of the tree.
    pub operands: &'static [Operand],
    /// Groups of operands that may be left out, each all together. How many operands are given tells which groups are: of
    /// several choices of one count, the one with the earlier groups.
    pub optional: &'static [&'static [usize]],
    /// The words and where the operands stand.
    pub text: &'static [Piece],
    /// Attributes, in the order they print.
    pub attributes: &'static [Attribute],
    /// Elements of the result.
    pub result: Element,
}

/// An operand's name in messages and what it must be.
#[derive(Debug)]
pub struct Operand {
    /// As the operation's documentation calls it.
    pub name: &'static str,
    /// What it must be.
    pub kind: OperandKind,
}

/// What an operand must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandKind {
    /// A Real value of this step: bound, or an input.
    Value,
    /// Such a value, or a weight.
    ValueOrWeight,
    /// A weight.
    Weight,
    /// A weight of experts, a copy each.
    Experts,
    /// A state.
    State,
    /// An input of Int.
    Index,
    /// An input of Real.
    Input,
    /// A table of cosines.
    Cosines,
    /// A table of sines.
    Sines,
    /// A Real value of this step, or a table of temperatures.
    RowFactor,
}

/// A piece of a form.
#[derive(Debug)]
pub enum Piece {
    /// A fixed word.
    Word(&'static str),
    /// An operand, by index.
    Operand(usize),
    /// A comma.
    Comma,
    /// The value of an attribute that stands among the words, by its index in [`Form::attributes`].
    Number(usize),
    /// Pieces that stand exactly where a group of optional operands is given, by its index in [`Form::optional`].
    Optional(usize, &'static [Piece]),
}

/// An attribute: one word of the statement's row.
#[derive(Debug)]
pub struct Attribute {
    /// Its name, one or two words; of a choice, for messages only.
    pub name: &'static str,
    /// Which attribute word it is.
    pub word: usize,
    /// What it may be.
    pub kind: AttributeKind,
}

/// What an attribute may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AttributeKind {
    /// A whole number above 0.
    Count,
    /// The same, or left out (0).
    OptionalCount,
    /// A finite f32.
    Real(Range),
    /// The same, or left out (0).
    OptionalReal(Range),
    /// A finite f32 that stands among the words ([`Piece::Number`]).
    Inline(Range),
    /// A word that is there (1) or not (0).
    Flag,
    /// One of two words (0, 1).
    Choice([&'static str; 2]),
    /// One of several words after the name, by its place among them.
    OneOf(&'static [&'static str]),
    /// A word that is there or not: this bit of the statement's word, which others share.
    Bit(u32),
    /// Not written: the rows of an operand.
    RowsOf(usize),
}

/// Range of a real attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Range {
    /// Any finite number.
    Any,
    /// Above 0.
    Positive,
    /// 0 or above.
    NonNegative,
}

impl Range {
    /// Whether `x` is finite and in range.
    pub fn holds(self, x: f32) -> bool {
        x.is_finite()
            && match self {
                Range::Any => true,
                Range::Positive => x > 0.0,
                Range::NonNegative => x >= 0.0,
            }
    }

    /// In words.
    pub const fn expected(self) -> &'static str {
        match self {
            Range::Any => "a finite number",
            Range::Positive => "a finite number above 0",
            Range::NonNegative => "a finite number of 0 or above",
        }
    }
}

/// For each operand of a form its place among those given.
pub type Places = [Option<usize>; MAX_OPERANDS];

impl Form {
    /// Operands that must be given.
    pub fn required(&self) -> usize {
        self.operands.len() - self.optional.iter().map(|group| group.len()).sum::<usize>()
    }

    /// The counts of operands that can be given, ascending.
    pub fn counts(&self) -> Vec<usize> {
        let mut counts: Vec<usize> = (0..1 << self.optional.len()).map(|chosen| self.count(chosen)).collect();
        counts.sort_unstable();
        counts.dedup();
        counts
    }

    /// Where each operand stands among `given` ones; none if no choice of optional groups is of this count.
    pub fn places(&self, given: usize) -> Option<Places> {
        let chosen = (0..1u32 << self.optional.len()).find(|&chosen| self.count(chosen) == given)?;
        let mut places = [None; MAX_OPERANDS];
        let mut next = 0;
        for (operand, place) in places.iter_mut().enumerate().take(self.operands.len()) {
            let group = self.optional.iter().position(|group| group.contains(&operand));
            if group.is_none_or(|group| chosen >> group & 1 == 1) {
                *place = Some(next);
                next += 1;
            }
        }
        Some(places)
    }

    /// The operands given, each at its own index; none where left out, and all none where the count is wrong.
    pub fn place(&self, given: &[ValueId]) -> [Option<ValueId>; MAX_OPERANDS] {
        let places = self.places(given.len()).unwrap_or_default();
        places.map(|place| place.and_then(|at| given.get(at).copied()))
    }

    fn count(&self, chosen: u32) -> usize {
        let groups = self.optional.iter().enumerate().filter(|(group, _)| chosen >> group & 1 == 1);
        self.required() + groups.map(|(_, group)| group.len()).sum::<usize>()
    }
}

/// An operand of a form.
pub(super) const fn operand(name: &'static str, kind: OperandKind) -> Operand {
    Operand { name, kind }
}

/// An attribute of a form.
pub(super) const fn attribute(name: &'static str, word: usize, kind: AttributeKind) -> Attribute {
    Attribute { name, word, kind }
}
