//! What keys mean family by family, the misleading ones above all. Expected values are worked out from the reference's
//! formulas, not taken from the code.

use serde_json::{Value, json};

use crate::spec::{
    Activation, Arrangement, Attention, AttentionSpan, Dtype, ExpertTensors, Experts, FeedForward, GatedDelta,
    LatentAttention, LayerSpec, Linear, Mixer, ModelSpec, Norm, NormKind, Pairing, QkNorm, RouterScore, Scaling, Take,
    Temperature,
};

use super::edited;

type Edit<'a> = (&'a str, Option<Value>);

fn spec(slug: &str, edits: &[Edit<'_>]) -> ModelSpec {
    super::super::read(&edited(slug, edits)).unwrap_or_else(|refusals| panic!("{slug}: {refusals:#?}"))
}

fn set(key: &str, value: Value) -> Edit<'_> {
    (key, Some(value))
}

fn layer(spec: &ModelSpec, layer: usize) -> &LayerSpec {
    &spec.layers[spec.layer_of[layer] as usize]
}

fn attention(spec: &ModelSpec, number: usize) -> &Attention {
    match &layer(spec, number).mixer {
        Mixer::Attention(attention) => attention,
        Mixer::Latent(_) | Mixer::GatedDelta(_) => panic!("layer {number} is no grouped attention"),
    }
}

fn latent(spec: &ModelSpec, number: usize) -> &LatentAttention {
    match &layer(spec, number).mixer {
        Mixer::Latent(latent) => latent,
        Mixer::Attention(_) | Mixer::GatedDelta(_) => panic!("layer {number} is no latent attention"),
    }
}

fn delta(spec: &ModelSpec, number: usize) -> &GatedDelta {
    match &layer(spec, number).mixer {
        Mixer::GatedDelta(delta) => delta,
        Mixer::Attention(_) | Mixer::Latent(_) => panic!("layer {number} is no recurrence"),
    }
}

fn experts(spec: &ModelSpec, number: usize) -> &Experts {
    match &layer(spec, number).feed_forward {
        FeedForward::Experts(experts) => experts,
        FeedForward::Dense(_) => panic!("layer {number} is dense"),
    }
}

/// Which layers have experts.
fn sparse(spec: &ModelSpec) -> Vec<usize> {
    (0..spec.depth()).filter(|&number| matches!(layer(spec, number).feed_forward, FeedForward::Experts(_))).collect()
}

fn theta(spec: &ModelSpec, number: usize) -> f64 {
    attention(spec, number).rope.as_ref().unwrap().theta
}

fn taken(linear: &Linear) -> (u32, u32, u32, u32) {
    let Take { offset, run, stride, count } = linear.weight.take;
    (offset, run, stride, count)
}

fn name(linear: &Linear) -> &str {
    &linear.weight.tensor.name
}

fn eps(norm: &Norm) -> f32 {
    norm.eps
}

#[test]
fn mixtral_divides_the_chosen_scores_and_turns_slowly() {
    let mixtral = spec("mixtral-8x7b-v0.1", &[("rope_theta", None), ("sliding_window", None)]);
    assert_eq!((theta(&mixtral, 0), attention(&mixtral, 0).span), (1e6, AttentionSpan::Full));
    let block = experts(&mixtral, 31);
    assert_eq!((block.count, block.router.top_k, block.expert.width), (8, 2, 14_336));
    assert_eq!((block.router.score, block.router.normalised), (RouterScore::Softmax, true));
    // w1 is the gate, w3 goes up, w2 comes down.
    let names = [block.expert.gate.as_ref().unwrap(), &block.expert.up, &block.expert.down].map(name);
    let base = "model.layers.{l}.block_sparse_moe.experts.{e}";
    assert_eq!(names, [format!("{base}.w1.weight"), format!("{base}.w3.weight"), format!("{base}.w2.weight")]);
    let windowed = spec("mixtral-8x7b-v0.1", &[set("sliding_window", json!(4096))]);
    assert_eq!(attention(&windowed, 0).span, AttentionSpan::Window(4096));
}

#[test]
fn qwen3_moe_says_which_layers_are_dense() {
    let tiny = "tiny/qwen3_moe";
    assert_eq!(sparse(&spec(tiny, &[])), [0, 2]);
    assert_eq!(sparse(&spec(tiny, &[set("mlp_only_layers", json!([]))])), [0, 1, 2]);
    assert_eq!(sparse(&spec(tiny, &[set("mlp_only_layers", Value::Null)])), [0, 1, 2]);
    // Every second, counted from 1.
    let edits = [set("mlp_only_layers", json!([0])), set("decoder_sparse_step", json!(2))];
    assert_eq!(sparse(&spec(tiny, &edits)), [1]);
    assert!(experts(&spec(tiny, &[]), 0).router.normalised);
    assert!(!experts(&spec(tiny, &[("norm_topk_prob", None)]), 0).router.normalised);
    // The window is every layer's, wherever the dense model's would begin; its width counts only where it is used.
    let on = [set("use_sliding_window", json!(true)), set("sliding_window", json!(64))];
    assert_eq!(attention(&spec(tiny, &on), 0).span, AttentionSpan::Window(64));
    assert_eq!(attention(&spec(tiny, &on[1..]), 0).span, AttentionSpan::Full);
}

#[test]
fn qwen3_next_groups_its_projections_by_key_head() {
    let next = spec("qwen3-next-80b-a3b-thinking", &[]);
    assert_eq!(&next.layer_of[..8], [0, 0, 0, 1, 0, 0, 0, 1]);
    let mixer = delta(&next, 0);
    // A group: 128 of q, 128 of k, 2 heads of v and of z: 768 rows, sixteen times.
    assert_eq!([&mixer.q, &mixer.k].map(taken), [(0, 128, 768, 16), (128, 128, 768, 16)]);
    assert_eq!([&mixer.v, &mixer.z].map(taken), [(256, 256, 768, 16), (512, 256, 768, 16)]);
    assert_eq!([&mixer.b, &mixer.a].map(taken), [(0, 2, 4, 16), (2, 2, 4, 16)]);
    // Channels of the convolution are not grouped.
    assert_eq!([mixer.conv_q.take, mixer.conv_k.take], [Take::range(0, 2048), Take::range(2048, 2048)]);
    assert_eq!(mixer.conv_v.take, Take::range(4096, 4096));
    let block = experts(&next, 0);
    assert_eq!((block.stored, block.router.normalised), (ExpertTensors::Apart, true));
    assert_eq!(block.shared.as_ref().unwrap().width, 512);
    assert_eq!(block.shared_gate.as_ref().unwrap().weight.tensor.shape, [1, 2048]);
    assert_eq!(attention(&next, 3).rope.as_ref().unwrap().rotary, 64);
}

#[test]
fn qwen35_moe_stacks_its_experts_gate_first() {
    let nested = spec("qwen3.5-35b-a3b", &[]);
    let block = experts(&nested, 0);
    assert_eq!(block.stored, ExpertTensors::Stacked);
    let gate = block.expert.gate.as_ref().unwrap();
    assert_eq!((taken(gate), taken(&block.expert.up)), ((0, 512, 512, 1), (512, 512, 512, 1)));
    assert_eq!(gate.weight.tensor.shape, [256, 1024, 2048]);
    assert_eq!(name(gate), "model.language_model.layers.{l}.mlp.experts.gate_up_proj");
    assert_eq!(block.one().gate.unwrap().weight.tensor.shape, [1024, 2048]);
    assert!(block.router.normalised);
    // The factor beside the parameters as well as inside them, and a model by itself.
    let both = spec("qwen3.6-35b-a3b", &[]);
    assert_eq!(attention(&both, 3).rope, attention(&nested, 3).rope);
    let bare = spec("qwen3.8-2.4t-a95b", &[]);
    assert_eq!((bare.embedding.name.as_str(), bare.depth()), ("model.embed_tokens.weight", 92));
}

#[test]
fn gemma2_alternates_and_caps() {
    let gemma = spec("gemma-2-9b-it", &[]);
    assert!(gemma.head.tied);
    assert_eq!((gemma.embedding_scale, gemma.head.softcap), (Some(59.75), Some(30.0)));
    assert_eq!(spec("gemma-2-9b-it", &[set("torch_dtype", json!("float32"))]).embedding_scale, Some(59.866_52));
    let spans = [0, 1, 41].map(|number| attention(&gemma, number).span);
    assert_eq!(spans, [AttentionSpan::Window(4096), AttentionSpan::Full, AttentionSpan::Full]);
    let first = attention(&gemma, 0);
    // 224^-0.5, where heads have 256 columns.
    assert_eq!((first.scale, first.softcap, first.head_dim), (0.066_815_31, Some(50.0), 256));
    assert_eq!(gemma.final_norm.kind, NormKind::Rms { one_plus: true });
    let uncapped = [set("attn_logit_softcapping", Value::Null), set("final_logit_softcapping", Value::Null)];
    let uncapped = spec("gemma-2-9b-it", &uncapped);
    assert_eq!((attention(&uncapped, 0).softcap, uncapped.head.softcap), (None, None));
    let absent = spec("gemma-2-9b-it", &[("attn_logit_softcapping", None), ("query_pre_attn_scalar", None)]);
    assert_eq!((attention(&absent, 0).softcap, attention(&absent, 0).scale), (Some(50.0), 0.0625));
    // The class never reads `hidden_act`.
    let act = |edits: &[Edit<'_>]| match &layer(&spec("gemma-2-9b-it", edits), 0).feed_forward {
        FeedForward::Dense(mlp) => mlp.activation,
        FeedForward::Experts(_) => panic!("dense"),
    };
    assert_eq!(act(&[set("hidden_act", json!("relu"))]), Activation::GeluTanh);
    assert_eq!(act(&[set("hidden_act", json!("silu")), ("hidden_activation", None)]), Activation::GeluTanh);
    assert_eq!(act(&[set("hidden_activation", json!("gelu"))]), Activation::Gelu);
}

#[test]
fn gemma3_has_two_rotary_embeddings() {
    let gemma = spec("gemma-3-27b-it", &[]);
    let full: Vec<usize> = (0..62).filter(|&n| attention(&gemma, n).span == AttentionSpan::Full).collect();
    assert_eq!(full, (5..62).step_by(6).collect::<Vec<_>>());
    assert_eq!((theta(&gemma, 0), theta(&gemma, 5)), (1e4, 1e6));
    let scaling = |number| attention(&gemma, number).rope.clone().unwrap().scaling;
    assert_eq!((scaling(0), scaling(5)), (Scaling::None, Scaling::Linear { factor: 8.0 }));
    assert_eq!(attention(&gemma, 0).span, AttentionSpan::Window(1024));
    // Every field written out, the list of layers too: the same model.
    assert_eq!(spec("medgemma-27b-it", &[]), gemma);
    // What the smallest files leave out.
    let small = spec("gemma-3-4b-it", &[]);
    let heads = attention(&small, 0);
    assert_eq!((heads.heads, heads.kv_heads, heads.head_dim, small.vocab), (8, 4, 256, 262_208));
    let untied = spec("gemma-3-4b-it", &[set("tie_word_embeddings", json!(false))]);
    assert_eq!(untied.head.linear.weight.tensor.name, "language_model.lm_head.weight");
    // As transformers 5 writes it.
    let parameters = json!({"sliding_attention": {"rope_type": "default", "rope_theta": 10_000},
        "full_attention": {"rope_type": "linear", "factor": 8, "rope_theta": 1_000_000}});
    let edits = [("text_config.rope_scaling", None), set("text_config.rope_parameters", parameters)];
    assert_eq!(spec("gemma-3-27b-it", &edits), gemma);
    // The list goes before the pattern.
    let types: Vec<&str> = (0..26).map(|n| if n == 0 { "full_attention" } else { "sliding_attention" }).collect();
    let listed = spec("gemma-3-1b-it", &[set("layer_types", json!(types))]);
    assert_eq!(&listed.layer_of[..7], [0, 1, 1, 1, 1, 1, 1]);
    assert_eq!(spec("gemma-3-1b-it", &[]).embedding.name, "model.embed_tokens.weight");
}

#[test]
fn deepseek_scales_scores_by_what_stretches_its_positions() {
    let v2 = spec("deepseek-v2-lite", &[]);
    let mixer = latent(&v2, 0);
    assert_eq!((mixer.nope, mixer.rotary, mixer.value_dim, mixer.latent), (128, 64, 128, 512));
    // 192^-0.5 (0.1 · 0.707 ln 40 + 1)²
    assert_eq!(mixer.scale, 0.114_721_39);
    assert!(mixer.q_down.is_none() && name(&mixer.q) == "model.layers.{l}.self_attn.q_proj.weight");
    assert_eq!((mixer.rope.rotary, mixer.rope.pairing), (64, Pairing::Adjacent));
    let Scaling::Yarn { attention_factor, .. } = mixer.rope.scaling else { panic!("yarn") };
    assert_eq!((attention_factor, v2.max_context), (1.0, 163_840));
    let unscaled = spec("deepseek-v2-lite", &[set("rope_scaling.mscale_all_dim", json!(0))]);
    // 192^-0.5, and 0.1 ln 40 + 1 on cosines and sines.
    let Scaling::Yarn { attention_factor, .. } = latent(&unscaled, 0).rope.scaling else { panic!("yarn") };
    assert_eq!((latent(&unscaled, 0).scale, attention_factor), (0.072_168_78, 1.368_887_9));
    let plain = spec("deepseek-v2-lite", &[set("rope_scaling", Value::Null)]);
    assert_eq!((latent(&plain, 0).scale, &latent(&plain, 0).rope.scaling), (0.072_168_78, &Scaling::None));
    // The norms of the latents keep their own eps.
    let v3 = spec("deepseek-v3", &[set("rms_norm_eps", json!(1e-5))]);
    let (down, norm) = latent(&v3, 0).q_down.as_ref().unwrap();
    assert_eq!([eps(norm), eps(&latent(&v3, 0).kv_norm), eps(&v3.final_norm)], [1e-6, 1e-6, 1e-5]);
    assert_eq!((down.out, latent(&v3, 0).q.input), (1536, 1536));
    let halves = spec("deepseek-v3", &[set("rope_interleave", json!(false))]);
    assert_eq!(latent(&halves, 0).rope.pairing, Pairing::Halves);
    // Biases on what goes down and out, never on what goes up.
    let biased = spec("deepseek-v3", &[set("attention_bias", json!(true))]);
    let mixer = latent(&biased, 0);
    let (down, _) = mixer.q_down.as_ref().unwrap();
    let has = [down, &mixer.q, &mixer.kv_down, &mixer.kv_up, &mixer.o].map(|linear| linear.bias.is_some());
    assert_eq!(has, [true, false, true, false, true]);
}

#[test]
fn deepseek_chooses_by_group_or_not() {
    let v2 = spec("deepseek-v2-lite", &[]);
    assert_eq!(sparse(&v2), (1..27).collect::<Vec<_>>());
    let block = experts(&v2, 1);
    assert_eq!(
        (block.router.groups, block.router.normalised, block.router.score),
        ((1, 1), false, RouterScore::Softmax)
    );
    assert!(block.router.correction.is_none());
    // Two shared experts are one of twice the width.
    assert_eq!(block.shared.as_ref().unwrap().width, 2816);
    let limited =
        [set("topk_method", json!("group_limited_greedy")), set("n_group", json!(8)), set("topk_group", json!(3))];
    let router = experts(&spec("deepseek-v2-lite", &limited), 1).router.clone();
    assert_eq!((router.groups, router.group_sum_of_two), ((8, 3), false));
    // Without the method the groups count for nothing.
    assert_eq!(experts(&spec("deepseek-v2-lite", &limited[1..]), 1).router.groups, (1, 1));

    let v3 = spec("deepseek-v3", &[]);
    let router = &experts(&v3, 3).router;
    assert_eq!((router.groups, router.group_sum_of_two, router.top_k, router.scale), ((8, 4), true, 8, 2.5));
    assert_eq!((router.score, router.normalised), (RouterScore::Sigmoid, true));
    let correction = &router.correction.as_ref().unwrap().tensor;
    assert_eq!(
        (correction.name.as_str(), &correction.shape[..]),
        ("model.layers.{l}.mlp.gate.e_score_correction_bias", [256].as_slice())
    );
    assert_eq!(sparse(&v3)[0], 3);
    assert_eq!(spec("deepseek-r1", &[]), v3);
    // All groups kept is no grouping.
    let all = spec("deepseek-v3", &[set("topk_group", json!(8))]);
    assert_eq!((experts(&all, 3).router.groups, experts(&all, 3).router.group_sum_of_two), ((1, 1), false));
    let kimi = spec("kimi-k2-instruct", &[]);
    assert_eq!((experts(&kimi, 1).router.groups, experts(&kimi, 1).router.scale), ((1, 1), 2.827));
    let Scaling::Yarn { beta_fast, beta_slow, .. } = latent(&kimi, 0).rope.scaling else { panic!("yarn") };
    assert_eq!((beta_fast, beta_slow, latent(&kimi, 0).heads), (1.0, 1.0, 64));
}

#[test]
fn gpt_oss_interleaves_clamps_and_sinks() {
    let oss = spec("gpt-oss-20b", &[]);
    let spans = [0, 1].map(|number| attention(&oss, number).span);
    assert_eq!(spans, [AttentionSpan::Window(128), AttentionSpan::Full]);
    assert_eq!(spec("gpt-oss-20b", &[("layer_types", None)]), oss);
    let first = attention(&oss, 0);
    assert_eq!(first.sinks.as_ref().unwrap().tensor.shape, [64]);
    assert!([&first.q, &first.k, &first.v, &first.o].iter().all(|linear| linear.bias.is_some()));
    let rope = first.rope.as_ref().unwrap();
    let Scaling::Yarn { truncate, attention_factor, .. } = rope.scaling else { panic!("yarn") };
    // 0.1 ln 32 + 1
    assert_eq!((truncate, attention_factor, rope.theta), (false, 1.346_573_6, 150_000.0));
    let block = experts(&oss, 0);
    assert_eq!(block.stored, ExpertTensors::StackedTransposed);
    assert_eq!((block.router.score, block.router.normalised), (RouterScore::SoftmaxChosen, false));
    assert!(block.router.linear.bias.is_some());
    assert_eq!(block.expert.activation, Activation::SwigluClamped { alpha: 1.702, limit: 7.0 });
    let (gate, up, down) = (block.expert.gate.as_ref().unwrap(), &block.expert.up, &block.expert.down);
    assert_eq!((taken(gate), taken(up)), ((0, 1, 2, 2880), (1, 1, 2, 2880)));
    assert_eq!(gate.weight.tensor.shape, [32, 2880, 5760]);
    assert_eq!(down.bias.as_ref().unwrap().tensor.shape, [32, 2880]);
    assert_eq!(down.bias.as_ref().unwrap().tensor.name, "model.layers.{l}.mlp.experts.down_proj_bias");
    let one = block.one();
    assert_eq!(one.up.weight.tensor.shape, [5760, 2880]);
    assert_eq!(one.up.bias.unwrap().tensor.shape, [5760]);
    // The file names no dtype; what MXFP4 leaves is bfloat16, and a dtype that is named counts.
    assert_eq!(oss.dtype, Dtype::Bf16);
    assert_eq!(spec("gpt-oss-20b", &[set("torch_dtype", json!("float32"))]).dtype, Dtype::F32);
}

#[test]
fn llama4_has_rope_where_no_rope_layers_says_one() {
    let scout = spec("llama-4-scout-17b-16e-instruct", &[]);
    // An empty list means every fourth has none.
    for number in 0..48 {
        let mixer = attention(&scout, number);
        let rotates = number % 4 != 3;
        assert_eq!(mixer.rope.is_some(), rotates, "layer {number}");
        assert_eq!(mixer.span, if rotates { AttentionSpan::Chunked(8192) } else { AttentionSpan::Full });
        assert_eq!(mixer.qk_norm.is_some(), rotates);
        assert_eq!(mixer.temperature, (!rotates).then_some(Temperature { scale: 0.1, floor: 8192.0 }));
    }
    let Some(QkNorm::PerHead { q, after_rope: true, .. }) = &attention(&scout, 0).qk_norm else { panic!("a norm") };
    assert!(q.weight.is_none());
    assert_eq!(attention(&scout, 0).rope.as_ref().unwrap().pairing, Pairing::Adjacent);
    // A step rather than a slope.
    let scaling = attention(&scout, 0).rope.clone().unwrap().scaling;
    assert_eq!(scaling, Scaling::Llama3 { factor: 16.0, low: 1.0, high: 1.0, original: 8192 });
    assert_eq!(scout.head.linear.weight.tensor.name, "language_model.lm_head.weight");
    let block = experts(&scout, 0);
    assert_eq!((block.stored, block.router.on_input), (ExpertTensors::StackedTransposed, true));
    assert_eq!((block.router.score, block.router.normalised), (RouterScore::Sigmoid, false));
    let gate = block.expert.gate.as_ref().unwrap();
    assert_eq!((taken(gate), &gate.weight.tensor.shape[..]), ((0, 8192, 8192, 1), [16, 5120, 16_384].as_slice()));
    assert_eq!(block.shared.as_ref().unwrap().width, 8192);

    let tiny = "tiny/llama4";
    let some = spec(tiny, &[]);
    assert_eq!(sparse(&some), [1, 3]);
    let FeedForward::Dense(dense) = &layer(&some, 0).feed_forward else { panic!("dense") };
    assert_eq!(dense.width, 80);
    assert_eq!(sparse(&spec(tiny, &[set("text_config.moe_layers", json!([0, 3]))])), [0, 3]);
    assert_eq!(sparse(&spec(tiny, &[set("text_config.moe_layers", json!([]))])), [0; 0]);
    let plain = [
        set("text_config.attn_temperature_tuning", json!(false)),
        set("text_config.use_qk_norm", json!(false)),
        set("text_config.attention_chunk_size", Value::Null),
        set("text_config.no_rope_layers", json!([0, 1, 1, 1, 1, 1])),
    ];
    let plain = spec(tiny, &plain);
    let first = [0, 1].map(|n| (attention(&plain, n).rope.is_some(), attention(&plain, n).span));
    assert_eq!(first, [(false, AttentionSpan::Full), (true, AttentionSpan::Full)]);
    assert!(plain.layers.iter().all(|layer| match &layer.mixer {
        Mixer::Attention(a) => a.temperature.is_none() && a.qk_norm.is_none(),
        Mixer::Latent(_) | Mixer::GatedDelta(_) => false,
    }));
}

#[test]
fn phi3_fuses_and_stretches() {
    let mini = spec("phi-3-mini-4k-instruct", &[]);
    let mixer = attention(&mini, 0);
    assert_eq!(mixer.span, AttentionSpan::Window(2047));
    let phi4 = spec("phi-4", &[]);
    let mixer = attention(&phi4, 0);
    let parts = [&mixer.q, &mixer.k, &mixer.v].map(taken);
    assert_eq!(parts, [(0, 5120, 5120, 1), (5120, 1280, 1280, 1), (6400, 1280, 1280, 1)]);
    let FeedForward::Dense(mlp) = &layer(&phi4, 0).feed_forward else { panic!("dense") };
    assert_eq!(
        (taken(mlp.gate.as_ref().unwrap()), taken(&mlp.up)),
        ((0, 17_920, 17_920, 1), (17_920, 17_920, 17_920, 1))
    );

    let long = "tiny/phi3_longrope";
    let original = |edits: &[Edit<'_>]| {
        let rope = attention(&spec(long, edits), 0).rope.clone().unwrap();
        match rope.scaling {
            Scaling::LongRope { original, attention_factor, .. } => (rope.rotary, original, attention_factor),
            other => panic!("{other:?}"),
        }
    };
    // sqrt(1 + ln(256 / 6) / ln 6), on 12 of 16.
    assert_eq!(original(&[]), (12, 6, 1.759_210_7));
    assert_eq!(original(&[set("rope_scaling.type", json!("su"))]), (12, 6, 1.759_210_7));
    // The class has 4096 where no key has it, whatever `max_position_embeddings` is; that is no stretch at all here.
    assert_eq!(original(&[("original_max_position_embeddings", None)]), (12, 4096, 1.0));
}

#[test]
fn phi_stands_side_by_side_with_biases() {
    let phi = spec("tiny/phi", &[]);
    assert!(matches!(&layer(&phi, 0).arrangement, Arrangement::Parallel { mixer, feed_forward: None }
        if mixer.kind == NormKind::Layer && mixer.bias.is_some()));
    let bias = phi.head.linear.bias.as_ref().unwrap();
    assert_eq!((bias.tensor.name.as_str(), bias.tensor.shape[0]), ("lm_head.bias", 96));
    assert_eq!(attention(&phi, 0).rope.as_ref().unwrap().rotary, 8);
    assert_eq!(attention(&spec("tiny/phi", &[("partial_rotary_factor", None)]), 0).rope.as_ref().unwrap().rotary, 8);
    let FeedForward::Dense(mlp) = &layer(&phi, 0).feed_forward else { panic!("dense") };
    assert_eq!((mlp.gate.is_none(), mlp.activation), (true, Activation::GeluTanh));
    let tied = spec("tiny/phi", &[set("tie_word_embeddings", json!(true))]);
    assert_eq!(tied.head.linear.weight.tensor.name, "model.embed_tokens.weight");
    assert!(tied.head.linear.bias.is_some());
    let normed = spec("tiny/phi", &[set("qk_layernorm", json!(true))]);
    let Some(QkNorm::PerHead { q, after_rope: false, .. }) = &attention(&normed, 0).qk_norm else { panic!("norms") };
    assert_eq!(q.bias.as_ref().unwrap().tensor.name, "model.layers.{l}.self_attn.q_layernorm.bias");
}

#[test]
fn gpt_neox_fuses_head_by_head() {
    let neox = spec("tiny/gpt_neox", &[]);
    let mixer = attention(&neox, 0);
    let parts = [&mixer.q, &mixer.k, &mixer.v].map(taken);
    assert_eq!(parts, [(0, 16, 48, 4), (16, 16, 48, 4), (32, 16, 48, 4)]);
    assert_eq!(mixer.q.bias.as_ref().unwrap().take, mixer.q.weight.take);
    let rope = mixer.rope.as_ref().unwrap();
    assert_eq!((rope.rotary, rope.theta, rope.pairing), (4, 10_000.0, Pairing::Halves));
    let slow = [set("rotary_emb_base", json!(1e6)), set("rotary_pct", json!(1.0))];
    let rope = attention(&spec("tiny/gpt_neox", &slow), 0).rope.clone().unwrap();
    assert_eq!((rope.rotary, rope.theta), (16, 1e6));
    assert!(matches!(&layer(&neox, 0).arrangement, Arrangement::Parallel { feed_forward: Some(_), .. }));
    let in_turn = spec("tiny/gpt_neox", &[set("use_parallel_residual", json!(false))]);
    assert!(matches!(&layer(&in_turn, 0).arrangement, Arrangement::Sequential { after_mixer: None, .. }));
    let FeedForward::Dense(mlp) = &layer(&neox, 0).feed_forward else { panic!("dense") };
    assert_eq!(mlp.activation, Activation::Gelu);
}

#[test]
fn falcon_counts_kv_heads_by_its_layout() {
    // 71 is what the key says, and the number of query heads.
    let small = spec("falcon-7b-instruct", &[]);
    let mixer = attention(&small, 0);
    assert_eq!((mixer.heads, mixer.kv_heads, mixer.head_dim), (71, 1, 64));
    let parts = [&mixer.q, &mixer.k, &mixer.v].map(taken);
    assert_eq!(parts, [(0, 4544, 4672, 1), (4544, 64, 4672, 1), (4608, 64, 4672, 1)]);
    assert!(
        small.head.tied && matches!(&layer(&small, 0).arrangement, Arrangement::Parallel { feed_forward: None, .. })
    );
    // `multi_query` is true here too, and counts for nothing.
    let large = spec("falcon-40b", &[]);
    let mixer = attention(&large, 0);
    let parts = [&mixer.q, &mixer.k, &mixer.v].map(taken);
    assert_eq!(parts, [(0, 1024, 1152, 8), (1024, 64, 1152, 8), (1088, 64, 1152, 8)]);
    assert!(matches!(&layer(&large, 0).arrangement, Arrangement::Parallel { feed_forward: Some(_), .. }));
    let FeedForward::Dense(mlp) = &layer(&large, 0).feed_forward else { panic!("dense") };
    assert_eq!((mlp.width, mlp.activation), (32_768, Activation::Gelu));
    // As many as query heads where the new layout does not say, and always in the old one without `multi_query`.
    assert_eq!(attention(&spec("falcon-40b", &[("num_kv_heads", None)]), 0).kv_heads, 128);
    let old = spec("falcon-7b-instruct", &[set("multi_query", json!(false))]);
    assert_eq!((attention(&old, 0).kv_heads, taken(&attention(&old, 0).k)), (71, (64, 64, 192, 71)));
    let in_turn = spec("falcon-7b-instruct", &[set("parallel_attn", json!(false))]);
    assert!(matches!(&layer(&in_turn, 0).arrangement, Arrangement::Sequential { before_feed_forward: Some(_), .. }));
    // Falcon 2's: the new layout with one norm.
    let one = spec("falcon-40b", &[set("num_ln_in_parallel_attn", json!(1))]);
    assert!(matches!(&layer(&one, 0).arrangement, Arrangement::Parallel { mixer, feed_forward: None }
        if mixer.weight.as_ref().unwrap().tensor.name == "transformer.h.{l}.input_layernorm.weight"));
    assert_eq!(spec("falcon-40b", &[set("ffn_hidden_size", Value::Null)]), large);
}

#[test]
fn norms_stand_where_the_family_has_them() {
    let olmo = spec("tiny/olmo2", &[]);
    let Arrangement::Sequential { before_mixer: None, after_mixer: Some(after), before_feed_forward: None, .. } =
        &layer(&olmo, 0).arrangement
    else {
        panic!("norms on the outputs")
    };
    assert_eq!(after.weight.as_ref().unwrap().tensor.name, "model.layers.{l}.post_attention_layernorm.weight");
    let Some(QkNorm::FullWidth { q, k }) = &attention(&olmo, 0).qk_norm else { panic!("full width") };
    let widths = [q, k].map(|norm| norm.weight.as_ref().unwrap().tensor.shape[0]);
    assert_eq!((widths, eps(q)), ([64, 32], 1e-6));
    assert_eq!(eps(&spec("tiny/olmo2", &[("rms_norm_eps", None)]).final_norm), 1e-5);

    // `post_attention_layernorm` comes before the feed-forward in GLM-4.
    let glm = spec("tiny/glm4", &[]);
    let Arrangement::Sequential { after_mixer: Some(after), before_feed_forward: Some(before), .. } =
        &layer(&glm, 0).arrangement
    else {
        panic!("norms around both blocks")
    };
    let names = [after, before].map(|norm| norm.weight.as_ref().unwrap().tensor.name.clone());
    assert_eq!(names[0], "model.layers.{l}.post_self_attn_layernorm.weight");
    assert_eq!(names[1], "model.layers.{l}.post_attention_layernorm.weight");

    let cohere = spec("tiny/cohere", &[]);
    assert!(matches!(&layer(&cohere, 0).arrangement, Arrangement::Parallel { mixer, feed_forward: None }
        if mixer.kind == NormKind::Layer && mixer.bias.is_none()));
    let Some(QkNorm::PerHead { q, k, after_rope: false }) = &attention(&cohere, 0).qk_norm else { panic!("per head") };
    let rows = [q, k].map(|norm| norm.weight.as_ref().unwrap().tensor.shape.clone());
    assert_eq!((rows, q.kind), ([vec![4, 16], vec![2, 16]], NormKind::Layer));
    assert!(attention(&spec("command-r-v01", &[]), 0).qk_norm.is_none());
}

#[test]
fn factors_by_family() {
    let granite = spec("tiny/granite", &[]);
    assert_eq!((granite.embedding_scale, granite.head.scale), (Some(6.0), Some(0.25)));
    assert_eq!((attention(&granite, 0).scale, layer(&granite, 0).residual_scale), (0.11, Some(0.6)));
    // The class has 1 for all of them, the scores too.
    let absent = ["embedding_multiplier", "attention_multiplier", "residual_multiplier", "logits_scaling"];
    let plain = spec("tiny/granite", &absent.map(|key| (key, None)));
    assert_eq!((plain.embedding_scale, plain.head.scale), (None, None));
    assert_eq!((attention(&plain, 0).scale, layer(&plain, 0).residual_scale), (1.0, None));
    let cohere = spec("command-r-v01", &[("logit_scale", None), ("tie_word_embeddings", None)]);
    assert_eq!((cohere.head.scale, cohere.head.tied), (Some(0.0625), true));
}

#[test]
fn parts_of_heads_that_rotate_by_family() {
    let rope = |slug, edits: &[Edit<'_>]| {
        let spec = spec(slug, edits);
        let rope = attention(&spec, 0).rope.clone().unwrap();
        (rope.rotary, rope.pairing, rope.theta)
    };
    assert_eq!(rope("glm-4-9b-0414", &[]), (64, Pairing::Adjacent, 1e4));
    assert_eq!(rope("glm-4-9b-0414", &[("partial_rotary_factor", None)]), (64, Pairing::Adjacent, 1e4));
    assert_eq!(rope("glm-4.5", &[("partial_rotary_factor", None)]), (64, Pairing::Halves, 1e6));
    assert_eq!(rope("minimax-m2.7", &[]), (64, Pairing::Halves, 5e6));
    assert_eq!(rope("minimax-m2.7", &[("rotary_dim", None), ("rope_theta", None)]), (128, Pairing::Halves, 5e6));
    assert_eq!(rope("command-r-v01", &[("rope_theta", None)]), (128, Pairing::Adjacent, 5e5));
    assert_eq!(rope("tiny/smollm3", &[("rope_theta", None)]), (16, Pairing::Halves, 2e6));
    assert_eq!(rope("gpt-oss-20b", &[("rope_theta", None)]), (64, Pairing::Halves, 150_000.0));
}

#[test]
fn smollm3_leaves_out_rope_by_list_or_interval() {
    let tiny = "tiny/smollm3";
    let without = |edits: &[Edit<'_>]| {
        let spec = spec(tiny, edits);
        (0..5).filter(|&number| attention(&spec, number).rope.is_none()).collect::<Vec<_>>()
    };
    assert_eq!(without(&[]), [3]);
    assert_eq!(without(&[("no_rope_layers", None)]), [3]);
    assert_eq!(without(&[("no_rope_layers", None), set("no_rope_layer_interval", json!(2))]), [1, 3]);
    assert_eq!(without(&[set("no_rope_layers", json!([0, 1, 0, 1, 1]))]), [0, 2]);
    // A window is for the layers without.
    let on = [("layer_types", None), set("use_sliding_window", json!(true)), set("sliding_window", json!(8))];
    let windowed = spec(tiny, &on);
    assert_eq!([2, 3].map(|n| attention(&windowed, n).span), [AttentionSpan::Full, AttentionSpan::Window(8)]);
    assert!(spec(tiny, &[("tie_word_embeddings", None)]).head.tied);
}

#[test]
fn biases_by_family_whatever_the_key_says() {
    let has = |spec: &ModelSpec| {
        let mixer = attention(spec, 0);
        [&mixer.q, &mixer.k, &mixer.v, &mixer.o].map(|linear| linear.bias.is_some())
    };
    // Never on GLM's output.
    assert_eq!(has(&spec("glm-4-9b-0414", &[])), [true, true, true, false]);
    assert_eq!(has(&spec("glm-4.5", &[])), [true, true, true, false]);
    assert_eq!(has(&spec("glm-4-9b-0414", &[("attention_bias", None)])), [true, true, true, false]);
    assert_eq!(has(&spec("glm-4.5", &[("attention_bias", None)])), [false; 4]);
    let coder = spec("starcoder2-15b", &[]);
    assert_eq!((has(&coder), eps(&coder.final_norm)), ([true; 4], 1e-5));
    // The norm's eps is not what `rms_norm_eps` says.
    assert_eq!(eps(&spec("starcoder2-15b", &[set("rms_norm_eps", json!(0.5))]).final_norm), 1e-5);
    let plain = spec("starcoder2-15b", &[set("use_bias", json!(false))]);
    assert!(has(&plain) == [false; 4] && plain.final_norm.bias.is_some());
    assert!(spec("starcoder2-15b", &[("tie_word_embeddings", None)]).head.tied);
}

#[test]
fn glm45_and_minimax_correct_their_choice() {
    let glm = spec("glm-4.5", &[]);
    assert_eq!(sparse(&glm)[0], 3);
    let router = &experts(&glm, 3).router;
    assert_eq!((router.groups, router.scale, router.normalised), ((1, 1), 2.5, true));
    assert!(router.correction.is_some() && attention(&glm, 0).qk_norm.is_some());
    let air = spec("glm-4.5-air", &[]);
    assert!(attention(&air, 0).qk_norm.is_none());
    assert_eq!(attention(&air, 0).q.out, 96 * 128);
    let minimax = spec("minimax-m2.7", &[]);
    let block = experts(&minimax, 0);
    assert_eq!(
        (block.router.score, block.router.normalised, block.shared.is_none()),
        (RouterScore::Sigmoid, true, true)
    );
    let correction = &block.router.correction.as_ref().unwrap().tensor.name;
    assert_eq!(correction, "model.layers.{l}.block_sparse_moe.e_score_correction_bias");
    assert!(matches!(&attention(&minimax, 0).qk_norm, Some(QkNorm::FullWidth { .. })));
}

#[test]
fn quantized_releases_are_the_models_they_were() {
    let without = |slug| spec(slug, &[("quantization_config", None)]);
    for slug in ["deepseek-v3", "kimi-k2-instruct", "minimax-m2.7"] {
        assert_eq!(spec(slug, &[]), without(slug), "{slug}");
    }
    let dtype = [("quantization_config", None), set("torch_dtype", json!("bfloat16"))];
    assert_eq!(spec("gpt-oss-20b", &dtype), spec("gpt-oss-20b", &[]));
}
