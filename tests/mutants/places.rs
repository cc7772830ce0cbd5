//! Where the rows of programs and sections lie.

use std::ops::Range;

use logos_bundle::table::layout::{Part, edge, program, section, stage, statement, value};

use super::table::Table;

/// A program: its rows, counted over the whole table.
pub(crate) struct ProgramRows {
    pub(crate) index: usize,
    pub(crate) role: u32,
    pub(crate) values: Range<usize>,
    pub(crate) statements: Range<usize>,
    pub(crate) bindings: Range<usize>,
}

/// A section: its rows, counted over the whole table.
pub(crate) struct SectionRows {
    pub(crate) index: usize,
    pub(crate) program: usize,
    pub(crate) stages: Range<usize>,
    pub(crate) edges: Range<usize>,
    pub(crate) turns: Range<usize>,
}

impl Table {
    fn range(&self, part: Part, row: usize, field: usize) -> Range<usize> {
        let first = self.get(part, row, field) as usize;
        first..first + self.get(part, row, field + 1) as usize
    }

    pub(crate) fn programs(&self) -> impl Iterator<Item = ProgramRows> {
        (0..self.rows(Part::Programs).len()).map(|index| {
            let range = |field| self.range(Part::Programs, index, field);
            ProgramRows {
                index,
                role: self.get(Part::Programs, index, program::ROLE),
                values: range(program::VALUES),
                statements: range(program::STATEMENTS),
                bindings: range(program::BINDINGS),
            }
        })
    }

    pub(crate) fn sections(&self) -> impl Iterator<Item = SectionRows> {
        (0..self.rows(Part::Sections).len()).map(|index| {
            let range = |field| self.range(Part::Sections, index, field);
            SectionRows {
                index,
                program: self.get(Part::Sections, index, section::PROGRAM) as usize,
                stages: range(section::STAGES),
                edges: range(section::EDGES),
                turns: range(section::TURNS),
            }
        })
    }

    /// Statements of a program with this operation.
    pub(crate) fn statements(&self, of: &ProgramRows, code: u32) -> impl Iterator<Item = usize> {
        of.statements.clone().filter(move |&s| self.get(Part::Statements, s, statement::OP) == code)
    }

    /// Cells of a stage.
    pub(crate) fn cells(&self, g: usize) -> u32 {
        self.get(Part::Stages, g, stage::NA) * self.get(Part::Stages, g, stage::NB)
    }

    /// End of an edge's buffer.
    pub(crate) fn buffer_end(&self, e: usize) -> u32 {
        let [capacity, slot, address] =
            [edge::CAPACITY, edge::SLOT_BYTES, edge::ADDRESS].map(|field| self.get(Part::Edges, e, field));
        address + capacity * slot
    }

    /// Whether a value is an activation: bound, or a Real input.
    pub(crate) fn is_activation(&self, v: usize) -> bool {
        let [role, storage] = [value::ROLE, value::STORAGE].map(|field| self.get(Part::Values, v, field));
        role == 4 || role == 0 && storage != logos_bundle::table::layout::storage::I32
    }
}
