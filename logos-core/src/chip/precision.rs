//! Number formats of a chip.

use std::fmt;

/// A number format that a chip's facts may list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Precision {
    /// Eight bits, floating point; which of the two layouts is the chip's affair.
    Fp8,
    /// Four bits, floating point, with a scale a block.
    Mxfp4,
    /// bfloat16.
    Bf16,
    /// IEEE half.
    Fp16,
    /// IEEE single.
    Fp32,
    /// Whole numbers of 8 bits.
    Int8,
    /// Whole numbers of 16 bits.
    Int16,
    /// Whole numbers of 32 bits.
    Int32,
}

impl Precision {
    /// All, in order.
    pub const ALL: [Precision; 8] = [
        Precision::Fp8,
        Precision::Mxfp4,
        Precision::Bf16,
        Precision::Fp16,
        Precision::Fp32,
        Precision::Int8,
        Precision::Int16,
        Precision::Int32,
    ];

    /// The format as a chip file names it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Precision::Fp8 => "fp8",
            Precision::Mxfp4 => "mxfp4",
            Precision::Bf16 => "bf16",
            Precision::Fp16 => "fp16",
            Precision::Fp32 => "fp32",
            Precision::Int8 => "int8",
            Precision::Int16 => "int16",
            Precision::Int32 => "int32",
        }
    }

    /// The format of a name.
    pub fn from_name(name: &str) -> Option<Precision> {
        Precision::ALL.into_iter().find(|precision| precision.as_str() == name)
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
