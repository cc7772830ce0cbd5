//! The sizes every decoder's config gives, with the defaults of the family's class.

use crate::Code;
use crate::spec::{Activation, Dtype};

use super::keys::{Absent, Keys};

/// Most layers of a model: what follows keeps a row a layer, and ten times the deepest model known is ample.
pub(super) const MAX_DEPTH: u32 = 65_536;

/// What a family's class gives where keys are absent (transformers 5.24), and the keys it reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Defaults {
    /// `vocab_size`
    pub(super) vocab: Absent<u32>,
    /// `num_attention_heads`
    pub(super) heads: Absent<u32>,
    /// `num_key_value_heads`
    pub(super) kv_heads: KvHeads,
    /// What the family calls that key.
    pub(super) kv_key: &'static str,
    /// `head_dim`
    pub(super) head_dim: HeadDim,
    /// The feed-forward width.
    pub(super) width: Width,
    /// `max_position_embeddings`
    pub(super) positions: u32,
    /// Key and value of what norms add under the root.
    pub(super) eps: (&'static str, f32),
    /// The activation.
    pub(super) activation: ActivationKey,
}

impl Defaults {
    /// Of Llama, from which most others take all but a few.
    pub(super) const LLAMA: Defaults = Defaults {
        vocab: Absent::Refused,
        heads: Absent::Refused,
        kv_heads: KvHeads::AsHeads,
        kv_key: "num_key_value_heads",
        head_dim: HeadDim::Divided,
        width: Width::Key("intermediate_size"),
        positions: 2048,
        eps: ("rms_norm_eps", 1e-6),
        activation: SILU,
    };
}

/// Where the feed-forward width stands.
#[derive(Clone, Copy, Debug)]
pub(super) enum Width {
    /// Under this key, which must be there.
    Key(&'static str),
    /// Under this key; four times the hidden width where absent or null.
    OrFourTimesHidden(&'static str),
}

/// The key of a family's activation, what it is where the key is absent, and the words for those that are implemented.
#[derive(Clone, Copy, Debug)]
pub(super) struct ActivationKey {
    pub(super) key: &'static str,
    pub(super) absent: Activation,
    pub(super) known: &'static [(&'static str, Activation)],
}

/// SiLU and nothing else.
pub(super) const SILU: ActivationKey = ActivationKey {
    key: "hidden_act",
    absent: Activation::Silu,
    known: &[("silu", Activation::Silu), ("swish", Activation::Silu)],
};

/// The words for both forms of GELU.
pub(super) const GELUS: &[(&str, Activation)] = &[
    ("gelu", Activation::Gelu),
    ("gelu_new", Activation::GeluTanh),
    ("gelu_fast", Activation::GeluTanh),
    ("gelu_pytorch_tanh", Activation::GeluTanh),
];

/// Key and value heads where `num_key_value_heads` is absent or null.
#[derive(Clone, Copy, Debug)]
pub(super) enum KvHeads {
    /// As many as query heads, both ways.
    AsHeads,
    /// This many where absent, as many as query heads where null.
    NullAsHeads(u32),
    /// This many where absent; null is an error.
    NotNull(u32),
    /// As many as query heads, and no key says otherwise.
    Every,
    /// One, whatever the key says.
    One,
}

/// Columns of a head where `head_dim` is absent or null.
#[derive(Clone, Copy, Debug)]
pub(super) enum HeadDim {
    /// `hidden_size / num_attention_heads`, both ways.
    Divided,
    /// That, and no key says otherwise.
    AlwaysDivided,
    /// This many where absent; null is an error.
    NotNull(u32),
    /// As read by the family from keys of its own; nothing after a refusal.
    Read(Option<u32>),
}

/// Sizes of a decoder with grouped attention and one feed-forward width.
#[derive(Clone, Debug)]
pub(super) struct Sizes {
    pub(super) hidden: u32,
    pub(super) vocab: u32,
    pub(super) depth: u32,
    pub(super) attention: AttentionSizes,
    /// Feed-forward width.
    pub(super) width: u32,
    pub(super) eps: f32,
    /// Activation of the feed-forward.
    pub(super) activation: Activation,
}

/// Sizes of grouped attention.
#[derive(Clone, Copy, Debug)]
pub(super) struct AttentionSizes {
    pub(super) heads: u32,
    pub(super) kv_heads: u32,
    pub(super) head_dim: u32,
    /// `heads * head_dim`
    pub(super) q_width: u32,
    /// `kv_heads * head_dim`
    pub(super) kv_width: u32,
}

/// What was read of the sizes. Parts stand by themselves so that one wrong size does not keep the keys that depend on
/// another from being checked.
pub(super) struct Read {
    /// All of them; `None` after a refusal.
    pub(super) sizes: Option<Sizes>,
    pub(super) depth: Option<u32>,
    /// Columns of a head, and `max_position_embeddings`.
    pub(super) head: Option<(u32, u32)>,
}

impl Sizes {
    /// Reads them all, so that all refusals are made.
    ///
    /// Unless the family says otherwise the widths, depth, heads and vocabulary must be there: the classes have values for them too, but those are some
    /// other model's, and every writer writes them.
    pub(super) fn read(keys: &Keys<'_>, defaults: &Defaults) -> Read {
        let hidden = keys.size("hidden_size", Absent::Refused);
        let vocab = keys.size("vocab_size", defaults.vocab);
        let depth = keys.count("num_hidden_layers", Absent::Refused, 1..=MAX_DEPTH);
        let heads = keys.size("num_attention_heads", defaults.heads);
        let width = width(keys, defaults.width, hidden);
        let positions = keys.size("max_position_embeddings", Absent::Gives(defaults.positions));
        let eps = keys.positive(defaults.eps.0, Absent::Gives(defaults.eps.1));
        let ActivationKey { key, absent, known } = defaults.activation;
        let activation = keys.word(key, Absent::Gives(absent), known);
        let kv_heads = kv_heads(keys, defaults, heads);
        let head_dim = head_dim(keys, defaults.head_dim, hidden, heads);
        let head = head_dim.zip(positions);
        let sizes = (|| {
            let attention = AttentionSizes::new(keys, defaults.kv_key, heads?, kv_heads?, head_dim?);
            Some(Sizes {
                hidden: hidden?,
                vocab: vocab?,
                depth: depth?,
                attention: attention?,
                width: width?,
                eps: eps?,
                activation: activation?,
            })
        })();
        Read { sizes, depth, head }
    }
}

impl Sizes {
    /// Rows of one projection to gate and up features. `None` after a refusal.
    pub(super) fn gate_and_up(&self, keys: &Keys<'_>) -> Option<u32> {
        keys.product("intermediate_size", "gate and up rows", &[2, self.width])
    }
}

impl AttentionSizes {
    fn new(keys: &Keys<'_>, kv_key: &str, heads: u32, kv_heads: u32, head_dim: u32) -> Option<Self> {
        if !heads.is_multiple_of(kv_heads) {
            keys.refuse_key(
                Code::ConfigConflict,
                kv_key,
                format_args!("is {kv_heads}, expected a divisor of `num_attention_heads`, {heads}"),
            );
            return None;
        }
        let q_width = keys.product("num_attention_heads", "query columns", &[heads, head_dim]);
        let kv_width = keys.product(kv_key, "key columns", &[kv_heads, head_dim]);
        Some(AttentionSizes { heads, kv_heads, head_dim, q_width: q_width?, kv_width: kv_width? })
    }

    /// Rows of one projection to all queries, keys and values. `None` after a refusal.
    pub(super) fn qkv(&self, keys: &Keys<'_>) -> Option<u32> {
        let parts = [self.q_width, self.kv_width, self.kv_width];
        keys.sum("num_attention_heads", "query, key and value rows", &parts)
    }

    /// Factor on attention scores: `head_dim^-0.5`.
    pub(super) fn score_scale(&self) -> f32 {
        f64::from(self.head_dim).sqrt().recip() as f32
    }
}

fn width(keys: &Keys<'_>, rule: Width, hidden: Option<u32>) -> Option<u32> {
    match rule {
        Width::Key(key) => keys.size(key, Absent::Refused),
        Width::OrFourTimesHidden(key) if keys.has(key) => keys.size(key, Absent::Refused),
        Width::OrFourTimesHidden(key) => keys.product(key, "feed-forward columns", &[4, hidden?]),
    }
}

fn kv_heads(keys: &Keys<'_>, defaults: &Defaults, heads: Option<u32>) -> Option<u32> {
    let key = defaults.kv_key;
    match defaults.kv_heads {
        // Without heads there is a refusal already; 1 stands in so that a wrong value here is refused as well.
        KvHeads::AsHeads => keys.size(key, Absent::OrNullGives(heads.unwrap_or(1))),
        KvHeads::Every => heads,
        KvHeads::One => {
            keys.raw(key);
            Some(1)
        }
        KvHeads::NullAsHeads(_) if keys.raw(key).is_some_and(serde_json::Value::is_null) => heads,
        KvHeads::NullAsHeads(default) | KvHeads::NotNull(default) => keys.size(key, Absent::Gives(default)),
    }
}

fn head_dim(keys: &Keys<'_>, rule: HeadDim, hidden: Option<u32>, heads: Option<u32>) -> Option<u32> {
    const KEY: &str = "head_dim";
    match rule {
        HeadDim::Read(read) => read,
        HeadDim::NotNull(default) => keys.size(KEY, Absent::Gives(default)),
        HeadDim::Divided if keys.has(KEY) => keys.size(KEY, Absent::Refused),
        HeadDim::Divided | HeadDim::AlwaysDivided => {
            let (hidden, heads) = (hidden?, heads?);
            if hidden % heads != 0 {
                let what = format!("is {heads}, expected a divisor of `hidden_size`, {hidden}");
                keys.refuse(match rule {
                    HeadDim::AlwaysDivided => keys.refusal(Code::ConfigConflict, "num_attention_heads", what),
                    HeadDim::Divided | HeadDim::NotNull(_) | HeadDim::Read(_) => keys
                        .refusal(
                            Code::ConfigConflict,
                            "num_attention_heads",
                            format_args!("{what}, as `head_dim` is not given"),
                        )
                        .help("give `head_dim` if a head has another width"),
                });
                return None;
            }
            Some(hidden / heads)
        }
    }
}

/// Element types, as configs write them.
pub(super) const DTYPES: &[(&str, Dtype)] =
    &[("float32", Dtype::F32), ("float16", Dtype::F16), ("bfloat16", Dtype::Bf16)];

/// The checkpoint's dtype from `dtype` or, as it was called, `torch_dtype`; `outer` is the object around a nested text config.
///
/// Required: without it the reference takes that of the checkpoint's tensors, which cannot be known from the config.
pub(super) fn dtype(keys: &Keys<'_>, outer: Option<&Keys<'_>>) -> Option<Dtype> {
    let mut found: Option<(String, Dtype)> = None;
    let mut wrong = false;
    for from in [Some(keys), outer].into_iter().flatten() {
        for key in ["dtype", "torch_dtype"] {
            if !from.has(key) {
                continue;
            }
            let Some(dtype) = from.word(key, Absent::Refused, DTYPES) else {
                wrong = true;
                continue;
            };
            match &found {
                Some((path, other)) if *other != dtype => {
                    from.refuse_key(Code::ConfigConflict, key, format_args!("and `{path}` differ, expected one dtype"));
                    wrong = true;
                }
                Some(_) => {}
                None => found = Some((from.path(key), dtype)),
            }
        }
    }
    if found.is_none() && !wrong {
        keys.refuse(
            keys.refusal(
                Code::ConfigMissing,
                "torch_dtype",
                format_args!(
                    "is missing, expected one of {}",
                    super::keys::listed(DTYPES.iter().map(|&(word, _)| word))
                ),
            )
            .help("write the dtype of the checkpoint's tensors, `\"torch_dtype\": \"bfloat16\"` for most"),
        );
    }
    found.filter(|_| !wrong).map(|(_, dtype)| dtype)
}
