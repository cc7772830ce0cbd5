//! Which keys of a config, and which sizes of a request, the figures of a model come from.

use super::super::super::trace::{From, Keys};

/// Keys that say which tensors there are and of what shape, in every family.
pub(in crate::fit::report) const SHAPES: From = From::Config(Keys {
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
pub(in crate::fit::report) const STORED: From =
    From::Config(Keys { name: "stored", keys: &["dtype", "torch_dtype", "mamba_ssm_dtype"] });

/// Keys that bound what a position attends to.
pub(in crate::fit::report) const SPANS: From = From::Config(Keys {
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
pub(in crate::fit::report) const CHOSEN: From = From::Config(Keys {
    name: "chosen",
    keys: &["num_experts_per_tok", "experts_per_token", "num_experts_per_token", "topk_group", "n_group"],
});

/// Keys that say how rotary tables and attention are made, of which the tables have sizes.
pub(in crate::fit::report) const TURNED: From = From::Config(Keys {
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
pub(in crate::fit::report) const REACH: From = From::Config(Keys {
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

pub(in crate::fit::report) const CTX: From = From::Request(&["ctx"]);
/// Rows of a step: a token of each sequence, or a chunk.
pub(in crate::fit::report) const BATCH: From = From::Request(&["batch", "chunk"]);
/// How the model lies over the chips of a width that is not the deployment's own.
pub(in crate::fit::report) const LAID: From = From::Request(&["experts", "vocab"]);
/// How the model lies over the chips.
pub(in crate::fit::report) const TP: From = From::Request(&["tp", "experts", "vocab"]);
pub(in crate::fit::report) const WEIGHTS: From = From::Request(&["weights"]);
