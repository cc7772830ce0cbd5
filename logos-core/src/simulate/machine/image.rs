//! A bundle's programs as the machine executes them. The text is parsed and the net read row by row: nothing the compiler knew
//! beside the bundle is used.

use logos_bundle::view::{Bundle, Flow as FlowView, Primitive as PrimitiveView, Program as ProgramView, ProgramRole};

use super::trouble::MachineError;
use crate::language::{self, Origin, Program, Role, ValueId};
use crate::lower::{Row, rows_of};
use crate::ops::Op;
use crate::spatial::{Flow, Primitive};

/// One program.
pub(super) struct ProgramImage {
    pub(super) name: String,
    pub(super) role: ProgramRole,
    pub(super) program: Program,
    /// The statement table that stages refer to.
    pub(super) statements: Vec<Row>,
    /// Columns of a token, by value.
    pub(super) tile: Vec<usize>,
    /// Rows of an activation.
    pub(super) rows: usize,
    pub(super) sections: Vec<SectionImage>,
    /// The value shown.
    pub(super) shown: ValueId,
    /// Of an embedding, the tokens there are: its rows without padding.
    pub(super) vocab: Option<u32>,
}

/// One section.
pub(super) struct SectionImage {
    pub(super) group_rows: usize,
    pub(super) groups: usize,
    pub(super) stages: Vec<StageImage>,
    pub(super) edges: Vec<EdgeImage>,
    /// Stages in the order in which the schedule starts their firings.
    pub(super) order: Vec<u32>,
}

/// One stage.
pub(super) struct StageImage {
    pub(super) statement: usize,
    pub(super) part: u32,
    pub(super) primitive: Primitive,
    pub(super) firings: usize,
    /// Edges in, by port.
    pub(super) takes: std::ops::Range<usize>,
    /// Edges out.
    pub(super) gives: Vec<usize>,
}

/// One edge.
pub(super) struct EdgeImage {
    pub(super) to: usize,
    pub(super) flow: Flow,
    pub(super) capacity: usize,
    /// Tokens of an iteration, where they stream.
    pub(super) tokens: usize,
    /// Whether a value flows, rather than what one part of a statement hands to the next.
    pub(super) carries_value: bool,
    /// Firings a group of producer and consumer.
    pub(super) per_group: (usize, usize),
}

fn damaged(what: impl Into<String>) -> MachineError {
    MachineError::Bundle { what: what.into() }
}

pub(super) fn read(bundle: &Bundle<'_>) -> Result<Vec<ProgramImage>, MachineError> {
    bundle.programs().map(|program| read_program(&program)).collect()
}

fn read_program(view: &ProgramView<'_>) -> Result<ProgramImage, MachineError> {
    let name = view.name().to_string();
    let text = view.text().to_string();
    let program = language::parse(&text).map_err(|errors| {
        damaged(format!(
            "the text of `{name}` does not read: {}",
            errors.first().map_or_else(String::new, ToString::to_string)
        ))
    })?;
    let statements = rows_of(&program);
    let tile: Vec<usize> = view.values().map(|value| value.tile() as usize).collect();
    if tile.len() != program.values.len() || view.statements().count() != statements.len() {
        return Err(damaged(format!("the rows of `{name}` are not those of its text")));
    }
    let shown = program.statements.iter().find_map(|statement| match statement {
        language::Statement::Show { value } => Some(*value),
        language::Statement::Let { .. } | language::Statement::Append { .. } => None,
    });
    let shown = shown.ok_or_else(|| damaged(format!("`{name}` shows nothing")))?;
    let vocab = program.statements.iter().find_map(|statement| match statement {
        language::Statement::Let { op: Op::Rows(_), operands, .. } => {
            let table = *operands.first()?;
            let binding = view.bindings().find(|b| b.value().is_some_and(|value| value.index() == table.0));
            let padding = binding.map_or(0, |binding| binding.padding());
            Some(program.value(table).shape.rows.saturating_sub(padding))
        }
        language::Statement::Let { .. } | language::Statement::Append { .. } | language::Statement::Show { .. } => None,
    });
    let sections = view.sections().map(|section| read_section(&section, statements.len())).collect::<Result<_, _>>()?;
    Ok(ProgramImage {
        name,
        role: view.role(),
        program,
        statements,
        tile,
        rows: view.rows() as usize,
        sections,
        shown,
        vocab,
    })
}

fn read_section(view: &logos_bundle::view::Section<'_>, statements: usize) -> Result<SectionImage, MachineError> {
    let mut stages = Vec::new();
    let mut starts = Vec::new();
    for stage in view.stages() {
        let statement = stage.statement().map_or(usize::MAX, |s| s.index() as usize);
        if statement >= statements {
            return Err(damaged("a stage has no statement"));
        }
        let firings = stage.firings() as usize;
        starts.push((stage.start_cycles(), stage.period_cycles()));
        let primitive = match stage.primitive() {
            PrimitiveView::Load => Primitive::Load,
            PrimitiveView::Store => Primitive::Store,
            PrimitiveView::GemmA => Primitive::GemmA,
            PrimitiveView::GemmB => Primitive::GemmB,
            PrimitiveView::Map => Primitive::Map,
            PrimitiveView::Reduce => Primitive::Reduce,
            PrimitiveView::Scan => Primitive::Scan,
            PrimitiveView::Gather => Primitive::Gather,
            PrimitiveView::Scores => Primitive::Scores,
            PrimitiveView::Softmax => Primitive::Softmax,
            PrimitiveView::Values => Primitive::Values,
            PrimitiveView::Collective => Primitive::Collective,
            unknown => return Err(damaged(format!("a stage of kind `{unknown}` is not known"))),
        };
        stages.push(StageImage { statement, part: stage.part(), primitive, firings, takes: 0..0, gives: Vec::new() });
    }
    let mut edges = Vec::new();
    for (at, edge) in view.edges().enumerate() {
        let ends = edge.from().zip(edge.to());
        let (from, to) = ends.ok_or_else(|| damaged("an edge leads nowhere"))?;
        let first = view.stages().next().map_or(0, |s| s.index());
        let (from, to) = ((from.index() - first) as usize, (to.index() - first) as usize);
        let flow = match edge.flow() {
            FlowView::Stream { produced, consumed } => Flow::Stream { p: produced.into(), q: consumed.into() },
            FlowView::Hold { groups } => Flow::Hold { groups: groups.into() },
            unknown => return Err(damaged(format!("an edge of kind {unknown:?} is not known"))),
        };
        let groups = match flow {
            Flow::Stream { .. } => 1,
            Flow::Hold { groups } => (groups as usize).max(1),
        };
        let per_group = (stages[from].firings / groups, stages[to].firings / groups);
        let tokens = match flow {
            Flow::Stream { p, .. } => stages[from].firings.saturating_mul(p as usize),
            Flow::Hold { .. } => 0,
        };
        edges.push(EdgeImage {
            to,
            tokens,
            flow,
            capacity: edge.capacity() as usize,
            carries_value: edge.value().is_some(),
            per_group,
        });
        stages[from].gives.push(at);
        let takes = &mut stages[to].takes;
        *takes = if takes.start == takes.end { at..at + 1 } else { takes.start..at + 1 };
    }
    let mut firings: Vec<(u64, u32)> = Vec::new();
    for (number, (stage, &(start, period))) in (0..).zip(stages.iter().zip(&starts)) {
        let start_of = |j: u64| start.saturating_add(j.saturating_mul(period));
        firings.extend((0..stage.firings as u64).map(|j| (start_of(j), number)));
    }
    // Stages stand in topological order, so that of equal starts the producer's comes first.
    firings.sort_unstable();
    let order = firings.into_iter().map(|(_, stage)| stage).collect();
    Ok(SectionImage {
        group_rows: view.group_rows() as usize,
        groups: (view.groups() as usize).max(1),
        stages,
        edges,
        order,
    })
}

/// Whether a value is an input of Real: the hidden state.
pub(super) fn is_hidden(program: &Program, value: ValueId) -> bool {
    let value = program.value(value);
    matches!(value.origin, Origin::Declared(Role::Input)) && value.element == language::Element::Real
}
