//! Rows with a name for each word, in the order of `table/layout.rs`.
//!
//! Constant evaluation reads a field of a copied row in one step, a 64-bit number too, where taking sixteen words apart is as
//! many steps whether they are wanted or not.

use super::frame::Row;
use crate::table::layout::{edge, program, section, stage, statement, value};

/// The struct of a part's rows, each field held to the word the layout gives it.
macro_rules! rows {
    ($($(#[$about:meta])* $name:ident of $part:ident { $($field:ident: $of:ty = $word:expr,)* })*) => {$(
        $(#[$about])*
        #[derive(Clone, Copy)]
        #[repr(C, packed(4))]
        pub(super) struct $name {
            $(pub(super) $field: $of,)*
        }
        const _: () = assert!(size_of::<$name>() == size_of::<Row>() && align_of::<$name>() == align_of::<Row>());
        $(const _: () = assert!(core::mem::offset_of!($name, $field) == 4 * $word);)*

        impl $name {
            /// The same rows by their fields.
            pub(super) const fn of(rows: &[Row]) -> &[$name] {
                // SAFETY: the struct has the size and the alignment of a row, and every bit pattern is one of its.
                unsafe { &*(core::ptr::from_ref(rows) as *const [$name]) }
            }
        }
    )*};
}

rows! {
    /// First row and count of what a program has.
    ProgramRow of program {
        name: [u32; 2] = program::NAME,
        text: [u32; 2] = program::TEXT,
        role: u32 = program::ROLE,
        layers: u32 = program::LAYERS,
        values: [u32; 2] = program::VALUES,
        statements: [u32; 2] = program::STATEMENTS,
        sections: [u32; 2] = program::SECTIONS,
        bindings: [u32; 2] = program::BINDINGS,
        rows: u32 = program::ROWS,
        first_layer: u32 = program::FIRST_LAYER,
    }
    /// First row and count of what a section has.
    SectionRow of section {
        program: u32 = section::PROGRAM,
        group_rows: u32 = section::GROUP_ROWS,
        groups: u32 = section::GROUPS,
        stages: [u32; 2] = section::STAGES,
        edges: [u32; 2] = section::EDGES,
        turns: [u32; 2] = section::TURNS,
        interval: u64 = section::INTERVAL,
        span: u64 = section::SPAN,
        binder: u32 = section::BINDER,
        bound: u64 = section::BOUND,
    }
    ValueRow of value {
        name: [u32; 2] = value::NAME,
        role: u32 = value::ROLE,
        storage: u32 = value::STORAGE,
        seqs: u32 = value::SEQS,
        rows: u32 = value::ROWS,
        cols: u32 = value::COLS,
        sharding: u32 = value::SHARDING,
        parts: u32 = value::PARTS,
        tile: u32 = value::TILE,
        tier: u32 = value::TIER,
        statement: u32 = value::STATEMENT,
        rope: u32 = value::ROPE,
        flags: u32 = value::FLAGS,
        reserved: [u32; 2] = 14,
    }
    StatementRow of statement {
        op: u32 = statement::OP,
        result: u32 = statement::RESULT,
        operands: [u32; 8] = statement::OPERANDS,
        attributes: [u32; 6] = statement::ATTRIBUTES,
    }
    /// Numbers of two words are read through `low_first!`.
    StageRow of stage {
        statement: u32 = stage::STATEMENT,
        part: u32 = stage::PART,
        primitive: u32 = stage::PRIMITIVE,
        firings: u32 = stage::FIRINGS,
        na: u32 = stage::NA,
        nb: u32 = stage::NB,
        site: u32 = stage::SITE,
        turn: u32 = stage::TURN,
        start: u64 = stage::START,
        period: u64 = stage::PERIOD,
        ii: u64 = stage::II,
        bytes: u64 = stage::BYTES,
    }
    EdgeRow of edge {
        from: u32 = edge::FROM,
        to: u32 = edge::TO,
        port: u32 = edge::PORT,
        kind: u32 = edge::KIND,
        p: u32 = edge::P,
        q: u32 = edge::Q,
        groups: u32 = edge::GROUPS,
        capacity: u32 = edge::CAPACITY,
        slot_bytes: u32 = edge::SLOT_BYTES,
        address: u32 = edge::ADDRESS,
        value: u32 = edge::VALUE,
        reserved: [u32; 5] = 11,
    }
}
