//! Where each number of a bundle lies.
//!
//! A bundle is a sequence of little-endian `u32` words cut into rows of [`ROW`] words. The first [`HEADER_ROWS`]
//! rows are the header, whose directory says where each [`Part`]'s rows start and how many there are. Rows of one
//! part are contiguous; all indices in a row are *part-relative* (`value 3` is the fourth row of
//! [`Part::Values`]), so a row means the same wherever its part lies. A 64-bit number is two words, low first.
//! A string is (byte offset, byte length) into [`Part::Strings`], whose rows are the UTF-8 bytes, packed.
//!
//! What the numbers must satisfy is in `RULES.md` beside this crate's manifest.

/// Words of a row.
pub const ROW: usize = 16;
/// Rows of the header.
pub const HEADER_ROWS: usize = 4;
/// First word of every bundle: `LOGS` in memory order.
pub const MAGIC: u32 = u32::from_le_bytes(*b"LOGS");
/// Layout version; a reader refuses any other.
pub const VERSION: u32 = 2;
/// An absent index or operand.
pub const NONE: u32 = u32::MAX;

/// Words of the header.
pub mod header {
    /// [`super::MAGIC`].
    pub const MAGIC: usize = 0;
    /// [`super::VERSION`].
    pub const VERSION: usize = 1;
    /// Words of the whole table, header included.
    pub const WORDS: usize = 2;
    /// `schedule_digest`, two words, over every word of the table, these two taken as 0.
    pub const DIGEST: usize = 4;
    /// Bytes used in the string part.
    pub const STRING_BYTES: usize = 6;
    /// Directory: for each [`super::Part`] its first row (counted from the start of the table) and its row count.
    pub const DIRECTORY: usize = 16;
}

/// The parts of a table, in the order they are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum Part {
    /// Two rows: [`deployment`].
    Deployment = 0,
    /// Two rows: [`chip`].
    Chip = 1,
    /// [`program`] rows: embedding (if any), layer kinds in order of their first layer, head.
    Programs = 2,
    /// [`section`] rows, grouped by program.
    Sections = 3,
    /// [`value`] rows, grouped by program, in binding order.
    Values = 4,
    /// [`statement`] rows, grouped by program, in program order.
    Statements = 5,
    /// [`stage`] rows, grouped by section, in order of (statement, part).
    Stages = 6,
    /// [`edge`] rows, grouped by section, in order of (consumer stage, port).
    Edges = 7,
    /// [`turn`] rows, grouped by section, in window order per tier.
    Turns = 8,
    /// [`rope`] rows: recipes of rotary tables that the host fills.
    Ropes = 9,
    /// [`binding`] rows, grouped by program, one per declared value.
    Bindings = 10,
    /// [`layer`] rows, one per layer of the model.
    Layers = 11,
    /// [`digest`] rows, one per program, in program order.
    Digests = 12,
    /// Packed UTF-8.
    Strings = 13,
    /// f32 words, sixteen a row: factors that [`rope`] rows point to; the last row is filled up with zeros.
    Factors = 14,
}

/// Number of parts.
pub const PARTS: usize = 15;

/// A deployment: what was asked for, and the first facts of fit. Bytes are 64-bit. Two rows, addressed as 32 words; those of
/// the second that have no name are 0.
pub mod deployment {
    /// Model name (string).
    pub const MODEL: usize = 0;
    /// Deployment form: 0 forward, 1 decode, 2 prefill.
    pub const FORM: usize = 2;
    /// Chips (tensor-parallel width).
    pub const CHIPS: usize = 3;
    /// Sequences of a step.
    pub const SEQS: usize = 4;
    /// Tokens of each sequence in a step (decode 1, prefill the chunk).
    pub const TOKENS: usize = 5;
    /// Context, in positions; 0 for forward.
    pub const CTX: usize = 6;
    /// Layers of the model.
    pub const LAYERS: usize = 7;
    /// Weight bytes a chip.
    pub const WEIGHT_BYTES: usize = 8;
    /// State bytes a chip, all sequences (KV cache and recurrent state).
    pub const STATE_BYTES: usize = 10;
    /// Of these, KV cache.
    pub const KV_BYTES: usize = 12;
    /// Largest context that fits the main memory with these sequences, in positions (0: does not apply).
    pub const MAX_CTX: usize = 14;
    /// Most sequences that fit at this context.
    pub const MAX_SEQS: usize = 15;
    /// Of the weight bytes, those that lie in DDR because HBM does not hold them; 0 where the chip has no HBM.
    pub const DDR_WEIGHT_BYTES: usize = 16;
    /// Of the state bytes, those that stay in SRAM.
    pub const SRAM_STATE_BYTES: usize = 18;
}

/// The chip: facts and unit model. Two rows, addressed as 32 words.
pub mod chip {
    /// Part name (string), e.g. `SN50`.
    pub const NAME: usize = 0;
    /// Cells: a PCU with its PMU.
    pub const CELLS: usize = 2;
    /// Mesh columns.
    pub const COLUMNS: usize = 3;
    /// Mesh rows.
    pub const ROWS: usize = 4;
    /// Rows of a PCU's multiply-accumulate array.
    pub const ARRAY_ROWS: usize = 5;
    /// Columns of a PCU's multiply-accumulate array.
    pub const ARRAY_COLUMNS: usize = 6;
    /// f32 lanes of a PCU.
    pub const LANES: usize = 7;
    /// Chained elementwise operations a pass.
    pub const CHAIN: usize = 8;
    /// Pipeline depth, cycles.
    pub const DEPTH: usize = 9;
    /// Cycles a level of the tree that adds up the cells of one firing.
    pub const TREE: usize = 10;
    /// Scratchpad bytes a cell.
    pub const SCRATCHPAD: usize = 11;
    /// Scratchpad bytes a cell reads or writes a cycle.
    pub const SCRATCHPAD_RATE: usize = 12;
    /// Cycles to inject into the network.
    pub const INJECT: usize = 13;
    /// Cycles a hop.
    pub const HOP: usize = 14;
    /// HBM bytes per 65,536 cycles; 0 where the chip has none.
    pub const HBM_RATE: usize = 15;
    /// DDR bytes per 65,536 cycles.
    pub const DDR_RATE: usize = 16;
    /// Chip-to-chip bytes per 65,536 cycles, one direction.
    pub const LINK_RATE: usize = 17;
    /// Cycles to HBM's first byte.
    pub const HBM_LATENCY: usize = 18;
    /// Cycles to DDR's first byte.
    pub const DDR_LATENCY: usize = 19;
    /// Cycles from chip to chip.
    pub const LINK_LATENCY: usize = 20;
    /// Context positions of an attention tile.
    pub const CONTEXT_TILE: usize = 21;
    /// Columns of an activation tile (a value's own tile may differ).
    pub const TILE: usize = 22;
    /// Cells whose scratchpads stage one SRAM-tier access (its rate is this many times SCRATCHPAD_RATE).
    pub const SRAM_PORTS: usize = 23;
    /// HBM bytes (64-bit); 0 where the chip has none.
    pub const HBM_BYTES: usize = 24;
    /// DDR bytes (64-bit).
    pub const DDR_BYTES: usize = 26;
    /// Mesh rows of a strip of the site snake.
    pub const STRIP: usize = 28;
}

/// One lowered program.
pub mod program {
    /// Name: `embed`, the kind's name, or `head` (string).
    pub const NAME: usize = 0;
    /// LOGOS text (string).
    pub const TEXT: usize = 2;
    /// 0 embed, 1 layer, 2 head.
    pub const ROLE: usize = 4;
    /// Layers that run this program (1 for embed and head).
    pub const LAYERS: usize = 5;
    /// First value row, count.
    pub const VALUES: usize = 6;
    /// First statement row, count.
    pub const STATEMENTS: usize = 8;
    /// First section row, count.
    pub const SECTIONS: usize = 10;
    /// First binding row, count.
    pub const BINDINGS: usize = 12;
    /// Rows of an activation in this program (sequences x tokens; the head of a prefill: sequences).
    pub const ROWS: usize = 14;
    /// First layer that runs it (its names are that layer's).
    pub const FIRST_LAYER: usize = 15;
}

/// One section: a net that is on the chip at a time.
pub mod section {
    /// Program.
    pub const PROGRAM: usize = 0;
    /// Rows R of a group.
    pub const GROUP_ROWS: usize = 1;
    /// Groups I of an iteration.
    pub const GROUPS: usize = 2;
    /// First stage row, count.
    pub const STAGES: usize = 3;
    /// First edge row, count.
    pub const EDGES: usize = 5;
    /// First turn row, count.
    pub const TURNS: usize = 7;
    /// Interval H, cycles of the unit model (64-bit).
    pub const INTERVAL: usize = 9;
    /// Span, cycles (64-bit): last result minus first input.
    pub const SPAN: usize = 11;
    /// What binds: 0 memory, 1 stage, 2 recurrence, 3 loop, 4 span (a section that runs once).
    pub const BINDER: usize = 13;
    /// The bound B, cycles (64-bit).
    pub const BOUND: usize = 14;
}

/// One tensor of a program. Shapes are *whole* shapes; a chip's share follows from axis and parts.
pub mod value {
    /// Name (string).
    pub const NAME: usize = 0;
    /// 0 input, 1 weight, 2 state, 3 table, 4 bound by a statement.
    pub const ROLE: usize = 2;
    /// Element storage: see [`super::storage`].
    pub const STORAGE: usize = 3;
    /// Copies: one a sequence (states), one an expert (weights of experts); else 1.
    pub const SEQS: usize = 4;
    /// Rows.
    pub const ROWS: usize = 5;
    /// Columns.
    pub const COLS: usize = 6;
    /// 0 whole, 1 split rows, 2 split columns, 3 partial, 4 split experts (the copies of a weight of experts).
    pub const SHARDING: usize = 7;
    /// Parts the axis is split into (divides the chips; chip c holds part c*parts/chips); else 1.
    pub const PARTS: usize = 8;
    /// Columns of a token of this value on one chip.
    pub const TILE: usize = 9;
    /// Tier of a declared value: 0 SRAM, 1 HBM, 2 DDR; [`super::NONE`] for a bound one that crosses no section.
    pub const TIER: usize = 10;
    /// Statement that binds it, program-relative; [`super::NONE`] for weights, states and tables.
    pub const STATEMENT: usize = 11;
    /// Rope recipe row of a table; else [`super::NONE`].
    pub const ROPE: usize = 12;
    /// Bit 0: the same bytes are counted by another program (a tied head).
    pub const FLAGS: usize = 13;
}

/// Element storages.
pub mod storage {
    /// 4 bytes.
    pub const F32: u32 = 0;
    /// 2 bytes.
    pub const F16: u32 = 1;
    /// 2 bytes.
    pub const BF16: u32 = 2;
    /// 34 bytes for 32 elements along the contracted (row) axis.
    pub const Q8_0: u32 = 3;
    /// 4 bytes, integers (tokens, positions).
    pub const I32: u32 = 4;
    /// A byte, and 4 for a scale (f32) of 128 rows by 128 columns.
    pub const F8_E4M3: u32 = 5;
    /// 17 bytes for 32 elements along the contracted (row) axis: two a byte, and one for their scale, a power of two.
    pub const MXFP4: u32 = 6;
}

/// One statement.
pub mod statement {
    /// Operation code: see [`super::op`].
    pub const OP: usize = 0;
    /// Value bound (or shown, or appended to).
    pub const RESULT: usize = 1;
    /// Up to eight operands, [`super::NONE`] where absent. Program-relative values.
    pub const OPERANDS: usize = 2;
    /// Number of operand words.
    pub const OPERAND_COUNT: usize = 8;
    /// Up to six attributes; a real number is its f32 bits.
    pub const ATTRIBUTES: usize = 10;
    /// Number of attribute words.
    pub const ATTRIBUTE_COUNT: usize = 6;
}

/// Operation codes. Operands and attributes in the order given.
pub mod op {
    /// Declaration of a Real input. result: the input.
    pub const INPUT: u32 = 1;
    /// `Show v`. result: v.
    pub const SHOW: u32 = 2;
    /// `Append v to S at pos`. result: S. operands: v, pos.
    pub const APPEND: u32 = 3;
    /// operands: x, W.
    pub const MATMUL: u32 = 16;
    /// operands: a, b (b may be a 1-row weight).
    pub const PLUS: u32 = 17;
    /// operands: a, b (b may be a 1-row weight).
    pub const TIMES: u32 = 18;
    /// operands: a. attributes: factor.
    pub const SCALED: u32 = 19;
    /// operands: a.
    pub const SILU: u32 = 20;
    /// operands: a. attributes: form (0 erf, 1 tanh).
    pub const GELU: u32 = 21;
    /// operands: a.
    pub const SIGMOID: u32 = 22;
    /// operands: a.
    pub const TANH: u32 = 23;
    /// operands: a. attributes: cap.
    pub const SOFTCAP: u32 = 24;
    /// operands: gate, up.
    pub const SWIGLU: u32 = 25;
    /// operands: gate, up. attributes: form (0 erf, 1 tanh).
    pub const GEGLU: u32 = 26;
    /// operands: x, weight (or NONE). attributes: eps, offset, heads (0: the whole row). A weight of heads has one row, or one a head.
    pub const RMSNORM: u32 = 27;
    /// operands: x, weight (or NONE), bias (or NONE). attributes: eps, heads (0: the whole row).
    pub const LAYERNORM: u32 = 28;
    /// operands: x. attributes: eps, scale, heads.
    pub const L2NORM: u32 = 29;
    /// operands: x, cos, sin. attributes: heads, rotary width, pairing (0 halves, 1 adjacent).
    pub const ROPE: u32 = 30;
    /// operands: q, k, v, pos, K, V, sinks (pos, K, V NONE when stateless, sinks where there are none).
    /// attributes: heads, kv heads, scale, window (0 none), chunk (0 none), softcap (0 none).
    pub const ATTENTION: u32 = 31;
    /// operands: x, taps, R (or NONE). attributes: taps, activation (0 none, 1 silu).
    pub const CONV: u32 = 32;
    /// operands: a, A_log, dt_bias.
    pub const DECAY: u32 = 33;
    /// operands: q, k, v, g, beta, S (or NONE). attributes: value heads, key heads.
    pub const DELTA: u32 = 34;
    /// operands: E, token.
    pub const ROWS: u32 = 35;
    /// operands: x. attributes: sequences.
    pub const LAST_ROW: u32 = 36;
    /// operands: x. attributes: below (the columns beyond stand for nothing; 0: there are none).
    pub const ARGMAX: u32 = 37;
    /// operands: x.
    pub const SUM_CHIPS: u32 = 38;
    /// operands: x.
    pub const GATHER_CHIPS: u32 = 39;
    /// operands: y, g (one column, or a table of one).
    pub const ROW_SCALE: u32 = 40;
    /// operands: x, W. attributes: heads, whether W's heads lie on its rows (1) or columns (0).
    pub const HEAD_MATMUL: u32 = 41;
    /// operands: q (in the latent), qp (rotated), c, p, pos, C, P (pos, C, P NONE when stateless). attributes: heads, scale.
    pub const LATENT_ATTENTION: u32 = 42;
    /// operands: logits, correction (or NONE). attributes: experts a row, score (0 softmax, 1 softmax of the chosen,
    /// 2 sigmoid), groups (0 none), groups kept, flags (1 normalised, 2 a group's score is the sum of its two best), scale.
    pub const ROUTER: u32 = 43;
    /// operands: x, r, gate, up, down, and their biases (or NONE, all three). attributes: experts, experts a row,
    /// activation (0 silu, 1 gelu, 2 gelu tanh, 3 clamped), alpha, limit (of the last, else 0), flags (1: the score scales the input).
    pub const EXPERTS: u32 = 44;
}

/// One pipeline stage.
pub mod stage {
    /// Statement, program-relative.
    pub const STATEMENT: usize = 0;
    /// Part of the statement's decomposition: see RULES.md section 3.
    pub const PART: usize = 1;
    /// Primitive: see [`super::primitive`].
    pub const PRIMITIVE: usize = 2;
    /// Firings an iteration.
    pub const FIRINGS: usize = 3;
    /// Cells over the A units.
    pub const NA: usize = 4;
    /// Cells over the B units.
    pub const NB: usize = 5;
    /// First site along the snake.
    pub const SITE: usize = 6;
    /// Turn (section-relative) of a load from HBM or DDR; else [`super::NONE`].
    pub const TURN: usize = 7;
    /// Start of the first firing, cycles (64-bit).
    pub const START: usize = 8;
    /// Period T, cycles (64-bit).
    pub const PERIOD: usize = 10;
    /// Initiation interval, cycles (64-bit).
    pub const II: usize = 12;
    /// Bytes of the token a load, store or collective moves a firing (64-bit); 0 for the rest.
    pub const BYTES: usize = 14;
}

/// Parts that stand outside an operation's own decomposition.
pub mod part {
    /// Store of a value that another section reads.
    pub const SPILL: u32 = 14;
    /// Load of a value that an earlier section spilled.
    pub const RELOAD: u32 = 15;
}

/// Stage primitives.
pub mod primitive {
    /// Reads a tier.
    pub const LOAD: u32 = 0;
    /// Writes a tier.
    pub const STORE: u32 = 1;
    /// Product A: holds x, streams output tiles.
    pub const GEMM_A: u32 = 2;
    /// Product B: streams K tiles, emits the whole output of a group.
    pub const GEMM_B: u32 = 3;
    /// Elementwise over a tile.
    pub const MAP: u32 = 4;
    /// Reduction over a row or a head.
    pub const REDUCE: u32 = 5;
    /// Recurrence over rows.
    pub const SCAN: u32 = 6;
    /// Load indexed by ids.
    pub const GATHER: u32 = 7;
    /// Attention scores.
    pub const SCORES: u32 = 8;
    /// Online softmax.
    pub const SOFTMAX: u32 = 9;
    /// Attention values.
    pub const VALUES: u32 = 10;
    /// Between chips.
    pub const COLLECTIVE: u32 = 11;
}

/// One edge: the only reader of its own buffer.
pub mod edge {
    /// Producer stage, section-relative.
    pub const FROM: usize = 0;
    /// Consumer stage, section-relative.
    pub const TO: usize = 1;
    /// Consumer's port.
    pub const PORT: usize = 2;
    /// 0 stream, 1 hold.
    pub const KIND: usize = 3;
    /// Tokens a producer firing (stream); else 0.
    pub const P: usize = 4;
    /// Tokens a consumer firing (stream); else 0.
    pub const Q: usize = 5;
    /// Groups of a hold; else 0.
    pub const GROUPS: usize = 6;
    /// Capacity: tokens of a stream, buffers of a hold.
    pub const CAPACITY: usize = 7;
    /// Bytes of a token (stream) or of a whole group (hold).
    pub const SLOT_BYTES: usize = 8;
    /// First byte in the chip's linear scratchpad space.
    pub const ADDRESS: usize = 9;
    /// Value that flows (program-relative); [`super::NONE`] between parts of one statement.
    pub const VALUE: usize = 10;
}

/// One window of a memory's cyclic order.
pub mod turn {
    /// Tier: 1 HBM, 2 DDR.
    pub const TIER: usize = 0;
    /// Window start (64-bit).
    pub const START: usize = 2;
    /// Window length (64-bit).
    pub const LENGTH: usize = 4;
    /// Of a head, the turn (section-relative) whose loads' first firings it has, for the next iteration; else 0.
    pub const OF: usize = 6;
    /// How many firings of each; 0 where the turn is no head.
    pub const AHEAD: usize = 7;
}

/// A rotary table's recipe: `angle = position * frequency(m)`, `m` below half the rotary width.
pub mod rope {
    /// 0 cosines, 1 sines, 2 a temperature: `1 + scale * ln(1 + floor((position + 1) / floor))`, scale and floor the first two parameters and
    /// the words after them 0, as are those before; its table is one column.
    pub const PART: usize = 0;
    /// theta, f64 bits (64-bit).
    pub const THETA: usize = 1;
    /// Rotary width.
    pub const ROTARY: usize = 3;
    /// Scaling: 0 none, 1 linear, 2 dynamic, 3 llama3, 4 yarn, 5 longrope.
    pub const SCALING: usize = 4;
    /// Up to eight parameters of the scaling, f32 bits, in the order of the specification's fields (of longrope: original).
    pub const PARAMETERS: usize = 5;
    /// Factor on every entry (yarn, longrope), f32 bits.
    pub const FACTOR: usize = 13;
    /// First word, in [`super::Part::Factors`], of longrope's divisors of the frequencies, one a pair: the long ones where the
    /// deployment's `CTX` (of a forward step `TOKENS`) exceeds `original`, else the short ones. 0 for other scalings.
    pub const FACTORS: usize = 14;
}

/// How a declared value of a program is named and found, for any layer and chip.
pub mod binding {
    /// Value, program-relative.
    pub const VALUE: usize = 0;
    /// Name in the program with `{l}` for the layer (string). The hidden state's is `x` at layer 0, `xo{l-1}` after.
    pub const NAME: usize = 1;
    /// Checkpoint tensor with `{l}` for the layer (string; empty for values no checkpoint holds).
    pub const TENSOR: usize = 3;
    /// 1: the program's rows are the stored tensor's axis 1.
    pub const TRANSPOSED: usize = 5;
    /// First index along the stored axis [`TAKEN`].
    pub const OFFSET: usize = 6;
    /// Contiguous indices a run.
    pub const RUN: usize = 7;
    /// Distance between runs.
    pub const STRIDE: usize = 8;
    /// Runs.
    pub const COUNT: usize = 9;
    /// Stored shape, axis 0 and 1 (further axes folded into axis 1), of one expert where [`STACKED`].
    pub const STORED: usize = 10;
    /// 0 weight, 1 state carried to the next step, 2 table the host fills, 3 hidden state in, 4 index input.
    pub const CLASS: usize = 12;
    /// The stored axis along which indices are taken, 0 or 1; all of the other are.
    pub const TAKEN: usize = 13;
    /// 1: the stored tensor has an axis of its own for the experts, before the two. A weight of experts without it is one
    /// tensor an expert, `{e}` for the expert in [`TENSOR`].
    pub const STACKED: usize = 14;
    /// Zeros that the value has after its last stored index, along the axis [`TAKEN`]: rows of a padded vocabulary.
    pub const PADDING: usize = 15;
}

/// One layer.
pub mod layer {
    /// Program that runs it.
    pub const PROGRAM: usize = 0;
    /// Identity of the layer's cut: SHA-256, eight words (big-endian bytes of the digest, word by word).
    pub const IDENTITY: usize = 8;
}

/// Identities of a program.
pub mod digest {
    /// Identity of the cut (SHA-256 of the canonical specification and the cut), eight words.
    pub const IDENTITY: usize = 0;
    /// SHA-256 of the program's text, eight words.
    pub const TEXT: usize = 8;
}
