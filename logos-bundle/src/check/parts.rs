//! What a statement decomposes into (RULES.md section 3): for each part of each operation the stage it must be, worked
//! out from the statement and its values alone.

use super::program::{Program, Statement, bytes, ceil};
use super::section::Section;
use crate::table::layout::{NONE, op, part, primitive};

/// How a port takes tokens.
#[derive(Clone, Copy)]
pub(super) enum Take {
    /// So many a firing, as a stream.
    Stream(i128),
    /// A whole group, held.
    Hold,
    /// The whole value, held for all groups.
    HoldAll,
}

/// A port a stage must have.
#[derive(Clone, Copy)]
pub(super) struct Port {
    /// The value read, or [`NONE`] for a part of the same statement.
    pub(super) value: u32,
    /// That part.
    pub(super) part: usize,
    pub(super) take: Take,
    /// Slot bytes from a part that is no load; the others' follow from load or value.
    pub(super) slot: i128,
}

/// What may recur inside a stage.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Recurrence {
    None,
    Softmax,
    Delta,
}

/// A stage a statement must have.
#[derive(Clone, Copy)]
pub(super) struct Expected {
    pub(super) primitive: u32,
    pub(super) firings: i128,
    pub(super) a: i128,
    pub(super) b: i128,
    pub(super) base: i128,
    pub(super) recurrence: Recurrence,
    /// Token bytes and tier of what touches a memory or a link.
    pub(super) bytes: i128,
    pub(super) tier: u32,
    /// Whether the statement's result leaves whole, group by group; else so many tokens a firing.
    pub(super) whole: bool,
    pub(super) emits: i128,
    /// Whether a collective adds up what it passes on.
    pub(super) adds: bool,
    /// The state a load or store carries.
    pub(super) state: u32,
    pub(super) ports: [Port; 6],
    pub(super) count: usize,
}

const fn stage(primitive: u32, firings: i128) -> Expected {
    let port = Port { value: NONE, part: 0, take: Take::Hold, slot: 0 };
    Expected {
        primitive,
        firings,
        a: 1,
        b: 1,
        base: 1,
        recurrence: Recurrence::None,
        bytes: 0,
        tier: NONE,
        whole: false,
        emits: 1,
        adds: false,
        state: NONE,
        ports: [port; 6],
        count: 0,
    }
}

/// A stage that moves tokens of so many bytes.
const fn moves(primitive: u32, firings: i128, bytes: i128, tier: u32) -> Expected {
    let mut e = stage(primitive, firings);
    e.bytes = bytes;
    e.tier = tier;
    e
}

/// A load of a declared value: tokens of so many of its elements.
const fn load(p: &Program<'_>, v: u32, firings: i128, elements: i128) -> Expected {
    let v = &p.values[v as usize];
    moves(primitive::LOAD, firings, bytes(v.storage, elements), v.tier)
}

/// An elementwise stage: `n` elements of so many operations a firing.
const fn lanes(p: &Program<'_>, primitive: u32, firings: i128, n: i128, ops: i128) -> Expected {
    let mut e = stage(primitive, firings);
    e.a = ceil(n, p.frame.chip.lanes);
    e.base = ceil(ops, p.frame.chip.chain);
    e
}

impl Expected {
    const fn port(&mut self, value: u32, part: usize, take: Take, slot: i128) {
        self.ports[self.count] = Port { value, part, take, slot };
        self.count += 1;
    }

    const fn reads(&mut self, value: u32, take: Take) {
        self.port(value, 0, take, 0);
    }

    /// A port from a part of the statement that loads.
    const fn loads(&mut self, part: usize, take: Take) {
        self.port(NONE, part, take, 0);
    }

    const fn blank() -> Expected {
        stage(NONE, 0)
    }
}

/// Most parts of an operation.
pub(super) const MOST: usize = 10;

/// First part, and one past the last.
pub(super) const fn range(code: u32) -> (u32, u32) {
    match code {
        op::INPUT | op::SHOW | op::APPEND | op::ROWS | op::LAST_ROW | op::SUM_CHIPS | op::GATHER_CHIPS => (0, 1),
        op::MATMUL | op::PLUS | op::TIMES => (0, 2),
        op::DECAY | op::ARGMAX | op::ROPE | op::DELTA => (0, 3),
        op::RMSNORM | op::LAYERNORM | op::CONV => (0, 4),
        op::ATTENTION => (0, 6),
        op::L2NORM => (3, 4),
        _ => (1, 2),
    }
}

/// The part whose stage emits the statement's result.
pub(super) const fn emitter(p: &Program<'_>, st: &Statement) -> u32 {
    match st.op {
        op::INPUT | op::ROWS | op::LAST_ROW | op::SUM_CHIPS | op::GATHER_CHIPS => 0,
        op::DECAY | op::ROPE | op::CONV => 2,
        op::RMSNORM | op::LAYERNORM | op::L2NORM => 3,
        op::ATTENTION => 5,
        op::ARGMAX if p.values[st.x[0] as usize].parts == 1 => 0,
        op::ARGMAX => 2,
        _ => 1,
    }
}

/// Stores the value for a reader in another section.
pub(super) const fn spill(p: &Program<'_>, s: &Section, v: u32) -> Expected {
    store_value(p, s, v, p.values[v as usize].storage, p.values[v as usize].tier)
}

/// Loads a value an earlier section stored, or an input.
pub(super) const fn reload(p: &Program<'_>, s: &Section, v: u32) -> Expected {
    let x = &p.values[v as usize];
    load(p, v, x.tiles * s.groups, s.rows * x.tile)
}

const fn store_value(p: &Program<'_>, s: &Section, v: u32, storage: u32, tier: u32) -> Expected {
    let x = &p.values[v as usize];
    let mut e = moves(primitive::STORE, x.tiles * s.groups, bytes(storage, s.rows * x.tile), tier);
    e.reads(v, Take::Stream(1));
    e
}

/// A weight or state that a stage of `I = 1` takes as it comes, and one of more groups holds for all of them.
const fn once(s: &Section) -> Take {
    if s.groups == 1 { Take::Stream(1) } else { Take::HoldAll }
}

/// The stage a part must be; [`Expected::primitive`] is [`NONE`] if the statement has no such part.
pub(super) const fn expect(p: &Program<'_>, s: &Section, st: &Statement, part: u32, product_b: bool) -> Expected {
    let (i, r, result) = (s.groups, s.rows, &p.values[st.result]);
    let [x0, x1, ..] = st.x;
    if st.op == op::SHOW {
        return spill(p, s, st.result as u32);
    }
    let x = &p.values[x0 as usize];
    match st.op {
        op::APPEND => {
            let mut e = store_value(p, s, x0, result.storage, result.tier);
            e.state = st.result as u32;
            e
        }
        op::MATMUL => matmul(p, s, st, part, product_b),
        op::PLUS | op::TIMES => {
            let weight = p.values[x1 as usize].role == super::program::role::WEIGHT;
            if part == 0 {
                return if weight { load(p, x1, x.tiles, x.tile) } else { Expected::blank() };
            }
            let mut e = map(p, s, x0, 1);
            if weight {
                e.loads(0, once(s));
            } else {
                e.reads(x1, Take::Stream(1));
            }
            e
        }
        op::SCALED => map(p, s, x0, 1),
        op::SILU => map(p, s, x0, 4),
        op::GELU => map(p, s, x0, 8),
        op::SIGMOID | op::TANH => map(p, s, x0, 3),
        op::SOFTCAP => map(p, s, x0, 5),
        op::SWIGLU | op::GEGLU => {
            let mut e = map(p, s, x0, if st.op == op::SWIGLU { 5 } else { 9 });
            e.reads(x1, Take::Stream(1));
            e
        }
        op::DECAY => {
            if part < 2 {
                return load(p, st.x[1 + part as usize], x.tiles, x.tile);
            }
            let mut e = map(p, s, x0, 8);
            e.loads(0, once(s));
            e.loads(1, once(s));
            e
        }
        op::RMSNORM if st.a[2] == 0 => row_norm(p, s, st, part),
        op::LAYERNORM if st.a[1] == 0 => row_norm(p, s, st, part),
        op::RMSNORM => head_norm(p, s, st, part, st.a[2]),
        op::LAYERNORM => head_norm(p, s, st, part, st.a[1]),
        op::L2NORM => head_wise(p, s, x0, st.a[2], primitive::REDUCE, 5),
        op::ROPE => {
            if part < 2 {
                let table = st.x[1 + part as usize];
                return load(p, table, i, r * p.values[table as usize].cols);
            }
            let mut e = head_wise(p, s, x0, st.a[0], primitive::MAP, 4);
            e.loads(0, Take::Hold);
            e.loads(1, Take::Hold);
            e
        }
        op::ATTENTION => attention(p, st, part),
        op::CONV => conv(p, s, st, part),
        op::DELTA => delta(p, s, st, part),
        op::ROWS => moves(primitive::GATHER, result.tiles * i, bytes(x.storage, r * result.tile), x.tier),
        op::LAST_ROW => load(p, x0, result.tiles * i, r * result.tile),
        op::ARGMAX => argmax(p, s, x0, part),
        _ => {
            let mut e = moves(primitive::COLLECTIVE, x.tiles * i, bytes(x.storage, r * x.tile), NONE);
            e.adds = st.op == op::SUM_CHIPS;
            e.reads(x0, Take::Stream(1));
            e
        }
    }
}

const fn map(p: &Program<'_>, s: &Section, v: u32, ops: i128) -> Expected {
    let x = &p.values[v as usize];
    let mut e = lanes(p, primitive::MAP, x.tiles * s.groups, s.rows * x.tile, ops);
    e.reads(v, Take::Stream(1));
    e
}

const fn matmul(p: &Program<'_>, s: &Section, st: &Statement, part: u32, product_b: bool) -> Expected {
    let (x, w, out) = (&p.values[st.x[0] as usize], &p.values[st.x[1] as usize], &p.values[st.result]);
    let c = &p.frame.chip;
    if part == 0 {
        return if product_b {
            load(p, st.x[1], x.tiles, x.tile * w.cols_l)
        } else {
            load(p, st.x[1], out.tiles, w.rows_l * out.tile)
        };
    }
    let mut e = if product_b {
        let mut e = stage(primitive::GEMM_B, x.tiles * s.groups);
        (e.a, e.b, e.whole) = (ceil(w.cols_l, c.array_columns), x.tile, true);
        e.reads(st.x[0], Take::Stream(1));
        e
    } else {
        let mut e = stage(primitive::GEMM_A, out.tiles * s.groups);
        (e.a, e.b) = (ceil(out.tile, c.array_columns), w.rows_l);
        e.reads(st.x[0], Take::Hold);
        e
    };
    e.base = ceil(s.rows, c.array_rows);
    e.loads(0, once(s));
    e
}

const fn row_norm(p: &Program<'_>, s: &Section, st: &Statement, part: u32) -> Expected {
    let x = &p.values[st.x[0] as usize];
    if part == 0 {
        let mut e = lanes(p, primitive::REDUCE, x.tiles * s.groups, s.rows * x.tile, 2);
        e.reads(st.x[0], Take::Stream(1));
        return e;
    }
    if part < 3 {
        let w = st.x[part as usize];
        return if w == NONE { Expected::blank() } else { load(p, w, x.tiles, x.tile) };
    }
    let mut e = map(p, s, st.x[0], 3);
    e.port(NONE, 0, Take::Hold, s.rows * 4);
    if st.x[1] != NONE {
        e.loads(1, once(s));
    }
    if st.x[2] != NONE {
        e.loads(2, once(s));
    }
    e
}

/// A stage that takes whole heads: so many tokens a firing, or a token of so many heads.
const fn head_wise(p: &Program<'_>, s: &Section, v: u32, heads: u32, primitive: u32, ops: i128) -> Expected {
    let x = &p.values[v as usize];
    let d = x.cols / heads as i128;
    let (k, w) = if d > x.tile { (d / x.tile, d) } else { (1, x.tile) };
    let mut e = lanes(p, primitive, s.groups * ceil(x.cols_l, w), s.rows * w, ops);
    e.emits = k;
    e.reads(v, Take::Stream(k));
    e
}

const fn head_norm(p: &Program<'_>, s: &Section, st: &Statement, part: u32, heads: u32) -> Expected {
    if part == 0 {
        return Expected::blank();
    }
    if part < 3 {
        let w = st.x[part as usize];
        return if w == NONE {
            Expected::blank()
        } else {
            load(p, w, 1, p.values[w as usize].rows * p.values[w as usize].cols)
        };
    }
    let mut e = head_wise(p, s, st.x[0], heads, primitive::REDUCE, 5);
    if st.x[1] != NONE {
        e.loads(1, Take::HoldAll);
    }
    if st.x[2] != NONE {
        e.loads(2, Take::HoldAll);
    }
    e
}

const fn attention(p: &Program<'_>, st: &Statement, part: u32) -> Expected {
    let [q, k, v, _, ck, cv, sinks, _] = st.x;
    let (x, y, z) = (&p.values[q as usize], &p.values[k as usize], &p.values[v as usize]);
    let c = &p.frame.chip;
    let (seqs, tile) = (p.frame.deployment.seqs, c.context_tile);
    let cached = ck != NONE && cv != NONE;
    let depth = if cached { ceil(p.values[ck as usize].rows, tile) } else { 0 };
    let firings = seqs * (depth + ceil(p.tok, tile));
    // Local heads, and columns of a query or key head and of a value head.
    let (hq, hk) = (st.a[0] as i128 / x.parts, st.a[1] as i128 / y.parts);
    let (d, dv) = (x.cols_l / hq, z.cols_l / hk);
    let rows = hk * ceil(p.tok * (hq / hk), c.array_rows);
    let scores = hq * p.tok * tile;
    match part {
        0 | 1 => {
            if !cached {
                return Expected::blank();
            }
            let state = if part == 0 { ck } else { cv };
            let mut e = load(p, state, firings, tile * p.values[state as usize].cols_l);
            e.state = state;
            e
        }
        2 if sinks == NONE => Expected::blank(),
        2 => load(p, sinks, 1, p.values[sinks as usize].cols_l),
        3 => {
            let mut e = stage(primitive::SCORES, firings);
            (e.a, e.b, e.base) = (ceil(tile, c.array_columns), d, rows);
            e.reads(q, Take::HoldAll);
            e.reads(k, Take::HoldAll);
            if cached {
                e.loads(0, Take::Stream(1));
            }
            e
        }
        4 => {
            let mut e = lanes(p, primitive::SOFTMAX, firings, scores, 8);
            e.recurrence = Recurrence::Softmax;
            e.port(NONE, 3, Take::Stream(1), scores * 4);
            if sinks != NONE {
                e.loads(2, Take::HoldAll);
            }
            e
        }
        _ => {
            let mut e = stage(primitive::VALUES, firings);
            (e.a, e.b, e.base, e.whole) = (ceil(dv, c.array_columns), tile, rows, true);
            e.port(NONE, 4, Take::Stream(1), hq * p.tok * (bytes(x.storage, tile) + 4));
            e.reads(v, Take::HoldAll);
            if cached {
                e.loads(1, Take::Stream(1));
            }
            e
        }
    }
}

const fn conv(p: &Program<'_>, s: &Section, st: &Statement, part: u32) -> Expected {
    let [x, taps, carried, ..] = st.x;
    let v = &p.values[x as usize];
    let count = st.a[0] as i128;
    if part == 0 {
        return load(p, taps, v.tiles, count * v.tile);
    }
    if part == 2 {
        let mut e = map(p, s, x, 2 * count + if st.a[1] == 1 { 4 } else { 0 });
        e.loads(0, once(s));
        if carried != NONE {
            e.loads(1, once(s));
        }
        return e;
    }
    if carried == NONE {
        return Expected::blank();
    }
    let c = &p.values[carried as usize];
    let rows = p.frame.deployment.seqs * c.rows;
    let mut e = if part == 1 {
        load(p, carried, v.tiles, rows * v.tile)
    } else if s.groups == 1 {
        moves(primitive::STORE, v.tiles, bytes(c.storage, rows * v.tile), c.tier)
    } else {
        moves(primitive::STORE, 1, bytes(c.storage, rows * c.cols_l), c.tier)
    };
    e.state = carried;
    if part == 3 {
        e.port(NONE, 2, once(s), e.bytes);
    }
    e
}

const fn delta(p: &Program<'_>, s: &Section, st: &Statement, part: u32) -> Expected {
    let [q, k, v, g, beta, state, ..] = st.x;
    let (x, z) = (&p.values[q as usize], &p.values[v as usize]);
    let (firings, step) = (s.rows * s.groups, p.tok == 1);
    if part == 1 {
        // The local columns of v are its local heads times the columns of one: what the lanes are given.
        let mut e = lanes(p, primitive::SCAN, firings, z.cols_l, 1);
        (e.b, e.base, e.whole) = (x.cols_l / (st.a[1] as i128 / x.parts), 2, true);
        e.recurrence = if step { Recurrence::None } else { Recurrence::Delta };
        e.reads(q, Take::Hold);
        e.reads(k, Take::Hold);
        e.reads(v, Take::Hold);
        e.reads(g, Take::Hold);
        e.reads(beta, Take::Hold);
        if state != NONE {
            e.loads(0, if step { Take::Stream(1) } else { Take::HoldAll });
        }
        return e;
    }
    if state == NONE {
        return Expected::blank();
    }
    let m = &p.values[state as usize];
    let one = m.rows_l * m.cols_l;
    let (firings, elements) = if step { (firings, one) } else { (1, p.frame.deployment.seqs * one) };
    let code = if part == 0 { primitive::LOAD } else { primitive::STORE };
    let mut e = moves(code, firings, bytes(m.storage, elements), m.tier);
    e.state = state;
    if part == 2 {
        e.port(NONE, 1, if step { Take::Stream(1) } else { Take::HoldAll }, e.bytes);
    }
    e
}

const fn argmax(p: &Program<'_>, s: &Section, v: u32, part: u32) -> Expected {
    let x = &p.values[v as usize];
    let split = x.parts > 1;
    let pair = s.rows * 8;
    if part == 0 {
        let mut e = lanes(p, primitive::REDUCE, x.tiles * s.groups, s.rows * x.tile, 2);
        e.reads(v, Take::Stream(1));
        e.whole = !split;
        return e;
    }
    if !split {
        return Expected::blank();
    }
    if part == 1 {
        let mut e = moves(primitive::COLLECTIVE, s.groups, pair, NONE);
        e.port(NONE, 0, Take::Hold, pair);
        return e;
    }
    let chips = p.frame.deployment.chips;
    let mut e = lanes(p, primitive::REDUCE, s.groups, s.rows * chips, 2);
    e.port(NONE, 1, Take::Hold, pair * chips);
    e.whole = true;
    e
}

/// Parts that stand outside an operation's own decomposition.
pub(super) const SPILL: u32 = part::SPILL;
/// See [`SPILL`].
pub(super) const RELOAD: u32 = part::RELOAD;
