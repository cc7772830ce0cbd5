//! SHA-256 (FIPS 180-4), for comparing texts with their digest rows at run time.

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2).
const ROUNDS: [u32; 64] = [
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, //
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, //
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, //
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, //
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, //
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, //
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, //
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2, //
];

/// The first 32 bits of the fractional parts of the square roots of the first eight primes (5.3.3).
const START: [u32; 8] =
    [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];

const BLOCK: usize = 64;

/// A running digest.
#[derive(Clone, Debug)]
pub(crate) struct Sha256 {
    state: [u32; 8],
    block: [u8; BLOCK],
    /// Bytes of `block` in use, below [`BLOCK`].
    held: usize,
    /// Bytes taken so far.
    length: u64,
}

impl Sha256 {
    pub(crate) const fn new() -> Self {
        Sha256 { state: START, block: [0; BLOCK], held: 0, length: 0 }
    }

    pub(crate) fn update(&mut self, bytes: impl Iterator<Item = u8>) {
        for byte in bytes {
            self.push(byte);
            self.length = self.length.wrapping_add(1);
        }
    }

    /// The digest, as eight words: its bytes are theirs, big-endian, word by word.
    pub(crate) fn finish(mut self) -> [u32; 8] {
        let bits = self.length.wrapping_mul(8);
        self.push(0x80);
        while self.held != BLOCK - 8 {
            self.push(0);
        }
        for byte in bits.to_be_bytes() {
            self.push(byte);
        }
        self.state
    }

    fn push(&mut self, byte: u8) {
        self.block[self.held] = byte;
        self.held += 1;
        if self.held == BLOCK {
            self.held = 0;
            compress(&mut self.state, &self.block);
        }
    }
}

/// Takes one block into the state (6.2.2).
fn compress(state: &mut [u32; 8], block: &[u8; BLOCK]) {
    let mut schedule = [0u32; 64];
    let (words, _) = block.as_chunks::<4>();
    for (word, bytes) in schedule.iter_mut().zip(words) {
        *word = u32::from_be_bytes(*bytes);
    }
    for t in 16..64 {
        let (x, y) = (schedule[t - 15], schedule[t - 2]);
        let small0 = x.rotate_right(7) ^ x.rotate_right(18) ^ (x >> 3);
        let small1 = y.rotate_right(17) ^ y.rotate_right(19) ^ (y >> 10);
        schedule[t] = small1.wrapping_add(schedule[t - 7]).wrapping_add(small0).wrapping_add(schedule[t - 16]);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for (word, constant) in schedule.iter().zip(ROUNDS) {
        let big1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let choice = (e & f) ^ (!e & g);
        let first = h.wrapping_add(big1).wrapping_add(choice).wrapping_add(constant).wrapping_add(*word);
        let big0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let majority = (a & b) ^ (a & c) ^ (b & c);
        let second = big0.wrapping_add(majority);
        (h, g, f, e) = (g, f, e, d.wrapping_add(first));
        (d, c, b, a) = (c, b, a, first.wrapping_add(second));
    }
    for (word, add) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *word = word.wrapping_add(add);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(bytes: impl Iterator<Item = u8>) -> std::string::String {
        let mut sha = Sha256::new();
        sha.update(bytes);
        sha.finish().iter().map(|word| std::format!("{word:08x}")).collect()
    }

    /// The examples NIST publishes for FIPS 180-4, and the empty message.
    #[test]
    fn nist_vectors() {
        for (message, expected) in [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
            ),
            (
                "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
                "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1",
            ),
        ] {
            assert_eq!(digest(message.bytes()), expected);
        }
        assert_eq!(
            digest(core::iter::repeat_n(b'a', 1_000_000)),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        );
    }

    /// Lengths around the padding's corner: 55, 56, 63, 64 bytes of zero.
    #[test]
    fn padding_corners() {
        for (length, expected) in [
            (55, "02779466cdec163811d078815c633f21901413081449002f24aa3e80f0b88ef7"),
            (56, "d4817aa5497628e7c77e6b606107042bbba3130888c5f47a375e6179be789fbb"),
            (63, "c7723fa1e0127975e49e62e753db53924c1bd84b8ac1ac08df78d09270f3d971"),
            (64, "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b"),
        ] {
            assert_eq!(digest(core::iter::repeat_n(0, length)), expected);
        }
    }
}
