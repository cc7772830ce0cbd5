//! Making a program statement by statement: each bound value's shape and sharding is derived as it is bound.

use std::collections::HashMap;

use super::ast::{Element, Origin, Program, Role, Shape, Sharding, Statement, StatementId, Storage, Value, ValueId};
use super::check;
use super::declared::declared;
use super::error::{Place, Problem, ProgramError};
use crate::ops::Op;
use crate::ops::operation::Operands;

/// Most chips of a program.
pub const MAX_CHIPS: u32 = 1 << 16;
/// Most values of a program.
pub const MAX_VALUES: u32 = 1 << 20;
/// Longest name, bytes.
pub const MAX_NAME: usize = 128;

/// Builds a [`Program`].
#[derive(Clone, Debug)]
pub struct Builder {
    program: Program,
    // Only ever asked, never walked: its order reaches no output.
    names: HashMap<String, ValueId>,
}

impl Builder {
    /// An empty program over `chips` chips whose bound Real values are stored as `activations`.
    pub fn new(chips: u32, activations: Storage) -> Self {
        let program =
            Program { chips, activations, values: Vec::with_capacity(64), statements: Vec::with_capacity(64) };
        Builder { program, names: HashMap::with_capacity(64) }
    }

    /// Declares a value.
    ///
    /// # Errors
    /// A name that is bound or none, or a shape, storage or sharding that its role or element does not allow.
    pub fn declare(
        &mut self,
        name: impl Into<String>,
        role: Role,
        shape: Shape,
        element: Element,
        storage: Storage,
        sharding: Sharding,
    ) -> Result<ValueId, ProgramError> {
        let value = Value { name: name.into(), shape, element, storage, sharding, origin: Origin::Declared(role) };
        if let Err(problem) = self.admits_name(&value.name).and_then(|()| declared(&self.program, &value)) {
            return Err(problem.declaring(&value.name));
        }
        Ok(self.push(value))
    }

    /// Binds the result of an operation; shape, element, storage and sharding follow from the operation's own rules.
    ///
    /// # Errors
    /// A name that is bound or none, or operands that the operation refuses.
    pub fn bind(
        &mut self,
        name: impl Into<String>,
        op: impl Into<Op>,
        operands: &[ValueId],
    ) -> Result<ValueId, ProgramError> {
        let (name, op) = (name.into(), op.into());
        let statement = self.next();
        if let Err(problem) = self.admits_name(&name) {
            return Err(problem.stating(statement, &name));
        }
        match derived(&self.program, name, statement, op, operands) {
            Ok(value) => {
                let result = self.push(value);
                self.program.statements.push(Statement::Let { result, op, operands: operands.to_vec() });
                Ok(result)
            }
            Err((problem, name)) => Err(problem.stating(statement, &name)),
        }
    }

    /// Writes the rows of `value` to `state` at the positions `pos`.
    ///
    /// # Errors
    /// Operands of another role, shape or sharding.
    pub fn append(&mut self, value: ValueId, state: ValueId, pos: ValueId) -> Result<(), ProgramError> {
        self.push_statement(Statement::Append { value, state, pos }, state)
    }

    /// Makes `value` a result of the program.
    ///
    /// # Errors
    /// A value that is not whole, or not bound by a statement.
    pub fn show(&mut self, value: ValueId) -> Result<(), ProgramError> {
        self.push_statement(Statement::Show { value }, value)
    }

    /// The program: declared values first, then the bound ones, each in order of appearance.
    ///
    /// # Errors
    /// The first of what [`check::check`] finds wrong with the program as a whole.
    pub fn finish(self) -> Result<Program, ProgramError> {
        self.finish_all().map_err(|mut errors| errors.swap_remove(0))
    }

    /// As [`Builder::finish`], with every error.
    pub(super) fn finish_all(self) -> Result<Program, Vec<ProgramError>> {
        let program = declared_first(self.program);
        let errors = check::whole_program(&program);
        if errors.is_empty() { Ok(program) } else { Err(errors) }
    }

    /// The value of a name.
    pub fn lookup(&self, name: &str) -> Option<ValueId> {
        self.names.get(name).copied()
    }

    /// A value declared or bound so far.
    pub fn value(&self, id: ValueId) -> Option<&Value> {
        self.program.values.get(id.0 as usize)
    }

    /// The statements so far.
    #[cfg(test)]
    pub(super) fn statements(&self) -> &[Statement] {
        &self.program.statements
    }

    /// Every name bound so far, in order of appearance.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.program.values.iter().map(|value| value.name.as_str())
    }

    fn next(&self) -> StatementId {
        StatementId(self.program.statements.len() as u32)
    }

    fn admits_name(&self, name: &str) -> Result<(), Problem> {
        if !is_name(name) {
            let shown: String = name.chars().take(MAX_NAME).collect();
            return Err(Problem::Name { name: shown.into() });
        }
        if self.names.contains_key(name) {
            return Err(Problem::NameTwice { name: name.into() });
        }
        if self.program.values.len() >= MAX_VALUES as usize {
            return Err(Problem::Limit { what: "values", limit: u64::from(MAX_VALUES) });
        }
        Ok(())
    }

    fn push(&mut self, value: Value) -> ValueId {
        let id = ValueId(self.program.values.len() as u32);
        self.names.insert(value.name.clone(), id);
        self.program.values.push(value);
        id
    }

    fn push_statement(&mut self, statement: Statement, binder: ValueId) -> Result<(), ProgramError> {
        if let Err(problem) = check::effect(&self.program, &statement) {
            let name = self.value(binder).map(|value| value.name.as_str().into());
            return Err(problem.at(Place { text: None, statement: Some(self.next()), binder: name }));
        }
        if self.program.statements.len() >= MAX_VALUES as usize {
            return Err(Problem::Limit { what: "statements", limit: u64::from(MAX_VALUES) }.at(Place::default()));
        }
        self.program.statements.push(statement);
        Ok(())
    }
}

/// The value that `op` binds to `name`, or the problem and the name given back.
fn derived(
    program: &Program,
    name: String,
    statement: StatementId,
    op: Op,
    operands: &[ValueId],
) -> Result<Value, (Problem, String)> {
    let facts = Operands::new(&program.values, operands, program.chips).and_then(|operands| op.derive(operands));
    let (shape, sharding) = match facts {
        Ok(facts) => facts,
        Err(problem) => return Err((problem, name)),
    };
    let (element, storage) = (op.form().result, op.storage(program.activations));
    Ok(Value { name, shape, element, storage, sharding, origin: Origin::Bound(statement) })
}

/// Whether a word can be a name.
pub(super) fn is_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.len() <= MAX_NAME
        && bytes.first().is_some_and(|first| first.is_ascii_alphabetic() || *first == b'_')
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

/// Renumbers the values: declared, then bound, each in order of appearance.
fn declared_first(mut program: Program) -> Program {
    let mut to = vec![ValueId(0); program.values.len()];
    let mut values = Vec::with_capacity(program.values.len());
    let (mut declared, mut bound) = (Vec::new(), Vec::new());
    for (index, value) in program.values.drain(..).enumerate() {
        match value.origin {
            Origin::Declared(_) => declared.push((index, value)),
            Origin::Bound(_) => bound.push((index, value)),
        }
    }
    for (index, value) in declared.into_iter().chain(bound) {
        to[index] = ValueId(values.len() as u32);
        values.push(value);
    }
    program.values = values;
    let renumber = |id: &mut ValueId| *id = to[id.0 as usize];
    for statement in &mut program.statements {
        match statement {
            Statement::Let { result, operands, .. } => {
                renumber(result);
                operands.iter_mut().for_each(renumber);
            }
            Statement::Append { value, state, pos } => [value, state, pos].into_iter().for_each(renumber),
            Statement::Show { value } => renumber(value),
        }
    }
    program
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::ast::Axis;
    use crate::ops::{MatMul, RmsNorm, SumOverChips};

    const COLUMNS: Sharding = Sharding::Split { axis: Axis::Columns, parts: 8 };
    const ROWS: Sharding = Sharding::Split { axis: Axis::Rows, parts: 8 };

    fn weight(b: &mut Builder, name: &str, rows: u32, cols: u32, sharding: Sharding) -> ValueId {
        b.declare(name, Role::Weight, Shape::matrix(rows, cols), Element::Real, Storage::Bf16, sharding).unwrap()
    }

    #[test]
    fn declared_values_come_first_and_facts_are_derived() {
        let mut b = Builder::new(8, Storage::Bf16);
        let shape = Shape::matrix(4, 64);
        let x = b.declare("x", Role::Input, shape, Element::Real, Storage::Bf16, Sharding::Whole).unwrap();
        let norm = b.bind("xn", RmsNorm { eps: 1e-6, offset: 0.0, heads: 0, over_chips: false }, &[x]).unwrap();
        let up = weight(&mut b, "Wu", 64, 128, COLUMNS);
        let up = b.bind("u", MatMul, &[norm, up]).unwrap();
        let down = weight(&mut b, "Wd", 128, 64, ROWS);
        let down = b.bind("d", MatMul, &[up, down]).unwrap();
        let y = b.bind("y", SumOverChips, &[down]).unwrap();
        b.show(y).unwrap();
        let program = b.finish().unwrap();
        let facts: Vec<_> = program.values.iter().map(|v| (v.name.as_str(), v.shape.cols, v.sharding)).collect();
        let whole = Sharding::Whole;
        let expected = [
            ("x", 64, whole),
            ("Wu", 128, COLUMNS),
            ("Wd", 64, ROWS),
            ("xn", 64, whole),
            ("u", 128, COLUMNS),
            ("d", 64, Sharding::Partial),
            ("y", 64, whole),
        ];
        assert_eq!(facts, expected);
        let last = Statement::Let { result: ValueId(6), op: SumOverChips.into(), operands: vec![ValueId(5)] };
        assert_eq!(program.statements[3], last);
        assert_eq!(check::check(&program), Ok(()));
    }

    #[test]
    fn the_first_error_of_a_sentence_names_its_statement_and_binder() {
        let mut b = Builder::new(8, Storage::Bf16);
        let shape = Shape::matrix(4, 64);
        let x = b.declare("x", Role::Input, shape, Element::Real, Storage::Bf16, Sharding::Whole).unwrap();
        let down = weight(&mut b, "Wd", 64, 64, ROWS);
        let error = b.bind("d", MatMul, &[x, down]).unwrap_err();
        let words = "s0 (`d`): x `x` must be split columns 8 ways, as `Wd` is split by rows, found whole";
        assert_eq!(error.to_string(), words);
    }
}
