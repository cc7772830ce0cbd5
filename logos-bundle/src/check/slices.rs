//! How declared values are named and sliced (rules 1 and 11): one binding each, of every stored tensor each index once, and zeros
//! where nothing reads them.

use super::frame::Row;
use super::ledger::{At, Ledger, count, each, equal, hold, holds, part};
use super::padding;
use super::program::{HEAD, Program, SCALED, role, sharding};
use super::rows::ValueRow;
use super::{MAX_VALUES, SHAPE_LIMIT};
use crate::table::layout::{NONE, program as program_row, storage};

/// One binding for every declared value, of its role, and for a weight the stored indices it takes.
pub(super) const fn bindings(p: &Program<'_>, first: u32, count: u32, l: &mut Ledger) {
    let mut bound = [false; MAX_VALUES];
    count!(l, count, 1 * 2);
    let mut padded = 0;
    let mut names = 0;
    let mut i = first;
    while i < first + count {
        let row = p.frame.bindings[i as usize];
        let [
            v,
            _,
            _,
            place,
            tensor,
            transposed,
            offset,
            run,
            stride,
            runs,
            axis0,
            axis1,
            class,
            along,
            stacked,
            padding,
        ] = row;
        let at = At(part::BINDINGS, i);
        let value = &p.values[v as usize];
        let expected = match value.role {
            role::WEIGHT => 0,
            role::STATE => 1,
            role::TABLE => 2,
            role::INPUT if value.storage == storage::I32 => 4,
            role::INPUT => 3,
            _ => NONE,
        };
        each!(l, 1 * 2, at,
            !bound[v as usize] => v, v, "the one binding of a value";
            expected == class => expected, class, "class of the binding";
        );
        bound[v as usize] = true;
        if value.role == role::WEIGHT {
            // The value's columns lie along stored axis 0 where it is transposed, else along axis 1.
            let columns = transposed != along;
            let (taken, other) = if columns { (value.cols, value.rows) } else { (value.rows, value.cols) };
            let (axis, beside) = if along == 1 { (axis1, axis0) } else { (axis0, axis1) };
            let take = run as i128 * runs as i128;
            padded |= padding;
            let end = offset as i128 + (runs as i128 - 1) * stride as i128 + run as i128;
            let inside = runs > 0 && end <= axis as i128 && axis <= SHAPE_LIMIT;
            let apart = if runs == 1 { stride == run } else { stride >= run };
            // A tensor whose name comes after all names before is no earlier binding's, and where one takes all of it, a later
            // one is found to take too much.
            let whole = place > names && take == axis as i128;
            if place > names {
                names = place;
            }
            holds!(l, 11 * 7, at,
                tensor != 0 => 1, tensor, "length of the name of a weight's tensor, at least";
                taken == take + padding as i128 => taken, take, "stored indices taken along their axis, and zeros after them";
                other == beside as i128 => other, beside, "the other stored axis";
                apart => run, stride, "distance between runs, at least (of a single one, its length)";
                inside => axis, end, "end of the last run, at most";
                whole || tiled(p, first, count, i) => 1, 0, "weights take each index of their tensor once";
                stacked == 0 || value.banked => 0, stacked, "axis of experts of a weight that has none";
            );
            if value.banked {
                let named = by_expert(p, place, tensor);
                hold!(
                    l,
                    11,
                    named == (stacked == 0),
                    at,
                    !named,
                    stacked,
                    "whether experts have an axis, or `{e}` in the name"
                );
            }
            if value.storage == storage::F8_E4M3 {
                let (by_rows, by_cols) = (value.sharding == sharding::ROWS, value.sharding == sharding::COLS);
                let whole = runs == 1 || whole_blocks(run as i128) && whole_blocks(stride as i128);
                holds!(l, 11 * 3, at,
                    whole_blocks(offset as i128) && whole => 0, offset, "blocks of F8_E4M3 that runs begin within";
                    whole_blocks(end) || end == axis as i128 => axis, end, "end of the last run of F8_E4M3, a whole block's or the axis's";
                    (!by_rows || whole_blocks(value.rows_l)) && (!by_cols || whole_blocks(value.cols_l)) => 0, 1, "blocks of F8_E4M3 that chips cut";
                );
            }
            if value.counted_elsewhere {
                hold!(l, 9, counted(p, i), at, 1, 0, "the embedding's binding of the same bytes, which counts them");
            }
        } else {
            let slice = place | tensor | transposed | offset | run | stride | runs | axis0 | axis1;
            let rest = slice | along | stacked | padding;
            equal!(l, 11, at, 0, rest, "tensor and slice of what no checkpoint holds");
        }
        i += 1;
    }
    equal!(l, 1, At(part::VALUES, p.first_value), p.declared, count, "bindings of the program");
    // Only a head leaves columns out, and has few statements.
    if padded != 0 || p.role == HEAD {
        padding::unread(p, first, count, l);
    }
}

/// Whether so many rows or columns are whole blocks of F8_E4M3.
const fn whole_blocks(n: i128) -> bool {
    n % SCALED == 0
}

/// Whether two bindings name the same tensor: a string is stored once.
const fn same(a: &Row, b: &Row) -> bool {
    a[3] == b[3] && a[4] == b[4]
}

/// Whether the bindings of binding `i`'s tensor take as many indices as it stores, and none that `i` takes.
const fn tiled(p: &Program<'_>, first: u32, count: u32, i: u32) -> bool {
    let i = i as usize;
    let own = &p.frame.bindings[i];
    let rows = p.frame.bindings;
    let name = own[3];
    let mut taken = 0;
    let mut j = first as usize;
    let end = (first + count) as usize;
    while j < end {
        let [_, _, _, place, ..] = rows[j];
        if place == name && same(own, &rows[j]) {
            let other = &rows[j];
            taken += other[7] as i128 * other[9] as i128;
            let alike = other[10] == own[10] && other[11] == own[11] && other[13] == own[13] && other[14] == own[14];
            if j != i && !(alike && apart(own, other)) {
                return false;
            }
        }
        j += 1;
    }
    taken == own[10 + own[13] as usize] as i128
}

/// Whether a string tells experts apart: `{e}` is in it.
const fn by_expert(p: &Program<'_>, start: u32, length: u32) -> bool {
    let strings = p.frame.strings;
    let mut i = start as usize;
    let end = start as usize + length as usize;
    let mut seen = 0u32;
    while i < end {
        let word = strings[i / 64][i % 64 / 4];
        seen = seen << 8 | word >> (8 * (i % 4)) & 0xff;
        if i + 1 >= start as usize + 3 && seen & 0xff_ffff == 0x7b_657d {
            return true;
        }
        i += 1;
    }
    false
}

/// Whether two takes are seen to have no index in common: one ends before the other, or both have the same distance between
/// runs and lie beside each other in it.
const fn apart(a: &Row, b: &Row) -> bool {
    let (a, b) = if a[6] <= b[6] { (a, b) } else { (b, a) };
    let (low, high, stride) = (a[6] as i128, b[6] as i128, a[8] as i128);
    if low + (a[9] as i128 - 1) * stride + a[7] as i128 <= high {
        return true;
    }
    if a[8] != b[8] || stride == 0 {
        return false;
    }
    let ahead = (high - low) % stride;
    ahead >= a[7] as i128 && ahead + b[7] as i128 <= stride
}

/// Whether the embedding binds, and counts, the bytes of a head's weight: the same indices of the same tensor, stored alike
/// and cut alike along the stored axes.
const fn counted(p: &Program<'_>, i: u32) -> bool {
    let f = p.frame;
    let embed = &f.programs[0];
    if p.role != HEAD || embed[program_row::ROLE] != 0 {
        return false;
    }
    let own = &f.bindings[i as usize];
    let value = &f.values[p.first_value as usize + own[0] as usize];
    let (first, count) = (embed[program_row::BINDINGS], embed[program_row::BINDINGS + 1]);
    let mut j = first;
    while j < first + count {
        let other = &f.bindings[j as usize];
        let counts = &f.values[embed[program_row::VALUES] as usize + other[0] as usize];
        let taken = own[6] == other[6] && own[7] == other[7] && own[8] == other[8] && own[9] == other[9];
        let taken = taken && own[13] == other[13] && own[14] == other[14] && own[15] == other[15];
        let stored = own[10] == other[10] && own[11] == other[11] && value.storage == counts.storage;
        let weight = counts.role == role::WEIGHT && counts.flags == 0;
        if same(own, other) && taken && stored && weight && cut(own, value) == cut(other, counts) {
            return value.parts == counts.parts;
        }
        j += 1;
    }
    false
}

/// The stored axis a value is cut along; 2 for none.
const fn cut(binding: &Row, value: &ValueRow) -> u32 {
    match value.sharding {
        sharding::ROWS => binding[5],
        sharding::COLS => 1 - binding[5],
        _ => 2,
    }
}
