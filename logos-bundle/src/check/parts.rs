//! What a statement decomposes into (RULES.md section 3): for each part of each operation the stage it must be, worked
//! out from the statement and its values alone.

use super::experts;
use super::program::{Program, Statement, bytes, ceil, role};
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
    /// Held in so many groups of the stage's own.
    HoldIn(i128),
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

/// Starts a stage over.
pub(super) const fn stage(e: &mut Expected, primitive: u32, firings: i128) {
    e.primitive = primitive;
    e.firings = firings;
    e.a = 1;
    e.b = 1;
    e.base = 1;
    e.recurrence = Recurrence::None;
    e.bytes = 0;
    e.tier = NONE;
    e.whole = false;
    e.emits = 1;
    e.adds = false;
    e.state = NONE;
    e.count = 0;
}

/// A stage that moves tokens of so many bytes.
pub(super) const fn moves(e: &mut Expected, primitive: u32, firings: i128, bytes: i128, tier: u32) {
    stage(e, primitive, firings);
    e.bytes = bytes;
    e.tier = tier;
}

/// A load of a declared value: tokens of so many of its elements.
pub(super) const fn load(e: &mut Expected, p: &Program<'_>, v: u32, firings: i128, elements: i128) {
    let v = &p.values[v as usize];
    moves(e, primitive::LOAD, firings, bytes(v.storage, elements), v.tier);
}

/// An elementwise stage: `n` elements of so many operations a firing.
pub(super) const fn lanes(e: &mut Expected, p: &Program<'_>, primitive: u32, firings: i128, n: i128, ops: i128) {
    let c = &p.frame.chip;
    stage(e, primitive, firings);
    e.a = ceil(n, c.lanes);
    e.base = if ops <= c.chain { 1 } else { ceil(ops, c.chain) };
}

impl Expected {
    pub(super) const fn port(&mut self, value: u32, part: usize, take: Take, slot: i128) {
        self.ports[self.count] = Port { value, part, take, slot };
        self.count += 1;
    }

    pub(super) const fn reads(&mut self, value: u32, take: Take) {
        self.port(value, 0, take, 0);
    }

    /// A port from a part of the statement that loads.
    pub(super) const fn loads(&mut self, part: usize, take: Take) {
        self.port(NONE, part, take, 0);
    }

    /// No stage yet: what [`expect`] and its like are given to fill.
    pub(super) const fn new() -> Expected {
        let port = Port { value: NONE, part: 0, take: Take::Hold, slot: 0 };
        Expected {
            primitive: NONE,
            firings: 1,
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

    /// The statement has no such part.
    pub(super) const fn none(&mut self) {
        self.primitive = NONE;
    }
}

/// Most parts of an operation.
pub(super) const MOST: usize = 10;

/// First part, and one past the last.
pub(super) const fn range(code: u32) -> (u32, u32) {
    match code {
        op::INPUT | op::SHOW | op::APPEND | op::ROWS | op::LAST_ROW | op::SUM_CHIPS | op::GATHER_CHIPS => (0, 1),
        op::MATMUL | op::PLUS | op::TIMES | op::ROUTER | op::ROW_SCALE | op::HEAD_MATMUL => (0, 2),
        op::DECAY | op::ARGMAX | op::ROPE | op::DELTA => (0, 3),
        op::RMSNORM | op::LAYERNORM | op::CONV => (0, 4),
        op::ATTENTION | op::LATENT_ATTENTION => (0, 6),
        op::EXPERTS => (0, 10),
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
        op::ATTENTION | op::LATENT_ATTENTION => 5,
        op::EXPERTS => 9,
        op::ARGMAX if p.values[st.x[0] as usize].parts == 1 => 0,
        op::ARGMAX => 2,
        _ => 1,
    }
}

/// Stores the value for a reader in another section.
pub(super) const fn spill(e: &mut Expected, p: &Program<'_>, s: &Section, v: u32) {
    let x = &p.values[v as usize];
    store_value(e, p, s, v, x.storage, x.tier);
}

/// Loads a value an earlier section stored, or an input.
pub(super) const fn reload(e: &mut Expected, p: &Program<'_>, s: &Section, v: u32) {
    let x = &p.values[v as usize];
    load(e, p, v, x.tiles * s.groups, s.rows * x.tile);
}

const fn store_value(e: &mut Expected, p: &Program<'_>, s: &Section, v: u32, storage: u32, tier: u32) {
    let x = &p.values[v as usize];
    moves(e, primitive::STORE, x.tiles * s.groups, bytes(storage, s.rows * x.tile), tier);
    e.reads(v, Take::Stream(1));
}

/// A weight or state that a stage of `I = 1` takes as it comes, and one of more groups holds for all of them.
const fn once(s: &Section) -> Take {
    if s.groups == 1 { Take::Stream(1) } else { Take::HoldAll }
}

/// Fills in the stage a part must be; [`Expected::primitive`] is [`NONE`] if the statement has no such part.
pub(super) const fn expect(e: &mut Expected, p: &Program<'_>, s: &Section, st: &Statement, part: u32, product_b: bool) {
    let x0 = st.x[0];
    match st.op {
        op::SHOW => spill(e, p, s, st.result as u32),
        op::APPEND => {
            let state = &p.values[st.result];
            store_value(e, p, s, x0, state.storage, state.tier);
            e.state = st.result as u32;
        }
        op::MATMUL => matmul(e, p, s, st, part, product_b),
        op::PLUS | op::TIMES => pair(e, p, s, st, part),
        op::SCALED => map(e, p, s, x0, 1),
        op::SILU => map(e, p, s, x0, 4),
        op::GELU => map(e, p, s, x0, 8),
        op::SIGMOID | op::TANH => map(e, p, s, x0, 3),
        op::SOFTCAP => map(e, p, s, x0, 5),
        op::SWIGLU | op::GEGLU => {
            map(e, p, s, x0, if st.op == op::SWIGLU { 5 } else { 9 });
            e.reads(st.x[1], Take::Stream(1));
        }
        op::DECAY => {
            if part < 2 {
                let x = &p.values[x0 as usize];
                return load(e, p, st.x[1 + part as usize], x.tiles, x.tile);
            }
            map(e, p, s, x0, 8);
            e.loads(0, once(s));
            e.loads(1, once(s));
        }
        op::RMSNORM if st.a[2] == 0 => row_norm(e, p, s, st, part),
        op::LAYERNORM if st.a[1] == 0 => row_norm(e, p, s, st, part),
        op::RMSNORM => head_norm(e, p, s, st, part, st.a[2]),
        op::LAYERNORM => head_norm(e, p, s, st, part, st.a[1]),
        op::L2NORM => head_wise(e, p, s, x0, st.a[2], primitive::REDUCE, 5),
        op::ROPE => {
            if part < 2 {
                let table = st.x[1 + part as usize];
                return load(e, p, table, s.groups, s.rows * p.values[table as usize].cols);
            }
            head_wise(e, p, s, x0, st.a[0], primitive::MAP, 4);
            e.loads(0, Take::Hold);
            e.loads(1, Take::Hold);
        }
        op::ROUTER => experts::router_part(e, p, s, st, part),
        op::EXPERTS => experts::experts_part(e, p, s, st, part),
        op::ATTENTION => attention(e, p, st, part),
        op::CONV => conv(e, p, s, st, part),
        op::DELTA => delta(e, p, s, st, part),
        op::ROWS => {
            let x = &p.values[x0 as usize];
            let r = &p.values[st.result];
            moves(e, primitive::GATHER, r.tiles * s.groups, bytes(x.storage, s.rows * r.tile), x.tier);
        }
        op::LAST_ROW => {
            let r = &p.values[st.result];
            load(e, p, x0, r.tiles * s.groups, s.rows * r.tile);
        }
        op::ARGMAX => argmax(e, p, s, x0, part),
        op::ROW_SCALE => row_scale(e, p, s, st, part),
        op::HEAD_MATMUL => head_matmul(e, p, s, st, part),
        op::LATENT_ATTENTION => latent_attention(e, p, st, part),
        _ => {
            let x = &p.values[x0 as usize];
            moves(e, primitive::COLLECTIVE, x.tiles * s.groups, bytes(x.storage, s.rows * x.tile), NONE);
            e.adds = st.op == op::SUM_CHIPS;
            e.reads(x0, Take::Stream(1));
        }
    }
}

const fn map(e: &mut Expected, p: &Program<'_>, s: &Section, v: u32, ops: i128) {
    let x = &p.values[v as usize];
    lanes(e, p, primitive::MAP, x.tiles * s.groups, s.rows * x.tile, ops);
    e.reads(v, Take::Stream(1));
}

/// Sum or product of two values, or of a value and a one-row weight.
const fn pair(e: &mut Expected, p: &Program<'_>, s: &Section, st: &Statement, part: u32) {
    let (a, b) = (st.x[0], st.x[1]);
    let weight = p.values[b as usize].role == role::WEIGHT;
    if part == 0 {
        let x = &p.values[a as usize];
        return if weight { load(e, p, b, x.tiles, x.tile) } else { e.none() };
    }
    map(e, p, s, a, 1);
    if weight {
        e.loads(0, once(s));
    } else {
        e.reads(b, Take::Stream(1));
    }
}

const fn matmul(e: &mut Expected, p: &Program<'_>, s: &Section, st: &Statement, part: u32, product_b: bool) {
    let x = &p.values[st.x[0] as usize];
    let w = &p.values[st.x[1] as usize];
    let out = &p.values[st.result];
    let c = &p.frame.chip;
    if part == 0 {
        return if product_b {
            load(e, p, st.x[1], x.tiles, x.tile * w.cols_l)
        } else {
            load(e, p, st.x[1], out.tiles, w.rows_l * out.tile)
        };
    }
    if product_b {
        stage(e, primitive::GEMM_B, x.tiles * s.groups);
        e.a = ceil(w.cols_l, c.array_columns);
        e.b = x.tile;
        e.whole = true;
        e.reads(st.x[0], Take::Stream(1));
    } else {
        stage(e, primitive::GEMM_A, out.tiles * s.groups);
        e.a = ceil(out.tile, c.array_columns);
        e.b = w.rows_l;
        e.reads(st.x[0], Take::Hold);
    }
    e.base = ceil(s.rows, c.array_rows);
    e.loads(0, once(s));
}

const fn row_norm(e: &mut Expected, p: &Program<'_>, s: &Section, st: &Statement, part: u32) {
    let x = &p.values[st.x[0] as usize];
    if part == 0 {
        lanes(e, p, primitive::REDUCE, x.tiles * s.groups, s.rows * x.tile, 2);
        return e.reads(st.x[0], Take::Stream(1));
    }
    if part < 3 {
        let w = st.x[part as usize];
        return if w == NONE { e.none() } else { load(e, p, w, x.tiles, x.tile) };
    }
    map(e, p, s, st.x[0], 3);
    e.port(NONE, 0, Take::Hold, s.rows * 4);
    if st.x[1] != NONE {
        e.loads(1, once(s));
    }
    if st.x[2] != NONE {
        e.loads(2, once(s));
    }
}

/// A stage that takes whole heads: so many tokens a firing, or a token of so many heads.
const fn head_wise(e: &mut Expected, p: &Program<'_>, s: &Section, v: u32, heads: u32, primitive: u32, ops: i128) {
    let x = &p.values[v as usize];
    let d = x.cols / heads as i128;
    let k = if d > x.tile { d / x.tile } else { 1 };
    let w = if d > x.tile { d } else { x.tile };
    lanes(e, p, primitive, s.groups * ceil(x.cols_l, w), s.rows * w, ops);
    e.emits = k;
    e.reads(v, Take::Stream(k));
}

const fn head_norm(e: &mut Expected, p: &Program<'_>, s: &Section, st: &Statement, part: u32, heads: u32) {
    if part == 0 {
        return e.none();
    }
    if part < 3 {
        let w = st.x[part as usize];
        return if w == NONE {
            e.none()
        } else {
            load(e, p, w, 1, p.values[w as usize].rows_l * p.values[w as usize].cols_l)
        };
    }
    head_wise(e, p, s, st.x[0], heads, primitive::REDUCE, 5);
    if st.x[1] != NONE {
        e.loads(1, Take::HoldAll);
    }
    if st.x[2] != NONE {
        e.loads(2, Take::HoldAll);
    }
}

const fn attention(e: &mut Expected, p: &Program<'_>, st: &Statement, part: u32) {
    let [q, k, v, _, ck, cv, sinks, _] = st.x;
    let (x, y, z) = (&p.values[q as usize], &p.values[k as usize], &p.values[v as usize]);
    let c = &p.frame.chip;
    let tile = c.context_tile;
    let cached = ck != NONE && cv != NONE;
    let firings = context(p, ck);
    // Local heads, and columns of a query or key head and of a value head.
    let (hq, hk) = (st.a[0] as i128 / x.parts, st.a[1] as i128 / y.parts);
    let (d, dv) = (x.cols_l / hq, z.cols_l / hk);
    let rows = hk * ceil(p.tok * (hq / hk), c.array_rows);
    let scores = hq * p.tok * tile;
    match part {
        0 | 1 => {
            if !cached {
                return e.none();
            }
            let state = if part == 0 { ck } else { cv };
            load(e, p, state, firings, tile * p.values[state as usize].cols_l);
            e.state = state;
        }
        2 if sinks == NONE => e.none(),
        2 => load(e, p, sinks, 1, p.values[sinks as usize].cols_l),
        3 => {
            stage(e, primitive::SCORES, firings);
            (e.a, e.b, e.base) = (ceil(tile, c.array_columns), d, rows);
            e.reads(q, Take::HoldAll);
            e.reads(k, Take::HoldAll);
            if cached {
                e.loads(0, Take::Stream(1));
            }
        }
        4 => {
            softmax(e, p, firings, scores);
            if sinks != NONE {
                e.loads(2, Take::HoldAll);
            }
        }
        _ => {
            stage(e, primitive::VALUES, firings);
            (e.a, e.b, e.base, e.whole) = (ceil(dv, c.array_columns), tile, rows, true);
            e.port(NONE, 4, Take::Stream(1), hq * p.tok * (bytes(x.storage, tile) + 4));
            e.reads(v, Take::HoldAll);
            if cached {
                e.loads(1, Take::Stream(1));
            }
        }
    }
}

/// Tiles of context of all sequences: those of the cache, then the fresh rows.
const fn context(p: &Program<'_>, cache: u32) -> i128 {
    let tile = p.frame.chip.context_tile;
    let cached = if cache == NONE { 0 } else { ceil(p.values[cache as usize].rows, tile) };
    p.frame.deployment.seqs * (cached + ceil(p.tok, tile))
}

/// Softmax of so many scores a firing.
const fn softmax(e: &mut Expected, p: &Program<'_>, firings: i128, scores: i128) {
    lanes(e, p, primitive::SOFTMAX, firings, scores, 8);
    e.recurrence = Recurrence::Softmax;
    e.port(NONE, 3, Take::Stream(1), scores * 4);
}

/// Every head of the queries reads the one latent, which is key and value.
const fn latent_attention(e: &mut Expected, p: &Program<'_>, st: &Statement, part: u32) {
    let [q, qp, c, turned, _, cc, cp, _] = st.x;
    let x = &p.values[q as usize];
    let unit = &p.frame.chip;
    let tile = unit.context_tile;
    let cached = cc != NONE && cp != NONE;
    let firings = context(p, cc);
    let latent = p.values[c as usize].cols;
    let rotary = p.values[turned as usize].cols;
    let queries = p.tok * (x.cols_l / latent);
    let rows = ceil(queries, unit.array_rows);
    match part {
        0 | 1 if cached => {
            let state = if part == 0 { cc } else { cp };
            load(e, p, state, firings, tile * p.values[state as usize].cols);
            e.state = state;
        }
        0..=2 => e.none(),
        3 => {
            stage(e, primitive::SCORES, firings);
            (e.a, e.b, e.base) = (ceil(tile, unit.array_columns), latent + rotary, rows);
            e.reads(q, Take::HoldAll);
            e.reads(qp, Take::HoldAll);
            e.reads(c, Take::HoldAll);
            e.reads(turned, Take::HoldAll);
            if cached {
                e.loads(0, Take::Stream(1));
                e.loads(1, Take::Stream(1));
            }
        }
        4 => softmax(e, p, firings, queries * tile),
        _ => {
            stage(e, primitive::VALUES, firings);
            (e.a, e.b, e.base, e.whole) = (ceil(latent, unit.array_columns), tile, rows, true);
            e.port(NONE, 4, Take::Stream(1), queries * (bytes(x.storage, tile) + 4));
            e.reads(c, Take::HoldAll);
            if cached {
                e.loads(0, Take::Stream(1));
            }
        }
    }
}

/// A product of each local head by its own block of the weight.
const fn head_matmul(e: &mut Expected, p: &Program<'_>, s: &Section, st: &Statement, part: u32) {
    let x = &p.values[st.x[0] as usize];
    let r = &p.values[st.result];
    let heads = st.a[0] as i128;
    let (inner, width) = (x.cols / heads, r.cols / heads);
    let local = x.cols_l / inner;
    if part == 0 {
        return load(e, p, st.x[1], local, inner * width);
    }
    stage(e, primitive::GEMM_A, local * s.groups);
    e.a = ceil(width, p.frame.chip.array_columns);
    e.b = inner;
    e.base = ceil(s.rows, p.frame.chip.array_rows);
    e.emits = width / r.tile;
    e.reads(st.x[0], Take::Hold);
    e.loads(0, once(s));
}

/// Each row by its own factor: a value's, or a table's.
const fn row_scale(e: &mut Expected, p: &Program<'_>, s: &Section, st: &Statement, part: u32) {
    let g = st.x[1];
    let table = p.values[g as usize].role == role::TABLE;
    if part == 0 {
        return if table { load(e, p, g, s.groups, s.rows) } else { e.none() };
    }
    map(e, p, s, st.x[0], 1);
    if table {
        e.loads(0, Take::Hold);
    } else {
        e.reads(g, Take::Hold);
    }
}

const fn conv(e: &mut Expected, p: &Program<'_>, s: &Section, st: &Statement, part: u32) {
    let [x, taps, carried, ..] = st.x;
    let v = &p.values[x as usize];
    let count = st.a[0] as i128;
    if part == 0 {
        return load(e, p, taps, v.tiles, count * v.tile);
    }
    if part == 2 {
        map(e, p, s, x, 2 * count + if st.a[1] == 1 { 4 } else { 0 });
        e.loads(0, once(s));
        if carried != NONE {
            e.loads(1, once(s));
        }
        return;
    }
    if carried == NONE {
        return e.none();
    }
    let c = &p.values[carried as usize];
    let rows = p.frame.deployment.seqs * c.rows;
    if part == 1 {
        load(e, p, carried, v.tiles, rows * v.tile);
    } else if s.groups == 1 {
        moves(e, primitive::STORE, v.tiles, bytes(c.storage, rows * v.tile), c.tier);
        e.port(NONE, 2, Take::Stream(1), e.bytes);
    } else {
        moves(e, primitive::STORE, 1, bytes(c.storage, rows * c.cols_l), c.tier);
        e.port(NONE, 2, Take::HoldAll, e.bytes);
    }
    e.state = carried;
}

const fn delta(e: &mut Expected, p: &Program<'_>, s: &Section, st: &Statement, part: u32) {
    let [q, k, v, g, beta, state, ..] = st.x;
    let (x, z) = (&p.values[q as usize], &p.values[v as usize]);
    let (firings, step) = (s.rows * s.groups, p.tok == 1);
    if part == 1 {
        // The local columns of v are its local heads times the columns of one: what the lanes are given.
        lanes(e, p, primitive::SCAN, firings, z.cols_l, 1);
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
        return;
    }
    if state == NONE {
        return e.none();
    }
    let m = &p.values[state as usize];
    let one = m.rows_l * m.cols_l;
    let (firings, elements) = if step { (firings, one) } else { (1, p.frame.deployment.seqs * one) };
    let code = if part == 0 { primitive::LOAD } else { primitive::STORE };
    moves(e, code, firings, bytes(m.storage, elements), m.tier);
    e.state = state;
    if part == 2 {
        e.port(NONE, 1, if step { Take::Stream(1) } else { Take::HoldAll }, e.bytes);
    }
}

const fn argmax(e: &mut Expected, p: &Program<'_>, s: &Section, v: u32, part: u32) {
    let x = &p.values[v as usize];
    let split = x.parts > 1;
    let pair = s.rows * 8;
    if part == 0 {
        lanes(e, p, primitive::REDUCE, x.tiles * s.groups, s.rows * x.tile, 2);
        e.reads(v, Take::Stream(1));
        e.whole = !split;
    } else if !split {
        e.none();
    } else if part == 1 {
        moves(e, primitive::COLLECTIVE, s.groups, pair, NONE);
        e.port(NONE, 0, Take::Hold, pair);
    } else {
        let chips = p.frame.deployment.chips;
        lanes(e, p, primitive::REDUCE, s.groups, s.rows * chips, 2);
        e.port(NONE, 1, Take::Hold, pair * chips);
        e.whole = true;
    }
}

/// Parts that stand outside an operation's own decomposition.
pub(super) const SPILL: u32 = part::SPILL;
/// See [`SPILL`].
pub(super) const RELOAD: u32 = part::RELOAD;
