//! What the figures of a model's fit come from.

use logos_bundle::table::layout::Part;

use super::super::frame::Label;
use super::super::trace::{From, Keys, Row, Rows, derived};
use super::super::{ii, program};
use crate::chip::Field;

/// Keys that say which tensors there are and of what shape, in every family.
pub(in super::super) const SHAPES: From = From::Config(Keys {
    name: "shapes",
    keys: &[
        "model_type",
        "hidden_size",
        "vocab_size",
        "num_hidden_layers",
        "layer_types",
        "num_attention_heads",
        "num_key_value_heads",
        "num_kv_heads",
        "multi_query",
        "new_decoder_architecture",
        "parallel_attn",
        "num_ln_in_parallel_attn",
        "head_dim",
        "intermediate_size",
        "intermediate_size_mlp",
        "ffn_hidden_size",
        "tie_word_embeddings",
        "attention_bias",
        "mlp_bias",
        "use_bias",
        "bias",
        "use_qk_norm",
        "qk_layernorm",
        "qk_norm_type",
        "use_parallel_residual",
        "norm_type",
        "mlp_type",
        "v_head_dim",
        "q_lora_rank",
        "kv_lora_rank",
        "qk_nope_head_dim",
        "qk_rope_head_dim",
        "num_experts",
        "num_local_experts",
        "n_routed_experts",
        "n_shared_experts",
        "moe_intermediate_size",
        "shared_expert_intermediate_size",
        "first_k_dense_replace",
        "moe_layer_freq",
        "decoder_sparse_step",
        "mlp_only_layers",
        "interleave_moe_layer_step",
        "moe_layers",
        "linear_num_key_heads",
        "linear_num_value_heads",
        "linear_key_head_dim",
        "linear_value_head_dim",
        "linear_conv_kernel_dim",
        "full_attention_interval",
        "topk_method",
        "alibi",
        "attn_bias",
    ],
});

/// Keys that say how elements are stored.
pub(in super::super) const STORED: From =
    From::Config(Keys { name: "stored", keys: &["dtype", "torch_dtype", "mamba_ssm_dtype"] });

/// Keys that bound what a position attends to.
pub(in super::super) const SPANS: From = From::Config(Keys {
    name: "spans",
    keys: &[
        "layer_types",
        "sliding_window",
        "use_sliding_window",
        "max_window_layers",
        "sliding_window_pattern",
        "sliding_window_size",
        "attention_chunk_size",
        "no_rope_layers",
        "no_rope_layer_interval",
    ],
});

/// Keys that say how many experts a token chooses.
pub(in super::super) const CHOSEN: From = From::Config(Keys {
    name: "chosen",
    keys: &["num_experts_per_tok", "experts_per_token", "num_experts_per_token", "topk_group", "n_group"],
});

/// Keys that say how rotary tables and attention are made, of which the tables have sizes.
pub(in super::super) const TURNED: From = From::Config(Keys {
    name: "turned",
    keys: &[
        "partial_rotary_factor",
        "rotary_pct",
        "rope_theta",
        "rope_type",
        "attn_temperature_tuning",
        "floor_scale",
        "attn_scale",
        "rope_scaling",
        "rope_parameters",
        "rope_local_base_freq",
        "use_rope",
        "full_attention",
        "sliding_attention",
        "type",
    ],
});

/// Keys that say how far positions go.
pub(in super::super) const REACH: From = From::Config(Keys {
    name: "reach",
    keys: &[
        "max_position_embeddings",
        "original_max_position_embeddings",
        "factor",
        "rope_type",
        "type",
        "initial_context_length",
    ],
});

pub(in super::super) const CTX: From = From::Request("ctx");
pub(in super::super) const BATCH: From = From::Request("batch");
pub(in super::super) const TP: From = From::Request("tp");
pub(in super::super) const WEIGHTS: From = From::Request("weights");

/// Operations with weights that multiply.
const PRODUCTS: From = From::Operations(&["matmul", "head matmul", "experts"]);
const ATTENDING: From = From::Operations(&["attention", "latent attention"]);
const RECURRING: From = From::Operations(&["gated delta"]);
const CONVOLVING: From = From::Operations(&["causal conv"]);

/// The memory that weights and states live in.
const MEMORY: &[From] = &[From::Fact(Field::HbmBytes), From::Fact(Field::DdrBytesSizing)];

const ROWS: &[Row] = &[
    derived("/version", &[], "version of the document's schema"),
    Row {
        figures: "/model/config/*",
        label: Label::Published,
        from: &[SHAPES, STORED, SPANS, CHOSEN, TURNED, REACH],
        how: "as the config states it under this path",
    },
    Row {
        figures: "/model/config/*/*",
        label: Label::Published,
        from: &[SHAPES, SPANS, TURNED],
        how: "as the config states it under this path",
    },
    derived("/model/gguf/f16_tensors", &[SHAPES], "matrices whose rows are not whole blocks of 32"),
    derived("/model/gguf/f16_bytes", &[SHAPES], "two bytes an element of these"),
    derived(
        "/model/gguf/bytes",
        &[SHAPES],
        "34 bytes for 32 elements of a matrix, two an element of the f16, four of all else",
    ),
    derived(
        "/model/weights/params",
        &[SHAPES],
        "the product of each stored tensor's shape, buffers left out, a tied head once",
    ),
    derived("/model/weights/tensors", &[SHAPES], "stored tensors by name"),
    derived("/model/weights/q8_0_tensors", &[SHAPES], "matrices of products and the embedding"),
    derived("/model/weights/f32_tensors", &[SHAPES], "vectors, norms, convolution taps, routers"),
    derived("/model/weights/q8_0_bytes", &[SHAPES], "34 bytes for 32 elements, a last block as long as what is left"),
    derived("/model/weights/f32_bytes", &[SHAPES], "four bytes an element"),
    derived("/model/weights/gguf_bytes", &[SHAPES], "the sum of what a GGUF file stores"),
    derived("/model/weights/bf16_bytes", &[SHAPES], "two bytes an element"),
    derived("/model/weights/bytes", &[SHAPES, STORED, WEIGHTS], "elements times how the programs declare them stored"),
    derived(
        "/model/weights/by_storage/*/tensors",
        &[SHAPES, STORED, WEIGHTS],
        "stored tensors, as the programs declare them stored",
    ),
    derived(
        "/model/weights/by_storage/*/bytes",
        &[SHAPES, STORED, WEIGHTS],
        "elements times how the programs declare them stored",
    ),
    derived("/model/weights/embedding/rows", &[SHAPES], "vocabulary"),
    derived("/model/weights/embedding/cols", &[SHAPES], "hidden width"),
    derived("/model/weights/embedding/bytes", &[SHAPES, STORED, WEIGHTS], "rows times columns as stored"),
    derived(
        "/model/tensors/*/count",
        &[SHAPES, BATCH, TP, SPANS, TURNED],
        "experts of the name, sequences of a state, else one",
    ),
    derived(
        "/model/tensors/*/rows",
        &[SHAPES, SPANS, CHOSEN, CTX, BATCH, TP, TURNED],
        "as the checkpoint stores it or the program declares it",
    ),
    derived(
        "/model/tensors/*/cols",
        &[SHAPES, CHOSEN, TURNED, TP, SPANS],
        "as the checkpoint stores it or the program declares it",
    ),
    derived("/model/tensors/*/layer", &[SHAPES, TP, SPANS, TURNED], "number of its layer"),
    derived(
        "/model/tensors/*/bytes",
        &[SHAPES, STORED, SPANS, CHOSEN, TURNED, CTX, BATCH, WEIGHTS, TP],
        "rows times columns as stored, of all of the name",
    ),
    derived("/deployment/tp", &[TP, SHAPES], "as asked, or the widest that the model admits within a rack"),
    derived("/deployment/ctx", &[CTX, REACH], "as asked, or the model's own most"),
    derived("/deployment/batch", &[BATCH], "as asked"),
    derived("/tensor_parallel/chips", &[TP, SHAPES], "as asked, or the widest that the model admits within a rack"),
    derived(
        "/tensor_parallel/sharded_weight_bytes_per_chip",
        &[SHAPES, STORED, WEIGHTS, TP],
        "a chip's share of the declared weights that are split",
    ),
    derived(
        "/tensor_parallel/replicated_weight_bytes",
        &[SHAPES, STORED, WEIGHTS, TP],
        "the declared weights that are whole",
    ),
    derived("/tensor_parallel/weights_per_chip_bytes", &[SHAPES, STORED, WEIGHTS, TP], "sharded and replicated bytes"),
    derived(
        "/tensor_parallel/state_bytes_per_chip",
        &[RECURRING, CONVOLVING, SHAPES, STORED, TP, BATCH],
        "a chip's share of the declared states of recurrences and convolutions",
    ),
    derived("/tensor_parallel/kv_cache_at_ctx/ctx", &[CTX, REACH], "as asked, or the model's own most"),
    derived(
        "/tensor_parallel/kv_cache_at_ctx/bytes",
        &[ATTENDING, SHAPES, STORED, SPANS, CTX, BATCH],
        "the declared states that attention reads, a window or chunk bounding them",
    ),
    derived("/tensor_parallel/kv_cache_at_ctx/kv_shards", &[ATTENDING, SHAPES, TP], "chips over replication"),
    derived(
        "/tensor_parallel/kv_cache_at_ctx/replication",
        &[ATTENDING, SHAPES, TP],
        "bytes of all chips over bytes of the parts",
    ),
    derived(
        "/tensor_parallel/kv_cache_at_ctx/per_chip_bytes",
        &[ATTENDING, SHAPES, STORED, SPANS, CTX, BATCH, TP],
        "a chip's share of these states",
    ),
    derived(
        "/tensor_parallel/hbm_bytes_per_chip",
        MEMORY,
        "HBM, or the DDR that fit is computed against where there is none",
    ),
    derived(
        "/tensor_parallel/ddr_weight_bytes_per_chip",
        &[
            From::Fact(Field::HbmBytes),
            From::Fact(Field::DdrBytesSizing),
            SHAPES,
            STORED,
            SPANS,
            CHOSEN,
            CTX,
            BATCH,
            TP,
            WEIGHTS,
        ],
        "experts that go to DDR until HBM holds what is left",
    ),
    derived(
        "/tensor_parallel/hbm_need_bytes",
        &[SHAPES, STORED, SPANS, CTX, BATCH, TP, WEIGHTS],
        "weights and carried states of a chip",
    ),
    derived(
        "/tensor_parallel/hbm_headroom_bytes",
        &[
            From::Fact(Field::HbmBytes),
            From::Fact(Field::DdrBytesSizing),
            SHAPES,
            STORED,
            SPANS,
            CTX,
            BATCH,
            TP,
            WEIGHTS,
        ],
        "memory less need",
    ),
    derived(
        "/tensor_parallel/max_ctx_in_hbm",
        &[
            From::Fact(Field::HbmBytes),
            From::Fact(Field::DdrBytesSizing),
            SHAPES,
            STORED,
            SPANS,
            REACH,
            BATCH,
            TP,
            WEIGHTS,
        ],
        "the last context whose need is no more than the memory, by halving",
    ),
    derived(
        "/tensor_parallel/max_sequences_in_hbm",
        &[From::Fact(Field::HbmBytes), From::Fact(Field::DdrBytesSizing), SHAPES, STORED, SPANS, CTX, TP, WEIGHTS],
        "memory beside the weights over a sequence's states",
    ),
    derived(
        "/tensor_parallel/ladder/*/chips",
        &[From::Fact(Field::ChipsPerNode), From::Fact(Field::ChipsPerRack)],
        "one, a node, a rack",
    ),
    derived(
        "/tensor_parallel/ladder/*/tensor_parallel",
        &[From::Fact(Field::ChipsPerNode), From::Fact(Field::ChipsPerRack), SHAPES],
        "the widest width that the model admits in the domain",
    ),
    derived(
        "/tensor_parallel/ladder/*/weights_per_chip_bytes",
        &[SHAPES, STORED, WEIGHTS, From::Fact(Field::ChipsPerNode), From::Fact(Field::ChipsPerRack)],
        "as above, at this width",
    ),
    derived(
        "/tensor_parallel/ladder/*/state_bytes_per_chip",
        &[SHAPES, STORED, SPANS, CTX, BATCH, From::Fact(Field::ChipsPerNode), From::Fact(Field::ChipsPerRack)],
        "all carried states of a chip, at this width",
    ),
    derived(
        "/tensor_parallel/ladder/*/kv_cache_per_chip_bytes",
        &[SHAPES, STORED, SPANS, CTX, BATCH, From::Fact(Field::ChipsPerNode), From::Fact(Field::ChipsPerRack)],
        "of these the caches",
    ),
    derived(
        "/tensor_parallel/ladder/*/ddr_weight_bytes_per_chip",
        &[
            From::Fact(Field::HbmBytes),
            From::Fact(Field::DdrBytesSizing),
            SHAPES,
            STORED,
            SPANS,
            CTX,
            BATCH,
            WEIGHTS,
            From::Fact(Field::ChipsPerNode),
            From::Fact(Field::ChipsPerRack),
        ],
        "what HBM does not hold, of experts",
    ),
    derived(
        "/tensor_parallel/ladder/*/hbm_need_bytes",
        &[SHAPES, STORED, SPANS, CTX, BATCH, WEIGHTS, From::Fact(Field::ChipsPerNode), From::Fact(Field::ChipsPerRack)],
        "weights and carried states",
    ),
    derived(
        "/tensor_parallel/ladder/*/hbm_headroom_bytes",
        &[
            From::Fact(Field::HbmBytes),
            From::Fact(Field::DdrBytesSizing),
            SHAPES,
            STORED,
            SPANS,
            CTX,
            BATCH,
            WEIGHTS,
            From::Fact(Field::ChipsPerNode),
            From::Fact(Field::ChipsPerRack),
        ],
        "memory less need",
    ),
    derived(
        "/tensor_parallel/ladder/*/max_ctx_in_hbm",
        &[
            From::Fact(Field::HbmBytes),
            From::Fact(Field::DdrBytesSizing),
            SHAPES,
            STORED,
            SPANS,
            REACH,
            BATCH,
            WEIGHTS,
            From::Fact(Field::ChipsPerNode),
            From::Fact(Field::ChipsPerRack),
        ],
        "the last context whose need is no more than the memory",
    ),
    derived("/tensor_parallel/sharding/*/parts", &[SHAPES, TP], "parts of the declared value"),
    derived(
        "/residency/sram_bytes",
        &[From::Fact(Field::PcuCount), From::Fact(Field::SramBytesPerPmu)],
        "cells times scratchpad",
    ),
    derived("/residency/reserve_bytes", &[From::Certificate(Part::Edges)], "the buffers of the largest section"),
    derived(
        "/residency/sram_state_bytes_per_chip",
        &[From::Certificate(Part::Values)],
        "carried states whose row says SRAM",
    ),
    derived(
        "/residency/activations_per_token_bytes",
        &[SHAPES, STORED, SPANS, CHOSEN],
        "of the layers, the largest live set of a walk over the statements, a row",
    ),
    derived("/residency/activations_peak_layer", &[SHAPES, SPANS, CHOSEN], "the first layer of that program"),
    derived(
        "/residency/lm_head_live_set_bytes",
        &[SHAPES, STORED, BATCH],
        "the largest live set of a walk over the head's statements",
    ),
    derived(
        "/residency/lm_head_live_set_per_chip_bytes",
        &[SHAPES, STORED, BATCH, TP],
        "the same, of each value the chip's share",
    ),
    derived("/residency/gdn_state_bytes", &[RECURRING, SHAPES, STORED, BATCH], "the declared states of recurrences"),
    derived("/residency/gdn_state_bytes_per_chip", &[RECURRING, SHAPES, STORED, BATCH, TP], "a chip's share of them"),
    derived("/residency/conv_state_bytes", &[CONVOLVING, SHAPES, STORED, BATCH], "the declared states of convolutions"),
    derived("/residency/conv_state_bytes_per_chip", &[CONVOLVING, SHAPES, STORED, BATCH, TP], "a chip's share of them"),
    derived(
        "/residency/kv_cache_bytes_per_token",
        &[ATTENDING, SHAPES, STORED],
        "a row of every state that attention reads",
    ),
    derived("/residency/kv_cache_bytes_per_token_per_chip", &[ATTENDING, SHAPES, STORED, TP], "a chip's share of them"),
    derived(
        "/residency/recurrent_working_set_per_chip_bytes",
        &[SHAPES, STORED, SPANS, CHOSEN, BATCH, TP],
        "a chip's live set of a layer, memories and rings",
    ),
    derived(
        "/residency/tiers/kv_cache/sram_until_ctx",
        &[
            From::Fact(Field::PcuCount),
            From::Fact(Field::SramBytesPerPmu),
            SHAPES,
            STORED,
            SPANS,
            REACH,
            BATCH,
            TP,
            From::Certificate(Part::Edges),
        ],
        "the last context whose caches fit on-chip memory beside the reserve, memories and rings, by halving",
    ),
    derived(
        "/serving/*/chips",
        &[From::Fact(Field::ChipsPerNode), From::Fact(Field::ChipsPerRack), From::Fact(Field::ScaleUpChipsMax)],
        "the fact",
    ),
    derived("/serving/*/ctx", &[CTX, REACH], "as asked, or the model's own most"),
    derived(
        "/serving/*/tensor_parallel",
        &[SHAPES, From::Fact(Field::ChipsPerNode), From::Fact(Field::ChipsPerRack), From::Fact(Field::ScaleUpChipsMax)],
        "the widest width that the model admits in the domain",
    ),
    derived(
        "/serving/*/data_parallel",
        &[SHAPES, From::Fact(Field::ChipsPerNode), From::Fact(Field::ChipsPerRack), From::Fact(Field::ScaleUpChipsMax)],
        "chips of the domain over the width",
    ),
    derived(
        "/serving/*/idle_chips",
        &[SHAPES, From::Fact(Field::ChipsPerNode), From::Fact(Field::ChipsPerRack), From::Fact(Field::ScaleUpChipsMax)],
        "chips of the domain less those of all replicas",
    ),
    derived(
        "/serving/*/hbm_bytes_per_chip",
        MEMORY,
        "HBM, or the DDR that fit is computed against where there is none",
    ),
    derived(
        "/serving/*/weights_per_chip_bytes",
        &[
            SHAPES,
            STORED,
            WEIGHTS,
            From::Fact(Field::ChipsPerNode),
            From::Fact(Field::ChipsPerRack),
            From::Fact(Field::ScaleUpChipsMax),
        ],
        "weights of a chip of the width",
    ),
    derived(
        "/serving/*/sequence_bytes_per_chip",
        &[
            SHAPES,
            STORED,
            SPANS,
            CTX,
            REACH,
            From::Fact(Field::ChipsPerNode),
            From::Fact(Field::ChipsPerRack),
            From::Fact(Field::ScaleUpChipsMax),
        ],
        "carried state of one sequence on a chip of the width",
    ),
    derived(
        "/serving/*/max_sequences_per_replica",
        &[
            SHAPES,
            STORED,
            SPANS,
            CTX,
            REACH,
            WEIGHTS,
            From::Fact(Field::HbmBytes),
            From::Fact(Field::DdrBytesSizing),
            From::Fact(Field::ChipsPerNode),
            From::Fact(Field::ChipsPerRack),
            From::Fact(Field::ScaleUpChipsMax),
        ],
        "memory beside the weights over a sequence's state",
    ),
    derived(
        "/serving/*/max_sequences",
        &[
            SHAPES,
            STORED,
            SPANS,
            CTX,
            REACH,
            WEIGHTS,
            From::Fact(Field::HbmBytes),
            From::Fact(Field::DdrBytesSizing),
            From::Fact(Field::ChipsPerNode),
            From::Fact(Field::ChipsPerRack),
            From::Fact(Field::ScaleUpChipsMax),
        ],
        "sequences of a replica times replicas",
    ),
    derived(
        "/serving/*/max_ctx",
        &[
            SHAPES,
            STORED,
            SPANS,
            REACH,
            WEIGHTS,
            From::Fact(Field::HbmBytes),
            From::Fact(Field::DdrBytesSizing),
            From::Fact(Field::ChipsPerNode),
            From::Fact(Field::ChipsPerRack),
            From::Fact(Field::ScaleUpChipsMax),
        ],
        "the last context of which one sequence fits, by halving",
    ),
    derived(
        "/serving/*/sram_bytes_per_chip",
        &[From::Fact(Field::PcuCount), From::Fact(Field::SramBytesPerPmu)],
        "cells times scratchpad",
    ),
    derived(
        "/serving/*/activation_bytes_per_sequence",
        &[
            SHAPES,
            STORED,
            SPANS,
            CHOSEN,
            From::Fact(Field::ChipsPerNode),
            From::Fact(Field::ChipsPerRack),
            From::Fact(Field::ScaleUpChipsMax),
        ],
        "the largest live set of a chip of the width, of all programs of a step of one sequence",
    ),
    derived(
        "/serving/*/sequences_resident_in_sram",
        &[
            SHAPES,
            STORED,
            SPANS,
            CHOSEN,
            CTX,
            REACH,
            WEIGHTS,
            From::Fact(Field::HbmBytes),
            From::Fact(Field::DdrBytesSizing),
            From::Fact(Field::PcuCount),
            From::Fact(Field::SramBytesPerPmu),
            From::Fact(Field::ChipsPerNode),
            From::Fact(Field::ChipsPerRack),
            From::Fact(Field::ScaleUpChipsMax),
        ],
        "on-chip memory over a sequence's activations, memories and rings",
    ),
    derived("/per_layer/*/layer", &[SHAPES], "its number"),
    derived("/per_layer/*/weight_params", &[SHAPES], "the product of each of its tensors' shape"),
    derived("/per_layer/*/weight_bytes_bf16", &[SHAPES], "two bytes an element"),
    derived("/per_layer/*/weight_bytes_gguf", &[SHAPES], "as a GGUF file of Q8_0 matrices stores them"),
    derived(
        "/per_layer/*/weight_bytes",
        &[SHAPES, STORED, WEIGHTS],
        "elements times how the program declares them stored",
    ),
    derived(
        "/per_layer/*/weight_macs",
        &[PRODUCTS, SHAPES, CHOSEN],
        "one an element of each weight that a row is multiplied with; of experts the chosen ones",
    ),
    derived(
        "/per_layer/*/attention_macs_at_ctx",
        &[ATTENDING, SHAPES, SPANS, CTX],
        "scores and weighted sum over the positions a row sees, each head",
    ),
    derived(
        "/per_layer/*/gdn_recurrence_macs",
        &[RECURRING, SHAPES],
        "four passes over every value head's memory: decay, S·k, rank-1 update, S·q",
    ),
    derived("/per_layer/*/conv_macs", &[CONVOLVING, SHAPES], "taps times channels"),
    derived(
        "/per_layer/*/macs",
        &[PRODUCTS, ATTENDING, RECURRING, CONVOLVING, SHAPES, SPANS, CHOSEN, CTX],
        "the sum of the four",
    ),
    derived(
        "/per_layer/*/step_bytes",
        &[SHAPES, STORED, SPANS, CHOSEN, TURNED, CTX, BATCH, WEIGHTS],
        "weights, tables and states that a step reads, states it writes, what goes in and comes out",
    ),
    derived(
        "/per_layer/*/arithmetic_intensity_macs_per_byte",
        &[SHAPES, STORED, SPANS, CHOSEN, TURNED, CTX, BATCH, WEIGHTS],
        "a step's multiply-accumulates over its bytes, in hundredths",
    ),
    derived(
        "/per_layer/*/activations_peak_bytes",
        &[SHAPES, STORED, SPANS, CHOSEN, BATCH],
        "the largest live set of a walk over the statements",
    ),
    derived("/lm_head/rows", &[SHAPES], "vocabulary"),
    derived("/lm_head/cols", &[SHAPES], "hidden width"),
    derived("/lm_head/macs", &[PRODUCTS, SHAPES], "one an element of the head's matrix"),
    derived(
        "/lm_head/step_bytes",
        &[SHAPES, STORED, BATCH, WEIGHTS],
        "its matrix and norm, what goes in and comes out",
    ),
    derived(
        "/lm_head/arithmetic_intensity_macs_per_byte",
        &[SHAPES, STORED, BATCH, WEIGHTS],
        "a step's multiply-accumulates over its bytes, in hundredths",
    ),
    derived(
        "/lm_head/activations_peak_bytes",
        &[SHAPES, STORED, BATCH],
        "the largest live set of a walk over its statements",
    ),
    derived(
        "/totals/macs_per_token_at_ctx",
        &[PRODUCTS, ATTENDING, RECURRING, CONVOLVING, SHAPES, SPANS, CHOSEN, CTX],
        "the sum over layers and head",
    ),
    derived("/totals/weight_macs", &[PRODUCTS, SHAPES, CHOSEN], "the sum over the layers"),
    derived("/totals/attention_macs_at_ctx", &[ATTENDING, SHAPES, SPANS, CTX], "the sum over the layers"),
    derived("/totals/gdn_recurrence_macs", &[RECURRING, SHAPES], "the sum over the layers"),
    derived("/totals/conv_macs", &[CONVOLVING, SHAPES], "the sum over the layers"),
    derived("/totals/lm_head_macs", &[PRODUCTS, SHAPES], "as of the head"),
    derived(
        "/totals/step_bytes",
        &[SHAPES, STORED, SPANS, CHOSEN, TURNED, CTX, BATCH, WEIGHTS],
        "the sum over embedding, layers and head",
    ),
    derived(
        "/totals/step_bytes_per_chip",
        &[SHAPES, STORED, SPANS, CHOSEN, TURNED, CTX, BATCH, WEIGHTS, TP],
        "the same of a chip's shares",
    ),
    derived(
        "/totals/arithmetic_intensity_macs_per_byte",
        &[SHAPES, STORED, SPANS, CHOSEN, TURNED, CTX, BATCH, WEIGHTS],
        "a step's multiply-accumulates over its bytes, in hundredths",
    ),
];

pub(super) const TABLES: &[Rows] = &[
    Rows { under: "", rows: ROWS },
    Rows { under: "/programs/*", rows: program::PROGRAM },
    Rows { under: "/certificate", rows: program::CERTIFICATE },
    Rows { under: "/ii_report", rows: ii::TRACE },
    Rows { under: "/ii_of_others/*", rows: ii::TRACE },
];
