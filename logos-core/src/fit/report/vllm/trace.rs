//! What the figures of a plan come from.

use super::super::model::trace::{BATCH, CHOSEN, CTX, REACH, SHAPES, SPANS, STORED, TP, TURNED, WEIGHTS};
use super::super::trace::{From, Row, Rows, derived};
use crate::chip::Field;

const MEMORY: From = From::Fact(Field::HbmBytes);
const DDR: From = From::Fact(Field::DdrBytesSizing);

const ROWS: &[Row] = &[
    derived("/version", &[], "version of the document's schema"),
    derived("/model/gguf_alternative/bytes", &[SHAPES], "34 bytes for 32 elements of a matrix, four of all else"),
    derived(
        "/serve/tensor_parallel_size",
        &[TP, SHAPES],
        "as asked, or the widest that the model admits within a rack",
    ),
    derived(
        "/serve/max_model_len",
        &[CTX, REACH, SHAPES, STORED, SPANS, TP, WEIGHTS, MEMORY, DDR],
        "as asked, or the longest whose blocks fit, by halving",
    ),
    derived("/serve/reduced_from", &[CTX, REACH], "as asked"),
    derived("/serve/max_num_batched_tokens", &[BATCH], "tokens of a chunk times sequences"),
    derived(
        "/serve/offload/gib",
        &[CTX, REACH, SHAPES, STORED, SPANS, TP, BATCH, WEIGHTS, MEMORY, DDR],
        "what weights and a sequence lack of the memory, in GiB, rounded up; all experts at most",
    ),
    derived(
        "/serve/offload/bytes",
        &[CTX, REACH, SHAPES, STORED, SPANS, TP, BATCH, WEIGHTS, MEMORY, DDR],
        "these GiB, 2^30 bytes each",
    ),
    derived("/serve/offload/experts_bytes", &[SHAPES, STORED, WEIGHTS, TP], "a chip's share of the experts' weights"),
    derived(
        "/serve/offload/largest_parameter_bytes",
        &[SHAPES, STORED, WEIGHTS, TP],
        "a chip's share of the experts of the layer that has most",
    ),
    derived("/serve/offload/ddr_bytes", &[DDR], "the fact"),
    derived("/ops_the_backend_must_support/*/operands/*/copies", &[SHAPES, BATCH], "as the program declares it"),
    derived(
        "/ops_the_backend_must_support/*/operands/*/rows",
        &[SHAPES, SPANS, CHOSEN, CTX, BATCH],
        "as the program declares it",
    ),
    derived("/ops_the_backend_must_support/*/operands/*/cols", &[SHAPES, CHOSEN, TURNED], "as the program declares it"),
    derived("/ops_the_backend_must_support/*/result/copies", &[SHAPES], "as the operation derives it"),
    derived("/ops_the_backend_must_support/*/result/rows", &[SHAPES, BATCH], "as the operation derives it"),
    derived("/ops_the_backend_must_support/*/result/cols", &[SHAPES, CHOSEN, TURNED], "as the operation derives it"),
    derived(
        "/ops_the_backend_must_support/*/times_a_step",
        &[SHAPES, SPANS],
        "statements of the shapes, for every layer that runs the program",
    ),
    derived("/state_bytes_per_layer/attention_kv_per_token", &[SHAPES, STORED], "the most of any kind"),
    derived("/state_bytes_per_layer/gdn_memory", &[SHAPES, STORED], "the most of any kind"),
    derived("/state_bytes_per_layer/conv_rings", &[SHAPES, STORED], "the most of any kind"),
    derived("/state_bytes_per_layer/by_kind/*/layers", &[SHAPES, SPANS], "layers that run the program"),
    derived(
        "/state_bytes_per_layer/by_kind/*/attention_kv_per_token",
        &[SHAPES, STORED],
        "a row of every state that its attention reads",
    ),
    derived(
        "/state_bytes_per_layer/by_kind/*/gdn_memory",
        &[SHAPES, STORED],
        "the state of its recurrence, a sequence",
    ),
    derived(
        "/state_bytes_per_layer/by_kind/*/conv_rings",
        &[SHAPES, STORED],
        "the states of its convolutions, a sequence",
    ),
    derived("/from_fit/weights_bf16_bytes", &[SHAPES], "two bytes an element"),
    derived(
        "/from_fit/weights_per_chip_bytes",
        &[SHAPES, STORED, WEIGHTS, TP],
        "a chip's share of the declared weights",
    ),
    derived(
        "/from_fit/kv_cache_at_ctx",
        &[SHAPES, STORED, SPANS, CTX, BATCH, TP],
        "a chip's share of the states that attention reads",
    ),
    derived(
        "/from_fit/max_ctx_in_hbm",
        &[MEMORY, DDR, SHAPES, STORED, SPANS, REACH, BATCH, TP, WEIGHTS],
        "the last context whose need is no more than the memory",
    ),
    derived(
        "/from_fit/sram_until_ctx",
        &[From::Fact(Field::PcuCount), From::Fact(Field::SramBytesPerPmu), SHAPES, STORED, SPANS, REACH, BATCH, TP],
        "the last context whose caches fit on-chip memory beside the largest section's buffers, memories and rings",
    ),
    derived("/reserved/usable_bytes", &[MEMORY, DDR], "0.92 of the memory, what a server takes where nothing is said"),
    derived("/reserved/available_bytes", &[MEMORY, DDR, SHAPES, STORED, WEIGHTS, TP], "that less the weights"),
    derived("/reserved/pool_block_bytes", &[SHAPES, STORED, SPANS, TP], "a page of every layer of a group"),
    derived("/reserved/block_tokens/*", &[SHAPES, STORED, SPANS, TP], "16, or as many as hold a recurrent state"),
    derived(
        "/reserved/group_layers",
        &[SHAPES, SPANS],
        "layers of the rarest kind, or of the commonest where that is under one and a half as many",
    ),
    derived(
        "/reserved/blocks_per_sequence",
        &[CTX, REACH, SHAPES, STORED, SPANS, TP, WEIGHTS, MEMORY, DDR],
        "the sum over groups of what each charges",
    ),
    derived(
        "/reserved/sequence_bytes",
        &[CTX, REACH, SHAPES, STORED, SPANS, TP, WEIGHTS, MEMORY, DDR],
        "these blocks and the one that is held back",
    ),
    derived(
        "/reserved/max_sequences",
        &[CTX, REACH, SHAPES, STORED, SPANS, TP, WEIGHTS, MEMORY, DDR],
        "blocks of the available bytes less one over a sequence's",
    ),
    derived("/unusual/*/layers", &[SHAPES, SPANS], "layers that run a program with it"),
];

pub(super) const TABLES: &[Rows] = &[Rows { under: "", rows: ROWS }];
