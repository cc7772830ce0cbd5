//! Models drawn at random: every block a specification can say, at sizes that divide nothing evenly.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::checkpoint::TensorRead;
use crate::reference::{TensorData, WeightSource};
use crate::simulate::{SharedTensor, TensorStore};
use crate::spec::{
    Activation, Arrangement, Attention, AttentionSpan, Dtype, ExpertSplit, ExpertTensors, Experts, FeedForward,
    GatedDelta, Head, LatentAttention, LayerSpec, Linear, Mixer, Mlp, ModelSpec, Norm, NormKind, Pairing, QkNorm, Rope,
    Router, RouterScore, Scaling, Take, Temperature, Tensor, Vocabulary, Weight, inventory,
};

/// SplitMix64.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, end: u32) -> u32 {
        (self.next() % u64::from(end)) as u32
    }

    pub(super) fn of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u32) as usize].clone()
    }

    /// One time in `n`.
    fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    /// Between -1 and 1.
    fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u32 << 23) as f32 - 1.0
    }
}

/// Under the roots of heads of few columns: some are nearly zero, and dividing by less would show roundings as differences.
const EPS: f32 = 1e-3;

/// Of the names of a layer's tensors.
const LAYER: &str = "l.{l}.";

/// Draws a model; `hidden` is its width.
struct Draw<'r> {
    random: &'r mut Random,
    hidden: u32,
    /// Of tensor names: a layer's, or none.
    prefix: &'static str,
}

pub(super) fn model(random: &mut Random) -> ModelSpec {
    let hidden = random.of(&[40, 64, 72, 100, 132]);
    // Even, so that it splits over two chips.
    let vocab = 2 * (25 + random.below(60));
    let mut draw = Draw { random, hidden, prefix: LAYER };
    let kinds = 1 + draw.random.below(2);
    let layers: Vec<LayerSpec> = (0..kinds).map(|_| draw.layer()).collect();
    draw.prefix = "";
    let depth = 2 + draw.random.below(2);
    let layer_of = (0..depth).map(|layer| layer % kinds).collect();
    let embedding = Tensor { name: "embed.weight".into(), shape: vec![vocab, hidden] };
    let tied = draw.random.one_in(2);
    let mut head = Head { linear: draw.linear("head", vocab, hidden), tied, scale: None, softcap: None };
    if tied {
        let weight = Weight { tensor: embedding.clone(), take: Take::range(0, vocab) };
        head.linear = Linear { out: vocab, input: hidden, weight, bias: None };
    }
    head.scale = draw.random.one_in(3).then_some(0.5);
    head.softcap = draw.random.one_in(3).then_some(3.0);
    // Padded by up to 63 rows, which leave chips little to hold but them.
    let vocabulary = if draw.random.one_in(3) { Vocabulary::Padded } else { Vocabulary::Exact };
    ModelSpec {
        as_stored: crate::spec::AsStored::default(),
        vocabulary,
        expert_split: draw.random.of(&[ExpertSplit::Columns, ExpertSplit::Parallel]),
        model_type: "random".into(),
        hidden,
        vocab,
        max_context: 4096,
        dtype: draw.random.of(&[Dtype::Bf16, Dtype::F16, Dtype::F32]),
        state_dtype: Dtype::F32,
        embedding,
        embedding_scale: draw.random.one_in(3).then_some(3.0),
        final_norm: draw.norm("final", hidden),
        layers,
        layer_of,
        head,
    }
}

impl Draw<'_> {
    fn name(&self, name: &str, what: &str) -> String {
        format!("{}{name}{what}", self.prefix)
    }

    /// With a bias, one time in three.
    fn linear(&mut self, name: &str, out: u32, input: u32) -> Linear {
        let bias = self.random.one_in(3).then(|| Weight::whole(self.name(name, ".bias"), &[out]));
        Linear { bias, ..self.plain(name, out, input) }
    }

    fn plain(&mut self, name: &str, out: u32, input: u32) -> Linear {
        Linear { out, input, weight: Weight::whole(self.name(name, ".weight"), &[out, input]), bias: None }
    }

    fn norm(&mut self, name: &str, width: u32) -> Norm {
        let kind = self.random.below(5);
        let weight = |what: &str| Some(Weight::whole(self.name(name, what), &[width]));
        let rms = |one_plus, weight| Norm { kind: NormKind::Rms { one_plus }, eps: 1e-6, weight, bias: None };
        match kind {
            0 => Norm { kind: NormKind::Layer, eps: 1e-5, weight: weight("norm.weight"), bias: weight("norm.bias") },
            1 => Norm { kind: NormKind::Layer, eps: 1e-5, weight: weight("norm.weight"), bias: None },
            2 => rms(true, weight("norm.weight")),
            3 => rms(false, None),
            _ => rms(false, weight("norm.weight")),
        }
    }

    fn rms(&mut self, name: &str, width: u32) -> Norm {
        let weight = Some(Weight::whole(self.name(name, "norm.weight"), &[width]));
        Norm { kind: NormKind::Rms { one_plus: self.random.one_in(2) }, eps: 1e-6, weight, bias: None }
    }

    fn layer(&mut self) -> LayerSpec {
        let hidden = self.hidden;
        let arrangement = if self.random.one_in(4) {
            let feed_forward = self.random.one_in(2).then(|| self.norm("n2", hidden));
            Arrangement::Parallel { mixer: self.norm("n1", hidden), feed_forward }
        } else {
            let before = !self.random.one_in(4);
            let after = !before || self.random.one_in(3);
            let mut norm = |there: bool, name: &str| there.then(|| self.norm(name, hidden));
            Arrangement::Sequential {
                before_mixer: norm(before, "n1"),
                after_mixer: norm(after, "n3"),
                before_feed_forward: norm(before, "n2"),
                after_feed_forward: norm(after, "n4"),
            }
        };
        let mixer = match self.random.below(4) {
            0 => Mixer::GatedDelta(self.gated_delta()),
            1 => Mixer::Latent(self.latent()),
            _ => Mixer::Attention(self.attention()),
        };
        let feed_forward =
            if self.random.one_in(3) { FeedForward::Experts(self.experts()) } else { FeedForward::Dense(self.dense()) };
        LayerSpec { arrangement, mixer, feed_forward, residual_scale: self.random.one_in(4).then_some(0.4) }
    }

    fn rope(&mut self, rotary: u32) -> Rope {
        let scaling = match self.random.below(5) {
            0 => Scaling::Linear { factor: 4.0 },
            1 => Scaling::Llama3 { factor: 8.0, low: 1.0, high: 4.0, original: 8 },
            2 => Scaling::Yarn {
                factor: 4.0,
                beta_fast: 32.0,
                beta_slow: 1.0,
                original: 8,
                truncate: self.random.one_in(2),
                attention_factor: 1.1,
            },
            _ => Scaling::None,
        };
        Rope { theta: 10_000.0, rotary, pairing: self.random.of(&[Pairing::Halves, Pairing::Adjacent]), scaling }
    }

    fn attention(&mut self) -> Attention {
        let hidden = self.hidden;
        let (kv_heads, group) = self.random.of(&[(1, 2), (1, 4), (2, 1), (2, 3), (4, 1), (3, 2), (1, 6)]);
        let heads = kv_heads * group;
        let head_dim = self.random.of(&[8, 16, 24, 40, 80, 96]);
        let (q_out, kv_out) = (heads * head_dim, kv_heads * head_dim);
        let qk_norm = match self.random.below(5) {
            0 => Some(QkNorm::PerHead {
                q: self.rms("q", head_dim),
                k: self.rms("k", head_dim),
                after_rope: self.random.one_in(3),
            }),
            1 => Some(QkNorm::FullWidth { q: self.rms("q", q_out), k: self.rms("k", kv_out) }),
            _ => None,
        };
        let rotary = self.random.of(&[head_dim, head_dim / 2, 2]);
        Attention {
            heads,
            kv_heads,
            head_dim,
            q: self.linear("q", q_out, hidden),
            k: self.linear("k", kv_out, hidden),
            v: self.linear("v", kv_out, hidden),
            o: self.linear("o", hidden, q_out),
            gate: self.random.one_in(4).then(|| self.plain("g", q_out, hidden)),
            qk_norm,
            rope: (!self.random.one_in(5)).then(|| self.rope(rotary)),
            span: match self.random.below(4) {
                0 => AttentionSpan::Window(1 + self.random.below(9)),
                1 => AttentionSpan::Chunked(2 + self.random.below(7)),
                _ => AttentionSpan::Full,
            },
            scale: 1.0 / (head_dim as f32).sqrt(),
            softcap: self.random.one_in(4).then_some(2.0),
            sinks: self.random.one_in(4).then(|| Weight::whole("l.{l}.sinks", &[heads])),
            temperature: self.random.one_in(5).then_some(Temperature { scale: 0.1, floor: 4.0 }),
        }
    }

    fn latent(&mut self) -> LatentAttention {
        let hidden = self.hidden;
        let heads = self.random.of(&[2, 4, 6]);
        let nope = self.random.of(&[4, 8, 24]);
        let rotary = self.random.of(&[2, 4, 12]);
        let value_dim = self.random.of(&[6, 8, 20]);
        let latent = self.random.of(&[10, 16, 36]);
        let down = self.random.one_in(2).then(|| (self.linear("q_a", 28, hidden), self.rms("q_a", 28)));
        let q_input = if down.is_some() { 28 } else { hidden };
        LatentAttention {
            heads,
            nope,
            rotary,
            value_dim,
            latent,
            q: self.plain("q", heads * (nope + rotary), q_input),
            q_down: down,
            kv_down: self.linear("kv_down", latent + rotary, hidden),
            kv_norm: self.rms("kv", latent),
            kv_up: self.plain("kv_up", heads * (nope + value_dim), latent),
            o: self.linear("o", hidden, heads * value_dim),
            rope: self.rope(rotary),
            scale: 1.0 / ((nope + rotary) as f32).sqrt(),
        }
    }

    /// Projections of q, k and v fused in one tensor, as released checkpoints have them.
    fn gated_delta(&mut self) -> GatedDelta {
        let hidden = self.hidden;
        let key_heads = 2 * (1 + self.random.below(2));
        let value_heads = key_heads * (1 + self.random.below(3));
        let key_dim = self.random.of(&[8, 12, 24]);
        let value_dim = self.random.of(&[8, 16, 20]);
        let taps = 2 + self.random.below(3);
        let (keys, values) = (key_heads * key_dim, value_heads * value_dim);
        let channels = 2 * keys + values;
        let part = |offset, out| {
            let tensor = Tensor { name: "l.{l}.qkv.weight".into(), shape: vec![channels, hidden] };
            Linear { out, input: hidden, weight: Weight { tensor, take: Take::range(offset, out) }, bias: None }
        };
        let conv = |offset, out| {
            let tensor = Tensor { name: "l.{l}.conv.weight".into(), shape: vec![channels, 1, taps] };
            Weight { tensor, take: Take::range(offset, out) }
        };
        GatedDelta {
            key_heads,
            value_heads,
            key_dim,
            value_dim,
            taps,
            q: part(0, keys),
            k: part(keys, keys),
            v: part(2 * keys, values),
            z: self.plain("z", values, hidden),
            b: self.plain("b", value_heads, hidden),
            a: self.plain("a", value_heads, hidden),
            conv_q: conv(0, keys),
            conv_k: conv(keys, keys),
            conv_v: conv(2 * keys, values),
            a_log: Weight::whole("l.{l}.A_log", &[value_heads]),
            dt_bias: Weight::whole("l.{l}.dt_bias", &[value_heads]),
            norm: Norm { eps: EPS, ..self.rms("delta", value_dim) },
            out: self.plain("out", hidden, values),
            l2_eps: EPS,
        }
    }

    fn dense(&mut self) -> Mlp {
        let hidden = self.hidden;
        let width = self.random.of(&[30, 64, 100, 270]);
        Mlp {
            width,
            gate: (!self.random.one_in(3)).then(|| self.linear("gate", width, hidden)),
            up: self.linear("up", width, hidden),
            down: self.linear("down", hidden, width),
            activation: self.random.of(&[Activation::Silu, Activation::Gelu, Activation::GeluTanh]),
        }
    }

    fn experts(&mut self) -> Experts {
        let hidden = self.hidden;
        let count = self.random.of(&[4, 6, 8]);
        let width = self.random.of(&[10, 24, 36]);
        let stored = self.random.of(&[ExpertTensors::Apart, ExpertTensors::Stacked, ExpertTensors::StackedTransposed]);
        let biased = self.random.one_in(3);
        // Halves, or features in turn.
        let (run, stride) = if self.random.one_in(2) { (width, width) } else { (1, 2) };
        let taken = |offset: u32| Take {
            offset: if run == 1 { offset } else { offset * width },
            run,
            stride,
            count: width / run,
        };
        let fused = |name: &str, take: Take, stored_out: u32, input: u32| {
            let (name, suffix, shape, bias_shape) = match stored {
                ExpertTensors::Apart => {
                    (format!("l.{{l}}.e.{{e}}.{name}"), ".weight", vec![stored_out, input], vec![stored_out])
                }
                ExpertTensors::Stacked => {
                    (format!("l.{{l}}.e.{name}"), "", vec![count, stored_out, input], vec![count, stored_out])
                }
                ExpertTensors::StackedTransposed => {
                    (format!("l.{{l}}.e.{name}"), "", vec![count, input, stored_out], vec![count, stored_out])
                }
            };
            let bias = Tensor { name: format!("{name}_bias"), shape: bias_shape };
            let tensor = Tensor { name: format!("{name}{suffix}"), shape };
            let bias = biased.then_some(Weight { tensor: bias, take });
            Linear { out: take.len() as u32, input, weight: Weight { tensor, take }, bias }
        };
        let groups = self.random.of(&[(1, 1), (2, 1), (2, 2)]);
        let score = self.random.of(&[RouterScore::Softmax, RouterScore::SoftmaxChosen, RouterScore::Sigmoid]);
        let clamped = Activation::SwigluClamped { alpha: 1.702, limit: 1.5 };
        let shared = self.random.one_in(3).then(|| Mlp {
            width,
            gate: Some(self.plain("sgate", width, hidden)),
            up: self.plain("sup", width, hidden),
            down: self.plain("sdown", hidden, width),
            activation: Activation::Silu,
        });
        let shared_gate = (shared.is_some() && self.random.one_in(2)).then(|| self.plain("shared_gate", 1, hidden));
        Experts {
            count,
            router: Router {
                linear: self.linear("router", count, hidden),
                score,
                correction: self.random.one_in(3).then(|| Weight::whole("l.{l}.correction", &[count])),
                group_sum_of_two: groups.0 > 1 && self.random.one_in(2),
                groups,
                top_k: 1 + self.random.below(2),
                normalised: self.random.one_in(2),
                scale: self.random.of(&[1.0, 2.5]),
                on_input: self.random.one_in(4),
            },
            expert: Mlp {
                width,
                gate: Some(fused("gate_up", taken(0), 2 * width, hidden)),
                up: fused("gate_up", taken(1), 2 * width, hidden),
                down: fused("down", Take::range(0, hidden), hidden, width),
                activation: self.random.of(&[Activation::Silu, Activation::GeluTanh, clamped]),
            },
            stored,
            shared,
            shared_gate,
        }
    }
}

/// Random values for every tensor of a model.
pub(super) struct Tensors(BTreeMap<String, Arc<Stored>>);

struct Stored {
    shape: Vec<usize>,
    values: Vec<f32>,
    /// Whether firings read it in place.
    in_place: bool,
}

impl Tensors {
    pub(super) fn new(spec: &ModelSpec, random: &mut Random) -> Tensors {
        let inventory = inventory(spec).unwrap();
        let tensors = inventory.iter().map(|tensor| {
            let shape: Vec<usize> = tensor.shape.iter().map(|&axis| axis as usize).collect();
            let (centre, reach) = match &shape[..] {
                [_] if tensor.name.contains("norm.weight") => (1.0, 0.5),
                [_] => (0.0, 0.5),
                // Sums of as many products as a row is long stay near one.
                [.., length] => (0.0, (3.0 / *length as f32).sqrt()),
                [] => (0.0, 1.0),
            };
            let count = shape.iter().product();
            let values = (0..count).map(|_| centre + reach * random.unit()).collect();
            (tensor.name.to_string(), Arc::new(Stored { shape, values, in_place: random.one_in(2) }))
        });
        Tensors(tensors.collect())
    }

    /// Adds the same to every value of a tensor.
    pub(super) fn shift(&mut self, tensor: &str, by: f32) {
        let stored = self.0.get_mut(tensor).and_then(Arc::get_mut).unwrap();
        stored.values.iter_mut().for_each(|value| *value += by);
    }
}

impl WeightSource for Tensors {
    fn read(&self, tensor: &str) -> Option<TensorData<'_>> {
        let Stored { shape, values, .. } = &**self.0.get(tensor)?;
        Some(TensorData { shape: shape.clone(), values: Cow::Borrowed(values) })
    }
}

impl TensorStore for Tensors {
    fn open(&self, tensor: &str) -> Option<SharedTensor> {
        self.0.get(tensor).map(|stored| stored.clone() as SharedTensor)
    }
}

impl TensorRead for Stored {
    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn floats(&self) -> Option<&[f32]> {
        self.in_place.then_some(&self.values)
    }

    fn read(&self, row: usize, columns: Range<usize>, out: &mut [f32]) {
        out.copy_from_slice(&self.values[row * self.columns()..][columns]);
    }
}
