//! What keys mean: each case is a published config with some keys changed, and the one thing that must follow. Expected
//! values are worked out from the reference's formulas, not taken from the code.

use serde_json::{Value, json};

use crate::spec::{Attention, AttentionSpan, Dtype, Mixer, ModelSpec, Norm, NormKind, QkNorm, Scaling};

use super::edited;

fn spec(slug: &str, edits: &[(&str, Option<Value>)]) -> ModelSpec {
    super::super::read(&edited(slug, edits)).unwrap()
}

fn set(key: &str, value: Value) -> (&str, Option<Value>) {
    (key, Some(value))
}

fn attention(spec: &ModelSpec, layer: usize) -> &Attention {
    match &spec.layers[spec.layer_of[layer] as usize].mixer {
        Mixer::Attention(attention) => attention,
        Mixer::Latent(_) | Mixer::GatedDelta(_) => panic!("layer {layer} is no attention"),
    }
}

fn scaling(slug: &str, edits: &[(&str, Option<Value>)]) -> Scaling {
    attention(&spec(slug, edits), 0).rope.clone().unwrap().scaling
}

#[test]
fn key_value_heads_by_family() {
    let cases = [
        // (config, what is written, heads that follow)
        ("llama-2-7b", None, 32),
        ("llama-2-7b", Some(Value::Null), 32),
        ("mistral-7b-v0.1", None, 8),
        ("qwen2.5-72b", None, 32),
        ("qwen2.5-72b", Some(Value::Null), 64),
        ("qwen3-32b", None, 32),
        ("qwen3-32b", Some(Value::Null), 64),
    ];
    for (slug, value, expected) in cases {
        let spec = spec(slug, &[("num_key_value_heads", value.clone())]);
        assert_eq!(attention(&spec, 0).kv_heads, expected, "{slug} with {value:?}");
    }
    let nested = spec("qwen3.5-27b", &[("text_config.num_key_value_heads", None)]);
    assert_eq!(attention(&nested, 3).kv_heads, 4);
}

#[test]
fn head_width_is_the_given_one_or_the_familys() {
    let devstral = spec("devstral-small-2507", &[]);
    let heads = attention(&devstral, 0);
    assert_eq!((heads.head_dim, heads.q.out, heads.k.out, heads.o.input), (128, 4096, 1024, 4096));
    assert_eq!(heads.scale, 0.088_388_346);
    let divided = spec("devstral-small-2507", &[("head_dim", Some(Value::Null))]);
    assert_eq!(attention(&divided, 0).head_dim, 160);
    let class = spec("qwen3-0.6b", &[("head_dim", None)]);
    assert_eq!(attention(&class, 0).head_dim, 128);
    // Not a divisor of the width, which is all the same where the width of a head is given.
    let odd =
        spec("llama-3.2-1b-instruct", &[set("num_attention_heads", json!(24)), set("num_key_value_heads", json!(8))]);
    assert_eq!(attention(&odd, 0).q.out, 24 * 64);
}

#[test]
fn biases_by_family() {
    let has = |attention: &Attention| {
        [&attention.q, &attention.k, &attention.v, &attention.o].map(|linear| linear.bias.is_some())
    };
    assert_eq!(has(attention(&spec("llama-2-7b", &[]), 0)), [false; 4]);
    assert_eq!(has(attention(&spec("llama-2-7b", &[set("attention_bias", json!(true))]), 0)), [true; 4]);
    assert_eq!(has(attention(&spec("qwen2-7b-instruct", &[]), 0)), [true, true, true, false]);
    assert_eq!(has(attention(&spec("qwen3-8b", &[set("attention_bias", json!(true))]), 0)), [true; 4]);
    let biased = spec("qwen3.5-27b", &[set("text_config.attention_bias", json!(true))]);
    let gate = attention(&biased, 3).gate.as_ref().unwrap().bias.as_ref().unwrap();
    assert_eq!((gate.tensor.shape.as_slice(), gate.take.offset, gate.take.stride), ([12_288].as_slice(), 256, 512));
}

#[test]
fn norms_by_family() {
    let kind = |norm: &Norm| match norm.kind {
        NormKind::Rms { one_plus } => (one_plus, norm.eps),
        NormKind::Layer => panic!("a layer norm"),
    };
    assert_eq!(kind(&spec("llama-2-7b", &[]).final_norm), (false, 1e-5));
    assert_eq!(kind(&spec("llama-2-7b", &[("rms_norm_eps", None)]).final_norm), (false, 1e-6));
    let qwen = spec("qwen3.5-27b", &[]);
    assert_eq!(kind(&qwen.final_norm), (true, 1e-6));
    let Some(QkNorm::PerHead { q, k, after_rope: false }) = &attention(&qwen, 3).qk_norm else {
        panic!("a norm a head")
    };
    assert_eq!((kind(q), kind(k)), ((true, 1e-6), (true, 1e-6)));
    let Mixer::GatedDelta(delta) = &qwen.layers[0].mixer else { panic!("a recurrence") };
    assert_eq!(kind(&delta.norm), (false, 1e-6));
    assert!(matches!(&attention(&spec("qwen3-8b", &[]), 0).qk_norm, Some(QkNorm::PerHead { q, .. }) if !kind(q).0));
}

#[test]
fn windows_by_family() {
    use AttentionSpan::{Full, Window};
    let on = ("use_sliding_window", Some(json!(true)));
    let types: Vec<&str> = (0..28).map(|l| if l % 2 == 0 { "sliding_attention" } else { "full_attention" }).collect();
    type Case<'a> = (&'a str, &'a [(&'a str, Option<Value>)], [AttentionSpan; 2]);
    let cases: &[Case<'_>] = &[
        ("mistral-7b-v0.1", &[], [Window(4096), Window(4096)]),
        ("mistral-7b-v0.1", &[("sliding_window", None)], [Window(4096), Window(4096)]),
        ("mistral-7b-v0.1", &[set("sliding_window", Value::Null)], [Full, Full]),
        ("qwen2-7b-instruct", &[], [Full, Full]),
        ("qwen2-7b-instruct", std::slice::from_ref(&on), [Full, Full]),
        ("qwen2-7b-instruct", &[on.clone(), set("max_window_layers", json!(27))], [Full, Window(131_072)]),
        ("qwen2-7b-instruct", &[on.clone(), set("max_window_layers", json!(0))], [Window(131_072), Window(131_072)]),
        (
            "qwen2-7b-instruct",
            &[on.clone(), set("sliding_window", Value::Null), set("max_window_layers", json!(0))],
            [Full, Full],
        ),
        (
            "qwen2-7b-instruct",
            &[on.clone(), ("sliding_window", None), set("max_window_layers", json!(1))],
            [Full, Window(4096)],
        ),
        ("qwen2-7b-instruct", &[on.clone(), set("layer_types", json!(types))], [Window(131_072), Full]),
        ("qwen3-8b", &[set("layer_types", Value::Null)], [Full, Full]),
    ];
    for (slug, edits, expected) in cases {
        let spec = spec(slug, edits);
        assert_eq!([attention(&spec, 0).span, attention(&spec, 27).span], *expected, "{slug} with {edits:?}");
    }
    // Two sorts, each built once.
    let mixed = spec("qwen2-7b-instruct", &[on, set("layer_types", json!(types))]);
    assert_eq!((mixed.layers.len(), &mixed.layer_of[..4]), (2, [0, 1, 0, 1].as_slice()));
}

#[test]
fn hybrid_layers_by_interval_or_list() {
    let by_interval = |interval: Option<Value>| {
        let edits = [("text_config.layer_types", None), ("text_config.full_attention_interval", interval)];
        let spec = spec("qwen3.5-27b", &edits);
        let rows: Vec<u32> = spec.layer_of[..8].to_vec();
        rows
    };
    assert_eq!(by_interval(Some(json!(4))), [0, 0, 0, 1, 0, 0, 0, 1]);
    assert_eq!(by_interval(None), [0, 0, 0, 1, 0, 0, 0, 1]);
    assert_eq!(by_interval(Some(json!(2))), [0, 1, 0, 1, 0, 1, 0, 1]);
    assert_eq!(by_interval(Some(json!(1))), [0; 8]);
    // The list decides, as in the reference.
    let listed = spec("qwen3.5-27b", &[set("text_config.full_attention_interval", json!(3))]);
    assert_eq!(listed.layer_of[..4], [0, 0, 0, 1]);
}

#[test]
fn rope_as_old_configs_write_it() {
    assert_eq!(scaling("llama-2-7b", &[]), Scaling::None);
    let llama3 = Scaling::Llama3 { factor: 8.0, low: 1.0, high: 4.0, original: 8192 };
    assert_eq!(scaling("llama-3.1-8b", &[]), llama3);
    let old = [set("rope_scaling", json!({"type": "linear", "factor": 4}))];
    assert_eq!(scaling("llama-2-7b", &old), Scaling::Linear { factor: 4.0 });
    let both = [set("rope_scaling", json!({"type": "dynamic", "rope_type": "dynamic", "factor": 2.0}))];
    assert_eq!(scaling("llama-2-7b", &both), Scaling::Dynamic { factor: 2.0, original: 4096 });
    let theta = |spec: ModelSpec| attention(&spec, 0).rope.as_ref().unwrap().theta;
    assert_eq!(theta(spec("llama-2-7b", &[])), 1e4);
    assert_eq!(theta(spec("llama-3.1-8b", &[])), 5e5);
    assert_eq!(theta(spec("devstral-small-2507", &[])), 1e9);
}

#[test]
fn rope_as_transformers_5_writes_it() {
    let parameters = json!({"rope_theta": 500_000.0, "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
        "high_freq_factor": 4.0, "original_max_position_embeddings": 8192});
    let edits = [("rope_theta", None), ("rope_scaling", None), ("rope_parameters", Some(parameters))];
    assert_eq!(spec("llama-3.1-8b", &edits), spec("llama-3.1-8b", &[]));
    // The factor beside the parameters, inside, both, or nowhere: a quarter of 256.
    let rotary =
        |edits: &[(&str, Option<Value>)]| attention(&spec("qwen3.5-27b", edits), 3).rope.as_ref().unwrap().rotary;
    assert_eq!(rotary(&[("text_config.rope_parameters.partial_rotary_factor", None)]), 64);
    assert_eq!(rotary(&[set("text_config.partial_rotary_factor", json!(0.25))]), 64);
    let beside = [
        ("text_config.rope_parameters.partial_rotary_factor", None),
        set("text_config.partial_rotary_factor", json!(0.5)),
    ];
    assert_eq!(rotary(&beside), 128);
}

#[test]
fn yarn_and_its_reach() {
    let yarn = |parameters: Value| {
        let spec =
            spec("qwen2.5-72b", &[set("rope_scaling", parameters), set("max_position_embeddings", json!(32_768))]);
        let rope = attention(&spec, 0).rope.clone().unwrap();
        match rope.scaling {
            Scaling::Yarn { factor, beta_fast, beta_slow, original, truncate, attention_factor } => {
                (spec.max_context, factor, beta_fast, beta_slow, original, truncate, attention_factor)
            }
            other => panic!("{other:?}"),
        }
    };
    let plain = json!({"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32_768});
    // 0.1 ln 4 + 1
    assert_eq!(yarn(plain), (131_072, 4.0, 32.0, 1.0, 32_768, true, 1.138_629_4));
    let implied =
        json!({"rope_type": "yarn", "factor": null, "original_max_position_embeddings": 8192, "truncate": false});
    assert_eq!(yarn(implied), (32_768, 4.0, 32.0, 1.0, 8192, false, 1.138_629_4));
    let scaled = json!({"rope_type": "yarn", "factor": 40, "mscale": 0.707, "mscale_all_dim": 1.0, "beta_fast": 16, "beta_slow": 2,
        "original_max_position_embeddings": 4096});
    // (0.0707 ln 40 + 1) / (0.1 ln 40 + 1)
    assert_eq!(yarn(scaled), (163_840, 40.0, 16.0, 2.0, 4096, true, 0.921_042_4));
    let given =
        json!({"rope_type": "yarn", "factor": 4, "attention_factor": 1.5, "original_max_position_embeddings": 32_768});
    assert_eq!(yarn(given).6, 1.5);
    let unsaid = json!({"rope_type": "yarn", "factor": 4});
    assert_eq!(yarn(unsaid).4, 32_768);
}

#[test]
fn longrope_takes_a_factor_a_pair() {
    let pairs = vec![1.5; 64];
    let parameters = json!({"rope_type": "longrope", "short_factor": vec![1; 64], "long_factor": pairs,
        "original_max_position_embeddings": 1024});
    let Scaling::LongRope { short, long, original, attention_factor } =
        scaling("llama-2-7b", &[set("rope_scaling", parameters)])
    else {
        panic!("longrope")
    };
    assert_eq!((short, long, original), (vec![1.0; 64], vec![1.5; 64], 1024));
    // sqrt(1 + ln(4096 / 1024) / ln 1024) = sqrt(1.2)
    assert_eq!(attention_factor, 1.095_445_1);
    // The trained context stands beside the scaling in some files.
    let parameters = json!({"rope_type": "longrope", "short_factor": vec![1; 64], "long_factor": vec![1; 64]});
    let edits = [set("rope_scaling", parameters), set("original_max_position_embeddings", json!(2048))];
    assert!(matches!(scaling("llama-2-7b", &edits), Scaling::LongRope { original: 2048, .. }));
}

#[test]
fn dtypes_by_either_name() {
    assert_eq!(spec("llama-2-7b", &[]).dtype, Dtype::F16);
    assert_eq!(spec("llama-2-7b", &[("torch_dtype", None), set("dtype", json!("bfloat16"))]).dtype, Dtype::Bf16);
    let outer = [("text_config.dtype", None), set("torch_dtype", json!("float32"))];
    assert_eq!(spec("qwen3.5-27b", &outer).dtype, Dtype::F32);
    assert_eq!(spec("qwen3.5-27b", &[]).state_dtype, Dtype::F32);
    assert_eq!(spec("qwen3.5-27b", &[set("text_config.mamba_ssm_dtype", json!("bfloat16"))]).state_dtype, Dtype::Bf16);
}

#[test]
fn heads_are_tied_by_the_familys_own_key() {
    let tied = spec("smollm2-135m", &[]);
    assert_eq!((tied.head.tied, tied.head.linear.weight.tensor.name.as_str()), (true, "model.embed_tokens.weight"));
    assert!(!spec("smollm2-135m", &[("tie_word_embeddings", None)]).head.tied);
    let nested = spec("qwen3.5-27b", &[set("tie_word_embeddings", json!(true))]);
    assert_eq!(nested.head.linear.weight.tensor.name, "model.language_model.embed_tokens.weight");
    assert!(!spec("qwen3.5-27b", &[("tie_word_embeddings", None)]).head.tied);
}

#[test]
fn the_text_model_by_itself_has_its_own_prefix() {
    let config: Value = serde_json::from_slice(&super::fixture("configs/qwen3.5-27b/config.json")).unwrap();
    let bare = super::super::read(&serde_json::to_vec(&config["text_config"]).unwrap()).unwrap();
    let nested = spec("qwen3.5-27b", &[]);
    assert_eq!(bare.embedding.name, "model.embed_tokens.weight");
    assert_eq!((bare.layer_of, bare.hidden, bare.max_context), (nested.layer_of, 5120, 262_144));
}

#[test]
fn keys_that_change_nothing_change_nothing() {
    let extra = [
        set("temperature", json!(0.6)),
        set("pretraining_tp", json!(1)),
        set("image_token_id", json!(7)),
        set("mtp_num_hidden_layers", json!(1)),
        set("quantization_config", Value::Null),
        set("sliding_window", Value::Null),
        set("rope_interleaved", json!(false)),
    ];
    assert_eq!(spec("llama-3.1-8b", &extra), spec("llama-3.1-8b", &[]));
}
