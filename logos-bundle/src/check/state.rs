//! Rule 10: a state is read at its old value, by one statement, and written once.

use super::ledger::{Ledger, equal, hold};
use super::program::{Program, Statement, role};
use crate::table::layout::{NONE, op};

/// Notes which states a statement reads and writes. That the writer comes no earlier is asked at the program's end.
pub(super) const fn statement(p: &mut Program<'_>, st: &Statement, l: &mut Ledger) {
    match st.op {
        op::APPEND => write(p, st, st.result as u32, l),
        op::CONV => {
            read(p, st, st.x[2], l);
            write(p, st, st.x[2], l);
        }
        op::DELTA => {
            read(p, st, st.x[5], l);
            write(p, st, st.x[5], l);
        }
        op::ATTENTION => {
            cache(p, st, st.x[4], l);
            cache(p, st, st.x[5], l);
        }
        op::LATENT_ATTENTION => {
            cache(p, st, st.x[5], l);
            cache(p, st, st.x[6], l);
        }
        _ => {}
    }
}

const fn cache(p: &mut Program<'_>, st: &Statement, v: u32, l: &mut Ledger) {
    if v != NONE {
        read(p, st, v, l);
        p.values[v as usize].cache = true;
    }
}

const fn read(p: &mut Program<'_>, st: &Statement, v: u32, l: &mut Ledger) {
    if v != NONE {
        let at = st.at;
        equal!(l, 10, at, role::STATE, p.values[v as usize].role, "role of what is carried");
        let before = p.values[v as usize].reader;
        hold!(l, 10, before == NONE || before == st.index as u32, at, before, st.index, "the one reader of a state");
        p.values[v as usize].reader = st.index as u32;
    }
}

const fn write(p: &mut Program<'_>, st: &Statement, v: u32, l: &mut Ledger) {
    if v != NONE {
        let at = st.at;
        equal!(l, 10, at, role::STATE, p.values[v as usize].role, "role of what is carried");
        let before = p.values[v as usize].writer;
        hold!(l, 10, before == NONE, at, before, st.index, "the one writer of a state");
        p.values[v as usize].writer = st.index as u32;
    }
}
