//! Zeros that no checkpoint stores (rule 11): rows of an embedding that no token asks for, and columns of a head that its argmax
//! leaves out.

use super::MAX_VALUES;
use super::ledger::{At, Ledger, equal, hold, part};
use super::program::{EMBED, HEAD, Program};
use super::rows::StatementRow;
use crate::table::layout::{NONE, op};

/// Follows the padding of a program's weights to where it ends.
pub(super) const fn unread(p: &Program<'_>, first: u32, count: u32, l: &mut Ledger) {
    let mut padding = [0; MAX_VALUES];
    let mut i = first;
    while i < first + count {
        let [v, _, _, _, _, transposed, _, _, _, _, _, _, _, along, stacked, zeros] = p.frame.bindings[i as usize];
        if zeros != 0 {
            let rows = p.role == EMBED && transposed == 0;
            let columns = p.role == HEAD && transposed == 1;
            let at = At(part::BINDINGS, i);
            hold!(l, 11, (rows || columns) && along | stacked == 0, at, 0, zeros, "zeros of what is no vocabulary");
            padding[v as usize] = zeros;
        }
        i += 1;
    }
    let mut s = 0;
    while s < p.statement_count {
        let row = p.statements[s];
        let StatementRow { op: code, result, operands: [x0, x1, x2, x3, x4, x5, x6, x7], attributes: [below, ..] } =
            row;
        let [first, second] = [of(&padding, x0), of(&padding, x1)];
        let rest = of(&padding, x2) | of(&padding, x3) | of(&padding, x4);
        let rest = rest | of(&padding, x5) | of(&padding, x6) | of(&padding, x7);
        let at = At(part::STATEMENTS, p.first_statement + s as u32);
        if code == op::ARGMAX {
            let cols = p.values[x0 as usize].cols;
            let expected = if first == 0 { 0 } else { cols - first as i128 };
            equal!(l, 11, at, expected, below as i128, "columns that the argmax chooses from (0: all)");
        } else if code == op::SHOW {
            hold!(l, 11, padding[result as usize] == 0, at, 0, padding[result as usize], "zeros that are shown");
        } else if first | second | rest != 0 {
            let reads = match code {
                op::ROWS => second == 0,
                op::MATMUL => first == 0,
                op::PLUS | op::SCALED | op::SOFTCAP => true,
                _ => false,
            };
            hold!(l, 11, reads && rest == 0, at, 0, 1, "statements that padding would change");
            // Columns stay columns; what is looked up of an embedding has none of its padding.
            if code != op::ROWS {
                padding[result as usize] = if first > second { first } else { second };
            }
        }
        s += 1;
    }
}

/// The padding of an operand.
const fn of(padding: &[u32; MAX_VALUES], v: u32) -> u32 {
    if v == NONE { 0 } else { padding[v as usize] }
}
