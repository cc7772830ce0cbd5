//! Small specifications for tests: every block the language can say, at sizes a person can check by hand.

use crate::spec::{
    Activation, Arrangement, Attention, AttentionSpan, Dtype, ExpertTensors, Experts, FeedForward, GatedDelta, Head,
    LatentAttention, LayerSpec, Linear, Mixer, Mlp, ModelSpec, Norm, NormKind, Pairing, Rope, Router, RouterScore,
    Scaling, Take, Tensor, Weight,
};

pub(crate) const HIDDEN: u32 = 64;

pub(crate) fn linear(name: &str, out: u32, input: u32) -> Linear {
    Linear { out, input, weight: Weight::whole(format!("l.{{l}}.{name}.weight"), &[out, input]), bias: None }
}

pub(crate) fn with_bias(mut linear: Linear, name: &str) -> Linear {
    linear.bias = Some(Weight::whole(format!("l.{{l}}.{name}.bias"), &[linear.out]));
    linear
}

pub(crate) fn rms(name: &str, width: u32) -> Norm {
    let weight = Some(Weight::whole(format!("l.{{l}}.{name}.weight"), &[width]));
    Norm { kind: NormKind::Rms { one_plus: false }, eps: 1e-6, weight, bias: None }
}

pub(crate) fn layer_norm(name: &str, width: u32) -> Norm {
    let bias = Some(Weight::whole(format!("l.{{l}}.{name}.bias"), &[width]));
    Norm { kind: NormKind::Layer, eps: 1e-5, bias, ..rms(name, width) }
}

pub(crate) fn rope() -> Rope {
    Rope { theta: 10_000.0, rotary: 16, pairing: Pairing::Halves, scaling: Scaling::None }
}

/// Four query heads of 16 columns over two KV heads.
pub(crate) fn attention() -> Attention {
    Attention {
        heads: 4,
        kv_heads: 2,
        head_dim: 16,
        q: linear("q", 64, HIDDEN),
        k: linear("k", 32, HIDDEN),
        v: linear("v", 32, HIDDEN),
        o: linear("o", HIDDEN, 64),
        gate: None,
        qk_norm: None,
        rope: Some(rope()),
        span: AttentionSpan::Full,
        scale: 0.25,
        softcap: None,
        sinks: None,
        temperature: None,
    }
}

/// Four query heads of 8 columns without and 4 with position, values of 12, over a latent of 16.
pub(crate) fn latent() -> LatentAttention {
    LatentAttention {
        heads: 4,
        nope: 8,
        rotary: 4,
        value_dim: 12,
        latent: 16,
        q: linear("q", 48, HIDDEN),
        q_down: None,
        kv_down: with_bias(linear("kv_down", 20, HIDDEN), "kv_down"),
        kv_norm: rms("kv_norm", 16),
        kv_up: linear("kv_up", 80, 16),
        o: linear("o", HIDDEN, 48),
        rope: Rope { rotary: 4, pairing: Pairing::Adjacent, ..rope() },
        scale: 0.288_675_13,
    }
}

/// Two key heads and four value heads of 8 columns, q, k and v fused as released checkpoints have them.
pub(crate) fn gated_delta() -> GatedDelta {
    let part = |offset: u32, out: u32| {
        let tensor = Tensor { name: "l.{l}.qkv.weight".into(), shape: vec![64, HIDDEN] };
        Linear { out, input: HIDDEN, weight: Weight { tensor, take: Take::range(offset, out) }, bias: None }
    };
    let taps = |offset: u32, out: u32| {
        let tensor = Tensor { name: "l.{l}.conv.weight".into(), shape: vec![64, 1, 4] };
        Weight { tensor, take: Take::range(offset, out) }
    };
    GatedDelta {
        key_heads: 2,
        value_heads: 4,
        key_dim: 8,
        value_dim: 8,
        taps: 4,
        q: part(0, 16),
        k: part(16, 16),
        v: part(32, 32),
        z: linear("z", 32, HIDDEN),
        b: linear("b", 4, HIDDEN),
        a: linear("a", 4, HIDDEN),
        conv_q: taps(0, 16),
        conv_k: taps(16, 16),
        conv_v: taps(32, 32),
        a_log: Weight::whole("l.{l}.A_log", &[4]),
        dt_bias: Weight::whole("l.{l}.dt_bias", &[4]),
        norm: rms("norm", 8),
        out: linear("out", HIDDEN, 32),
        l2_eps: 1e-6,
    }
}

pub(crate) fn mlp() -> Mlp {
    Mlp {
        width: 128,
        gate: Some(linear("gate", 128, HIDDEN)),
        up: linear("up", 128, HIDDEN),
        down: linear("down", HIDDEN, 128),
        activation: Activation::Silu,
    }
}

/// Two of eight experts of 32 columns, stored as asked for.
pub(crate) fn experts(stored: ExpertTensors) -> Experts {
    let weight = |name: &str, take: Take, (out, input): (u32, u32)| {
        let (name, shape) = match stored {
            ExpertTensors::Apart => (format!("l.{{l}}.e.{{e}}.{name}.weight"), vec![take.len() as u32, input]),
            ExpertTensors::Stacked => (format!("l.{{l}}.e.{name}"), vec![8, out, input]),
            ExpertTensors::StackedTransposed => (format!("l.{{l}}.e.{name}"), vec![8, input, out]),
        };
        let take = if stored == ExpertTensors::Apart { Take::range(0, take.len() as u32) } else { take };
        Linear { out: take.len() as u32, input, weight: Weight { tensor: Tensor { name, shape }, take }, bias: None }
    };
    // Halves, and features in turn.
    let [gate, up] = match stored {
        ExpertTensors::Apart | ExpertTensors::Stacked => [Take::range(0, 32), Take::range(32, 32)],
        ExpertTensors::StackedTransposed => [0, 1].map(|offset| Take { offset, run: 1, stride: 2, count: 32 }),
    };
    let (gate_name, up_name) = if stored == ExpertTensors::Apart { ("gate", "up") } else { ("gate_up", "gate_up") };
    Experts {
        count: 8,
        router: Router {
            linear: linear("router", 8, HIDDEN),
            score: RouterScore::Softmax,
            correction: None,
            groups: (1, 1),
            group_sum_of_two: false,
            top_k: 2,
            normalised: true,
            scale: 1.0,
            on_input: false,
        },
        expert: Mlp {
            width: 32,
            gate: Some(weight(gate_name, gate, (64, HIDDEN))),
            up: weight(up_name, up, (64, HIDDEN)),
            down: weight("down", Take::range(0, HIDDEN), (HIDDEN, 32)),
            activation: Activation::Silu,
        },
        stored,
        shared: None,
        shared_gate: None,
    }
}

/// Every projection of the experts with a bias, stored stacked.
pub(crate) fn with_expert_biases(mut experts: Experts) -> Experts {
    let add = |linear: &mut Linear, stored: u32| {
        let tensor = Tensor { name: format!("{}_bias", linear.weight.tensor.name), shape: vec![8, stored] };
        linear.bias = Some(Weight { tensor, take: linear.weight.take });
    };
    experts.expert.gate.iter_mut().for_each(|gate| add(gate, 64));
    add(&mut experts.expert.up, 64);
    add(&mut experts.expert.down, HIDDEN);
    experts
}

pub(crate) fn layer(mixer: Mixer) -> LayerSpec {
    LayerSpec {
        arrangement: Arrangement::Sequential {
            before_mixer: Some(rms("n1", HIDDEN)),
            after_mixer: None,
            before_feed_forward: Some(rms("n2", HIDDEN)),
            after_feed_forward: None,
        },
        mixer,
        feed_forward: FeedForward::Dense(mlp()),
        residual_scale: None,
    }
}

/// A model of these layers, each of its own row.
pub(crate) fn model(layers: Vec<LayerSpec>) -> ModelSpec {
    let layer_of = (0..layers.len() as u32).collect();
    ModelSpec {
        model_type: "sample".into(),
        hidden: HIDDEN,
        vocab: 96,
        max_context: 1024,
        dtype: Dtype::Bf16,
        state_dtype: Dtype::F32,
        embedding: Tensor { name: "embed.weight".into(), shape: vec![96, HIDDEN] },
        embedding_scale: None,
        layers,
        layer_of,
        as_stored: crate::spec::AsStored::default(),
        vocabulary: crate::spec::Vocabulary::default(),
        expert_split: crate::spec::ExpertSplit::Columns,
        final_norm: rms("final", HIDDEN),
        head: Head { linear: linear("head", 96, HIDDEN), tied: false, scale: None, softcap: None },
    }
}

pub(crate) fn attention_model() -> ModelSpec {
    model(vec![layer(Mixer::Attention(attention()))])
}

/// A gated DeltaNet layer, then an attention layer.
pub(crate) fn hybrid_model() -> ModelSpec {
    model(vec![layer(Mixer::GatedDelta(gated_delta())), layer(Mixer::Attention(attention()))])
}
