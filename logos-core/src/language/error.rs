//! What can be wrong with a program, where, and its turn into a refusal.

use std::fmt;

use super::ast::{Shape, Sharding, StatementId};
use crate::refusal::{At, Code, Refusal};

/// Where in a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// 1-based line and column of the text, where there is one.
    pub text: Option<(u32, u32)>,
    /// The statement; none for a declaration, the header or the program as a whole.
    pub statement: Option<StatementId>,
    /// The name the sentence binds, shows or writes.
    pub binder: Option<Box<str>>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.statement, &self.binder) {
            (Some(statement), Some(binder)) => write!(f, "{statement} (`{binder}`): "),
            (Some(statement), None) => write!(f, "{statement}: "),
            (None, Some(binder)) => write!(f, "`{binder}`: "),
            (None, None) => Ok(()),
        }
    }
}

/// A program that is refused: one problem at one place.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{place}{problem}")]
pub struct ProgramError {
    /// Where.
    pub place: Box<Place>,
    /// What.
    pub problem: Problem,
}

/// One thing that can be wrong with a program.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The text goes on otherwise than the grammar allows.
    #[error("expected {expected}, found {found}")]
    Unexpected {
        /// What may stand here.
        expected: Box<str>,
        /// What does.
        found: Box<str>,
    },
    /// A word that is none of those known here.
    #[error("unknown {what} `{word}`{}", either(nearest.as_deref(), known))]
    UnknownWord {
        /// What the word should name.
        what: &'static str,
        /// The word.
        word: Box<str>,
        /// The known word nearest to it.
        nearest: Option<Box<str>>,
        /// The words known here.
        known: Box<str>,
    },
    /// A number that is not one, or is out of range.
    #[error("`{found}` is not {expected}")]
    Number {
        /// What is expected.
        expected: &'static str,
        /// What was written.
        found: Box<str>,
    },
    /// The same attribute twice.
    #[error("`{name}` is given twice")]
    AttributeTwice {
        /// The attribute.
        name: &'static str,
    },
    /// An attribute the operation needs.
    #[error("{op} needs the attribute `{name}`")]
    AttributeMissing {
        /// The operation.
        op: &'static str,
        /// The attribute.
        name: &'static str,
    },
    /// `tensor` and `Set`.
    #[error("`{word}`: literal tensors are not lowered; declare a weight, or a table that the host fills")]
    Literal {
        /// The word met.
        word: &'static str,
    },
    /// More than a limit allows.
    #[error("{what} above the limit of {limit}")]
    Limit {
        /// What there is too much of.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
    /// A declaration after a statement.
    #[error("declarations come before statements")]
    DeclarationLate,
    /// A name that is no word of the language.
    #[error("`{name}` is no name: a name is an ASCII letter or `_`, then letters, digits and `_`, at most 128")]
    Name {
        /// The name.
        name: Box<str>,
    },
    /// A name bound twice.
    #[error("`{name}` is already bound, and nothing is bound twice")]
    NameTwice {
        /// The name.
        name: Box<str>,
    },
    /// A name that nothing binds.
    #[error("`{name}` is not bound before this{}", suggestion(nearest.as_deref()))]
    NameUnknown {
        /// The name.
        name: Box<str>,
        /// The bound name nearest to it.
        nearest: Option<Box<str>>,
    },
    /// A value of another program, or bound later.
    #[error("operand {index} is no value bound before this")]
    Foreign {
        /// The value's index.
        index: u32,
    },
    /// A program without a chip.
    #[error("a program is for 1 chip to {limit}, found {found}")]
    Chips {
        /// Most chips.
        limit: u32,
        /// Chips asked for.
        found: u32,
    },
    /// Operands too many or too few.
    #[error("{op} takes {expected} operands, found {found}")]
    OperandCount {
        /// The operation.
        op: &'static str,
        /// Counts allowed.
        expected: Box<str>,
        /// The count.
        found: usize,
    },
    /// An operand of another role or element.
    #[error("{operand} `{name}` must be {expected}, found {found}")]
    OperandKind {
        /// The operand's role.
        operand: &'static str,
        /// Its name.
        name: Box<str>,
        /// What it must be.
        expected: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// A shape that does not fit.
    #[error("{operand} `{name}` must be {expected}, found {found}")]
    Shape {
        /// The operand's role.
        operand: &'static str,
        /// Its name.
        name: Box<str>,
        /// Expected, with the reason.
        expected: Box<str>,
        /// Its shape.
        found: Shape,
    },
    /// A number of an operation or declaration that does not fit.
    #[error("`{name}` must be {expected}, found {found}")]
    Attribute {
        /// The attribute.
        name: &'static str,
        /// Expected.
        expected: Box<str>,
        /// Found.
        found: Box<str>,
    },
    /// A size whose product leaves 64 bits.
    #[error("{what} leaves 64 bits")]
    Overflow {
        /// The size.
        what: &'static str,
    },
    /// A bound value whose stored facts are not those its operation derives.
    #[error("`{name}` is recorded as {found} and derives to {expected}")]
    Recorded {
        /// The value.
        name: Box<str>,
        /// Derived.
        expected: Box<str>,
        /// Recorded.
        found: Box<str>,
    },
    /// A partial sum used as if it were the sum.
    #[error("`{name}` is a partial sum on every chip: a missing sum over chips before {user}")]
    MissingSum {
        /// The partial value.
        name: Box<str>,
        /// What uses it.
        user: &'static str,
    },
    /// A sum over chips of what is no partial sum.
    #[error("`{name}` is {found}, not a partial sum: a sum over chips would add it once a chip")]
    DoubledSum {
        /// The value.
        name: Box<str>,
        /// Its sharding.
        found: Sharding,
    },
    /// A bias that every chip would add.
    #[error("bias on a partial sum: every chip would add `{bias}` to its part of `{name}`; sum over chips first")]
    BiasOnPartial {
        /// The partial value.
        name: Box<str>,
        /// The bias.
        bias: Box<str>,
    },
    /// Query heads whose keys and values are not on their chip.
    #[error(
        "the KV group lives on another chip: {heads} query heads split {chips} ways read {kv_heads} KV heads split \
         {parts} ways"
    )]
    ForeignGroup {
        /// Query heads.
        heads: u32,
        /// Chips.
        chips: u32,
        /// KV heads.
        kv_heads: u32,
        /// Parts K and V are split into.
        parts: u32,
    },
    /// A sharding that does not fit.
    #[error("{operand} `{name}` must be {expected}, found {found}")]
    Sharding {
        /// The operand's role.
        operand: &'static str,
        /// Its name.
        name: Box<str>,
        /// Expected, with the reason.
        expected: Box<str>,
        /// Its sharding.
        found: Sharding,
    },
    /// A state read by two statements.
    #[error("state `{state}` is read by {first} and again here")]
    StateReadTwice {
        /// The state.
        state: Box<str>,
        /// The first reader.
        first: StatementId,
    },
    /// A state written by two statements.
    #[error("state `{state}` is written by {first} and again here")]
    StateWrittenTwice {
        /// The state.
        state: Box<str>,
        /// The first writer.
        first: StatementId,
    },
    /// A state read after it was written.
    #[error(
        "state `{state}` is read after {writer} wrote it; a state is read at its old value, so `Append` comes after"
    )]
    StateReadLate {
        /// The state.
        state: Box<str>,
        /// The writer.
        writer: StatementId,
    },
    /// A state nothing writes.
    #[error("state `{state}` is never written")]
    StateUnwritten {
        /// The state.
        state: Box<str>,
    },
    /// A value that leads to nothing.
    #[error("`{name}` reaches no `Show`, no `Append` and no recurrence")]
    Dead {
        /// The value.
        name: Box<str>,
    },
    /// A declared weight or table that nothing reads.
    #[error("`{name}` is declared and never read")]
    Unread {
        /// The value.
        name: Box<str>,
    },
    /// A value shown twice.
    #[error("`{name}` is shown twice")]
    ShownTwice {
        /// The value.
        name: Box<str>,
    },
    /// A program that shows nothing.
    #[error("the program shows nothing")]
    NothingShown,
}

fn suggestion(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |word| format!("; did you mean `{word}`?"))
}

fn either(nearest: Option<&str>, known: &str) -> String {
    if nearest.is_none() && !known.is_empty() { format!("; known here: {known}") } else { suggestion(nearest) }
}

impl Problem {
    /// The refusal's code.
    pub fn code(&self) -> Code {
        match self {
            Problem::Unexpected { .. }
            | Problem::UnknownWord { .. }
            | Problem::Number { .. }
            | Problem::AttributeTwice { .. }
            | Problem::AttributeMissing { .. }
            | Problem::Literal { .. }
            | Problem::Limit { .. }
            | Problem::DeclarationLate
            | Problem::Name { .. } => Code::TextSyntax,
            Problem::OperandCount { .. }
            | Problem::OperandKind { .. }
            | Problem::Shape { .. }
            | Problem::Attribute { .. }
            | Problem::Recorded { .. } => Code::TextShape,
            Problem::Overflow { .. } => Code::SizeOverflow,
            Problem::Chips { .. }
            | Problem::MissingSum { .. }
            | Problem::DoubledSum { .. }
            | Problem::BiasOnPartial { .. }
            | Problem::ForeignGroup { .. }
            | Problem::Sharding { .. } => Code::TextSharding,
            Problem::NameTwice { .. }
            | Problem::NameUnknown { .. }
            | Problem::Foreign { .. }
            | Problem::StateReadTwice { .. }
            | Problem::StateWrittenTwice { .. }
            | Problem::StateReadLate { .. }
            | Problem::StateUnwritten { .. }
            | Problem::Dead { .. }
            | Problem::Unread { .. }
            | Problem::ShownTwice { .. }
            | Problem::NothingShown => Code::TextState,
        }
    }

    /// The name or first word the problem is about, where a sentence has it.
    pub(super) fn subject(&self) -> Option<&str> {
        match self {
            Problem::Name { name }
            | Problem::NameTwice { name }
            | Problem::NameUnknown { name, .. }
            | Problem::OperandKind { name, .. }
            | Problem::Shape { name, .. }
            | Problem::Recorded { name, .. }
            | Problem::MissingSum { name, .. }
            | Problem::DoubledSum { name, .. }
            | Problem::Sharding { name, .. } => Some(name),
            Problem::BiasOnPartial { bias, .. } => Some(bias),
            Problem::Attribute { name, .. }
            | Problem::AttributeTwice { name }
            | Problem::AttributeMissing { name, .. } => name.split(' ').next(),
            Problem::Unexpected { .. }
            | Problem::UnknownWord { .. }
            | Problem::Number { .. }
            | Problem::Literal { .. }
            | Problem::Limit { .. }
            | Problem::DeclarationLate
            | Problem::Foreign { .. }
            | Problem::Chips { .. }
            | Problem::OperandCount { .. }
            | Problem::Overflow { .. }
            | Problem::ForeignGroup { .. }
            | Problem::StateReadTwice { .. }
            | Problem::StateWrittenTwice { .. }
            | Problem::StateReadLate { .. }
            | Problem::StateUnwritten { .. }
            | Problem::Dead { .. }
            | Problem::Unread { .. }
            | Problem::ShownTwice { .. }
            | Problem::NothingShown => None,
        }
    }

    /// This problem with a declaration of `binder`.
    pub fn declaring(self, binder: &str) -> ProgramError {
        self.at(Place { text: None, statement: None, binder: Some(binder.into()) })
    }

    /// This problem with the statement that binds, shows or writes `binder`.
    pub fn stating(self, statement: StatementId, binder: &str) -> ProgramError {
        self.at(Place { text: None, statement: Some(statement), binder: Some(binder.into()) })
    }

    /// This problem at a place.
    pub fn at(self, place: Place) -> ProgramError {
        ProgramError { place: Box::new(place), problem: self }
    }
}

impl ProgramError {
    /// The refusal of a program that no user wrote as text, pointing at `at`.
    pub fn refusal(&self, at: At) -> Refusal {
        let at = match self.place.text {
            Some((line, column)) => At::Text { line, column },
            None => at,
        };
        Refusal::new(self.problem.code(), at, self.to_string())
    }
}

impl From<ProgramError> for Refusal {
    fn from(error: ProgramError) -> Self {
        error.refusal(At::Model)
    }
}
