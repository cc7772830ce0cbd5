//! What is authored, for every block, step and width.

use super::sample::*;
use super::*;
use crate::language;
use crate::language::ast::{Axis, Sharding, Storage};
use crate::spec::{
    Activation, Arrangement, AttentionSpan, ExpertTensors, FeedForward, LatentAttention, Mixer, Mlp, Norm, NormKind,
    QkNorm, RouterScore, Temperature, Weight,
};

const DECODE: Form = Form::Decode { ctx: 512, batch: 3 };
const PREFILL: Form = Form::Prefill { ctx: 512, chunk: 8, batch: 1 };
const FORWARD: Form = Form::Forward { rows: 5 };

fn cut(step: Form, tp: u32, part: Part) -> Cut {
    Cut { step, tp, weights: Weights::Config, part }
}

/// Authors every part at a width and every step, and checks each program afresh.
fn all(spec: &ModelSpec, tp: u32) -> Vec<Authored> {
    let mut authored = Vec::new();
    for step in [DECODE, PREFILL, FORWARD] {
        let layers = (0..spec.depth() as u32).map(Part::Layer);
        let embed = (step != FORWARD).then_some(Part::Embed);
        for part in embed.into_iter().chain(layers).chain([Part::Head]) {
            for weights in [Weights::Config, Weights::Q8_0] {
                let got = author(spec, &Cut { step, tp, weights, part }).unwrap_or_else(|refusal| panic!("{refusal}"));
                assert_eq!(language::check(&got.program), Ok(()), "{part:?} of {step:?} over {tp}");
                let text = language::print(&got.program);
                assert_eq!(language::parse(&text).as_ref(), Ok(&got.program), "{text}");
                check_bindings(&got);
                authored.push(got);
            }
        }
    }
    authored
}

/// One binding a declared value, in order, and the weights' shapes are those of what is stored.
fn check_bindings(authored: &Authored) {
    let program = &authored.program;
    let declared = program.values.iter().filter(|v| matches!(v.origin, language::Origin::Declared(_)));
    let names: Vec<_> = declared.map(|v| v.name.clone()).collect();
    assert_eq!(authored.bindings.len(), names.len());
    for (n, binding) in authored.bindings.iter().enumerate() {
        assert_eq!(binding.value.0 as usize, n);
        if let Source::Weight { weight, transposed, bank, padding } = &binding.source {
            let shape = program.value(binding.value).shape;
            assert_eq!(bank.map_or(1, |bank| bank.experts), shape.seqs);
            let stacked = bank.is_some_and(|bank| bank.stacked);
            let one = &weight.tensor.shape[usize::from(stacked)..];
            let inner: u32 = one[1..].iter().product();
            let stored = match Source::taken(*bank) {
                StoredAxis::Zero => (weight.take.len() as u32 + padding, inner),
                StoredAxis::One => (one[0], weight.take.len() as u32),
            };
            let expected = if *transposed { (shape.cols, shape.rows) } else { (shape.rows, shape.cols) };
            assert_eq!(stored, expected, "{}", binding.name);
        }
    }
}

fn one_layer(change: impl FnOnce(&mut crate::spec::LayerSpec)) -> ModelSpec {
    let mut spec = attention_model();
    change(&mut spec.layers[0]);
    spec
}

fn mixture(stored: ExpertTensors, change: impl FnOnce(&mut crate::spec::Experts)) -> ModelSpec {
    one_layer(|layer| {
        let mut block = experts(stored);
        change(&mut block);
        layer.feed_forward = FeedForward::Experts(block);
    })
}

fn attention_layer(change: impl FnOnce(&mut crate::spec::Attention)) -> ModelSpec {
    one_layer(|layer| match &mut layer.mixer {
        Mixer::Attention(attention) => change(attention),
        Mixer::Latent(_) | Mixer::GatedDelta(_) => unreachable!("the sample's layer is attention"),
    })
}

#[test]
fn every_block_checks_over_one_two_and_four_chips() {
    let per_head = |after_rope| QkNorm::PerHead { q: rms("qn", 16), k: rms("kn", 16), after_rope };
    let bare = |mut norm: Norm| {
        norm.weight = None;
        norm
    };
    let specs = [
        attention_model(),
        attention_layer(|a| a.gate = Some(linear("g", 64, HIDDEN))),
        attention_layer(|a| a.qk_norm = Some(per_head(false))),
        attention_layer(|a| a.qk_norm = Some(per_head(true))),
        attention_layer(|a| {
            a.qk_norm = Some(QkNorm::PerHead { q: bare(rms("q", 16)), k: bare(rms("k", 16)), after_rope: true });
        }),
        attention_layer(|a| a.qk_norm = Some(QkNorm::FullWidth { q: rms("q", 64), k: rms("k", 32) })),
        attention_layer(|a| a.qk_norm = Some(QkNorm::FullWidth { q: bare(rms("q", 64)), k: bare(rms("k", 32)) })),
        attention_layer(|a| a.rope = None),
        attention_layer(|a| a.span = AttentionSpan::Window(100)),
        attention_layer(|a| a.span = AttentionSpan::Chunked(128)),
        attention_layer(|a| a.softcap = Some(50.0)),
        attention_layer(|a| a.sinks = Some(Weight::whole("l.{l}.sinks", &[4]))),
        attention_layer(|a| {
            a.kv_heads = 1;
            a.k = linear("k", 16, HIDDEN);
            a.v = linear("v", 16, HIDDEN);
        }),
        attention_layer(|a| {
            a.q = with_bias(a.q.clone(), "q");
            a.k = with_bias(a.k.clone(), "k");
            a.v = with_bias(a.v.clone(), "v");
            a.o = with_bias(a.o.clone(), "o");
        }),
        attention_layer(|a| {
            let each = |heads| Norm { weight: Some(Weight::whole("l.{l}.w", &[heads, 16])), ..rms("w", 16) };
            let q = Norm { kind: NormKind::Layer, ..each(4) };
            a.qk_norm = Some(QkNorm::PerHead { q, k: each(2), after_rope: false });
        }),
        attention_layer(|a| {
            let bare = |name| Norm { kind: NormKind::Layer, ..bare(rms(name, 16)) };
            a.qk_norm = Some(QkNorm::PerHead { q: bare("q"), k: bare("k"), after_rope: false });
        }),
        attention_layer(|a| a.temperature = Some(Temperature { scale: 0.1, floor: 8192.0 })),
        one_layer(|l| l.mixer = Mixer::Latent(latent())),
        one_layer(|l| {
            let q = linear("q", 48, 24);
            l.mixer = Mixer::Latent(LatentAttention {
                q_down: Some((with_bias(linear("q_down", 24, HIDDEN), "q_down"), rms("q_norm", 24))),
                q,
                ..latent()
            });
        }),
        one_layer(|l| {
            l.arrangement = Arrangement::Sequential {
                before_mixer: None,
                after_mixer: Some(rms("n1", HIDDEN)),
                before_feed_forward: Some(layer_norm("n2", HIDDEN)),
                after_feed_forward: Some(rms("n3", HIDDEN)),
            };
        }),
        one_layer(|l| {
            l.arrangement = Arrangement::Parallel { mixer: layer_norm("n", HIDDEN), feed_forward: None };
        }),
        one_layer(|l| {
            let other = Some(rms("n2", HIDDEN));
            l.arrangement = Arrangement::Parallel { mixer: rms("n", HIDDEN), feed_forward: other };
            l.residual_scale = Some(0.22);
        }),
        one_layer(|l| {
            let mut plain = mlp();
            plain.gate = None;
            plain.up = with_bias(plain.up, "up");
            plain.down = with_bias(plain.down, "down");
            plain.activation = Activation::GeluTanh;
            l.feed_forward = FeedForward::Dense(plain);
        }),
        one_layer(|l| l.feed_forward = FeedForward::Dense(Mlp { activation: Activation::Gelu, ..mlp() })),
        mixture(ExpertTensors::Apart, |_| {}),
        mixture(ExpertTensors::Stacked, |block| {
            block.shared = Some(mlp());
            block.shared_gate = Some(linear("shared_gate", 1, HIDDEN));
        }),
        mixture(ExpertTensors::StackedTransposed, |block| {
            *block = with_expert_biases(block.clone());
            block.router.linear = with_bias(block.router.linear.clone(), "router");
            block.router.score = RouterScore::SoftmaxChosen;
            block.router.normalised = false;
            block.expert.activation = Activation::SwigluClamped { alpha: 1.702, limit: 7.0 };
        }),
        mixture(ExpertTensors::Apart, |block| {
            block.router.score = RouterScore::Sigmoid;
            block.router.correction = Some(Weight::whole("l.{l}.router.correction", &[8]));
            block.router.groups = (4, 2);
            block.router.group_sum_of_two = true;
            block.router.scale = 2.5;
        }),
        mixture(ExpertTensors::StackedTransposed, |block| {
            block.router.top_k = 1;
            block.router.on_input = true;
        }),
        hybrid_model(),
    ];
    for mut spec in specs {
        for tp in [1, 2] {
            all(&spec, tp);
        }
        if spec.layers.len() == 1 {
            // KV heads on pairs of chips.
            all(&spec, 4);
        }
        spec.embedding_scale = Some(8.0);
        spec.head.scale = Some(0.5);
        spec.head.softcap = Some(30.0);
        spec.head.linear = with_bias(spec.head.linear, "head");
        all(&spec, 2);
    }
}

fn value<'a>(authored: &'a Authored, name: &str) -> &'a language::Value {
    authored.program.values.iter().find(|v| v.name == name).unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn a_window_or_a_chunk_bounds_the_cache() {
    let rows = |span, ctx| {
        let spec = attention_layer(|a| a.span = span);
        let authored = author(&spec, &cut(Form::Decode { ctx, batch: 3 }, 1, Part::Layer(0))).unwrap();
        let cache = value(&authored, "Kc0").shape;
        assert_eq!((cache.seqs, cache.cols), (3, 32));
        cache.rows
    };
    assert_eq!(rows(AttentionSpan::Full, 512), 512);
    assert_eq!(rows(AttentionSpan::Window(100), 512), 100);
    assert_eq!(rows(AttentionSpan::Window(100), 64), 64);
    assert_eq!(rows(AttentionSpan::Chunked(128), 512), 128);
}

#[test]
fn kv_heads_lie_on_as_many_chips_or_are_shared_by_groups() {
    let cache = |kv_heads: u32, tp| {
        let spec = attention_layer(|a| {
            a.kv_heads = kv_heads;
            a.k = linear("k", 16 * kv_heads, HIDDEN);
            a.v = linear("v", 16 * kv_heads, HIDDEN);
        });
        value(&author(&spec, &cut(DECODE, tp, Part::Layer(0))).unwrap(), "Kc0").sharding
    };
    let columns = |parts| Sharding::Split { axis: Axis::Columns, parts };
    assert_eq!([cache(4, 4), cache(4, 2), cache(2, 4)], [columns(4), columns(2), columns(2)]);
    assert_eq!([cache(1, 4), cache(1, 1), cache(4, 1)], [Sharding::Whole; 3]);
}

#[test]
fn states_are_stored_as_the_config_says() {
    let authored = author(&hybrid_model(), &cut(DECODE, 2, Part::Layer(0))).unwrap();
    let (memory, ring) = (value(&authored, "S0"), value(&authored, "Rv0"));
    assert_eq!((memory.shape.seqs, memory.shape.rows, memory.shape.cols), (3, 32, 8));
    assert_eq!((memory.storage, memory.sharding), (Storage::F32, Sharding::Split { axis: Axis::Rows, parts: 2 }));
    assert_eq!((ring.shape.seqs, ring.shape.rows, ring.shape.cols), (3, 3, 32));
    assert_eq!((ring.storage, ring.sharding), (Storage::Bf16, Sharding::Split { axis: Axis::Columns, parts: 2 }));
}

#[test]
fn q8_0_weights_are_cut_at_whole_blocks_or_kept() {
    let storage = |tp, name: &str| {
        let cut = Cut { weights: Weights::Q8_0, ..cut(DECODE, tp, Part::Layer(0)) };
        value(&author(&attention_model(), &cut).unwrap(), name).storage
    };
    // 128 inputs are four blocks; the 64 of the output projection are two, which four chips would halve.
    assert_eq!(storage(2, "Wdown0"), Storage::Q8_0);
    assert_eq!(storage(4, "Wdown0"), Storage::Q8_0);
    assert_eq!(storage(2, "Wo0"), Storage::Q8_0);
    assert_eq!(storage(4, "Wo0"), Storage::Bf16);
    assert_eq!(storage(4, "Wq0"), Storage::Q8_0);
    assert_eq!(storage(4, "an0"), Storage::Bf16);
}

#[test]
fn layers_share_their_tables_and_others_are_numbered() {
    let mut spec = model(vec![layer(Mixer::Attention(attention())); 3]);
    for (l, theta) in [(1, 500_000.0), (2, 10_000.0)] {
        if let Mixer::Attention(attention) = &mut spec.layers[l].mixer {
            attention.rope.as_mut().unwrap().theta = theta;
        }
    }
    let tables = |l| {
        let authored = author(&spec, &cut(DECODE, 1, Part::Layer(l))).unwrap();
        let tables = authored.bindings.into_iter().filter(|b| b.source == Source::Table);
        tables.map(|b| b.name).collect::<Vec<_>>()
    };
    assert_eq!(tables(0), ["cos", "sin"]);
    assert_eq!(tables(1), ["cos1", "sin1"]);
    assert_eq!(tables(2), ["cos", "sin"]);
}

#[test]
fn the_hidden_state_is_named_by_position() {
    let authored = author(&attention_model(), &cut(DECODE, 1, Part::Layer(0))).unwrap();
    let hidden = &authored.bindings[0];
    assert_eq!((hidden.name.as_str(), &hidden.source), ("x", &Source::Hidden));
    assert_eq!((hidden.name_at(0), hidden.name_at(1), hidden.name_at(64)), ("x".into(), "xo0".into(), "xo63".into()));
}

#[track_caller]
fn refused(spec: &ModelSpec, cut: &Cut, message: &str) {
    assert_eq!(author(spec, cut).unwrap_err().message, message);
}

#[test]
fn what_the_language_cannot_say_is_refused_by_name() {
    let here = cut(DECODE, 1, Part::Layer(0));
    let plain = one_layer(|l| {
        let mut block = experts(ExpertTensors::Apart);
        block.expert.gate = None;
        l.feed_forward = FeedForward::Experts(block);
    });
    let message = "layer 0 (attention, experts) cannot be authored: an expert without a gate is no operation yet";
    refused(&plain, &here, message);
    let three = one_layer(|l| {
        let mut block = experts(ExpertTensors::Stacked);
        block.count = 3;
        l.feed_forward = FeedForward::Experts(block);
    });
    let message =
        "layer 0 (attention, experts) cannot be authored: `l.{l}.e.gate_up` is stored [8, 64, 64], not of 3 experts";
    refused(&three, &here, message);
    let full = attention_layer(|a| {
        a.qk_norm = Some(QkNorm::FullWidth { q: layer_norm("q", 64), k: layer_norm("k", 32) });
    });
    all(&full, 1);
    let message =
        "layer 0 (attention) cannot be authored: a layernorm of rows that lie over several chips is no operation yet";
    refused(&full, &cut(DECODE, 2, Part::Layer(0)), message);
    let biased = one_layer(|l| {
        let mut latent = latent();
        latent.kv_up = with_bias(latent.kv_up, "kv_up");
        l.mixer = Mixer::Latent(latent);
    });
    let message =
        "layer 0 (latent attention) cannot be authored: a bias on what the latent is projected to is no operation yet";
    refused(&biased, &here, message);
    let short = one_layer(|l| {
        let mut latent = latent();
        latent.q.weight.take.run -= 1;
        l.mixer = Mixer::Latent(latent);
    });
    let message =
        "layer 0 (latent attention) cannot be authored: 16 outputs of `l.{l}.q.weight` cannot be taken out of its 48";
    refused(&short, &here, message);
    let spec = attention_model();
    let forward = cut(FORWARD, 1, Part::Embed);
    refused(&spec, &forward, "embed cannot be authored: the first hidden state of a forward step is an input");
    let message = "layer 7 cannot be authored: the model has 1 layers, counted from 0";
    refused(&spec, &cut(DECODE, 1, Part::Layer(7)), message);
    refused(&spec, &cut(DECODE, 0, Part::Head), "head cannot be authored: a program for 0 chips");
}

#[test]
fn a_weight_that_is_not_what_is_stored_is_refused() {
    let spec = attention_layer(|a| a.q.weight.tensor.shape = vec![64, 63]);
    let message = "layer 0 (attention) cannot be authored: `l.{l}.q.weight` is stored [64, 63], \
                   of which 64 rows up to 63 are taken, where 64 of 64 are needed";
    refused(&spec, &cut(DECODE, 1, Part::Layer(0)), message);
}

#[test]
fn sizes_that_do_not_fit_are_refused() {
    let spec = attention_layer(|a| a.head_dim = u32::MAX);
    let refusal = author(&spec, &cut(DECODE, 1, Part::Layer(0))).unwrap_err();
    assert_eq!(refusal.code, crate::Code::SizeOverflow);
}

/// How often a layer's program sums over the chips.
fn sums(spec: &ModelSpec, step: Form, tp: u32) -> usize {
    let authored = author(spec, &cut(step, tp, Part::Layer(0))).unwrap();
    let statements = authored.program.statements.iter();
    let sum = |statement: &&language::Statement| {
        matches!(statement, language::Statement::Let { op: crate::ops::Op::SumOverChips(_), .. })
    };
    statements.filter(sum).count()
}

/// S8: two all-reduces a layer, and one where mixer and feed-forward read the same rows.
#[test]
fn a_layer_sums_over_the_chips_twice_and_a_parallel_one_once() {
    let arrangements = |parallel: bool| {
        move |layer: &mut crate::spec::LayerSpec| {
            if parallel {
                layer.arrangement = Arrangement::Parallel { mixer: rms("n", HIDDEN), feed_forward: None };
            }
        }
    };
    let bias = |spec: &mut ModelSpec| {
        let layer = &mut spec.layers[0];
        if let (Mixer::Attention(a), FeedForward::Dense(mlp)) = (&mut layer.mixer, &mut layer.feed_forward) {
            a.o = with_bias(a.o.clone(), "o");
            mlp.down = with_bias(mlp.down.clone(), "down");
        }
    };
    for (parallel, expected) in [(false, 2), (true, 1)] {
        let plain = one_layer(arrangements(parallel));
        let mut biased = plain.clone();
        bias(&mut biased);
        let mut mixture = mixture(ExpertTensors::Apart, |block| block.shared = Some(mlp()));
        arrangements(parallel)(&mut mixture.layers[0]);
        for spec in [&plain, &biased, &mixture] {
            for step in [DECODE, PREFILL, FORWARD] {
                assert_eq!(sums(spec, step, 4), expected);
                assert_eq!(sums(spec, step, 1), 0);
            }
        }
    }
}

#[test]
fn biases_of_a_parallel_block_come_in_once_after_the_one_sum() {
    let spec = one_layer(|layer| {
        layer.arrangement = Arrangement::Parallel { mixer: rms("n", HIDDEN), feed_forward: None };
        if let (Mixer::Attention(a), FeedForward::Dense(mlp)) = (&mut layer.mixer, &mut layer.feed_forward) {
            a.o = with_bias(a.o.clone(), "o");
            mlp.down = with_bias(mlp.down.clone(), "down");
        }
    });
    let tail = |tp| {
        let text = language::print(&author(&spec, &cut(DECODE, tp, Part::Layer(0))).unwrap().program);
        let from = text.find("Let dm0").unwrap();
        text[from..].to_owned()
    };
    let expected = "Let dm0 be act0 matmul Wdown0.\nLet odm0 be om0 plus dm0.\nLet ods0 be sum of odm0 over chips.\n\
                    Let odb0 be ods0 plus bo0.\nLet od0 be odb0 plus bdown0.\nLet xo0 be x plus od0.\nShow xo0.\n";
    assert!(tail(2).ends_with(expected), "{}", tail(2));
    let expected = "Let odm0 be om0 plus dm0.\nLet odb0 be odm0 plus bo0.\nLet od0 be odb0 plus bdown0.\n\
                    Let xo0 be x plus od0.\nShow xo0.\n";
    assert!(tail(1).ends_with(expected), "{}", tail(1));
}
