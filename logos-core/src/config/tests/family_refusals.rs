//! Wrong configs of each family: its own keys, one at a time, each with the words of every refusal.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::edited;
use super::refusals::words;

/// The refusals of a config with one key changed (removed where there is no value), for each of the changes.
fn check(slug: &str, changes: &[(&str, Option<Value>)], expected: Expect) {
    let told = changes.iter().map(|(key, value)| {
        let change = match value {
            Some(value) => format!("{key} = {:.60}", value.to_string()),
            None => format!("no {key}"),
        };
        let words = words(&edited(slug, &[(key, value.clone())]));
        // The place is in the message.
        let lines = words.lines().filter(|line| line.starts_with("LOGOS") || line.starts_with(' '));
        let lines: String = lines.map(|line| format!("  {line}\n")).collect();
        format!("{change}\n{lines}")
    });
    expected.assert_eq(&told.collect::<String>());
}

fn set(key: &str, value: Value) -> (&str, Option<Value>) {
    (key, Some(value))
}

#[test]
fn families_without_a_decoder_we_have() {
    let mut told = String::new();
    for slug in ["bert-base-uncased", "gemma-4-26b-a4b", "gpt2", "jamba-1.5-mini", "mamba-codestral-7b"] {
        let words = words(&super::config(&format!("refused/{slug}")));
        let (named, known) = words.split_once(", expected one of ").unwrap();
        assert!(known.contains("\"llama\"") && words.lines().count() == 2, "{words}");
        told += &format!("{named}\n");
    }
    expect![[r#"
        model_type
        LOGOS-CFG-02: `model_type` is "bert" (an encoder, no decoder)
        model_type
        LOGOS-CFG-02: `model_type` is "gemma4" (its layers differ in their heads and have experts beside a dense block)
        model_type
        LOGOS-CFG-02: `model_type` is "gpt2" (its positions are learned and its weights transposed)
        model_type
        LOGOS-CFG-02: `model_type` is "jamba" (its state-space layers are not implemented)
        model_type
        LOGOS-CFG-02: `model_type` is "mamba2" (its state-space layers are not implemented)
    "#]]
    .assert_eq(&told);
}

#[test]
fn experts() {
    check(
        "mixtral-8x7b-v0.1",
        &[
            ("num_local_experts", None),
            ("num_experts_per_tok", None),
            set("num_experts_per_tok", json!(9)),
            set("num_local_experts", json!(0)),
            set("attention_bias", json!(true)),
            set("shared_expert_intermediate_size", json!(64)),
            set("quantization_config", json!({"quant_method": "fp8"})),
        ],
        expect![[r#"
            no num_local_experts
              LOGOS-CFG-03: `num_local_experts` is missing, expected a whole number from 1 to 4294967295
            no num_experts_per_tok
              LOGOS-CFG-03: `num_experts_per_tok` is missing, expected a whole number from 1 to 4294967295
            num_experts_per_tok = 9
              LOGOS-CFG-05: `num_experts_per_tok` is 9, expected at most `num_local_experts`, 8
            num_local_experts = 0
              LOGOS-CFG-04: `num_local_experts` is 0, expected a whole number from 1 to 4294967295
            attention_bias = true
              LOGOS-CFG-06: `attention_bias` is true, and only false is implemented for this family
            shared_expert_intermediate_size = 64
              LOGOS-CFG-06: `shared_expert_intermediate_size` is 64: the key is not known for this family and may change what is computed
                help: remove the key if the model computes the same without it
            quantization_config = {"quant_method":"fp8"}
              LOGOS-CFG-06: `quantization_config` is given, and quantized checkpoints are not implemented
                help: give the config of the model before it was quantized
        "#]],
    );
    check(
        "qwen3-30b-a3b",
        &[
            ("moe_intermediate_size", None),
            set("mlp_only_layers", json!([-1])),
            set("mlp_only_layers", json!(3)),
            set("decoder_sparse_step", json!(0)),
            set("norm_topk_prob", json!(1)),
            set("num_local_experts", json!(8)),
        ],
        expect![[r#"
            no moe_intermediate_size
              LOGOS-CFG-03: `moe_intermediate_size` is missing, expected a whole number from 1 to 4294967295
            mlp_only_layers = [-1]
              LOGOS-CFG-04: `mlp_only_layers` is a list of 1 item, expected a list of whole numbers from 0 to 4294967295
            mlp_only_layers = 3
              LOGOS-CFG-04: `mlp_only_layers` is 3, expected a list of whole numbers from 0 to 4294967295
            decoder_sparse_step = 0
              LOGOS-CFG-04: `decoder_sparse_step` is 0, expected a whole number from 1 to 4294967295
            norm_topk_prob = 1
              LOGOS-CFG-04: `norm_topk_prob` is 1, expected true or false
            num_local_experts = 8
              LOGOS-CFG-06: `num_local_experts` is 8, and only 0 is implemented for this family
        "#]],
    );
}

#[test]
fn qwen_hybrids() {
    check(
        "qwen3-next-80b-a3b-thinking",
        &[
            ("shared_expert_intermediate_size", None),
            set("linear_num_value_heads", json!(24)),
            set("linear_value_head_dim", json!(1 << 26)),
            set("layer_types", json!(["full_attention"])),
            set("use_sliding_window", json!(true)),
            set("partial_rotary_factor", json!(1.5)),
        ],
        expect![[r#"
            no shared_expert_intermediate_size
              LOGOS-CFG-03: `shared_expert_intermediate_size` is missing, expected a whole number from 1 to 4294967295
            linear_num_value_heads = 24
              LOGOS-CFG-05: `linear_num_value_heads` is 24, expected a multiple of `linear_num_key_heads`, 16
            linear_value_head_dim = 67108864
              LOGOS-SIZE-01: `linear_num_value_heads` makes 2147487744 + 2147483648 projected columns, expected at most 4294967295
            layer_types = ["full_attention"]
              LOGOS-CFG-05: `layer_types` has length 1, expected `num_hidden_layers`, 48
            use_sliding_window = true
              LOGOS-CFG-06: `use_sliding_window` is true, and only false is implemented for this family
            partial_rotary_factor = 1.5
              LOGOS-CFG-04: `partial_rotary_factor` is 1.5, expected a number above 0, at most 1
        "#]],
    );
    check(
        "qwen3.5-35b-a3b",
        &[
            set("text_config.model_type", json!("qwen3_5_text")),
            set("text_config.norm_topk_prob", json!(false)),
            set("text_config.moe_intermediate_size", json!(3_000_000_000_u32)),
            set("text_config.intermediate_size", json!(4096)),
            ("text_config.num_experts", None),
        ],
        expect![[r#"
            text_config.model_type = "qwen3_5_text"
              LOGOS-CFG-02: `text_config.model_type` is "qwen3_5_text", expected "qwen3_5_moe_text"
            text_config.norm_topk_prob = false
              LOGOS-CFG-06: `text_config.norm_topk_prob` is false, and only true is implemented for this family
            text_config.moe_intermediate_size = 3000000000
              LOGOS-SIZE-01: `text_config.moe_intermediate_size` makes 2 × 3000000000 gate and up rows, expected at most 4294967295
            text_config.intermediate_size = 4096
              LOGOS-CFG-06: `text_config.intermediate_size` is 4096: the key is not known for this family and may change what is computed
                help: did you mean `text_config.moe_intermediate_size`?
            no text_config.num_experts
              LOGOS-CFG-03: `text_config.num_experts` is missing, expected a whole number from 1 to 4294967295
        "#]],
    );
}

#[test]
fn gemma() {
    check(
        "gemma-2-9b-it",
        &[
            set("query_pre_attn_scalar", json!(0)),
            set("attn_logit_softcapping", json!(-50)),
            set("final_logit_softcapping", json!("30")),
            set("sliding_window", Value::Null),
            set("sliding_window_size", json!(1024)),
            set("hidden_activation", json!("relu")),
            set("use_bidirectional_attention", json!(true)),
            set("layer_types", json!(["full_attention"])),
        ],
        expect![[r#"
            query_pre_attn_scalar = 0
              LOGOS-CFG-04: `query_pre_attn_scalar` is 0, expected a number above 0 that an f32 holds
            attn_logit_softcapping = -50
              LOGOS-CFG-04: `attn_logit_softcapping` is -50, expected a number above 0 that an f32 holds
            final_logit_softcapping = "30"
              LOGOS-CFG-04: `final_logit_softcapping` is "30", expected a number above 0 that an f32 holds
            sliding_window = null
              LOGOS-CFG-04: `sliding_window` is null, expected a whole number from 1 to 4294967295
            sliding_window_size = 1024
              LOGOS-CFG-05: `sliding_window_size` is 1024, expected `sliding_window`, 4096
            hidden_activation = "relu"
              LOGOS-CFG-06: `hidden_activation` is "relu", expected one of "gelu", "gelu_new", "gelu_fast", "gelu_pytorch_tanh"
            use_bidirectional_attention = true
              LOGOS-CFG-06: `use_bidirectional_attention` is true, and only false is implemented for this family
            layer_types = ["full_attention"]
              LOGOS-CFG-05: `layer_types` has length 1, expected `num_hidden_layers`, 42
        "#]],
    );
    check(
        "gemma-3-1b-it",
        &[
            set("sliding_window_pattern", json!(0)),
            set("attn_logit_softcapping", json!(50.0)),
            set("rope_local_base_freq", json!(0)),
            set("rope_parameters", json!({"rope_type": "default"})),
            set("rope_parameters", json!({"full_attention": {"rope_type": "linear"}})),
            set("hidden_act", json!("gelu_pytorch_tanh")),
        ],
        expect![[r#"
            sliding_window_pattern = 0
              LOGOS-CFG-04: `sliding_window_pattern` is 0, expected a whole number from 1 to 4294967295
            attn_logit_softcapping = 50.0
              LOGOS-CFG-06: `attn_logit_softcapping` is 50.0, and only null is implemented for this family
            rope_local_base_freq = 0
              LOGOS-CFG-04: `rope_local_base_freq` is 0, expected a number above 1
            rope_parameters = {"rope_type":"default"}
              LOGOS-CFG-06: `rope_parameters.rope_type` is "default": the key is not known for this family and may change what is computed
                help: remove the key if the model computes the same without it
            rope_parameters = {"full_attention":{"rope_type":"linear"}}
              LOGOS-CFG-03: `rope_parameters.full_attention.factor` is missing, expected a number of at least 1
            hidden_act = "gelu_pytorch_tanh"
              LOGOS-CFG-06: `hidden_act` is "gelu_pytorch_tanh": the key is not known for this family and may change what is computed
                help: did you mean `hidden_activation`?
        "#]],
    );
    check(
        "gemma-3-4b-it",
        &[
            ("text_config.num_hidden_layers", None),
            ("torch_dtype", None),
            set("text_config.tie_word_embeddings", json!(false)),
            set("text_config.model_type", json!("gemma2")),
            set("text_config.num_attention_heads", json!(6)),
        ],
        expect![[r#"
            no text_config.num_hidden_layers
              LOGOS-CFG-03: `text_config.num_hidden_layers` is missing, expected a whole number from 1 to 65536
            no torch_dtype
              LOGOS-CFG-03: `text_config.torch_dtype` is missing, expected one of "float32", "float16", "bfloat16"
                help: write the dtype of the checkpoint's tensors, `"torch_dtype": "bfloat16"` for most
            text_config.tie_word_embeddings = false
              LOGOS-CFG-05: `tie_word_embeddings` is true but `text_config.tie_word_embeddings` is false, expected one value
            text_config.model_type = "gemma2"
              LOGOS-CFG-02: `text_config.model_type` is "gemma2", expected "gemma3_text"
            text_config.num_attention_heads = 6
              LOGOS-CFG-05: `text_config.num_key_value_heads` is 4, expected a divisor of `num_attention_heads`, 6
        "#]],
    );
}

#[test]
fn deepseek() {
    check(
        "deepseek-v3",
        &[
            ("n_routed_experts", None),
            ("moe_intermediate_size", None),
            set("n_group", json!(7)),
            set("n_group", json!(256)),
            set("topk_group", json!(9)),
            set("num_experts_per_tok", json!(200)),
            set("scoring_func", json!("softmax")),
            set("topk_method", json!("greedy")),
            set("moe_layer_freq", json!(2)),
            set("num_key_value_heads", json!(8)),
            set("qk_rope_head_dim", json!(63)),
            set("head_dim", json!(128)),
            set("q_lora_rank", json!(0)),
            set("qk_nope_head_dim", json!(u32::MAX)),
            set("kv_lora_rank", json!(u32::MAX)),
            set("n_shared_experts", json!(u32::MAX)),
            set("quantization_config", json!({"quant_method": "awq", "bits": 4})),
            set("quantization_config", json!({})),
            set("index_topk", json!(2048)),
        ],
        expect![[r#"
            no n_routed_experts
              LOGOS-CFG-03: `n_routed_experts` is missing, expected a whole number from 1 to 4294967295
            no moe_intermediate_size
              LOGOS-CFG-03: `moe_intermediate_size` is missing, expected a whole number from 1 to 4294967295
            n_group = 7
              LOGOS-CFG-05: `n_group` is 7, expected a divisor of the 256 experts that leaves 2 or more a group
            n_group = 256
              LOGOS-CFG-05: `n_group` is 256, expected a divisor of the 256 experts that leaves 2 or more a group
            topk_group = 9
              LOGOS-CFG-05: `topk_group` is 9, expected at most `n_group`, 8
            num_experts_per_tok = 200
              LOGOS-CFG-05: `topk_group` is 4, which leaves fewer experts than the 200 of `num_experts_per_tok`
            scoring_func = "softmax"
              LOGOS-CFG-06: `scoring_func` is "softmax", expected "sigmoid"
            topk_method = "greedy"
              LOGOS-CFG-06: `topk_method` is "greedy", expected "noaux_tc"
            moe_layer_freq = 2
              LOGOS-CFG-04: `moe_layer_freq` is 2, expected 1
            num_key_value_heads = 8
              LOGOS-CFG-05: `num_key_value_heads` is 8, expected `num_attention_heads`, 128
            qk_rope_head_dim = 63
              LOGOS-CFG-05: `qk_rope_head_dim` makes 63 entries of a head rotate, expected an even number above 0
            head_dim = 128
              LOGOS-CFG-05: `head_dim` is 128, expected 64 by `qk_nope_head_dim` and `qk_rope_head_dim`
            q_lora_rank = 0
              LOGOS-CFG-04: `q_lora_rank` is 0, expected a whole number from 1 to 4294967295, or null
            qk_nope_head_dim = 4294967295
              LOGOS-SIZE-01: `qk_nope_head_dim` makes 4294967295 + 64 columns of a head, expected at most 4294967295
            kv_lora_rank = 4294967295
              LOGOS-SIZE-01: `kv_lora_rank` makes 4294967295 + 64 latent columns, expected at most 4294967295
            n_shared_experts = 4294967295
              LOGOS-SIZE-01: `n_shared_experts` makes 4294967295 × 2048 shared-expert columns, expected at most 4294967295
            quantization_config = {"quant_method":"awq","bits":4}
              LOGOS-CFG-06: `quantization_config.quant_method` is "awq", expected "fp8"
            quantization_config = {}
              LOGOS-CFG-03: `quantization_config.quant_method` is missing, expected "fp8"
            index_topk = 2048
              LOGOS-CFG-06: `index_topk` is 2048: the key is not known for this family and may change what is computed
                help: remove the key if the model computes the same without it
        "#]],
    );
    check(
        "deepseek-v2-lite",
        &[
            set("topk_method", json!("noaux_tc")),
            set("norm_topk_prob", json!(true)),
            set("rope_scaling.beta_slow", json!(33)),
            set("scoring_func", json!("sigmoid")),
        ],
        expect![[r#"
            topk_method = "noaux_tc"
              LOGOS-CFG-06: `topk_method` is "noaux_tc", expected one of "greedy", "group_limited_greedy"
            norm_topk_prob = true
              LOGOS-CFG-06: `norm_topk_prob` is true, and only false is implemented for this family
            rope_scaling.beta_slow = 33
              LOGOS-CFG-05: `rope_scaling.beta_fast` is 32, expected at least `beta_slow`, 33
            scoring_func = "sigmoid"
              LOGOS-CFG-06: `scoring_func` is "sigmoid", expected "softmax"
        "#]],
    );
}

#[test]
fn gpt_oss() {
    check(
        "gpt-oss-20b",
        &[
            ("rope_scaling", None),
            ("quantization_config", None),
            ("num_local_experts", None),
            set("experts_per_token", json!(2)),
            set("swiglu_limit", json!(0)),
            set("sliding_window", Value::Null),
            set("intermediate_size", json!(1_u32 << 31)),
            set("quantization_config", json!({"quant_method": "fp8"})),
            set("hidden_act", json!("gelu")),
        ],
        expect![[r#"
            no rope_scaling
              LOGOS-CFG-03: `rope_scaling` is missing, expected an object
                help: write the scaling of the released model, or `{"rope_type": "default"}` for none
            no quantization_config
              LOGOS-CFG-03: `torch_dtype` is missing, expected one of "float32", "float16", "bfloat16"
                help: write the dtype of the checkpoint's tensors, `"torch_dtype": "bfloat16"` for most
            no num_local_experts
              LOGOS-CFG-03: `num_local_experts` is missing, expected a whole number from 1 to 4294967295
            experts_per_token = 2
              LOGOS-CFG-05: `experts_per_token` is 2, expected `num_experts_per_tok`, 4
            swiglu_limit = 0
              LOGOS-CFG-04: `swiglu_limit` is 0, expected a number above 0 that an f32 holds
            sliding_window = null
              LOGOS-CFG-04: `sliding_window` is null, expected a whole number from 1 to 4294967295
            intermediate_size = 2147483648
              LOGOS-SIZE-01: `intermediate_size` makes 2 × 2147483648 gate and up rows, expected at most 4294967295
            quantization_config = {"quant_method":"fp8"}
              LOGOS-CFG-06: `quantization_config.quant_method` is "fp8", expected "mxfp4"
            hidden_act = "gelu"
              LOGOS-CFG-06: `hidden_act` is "gelu", expected one of "silu", "swish"
        "#]],
    );
}

#[test]
fn llama4() {
    check(
        "llama-4-scout-17b-16e-instruct",
        &[
            set("text_config.no_rope_layers", json!([1, 1, 0])),
            set("text_config.no_rope_layers", json!(vec![2; 48])),
            set("text_config.no_rope_layer_interval", json!(0)),
            set("text_config.moe_layers", json!([48])),
            set("text_config.attention_chunk_size", json!(0)),
            set("text_config.floor_scale", json!(0)),
            set("text_config.layer_types", json!(vec!["sliding_attention"; 48])),
            set("text_config.rope_scaling.high_freq_factor", json!(0.5)),
            set("text_config.for_llm_compressor", json!(true)),
            ("text_config.num_experts_per_tok", None),
        ],
        expect![[r#"
            text_config.no_rope_layers = [1,1,0]
              LOGOS-CFG-05: `text_config.no_rope_layers` has length 3, expected at least `num_hidden_layers`, 48
            text_config.no_rope_layers = [2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2
              LOGOS-CFG-04: `text_config.no_rope_layers` is a list of 48 items, expected a list of whole numbers from 0 to 1
            text_config.no_rope_layer_interval = 0
              LOGOS-CFG-04: `text_config.no_rope_layer_interval` is 0, expected a whole number from 1 to 4294967295
            text_config.moe_layers = [48]
              LOGOS-CFG-05: `text_config.moe_layers` has layer 48, expected less than `num_hidden_layers`, 48
            text_config.attention_chunk_size = 0
              LOGOS-CFG-04: `text_config.attention_chunk_size` is 0, expected a whole number from 1 to 4294967295, or null
            text_config.floor_scale = 0
              LOGOS-CFG-04: `text_config.floor_scale` is 0, expected a number above 0 that an f32 holds
            text_config.layer_types = ["sliding_attention","sliding_attention","sliding_attention"
              LOGOS-CFG-06: `text_config.layer_types` has "sliding_attention" at layer 0, expected one of "full_attention", "chunked_attention"
            text_config.rope_scaling.high_freq_factor = 0.5
              LOGOS-CFG-05: `text_config.rope_scaling.high_freq_factor` is 0.5, expected at least `low_freq_factor`, 1
            text_config.for_llm_compressor = true
              LOGOS-CFG-06: `text_config.for_llm_compressor` is true, and only false is implemented for this family
            no text_config.num_experts_per_tok
              LOGOS-CFG-03: `text_config.num_experts_per_tok` is missing, expected a whole number from 1 to 4294967295
        "#]],
    );
}

#[test]
fn phi() {
    check(
        "tiny/phi3_longrope",
        &[
            set("rope_scaling.type", json!("yarn")),
            set("rope_scaling.short_factor", json!([1.0, 1.0])),
            set("partial_rotary_factor", json!(0.7)),
            set("sliding_window", json!(-1)),
            set("intermediate_size", json!(1_u32 << 31)),
            set("attention_bias", json!(true)),
        ],
        expect![[r#"
            rope_scaling.type = "yarn"
              LOGOS-CFG-06: `rope_scaling.type` is "yarn", expected one of "default", "longrope", "su"
            rope_scaling.short_factor = [1.0,1.0]
              LOGOS-CFG-04: `rope_scaling.short_factor` is a list of 2 items, expected a list of 6 numbers above 0
            partial_rotary_factor = 0.7
              LOGOS-CFG-05: `head_dim` makes 11 entries of a head rotate, expected an even number above 0
            sliding_window = -1
              LOGOS-CFG-04: `sliding_window` is -1, expected a whole number from 1 to 4294967295, or null
            intermediate_size = 2147483648
              LOGOS-SIZE-01: `intermediate_size` makes 2 × 2147483648 gate and up rows, expected at most 4294967295
            attention_bias = true
              LOGOS-CFG-06: `attention_bias` is true, and only false is implemented for this family
        "#]],
    );
    check(
        "tiny/phi",
        &[
            set("rms_norm_eps", json!(1e-5)),
            set("hidden_act", json!("silu")),
            set("num_key_value_heads", json!(3)),
            set("layer_norm_eps", json!(0)),
            set("attention_bias", json!(false)),
        ],
        expect![[r#"
            rms_norm_eps = 0.00001
              LOGOS-CFG-06: `rms_norm_eps` is 0.00001: the key is not known for this family and may change what is computed
                help: remove the key if the model computes the same without it
            hidden_act = "silu"
              LOGOS-CFG-06: `hidden_act` is "silu", expected one of "gelu", "gelu_new", "gelu_fast", "gelu_pytorch_tanh"
            num_key_value_heads = 3
              LOGOS-CFG-05: `num_key_value_heads` is 3, expected a divisor of `num_attention_heads`, 4
            layer_norm_eps = 0
              LOGOS-CFG-04: `layer_norm_eps` is 0, expected a number above 0 that an f32 holds
            attention_bias = false
              LOGOS-CFG-06: `attention_bias` is false, and only true is implemented for this family
        "#]],
    );
}

#[test]
fn gpt_neox_and_falcon() {
    check(
        "tiny/gpt_neox",
        &[
            set("num_key_value_heads", json!(4)),
            set("head_dim", json!(16)),
            set("rotary_pct", json!(0)),
            set("rope_theta", json!(10_000)),
            set("num_attention_heads", json!(5)),
            set("use_parallel_residual", json!("yes")),
        ],
        expect![[r#"
            num_key_value_heads = 4
              LOGOS-CFG-06: `num_key_value_heads` is 4: the key is not known for this family and may change what is computed
                help: remove the key if the model computes the same without it
            head_dim = 16
              LOGOS-CFG-06: `head_dim` is 16: the key is not known for this family and may change what is computed
                help: remove the key if the model computes the same without it
            rotary_pct = 0
              LOGOS-CFG-04: `rotary_pct` is 0, expected a number above 0, at most 1
            rope_theta = 10000
              LOGOS-CFG-06: `rope_theta` is 10000: the key is not known for this family and may change what is computed
                help: remove the key if the model computes the same without it
            num_attention_heads = 5
              LOGOS-CFG-05: `num_attention_heads` is 5, expected a divisor of `hidden_size`, 64
            use_parallel_residual = "yes"
              LOGOS-CFG-04: `use_parallel_residual` is "yes", expected true or false
        "#]],
    );
    check(
        "falcon-40b",
        &[
            set("alibi", json!(true)),
            set("n_head", json!(64)),
            set("n_layer", json!(2)),
            set("num_kv_heads", json!(7)),
            set("parallel_attn", json!(false)),
            set("num_ln_in_parallel_attn", json!(3)),
            set("new_decoder_architecture", json!(1)),
            set("apply_residual_connection_post_layernorm", json!(true)),
            set("hidden_size", json!(8190)),
            set("activation", json!("relu")),
        ],
        expect![[r#"
            alibi = true
              LOGOS-CFG-06: `alibi` is true, and only false is implemented for this family
            n_head = 64
              LOGOS-CFG-05: `n_head` differs from `num_attention_heads`, expected the same
            n_layer = 2
              LOGOS-CFG-05: `n_layer` differs from `num_hidden_layers`, expected the same
            num_kv_heads = 7
              LOGOS-CFG-05: `num_kv_heads` is 7, expected a divisor of `num_attention_heads`, 128
            parallel_attn = false
              LOGOS-CFG-05: `parallel_attn` is false, expected true with `new_decoder_architecture`
            num_ln_in_parallel_attn = 3
              LOGOS-CFG-04: `num_ln_in_parallel_attn` is 3, expected a whole number from 1 to 2
            new_decoder_architecture = 1
              LOGOS-CFG-04: `new_decoder_architecture` is 1, expected true or false
            apply_residual_connection_post_layernorm = true
              LOGOS-CFG-06: `apply_residual_connection_post_layernorm` is true, and only false is implemented for this family
            hidden_size = 8190
              LOGOS-CFG-05: `num_attention_heads` is 128, expected a divisor of `hidden_size`, 8190
            activation = "relu"
              LOGOS-CFG-06: `activation` is "relu", expected one of "gelu", "gelu_new", "gelu_fast", "gelu_pytorch_tanh"
        "#]],
    );
    check(
        "falcon-7b-instruct",
        &[set("num_ln_in_parallel_attn", json!(2)), set("bias", Value::Null), set("n_embed", json!(64))],
        expect![[r#"
            num_ln_in_parallel_attn = 2
              LOGOS-CFG-05: `num_ln_in_parallel_attn` is 2, expected 1 without `new_decoder_architecture`
            bias = null
              LOGOS-CFG-04: `bias` is null, expected true or false
            n_embed = 64
              LOGOS-CFG-06: `n_embed` is 64: the key is not known for this family and may change what is computed
                help: remove the key if the model computes the same without it
        "#]],
    );
}

#[test]
fn the_other_dense_ones() {
    check(
        "tiny/olmo2",
        &[set("clip_qkv", json!(8.0)), set("sliding_window", json!(4096)), set("layer_types", json!([]))],
        expect![[r#"
            clip_qkv = 8.0
              LOGOS-CFG-06: `clip_qkv` is 8.0, and only null is implemented for this family
            sliding_window = 4096
              LOGOS-CFG-06: `sliding_window` is 4096, and only null is implemented for this family
            layer_types = []
              LOGOS-CFG-06: `layer_types` is an empty list: the key is not known for this family and may change what is computed
                help: remove the key if the model computes the same without it
        "#]],
    );
    check(
        "tiny/smollm3",
        &[
            set("no_rope_layers", json!([])),
            set("no_rope_layers", json!([1, 0])),
            set("layer_types", json!(vec!["sliding_attention"; 5])),
            set("use_sliding_window", json!(1)),
        ],
        expect![[r#"
            no_rope_layers = []
              LOGOS-CFG-05: `no_rope_layers` has length 0, expected at least `num_hidden_layers`, 5
            no_rope_layers = [1,0]
              LOGOS-CFG-05: `no_rope_layers` has length 2, expected at least `num_hidden_layers`, 5
            layer_types = ["sliding_attention","sliding_attention","sliding_attention"
              LOGOS-CFG-05: `layer_types` has "sliding_attention", but there is no window: expected `use_sliding_window` true and a `sliding_window`
            use_sliding_window = 1
              LOGOS-CFG-04: `use_sliding_window` is 1, expected true or false
        "#]],
    );
    check(
        "tiny/granite",
        &[
            set("attention_multiplier", json!(0)),
            set("logits_scaling", json!("4")),
            set("residual_multiplier", Value::Null),
            set("num_local_experts", json!(4)),
        ],
        expect![[r#"
            attention_multiplier = 0
              LOGOS-CFG-04: `attention_multiplier` is 0, expected a number above 0 that an f32 holds
            logits_scaling = "4"
              LOGOS-CFG-04: `logits_scaling` is "4", expected a number above 0 that an f32 holds
            residual_multiplier = null
              LOGOS-CFG-04: `residual_multiplier` is null, expected a number above 0 that an f32 holds
            num_local_experts = 4
              LOGOS-CFG-06: `num_local_experts` is 4, and only 0 is implemented for this family
        "#]],
    );
    check(
        "command-r-v01",
        &[
            set("logit_scale", Value::Null),
            set("use_qk_norm", Value::Null),
            set("rms_norm_eps", json!(1e-5)),
            set("sliding_window", json!(4096)),
        ],
        expect![[r#"
            logit_scale = null
              LOGOS-CFG-04: `logit_scale` is null, expected a number above 0 that an f32 holds
            use_qk_norm = null
              LOGOS-CFG-04: `use_qk_norm` is null, expected true or false
            rms_norm_eps = 0.00001
              LOGOS-CFG-06: `rms_norm_eps` is 0.00001: the key is not known for this family and may change what is computed
                help: remove the key if the model computes the same without it
            sliding_window = 4096
              LOGOS-CFG-06: `sliding_window` is 4096, and only null is implemented for this family
        "#]],
    );
    check(
        "glm-4-9b-0414",
        &[
            set("partial_rotary_factor", json!(0)),
            set("intermediate_size", json!(1_u32 << 31)),
            set("head_dim", Value::Null),
        ],
        expect![[r#"
            partial_rotary_factor = 0
              LOGOS-CFG-04: `partial_rotary_factor` is 0, expected a number above 0, at most 1
            intermediate_size = 2147483648
              LOGOS-SIZE-01: `intermediate_size` makes 2 × 2147483648 gate and up rows, expected at most 4294967295
            head_dim = null
              LOGOS-CFG-04: `head_dim` is null, expected a whole number from 1 to 4294967295
        "#]],
    );
    check(
        "starcoder2-15b",
        &[
            set("norm_type", json!("rms_norm")),
            set("mlp_type", json!("gated")),
            set("hidden_act", json!("relu")),
            set("norm_epsilon", json!(0)),
        ],
        expect![[r#"
            norm_type = "rms_norm"
              LOGOS-CFG-06: `norm_type` is "rms_norm", expected "layer_norm"
            mlp_type = "gated"
              LOGOS-CFG-06: `mlp_type` is "gated", expected "default"
            hidden_act = "relu"
              LOGOS-CFG-06: `hidden_act` is "relu", expected one of "gelu", "gelu_new", "gelu_fast", "gelu_pytorch_tanh"
            norm_epsilon = 0
              LOGOS-CFG-04: `norm_epsilon` is 0, expected a number above 0 that an f32 holds
        "#]],
    );
}

#[test]
fn glm45_and_minimax() {
    check(
        "glm-4.5",
        &[
            set("use_qk_norm", json!(1)),
            set("n_group", json!(3)),
            set("num_attention_heads", json!(90)),
            ("num_experts_per_tok", None),
        ],
        expect![[r#"
            use_qk_norm = 1
              LOGOS-CFG-04: `use_qk_norm` is 1, expected true or false
            n_group = 3
              LOGOS-CFG-05: `n_group` is 3, expected a divisor of the 160 experts that leaves 2 or more a group
            num_attention_heads = 90
              LOGOS-CFG-05: `num_key_value_heads` is 8, expected a divisor of `num_attention_heads`, 90
            no num_experts_per_tok
              LOGOS-CFG-03: `num_experts_per_tok` is missing, expected a whole number from 1 to 4294967295
        "#]],
    );
    check(
        "minimax-m2.7",
        &[
            set("attn_type_list", json!([1, 1])),
            set("attn_type_list", json!(vec![0; 62])),
            set("qk_norm_type", json!("per_head")),
            set("scoring_func", json!("softmax")),
            set("shared_intermediate_size", json!(1536)),
            set("use_routing_bias", json!(false)),
            set("rotary_dim", json!(129)),
            set("rotary_dim", json!(65)),
            set("partial_rotary_factor", json!(1.0)),
        ],
        expect![[r#"
            attn_type_list = [1,1]
              LOGOS-CFG-05: `attn_type_list` has length 2, expected `num_hidden_layers`, 62
            attn_type_list = [0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0
              LOGOS-CFG-04: `attn_type_list` is a list of 62 items, expected a list of which every item is 1
            qk_norm_type = "per_head"
              LOGOS-CFG-06: `qk_norm_type` is "per_head", expected "per_layer"
            scoring_func = "softmax"
              LOGOS-CFG-06: `scoring_func` is "softmax", expected "sigmoid"
            shared_intermediate_size = 1536
              LOGOS-CFG-06: `shared_intermediate_size` is 1536, and only 0 is implemented for this family
            use_routing_bias = false
              LOGOS-CFG-06: `use_routing_bias` is false, and only true is implemented for this family
            rotary_dim = 129
              LOGOS-CFG-04: `rotary_dim` is 129, expected a whole number from 1 to 128
            rotary_dim = 65
              LOGOS-CFG-05: `head_dim` makes 65 entries of a head rotate, expected an even number above 0
            partial_rotary_factor = 1.0
              LOGOS-CFG-05: `rotary_dim` is 64, expected that part of 128 that `partial_rotary_factor` says
        "#]],
    );
}
