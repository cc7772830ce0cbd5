//! The table's codes as enums with names. A code that this version does not know is kept, and printed as such.

use core::fmt;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $code:literal $text:literal,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)*
            /// A code this version does not know: the table is damaged.
            Unknown(u32),
        }

        impl $name {
            pub(crate) const fn from_code(code: u32) -> Self {
                match code {
                    $($code => $name::$variant,)*
                    unknown => $name::Unknown(unknown),
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $($name::$variant => f.pad($text),)*
                    $name::Unknown(code) => write!(f, "unknown code {code}"),
                }
            }
        }
    )*};
}

codes! {
    /// What a program computes.
    ProgramRole {
        /// Tokens to the first hidden state.
        Embed = 0 "embed",
        /// One layer.
        Layer = 1 "layer",
        /// The last hidden state to what the step shows.
        Head = 2 "head",
    }

    /// What a value of a program is.
    ValueRole {
        /// Given with each step.
        Input = 0 "input",
        /// A weight of the checkpoint.
        Weight = 1 "weight",
        /// Carried from one step to the next.
        State = 2 "state",
        /// Filled by the host: rotary tables.
        Table = 3 "table",
        /// Bound by a statement.
        Bound = 4 "bound",
    }

    /// How an element is stored.
    Storage {
        /// 4 bytes.
        F32 = 0 "f32",
        /// 2 bytes.
        F16 = 1 "f16",
        /// 2 bytes.
        Bf16 = 2 "bf16",
        /// 34 bytes for 32 elements along the contracted (row) axis.
        Q8_0 = 3 "q8_0",
        /// 4 bytes, integers (tokens, positions).
        I32 = 4 "i32",
        /// A byte, and 4 for a scale (f32) of 128 rows by 128 columns.
        F8E4M3 = 5 "f8_e4m3",
        /// 17 bytes for 32 elements along the contracted (row) axis.
        Mxfp4 = 6 "mxfp4",
    }

    /// A memory of the chip.
    Tier {
        /// The cells' scratchpads.
        Sram = 0 "SRAM",
        /// High-bandwidth memory.
        Hbm = 1 "HBM",
        /// The slower, larger memory.
        Ddr = 2 "DDR",
    }

    /// What bounds a section's interval from below.
    Binder {
        /// The bytes that off-chip memory moves.
        Memory = 0 "memory",
        /// The busiest stage's work.
        Stage = 1 "stage",
        /// The busiest stage's recurrence over rows.
        Recurrence = 2 "recurrence",
        /// The way from a layer's input to its output.
        Loop = 3 "loop",
        /// The section runs once: its interval is its span.
        Span = 4 "span",
    }

    /// What a pipeline stage does.
    Primitive {
        /// Reads a tier.
        Load = 0 "load",
        /// Writes a tier.
        Store = 1 "store",
        /// Product that holds x and streams output tiles.
        GemmA = 2 "gemm A",
        /// Product that streams K tiles and emits a group's whole output.
        GemmB = 3 "gemm B",
        /// Elementwise over a tile.
        Map = 4 "map",
        /// Reduction over a row or a head.
        Reduce = 5 "reduce",
        /// Recurrence over rows.
        Scan = 6 "scan",
        /// Load indexed by ids.
        Gather = 7 "gather",
        /// Attention scores.
        Scores = 8 "scores",
        /// Online softmax.
        Softmax = 9 "softmax",
        /// Attention values.
        Values = 10 "values",
        /// Between chips.
        Collective = 11 "collective",
    }

    /// What a declared value is to whoever fills it.
    BindingClass {
        /// From the checkpoint.
        Weight = 0 "weight",
        /// Carried from one step to the next.
        State = 1 "state",
        /// Filled by the host from a rotary recipe.
        Table = 2 "table",
        /// The hidden state of the layer before.
        Hidden = 3 "hidden",
        /// Tokens or positions of the step.
        Index = 4 "index",
    }

    /// What a recipe fills a table with.
    RopePart {
        /// Cosines.
        Cos = 0 "cos",
        /// Sines.
        Sin = 1 "sin",
        /// One factor a position: `1 + scale * ln(1 + floor((position + 1) / floor))`.
        Temperature = 2 "temperature",
    }

    /// How a rotary table's frequencies are scaled.
    RopeScaling {
        /// As they are.
        None = 0 "none",
        /// By one factor.
        Linear = 1 "linear",
        /// Dynamic NTK.
        Dynamic = 2 "dynamic",
        /// Llama 3's.
        Llama3 = 3 "llama3",
        /// YaRN.
        Yarn = 4 "yarn",
        /// LongRoPE.
        LongRope = 5 "longrope",
    }
}
