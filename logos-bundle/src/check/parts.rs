//! What a statement decomposes into (RULES.md section 3): for each part of each operation the stage it must be, worked
//! out from the statement and its values alone.

use super::attending::{attention, latent_attention};
pub(super) use super::expected::{Expected, Recurrence, Take};
use super::expected::{head_wise, lanes, load, load_matrix, map, moves, once, stage};
use super::experts;
use super::program::{Program, Statement, bytes, ceil, role};
use super::recurring::{conv, delta};
use super::section::Section;
use crate::table::layout::{NONE, op, part, primitive};

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

/// Fills in the stage a part must be; [`Expected::primitive`] is [`NONE`] if the statement has no such part.
pub(super) const fn expect(e: &mut Expected, p: &Program<'_>, s: &Section, st: &Statement, part: u32, product_b: bool) {
    let x0 = st.x[0];
    match st.op {
        op::SHOW => spill(e, p, s, st.result as u32),
        op::APPEND => append(e, p, s, st),
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
        op::DECAY => decay(e, p, s, st, part),
        op::RMSNORM if st.a[2] == 0 => row_norm(e, p, s, st, part),
        op::LAYERNORM if st.a[1] == 0 => row_norm(e, p, s, st, part),
        op::RMSNORM => head_norm(e, p, s, st, part, st.a[2]),
        op::LAYERNORM => head_norm(e, p, s, st, part, st.a[1]),
        op::L2NORM => head_wise(e, p, s, x0, st.a[2], primitive::REDUCE, 5),
        op::ROPE => rope(e, p, s, st, part),
        op::ROUTER => experts::router_part(e, p, s, st, part),
        op::EXPERTS => experts::experts_part(e, p, s, st, part),
        op::ATTENTION => attention(e, p, st, part),
        op::CONV => conv(e, p, s, st, part),
        op::DELTA => delta(e, p, s, st, part),
        op::ROWS => rows(e, p, s, st),
        op::LAST_ROW => {
            let r = &p.values[st.result];
            load(e, p, x0, r.tiles * s.groups, s.rows * r.tile);
        }
        op::ARGMAX => argmax(e, p, s, x0, part),
        op::ROW_SCALE => row_scale(e, p, s, st, part),
        op::HEAD_MATMUL => head_matmul(e, p, s, st, part),
        op::LATENT_ATTENTION => latent_attention(e, p, st, part),
        _ => collective(e, p, s, st),
    }
}

const fn append(e: &mut Expected, p: &Program<'_>, s: &Section, st: &Statement) {
    let state = &p.values[st.result];
    store_value(e, p, s, st.x[0], state.storage, state.tier);
    e.state = st.result as u32;
}

const fn decay(e: &mut Expected, p: &Program<'_>, s: &Section, st: &Statement, part: u32) {
    if part < 2 {
        let x = &p.values[st.x[0] as usize];
        return load(e, p, st.x[1 + part as usize], x.tiles, x.tile);
    }
    map(e, p, s, st.x[0], 8);
    e.loads(0, once(s));
    e.loads(1, once(s));
}

const fn rope(e: &mut Expected, p: &Program<'_>, s: &Section, st: &Statement, part: u32) {
    if part < 2 {
        let table = st.x[1 + part as usize];
        return load(e, p, table, s.groups, s.rows * p.values[table as usize].cols);
    }
    head_wise(e, p, s, st.x[0], st.a[0], primitive::MAP, 4);
    e.loads(0, Take::Hold);
    e.loads(1, Take::Hold);
}

const fn rows(e: &mut Expected, p: &Program<'_>, s: &Section, st: &Statement) {
    let x = &p.values[st.x[0] as usize];
    let r = &p.values[st.result];
    moves(e, primitive::GATHER, r.tiles * s.groups, bytes(x.storage, s.rows * r.tile), x.tier);
}

/// A sum or a gather over the chips.
const fn collective(e: &mut Expected, p: &Program<'_>, s: &Section, st: &Statement) {
    let x = &p.values[st.x[0] as usize];
    moves(e, primitive::COLLECTIVE, x.tiles * s.groups, bytes(x.storage, s.rows * x.tile), NONE);
    e.adds = st.op == op::SUM_CHIPS;
    e.reads(st.x[0], Take::Stream(1));
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
            load_matrix(e, p, st.x[1], x.tiles, x.tile, w.cols_l)
        } else {
            load_matrix(e, p, st.x[1], out.tiles, w.rows_l, out.tile)
        };
    }
    if product_b {
        stage(e, primitive::GEMM_B, x.tiles * s.groups);
        e.a = ceil!(w.cols_l, c.array_columns);
        e.b = x.tile;
        e.whole = true;
        e.reads(st.x[0], Take::Stream(1));
    } else {
        stage(e, primitive::GEMM_A, out.tiles * s.groups);
        e.a = ceil!(out.tile, c.array_columns);
        e.b = w.rows_l;
        e.reads(st.x[0], Take::Hold);
    }
    e.base = ceil!(s.rows, c.array_rows);
    e.loads(0, once(s));
}

const fn row_norm(e: &mut Expected, p: &Program<'_>, s: &Section, st: &Statement, part: u32) {
    let x = &p.values[st.x[0] as usize];
    if part == 0 {
        lanes(e, p, primitive::REDUCE, x.tiles * s.groups, s.rows * x.tile, 2);
        return e.reads(st.x[0], Take::Stream(1));
    }
    let over_chips = st.a[3] == 1;
    if over_chips && part == 2 {
        moves(e, primitive::COLLECTIVE, s.groups, s.rows * 4, NONE);
        e.adds = true;
        return e.port(NONE, 0, Take::Hold, s.rows * 4);
    }
    if part < 3 {
        let w = st.x[part as usize];
        return if w == NONE { e.none() } else { load(e, p, w, x.tiles, x.tile) };
    }
    map(e, p, s, st.x[0], 3);
    e.port(NONE, if over_chips { 2 } else { 0 }, Take::Hold, s.rows * 4);
    if st.x[1] != NONE {
        e.loads(1, once(s));
    }
    if st.x[2] != NONE {
        e.loads(2, once(s));
    }
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
    e.a = ceil!(width, p.frame.chip.array_columns);
    e.b = inner;
    e.base = ceil!(s.rows, p.frame.chip.array_rows);
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
