//! Operations: their names, their attributes, and which operand each load or store of theirs moves.

use core::fmt;

use crate::table::layout::op;

/// An operation of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation(u32);

/// How an attribute's word is read.
#[derive(Clone, Copy)]
enum Kind {
    Count,
    Real,
}

use Kind::{Count, Real};

/// An attribute's value.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Attribute {
    /// A count or a choice.
    Count(u32),
    /// A real number.
    Real(f32),
}

impl fmt::Display for Attribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Attribute::Count(count) => write!(f, "{count}"),
            // Debug writes the shortest digits that give the number back, with an exponent where it is short.
            Attribute::Real(real) => write!(f, "{real:?}"),
        }
    }
}

/// One operation: code, name, attributes, and (part, operand) of its loads and stores.
struct Entry {
    code: u32,
    name: &'static str,
    attributes: &'static [(&'static str, Kind)],
    moves: &'static [(u32, usize)],
}

const fn entry(
    code: u32,
    name: &'static str,
    attributes: &'static [(&'static str, Kind)],
    moves: &'static [(u32, usize)],
) -> Entry {
    Entry { code, name, attributes, moves }
}

const FORM: &[(&str, Kind)] = &[("tanh", Count)];

#[rustfmt::skip]
const TABLE: [Entry; 32] = [
    entry(op::INPUT, "input", &[], &[]),
    entry(op::SHOW, "show", &[], &[]),
    entry(op::APPEND, "append", &[], &[]),
    entry(op::MATMUL, "matmul", &[], &[(0, 1)]),
    entry(op::PLUS, "plus", &[], &[(0, 1)]),
    entry(op::TIMES, "times", &[], &[(0, 1)]),
    entry(op::SCALED, "scaled", &[("by", Real)], &[]),
    entry(op::SILU, "silu", &[], &[]),
    entry(op::GELU, "gelu", FORM, &[]),
    entry(op::SIGMOID, "sigmoid", &[], &[]),
    entry(op::TANH, "tanh", &[], &[]),
    entry(op::SOFTCAP, "softcap", &[("cap", Real)], &[]),
    entry(op::SWIGLU, "swiglu", &[], &[]),
    entry(op::GEGLU, "geglu", FORM, &[]),
    entry(op::RMSNORM, "rmsnorm", &[("eps", Real), ("offset", Real), ("heads", Count), ("over chips", Count)], &[(1, 1)]),
    entry(op::LAYERNORM, "layernorm", &[("eps", Real), ("heads", Count)], &[(1, 1), (2, 2)]),
    entry(op::L2NORM, "l2norm", &[("eps", Real), ("scale", Real), ("heads", Count)], &[]),
    entry(op::ROPE, "rope", &[("heads", Count), ("rotary", Count), ("adjacent", Count)], &[(0, 1), (1, 2)]),
    entry(op::ATTENTION, "attention", &[
        ("heads", Count), ("kv heads", Count), ("scale", Real), ("window", Count), ("chunk", Count), ("softcap", Real),
    ], &[(0, 4), (1, 5), (2, 6)]),
    entry(op::CONV, "causal conv", &[("taps", Count), ("silu", Count)], &[(0, 1), (1, 2), (3, 2)]),
    entry(op::DECAY, "decay", &[], &[(0, 1), (1, 2)]),
    entry(op::DELTA, "gated delta", &[("heads", Count), ("key heads", Count)], &[(0, 5), (2, 5)]),
    entry(op::ROWS, "rows", &[], &[(0, 0)]),
    entry(op::LAST_ROW, "last row", &[], &[(0, 0)]),
    entry(op::ARGMAX, "argmax", &[("below", Count)], &[]),
    entry(op::SUM_CHIPS, "sum over chips", &[], &[]),
    entry(op::GATHER_CHIPS, "gather over chips", &[], &[]),
    entry(op::ROW_SCALE, "row scale", &[], &[(0, 1)]),
    entry(op::HEAD_MATMUL, "head matmul", &[("heads", Count), ("rows", Count)], &[(0, 1)]),
    entry(op::LATENT_ATTENTION, "latent attention", &[("heads", Count), ("scale", Real)], &[(0, 5), (1, 6)]),
    entry(op::ROUTER, "router", &[
        ("top", Count), ("score", Count), ("groups", Count), ("kept", Count), ("flags", Count), ("scale", Real),
    ], &[(0, 1)]),
    entry(op::EXPERTS, "experts", &[
        ("count", Count), ("top", Count), ("activation", Count), ("alpha", Real), ("limit", Real), ("input scaled", Count),
    ], &[(0, 2), (1, 3), (2, 4), (3, 5), (4, 6), (5, 7)]),
];

impl Operation {
    pub(crate) const fn from_code(code: u32) -> Operation {
        Operation(code)
    }

    /// Its code in the table: one of [`op`].
    #[must_use]
    pub const fn code(self) -> u32 {
        self.0
    }

    /// Its name; `unknown operation` for a code this version does not know.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.entry().map_or("unknown operation", |entry| entry.name)
    }

    /// The name of an attribute and how its word reads.
    pub(crate) fn attribute(self, index: usize, word: u32) -> Option<(&'static str, Attribute)> {
        let (name, kind) = *self.entry()?.attributes.get(index)?;
        let value = match kind {
            Count => Attribute::Count(word),
            Real => Attribute::Real(f32::from_bits(word)),
        };
        Some((name, value))
    }

    /// The operand that the load or store of a part moves, where it is not the statement's result.
    pub(crate) fn moved_operand(self, part: u32) -> Option<usize> {
        self.entry()?.moves.iter().find(|(of, _)| *of == part).map(|(_, operand)| *operand)
    }

    fn entry(self) -> Option<&'static Entry> {
        TABLE.iter().find(|entry| entry.code == self.0)
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
