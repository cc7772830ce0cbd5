//! How a checkpoint stores the elements of a tensor.

/// One row a storage: its name, how many consecutive elements share how many bytes, its number in GGUF files where it has one, and
/// whether safetensors files name it.
macro_rules! storages {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $elements:literal in $bytes:literal, ggml $ggml:expr, safetensors $named:literal;)*) => {
        /// How a tensor's elements are stored. All that the two file formats know are listed, so that files holding them can be
        /// described; [`Storage::is_read`] tells which ones are read.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Storage { $($(#[$doc])* $name,)* }

        impl Storage {
            /// All storages.
            pub const ALL: &'static [Storage] = &[$(Storage::$name,)*];

            /// The name, as safetensors or ggml writes it.
            pub const fn as_str(self) -> &'static str { match self { $(Storage::$name => $text,)* } }

            /// Elements of a block: so many share [`Storage::block_bytes`], and a GGUF row is made of whole blocks.
            pub const fn block_elements(self) -> u64 { match self { $(Storage::$name => $elements,)* } }

            /// Bytes of a block.
            pub const fn block_bytes(self) -> u64 { match self { $(Storage::$name => $bytes,)* } }

            const fn ggml(self) -> Option<u32> { match self { $(Storage::$name => $ggml,)* } }

            const fn in_safetensors(self) -> bool { match self { $(Storage::$name => $named,)* } }
        }
    };
}

storages! {
    /// IEEE 754 binary32.
    F32 = "F32", 1 in 4, ggml Some(0), safetensors true;
    /// IEEE 754 binary16.
    F16 = "F16", 1 in 2, ggml Some(1), safetensors true;
    /// The upper half of a binary32.
    Bf16 = "BF16", 1 in 2, ggml Some(30), safetensors true;
    /// OCP 8-bit float, 4 bits of exponent, no infinities; with scales beside it.
    F8E4M3 = "F8_E4M3", 1 in 1, ggml None, safetensors true;
    /// ggml's blocks of 32: an F16 scale and 32 signed bytes.
    Q8_0 = "Q8_0", 32 in 34, ggml Some(8), safetensors false;
    /// Unsigned byte; pairs `*_blocks` and `*_scales` of them are MXFP4.
    U8 = "U8", 1 in 1, ggml None, safetensors true;

    /// IEEE 754 binary64.
    F64 = "F64", 1 in 8, ggml Some(28), safetensors true;
    /// Pair of binary32.
    C64 = "C64", 1 in 8, ggml None, safetensors true;
    /// OCP 8-bit float, 5 bits of exponent.
    F8E5M2 = "F8_E5M2", 1 in 1, ggml None, safetensors true;
    /// Power of two.
    F8E8M0 = "F8_E8M0", 1 in 1, ggml None, safetensors true;
    /// 8-bit float without negative zero.
    F8E4M3Fnuz = "F8_E4M3FNUZ", 1 in 1, ggml None, safetensors true;
    /// 8-bit float without negative zero.
    F8E5M2Fnuz = "F8_E5M2FNUZ", 1 in 1, ggml None, safetensors true;
    /// 6-bit float.
    F6E2M3 = "F6_E2M3", 4 in 3, ggml None, safetensors true;
    /// 6-bit float.
    F6E3M2 = "F6_E3M2", 4 in 3, ggml None, safetensors true;
    /// 4-bit float.
    F4 = "F4", 2 in 1, ggml None, safetensors true;
    /// Boolean byte.
    Bool = "BOOL", 1 in 1, ggml None, safetensors true;
    /// Signed.
    I8 = "I8", 1 in 1, ggml Some(24), safetensors true;
    /// Signed.
    I16 = "I16", 1 in 2, ggml Some(25), safetensors true;
    /// Signed.
    I32 = "I32", 1 in 4, ggml Some(26), safetensors true;
    /// Signed.
    I64 = "I64", 1 in 8, ggml Some(27), safetensors true;
    /// Unsigned.
    U16 = "U16", 1 in 2, ggml None, safetensors true;
    /// Unsigned.
    U32 = "U32", 1 in 4, ggml None, safetensors true;
    /// Unsigned.
    U64 = "U64", 1 in 8, ggml None, safetensors true;

    /// ggml, 4 bits.
    Q4_0 = "Q4_0", 32 in 18, ggml Some(2), safetensors false;
    /// ggml, 4 bits.
    Q4_1 = "Q4_1", 32 in 20, ggml Some(3), safetensors false;
    /// ggml, 5 bits.
    Q5_0 = "Q5_0", 32 in 22, ggml Some(6), safetensors false;
    /// ggml, 5 bits.
    Q5_1 = "Q5_1", 32 in 24, ggml Some(7), safetensors false;
    /// ggml, 8 bits and a sum.
    Q8_1 = "Q8_1", 32 in 36, ggml Some(9), safetensors false;
    /// ggml, 2 bits.
    Q2K = "Q2_K", 256 in 84, ggml Some(10), safetensors false;
    /// ggml, 3 bits.
    Q3K = "Q3_K", 256 in 110, ggml Some(11), safetensors false;
    /// ggml, 4 bits.
    Q4K = "Q4_K", 256 in 144, ggml Some(12), safetensors false;
    /// ggml, 5 bits.
    Q5K = "Q5_K", 256 in 176, ggml Some(13), safetensors false;
    /// ggml, 6 bits.
    Q6K = "Q6_K", 256 in 210, ggml Some(14), safetensors false;
    /// ggml, 8 bits.
    Q8K = "Q8_K", 256 in 292, ggml Some(15), safetensors false;
    /// ggml, codebook.
    Iq2Xxs = "IQ2_XXS", 256 in 66, ggml Some(16), safetensors false;
    /// ggml, codebook.
    Iq2Xs = "IQ2_XS", 256 in 74, ggml Some(17), safetensors false;
    /// ggml, codebook.
    Iq3Xxs = "IQ3_XXS", 256 in 98, ggml Some(18), safetensors false;
    /// ggml, codebook.
    Iq1S = "IQ1_S", 256 in 50, ggml Some(19), safetensors false;
    /// ggml, codebook.
    Iq4Nl = "IQ4_NL", 32 in 18, ggml Some(20), safetensors false;
    /// ggml, codebook.
    Iq3S = "IQ3_S", 256 in 110, ggml Some(21), safetensors false;
    /// ggml, codebook.
    Iq2S = "IQ2_S", 256 in 82, ggml Some(22), safetensors false;
    /// ggml, codebook.
    Iq4Xs = "IQ4_XS", 256 in 136, ggml Some(23), safetensors false;
    /// ggml, codebook.
    Iq1M = "IQ1_M", 256 in 56, ggml Some(29), safetensors false;
    /// ggml, ternary.
    Tq1_0 = "TQ1_0", 256 in 54, ggml Some(34), safetensors false;
    /// ggml, ternary.
    Tq2_0 = "TQ2_0", 256 in 66, ggml Some(35), safetensors false;
    /// ggml's own arrangement of MXFP4.
    GgmlMxfp4 = "MXFP4", 32 in 17, ggml Some(39), safetensors false;
}

impl Storage {
    /// Whether tensors stored so are read as weights; U8 only as MXFP4, F8_E4M3 only with scales.
    pub const fn is_read(self) -> bool {
        matches!(self, Storage::F32 | Storage::F16 | Storage::Bf16 | Storage::F8E4M3 | Storage::Q8_0 | Storage::U8)
    }

    /// The storage with this name.
    pub fn from_name(name: &str) -> Option<Storage> {
        Storage::ALL.iter().copied().find(|storage| storage.as_str() == name)
    }

    /// The storage that a safetensors header calls so.
    pub fn from_safetensors(name: &str) -> Option<Storage> {
        Storage::from_name(name).filter(|storage| storage.in_safetensors())
    }

    /// The storage of a GGUF type number.
    pub fn from_ggml(number: u32) -> Option<Storage> {
        Storage::ALL.iter().copied().find(|storage| storage.ggml() == Some(number))
    }

    /// Bytes of so many consecutive elements; none if they are not whole blocks, or beyond 64 bits.
    pub const fn bytes(self, elements: u64) -> Option<u64> {
        if !elements.is_multiple_of(self.block_elements()) {
            return None;
        }
        (elements / self.block_elements()).checked_mul(self.block_bytes())
    }
}

impl std::fmt::Display for Storage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::Storage;

    #[test]
    fn names_and_numbers_are_each_ones_own() {
        for (i, &storage) in Storage::ALL.iter().enumerate() {
            assert_eq!(Storage::from_name(storage.as_str()), Some(storage));
            assert!(storage.in_safetensors() || storage.ggml().is_some(), "{storage} is in no format");
            for &other in &Storage::ALL[..i] {
                assert!(storage.ggml().is_none() || storage.ggml() != other.ggml(), "{storage} and {other}");
            }
        }
        assert_eq!(Storage::from_safetensors("Q8_0"), None);
        assert_eq!(Storage::from_ggml(8), Some(Storage::Q8_0));
        assert_eq!(Storage::from_ggml(4), None, "Q4_2 was removed");
    }

    #[test]
    fn bytes_are_those_of_whole_blocks() {
        assert_eq!(Storage::Bf16.bytes(7168), Some(14_336));
        assert_eq!(Storage::Q8_0.bytes(64), Some(68));
        assert_eq!(Storage::Q8_0.bytes(48), None);
        assert_eq!(Storage::F6E2M3.bytes(8), Some(6));
        assert_eq!(Storage::F64.bytes(u64::MAX), None);
    }
}
