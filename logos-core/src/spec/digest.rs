//! The identity of a specification: SHA-256 of its canonical bytes.
//!
//! The form is prefix-free, so two specifications have the same bytes only if they are equal. In order of the fields:
//!
//! - a whole number: LEB128, seven bits a byte, the least first, bit 7 set on all but the last;
//! - an `f32` or `f64`: its IEEE 754 bits, little-endian (`-0.0` differs from `0.0`);
//! - a boolean: one byte, 0 or 1;
//! - a string or list: its length as a whole number, then its bytes or items;
//! - an option: 0, or 1 and the value;
//! - a choice: the number of the variant, from 0 in order of declaration, then its fields;
//! - a structure: its fields in order of declaration.
//!
//! The whole is `logos spec 1` as a string, then [`ModelSpec`] without `model_type`, `as_stored`, `vocabulary` and `expert_split`; or, where `as_stored` has an
//! entry, `logos spec 1, as stored`, the entries of the ends and of each distinct layer, each a list of names and storages, then the same.
//! Before all of it stands `padded` where the vocabulary is, and `experts parallel` where whole experts lie over the chips. As to `model_type`: that is a name for people, and two
//! families that compute the same of the same tensors are the same model.
//!
//! Every structure is taken apart completely below, so that a new field cannot be forgotten.

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};

use super::{
    Activation, Arrangement, AsStored, Attention, AttentionSpan, Dtype, ExpertSplit, ExpertTensors, Experts,
    FeedForward, GatedDelta, Head, Held, LatentAttention, LayerSpec, Linear, Mixer, Mlp, ModelSpec, Norm, NormKind,
    Pairing, QkNorm, Rope, Router, RouterScore, Scaling, Take, Temperature, Tensor, Vocabulary, Weight,
};

/// First of the canonical bytes: another form would begin otherwise.
const FORM: &str = "logos spec 1";
/// Before either, where the vocabulary is padded to lie over the chips.
const PADDED: &str = "padded";
/// The same where whole experts lie over the chips.
const EXPERTS_PARALLEL: &str = "experts parallel";
/// As [`FORM`], where tensors are stored otherwise than in the config's dtype: how, then the rest.
const FORM_AS_STORED: &str = "logos spec 1, as stored";

impl ModelSpec {
    /// SHA-256 of the [canonical bytes](ModelSpec::canonical_bytes): equal for two models exactly if they compute the same
    /// way from the same tensors.
    pub fn digest(&self) -> [u8; 32] {
        Sha256::digest(self.canonical_bytes()).into()
    }

    /// The specification as bytes, unambiguous: a prefix-free form in which every field but `model_type` takes part.
    pub fn canonical_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(4096 + self.layer_of.len());
        match self.vocabulary {
            Vocabulary::Exact => {}
            Vocabulary::Padded => out.canon_str(PADDED),
        }
        match self.expert_split {
            ExpertSplit::Columns => {}
            ExpertSplit::Parallel => out.canon_str(EXPERTS_PARALLEL),
        }
        if self.as_stored.is_empty() {
            out.canon_str(FORM);
        } else {
            out.canon_str(FORM_AS_STORED);
            self.as_stored.canon(&mut out);
        }
        self.canon(&mut out);
        out
    }
}

trait Canon {
    fn canon(&self, out: &mut Vec<u8>);
}

trait Put {
    fn canon_number(&mut self, number: u64);
    fn canon_str(&mut self, text: &str);
}

impl Put for Vec<u8> {
    fn canon_number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.push(number as u8);
    }

    fn canon_str(&mut self, text: &str) {
        self.canon_number(text.len() as u64);
        self.extend_from_slice(text.as_bytes());
    }
}

impl Canon for u32 {
    fn canon(&self, out: &mut Vec<u8>) {
        out.canon_number(u64::from(*self));
    }
}

impl Canon for f32 {
    fn canon(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_bits().to_le_bytes());
    }
}

impl Canon for f64 {
    fn canon(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_bits().to_le_bytes());
    }
}

impl Canon for bool {
    fn canon(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }
}

impl Canon for String {
    fn canon(&self, out: &mut Vec<u8>) {
        out.canon_str(self);
    }
}

impl<T: Canon> Canon for Vec<T> {
    fn canon(&self, out: &mut Vec<u8>) {
        out.canon_number(self.len() as u64);
        for item in self {
            item.canon(out);
        }
    }
}

impl<T: Canon> Canon for Option<T> {
    fn canon(&self, out: &mut Vec<u8>) {
        match self {
            None => out.push(0),
            Some(value) => {
                out.push(1);
                value.canon(out);
            }
        }
    }
}

impl<A: Canon, B: Canon> Canon for (A, B) {
    fn canon(&self, out: &mut Vec<u8>) {
        self.0.canon(out);
        self.1.canon(out);
    }
}

/// Structures: all fields, in order of declaration.
macro_rules! canon_structs {
    ($($name:ident { $($field:ident),* $(,)? })*) => {$(
        impl Canon for $name {
            fn canon(&self, out: &mut Vec<u8>) {
                let $name { $($field),* } = self;
                $($field.canon(out);)*
            }
        }
    )*};
}

/// Choices: all variants with their numbers, all their fields.
macro_rules! canon_enums {
    ($($name:ident {
        $($number:literal = $variant:ident $({ $($field:ident),* })? $(( $inner:ident ))?),* $(,)?
    })*) => {$(
        impl Canon for $name {
            fn canon(&self, out: &mut Vec<u8>) {
                match self {
                    $($name::$variant $({ $($field),* })? $(($inner))? => {
                        out.push($number);
                        $($($field.canon(out);)*)?
                        $($inner.canon(out);)?
                    })*
                }
            }
        }
    )*};
}

impl Canon for AsStored {
    fn canon(&self, out: &mut Vec<u8>) {
        let AsStored { ends, rows } = self;
        let mut put = |tensors: &BTreeMap<String, Held>| {
            out.canon_number(tensors.len() as u64);
            for (name, held) in tensors {
                out.canon_str(name);
                match held {
                    Held::Float(dtype) => {
                        out.canon_number(0);
                        dtype.canon(out);
                    }
                    Held::Q8_0 => out.canon_number(1),
                    Held::F8E4M3 => out.canon_number(2),
                    Held::Mxfp4 => out.canon_number(3),
                }
            }
        };
        put(ends);
        rows.iter().for_each(put);
    }
}

impl Canon for ModelSpec {
    fn canon(&self, out: &mut Vec<u8>) {
        let ModelSpec {
            model_type: _,
            hidden,
            vocab,
            max_context,
            dtype,
            state_dtype,
            embedding,
            embedding_scale,
            layers,
            layer_of,
            final_norm,
            head,
            as_stored: _,
            vocabulary: _,
            expert_split: _,
        } = self;
        hidden.canon(out);
        vocab.canon(out);
        max_context.canon(out);
        dtype.canon(out);
        state_dtype.canon(out);
        embedding.canon(out);
        embedding_scale.canon(out);
        layers.canon(out);
        layer_of.canon(out);
        final_norm.canon(out);
        head.canon(out);
    }
}

canon_structs! {
    Head { linear, tied, scale, softcap }
    LayerSpec { arrangement, mixer, feed_forward, residual_scale }
    Tensor { name, shape }
    Take { offset, run, stride, count }
    Weight { tensor, take }
    Linear { out, input, weight, bias }
    Norm { kind, eps, weight, bias }
    Rope { theta, rotary, pairing, scaling }
    Temperature { scale, floor }
    Attention {
        heads, kv_heads, head_dim, q, k, v, o, gate, qk_norm, rope, span, scale, softcap, sinks, temperature,
    }
    LatentAttention {
        heads, nope, rotary, value_dim, latent, q, q_down, kv_down, kv_norm, kv_up, o, rope, scale,
    }
    GatedDelta {
        key_heads, value_heads, key_dim, value_dim, taps, q, k, v, z, b, a, conv_q, conv_k, conv_v, a_log, dt_bias, norm,
        out, l2_eps,
    }
    Mlp { width, gate, up, down, activation }
    Router { linear, score, correction, groups, group_sum_of_two, top_k, normalised, scale, on_input }
    Experts { count, router, expert, stored, shared, shared_gate }
}

canon_enums! {
    Dtype { 0 = F32, 1 = F16, 2 = Bf16 }
    Arrangement {
        0 = Sequential { before_mixer, after_mixer, before_feed_forward, after_feed_forward },
        1 = Parallel { mixer, feed_forward },
    }
    Mixer { 0 = Attention(mixer), 1 = Latent(mixer), 2 = GatedDelta(mixer) }
    FeedForward { 0 = Dense(mlp), 1 = Experts(experts) }
    NormKind { 0 = Rms { one_plus }, 1 = Layer }
    AttentionSpan { 0 = Full, 1 = Window(width), 2 = Chunked(width) }
    QkNorm { 0 = PerHead { q, k, after_rope }, 1 = FullWidth { q, k } }
    Pairing { 0 = Halves, 1 = Adjacent }
    Scaling {
        0 = None,
        1 = Linear { factor },
        2 = Dynamic { factor, original },
        3 = Llama3 { factor, low, high, original },
        4 = Yarn { factor, beta_fast, beta_slow, original, truncate, attention_factor },
        5 = LongRope { short, long, original, attention_factor },
    }
    Activation { 0 = Silu, 1 = Gelu, 2 = GeluTanh, 3 = SwigluClamped { alpha, limit } }
    ExpertTensors { 0 = Apart, 1 = Stacked, 2 = StackedTransposed }
    RouterScore { 0 = Softmax, 1 = SoftmaxChosen, 2 = Sigmoid }
}
