//! Wrong configs: each with the code, the place and the words of every refusal.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::At;

use super::{edited, fixture};

/// Every refusal as one paragraph: code, place, message, facts and help.
pub(super) fn words(bytes: &[u8]) -> String {
    let refusals = super::super::read(bytes).expect_err("the config is wrong");
    let paragraph = |refusal: &crate::Refusal| {
        let place = match &refusal.at {
            At::Model => "the model",
            At::ConfigKey(path) => path,
            other => panic!("a config has no such place: {other:?}"),
        };
        format!("{place}\n{refusal}\n")
    };
    refusals.iter().map(paragraph).collect()
}

fn check_bytes(bytes: &[u8], expected: Expect) {
    expected.assert_eq(&words(bytes));
}

fn check(slug: &str, edits: &[(&str, Option<Value>)], expected: Expect) {
    check_bytes(&edited(slug, edits), expected);
}

fn set(key: &str, value: Value) -> (&str, Option<Value>) {
    (key, Some(value))
}

const LLAMA: &str = "llama-3.1-8b";
const QWEN: &str = "qwen2-7b-instruct";
const HYBRID: &str = "qwen3.5-27b";

#[test]
fn bytes_that_are_no_object() {
    // Empty.
    check_bytes(
        b"",
        expect![[r#"
            the model
            LOGOS-CFG-01: the config is empty, expected a JSON object
              help: name the model's config.json, as it was released
        "#]],
    );
    // Blank.
    check_bytes(
        b" \n\t",
        expect![[r#"
            the model
            LOGOS-CFG-01: the config is empty, expected a JSON object
              help: name the model's config.json, as it was released
        "#]],
    );
    // No JSON.
    check_bytes(
        b"hidden_size = 64",
        expect![[r#"
            the model
            LOGOS-CFG-01: the config is not JSON at line 1, column 1: expected value
              help: name the model's config.json, as it was released
        "#]],
    );
    // A list.
    check_bytes(
        b"[1, 2]",
        expect![[r#"
            the model
            LOGOS-CFG-01: the config is a list of 2 items, expected a JSON object
              help: name the model's config.json, as it was released
        "#]],
    );
    // A number.
    check_bytes(
        b"64",
        expect![[r#"
            the model
            LOGOS-CFG-01: the config is 64, expected a JSON object
              help: name the model's config.json, as it was released
        "#]],
    );
    // Not a number.
    check_bytes(
        b"{\n  \"model_type\": \"llama\",\n  \"rms_norm_eps\": NaN\n}",
        expect![[r#"
            the model
            LOGOS-CFG-01: the config is not JSON at line 3, column 19: expected value
              help: name the model's config.json, as it was released
        "#]],
    );
    // A number beyond f64.
    check_bytes(
        b"{\"rope_theta\": 1e999}",
        expect![[r#"
            the model
            LOGOS-CFG-01: the config is not JSON at line 1, column 20: number out of range
              help: name the model's config.json, as it was released
        "#]],
    );
    // What some editors put in front.
    check_bytes(
        b"\xef\xbb\xbf{}",
        expect![[r#"
        the model
        LOGOS-CFG-01: the config begins with a byte order mark, which JSON does not allow
          help: save it as UTF-8 without one
    "#]],
    );
    // Two objects.
    check_bytes(
        b"{} {}",
        expect![[r#"
            the model
            LOGOS-CFG-01: the config is not JSON at line 1, column 4: trailing characters
              help: name the model's config.json, as it was released
        "#]],
    );
    // Bytes that are no UTF-8.
    check_bytes(
        b"{\"model_type\": \"\xff\"}",
        expect![[r#"
            the model
            LOGOS-CFG-01: the config is not JSON at line 1, column 17: invalid unicode code point
              help: name the model's config.json, as it was released
        "#]],
    );
    // An empty object.
    check_bytes(
        b"{}",
        expect![[r#"
            model_type
            LOGOS-CFG-03: `model_type` is missing, expected one of "llama", "llama4", "llama4_text", "mistral", "mixtral", "qwen2", "qwen3", "qwen3_moe", "qwen3_next", "qwen3_5", "qwen3_5_text", "qwen3_5_moe", "qwen3_5_moe_text", "gemma2", "gemma3", "gemma3_text", "deepseek_v2", "deepseek_v3", "kimi_k2", "gpt_oss", "phi", "phi3", "gpt_neox", "olmo2", "smollm3", "granite", "cohere", "glm4", "glm4_moe", "starcoder2", "falcon", "minimax_m2"
        "#]],
    );
    // Cut off in the middle of a key.
    let whole = fixture("configs/llama-3.1-8b/config.json");
    check_bytes(
        &whole[..200],
        expect![[r#"
            the model
            LOGOS-CFG-01: the config is cut off at line 10, column 18
              help: name the model's config.json, as it was released
        "#]],
    );
    // Nested without end.
    check_bytes(
        &b"[".repeat(100_000),
        expect![[r#"
            the model
            LOGOS-CFG-01: the config is not JSON at line 1, column 128: recursion limit exceeded
              help: name the model's config.json, as it was released
        "#]],
    );
    check_bytes(
        &b"{\"a\":".repeat(100_000),
        expect![[r#"
            the model
            LOGOS-CFG-01: the config is not JSON at line 1, column 636: recursion limit exceeded
              help: name the model's config.json, as it was released
        "#]],
    );
    // Larger than any config.
    check_bytes(
        &b" ".repeat((4 << 20) + 1),
        expect![[r#"
            the model
            LOGOS-CFG-01: the config has 4194305 bytes, expected at most 4194304: a config.json is a few thousand
              help: name the model's config.json, as it was released
        "#]],
    );
}

#[test]
fn a_key_given_twice() {
    check_bytes(
        br#"{"model_type": "llama", "hidden_size": 64, "rope_scaling": {"factor": 1, "factor": 2}, "hidden_size": 128}"#,
        expect![[r#"
            rope_scaling.factor
            LOGOS-CFG-05: `rope_scaling.factor` is given twice, expected once
              help: keep one of the two
            hidden_size
            LOGOS-CFG-05: `hidden_size` is given twice, expected once
              help: keep one of the two
        "#]],
    );
}

#[test]
fn families_that_are_not_known() {
    check(
        LLAMA,
        &[set("model_type", json!("gemma9"))],
        expect![[r#"
            model_type
            LOGOS-CFG-02: `model_type` is "gemma9", expected one of "llama", "llama4", "llama4_text", "mistral", "mixtral", "qwen2", "qwen3", "qwen3_moe", "qwen3_next", "qwen3_5", "qwen3_5_text", "qwen3_5_moe", "qwen3_5_moe_text", "gemma2", "gemma3", "gemma3_text", "deepseek_v2", "deepseek_v3", "kimi_k2", "gpt_oss", "phi", "phi3", "gpt_neox", "olmo2", "smollm3", "granite", "cohere", "glm4", "glm4_moe", "starcoder2", "falcon", "minimax_m2"
        "#]],
    );
    check(
        LLAMA,
        &[set("model_type", json!("Llama"))],
        expect![[r#"
            model_type
            LOGOS-CFG-02: `model_type` is "Llama", expected one of "llama", "llama4", "llama4_text", "mistral", "mixtral", "qwen2", "qwen3", "qwen3_moe", "qwen3_next", "qwen3_5", "qwen3_5_text", "qwen3_5_moe", "qwen3_5_moe_text", "gemma2", "gemma3", "gemma3_text", "deepseek_v2", "deepseek_v3", "kimi_k2", "gpt_oss", "phi", "phi3", "gpt_neox", "olmo2", "smollm3", "granite", "cohere", "glm4", "glm4_moe", "starcoder2", "falcon", "minimax_m2"
        "#]],
    );
    check(
        LLAMA,
        &[set("model_type", json!(3))],
        expect![[r#"
            model_type
            LOGOS-CFG-04: `model_type` is 3, expected one of "llama", "llama4", "llama4_text", "mistral", "mixtral", "qwen2", "qwen3", "qwen3_moe", "qwen3_next", "qwen3_5", "qwen3_5_text", "qwen3_5_moe", "qwen3_5_moe_text", "gemma2", "gemma3", "gemma3_text", "deepseek_v2", "deepseek_v3", "kimi_k2", "gpt_oss", "phi", "phi3", "gpt_neox", "olmo2", "smollm3", "granite", "cohere", "glm4", "glm4_moe", "starcoder2", "falcon", "minimax_m2"
        "#]],
    );
    check(
        LLAMA,
        &[set("model_type", Value::Null)],
        expect![[r#"
            model_type
            LOGOS-CFG-04: `model_type` is null, expected one of "llama", "llama4", "llama4_text", "mistral", "mixtral", "qwen2", "qwen3", "qwen3_moe", "qwen3_next", "qwen3_5", "qwen3_5_text", "qwen3_5_moe", "qwen3_5_moe_text", "gemma2", "gemma3", "gemma3_text", "deepseek_v2", "deepseek_v3", "kimi_k2", "gpt_oss", "phi", "phi3", "gpt_neox", "olmo2", "smollm3", "granite", "cohere", "glm4", "glm4_moe", "starcoder2", "falcon", "minimax_m2"
        "#]],
    );
    check(
        LLAMA,
        &[("model_type", None)],
        expect![[r#"
            model_type
            LOGOS-CFG-03: `model_type` is missing, expected one of "llama", "llama4", "llama4_text", "mistral", "mixtral", "qwen2", "qwen3", "qwen3_moe", "qwen3_next", "qwen3_5", "qwen3_5_text", "qwen3_5_moe", "qwen3_5_moe_text", "gemma2", "gemma3", "gemma3_text", "deepseek_v2", "deepseek_v3", "kimi_k2", "gpt_oss", "phi", "phi3", "gpt_neox", "olmo2", "smollm3", "granite", "cohere", "glm4", "glm4_moe", "starcoder2", "falcon", "minimax_m2"
        "#]],
    );
    check(
        HYBRID,
        &[set("text_config.model_type", json!("qwen3_5_moe_text"))],
        expect![[r#"
            text_config.model_type
            LOGOS-CFG-02: `text_config.model_type` is "qwen3_5_moe_text", expected "qwen3_5_text"
        "#]],
    );
    check(
        HYBRID,
        &[("text_config", None)],
        expect![[r#"
        text_config
        LOGOS-CFG-03: `text_config` is missing, expected an object
    "#]],
    );
    check(
        HYBRID,
        &[set("text_config", json!([]))],
        expect![[r#"
        text_config
        LOGOS-CFG-04: `text_config` is an empty list, expected an object
    "#]],
    );
}

#[test]
fn sizes_that_are_wrong() {
    check(
        LLAMA,
        &[set("hidden_size", json!("4096"))],
        expect![[r#"
            hidden_size
            LOGOS-CFG-04: `hidden_size` is "4096", expected a whole number from 1 to 4294967295
        "#]],
    );
    check(
        LLAMA,
        &[set("hidden_size", json!(-1))],
        expect![[r#"
        hidden_size
        LOGOS-CFG-04: `hidden_size` is -1, expected a whole number from 1 to 4294967295
    "#]],
    );
    check(
        LLAMA,
        &[set("hidden_size", json!(0))],
        expect![[r#"
        hidden_size
        LOGOS-CFG-04: `hidden_size` is 0, expected a whole number from 1 to 4294967295
    "#]],
    );
    check(
        LLAMA,
        &[set("hidden_size", json!(4096.0))],
        expect![[r#"
        hidden_size
        LOGOS-CFG-04: `hidden_size` is 4096.0, expected a whole number from 1 to 4294967295
    "#]],
    );
    check(
        LLAMA,
        &[set("hidden_size", json!(4_294_967_296_u64))],
        expect![[r#"
        hidden_size
        LOGOS-CFG-04: `hidden_size` is 4294967296, expected a whole number from 1 to 4294967295
    "#]],
    );
    check(
        LLAMA,
        &[set("hidden_size", json!(1e30))],
        expect![[r#"
        hidden_size
        LOGOS-CFG-04: `hidden_size` is 1e+30, expected a whole number from 1 to 4294967295
    "#]],
    );
    check(
        LLAMA,
        &[set("vocab_size", json!([128_256]))],
        expect![[r#"
        vocab_size
        LOGOS-CFG-04: `vocab_size` is a list of 1 item, expected a whole number from 1 to 4294967295
    "#]],
    );
    check(
        LLAMA,
        &[set("num_hidden_layers", json!(65_537))],
        expect![[r#"
        num_hidden_layers
        LOGOS-CFG-04: `num_hidden_layers` is 65537, expected a whole number from 1 to 65536
    "#]],
    );
    check(
        LLAMA,
        &[set("num_attention_heads", json!(true))],
        expect![[r#"
        num_attention_heads
        LOGOS-CFG-04: `num_attention_heads` is true, expected a whole number from 1 to 4294967295
    "#]],
    );
    check(
        LLAMA,
        &[set("intermediate_size", Value::Null)],
        expect![[r#"
        intermediate_size
        LOGOS-CFG-04: `intermediate_size` is null, expected a whole number from 1 to 4294967295
    "#]],
    );
    check(
        LLAMA,
        &[set("max_position_embeddings", json!(0))],
        expect![[r#"
        max_position_embeddings
        LOGOS-CFG-04: `max_position_embeddings` is 0, expected a whole number from 1 to 4294967295
    "#]],
    );
    check(
        LLAMA,
        &[set("rms_norm_eps", json!(0.0))],
        expect![[r#"
        rms_norm_eps
        LOGOS-CFG-04: `rms_norm_eps` is 0.0, expected a number above 0 that an f32 holds
    "#]],
    );
    check(
        LLAMA,
        &[set("rms_norm_eps", json!(1e-60))],
        expect![[r#"
        rms_norm_eps
        LOGOS-CFG-04: `rms_norm_eps` is 1.0000000000000001e-60, expected a number above 0 that an f32 holds
    "#]],
    );
    check(
        LLAMA,
        &[set("rms_norm_eps", json!("1e-5"))],
        expect![[r#"
            rms_norm_eps
            LOGOS-CFG-04: `rms_norm_eps` is "1e-5", expected a number above 0 that an f32 holds
        "#]],
    );
    check(
        LLAMA,
        &[set("head_dim", json!(0))],
        expect![[r#"
        head_dim
        LOGOS-CFG-04: `head_dim` is 0, expected a whole number from 1 to 4294967295
    "#]],
    );
    for key in ["hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size"] {
        let refusals = super::super::read(&edited(LLAMA, &[(key, None)])).unwrap_err();
        assert_eq!(refusals[0].code, crate::Code::ConfigMissing, "{key}");
        assert_eq!(refusals[0].at, At::ConfigKey(key.to_owned()));
        assert_eq!(refusals.len(), 1, "{key}: {refusals:?}");
    }
    // Several at once, in the order of reading.
    check(
        LLAMA,
        &[
            set("vocab_size", json!(-5)),
            set("rope_theta", json!(0)),
            set("num_hiden_layers", json!(32)),
            ("num_hidden_layers", None),
        ],
        expect![[r#"
            vocab_size
            LOGOS-CFG-04: `vocab_size` is -5, expected a whole number from 1 to 4294967295
            num_hidden_layers
            LOGOS-CFG-03: `num_hidden_layers` is missing, expected a whole number from 1 to 65536
            rope_theta
            LOGOS-CFG-04: `rope_theta` is 0, expected a number above 1
            num_hiden_layers
            LOGOS-CFG-06: `num_hiden_layers` is 32: the key is not known for this family and may change what is computed
              help: did you mean `num_hidden_layers`?
        "#]],
    );
}

#[test]
fn sizes_whose_products_leave_their_range() {
    check(
        LLAMA,
        &[set("head_dim", json!(1 << 30))],
        expect![[r#"
        num_attention_heads
        LOGOS-SIZE-01: `num_attention_heads` makes 32 × 1073741824 query columns, expected at most 4294967295
        num_key_value_heads
        LOGOS-SIZE-01: `num_key_value_heads` makes 8 × 1073741824 key columns, expected at most 4294967295
    "#]],
    );
    check(
        LLAMA,
        &[set("hidden_size", json!(u32::MAX)), set("head_dim", json!(128)), set("vocab_size", json!(u32::MAX))],
        expect![[r#"
            the model
            LOGOS-SIZE-01: the model has 36900806758804881345 parameters, expected at most 72057594037927936
              largest tensor: lm_head.weight [4294967295, 4294967295]
        "#]],
    );
    check(
        HYBRID,
        &[set("text_config.head_dim", json!(134_217_728))],
        expect![[r#"
        text_config.num_attention_heads
        LOGOS-SIZE-01: `text_config.num_attention_heads` makes 2 × 24 × 134217728 query and gate rows, expected at most 4294967295
    "#]],
    );
    check(
        HYBRID,
        &[set("text_config.linear_key_head_dim", json!(1 << 27))],
        expect![[r#"
        text_config.linear_num_key_heads
        LOGOS-SIZE-01: 2 × 2147483648 + 6144 convolution channels, expected at most 4294967295
    "#]],
    );
    check(
        HYBRID,
        &[set("text_config.linear_value_head_dim", json!(1 << 30))],
        expect![[r#"
        text_config.linear_num_value_heads
        LOGOS-SIZE-01: `text_config.linear_num_value_heads` makes 48 × 1073741824 value columns, expected at most 4294967295
    "#]],
    );
    check(
        HYBRID,
        &[
            set("text_config.linear_num_key_heads", json!(1)),
            set("text_config.linear_key_head_dim", json!(4_000_000_000_u32)),
        ],
        expect![[r#"
            text_config.linear_num_key_heads
            LOGOS-SIZE-01: 2 × 4000000000 + 6144 convolution channels, expected at most 4294967295
        "#]],
    );
}

#[test]
fn heads_that_do_not_divide() {
    check(
        LLAMA,
        &[set("num_key_value_heads", json!(5))],
        expect![[r#"
        num_key_value_heads
        LOGOS-CFG-05: `num_key_value_heads` is 5, expected a divisor of `num_attention_heads`, 32
    "#]],
    );
    check(
        LLAMA,
        &[set("num_attention_heads", json!(24))],
        expect![[r#"
        num_attention_heads
        LOGOS-CFG-05: `num_attention_heads` is 24, expected a divisor of `hidden_size`, 4096, as `head_dim` is not given
          help: give `head_dim` if a head has another width
    "#]],
    );
    check(
        LLAMA,
        &[set("head_dim", json!(127))],
        expect![[r#"
        head_dim
        LOGOS-CFG-05: `head_dim` makes 127 entries of a head rotate, expected an even number above 0
    "#]],
    );
    // The class default of 32 does not suit 28 heads.
    check(
        QWEN,
        &[("num_key_value_heads", None)],
        expect![[r#"
        num_key_value_heads
        LOGOS-CFG-05: `num_key_value_heads` is 32, expected a divisor of `num_attention_heads`, 28
    "#]],
    );
    check(
        HYBRID,
        &[set("text_config.linear_num_key_heads", json!(9))],
        expect![[r#"
        text_config.linear_num_value_heads
        LOGOS-CFG-05: `text_config.linear_num_value_heads` is 48, expected a multiple of `linear_num_key_heads`, 9
    "#]],
    );
    check(
        HYBRID,
        &[set("text_config.linear_conv_kernel_dim", json!(1))],
        expect![[r#"
        text_config.linear_conv_kernel_dim
        LOGOS-CFG-04: `text_config.linear_conv_kernel_dim` is 1, expected a whole number from 2 to 1024
    "#]],
    );
}

#[test]
fn null_where_the_reference_has_no_meaning_for_it() {
    check(
        "mistral-7b-v0.1",
        &[set("num_key_value_heads", Value::Null)],
        expect![[r#"
        num_key_value_heads
        LOGOS-CFG-04: `num_key_value_heads` is null, expected a whole number from 1 to 4294967295
    "#]],
    );
    check(
        HYBRID,
        &[set("text_config.num_key_value_heads", Value::Null)],
        expect![[r#"
        text_config.num_key_value_heads
        LOGOS-CFG-04: `text_config.num_key_value_heads` is null, expected a whole number from 1 to 4294967295
    "#]],
    );
    check(
        "qwen3-8b",
        &[set("head_dim", Value::Null)],
        expect![[r#"
        head_dim
        LOGOS-CFG-04: `head_dim` is null, expected a whole number from 1 to 4294967295
    "#]],
    );
    check(
        LLAMA,
        &[set("attention_bias", Value::Null), set("tie_word_embeddings", Value::Null)],
        expect![[r#"
        attention_bias
        LOGOS-CFG-04: `attention_bias` is null, expected true or false
        tie_word_embeddings
        LOGOS-CFG-04: `tie_word_embeddings` is null, expected true or false
    "#]],
    );
}

#[test]
fn rope_that_is_wrong() {
    let check_scaling = |value: Value, expected: Expect| check(LLAMA, &[set("rope_scaling", value)], expected);
    check_scaling(
        json!({"rope_type": "su", "factor": 2}),
        expect![[r#"
            rope_scaling.rope_type
            LOGOS-CFG-06: `rope_scaling.rope_type` is "su", expected one of "default", "linear", "dynamic", "llama3", "yarn", "longrope"
        "#]],
    );
    check_scaling(
        json!({"type": "mrope", "mrope_section": [16, 24, 24]}),
        expect![[r#"
            rope_scaling.type
            LOGOS-CFG-06: `rope_scaling.type` is "mrope", expected one of "default", "linear", "dynamic", "llama3", "yarn", "longrope"
        "#]],
    );
    check_scaling(
        json!({"rope_type": "yarn", "type": "linear", "factor": 2}),
        expect![[r#"
            rope_scaling.type
            LOGOS-CFG-05: `rope_scaling.type` and `rope_scaling.rope_type` differ, expected one form
        "#]],
    );
    for (key, value) in
        [("mscale_all_dim", 1e30), ("attention_factor", 1e39), ("attention_factor", 1e-60), ("mscale", 1e300)]
    {
        let mut yarn =
            json!({"rope_type": "yarn", "factor": 8, "original_max_position_embeddings": 8192, "mscale_all_dim": 1.0});
        yarn[key] = value.into();
        let found = words(&edited(LLAMA, &[set("rope_scaling", yarn)]));
        assert!(
            found.contains(&format!("rope_scaling.{key}\nLOGOS-CFG-04: `rope_scaling.{key}` multiplies ")),
            "{found}"
        );
    }
    check_scaling(
        json!("linear"),
        expect![[r#"
            rope_scaling
            LOGOS-CFG-04: `rope_scaling` is "linear", expected an object
        "#]],
    );
    check_scaling(
        json!({"rope_type": "linear"}),
        expect![[r#"
        rope_scaling.factor
        LOGOS-CFG-03: `rope_scaling.factor` is missing, expected a number of at least 1
    "#]],
    );
    check_scaling(
        json!({"rope_type": "linear", "factor": 0.5}),
        expect![[r#"
        rope_scaling.factor
        LOGOS-CFG-04: `rope_scaling.factor` is 0.5, expected a number of at least 1
    "#]],
    );
    check_scaling(
        json!({"rope_type": "llama3", "factor": 8, "low_freq_factor": 4, "high_freq_factor": 3}),
        expect![[r#"
            rope_scaling.high_freq_factor
            LOGOS-CFG-05: `rope_scaling.high_freq_factor` is 3, expected at least `low_freq_factor`, 4
        "#]],
    );
    check_scaling(
        json!({"rope_type": "llama3", "factor": "8", "low_freq_factor": 0}),
        expect![[r#"
            rope_scaling.factor
            LOGOS-CFG-04: `rope_scaling.factor` is "8", expected a number of at least 1
            rope_scaling.low_freq_factor
            LOGOS-CFG-04: `rope_scaling.low_freq_factor` is 0, expected a number above 0 that an f32 holds
            rope_scaling.high_freq_factor
            LOGOS-CFG-03: `rope_scaling.high_freq_factor` is missing, expected a number above 0 that an f32 holds
        "#]],
    );
    check_scaling(
        json!({"rope_type": "yarn", "factor": 4, "beta_fast": 1, "beta_slow": 32}),
        expect![[r#"
            rope_scaling.beta_fast
            LOGOS-CFG-05: `rope_scaling.beta_fast` is 1, expected at least `beta_slow`, 32
        "#]],
    );
    check_scaling(
        json!({"rope_type": "yarn", "factor": 4, "original_max_position_embeddings": 1}),
        expect![[r#"
        rope_scaling.original_max_position_embeddings
        LOGOS-CFG-04: `rope_scaling.original_max_position_embeddings` is 1, expected a whole number from 2 to 4294967295
    "#]],
    );
    check_scaling(
        json!({"rope_type": "yarn", "factor": 4, "bata_fast": 16}),
        expect![[r#"
        rope_scaling.bata_fast
        LOGOS-CFG-06: `rope_scaling.bata_fast` is 16: the key is not known for this family and may change what is computed
          help: did you mean `rope_scaling.beta_fast`?
    "#]],
    );
    check_scaling(
        json!({"rope_type": "longrope", "short_factor": [1, 1], "long_factor": [1, 0]}),
        expect![[r#"
        rope_scaling.short_factor
        LOGOS-CFG-04: `rope_scaling.short_factor` is a list of 2 items, expected a list of 64 numbers above 0
        rope_scaling.long_factor
        LOGOS-CFG-04: `rope_scaling.long_factor` is a list of 2 items, expected a list of 64 numbers above 0
    "#]],
    );
    check_scaling(
        json!({"rope_type": "default", "partial_rotary_factor": 0.5}),
        expect![[r#"
        rope_scaling.partial_rotary_factor
        LOGOS-CFG-04: `rope_scaling.partial_rotary_factor` is 0.5, expected 1: whole heads rotate
    "#]],
    );
    check_scaling(
        json!({"full_attention": {"rope_type": "default"}}),
        expect![[r#"
        rope_scaling.full_attention
        LOGOS-CFG-06: `rope_scaling.full_attention` is an object: the key is not known for this family and may change what is computed
          help: remove the key if the model computes the same without it
    "#]],
    );
    check_scaling(
        json!({"rope_type": "default", "rope_theta": 1e6}),
        expect![[r#"
        rope_theta
        LOGOS-CFG-05: `rope_theta` is 500000 but `rope_scaling.rope_theta` is 1000000, expected one value
    "#]],
    );
    check(
        LLAMA,
        &[set("rope_theta", json!(1))],
        expect![[r#"
        rope_theta
        LOGOS-CFG-04: `rope_theta` is 1, expected a number above 1
    "#]],
    );
    check(
        LLAMA,
        &[set("rope_parameters", json!({"rope_type": "default"}))],
        expect![[r#"
            rope_scaling
            LOGOS-CFG-05: `rope_scaling` and `rope_parameters` are both given, expected one
        "#]],
    );
    check(
        LLAMA,
        &[set("original_max_position_embeddings", json!(4096))],
        expect![[r#"
        original_max_position_embeddings
        LOGOS-CFG-05: `original_max_position_embeddings` is 4096 but `rope_scaling.original_max_position_embeddings` is 8192, expected one value
    "#]],
    );
    check(
        "llama-2-7b",
        &[set("original_max_position_embeddings", json!(4096))],
        expect![[r#"
        original_max_position_embeddings
        LOGOS-CFG-06: `original_max_position_embeddings` is 4096: the key is not known for this family and may change what is computed
          help: did you mean `max_position_embeddings`?
    "#]],
    );
    check(
        HYBRID,
        &[set("text_config.rope_parameters.partial_rotary_factor", json!(0))],
        expect![[r#"
        text_config.rope_parameters.partial_rotary_factor
        LOGOS-CFG-04: `text_config.rope_parameters.partial_rotary_factor` is 0, expected a number above 0, at most 1
    "#]],
    );
    check(
        HYBRID,
        &[set("text_config.rope_parameters.partial_rotary_factor", json!(0.255))],
        expect![[r#"
        text_config.head_dim
        LOGOS-CFG-05: `text_config.head_dim` makes 65 entries of a head rotate, expected an even number above 0
    "#]],
    );
    check(
        HYBRID,
        &[set("text_config.partial_rotary_factor", json!(0.5))],
        expect![[r#"
        text_config.partial_rotary_factor
        LOGOS-CFG-05: `text_config.partial_rotary_factor` is 0.5 but `text_config.rope_parameters.partial_rotary_factor` is 0.25, expected one value
    "#]],
    );
}

#[test]
fn layers_that_are_wrong() {
    check(
        QWEN,
        &[set("layer_types", json!(["full_attention"]))],
        expect![[r#"
            layer_types
            LOGOS-CFG-05: `layer_types` has length 1, expected `num_hidden_layers`, 28
        "#]],
    );
    check(
        QWEN,
        &[set("layer_types", json!(vec!["chunked_attention"; 28]))],
        expect![[r#"
            layer_types
            LOGOS-CFG-06: `layer_types` has "chunked_attention" at layer 0, expected one of "full_attention", "sliding_attention"
        "#]],
    );
    check(
        QWEN,
        &[set("layer_types", json!(vec!["sliding_attention"; 28]))],
        expect![[r#"
        layer_types
        LOGOS-CFG-05: `layer_types` has "sliding_attention" at layer 0, but there is no window: expected `use_sliding_window` true and a `sliding_window`
    "#]],
    );
    check(
        QWEN,
        &[set("layer_types", json!("full_attention"))],
        expect![[r#"
            layer_types
            LOGOS-CFG-04: `layer_types` is "full_attention", expected a list of strings
        "#]],
    );
    check(
        QWEN,
        &[set("sliding_window", json!(0)), set("use_sliding_window", json!("yes"))],
        expect![[r#"
            use_sliding_window
            LOGOS-CFG-04: `use_sliding_window` is "yes", expected true or false
            sliding_window
            LOGOS-CFG-04: `sliding_window` is 0, expected a whole number from 1 to 4294967295, or null
        "#]],
    );
    check(
        HYBRID,
        &[set("text_config.full_attention_interval", json!(0))],
        expect![[r#"
        text_config.full_attention_interval
        LOGOS-CFG-04: `text_config.full_attention_interval` is 0, expected a whole number from 1 to 4294967295
    "#]],
    );
}

#[test]
fn dtypes_that_are_wrong() {
    check(
        LLAMA,
        &[("torch_dtype", None)],
        expect![[r#"
        torch_dtype
        LOGOS-CFG-03: `torch_dtype` is missing, expected one of "float32", "float16", "bfloat16"
          help: write the dtype of the checkpoint's tensors, `"torch_dtype": "bfloat16"` for most
    "#]],
    );
    check(
        LLAMA,
        &[set("torch_dtype", json!("float8_e4m3fn"))],
        expect![[r#"
            torch_dtype
            LOGOS-CFG-06: `torch_dtype` is "float8_e4m3fn", expected one of "float32", "float16", "bfloat16"
        "#]],
    );
    check(
        LLAMA,
        &[set("dtype", json!("float16"))],
        expect![[r#"
        torch_dtype
        LOGOS-CFG-05: `torch_dtype` and `dtype` differ, expected one dtype
    "#]],
    );
    check(
        HYBRID,
        &[set("torch_dtype", json!("float16"))],
        expect![[r#"
        torch_dtype
        LOGOS-CFG-05: `torch_dtype` and `text_config.dtype` differ, expected one dtype
    "#]],
    );
}

#[test]
fn keys_that_change_the_computation() {
    check(
        LLAMA,
        &[set("hidden_act", json!("gelu"))],
        expect![[r#"
            hidden_act
            LOGOS-CFG-06: `hidden_act` is "gelu", expected one of "silu", "swish"
        "#]],
    );
    check(
        LLAMA,
        &[set("pretraining_tp", json!(2))],
        expect![[r#"
        pretraining_tp
        LOGOS-CFG-06: `pretraining_tp` is 2, and only 1 is implemented for this family
    "#]],
    );
    check(
        LLAMA,
        &[set("sliding_window", json!(4096))],
        expect![[r#"
        sliding_window
        LOGOS-CFG-06: `sliding_window` is 4096, and only null is implemented for this family
    "#]],
    );
    check(
        LLAMA,
        &[set("rope_scalling", json!(null))],
        expect![[r#"
        rope_scalling
        LOGOS-CFG-06: `rope_scalling` is null: the key is not known for this family and may change what is computed
          help: did you mean `rope_scaling`?
    "#]],
    );
    check(
        LLAMA,
        &[set("final_logit_softcapping", json!(30.0))],
        expect![[r#"
        final_logit_softcapping
        LOGOS-CFG-06: `final_logit_softcapping` is 30.0: the key is not known for this family and may change what is computed
          help: remove the key if the model computes the same without it
    "#]],
    );
    check(
        LLAMA,
        &[set("num_local_experts", json!(8))],
        expect![[r#"
        num_local_experts
        LOGOS-CFG-06: `num_local_experts` is 8, and only 0 is implemented for this family
    "#]],
    );
    check(
        LLAMA,
        &[set("quantization_config", json!({"quant_method": "fp8"}))],
        expect![[r#"
        quantization_config
        LOGOS-CFG-06: `quantization_config` is given, and quantized checkpoints are not implemented
          help: give the config of the model before it was quantized
    "#]],
    );
    check(
        "mistral-7b-v0.1",
        &[set("attention_bias", json!(true))],
        expect![[r#"
        attention_bias
        LOGOS-CFG-06: `attention_bias` is true, and only false is implemented for this family
    "#]],
    );
    check(
        QWEN,
        &[set("attention_bias", json!(false))],
        expect![[r#"
        attention_bias
        LOGOS-CFG-06: `attention_bias` is false, and only true is implemented for this family
    "#]],
    );
    check(
        "qwen3-8b",
        &[set("mlp_bias", json!(true))],
        expect![[r#"
        mlp_bias
        LOGOS-CFG-06: `mlp_bias` is true, and only false is implemented for this family
    "#]],
    );
    check(
        HYBRID,
        &[set("text_config.attn_output_gate", json!(false))],
        expect![[r#"
        text_config.attn_output_gate
        LOGOS-CFG-06: `text_config.attn_output_gate` is false, and only true is implemented for this family
    "#]],
    );
    check(
        HYBRID,
        &[set("text_config.mlp_only_layers", json!([3]))],
        expect![[r#"
        text_config.mlp_only_layers
        LOGOS-CFG-06: `text_config.mlp_only_layers` is a list of 1 item, and only an empty one is implemented for this family
    "#]],
    );
    check(
        HYBRID,
        &[set("text_config.quantization_config", json!({}))],
        expect![[r#"
        text_config.quantization_config
        LOGOS-CFG-06: `text_config.quantization_config` is given, and quantized checkpoints are not implemented
          help: give the config of the model before it was quantized
    "#]],
    );
    check(
        HYBRID,
        &[set("hidden_size", json!(64))],
        expect![[r#"
        hidden_size
        LOGOS-CFG-06: `hidden_size` is 64: the key is not known for this family and may change what is computed
          help: remove the key if the model computes the same without it
    "#]],
    );
    check(
        HYBRID,
        &[set("text_config.tie_word_embeddings", json!(true))],
        expect![[r#"
        tie_word_embeddings
        LOGOS-CFG-05: `tie_word_embeddings` is false but `text_config.tie_word_embeddings` is true, expected one value
    "#]],
    );
}
