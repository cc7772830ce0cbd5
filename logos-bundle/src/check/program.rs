//! A program under check: its statements and its values, each with the chip's own share worked out.

use super::frame::{Frame, Row, part_of};
use super::ledger::{At, Ledger, count, each, equal, hold, part};
use super::rows::{StatementRow, ValueRow};
use super::{MAX_STATEMENTS, MAX_VALUES};
use crate::table::layout::{NONE, op, storage};

/// Roles of a value.
pub(super) mod role {
    pub(in super::super) const INPUT: u32 = 0;
    pub(in super::super) const WEIGHT: u32 = 1;
    pub(in super::super) const STATE: u32 = 2;
    pub(in super::super) const TABLE: u32 = 3;
    pub(in super::super) const BOUND: u32 = 4;
}

/// Roles of a program whose ends differ from a layer.
pub(super) const EMBED: u32 = 0;
pub(super) const HEAD: u32 = 2;

/// Shardings of a value.
pub(super) mod sharding {
    pub(in super::super) const WHOLE: u32 = 0;
    pub(in super::super) const ROWS: u32 = 1;
    pub(in super::super) const COLS: u32 = 2;
    pub(in super::super) const PARTIAL: u32 = 3;
    pub(in super::super) const EXPERTS: u32 = 4;
}

/// A value, and what the statements and sections gone through so far say of it.
#[derive(Clone, Copy)]
pub(super) struct Value {
    pub(super) role: u32,
    pub(super) storage: u32,
    pub(super) sharding: u32,
    pub(super) tier: u32,
    pub(super) statement: u32,
    pub(super) rope: u32,
    pub(super) counted_elsewhere: bool,
    pub(super) seqs: i128,
    pub(super) rows: i128,
    pub(super) cols: i128,
    pub(super) parts: i128,
    /// Rows and columns of the chip's share.
    pub(super) rows_l: i128,
    pub(super) cols_l: i128,
    pub(super) tile: i128,
    pub(super) tiles: i128,
    /// Bytes of the chip's share, all copies.
    pub(super) share: i128,
    /// Whether a statement reads or shows it, and whether one shows it.
    pub(super) used: bool,
    pub(super) shown: bool,
    pub(super) bound: bool,
    /// Whether it is a router's result, and a weight of experts.
    pub(super) routing: bool,
    pub(super) banked: bool,
    /// Of a state: the statement that reads it, and the one that writes it.
    pub(super) reader: u32,
    pub(super) writer: u32,
    /// Whether attention reads it as a cache.
    pub(super) cache: bool,
    /// The section, and the stage there, that a reader takes it from at present.
    pub(super) section: u32,
    pub(super) stage: u32,
    /// 0 not spilled, 1 spilled, 2 spilled and loaded again.
    pub(super) spilled: u32,
}

impl Value {
    pub(super) const NOTHING: Value = Value {
        role: 0,
        storage: 0,
        sharding: 0,
        tier: 0,
        statement: NONE,
        rope: NONE,
        counted_elsewhere: false,
        seqs: 1,
        rows: 1,
        cols: 1,
        parts: 1,
        rows_l: 1,
        cols_l: 1,
        tile: 1,
        tiles: 1,
        share: 0,
        used: false,
        shown: false,
        bound: false,
        routing: false,
        banked: false,
        reader: NONE,
        writer: NONE,
        cache: false,
        section: NONE,
        stage: NONE,
        spilled: 0,
    };
}

/// A program under check.
pub(super) struct Program<'a> {
    pub(super) frame: &'a Frame<'a>,
    pub(super) role: u32,
    pub(super) layers: i128,
    /// Rows of an activation, and tokens a sequence.
    pub(super) m: i128,
    pub(super) tok: i128,
    pub(super) sections: u32,
    /// First rows of the program's values and statements in the table.
    pub(super) first_value: u32,
    pub(super) first_statement: u32,
    pub(super) count: usize,
    /// Values that a binding names.
    pub(super) declared: u32,
    /// Bytes of scratchpad that its inputs, tables and bound values take beside the buffers.
    pub(super) resident: i128,
    pub(super) statements: &'a [StatementRow],
    pub(super) statement_count: usize,
    /// Its values lie in a buffer for all programs: constant evaluation pays for every copy.
    pub(super) values: &'a mut [Value; MAX_VALUES],
    /// Real inputs and shows so far, and the last of each.
    pub(super) inputs: u32,
    pub(super) input: usize,
    pub(super) shows: u32,
    /// Statements that take the last rows of the sequences, so far.
    pub(super) last_rows: u32,
    pub(super) shown: usize,
    /// The next statement that has to have its stages, and the section each one's are in.
    pub(super) next: usize,
    pub(super) section_of: [u32; MAX_STATEMENTS],
}

/// `⌈a/b⌉` of a non-negative and a positive number; unsigned, because a signed division is four more steps to evaluate, and a
/// macro, because a call is ten.
macro_rules! ceil {
    ($a:expr, $b:expr) => {{
        let b: i128 = $b;
        (($a + b - 1) as u128 / b as u128) as i128
    }};
}
pub(super) use ceil;

/// Bytes of `n` elements, of F8_E4M3 of `n` in a column: without a call, for what is asked of every value and every edge.
macro_rules! bytes_of {
    ($storage:expr, $n:expr) => {
        match $storage {
            $crate::table::layout::storage::F16 | $crate::table::layout::storage::BF16 => 2 * $n,
            $crate::table::layout::storage::Q8_0 => 34 * $crate::check::program::ceil!($n, 32),
            $crate::table::layout::storage::MXFP4 => 17 * $crate::check::program::ceil!($n, 32),
            $crate::table::layout::storage::F8_E4M3 => {
                $n + 4 * $crate::check::program::ceil!($n, $crate::check::program::SCALED)
            }
            _ => 4 * $n,
        }
    };
}
pub(super) use bytes_of;

/// Whether elements of a storage share bytes or scales: only some weights are stored so.
macro_rules! in_blocks {
    ($storage:expr) => {
        matches!(
            $storage,
            $crate::table::layout::storage::Q8_0
                | $crate::table::layout::storage::F8_E4M3
                | $crate::table::layout::storage::MXFP4
        )
    };
}
pub(super) use in_blocks;

/// The largest index: what is not [`NONE`] is at most this.
pub(super) const LAST: u32 = NONE - 1;

/// Rows, and columns, that share a scale of F8_E4M3.
pub(super) const SCALED: i128 = 128;

/// Bytes of `n` elements.
pub(super) const fn bytes(storage: u32, n: i128) -> i128 {
    bytes_of!(storage, n)
}

/// Bytes of elements in so many rows and columns.
pub(super) const fn matrix_bytes(storage: u32, rows: i128, cols: i128) -> i128 {
    if storage == storage::F8_E4M3 {
        return rows * cols + 4 * ceil!(rows, SCALED) * ceil!(cols, SCALED);
    }
    bytes(storage, rows * cols)
}

impl<'a> Program<'a> {
    /// Reads the values of a program, and checks of each what can be said without its statement.
    pub(super) const fn new(
        frame: &'a Frame<'a>,
        row: &Row,
        at: At,
        values: &'a mut [Value; MAX_VALUES],
        l: &mut Ledger,
    ) -> Program<'a> {
        let row = *row;
        let [_, _, _, _, role, layers, v0, nv, s0, ns, _, sections, _, _, m, _] = row;
        let statements = part_of(frame.statements, s0 as usize, ns as usize);
        let d = &frame.deployment;
        let m = m as i128;
        let all = d.seqs * d.tokens;
        let last_rows = role == 2 && d.form == 2 && m == d.seqs;
        hold!(l, 1, m == all || last_rows, at, all, m, "rows of an activation");
        hold!(l, 1, d.form != 1 || d.tokens == 1, at, 1, d.tokens, "tokens of a sequence in a decode step");
        hold!(l, 1, m % d.seqs == 0, at, 0, m % d.seqs, "rows of an activation, a multiple of the sequences: rest");
        let (declared, resident) = read(frame, v0, nv, values, l);
        Program {
            frame,
            role,
            layers: layers as i128,
            m,
            tok: m / d.seqs,
            sections,
            first_value: v0,
            first_statement: s0,
            count: nv as usize,
            declared,
            resident,
            statements,
            statement_count: ns as usize,
            values,
            inputs: 0,
            input: 0,
            shows: 0,
            last_rows: 0,
            shown: 0,
            next: 0,
            section_of: [NONE; MAX_STATEMENTS],
        }
    }

    /// The row of a value.
    pub(super) const fn value_at(&self, v: usize) -> At {
        At(part::VALUES, self.first_value + v as u32)
    }

    /// What the values owe once all statements have been gone through: each bound one has its statement, each is read.
    pub(super) const fn close(&self, l: &mut Ledger) {
        let mut states = 0;
        let mut storage = NONE;
        let mut i = 0;
        while i < self.count {
            let v = &self.values[i];
            if v.role == role::STATE {
                states += 1;
                let after = v.reader == NONE || v.writer == NONE || v.writer >= v.reader;
                each!(l, 10 * 3, self.value_at(i),
                    v.reader != NONE => 1, 0, "reads of a state in a step";
                    v.writer != NONE => 1, 0, "writes of a state in a step";
                    after => v.reader, v.writer, "statement that writes a state, at least its reader's";
                );
            } else {
                let stated = v.statement != NONE;
                each!(l, 1 * 2, self.value_at(i),
                    v.bound == stated => stated, v.bound, "a statement binds or declares the value";
                    v.used || v.role == role::INPUT => 1, 0, "statements that read the value, at least";
                );
                if v.role == role::BOUND && v.storage != storage::I32 && !v.routing {
                    let first = if storage == NONE { v.storage } else { storage };
                    hold!(
                        l,
                        1,
                        v.storage == first,
                        self.value_at(i),
                        first,
                        v.storage,
                        "storage of the program's bound Real values"
                    );
                    storage = first;
                }
            }
            i += 1;
        }
        count!(l, states, 10 * 3);
        count!(l, self.count - states, 1 * 2);
        let at = At(part::VALUES, self.first_value);
        // What goes from program to program is one value, and the next layer's input is this one's result.
        equal!(l, 1, at, self.role != 0, self.inputs == 1, "Real inputs: one, and none of an embedding");
        equal!(l, 1, at, 1, self.shows, "values shown");
        let last_rows = (self.role == 2 && self.frame.deployment.form == 2) as u32;
        equal!(l, 1, at, last_rows, self.last_rows, "statements that take last rows: one in the head of a prefill");
        if self.role == 1 {
            let (x, y) = (&self.values[self.input], &self.values[self.shown]);
            equal!(l, 1, at, x.rows, y.rows, "rows of the value shown");
            equal!(l, 1, at, x.cols, y.cols, "columns of the value shown");
            equal!(l, 1, at, x.storage, y.storage, "storage of the value shown");
            hold!(l, 1, self.sections != 1 || x.tile == y.tile, at, x.tile, y.tile, "tile of the value shown");
        }
        // States are what makes a step a step: a layer program of a stateless form declares none.
        hold!(l, 10, self.frame.deployment.form != 0 || states == 0, at, 0, states, "states of a forward program");
    }
}

/// Reads the value rows of a program, and checks of each what can be said without its statement. Returns how many are declared,
/// and what is resident of all: sums made here, as a loop of their own would cost more than they do.
const fn read(
    frame: &Frame<'_>,
    first: u32,
    count: u32,
    values: &mut [Value; MAX_VALUES],
    l: &mut Ledger,
) -> (u32, i128) {
    let mut bound = 0;
    let mut resident = 0;
    let chips = frame.deployment.chips as u32;
    let all = frame.values;
    count!(l, count, 11 * 6, 1 * 6, 9 * 2, 0 * 1);
    let mut i = first as usize;
    let mut k = 0;
    let end = i + count as usize;
    while i < end {
        let row = all[i];
        // The chip's share, where the value is split: in 32 bits, as rule 0 has every word below 2^31.
        let mut rows_l = row.rows;
        let mut cols_l = row.cols;
        let mut seqs_l = row.seqs;
        if let sharding::WHOLE | sharding::PARTIAL = row.sharding {
            each!(l, 11 * 2, At(part::VALUES, i as u32), of [row: ValueRow],
                let 1 = row.parts => 1, row.parts, "parts of a value that is not split";
                let ValueRow { sharding: sharding::WHOLE, .. } | ValueRow { role: role::WEIGHT.., .. } = row => sharding::WHOLE, row.sharding, "sharding of what comes in";
            );
        } else {
            let axis = match row.sharding {
                sharding::ROWS => row.rows,
                sharding::COLS => row.cols,
                _ => row.seqs,
            };
            let share = axis / row.parts;
            let rest = chips % row.parts;
            match row.sharding {
                sharding::ROWS => rows_l = share,
                sharding::COLS => cols_l = share,
                _ => seqs_l = share,
            }
            each!(l, 11 * 5, At(part::VALUES, i as u32), of [row: ValueRow, rest: u32, axis: u32, share: u32],
                let 2.. = row.parts => 2, row.parts, "parts of a split value, at least";
                rest == 0 => 0, rest, "chips, a multiple of the parts: rest";
                share * row.parts == axis => share * row.parts, axis, "split rows, columns or experts, a multiple of the parts";
                let role::WEIGHT.. = row.role => sharding::WHOLE, row.sharding, "sharding of what comes in";
                let ValueRow { sharding: sharding::ROWS | sharding::COLS, .. } | ValueRow { role: role::WEIGHT, .. } = row => role::WEIGHT, row.role, "role of what is split by experts";
            );
        }
        each!(l, 1 * 6, At(part::VALUES, i as u32), of [row: ValueRow, cols_l: u32],
            row.tile <= cols_l => cols_l, row.tile, "columns of a tile, at most";
            let ValueRow { seqs: 1, .. } | ValueRow { role: role::WEIGHT | role::STATE, .. } = row => 1, row.seqs, "copies";
            let ValueRow { rope: NONE, .. } | ValueRow { role: role::TABLE, .. } = row => NONE, row.rope, "rope recipe";
            let ValueRow { role: role::WEIGHT, .. } | ValueRow { storage: storage::F32 | storage::F16 | storage::BF16 | storage::I32, .. } = row => 0, row.storage, "storage of this role";
            let ValueRow { role: role::INPUT | role::BOUND, .. } | ValueRow { storage: ..=storage::Q8_0 | storage::F8_E4M3.., .. } = row => 0, row.storage, "storage of this role";
            let ValueRow { role: role::WEIGHT..=role::TABLE, statement: NONE, .. }
                | ValueRow { role: role::INPUT, storage: storage::I32, statement: NONE, .. }
                | ValueRow { role: role::INPUT, storage: ..=storage::Q8_0 | storage::F8_E4M3.., statement: ..=LAST, .. }
                | ValueRow { role: role::BOUND, statement: ..=LAST, .. } = row => 1, row.statement, "statement of a bound value or a Real input, and of no other";
        );
        each!(l, 9 * 2, At(part::VALUES, i as u32), of [row: ValueRow],
            let ValueRow { role: role::BOUND, .. } | ValueRow { tier: ..=2, .. } = row => 2, row.tier, "tier of a declared value, at most";
            let ValueRow { flags: 0, .. } | ValueRow { role: role::WEIGHT, .. } = row => 0, row.flags, "flags of a value that is no weight";
        );
        if let role::BOUND = row.role {
            bound += 1;
        }
        let tile = row.tile as i128;
        let rows_l = rows_l as i128;
        let cols_l = cols_l as i128;
        let elements = rows_l * cols_l;
        let mut share = match row.storage {
            storage::F8_E4M3 => matrix_bytes(storage::F8_E4M3, rows_l, cols_l),
            _ => bytes_of!(row.storage, elements),
        };
        if seqs_l != 1 {
            share *= seqs_l as i128;
        }
        each!(l, 0 * 1, At(part::VALUES, i as u32), of [share: i128], share < 0x1000_0000_0000_0000 => 0x1000_0000_0000_0000i128, share, "bytes of a value, below";);
        if let ValueRow { tier: 0, role: role::INPUT | role::TABLE | role::BOUND, .. } = row {
            resident += share;
        }
        values[k] = Value {
            role: row.role,
            storage: row.storage,
            sharding: row.sharding,
            tier: row.tier,
            statement: row.statement,
            rope: row.rope,
            counted_elsewhere: row.flags == 1,
            seqs: row.seqs as i128,
            rows: row.rows as i128,
            cols: row.cols as i128,
            parts: row.parts as i128,
            rows_l,
            cols_l,
            tile,
            tiles: ceil!(cols_l, tile),
            share,
            used: false,
            shown: false,
            bound: false,
            routing: false,
            banked: false,
            reader: NONE,
            writer: NONE,
            cache: false,
            section: NONE,
            stage: NONE,
            spilled: 0,
        };
        k += 1;
        i += 1;
    }
    (count - bound, resident)
}

/// A statement's row, taken apart.
#[derive(Clone, Copy)]
pub(super) struct Statement {
    pub(super) index: usize,
    /// Its row.
    pub(super) at: At,
    pub(super) op: u32,
    pub(super) result: usize,
    /// Operands; [`NONE`] where absent.
    pub(super) x: [u32; 8],
    /// Attributes.
    pub(super) a: [u32; 6],
}

impl Statement {
    pub(super) const fn read(p: &Program<'_>, index: usize) -> Statement {
        let row = p.statements[index];
        Statement {
            index,
            at: At(part::STATEMENTS, p.first_statement + index as u32),
            op: row.op,
            result: row.result as usize,
            x: row.operands,
            a: row.attributes,
        }
    }

    /// Whether the statement binds its result (rather than declares, shows or appends to it).
    pub(super) const fn binds(&self) -> bool {
        self.op >= op::MATMUL
    }
}
