//! Rule 11: the sharding of every bound value, derived again from its operands'.

use super::experts;
use super::ledger::{Ledger, equal, hold, holds};
use super::program::{Program, Statement, Value, role, sharding};
use crate::table::layout::{NONE, op};
use sharding::{COLS, PARTIAL, ROWS, WHOLE};

/// What the rule of an operation derives, and whether it allows the operands.
struct Derived {
    sharding: u32,
    parts: i128,
    allowed: bool,
}

const fn like(a: &Value, b: &Value) -> bool {
    a.sharding == b.sharding && a.parts == b.parts
}

const fn like_operand(p: &Program<'_>, a: &Value, v: u32) -> bool {
    like(a, &p.values[v as usize])
}

/// Whole, or columns in any number of parts.
const fn plain(a: &Value) -> bool {
    matches!(a.sharding, WHOLE | COLS)
}

const fn whole(p: &Program<'_>, v: u32) -> bool {
    v == NONE || matches!(p.values[v as usize].sharding, WHOLE)
}

/// Columns, in as many parts as there are chips.
const fn over_chips(p: &Program<'_>, a: &Value) -> bool {
    matches!(a.sharding, COLS) && a.parts == p.frame.deployment.chips
}

/// Checks one statement's rule. The operations' own stand in functions of their own, so that a call is of a short one.
pub(super) const fn statement(p: &Program<'_>, st: &Statement, l: &mut Ledger) {
    let r = &p.values[st.result];
    if let op::INPUT | op::SHOW = st.op {
        equal!(l, 11, st.at, WHOLE, r.sharding, "sharding of what comes in or is shown");
        return;
    }
    let x = &p.values[st.x[0] as usize];
    let derived = match st.op {
        op::MATMUL => product(p, x, &p.values[st.x[1] as usize]),
        op::RMSNORM => as_operand(x, normed(p, st, x, st.a[2])),
        op::LAYERNORM => as_operand(x, normed(p, st, x, st.a[1])),
        op::SUM_CHIPS | op::GATHER_CHIPS | op::ARGMAX => gathered(p, st, x),
        op::ROWS => looked_up(p, x),
        op::DELTA => {
            let v = &p.values[st.x[2] as usize];
            as_operand(v, delta(p, st, x, v))
        }
        op::EXPERTS => {
            let split = p.values[st.x[2] as usize].sharding != WHOLE;
            let allowed = experts::experts_lie(p, st, p.frame.deployment.chips);
            Derived { sharding: if split { PARTIAL } else { WHOLE }, parts: 1, allowed }
        }
        _ => as_operand(x, alike(p, st, x)),
    };
    let binds = st.binds();
    holds!(l, 11 * 3, st.at, of [derived: Derived, binds: bool, r: &Value],
        derived.allowed => 1, 0, "operands the operation's sharding rule allows";
        !binds || derived.sharding == r.sharding => derived.sharding, r.sharding, "sharding of the result";
        !binds || derived.parts == r.parts => derived.parts, r.parts, "parts of the result";
    );
}

const fn as_operand(x: &Value, allowed: bool) -> Derived {
    Derived { sharding: x.sharding, parts: x.parts, allowed }
}

const fn product(p: &Program<'_>, x: &Value, w: &Value) -> Derived {
    if matches!(x.sharding, WHOLE) && plain(w) {
        return as_operand(w, true);
    }
    let rows = matches!(w.sharding, ROWS) && w.parts == p.frame.deployment.chips;
    Derived { sharding: PARTIAL, parts: 1, allowed: rows && over_chips(p, x) }
}

/// What the chips make together of what each has.
const fn gathered(p: &Program<'_>, st: &Statement, x: &Value) -> Derived {
    let allowed = match st.op {
        op::SUM_CHIPS => matches!(x.sharding, PARTIAL),
        op::GATHER_CHIPS => over_chips(p, x),
        _ => matches!(x.sharding, WHOLE) || over_chips(p, x),
    };
    Derived { sharding: WHOLE, parts: 1, allowed }
}

const fn looked_up(p: &Program<'_>, x: &Value) -> Derived {
    if matches!(x.sharding, ROWS) {
        return Derived { sharding: PARTIAL, parts: 1, allowed: x.parts == p.frame.deployment.chips };
    }
    as_operand(x, matches!(x.sharding, WHOLE))
}

/// Whether the operands are allowed of an operation whose result is cut as its first operand is.
const fn alike(p: &Program<'_>, st: &Statement, x: &Value) -> bool {
    match st.op {
        op::APPEND => like(x, &p.values[st.result]),
        op::PLUS if matches!(x.sharding, PARTIAL) => {
            let b = &p.values[st.x[1] as usize];
            matches!(b.sharding, PARTIAL) && matches!(b.role, role::BOUND)
        }
        op::PLUS | op::TIMES | op::SWIGLU | op::GEGLU => plain(x) && like_operand(p, x, st.x[1]),
        op::SILU | op::GELU | op::SIGMOID | op::TANH | op::SOFTCAP | op::LAST_ROW => plain(x),
        op::SCALED => !matches!(x.sharding, ROWS),
        op::DECAY => plain(x) && like_operand(p, x, st.x[1]) && like_operand(p, x, st.x[2]),
        op::CONV => {
            let carried = st.x[2] == NONE || like_operand(p, x, st.x[2]);
            plain(x) && like_operand(p, x, st.x[1]) && carried
        }
        op::L2NORM => head_wise(x, st.a[2]),
        op::ROPE => head_wise(x, st.a[0]) && whole(p, st.x[1]) && whole(p, st.x[2]),
        op::ROW_SCALE => !matches!(x.sharding, ROWS) && whole(p, st.x[1]),
        op::ATTENTION => attention(p, st, x),
        op::LATENT_ATTENTION => latent_attention(p, st, x),
        op::HEAD_MATMUL => head_matmul(p, st, x),
        op::ROUTER => experts::router_lies(p, st),
        _ => false,
    }
}

const fn normed(p: &Program<'_>, st: &Statement, x: &Value, heads: u32) -> bool {
    if st.a[3] == 1 {
        return matches!(x.sharding, COLS) && (st.x[1] == NONE || like_operand(p, x, st.x[1]));
    }
    if heads == 0 {
        return matches!(x.sharding, WHOLE) && whole(p, st.x[1]) && whole(p, st.x[2]);
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
const fn attention(p: &Program<'_>, st: &Statement, q: &Value) -> bool {
    let [_, k, v, _, ck, cv, sinks, _] = st.x;
    let chips = p.frame.deployment.chips;
    let (h, hk) = (st.a[0] as i128, st.a[1] as i128);
    let k = &p.values[k as usize];
    let alike = like_operand(p, k, v)
        && (ck == NONE || like_operand(p, k, ck))
        && (cv == NONE || like_operand(p, k, cv))
        && (sinks == NONE || like_operand(p, q, sinks));
    if matches!(q.sharding, WHOLE) {
        return alike && matches!(k.sharding, WHOLE);
    }
    let n = k.parts;
    over_chips(p, q) && h % chips == 0 && alike && plain(k) && hk % n == 0 && (n == chips || n == hk)
}

const fn latent_attention(p: &Program<'_>, st: &Statement, q: &Value) -> bool {
    let cut = over_chips(p, q) && st.a[0] as i128 % p.frame.deployment.chips == 0;
    let latent = whole(p, st.x[2]) && whole(p, st.x[3]) && whole(p, st.x[5]) && whole(p, st.x[6]);
    (matches!(q.sharding, WHOLE) || cut) && like_operand(p, q, st.x[1]) && latent
}

const fn head_matmul(p: &Program<'_>, st: &Statement, x: &Value) -> bool {
    let w = &p.values[st.x[1] as usize];
    let blocks = if matches!(x.sharding, WHOLE) {
        WHOLE
    } else if st.a[1] == 1 {
        ROWS
    } else {
        COLS
    };
    head_wise(x, st.a[0]) && w.sharding == blocks && w.parts == x.parts
}

const fn delta(p: &Program<'_>, st: &Statement, q: &Value, v: &Value) -> bool {
    let [_, k, _, g, beta, s, ..] = st.x;
    let chips = p.frame.deployment.chips;
    let (hv, hk) = (st.a[0] as i128, st.a[1] as i128);
    let alike = like(q, v) && like_operand(p, q, k) && like_operand(p, q, g) && like_operand(p, q, beta);
    if matches!(q.sharding, WHOLE) {
        return alike && whole(p, s);
    }
    let state = s == NONE || matches!(p.values[s as usize].sharding, ROWS) && p.values[s as usize].parts == chips;
    alike && state && over_chips(p, q) && hv % chips == 0 && hk % chips == 0
}
