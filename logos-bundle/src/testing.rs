//! A writer of small tables for tests, and one such table.

use std::vec::Vec;

use crate::table::layout::{HEADER_ROWS, MAGIC, NONE, PARTS, Part, ROW, VERSION, header, *};

/// One row under construction.
pub(crate) type Words = [u32; ROW];

/// A row with some of its words set.
pub(crate) fn row(words: &[(usize, u32)]) -> Words {
    let mut row = [0; ROW];
    for (field, word) in words {
        row[*field] = *word;
    }
    row
}

/// Collects rows by part.
#[derive(Default)]
pub(crate) struct Writer {
    parts: [Vec<Words>; PARTS],
    strings: Vec<u8>,
}

impl Writer {
    /// Adds a row; its number in the part.
    pub(crate) fn push(&mut self, part: Part, row: Words) -> u32 {
        self.parts[part as usize].push(row);
        (self.parts[part as usize].len() - 1) as u32
    }

    /// Adds a row with strings: (field, text).
    pub(crate) fn named(&mut self, part: Part, mut row: Words, strings: &[(usize, &str)]) -> u32 {
        for (field, text) in strings {
            row[*field] = self.strings.len() as u32;
            row[*field + 1] = text.len() as u32;
            self.strings.extend(text.bytes());
        }
        self.push(part, row)
    }

    pub(crate) fn finish(mut self) -> Vec<u32> {
        let used = self.strings.len();
        let mut bytes = self.strings.chunks(ROW * 4).map(|chunk| {
            let mut row = [0u8; ROW * 4];
            row[..chunk.len()].copy_from_slice(chunk);
            row
        });
        self.parts[Part::Strings as usize] =
            bytes.by_ref().map(|row| core::array::from_fn(|w| u32::from_le_bytes(row.as_chunks::<4>().0[w]))).collect();
        let mut words = std::vec![0; HEADER_ROWS * ROW];
        for (part, rows) in self.parts.iter().enumerate() {
            words[header::DIRECTORY + 2 * part] = (words.len() / ROW) as u32;
            words[header::DIRECTORY + 2 * part + 1] = rows.len() as u32;
            words.extend(rows.iter().flatten());
        }
        words[header::MAGIC] = MAGIC;
        words[header::VERSION] = VERSION;
        words[header::WORDS] = words.len() as u32;
        words[header::STRING_BYTES] = used as u32;
        let digest = crate::table::digest(&words);
        words[header::DIGEST] = digest as u32;
        words[header::DIGEST + 1] = (digest >> 32) as u32;
        words
    }
}

/// Text of the one program in [`small`] that has any.
pub(crate) const TEXT: &str = "## Main\nShow café5.\n";

/// A layer program of two of six layers and a head, for four chips: `q = x matmul Wq`, with `Wq` the query rows of a fused
/// tensor (per head of 8, the first 8 of 16), KV state split two ways, and a net of four stages and three edges. It is no certified
/// program: it holds one of everything that views read.
pub(crate) fn small() -> Vec<u32> {
    let mut w = Writer::default();
    w.named(
        Part::Deployment,
        row(&[
            (deployment::FORM, 1),
            (deployment::CHIPS, 4),
            (deployment::SEQS, 2),
            (deployment::TOKENS, 1),
            (deployment::CTX, 128),
            (deployment::LAYERS, 6),
            (deployment::WEIGHT_BYTES, 1000),
            (deployment::STATE_BYTES, 24),
            (deployment::MAX_CTX, 4096),
            (deployment::MAX_SEQS, 64),
        ]),
        &[(deployment::MODEL, "tiny")],
    );
    w.push(Part::Deployment, row(&[]));
    w.named(
        Part::Chip,
        row(&[(chip::CELLS, 16), (chip::COLUMNS, 4), (chip::SCRATCHPAD, 1024)]),
        &[(chip::NAME, "SN50")],
    );
    w.push(Part::Chip, row(&[(chip::HBM_BYTES - ROW, 4096), (chip::STRIP - ROW, 8)]));
    program(&mut w);
    net(&mut w);
    bindings(&mut w);
    for layer in 0..6 {
        let mut words = row(&[(layer::PROGRAM, u32::from(layer == 3 || layer == 5))]);
        words[layer::IDENTITY..].fill(0x0102_0304 + layer);
        w.push(Part::Layers, words);
    }
    w.finish()
}

fn program(w: &mut Writer) {
    let layer = |first_layer, layers, role, values, statements, sections, bindings| {
        row(&[
            (program::ROLE, role),
            (program::LAYERS, layers),
            (program::VALUES + 1, values),
            (program::STATEMENTS + 1, statements),
            (program::SECTIONS + 1, sections),
            (program::BINDINGS + 1, bindings),
            (program::ROWS, 2),
            (program::FIRST_LAYER, first_layer),
        ])
    };
    w.named(Part::Programs, layer(0, 4, 1, 0, 0, 0, 0), &[(program::NAME, "empty")]);
    w.named(Part::Programs, layer(3, 2, 1, 6, 4, 1, 5), &[(program::NAME, "attention"), (program::TEXT, TEXT)]);
    let mut head = layer(0, 1, 2, 1, 0, 0, 1);
    head[program::VALUES] = 6;
    head[program::BINDINGS] = 5;
    w.named(Part::Programs, head, &[(program::NAME, "head")]);
    // SHA-256 of no byte, of TEXT, of no byte.
    let empty = [0xe3b0c442, 0x98fc1c14, 0x9afbf4c8, 0x996fb924, 0x27ae41e4, 0x649b934c, 0xa495991b, 0x7852b855];
    let text = TEXT_DIGEST;
    for digest_words in [empty, text, empty] {
        let mut words = row(&[(digest::IDENTITY, 0xabcd)]);
        words[digest::TEXT..].copy_from_slice(&digest_words);
        w.push(Part::Digests, words);
    }
    let mut value = |name: &str, role, storage, shape: [u32; 3], sharding, parts, tier| {
        let words = row(&[
            (value::ROLE, role),
            (value::STORAGE, storage),
            (value::SEQS, shape[0]),
            (value::ROWS, shape[1]),
            (value::COLS, shape[2]),
            (value::SHARDING, sharding),
            (value::PARTS, parts),
            (value::TILE, 4),
            (value::TIER, tier),
            (value::STATEMENT, if role == 0 { 0 } else { NONE }),
            (value::ROPE, if role == 3 { 0 } else { NONE }),
        ]);
        w.named(Part::Values, words, &[(value::NAME, name)]);
    };
    value("x", 0, storage::BF16, [1, 2, 64], 0, 1, 0);
    value("Wq3", 1, storage::Q8_0, [1, 64, 32], 2, 4, 1);
    value("Kc3", 2, storage::BF16, [2, 128, 16], 2, 2, 1);
    value("q3", 4, storage::BF16, [1, 2, 32], 2, 4, NONE);
    value("Wo3", 1, storage::BF16, [1, 32, 64], 1, 4, 2);
    value("cos", 3, storage::F32, [1, 2, 4], 0, 1, 0);
    value("x", 0, storage::BF16, [1, 2, 64], 0, 1, 0);
    for (code, result, operands) in
        [(op::INPUT, 0, &[][..]), (op::MATMUL, 3, &[0, 1]), (op::APPEND, 2, &[3, NONE]), (op::SHOW, 3, &[])]
    {
        let mut words = row(&[(statement::OP, code), (statement::RESULT, result)]);
        words[statement::OPERANDS..statement::ATTRIBUTES].fill(NONE);
        words[statement::OPERANDS..][..operands.len()].copy_from_slice(operands);
        w.push(Part::Statements, words);
    }
    let [low, high] = [10_000f64.to_bits() as u32, (10_000f64.to_bits() >> 32) as u32];
    w.push(
        Part::Ropes,
        row(&[
            (rope::PART, 1),
            (rope::THETA, low),
            (rope::THETA + 1, high),
            (rope::ROTARY, 8),
            (rope::SCALING, 3),
            (rope::PARAMETERS, 8f32.to_bits()),
            (rope::FACTOR, 1f32.to_bits()),
        ]),
    );
}

/// SHA-256 of [`TEXT`], by another implementation.
const TEXT_DIGEST: [u32; 8] =
    [0x16d6578b, 0x75f7421d, 0x39439c66, 0x2e18ec3c, 0x4920abc4, 0xca88b9e4, 0xacf752a8, 0xd6f9a31b];

fn net(w: &mut Writer) {
    w.push(
        Part::Sections,
        row(&[
            (section::PROGRAM, 1),
            (section::GROUP_ROWS, 2),
            (section::GROUPS, 1),
            (section::STAGES + 1, 5),
            (section::EDGES + 1, 3),
            (section::TURNS + 1, 1),
            (section::INTERVAL, 257),
            (section::BOUND, 256),
            (section::SPAN + 1, 1),
        ]),
    );
    for (statement_index, part_index, primitive_code, turn_index) in [
        (0, 0, primitive::LOAD, NONE),
        (1, 0, primitive::LOAD, 0),
        (1, 1, primitive::GEMM_A, NONE),
        (2, 0, primitive::STORE, NONE),
        (3, part::SPILL, primitive::STORE, NONE),
    ] {
        w.push(
            Part::Stages,
            row(&[
                (stage::STATEMENT, statement_index),
                (stage::PART, part_index),
                (stage::PRIMITIVE, primitive_code),
                (stage::FIRINGS, 3),
                (stage::NA, 2),
                (stage::NB, 3),
                (stage::TURN, turn_index),
                (stage::START, 7),
            ]),
        );
    }
    for (from, to, kind, value_index) in [(0, 2, 1, 0), (1, 2, 0, NONE), (2, 3, 0, 3)] {
        w.push(
            Part::Edges,
            row(&[
                (edge::FROM, from),
                (edge::TO, to),
                (edge::KIND, kind),
                (edge::P, 1),
                (edge::Q, 2),
                (edge::GROUPS, 1),
                (edge::CAPACITY, 5),
                (edge::SLOT_BYTES, 16),
                (edge::ADDRESS, 64),
                (edge::VALUE, value_index),
            ]),
        );
    }
    w.push(Part::Turns, row(&[(turn::TIER, 1), (turn::START, 5), (turn::LENGTH, 50)]));
}

fn bindings(w: &mut Writer) {
    let mut binding = |value_index, name: &str, tensor: &str, transposed, take: [u32; 4], stored: [u32; 2], class| {
        let words = row(&[
            (binding::VALUE, value_index),
            (binding::TRANSPOSED, transposed),
            (binding::OFFSET, take[0]),
            (binding::RUN, take[1]),
            (binding::STRIDE, take[2]),
            (binding::COUNT, take[3]),
            (binding::STORED, stored[0]),
            (binding::STORED + 1, stored[1]),
            (binding::CLASS, class),
        ]);
        w.named(Part::Bindings, words, &[(binding::NAME, name), (binding::TENSOR, tensor)]);
    };
    binding(0, "x", "", 0, [0; 4], [0; 2], 3);
    binding(1, "Wq{l}", "layers.{l}.qkv.{l}.weight", 1, [16, 8, 16, 4], [80, 64], 0);
    binding(2, "Kc{l}", "", 0, [0; 4], [0; 2], 1);
    binding(4, "Wo{l}", "layers.{l}.o.weight", 1, [0, 64, 64, 1], [64, 32], 0);
    binding(5, "cos", "", 0, [0; 4], [0; 2], 2);
    binding(0, "x", "", 0, [0; 4], [0; 2], 3);
}
