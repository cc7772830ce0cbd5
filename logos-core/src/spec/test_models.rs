//! Models written out by hand, for tests that should not depend on the config parser.

use super::*;

pub(crate) fn linear(name: &str, input: u32, out: u32) -> Linear {
    Linear { out, input, weight: Weight::whole(name, &[out, input]), bias: None }
}

pub(crate) fn rms(name: &str, width: u32) -> Norm {
    let weight = Some(Weight::whole(name, &[width]));
    Norm { kind: NormKind::Rms { one_plus: false }, eps: 1e-6, weight, bias: None }
}

pub(crate) struct Heads {
    pub(crate) hidden: u32,
    pub(crate) heads: u32,
    pub(crate) kv_heads: u32,
    pub(crate) head_dim: u32,
    pub(crate) gate: bool,
    pub(crate) span: AttentionSpan,
}

pub(crate) fn attention(h: &Heads) -> Mixer {
    let (q, kv) = (h.heads * h.head_dim, h.kv_heads * h.head_dim);
    Mixer::Attention(Attention {
        heads: h.heads,
        kv_heads: h.kv_heads,
        head_dim: h.head_dim,
        q: linear("q", h.hidden, q),
        k: linear("k", h.hidden, kv),
        v: linear("v", h.hidden, kv),
        o: linear("o", q, h.hidden),
        gate: h.gate.then(|| linear("gate", h.hidden, q)),
        qk_norm: h.gate.then(|| QkNorm::PerHead {
            q: rms("qn", h.head_dim),
            k: rms("kn", h.head_dim),
            after_rope: false,
        }),
        rope: None,
        span: h.span,
        scale: 0.0625,
        softcap: None,
        sinks: None,
        temperature: None,
    })
}

pub(crate) fn delta(hidden: u32) -> Mixer {
    let (keys, values) = (16 * 128, 48 * 128);
    Mixer::GatedDelta(GatedDelta {
        key_heads: 16,
        value_heads: 48,
        key_dim: 128,
        value_dim: 128,
        taps: 4,
        q: linear("q", hidden, keys),
        k: linear("k", hidden, keys),
        v: linear("v", hidden, values),
        z: linear("z", hidden, values),
        b: linear("b", hidden, 48),
        a: linear("a", hidden, 48),
        conv_q: Weight::whole("conv_q", &[keys, 1, 4]),
        conv_k: Weight::whole("conv_k", &[keys, 1, 4]),
        conv_v: Weight::whole("conv_v", &[values, 1, 4]),
        a_log: Weight::whole("a_log", &[48]),
        dt_bias: Weight::whole("dt_bias", &[48]),
        norm: rms("norm", 128),
        out: linear("out", values, hidden),
        l2_eps: 1e-6,
    })
}

pub(crate) fn layer(hidden: u32, width: u32, mixer: Mixer) -> LayerSpec {
    LayerSpec {
        arrangement: Arrangement::Sequential {
            before_mixer: Some(rms("n1", hidden)),
            after_mixer: None,
            before_feed_forward: Some(rms("n2", hidden)),
            after_feed_forward: None,
        },
        mixer,
        feed_forward: FeedForward::Dense(Mlp {
            width,
            gate: Some(linear("gate", hidden, width)),
            up: linear("up", hidden, width),
            down: linear("down", width, hidden),
            activation: Activation::Silu,
        }),
        residual_scale: None,
    }
}

pub(crate) fn model(
    hidden: u32,
    vocab: u32,
    max_context: u32,
    layers: Vec<LayerSpec>,
    layer_of: Vec<u32>,
) -> ModelSpec {
    ModelSpec {
        model_type: "test".into(),
        hidden,
        vocab,
        max_context,
        dtype: Dtype::Bf16,
        state_dtype: Dtype::F32,
        embedding: Tensor { name: "embed".into(), shape: vec![vocab, hidden] },
        embedding_scale: None,
        layers,
        layer_of,
        final_norm: rms("final", hidden),
        head: Head { linear: linear("head", hidden, vocab), tied: false, scale: None, softcap: None },
        as_stored: AsStored::default(),
        vocabulary: super::Vocabulary::Exact,
        expert_split: crate::spec::ExpertSplit::Columns,
    }
}

/// Qwen3.5-27B: three Gated DeltaNet layers to one of gated attention.
pub(crate) fn qwen35() -> ModelSpec {
    let heads = Heads { hidden: 5120, heads: 24, kv_heads: 4, head_dim: 256, gate: true, span: AttentionSpan::Full };
    let layers = vec![layer(5120, 17_408, delta(5120)), layer(5120, 17_408, attention(&heads))];
    model(5120, 248_320, 262_144, layers, (0..64).map(|l| u32::from(l % 4 == 3)).collect())
}

/// Llama-3.1-8B.
pub(crate) fn llama() -> ModelSpec {
    let heads = Heads { hidden: 4096, heads: 32, kv_heads: 8, head_dim: 128, gate: false, span: AttentionSpan::Full };
    model(4096, 128_256, 131_072, vec![layer(4096, 14_336, attention(&heads))], vec![0; 32])
}
