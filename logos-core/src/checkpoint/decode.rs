//! What stored elements stand for, as f32. Each function reads consecutive elements from an element offset on; the bytes hold as many,
//! which the headers were held to.

/// Unaligned or big-endian F32.
pub(super) fn f32s(bytes: &[u8], start: usize, out: &mut [f32]) {
    let (elements, _) = bytes[start * 4..].as_chunks::<4>();
    for (value, bytes) in out.iter_mut().zip(elements) {
        *value = f32::from_le_bytes(*bytes);
    }
}

/// F16; every value is exact.
pub(super) fn f16s(bytes: &[u8], start: usize, out: &mut [f32]) {
    let (elements, _) = bytes[start * 2..].as_chunks::<2>();
    for (value, bytes) in out.iter_mut().zip(elements) {
        *value = f16(u16::from_le_bytes(*bytes));
    }
}

/// BF16; every value is exact.
pub(super) fn bf16s(bytes: &[u8], start: usize, out: &mut [f32]) {
    let (elements, _) = bytes[start * 2..].as_chunks::<2>();
    for (value, bytes) in out.iter_mut().zip(elements) {
        *value = f32::from_bits(u32::from(u16::from_le_bytes(*bytes)) << 16);
    }
}

/// Elements of a Q8_0 block.
const Q8_0: usize = 32;

/// Q8_0: blocks of an F16 scale and 32 signed bytes, value `scale * byte` rounded to f32.
pub(super) fn q8_0s(bytes: &[u8], start: usize, mut out: &mut [f32]) {
    let (blocks, _) = bytes.as_chunks::<{ 2 + Q8_0 }>();
    let mut skip = start % Q8_0;
    for block in &blocks[start / Q8_0..] {
        if out.is_empty() {
            return;
        }
        let scale = f16(u16::from_le_bytes([block[0], block[1]]));
        let quants = &block[2 + skip..];
        let (values, rest) = out.split_at_mut(quants.len().min(out.len()));
        for (value, &quant) in values.iter_mut().zip(quants) {
            *value = scale * f32::from(quant as i8);
        }
        (out, skip) = (rest, 0);
    }
}

/// F8_E4M3 of one row, each times its block's scale; `column` is that of the first.
pub(super) fn f8_e4m3s(bytes: &[u8], column: usize, scales: &[f32], block: usize, out: &mut [f32]) {
    for ((value, &byte), at) in out.iter_mut().zip(bytes).zip(column..) {
        *value = F8_E4M3[usize::from(byte)] * scales[at / block];
    }
}

/// What a byte's nibbles stand for in MXFP4 (E2M1), by 4 bits.
const E2M1: [f32; 16] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0];

/// Element `index` of a row of MXFP4: blocks of 16 bytes, element `2j` in the low nibble of byte `j`; a power of two a block.
pub(super) fn mxfp4(blocks: &[u8], scales: &[u8], index: usize) -> f32 {
    let byte = blocks[index / 2];
    let nibble = if index.is_multiple_of(2) { byte & 0xf } else { byte >> 4 };
    E2M1[usize::from(nibble)] * e8m0(scales[index / 32])
}

/// `2^(bits - 127)`; 255 is no number (OCP Microscaling Formats 1.0, section 5.4.1).
fn e8m0(bits: u8) -> f32 {
    match bits {
        0 => f32::from_bits(0x0040_0000),
        1..=254 => f32::from_bits(u32::from(bits) << 23),
        255 => f32::NAN,
    }
}

/// An F16's bits. Its magnitude moved into place is 2^112 too small, subnormals included, and the product is exact.
pub(super) fn f16(bits: u16) -> f32 {
    /// 2^112.
    const SCALE: f32 = f32::from_bits((127 + 112) << 23);
    let magnitude = u32::from(bits & 0x7fff);
    let sign = u32::from(bits & 0x8000) << 16;
    let finite = (f32::from_bits(magnitude << 13) * SCALE).to_bits();
    let special = 0x7f80_0000 | magnitude << 13;
    f32::from_bits(sign | if magnitude < 0x7c00 { finite } else { special })
}

/// All F8_E4M3.
static F8_E4M3: [f32; 256] = {
    let mut table = [0.0; 256];
    let mut bits = 0;
    while bits < 256 {
        table[bits] = f8_e4m3(bits as u8);
        bits += 1;
    }
    table
};

/// Bias 7, no infinities, all ones no number (OCP 8-bit Floating Point 1.0, table 1).
const fn f8_e4m3(bits: u8) -> f32 {
    let (exponent, mantissa) = ((bits as u32 >> 3) & 15, bits as u32 & 7);
    let magnitude = match (exponent, mantissa) {
        (15, 7) => f32::NAN,
        // 2^-9 a step.
        (0, _) => mantissa as f32 * f32::from_bits((127 - 9) << 23),
        (_, _) => f32::from_bits((exponent + 120) << 23 | mantissa << 20),
    };
    if bits & 0x80 == 0 { magnitude } else { -magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_exact() {
        let power = |n: i32| 2f64.powi(n);
        for bits in 0..=u16::MAX {
            let (exponent, mantissa) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
            let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
            let expected = match exponent {
                0 => mantissa * power(-24),
                31 if mantissa == 0.0 => f64::INFINITY,
                31 => f64::NAN,
                _ => (1024.0 + mantissa) * power(exponent - 25),
            } * sign;
            let found = f64::from(f16(bits));
            let same = (found.is_nan() && expected.is_nan()) || found.to_bits() == expected.to_bits();
            assert!(same, "{bits:#06x}: {found} for {expected}");
        }
    }

    #[test]
    fn eight_bits_are_exact() {
        let known = [(0x00, 0.0), (0x01, 1.0 / 512.0), (0x08, 1.0 / 64.0), (0x38, 1.0), (0x3c, 1.5), (0x7e, 448.0)];
        for (bits, value) in known {
            assert_eq!(F8_E4M3[bits], value);
            assert_eq!(F8_E4M3[bits | 0x80], -value);
        }
        assert!(F8_E4M3[0x7f].is_nan() && F8_E4M3[0xff].is_nan());
        assert_eq!(F8_E4M3.iter().filter(|value| !value.is_finite()).count(), 2);
        assert!(F8_E4M3[..127].is_sorted());
    }

    #[test]
    fn blocks_are_read_from_anywhere() {
        // Scales 1 and 0.5; the second block counts down.
        let mut bytes = vec![0x00, 0x3c];
        bytes.extend((0..32).map(|i| i as u8));
        bytes.extend([0x00, 0x38]);
        bytes.extend((0..32).map(|i| (-i) as u8));
        let whole: Vec<f32> = (0..64).map(|i| if i < 32 { i as f32 } else { -0.5 * (i - 32) as f32 }).collect();
        for start in 0..64 {
            for end in start..=64 {
                let mut out = vec![f32::NAN; end - start];
                q8_0s(&bytes, start, &mut out);
                assert_eq!(out, whole[start..end]);
            }
        }
    }

    #[test]
    fn nibbles_are_low_then_high() {
        let mut blocks = [0u8; 32];
        (blocks[0], blocks[16]) = (0x72, 0x9f);
        let scales = [127, 130];
        assert_eq!([0, 1, 2, 32, 33].map(|i| mxfp4(&blocks, &scales, i)), [1.0, 6.0, 0.0, -48.0, -4.0]);
        assert_eq!(mxfp4(&blocks, &[0, 0], 0), 2f32.powi(-127));
        assert!(mxfp4(&blocks, &[255, 0], 0).is_nan());
    }
}
