//! Kinds, their names, digests and identities; what each chip loads.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::PathBuf;

use expect_test::{expect, expect_file};

use super::*;
use crate::author::{Source, sample};
use crate::config;
use crate::language::{Origin, Role as ValueRole, Sharding};
use crate::shard::Slice;
use crate::spec::{AttentionSpan, Mixer, QkNorm};

const DECODE: Form = Form::Decode { ctx: 262_144, batch: 8 };
const PREFILL: Form = Form::Prefill { ctx: 262_144, chunk: 512, batch: 1 };

fn model(config: &str) -> ModelSpec {
    let fixtures = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/configs"));
    let file = fixtures.join(config).join("config.json");
    let bytes = std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    config::read(&bytes).unwrap()
}

fn decode(spec: &ModelSpec, tp: u32) -> Vec<KindProgram> {
    programs(spec, DECODE, tp, Weights::Config).unwrap()
}

fn names(programs: &[KindProgram]) -> Vec<(&str, Option<u32>, usize)> {
    programs.iter().map(|p| (p.name.as_str(), p.first_layer, p.layers.len())).collect()
}

#[test]
fn a_hybrid_model_is_two_kinds_however_deep() {
    let mut spec = model("qwen3.5-27b");
    let expected = [("embed", None, 0), ("gated deltanet", Some(0), 48), ("attention", Some(3), 16), ("head", None, 0)];
    assert_eq!(names(&decode(&spec, 8)), expected);
    let forward = programs(&spec, Form::Forward { rows: 4 }, 1, Weights::Config).unwrap();
    assert_eq!(names(&forward), expected[1..]);
    spec.layer_of = spec.layer_of.repeat(64);
    let deep = decode(&spec, 8);
    assert_eq!(deep[1].layers.len() + deep[2].layers.len(), 4096);
}

#[test]
fn mixtures_as_text() {
    // Experts apart; a gated shared one, stacked; Llama-4's scores on the input; groups and a correction; clamps and biases.
    let text = |name, tp, kind: usize| decode(&model(name), tp).swap_remove(kind).text;
    expect_file!["../../tests/golden/author/qwen3-30b-a3b.decode.tp4.attention-experts.logos"].assert_eq(&text(
        "qwen3-30b-a3b",
        4,
        1,
    ));
    expect_file!["../../tests/golden/author/qwen3.5-35b-a3b.decode.tp2.gated-deltanet-experts.logos"].assert_eq(&text(
        "qwen3.5-35b-a3b",
        2,
        1,
    ));
    expect_file!["../../tests/golden/author/llama-4-scout.decode.tp8.attention-experts.logos"].assert_eq(&text(
        "llama-4-scout-17b-16e-instruct",
        8,
        1,
    ));
    expect_file!["../../tests/golden/author/deepseek-v3.decode.tp16.latent-attention-experts.logos"].assert_eq(&text(
        "deepseek-v3",
        16,
        2,
    ));
    expect_file!["../../tests/golden/author/gpt-oss-20b.decode.tp1.attention-experts.logos"].assert_eq(&text(
        "gpt-oss-20b",
        1,
        2,
    ));
}

#[test]
fn mixtures_are_named_by_what_they_are() {
    let of = |name, tp| -> Vec<(String, Option<u32>, usize)> {
        let programs = decode(&model(name), tp);
        programs[1..programs.len() - 1].iter().map(|p| (p.name.clone(), p.first_layer, p.layers.len())).collect()
    };
    let expected = |kinds: &[(&str, u32, usize)]| -> Vec<(String, Option<u32>, usize)> {
        kinds.iter().map(|&(name, first, layers)| (name.to_owned(), Some(first), layers)).collect()
    };
    assert_eq!(of("mixtral-8x7b-v0.1", 8), expected(&[("attention, experts", 0, 32)]));
    assert_eq!(of("deepseek-v3", 16), expected(&[("latent attention", 0, 3), ("latent attention, experts", 3, 58)]));
    assert_eq!(
        of("gpt-oss-20b", 4),
        expected(&[("attention, window 128, experts", 0, 12), ("attention, experts", 1, 12)])
    );
    assert_eq!(
        of("qwen3.5-35b-a3b", 2),
        expected(&[("gated deltanet, experts", 0, 30), ("attention, experts", 3, 10)])
    );
    assert_eq!(
        of("llama-4-scout-17b-16e-instruct", 8),
        expected(&[("attention, chunks of 8192, experts", 0, 36), ("attention, experts", 3, 12)])
    );
}

#[test]
fn the_programs_of_qwen_over_eight_chips_as_text() {
    let programs = decode(&model("qwen3.5-27b"), 8);
    expect_file!["../../tests/golden/author/qwen3.5-27b.decode.tp8.embed.logos"].assert_eq(&programs[0].text);
    expect_file!["../../tests/golden/author/qwen3.5-27b.decode.tp8.gated-deltanet.logos"].assert_eq(&programs[1].text);
    expect_file!["../../tests/golden/author/qwen3.5-27b.decode.tp8.attention.logos"].assert_eq(&programs[2].text);
    expect_file!["../../tests/golden/author/qwen3.5-27b.decode.tp8.head.logos"].assert_eq(&programs[3].text);
}

#[test]
fn latent_attention_of_deepseek_over_eight_chips_as_text() {
    let programs = decode(&model("deepseek-v3"), 8);
    let dense = &programs[1];
    assert_eq!(dense.name, "latent attention");
    expect_file!["../../tests/golden/author/deepseek-v3.decode.tp8.latent-attention.logos"].assert_eq(&dense.text);
}

#[test]
fn every_text_parses_back_to_its_program() {
    let configs = ["qwen3.5-27b", "llama-3.1-8b", "qwen2-7b-instruct", "qwen3-8b", "mistral-7b-v0.1", "smollm2-135m"];
    for config in configs {
        let spec = model(config);
        for form in [
            Form::Decode { ctx: 1024, batch: 2 },
            Form::Prefill { ctx: 1024, chunk: 16, batch: 1 },
            Form::Prefill { ctx: 1024, chunk: 16, batch: 5 },
            Form::Forward { rows: 3 },
        ] {
            for tp in crate::shard::widths(&spec, 8) {
                for weights in [Weights::Config, Weights::Q8_0] {
                    for program in programs(&spec, form, tp, weights).unwrap() {
                        assert_eq!(language::check(&program.authored.program), Ok(()), "{config} {}", program.name);
                        assert_eq!(language::parse(&program.text).as_ref(), Ok(&program.authored.program));
                    }
                }
            }
        }
    }
}

#[test]
fn a_small_layer_as_text() {
    let spec = sample::attention_model();
    let programs = programs(&spec, Form::Decode { ctx: 512, batch: 3 }, 1, Weights::Config).unwrap();
    expect![[r#"
        ## Main
        Activations are bf16.
        Let x be a 3 by 64 input of Real.
        Let an0 be a 1 by 64 weight of Real, stored bf16.
        Let Wq0 be a 64 by 64 weight of Real, stored bf16.
        Let Wk0 be a 64 by 32 weight of Real, stored bf16.
        Let Wv0 be a 64 by 32 weight of Real, stored bf16.
        Let cos be a 3 by 8 table of Real, stored f32, cosines of theta 10000, rotary 16.
        Let sin be a 3 by 8 table of Real, stored f32, sines of theta 10000, rotary 16.
        Let pos be a 3 by 1 input of Int.
        Let Kc0 be 3 of 512 by 32 state of Real, stored bf16.
        Let Vc0 be 3 of 512 by 32 state of Real, stored bf16.
        Let Wo0 be a 64 by 64 weight of Real, stored bf16.
        Let mn0 be a 1 by 64 weight of Real, stored bf16.
        Let Wgate0 be a 64 by 128 weight of Real, stored bf16.
        Let Wup0 be a 64 by 128 weight of Real, stored bf16.
        Let Wdown0 be a 128 by 64 weight of Real, stored bf16.
        Let xn0 be rmsnorm of x with weight an0, eps 1e-6.
        Let q0 be xn0 matmul Wq0.
        Let k0 be xn0 matmul Wk0.
        Let v0 be xn0 matmul Wv0.
        Let qr0 be rope of q0 with cos and sin, heads 4, rotary 16, halves.
        Let kr0 be rope of k0 with cos and sin, heads 2, rotary 16, halves.
        Let c0 be attention of qr0 over Kc0 and Vc0 with kr0 and v0 at pos, heads 4, kv heads 2, scale 0.25.
        Append kr0 to Kc0 at pos.
        Append v0 to Vc0 at pos.
        Let o0 be c0 matmul Wo0.
        Let h0 be x plus o0.
        Let hn0 be rmsnorm of h0 with weight mn0, eps 1e-6.
        Let gate0 be hn0 matmul Wgate0.
        Let up0 be hn0 matmul Wup0.
        Let act0 be swiglu of gate0 and up0.
        Let d0 be act0 matmul Wdown0.
        Let xo0 be h0 plus d0.
        Show xo0.
    "#]]
    .assert_eq(&programs[1].text);
}

/// Windows by layer, over the same attention.
fn windows(spans: &[AttentionSpan]) -> ModelSpec {
    let layers = spans.iter().map(|&span| {
        let attention = crate::spec::Attention { span, ..sample::attention() };
        sample::layer(Mixer::Attention(attention))
    });
    sample::model(layers.collect())
}

#[test]
fn kinds_are_named_by_what_they_are_and_told_apart_by_their_first_layer() {
    let named = |spec: &ModelSpec| -> Vec<String> {
        let programs = programs(spec, Form::Decode { ctx: 512, batch: 3 }, 1, Weights::Config).unwrap();
        programs.into_iter().map(|p| p.name).filter(|name| name != "embed" && name != "head").collect()
    };
    use AttentionSpan::{Chunked, Full, Window};
    let spec = windows(&[Window(64), Full, Window(64), Chunked(128), Window(32)]);
    assert_eq!(named(&spec), ["attention, window 64", "attention", "attention, chunks of 128", "attention, window 32"]);
    // The same description, other tables.
    let mut spec = windows(&[Full, Full, Full]);
    if let Mixer::Attention(attention) = &mut spec.layers[1].mixer {
        attention.rope.as_mut().unwrap().theta = 1e6;
    }
    assert_eq!(named(&spec), ["attention (layer 0)", "attention (layer 1)"]);
    assert_eq!(named(&sample::hybrid_model()), ["gated deltanet", "attention"]);
}

#[test]
fn equal_programs_of_distinct_specifications_are_one_kind_that_keeps_both_bindings() {
    let mut spec = windows(&[AttentionSpan::Full; 3]);
    if let Mixer::Attention(attention) = &mut spec.layers[1].mixer {
        attention.q = sample::linear("query", 64, sample::HIDDEN);
    }
    let programs = programs(&spec, Form::Decode { ctx: 512, batch: 3 }, 1, Weights::Config).unwrap();
    assert_eq!(names(&programs), [("embed", None, 0), ("attention", Some(0), 3), ("head", None, 0)]);
    let kind = &programs[1];
    let query = |layer| {
        let bindings = kind.bindings(layer);
        let query = bindings.iter().find(|binding| binding.name == "Wq{l}").unwrap();
        query.expand(&kind.authored.program, layer, 0).unwrap().load.unwrap().tensor
    };
    assert_eq!([0, 1, 2].map(query), ["l.0.q.weight", "l.1.query.weight", "l.2.q.weight"]);
}

#[test]
fn the_shape_digest_ignores_names_but_not_tables_storage_or_wiring() {
    let digest = |spec: &ModelSpec, layer, weights| {
        let cut = Cut { step: Form::Decode { ctx: 512, batch: 3 }, tp: 1, weights, part: Part::Layer(layer) };
        shape_digest(&author::author(spec, &cut).unwrap().program)
    };
    let mut spec = windows(&[AttentionSpan::Full; 12]);
    let first = digest(&spec, 0, Weights::Config);
    assert_eq!(digest(&spec, 11, Weights::Config), first);
    assert_ne!(digest(&spec, 0, Weights::Q8_0), first);
    if let Mixer::Attention(attention) = &mut spec.layers[3].mixer {
        attention.rope.as_mut().unwrap().theta = 1e6;
    }
    assert_ne!(digest(&spec, 3, Weights::Config), first);
    spec.layers[4].residual_scale = Some(0.5);
    assert_ne!(digest(&spec, 4, Weights::Config), first);
}

#[test]
fn identities_tell_every_cut_apart() {
    let spec = model("qwen3.5-27b");
    let mut other = spec.clone();
    other.final_norm.eps = 2e-6;
    let mut seen = BTreeSet::new();
    for spec in [&spec, &other] {
        let several = [1, 2, 512].map(|batch| Form::Prefill { ctx: 262_144, chunk: 256, batch });
        let others = [DECODE, PREFILL, Form::Decode { ctx: 262_144, batch: 512 }, Form::Forward { rows: 512 }];
        for form in others.into_iter().chain(several) {
            for tp in [1, 8] {
                for weights in [Weights::Config, Weights::Q8_0] {
                    let identities = Identities::new(spec, form, tp, weights);
                    assert!(seen.insert(identities.of(Part::Embed)));
                    assert!(seen.insert(identities.of(Part::Head)));
                    assert!((0..64).all(|l| seen.insert(identities.layer(l))));
                }
            }
        }
    }
    let programs = decode(&spec, 8);
    let identities = Identities::new(&spec, DECODE, 8, Weights::Config);
    assert_eq!(programs[2].identity, identities.layer(3));
}

#[test]
fn what_cannot_be_authored_is_refused_once_a_part() {
    let mut spec = windows(&[AttentionSpan::Full, AttentionSpan::Window(8), AttentionSpan::Full]);
    spec.layer_of = vec![0, 1, 0, 1, 2];
    for layer in &mut spec.layers[..2] {
        if let Mixer::Attention(attention) = &mut layer.mixer {
            attention.qk_norm =
                Some(QkNorm::FullWidth { q: sample::layer_norm("qn", 64), k: sample::layer_norm("kn", 32) });
        }
    }
    let refusals = programs(&spec, DECODE, 2, Weights::Config).unwrap_err();
    let messages: Vec<_> = refusals.into_iter().map(|refusal| refusal.message).collect();
    let expected = [
        "layer 0 (attention) cannot be authored: a layernorm of rows that lie over several chips is no operation yet",
        "layer 1 (attention, window 8) cannot be authored: a layernorm of rows that lie over several chips is no \
         operation yet",
    ];
    assert_eq!(messages, expected);
}

/// How often the elements of each checkpoint tensor are loaded over all chips: the set of counts that occur.
fn loads(spec: &ModelSpec, tp: u32) -> BTreeMap<String, BTreeSet<usize>> {
    let mut loaded: BTreeMap<String, (Boxed, Vec<Boxed>)> = BTreeMap::new();
    for program in decode(spec, tp) {
        // The first and the last layer of a kind; embedding and head have none.
        let layers = match (program.layers.first(), program.layers.last()) {
            (Some(&first), Some(&last)) => BTreeSet::from([first, last]),
            (None, _) | (_, None) => BTreeSet::from([spec.depth() as u32]),
        };
        for layer in layers {
            for binding in program.bindings(layer) {
                let Source::Weight { weight, .. } = &binding.source else { continue };
                let inner = weight.tensor.shape[1..].iter().map(|&d| u64::from(d)).product();
                let whole = (0..u64::from(weight.tensor.shape[0]), 0..inner);
                for chip in 0..tp {
                    let load = binding.expand(&program.authored.program, layer, chip).unwrap().load.unwrap();
                    let (_, boxes) = loaded.entry(load.tensor).or_insert_with(|| (whole.clone(), Vec::new()));
                    let Slice { axis0, axis1, zeros } = load.slice;
                    assert_eq!(zeros, 0, "nothing is padded");
                    boxes.extend(axis0.iter().flat_map(|rows| axis1.iter().map(|cols| (rows.clone(), cols.clone()))));
                }
            }
        }
    }
    loaded.into_iter().map(|(tensor, (whole, boxes))| (tensor, times(&whole, &boxes))).collect()
}

/// Ranges of both axes.
type Boxed = (Range<u64>, Range<u64>);

/// How many boxes an element of the whole lies in: between two neighbouring ends of boxes all elements are alike.
fn times(whole: &Boxed, boxes: &[Boxed]) -> BTreeSet<usize> {
    let within = |inner: &Range<u64>, outer: &Range<u64>| outer.start <= inner.start && inner.end <= outer.end;
    assert!(boxes.iter().all(|b| within(&b.0, &whole.0) && within(&b.1, &whole.1)), "outside the tensor");
    let cells = |axis: fn(&Boxed) -> &Range<u64>| {
        let ends: BTreeSet<u64> = boxes.iter().chain([whole]).flat_map(|b| [axis(b).start, axis(b).end]).collect();
        let ends: Vec<u64> = ends.into_iter().collect();
        ends.windows(2).map(|pair| pair[0]..pair[1]).collect::<Vec<_>>()
    };
    let (rows, columns) = (cells(|b| &b.0), cells(|b| &b.1));
    let count = |row: &Range<u64>, column: &Range<u64>| {
        boxes.iter().filter(|b| within(row, &b.0) && within(column, &b.1)).count()
    };
    rows.iter().flat_map(|row| columns.iter().map(|column| count(row, column))).collect()
}

#[track_caller]
fn check_loads(config: &str, tp: u32, replicas: impl Fn(&str) -> usize) {
    for (tensor, times) in loads(&model(config), tp) {
        assert_eq!(times, BTreeSet::from([replicas(&tensor)]), "{tensor}");
    }
}

/// Qwen3.5-27B: norms are on every chip, each of the four KV heads on `tp / 4`, everything else on one.
fn qwen(tp: usize) -> impl Fn(&str) -> usize {
    move |tensor| {
        if tensor.contains("norm") {
            tp
        } else if tensor.contains("k_proj") || tensor.contains("v_proj") {
            (tp / 4).max(1)
        } else {
            1
        }
    }
}

#[test]
fn eight_chips_load_qwen_exactly() {
    check_loads("qwen3.5-27b", 8, qwen(8));
}

#[test]
fn four_chips_load_qwen_exactly() {
    check_loads("qwen3.5-27b", 4, qwen(4));
}

#[test]
fn two_chips_load_qwen_exactly() {
    check_loads("qwen3.5-27b", 2, qwen(2));
}

#[test]
fn sixteen_chips_load_llama_exactly_and_each_kv_head_twice() {
    check_loads("llama-3.1-8b", 16, |tensor| match tensor {
        _ if tensor.contains("norm") => 16,
        _ if tensor.contains("k_proj") || tensor.contains("v_proj") => 2,
        _ => 1,
    });
}

#[test]
fn every_checkpoint_tensor_of_a_layer_is_loaded() {
    let loaded = loads(&model("qwen3.5-27b"), 8);
    let of_layer = |l: u32| -> Vec<&str> {
        let stem = format!(".layers.{l}.");
        loaded.keys().filter_map(|tensor| tensor.split_once(&stem)).map(|(_, name)| name).collect()
    };
    expect![[r#"
        input_layernorm.weight
        linear_attn.A_log
        linear_attn.conv1d.weight
        linear_attn.dt_bias
        linear_attn.in_proj_a.weight
        linear_attn.in_proj_b.weight
        linear_attn.in_proj_qkv.weight
        linear_attn.in_proj_z.weight
        linear_attn.norm.weight
        linear_attn.out_proj.weight
        mlp.down_proj.weight
        mlp.gate_proj.weight
        mlp.up_proj.weight
        post_attention_layernorm.weight"#]]
    .assert_eq(&of_layer(0).join("\n"));
    expect![[r#"
        input_layernorm.weight
        mlp.down_proj.weight
        mlp.gate_proj.weight
        mlp.up_proj.weight
        post_attention_layernorm.weight
        self_attn.k_norm.weight
        self_attn.k_proj.weight
        self_attn.o_proj.weight
        self_attn.q_norm.weight
        self_attn.q_proj.weight
        self_attn.v_proj.weight"#]]
    .assert_eq(&of_layer(3).join("\n"));
}

#[test]
fn a_chip_loads_its_query_heads_from_a_fused_tensor() {
    let spec = model("qwen3.5-27b");
    let programs = decode(&spec, 8);
    let kind = &programs[2];
    let expand = |name: &str, chip| {
        let binding = kind.bindings(63).iter().find(|binding| binding.name == name).unwrap();
        binding.expand(&kind.authored.program, 63, chip).unwrap()
    };
    let query = expand("Wq{l}", 3);
    let load = query.load.unwrap();
    assert_eq!((query.name.as_str(), load.transposed), ("Wq63", true));
    assert_eq!(load.tensor, "model.language_model.layers.63.self_attn.q_proj.weight");
    // Heads 9, 10 and 11, of 512 rows each: first the query's 256, then the gate's.
    assert_eq!(load.slice.axis0, [4608..4864, 5120..5376, 5632..5888]);
    assert_eq!(load.slice.axis1, [0..5120]);
    assert_eq!(expand("Wg{l}", 3).load.unwrap().slice.axis0, [4864..5120, 5376..5632, 5888..6144]);
    let keys = |chip| expand("Wk{l}", chip).load.unwrap().slice.axis0;
    assert_eq!(keys(6), keys(7));
    assert_eq!(keys(6), [768..1024]);
    assert_eq!(expand("Wo{l}", 1).load.unwrap().slice.axis1, [768..1536]);
    assert_eq!(expand("x", 0).name, "xo62");
    assert_eq!(expand("cos", 0).name, "cos");
    assert_eq!(expand("Kc{l}", 0).name, "Kc63");
}

#[test]
fn shown_values_are_whole_and_states_are_listed() {
    let spec = model("qwen3.5-27b");
    let states = |program: &KindProgram| -> Vec<(String, Sharding)> {
        let values = program.authored.program.values.iter();
        let states = values.filter(|v| v.origin == Origin::Declared(ValueRole::State));
        states.map(|v| (v.name.clone(), v.sharding)).collect()
    };
    let programs = decode(&spec, 8);
    let of_delta: Vec<String> = states(&programs[1]).into_iter().map(|(name, _)| name).collect();
    assert_eq!(of_delta, ["Rq0", "Rk0", "Rv0", "S0"]);
    let four = Sharding::Split { axis: crate::language::Axis::Columns, parts: 4 };
    assert_eq!(states(&programs[2]), [("Kc3".to_owned(), four), ("Vc3".to_owned(), four)]);
}

/// S8: the all-reduces of released models, a layer.
#[test]
fn parallel_blocks_of_released_models_sum_over_the_chips_once() {
    let sums = |config, tp| {
        let text = decode(&model(config), tp).swap_remove(1).text;
        text.lines().filter(|line| line.ends_with(" over chips.")).count()
    };
    assert_eq!([sums("falcon-40b", 8), sums("command-r-v01", 8)], [1, 1]);
    assert_eq!([sums("llama-3.1-8b", 8), sums("mixtral-8x7b-v0.1", 8)], [2, 2]);
}
