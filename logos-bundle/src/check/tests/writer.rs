//! A writer of valid tables for the checker's tests: values and statements in, a table out.
//!
//! Which stages a statement needs it asks `parts::expect`, so it says nothing about section 3 of RULES.md (a table written
//! by hand in `tests/mod.rs` and the compiler's own output do). Schedule, capacities and addresses are its own: every
//! stage as early as its data allow, an interval longer than the span, buffers of a whole iteration.

use std::vec;
use std::vec::Vec;

use crate::check::MAX_VALUES;
use crate::check::frame;
use crate::check::ledger::{At, Ledger};
use crate::check::parts::{self, Expected, Recurrence, Take};
use crate::check::place;
use crate::check::program::{self, Program, Statement, Value, ceil, role};
use crate::check::section::{Section, log2};
use crate::table::digest;
use crate::table::layout::{NONE, PARTS, VERSION, op, primitive, storage};

pub(super) type Row = [u32; 16];

/// A program to write.
#[derive(Clone)]
pub(super) struct Draft {
    pub(super) role: u32,
    pub(super) rows: u32,
    /// Rows of a group in each section, and the first statement of each.
    pub(super) group_rows: u32,
    pub(super) cuts: Vec<u32>,
    pub(super) values: Vec<Row>,
    pub(super) statements: Vec<Row>,
    pub(super) layers: u32,
    /// Bindings of weights that are not stored as the others are.
    pub(super) stored: Vec<Row>,
}

/// A deployment to write.
#[derive(Clone)]
pub(super) struct Model {
    pub(super) form: u32,
    pub(super) chips: u32,
    pub(super) seqs: u32,
    pub(super) tokens: u32,
    pub(super) programs: Vec<Draft>,
    pub(super) ropes: Vec<Row>,
}

impl Draft {
    pub(super) fn new(role: u32, rows: u32) -> Draft {
        Draft {
            role,
            rows,
            group_rows: rows,
            cuts: vec![0],
            values: vec![],
            statements: vec![],
            layers: 1,
            stored: vec![],
        }
    }

    fn value(&mut self, role: u32, storage: u32, shape: [u32; 3], cut: (u32, u32), tile: u32, tier: u32) -> u32 {
        let statement = NONE;
        let [seqs, rows, cols] = shape;
        self.values.push([0, 0, role, storage, seqs, rows, cols, cut.0, cut.1, tile, tier, statement, NONE, 0, 0, 0]);
        self.values.len() as u32 - 1
    }

    /// A weight in HBM.
    pub(super) fn weight(&mut self, rows: u32, cols: u32, cut: (u32, u32)) -> u32 {
        self.value(role::WEIGHT, storage::BF16, [1, rows, cols], cut, 1, 1)
    }

    /// A weight of experts in HBM.
    pub(super) fn bank(&mut self, experts: u32, rows: u32, cols: u32, cut: (u32, u32)) -> u32 {
        self.value(role::WEIGHT, storage::BF16, [experts, rows, cols], cut, 1, 1)
    }

    /// How a weight is stored: tensor's name, whether transposed, offset, run, stride and count, stored axes, axis taken, whether
    /// the experts have an axis.
    pub(super) fn stored(
        &mut self,
        v: u32,
        [name, length, t, offset, run, stride, count, a0, a1, along, stacked]: [u32; 11],
    ) {
        self.stored.push([v, 0, 5, name, length, t, offset, run, stride, count, a0, a1, 0, along, stacked, 0]);
    }

    /// A state in this tier.
    pub(super) fn state(&mut self, shape: [u32; 3], cut: (u32, u32), tier: u32) -> u32 {
        self.value(role::STATE, storage::BF16, shape, cut, 1, tier)
    }

    pub(super) fn table(&mut self, rows: u32, cols: u32, recipe: u32) -> u32 {
        let v = self.value(role::TABLE, storage::F32, [1, rows, cols], (0, 1), 1, 0);
        self.values[v as usize][12] = recipe;
        v
    }

    pub(super) fn ids(&mut self, rows: u32) -> u32 {
        self.value(role::INPUT, storage::I32, [1, rows, 1], (0, 1), 1, 0)
    }

    /// A Real input with its statement.
    pub(super) fn input(&mut self, rows: u32, cols: u32, tile: u32) -> u32 {
        let v = self.value(role::INPUT, storage::BF16, [1, rows, cols], (0, 1), tile, 0);
        self.push(op::INPUT, v, &[], &[]);
        v
    }

    fn push(&mut self, code: u32, result: u32, operands: &[u32], attributes: &[u32]) {
        let mut row = [NONE; 16];
        row[0] = code;
        row[1] = result;
        row[2..2 + operands.len()].copy_from_slice(operands);
        row[10..16].fill(0);
        row[10..10 + attributes.len()].copy_from_slice(attributes);
        let bound = &mut self.values[result as usize];
        if code >= op::MATMUL || code == op::INPUT {
            bound[11] = self.statements.len() as u32;
        }
        self.statements.push(row);
    }

    /// Binds a value of so many columns.
    pub(super) fn bind(
        &mut self,
        code: u32,
        operands: &[u32],
        attributes: &[u32],
        cols: u32,
        cut: (u32, u32),
        tile: u32,
    ) -> u32 {
        let kind = if code == op::ARGMAX { storage::I32 } else { storage::BF16 };
        let v = self.value(role::BOUND, kind, [1, self.rows, cols], cut, tile, NONE);
        self.push(code, v, operands, attributes);
        v
    }

    /// Binds a value like its first operand.
    pub(super) fn like(&mut self, code: u32, operands: &[u32], attributes: &[u32]) -> u32 {
        let x = self.values[operands[0] as usize];
        self.bind(code, operands, attributes, x[6], (x[7], x[8]), x[9])
    }

    pub(super) fn show(&mut self, v: u32) {
        self.values[v as usize][10] = 0;
        self.push(op::SHOW, v, &[], &[]);
    }

    pub(super) fn append(&mut self, v: u32, state: u32, pos: u32) {
        self.push(op::APPEND, state, &[v, pos], &[]);
    }
}

/// Rows of the parts of a table, in the layout's order.
pub(super) type Parts = Vec<Vec<Row>>;

/// A section's row read.
fn opened(p: &Program<'_>, index: u32, l: &mut Ledger) -> Section {
    let mut s = Section::none();
    s.open(p, index, l);
    s
}

/// Lays parts out, and seals them with the digest.
pub(super) fn lay(parts: &Parts, string_bytes: u32) -> Vec<u32> {
    let mut words = vec![u32::from_le_bytes(*b"LOGS"), VERSION, 0, 0, 0, 0, string_bytes, 0];
    words.resize(16, 0);
    let mut next = 4;
    for part in parts {
        words.extend([next, part.len() as u32]);
        next += part.len() as u32;
    }
    words.resize(64, 0);
    for row in parts.iter().flatten() {
        words.extend(row);
    }
    words[2] = words.len() as u32;
    seal(&mut words);
    words
}

/// Writes the digest.
pub(super) fn seal(words: &mut [u32]) {
    let d = digest(words);
    words[4] = d as u32;
    words[5] = (d >> 32) as u32;
}

/// The chip of the tests: small enough to reckon by hand, with odd sizes where they matter.
pub(super) fn chip() -> [Row; 2] {
    let cells = 36 * 25;
    let first = [0, 5, cells, 36, 25, 18, 32, 16, 6, 6, 3, 1 << 19, 64, 2, 1, 75_012_505];
    let mut second = [0; 16];
    second[..13].copy_from_slice(&[15_000_000, 40_763_392, 64, 128, 1024, 1024, 128, 8, 0, 16, 0, 64, 8]);
    [first, second]
}

fn wide(row: &mut Row, at: usize, n: i128) {
    row[at] = n as u32;
    row[at + 1] = (n >> 32) as u32;
}

struct Stage {
    statement: u32,
    part: u32,
    e: Expected,
    taken: i128,
    given: i128,
    ii: i128,
    period: i128,
    start: i128,
    site: i128,
    na: i128,
    nb: i128,
}

impl Model {
    /// The whole table.
    pub(super) fn parts(&self) -> Parts {
        let mut parts: Parts = vec![vec![]; PARTS];
        let layers: u32 = self.programs.iter().filter(|p| p.role == 1).map(|p| p.layers).sum();
        let ctx = if self.form == 0 { 0 } else { self.context() };
        parts[0].push([0, 5, self.form, self.chips, self.seqs, self.tokens, ctx, layers, 0, 0, 0, 0, 0, 0, ctx, 0]);
        parts[0].push([0; 16]);
        parts[1].extend(chip());
        parts[9] = self.ropes.clone();
        parts[13] = vec![[u32::from_le_bytes(*b"test"); 16]];
        parts[13][0][14] = u32::from_le_bytes(*b"{e}.");
        for (k, draft) in self.programs.iter().enumerate() {
            let first = parts[11].len() as u32;
            let at = |part: usize| parts[part].len() as u32;
            let (v, s, c, b) = (at(4), at(5), at(3), at(10));
            let declared = draft.values.iter().filter(|v| v[2] != role::BOUND).count() as u32;
            let (nv, ns, nc) = (draft.values.len() as u32, draft.statements.len() as u32, draft.cuts.len() as u32);
            let run = if draft.role == 1 { first } else { 0 };
            parts[2].push([0, 5, 0, 5, draft.role, draft.layers, v, nv, s, ns, c, nc, b, declared, draft.rows, run]);
            parts[4].extend(&draft.values);
            parts[5].extend(&draft.statements);
            for (i, v) in draft.values.iter().enumerate() {
                let class = match (v[2], v[3]) {
                    (role::WEIGHT, _) => 0,
                    (role::STATE, _) => 1,
                    (role::TABLE, _) => 2,
                    (role::INPUT, storage::I32) => 4,
                    (role::INPUT, _) => 3,
                    _ => continue,
                };
                // Stored [out, in], the whole of it, in two runs where the columns are even.
                let (run, count) = if v[6] % 2 == 0 { (v[6] / 2, 2) } else { (v[6], 1) };
                let row = [i as u32, 0, 5, i as u32, 5, 1, 0, run, run, count, v[6], v[5], class, 0, 0, 0];
                let bare = [i as u32, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, class, 0, 0, 0];
                let own = draft.stored.iter().find(|row| row[0] == i as u32).copied();
                parts[10].push(if class == 0 { own.unwrap_or(row) } else { bare });
            }
            if draft.role == 1 {
                for _ in 0..draft.layers {
                    let mut layer = [0; 16];
                    layer[0] = k as u32;
                    parts[11].push(layer);
                }
            }
            parts[12].push([7; 16]);
            for _ in &draft.cuts {
                parts[3].push([
                    k as u32,
                    draft.group_rows,
                    draft.rows.div_ceil(draft.group_rows),
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    1,
                    0,
                    1,
                    0,
                    0,
                    1,
                    0,
                ]);
            }
        }
        for k in 0..self.programs.len() {
            self.lower(k, &mut parts);
        }
        self.totals(&mut parts);
        parts
    }

    fn totals(&self, parts: &mut Parts) {
        let (mut weights, mut in_ddr, mut states, mut in_sram, mut caches) = (0i128, 0i128, 0i128, 0i128, 0i128);
        for draft in &self.programs {
            for (i, v) in draft.values.iter().enumerate() {
                let parts = if v[7] == 0 { 1 } else { v[8] as i128 };
                let share =
                    program::bytes(v[3], v[5] as i128 * v[6] as i128 / parts) * v[4] as i128 * draft.layers as i128;
                match v[2] {
                    role::WEIGHT if v[13] == 0 => {
                        weights += share;
                        in_ddr += if v[10] == 2 { share } else { 0 };
                    }
                    role::STATE => {
                        states += share;
                        in_sram += if v[10] == 0 { share } else { 0 };
                        let i = i as u32;
                        let cache = |s: &&Row| match s[0] {
                            op::ATTENTION => s[6] == i || s[7] == i,
                            op::LATENT_ATTENTION => s[7] == i || s[8] == i,
                            _ => false,
                        };
                        caches += if draft.statements.iter().any(|s| cache(&s)) { share } else { 0 };
                    }
                    _ => {}
                }
            }
        }
        wide(&mut parts[0][0], 8, weights);
        wide(&mut parts[0][0], 10, states);
        wide(&mut parts[0][0], 12, caches);
        wide(&mut parts[0][1], 0, in_ddr);
        wide(&mut parts[0][1], 2, in_sram);
        let [_, memory] = chip();
        let free = (memory[8] as i128 | (memory[9] as i128) << 32) - (weights - in_ddr);
        let sequence = states / self.seqs as i128;
        let fit = if sequence == 0 { u32::MAX as i128 } else { free / sequence };
        parts[0][0][15] = if self.form == 0 { 0 } else { fit.min(u32::MAX as i128) as u32 };
    }

    /// The rows of the caches, of a model whose attention sees all; at least the step's tokens.
    fn context(&self) -> u32 {
        let statements = |d: &Draft| d.statements.clone();
        let rows = self.programs.iter().flat_map(|d| {
            let caches = statements(d).into_iter().filter(|s| s[0] == op::ATTENTION && s[6] != NONE);
            caches.map(|s| d.values[s[6] as usize][5])
        });
        rows.max().unwrap_or(self.tokens)
    }

    /// Gives the values that cross sections a place: HBM.
    fn tiers(&self, k: usize, parts: &mut Parts) {
        let draft = &self.programs[k];
        let first = parts[2][k][6] as usize;
        let section_of = |s: usize| draft.cuts.iter().rposition(|&cut| cut as usize <= s);
        for (i, s) in draft.statements.iter().enumerate() {
            let shown = (s[0] == op::SHOW).then_some(&s[1]);
            for &v in s[2..10].iter().filter(|&&v| v != NONE).chain(shown) {
                let value = &mut parts[4][first + v as usize];
                if value[2] == role::BOUND && section_of(value[11] as usize) != section_of(i) && value[10] == NONE {
                    value[10] = 1;
                }
            }
        }
    }

    fn lower(&self, k: usize, parts: &mut Parts) {
        self.tiers(k, parts);
        let words = lay(parts, 60);
        let mut ledger = Ledger::new();
        let frame = frame::frame(&words, &mut ledger).expect("the frame of a draft");
        let draft = &self.programs[k];
        let mut values = [Value::NOTHING; MAX_VALUES];
        let p = Program::new(&frame, &frame.programs[k], At(2, k as u32), &mut values, &mut ledger);
        assert!(ledger.faults.iter().all(Option::is_none), "{:?}", ledger.faults);
        let first_section = frame.programs[k][10];
        let section_of = |s: usize| draft.cuts.iter().rposition(|&cut| cut as usize <= s).unwrap();
        // What each section's statements read from outside.
        let mut outside = vec![vec![]; draft.cuts.len()];
        let mut stages: Vec<Vec<Stage>> = draft.cuts.iter().map(|_| vec![]).collect();
        for i in 0..draft.statements.len() {
            let st = Statement::read(&p, i);
            if st.op == op::INPUT {
                continue;
            }
            let c = section_of(i);
            let s = opened(&p, first_section + c as u32, &mut ledger);
            let b = draft.group_rows < draft.rows || st.op == op::MATMUL && i % 2 == 0;
            let (mut part, end) = parts::range(st.op);
            while part < end {
                let mut e = Expected::new();
                parts::expect(&mut e, &p, &s, &st, part, b);
                if e.primitive != NONE {
                    for port in &e.ports[..e.count] {
                        let home = if port.value == NONE { continue } else { p.values[port.value as usize].statement };
                        let input = draft.statements[home as usize][0] == op::INPUT;
                        if (input || section_of(home as usize) != c) && !outside[c].contains(&port.value) {
                            outside[c].push(port.value);
                        }
                    }
                    stages[c].push(drafted(i as u32, part, e));
                }
                part += 1;
            }
        }
        for c in 0..draft.cuts.len() {
            let s = opened(&p, first_section + c as u32, &mut ledger);
            for &v in &outside[c] {
                let home = p.values[v as usize].statement;
                let input = draft.statements[home as usize][0] == op::INPUT;
                stages[c].push(drafted(
                    home,
                    if input { 0 } else { parts::RELOAD },
                    made(|e| parts::reload(e, &p, &s, v)),
                ));
                let from = section_of(home as usize);
                if !input && !stages[from].iter().any(|g| g.statement == home && g.part == parts::SPILL) {
                    let s = opened(&p, first_section + from as u32, &mut ledger);
                    stages[from].push(drafted(home, parts::SPILL, made(|e| parts::spill(e, &p, &s, v))));
                }
            }
        }
        let mut rows = vec![];
        for (c, stages) in stages.iter_mut().enumerate() {
            let s = opened(&p, first_section + c as u32, &mut ledger);
            stages.sort_by_key(|g| (g.statement, g.part));
            rows.push(schedule(&p, &s, stages));
        }
        for (c, (stages, edges, turns, interval, span)) in rows.into_iter().enumerate() {
            let at = [parts[6].len() as u32, parts[7].len() as u32, parts[8].len() as u32];
            let counts = [stages.len() as u32, edges.len() as u32, turns.len() as u32];
            let row = &mut parts[3][first_section as usize + c];
            for n in 0..3 {
                row[3 + 2 * n] = at[n];
                row[4 + 2 * n] = counts[n];
            }
            wide(row, 9, interval);
            wide(row, 11, span);
            parts[6].extend(stages);
            parts[7].extend(edges);
            parts[8].extend(turns);
        }
    }
}

fn made(fill: impl FnOnce(&mut Expected)) -> Expected {
    let mut e = Expected::new();
    fill(&mut e);
    e
}

fn drafted(statement: u32, part: u32, e: Expected) -> Stage {
    // Two cells over an axis that has units for them.
    let (na, nb) = (if e.a > 1 { 2 } else { 1 }, if e.b > 3 { 2 } else { 1 });
    Stage { statement, part, e, taken: 0, given: 0, ii: 0, period: 0, start: 0, site: 0, na, nb }
}

type Rows = (Vec<Row>, Vec<Row>, Vec<Row>, i128, i128);

fn schedule(p: &Program<'_>, s: &Section, stages: &mut [Stage]) -> Rows {
    let c = &p.frame.chip;
    let mut site = 0;
    for g in stages.iter_mut() {
        g.site = site;
        site += g.na * g.nb;
    }
    // Edges: from, to, port, p, q, groups, slot, value.
    let mut edges = vec![];
    for to in 0..stages.len() {
        let e = stages[to].e;
        for (n, port) in e.ports[..e.count].iter().enumerate() {
            let from = if port.value == NONE {
                stages.iter().position(|g| g.statement == stages[to].statement && g.part == port.part as u32).unwrap()
            } else {
                let home = p.values[port.value as usize].statement;
                let st = Statement::read(p, home as usize);
                let emitter = parts::emitter(p, &st);
                stages
                    .iter()
                    .position(|g| g.statement == home && (g.part == emitter || g.part == parts::RELOAD))
                    .unwrap()
            };
            let u = &stages[from].e;
            let whole = port.value != NONE && u.whole;
            let (q, groups) = match port.take {
                Take::Stream(k) if !whole => (k, 0),
                Take::HoldAll => (0, 1),
                Take::HoldIn(groups) => (0, groups),
                Take::Stream(_) | Take::Hold => (0, s.groups),
            };
            let tokens = if groups > 0 {
                0
            } else if port.value == NONE {
                1
            } else {
                u.emits
            };
            let slot = if u.primitive == primitive::LOAD {
                if groups == 0 { u.bytes } else { u.bytes * u.firings / groups }
            } else if port.value == NONE {
                port.slot
            } else {
                let x = &p.values[port.value as usize];
                let rows = if matches!(port.take, Take::HoldAll) { p.m } else { s.rows };
                program::bytes(x.storage, rows * if groups == 0 { x.tile } else { x.cols_l })
            };
            stages[to].taken = stages[to].taken.max(q * slot);
            stages[from].given = stages[from].given.max(tokens * slot);
            edges.push((from, to, n, tokens, q, groups, slot, port.value));
        }
    }
    let windowed = |g: &Stage| matches!(g.e.primitive, primitive::LOAD | primitive::GATHER) && g.e.tier != 0;
    let loads = stages.iter().filter(|g| windowed(g)).count() as i128;
    for g in stages.iter_mut() {
        let e = &g.e;
        let chips = p.frame.deployment.chips;
        g.ii = match e.primitive {
            primitive::LOAD | primitive::GATHER if e.tier != 0 => {
                ceil!(e.bytes * 65536 * (loads + 1), c.rate[e.tier as usize]).max(1)
            }
            primitive::LOAD | primitive::GATHER | primitive::STORE if e.tier == 0 => ceil!(e.bytes, 64 * 8),
            primitive::STORE => ceil!(65536 * e.bytes, c.rate[e.tier as usize]),
            primitive::COLLECTIVE if e.adds => ceil!(65536 * 2 * e.bytes * (chips - 1), chips * c.link_rate),
            primitive::COLLECTIVE => ceil!(65536 * e.bytes * (chips - 1), c.link_rate),
            _ => {
                let (a, b) = (ceil!(e.a, g.na), ceil!(e.b, g.nb));
                let recurrence = match e.recurrence {
                    Recurrence::None => 0,
                    Recurrence::Softmax => 12,
                    Recurrence::Delta => 2 * a * b + 2 * (c.depth + c.tree * log2(g.nb) + if g.nb > 1 { 8 } else { 0 }),
                };
                (e.base * a * b).max(recurrence).max(ceil!(g.taken.max(g.given), 64 * g.na * g.nb))
            }
        }
        .max(1);
        g.period = g.ii;
    }
    let areas: Vec<_> = stages.iter().map(|g| place::area(c, g.site, g.na * g.nb)).collect();
    // An append waits for the last read of what it replaces; loads start at 0.
    for k in 0..stages.len() {
        let state = stages[k].e.state;
        if stages[k].e.primitive == primitive::STORE && state != NONE {
            let read = stages[..k].iter().filter(|g| g.e.state == state && g.statement != stages[k].statement);
            stages[k].start = read.map(|g| (g.e.firings - 1) * g.period + g.ii).max().unwrap_or(0);
        }
    }
    let mut rows = vec![];
    let mut address = 0;
    for &(from, to, n, tokens, q, groups, slot, value) in &edges {
        let (u, v) = (&stages[from], &stages[to]);
        let load = matches!(u.e.primitive, primitive::LOAD | primitive::GATHER);
        let own = if load {
            c.load_tail[u.e.tier as usize]
        } else if u.e.primitive == primitive::COLLECTIVE {
            c.link_tail
        } else {
            c.tail
        };
        let l = u.ii + c.tree * log2(u.nb) + own + place::hops!(c, areas[from], areas[to]);
        let (fu, fv) = (u.e.firings, v.e.firings);
        let mut start = v.start;
        let capacity;
        if groups > 0 {
            let (a, b) = (fu / groups, fv / groups);
            for g in [0, groups - 1] {
                start = start.max(u.start + ((g + 1) * a - 1) * u.period + l - g * b * v.period);
            }
            capacity = groups;
        } else {
            start = start.max(u.start + (fu - 1) * u.period + l - (fv - 1) * v.period);
            let g = if tokens == 1 || q == 1 {
                1
            } else {
                (1..=tokens.min(q)).rev().find(|g| tokens % g == 0 && q % g == 0).unwrap()
            };
            for j in [0, fv - 2] {
                if j >= 0 && fv >= 2 {
                    start = start.max(u.start + l + ceil!(u.period * ((j + 1) * q - g), tokens) - j * v.period);
                }
            }
            capacity = (tokens * fu).max(q);
        }
        stages[to].start = start;
        let mut row = [0; 16];
        row[..11].copy_from_slice(&[
            from as u32,
            to as u32,
            n as u32,
            u32::from(groups > 0),
            tokens as u32,
            q as u32,
            groups as u32,
            capacity as u32,
            slot as u32,
            address as u32,
            value,
        ]);
        rows.push(row);
        address = (address + capacity * slot + 63) / 64 * 64;
    }
    let end = stages.iter().map(|g| g.start + (g.e.firings - 1) * g.period + g.ii).max().unwrap();
    let busy = stages.iter().map(|g| g.e.firings * g.period).max().unwrap();
    let span = end - stages.iter().map(|g| g.start).min().unwrap();
    // Long enough for every buffer of an iteration to be free again, for the loop, and for stores beside the loads.
    let interval = 2 * (end.max(busy) + 4096);
    let mut turns = vec![];
    let mut turn_of = [NONE; 3];
    for tier in [1, 2] {
        let of_tier = stages.iter().filter(|g| windowed(g) && g.e.tier == tier);
        let length = of_tier.map(|g| g.start + g.e.firings * g.period).max();
        if let Some(length) = length {
            turn_of[tier as usize] = turns.len() as u32;
            let mut row = [0; 16];
            row[0] = tier;
            wide(&mut row, 4, length);
            turns.push(row);
        }
    }
    let out = stages
        .iter()
        .map(|g| {
            let mut row = [0; 16];
            let turn = if windowed(g) { turn_of[g.e.tier as usize] } else { NONE };
            row[..8].copy_from_slice(&[
                g.statement,
                g.part,
                g.e.primitive,
                g.e.firings as u32,
                g.na as u32,
                g.nb as u32,
                g.site as u32,
                turn,
            ]);
            wide(&mut row, 8, g.start);
            wide(&mut row, 10, g.period);
            wide(&mut row, 12, g.ii);
            wide(&mut row, 14, g.e.bytes);
            row
        })
        .collect();
    (out, rows, turns, interval, span)
}
