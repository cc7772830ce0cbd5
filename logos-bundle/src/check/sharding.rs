//! Rule 11: the sharding of every bound value, derived again from its operands'.

use super::experts;
use super::ledger::{Ledger, equal, hold, holds};
use super::program::{Program, Statement, Value, role, sharding};
use crate::table::layout::{NONE, op};
use sharding::{COLS, PARTIAL, ROWS, WHOLE};

const fn like(a: &Value, b: &Value) -> bool {
    a.sharding == b.sharding && a.parts == b.parts
}

/// Whole, or columns in any number of parts.
const fn plain(a: &Value) -> bool {
    a.sharding == WHOLE || a.sharding == COLS
}

const fn whole(p: &Program<'_>, v: u32) -> bool {
    v == NONE || p.values[v as usize].sharding == WHOLE
}

/// Checks one statement's rule.
pub(super) const fn statement(p: &Program<'_>, st: &Statement, l: &mut Ledger) {
    let chips = p.frame.deployment.chips;
    let r = &p.values[st.result];
    if st.op == op::INPUT || st.op == op::SHOW {
        equal!(l, 11, st.at, WHOLE, r.sharding, "sharding of what comes in or is shown");
        return;
    }
    let x = &p.values[st.x[0] as usize];
    // What the rule derives, and whether the operands allow it.
    let (mut derived, mut parts, allowed) = (x.sharding, x.parts, false);
    let allowed = match st.op {
        op::APPEND => like(x, r),
        op::MATMUL => {
            let w = &p.values[st.x[1] as usize];
            if x.sharding == WHOLE && (w.sharding == WHOLE || w.sharding == COLS) {
                (derived, parts) = (w.sharding, w.parts);
                true
            } else {
                (derived, parts) = (PARTIAL, 1);
                x.sharding == COLS && w.sharding == ROWS && x.parts == chips && w.parts == chips
            }
        }
        op::PLUS if x.sharding == PARTIAL => {
            let b = &p.values[st.x[1] as usize];
            b.sharding == PARTIAL && b.role == role::BOUND
        }
        op::PLUS | op::TIMES | op::SWIGLU | op::GEGLU => plain(x) && like(x, &p.values[st.x[1] as usize]),
        op::ROUTER => experts::router_lies(p, st),
        op::EXPERTS => {
            let split = p.values[st.x[2] as usize].sharding != WHOLE;
            (derived, parts) = (if split { PARTIAL } else { WHOLE }, 1);
            experts::experts_lie(p, st, chips)
        }
        op::DECAY => plain(x) && like(x, &p.values[st.x[1] as usize]) && like(x, &p.values[st.x[2] as usize]),
        op::SCALED => x.sharding != ROWS,
        op::SILU | op::GELU | op::SIGMOID | op::TANH | op::SOFTCAP => plain(x),
        op::RMSNORM => normed(p, st, x, st.a[2]),
        op::LAYERNORM => normed(p, st, x, st.a[1]),
        op::L2NORM => head_wise(x, st.a[2]),
        op::ROPE => head_wise(x, st.a[0]) && whole(p, st.x[1]) && whole(p, st.x[2]),
        op::ATTENTION => attention(p, st, x, chips),
        op::LATENT_ATTENTION => {
            let cut = x.sharding == COLS && x.parts == chips && st.a[0] as i128 % chips == 0;
            let latent = whole(p, st.x[2]) && whole(p, st.x[3]) && whole(p, st.x[5]) && whole(p, st.x[6]);
            (x.sharding == WHOLE || cut) && like(x, &p.values[st.x[1] as usize]) && latent
        }
        op::HEAD_MATMUL => {
            let w = &p.values[st.x[1] as usize];
            let blocks = if x.sharding == WHOLE {
                WHOLE
            } else if st.a[1] == 1 {
                ROWS
            } else {
                COLS
            };
            head_wise(x, st.a[0]) && w.sharding == blocks && w.parts == x.parts
        }
        op::ROW_SCALE => x.sharding != ROWS && whole(p, st.x[1]),
        op::CONV => {
            let carried = st.x[2] == NONE || like(x, &p.values[st.x[2] as usize]);
            plain(x) && like(x, &p.values[st.x[1] as usize]) && carried
        }
        op::DELTA => {
            let v = &p.values[st.x[2] as usize];
            (derived, parts) = (v.sharding, v.parts);
            delta(p, st, x, v, chips)
        }
        op::ROWS => {
            if x.sharding == ROWS {
                (derived, parts) = (PARTIAL, 1);
            }
            x.sharding == WHOLE || x.sharding == ROWS && x.parts == chips
        }
        op::LAST_ROW => plain(x),
        op::ARGMAX => {
            (derived, parts) = (WHOLE, 1);
            x.sharding == WHOLE || x.sharding == COLS && x.parts == chips
        }
        op::SUM_CHIPS => {
            (derived, parts) = (WHOLE, 1);
            x.sharding == PARTIAL
        }
        op::GATHER_CHIPS => {
            (derived, parts) = (WHOLE, 1);
            x.sharding == COLS && x.parts == chips
        }
        _ => allowed,
    };
    let binds = st.op >= op::MATMUL;
    holds!(l, 11 * 3, st.at,
        allowed => 1, 0, "operands the operation's sharding rule allows";
        !binds || derived == r.sharding => derived, r.sharding, "sharding of the result";
        !binds || parts == r.parts => parts, r.parts, "parts of the result";
    );
}

const fn normed(p: &Program<'_>, st: &Statement, x: &Value, heads: u32) -> bool {
    if st.a[3] == 1 {
        return x.sharding == COLS && (st.x[1] == NONE || like(x, &p.values[st.x[1] as usize]));
    }
    if heads == 0 {
        return x.sharding == WHOLE && whole(p, st.x[1]) && whole(p, st.x[2]);
    }
    head_wise(x, heads) && of_heads(p, st.x[1], x) && of_heads(p, st.x[2], x)
}

/// A weight of one row for all heads is whole; one of a row a head is cut as the heads are.
const fn of_heads(p: &Program<'_>, v: u32, x: &Value) -> bool {
    if v == NONE {
        return true;
    }
    let w = &p.values[v as usize];
    if w.rows == 1 || x.sharding == WHOLE { w.sharding == WHOLE } else { w.sharding == ROWS && w.parts == x.parts }
}

const fn head_wise(x: &Value, heads: u32) -> bool {
    x.sharding == WHOLE || x.sharding == COLS && heads as i128 % x.parts == 0
}

/// A chip's query heads read the KV heads it holds: with as many parts as chips the two are cut alike; with fewer, every
/// part is one head and groups of chips hold the same one.
const fn attention(p: &Program<'_>, st: &Statement, q: &Value, chips: i128) -> bool {
    let [_, k, v, _, ck, cv, sinks, _] = st.x;
    let (h, hk) = (st.a[0] as i128, st.a[1] as i128);
    let k = &p.values[k as usize];
    let alike = like(k, &p.values[v as usize]);
    let alike = alike && (ck == NONE || like(k, &p.values[ck as usize]));
    let alike = alike && (cv == NONE || like(k, &p.values[cv as usize]));
    let alike = alike && (sinks == NONE || like(q, &p.values[sinks as usize]));
    if q.sharding == WHOLE {
        return alike && k.sharding == WHOLE;
    }
    let n = k.parts;
    let cut = q.sharding == COLS && q.parts == chips && h % chips == 0;
    cut && alike && plain(k) && hk % n == 0 && (n == chips || n == hk)
}

const fn delta(p: &Program<'_>, st: &Statement, q: &Value, v: &Value, chips: i128) -> bool {
    let [_, k, _, g, beta, s, ..] = st.x;
    let (hv, hk) = (st.a[0] as i128, st.a[1] as i128);
    let alike = like(q, v) && like(q, &p.values[k as usize]);
    let alike = alike && like(q, &p.values[g as usize]) && like(q, &p.values[beta as usize]);
    if q.sharding == WHOLE {
        return alike && whole(p, s);
    }
    let state = s == NONE || p.values[s as usize].sharding == ROWS && p.values[s as usize].parts == chips;
    alike && state && q.sharding == COLS && q.parts == chips && hv % chips == 0 && hk % chips == 0
}
