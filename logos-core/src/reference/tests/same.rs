//! Every block gives the same logits in one forward pass, in decoding, in prefill, and over any number of chips.

use super::super::{Matrix, Session, Shards, embed};
use super::source::Random;
use crate::author::sample::*;
use crate::request::{Form, Weights};
use crate::spec::{
    Activation, Arrangement, Attention, AttentionSpan, ExpertTensors, Experts, FeedForward, LayerSpec, Mixer,
    ModelSpec, NormKind, Pairing, QkNorm, RouterScore, Weight,
};
use crate::{kinds, shard};

const TOKENS: [u32; 11] = [5, 90, 17, 17, 3, 64, 5, 42, 8, 33, 71];
const CTX: u32 = 16;

fn session(spec: &ModelSpec, form: Form, tp: u32, shards: &mut Shards<'_>) -> Session {
    let programs = kinds::programs(spec, form, tp, Weights::Config).unwrap_or_else(|found| panic!("{found:?}"));
    Session::new(form, &programs, shards).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn close(what: &str, found: &[f32], expected: &[f32]) {
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= 2e-5, "{what}: {found} for {expected}");
    }
}

#[track_caller]
fn same(spec: &ModelSpec) {
    let decode = Form::Decode { ctx: CTX, batch: 1 };
    let source = Random::of(&kinds::programs(spec, decode, 1, Weights::Config).unwrap());
    let mut shards = Shards::new(&source);
    let mut expected = Matrix::default();
    for tp in shard::widths(spec, 4) {
        let mut forward = session(spec, Form::Forward { rows: TOKENS.len() as u32 }, tp, &mut shards);
        let hidden = embed(spec, &shards, &TOKENS).unwrap();
        let logits = forward.forward(hidden).unwrap().logits;
        if tp == 1 {
            let spread = logits.data().iter().fold(0.0_f32, |most, x| most.max(x.abs()));
            assert!(spread > 0.1, "logits up to {spread} tell little");
            expected = logits;
        } else {
            close(&format!("forward over {tp}"), logits.data(), expected.data());
        }
        for chunk in [1, 3, TOKENS.len()] {
            let mut prefill = session(spec, Form::Prefill { ctx: CTX, chunk: chunk as u32, batch: 1 }, tp, &mut shards);
            let mut decode = session(spec, decode, tp, &mut shards);
            let chunks = TOKENS[..chunk.max(6)].chunks_exact(chunk);
            let mut next = 0;
            for ids in chunks {
                let output = prefill.step(ids).unwrap();
                next += chunk;
                close(&format!("chunk of {chunk} over {tp}"), output.logits.row(0), expected.row(next - 1));
            }
            decode.adopt(0, &prefill, 0).unwrap();
            for (position, &token) in TOKENS.iter().enumerate().skip(next) {
                let output = decode.step(&[token]).unwrap();
                close(&format!("decode at {position} over {tp}"), output.logits.row(0), expected.row(position));
            }
        }
    }
}

/// S11: several sequences of one prefill are each what it is alone, to the last bit, though they stand at different positions; so is what
/// a decode continues from.
#[test]
fn sequences_of_a_prefill_do_not_see_each_other() {
    let mixture = mixture(ExpertTensors::Apart, |_| {});
    for spec in [hybrid_model(), attention_layer(|a| a.span = AttentionSpan::Window(4)), mixture] {
        let source =
            Random::of(&kinds::programs(&spec, Form::Decode { ctx: CTX, batch: 1 }, 1, Weights::Config).unwrap());
        let mut shards = Shards::new(&source);
        for (tp, chunk, batch) in [(1, 3, 2), (2, 4, 3), (1, 1, 2)] {
            let prefill = |batch| Form::Prefill { ctx: CTX, chunk: chunk as u32, batch };
            let mut together = session(&spec, prefill(batch as u32), tp, &mut shards);
            let mut alone: Vec<Session> = (0..batch).map(|_| session(&spec, prefill(1), tp, &mut shards)).collect();
            // Of each sequence other tokens.
            let ids = |sequence: usize, step: usize| {
                (0..chunk).map(move |i| TOKENS[(step * chunk + i + 2 * sequence) % TOKENS.len()]).collect::<Vec<_>>()
            };
            for step in 0..3 {
                if step == 1 {
                    together.restart(0).unwrap();
                    alone[0].restart(0).unwrap();
                }
                let all: Vec<u32> = (0..batch).flat_map(|sequence| ids(sequence, step)).collect();
                let output = together.step(&all).unwrap();
                assert_eq!(output.logits.rows(), batch);
                for (sequence, alone) in alone.iter_mut().enumerate() {
                    let expected = alone.step(&ids(sequence, step)).unwrap();
                    assert_eq!(output.logits.row(sequence), expected.logits.row(0), "{sequence} of {batch} over {tp}");
                    assert_eq!(output.tokens[sequence], expected.tokens[0]);
                }
            }
            let mut decode = session(&spec, Form::Decode { ctx: CTX, batch: batch as u32 }, tp, &mut shards);
            let mut single = session(&spec, Form::Decode { ctx: CTX, batch: 1 }, tp, &mut shards);
            (0..batch).for_each(|sequence| decode.adopt(sequence, &together, sequence).unwrap());
            let output = decode.step(&TOKENS[..batch]).unwrap();
            for (sequence, alone) in alone.iter().enumerate() {
                single.adopt(0, alone, 0).unwrap();
                let expected = single.step(&TOKENS[sequence..=sequence]).unwrap();
                assert_eq!(output.logits.row(sequence), expected.logits.row(0), "decode of {sequence} over {tp}");
            }
        }
    }
}

fn one_layer(change: impl FnOnce(&mut LayerSpec)) -> ModelSpec {
    let mut spec = attention_model();
    change(&mut spec.layers[0]);
    spec
}

fn attention_layer(change: impl FnOnce(&mut Attention)) -> ModelSpec {
    one_layer(|layer| match &mut layer.mixer {
        Mixer::Attention(attention) => change(attention),
        Mixer::Latent(_) | Mixer::GatedDelta(_) => unreachable!("the sample's layer is attention"),
    })
}

#[test]
fn gates_and_norms_of_heads() {
    for after_rope in [false, true] {
        let spec = attention_layer(|a| {
            a.gate = Some(linear("g", 64, HIDDEN));
            a.qk_norm = Some(QkNorm::PerHead { q: rms("qn", 16), k: rms("kn", 16), after_rope });
        });
        same(&spec);
    }
    same(&attention_layer(|a| {
        let mut norm = rms("qn", 16);
        norm.kind = NormKind::Rms { one_plus: true };
        a.qk_norm = Some(QkNorm::PerHead { q: norm, k: layer_norm("kn", 16), after_rope: false });
    }));
}

#[test]
fn spans_and_caps() {
    same(&attention_layer(|a| a.span = AttentionSpan::Window(4)));
    same(&attention_layer(|a| a.span = AttentionSpan::Window(1)));
    same(&attention_layer(|a| a.span = AttentionSpan::Window(100)));
    same(&attention_layer(|a| a.span = AttentionSpan::Chunked(4)));
    same(&attention_layer(|a| a.softcap = Some(0.5)));
}

#[test]
fn pairings_and_heads() {
    same(&attention_layer(|a| a.rope = None));
    same(&attention_layer(|a| {
        let rope = a.rope.as_mut().unwrap();
        (rope.rotary, rope.pairing) = (6, Pairing::Adjacent);
    }));
    same(&attention_layer(|a| {
        a.kv_heads = 1;
        a.k = with_bias(linear("k", 16, HIDDEN), "k");
        a.v = with_bias(linear("v", 16, HIDDEN), "v");
        a.q = with_bias(a.q.clone(), "q");
        a.o = with_bias(a.o.clone(), "o");
    }));
}

#[test]
fn arrangements_and_feed_forwards() {
    same(&one_layer(|l| {
        l.arrangement = Arrangement::Sequential {
            before_mixer: None,
            after_mixer: Some(rms("n1", HIDDEN)),
            before_feed_forward: Some(layer_norm("n2", HIDDEN)),
            after_feed_forward: Some(rms("n3", HIDDEN)),
        };
    }));
    for second in [None, Some(layer_norm("n2", HIDDEN))] {
        same(&one_layer(|l| {
            l.arrangement = Arrangement::Parallel { mixer: layer_norm("n", HIDDEN), feed_forward: second };
            l.residual_scale = Some(0.22);
        }));
    }
    for activation in [Activation::Silu, Activation::Gelu, Activation::GeluTanh] {
        for gate in [None, Some(linear("gate", 128, HIDDEN))] {
            same(&one_layer(|l| {
                let up = with_bias(linear("up", 128, HIDDEN), "up");
                let down = with_bias(linear("down", HIDDEN, 128), "down");
                l.feed_forward =
                    crate::spec::FeedForward::Dense(crate::spec::Mlp { width: 128, gate, up, down, activation });
            }));
        }
    }
}

fn mixture(stored: ExpertTensors, change: impl FnOnce(&mut Experts)) -> ModelSpec {
    one_layer(|layer| {
        let mut block = experts(stored);
        change(&mut block);
        layer.feed_forward = FeedForward::Experts(block);
    })
}

#[test]
fn mixtures_however_they_are_stored_and_routed() {
    same(&mixture(ExpertTensors::Apart, |_| {}));
    same(&mixture(ExpertTensors::Stacked, |block| {
        block.shared = Some(mlp());
        block.shared_gate = Some(linear("shared_gate", 1, HIDDEN));
        block.router.normalised = false;
    }));
    same(&mixture(ExpertTensors::StackedTransposed, |block| {
        *block = with_expert_biases(block.clone());
        block.router.linear = with_bias(block.router.linear.clone(), "router");
        block.router.score = RouterScore::SoftmaxChosen;
        block.expert.activation = Activation::SwigluClamped { alpha: 1.702, limit: 0.5 };
    }));
    same(&mixture(ExpertTensors::Apart, |block| {
        block.router.score = RouterScore::Sigmoid;
        block.router.correction = Some(Weight::whole("l.{l}.router.correction", &[8]));
        block.router.groups = (4, 2);
        block.router.group_sum_of_two = true;
        block.router.scale = 2.5;
        block.router.on_input = true;
        block.expert.activation = Activation::Gelu;
    }));
}

#[test]
fn hybrids_and_heads_with_factors() {
    same(&hybrid_model());
    let mut spec = hybrid_model();
    spec.embedding_scale = Some(8.0);
    spec.head.scale = Some(0.5);
    spec.head.softcap = Some(3.0);
    spec.head.linear = with_bias(spec.head.linear, "head");
    same(&spec);
}
