//! The sizes every decoder's config gives, with the defaults of the family's class.

use crate::Code;
use crate::spec::Dtype;

use super::keys::{Absent, Keys};

/// Most layers of a model: what follows keeps a row a layer, and ten times the deepest model known is ample.
pub(super) const MAX_DEPTH: u32 = 65_536;

/// What a family's class gives where keys are absent (transformers 5.24).
#[derive(Clone, Copy, Debug)]
pub(super) struct Defaults {
    /// `num_key_value_heads`
    pub(super) kv_heads: KvHeads,
    /// `head_dim`
    pub(super) head_dim: HeadDim,
    /// `max_position_embeddings`
    pub(super) positions: u32,
}

/// Key and value heads where `num_key_value_heads` is absent or null.
#[derive(Clone, Copy, Debug)]
pub(super) enum KvHeads {
    /// As many as query heads, both ways.
    AsHeads,
    /// This many where absent, as many as query heads where null.
    NullAsHeads(u32),
    /// This many where absent; null is an error.
    NotNull(u32),
}

/// Columns of a head where `head_dim` is absent or null.
#[derive(Clone, Copy, Debug)]
pub(super) enum HeadDim {
    /// `hidden_size / num_attention_heads`, both ways.
    Divided,
    /// This many where absent; null is an error.
    NotNull(u32),
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
    /// The widths, depth, heads and vocabulary must be there: the classes have values for them too, but those are some
    /// other model's, and every writer writes them.
    pub(super) fn read(keys: &Keys<'_>, defaults: &Defaults) -> Read {
        let hidden = keys.size("hidden_size", Absent::Refused);
        let vocab = keys.size("vocab_size", Absent::Refused);
        let depth = keys.count("num_hidden_layers", Absent::Refused, 1..=MAX_DEPTH);
        let heads = keys.size("num_attention_heads", Absent::Refused);
        let width = keys.size("intermediate_size", Absent::Refused);
        let positions = keys.size("max_position_embeddings", Absent::Gives(defaults.positions));
        let eps = keys.positive("rms_norm_eps", Absent::Gives(1e-6));
        keys.word("hidden_act", Absent::Gives(()), &[("silu", ()), ("swish", ())]);
        let kv_heads = kv_heads(keys, defaults.kv_heads, heads);
        let head_dim = head_dim(keys, defaults.head_dim, hidden, heads);
        let head = head_dim.zip(positions);
        let sizes = (|| {
            let attention = AttentionSizes::new(keys, heads?, kv_heads?, head_dim?);
            Some(Sizes {
                hidden: hidden?,
                vocab: vocab?,
                depth: depth?,
                attention: attention?,
                width: width?,
                eps: eps?,
            })
        })();
        Read { sizes, depth, head }
    }
}

impl AttentionSizes {
    fn new(keys: &Keys<'_>, heads: u32, kv_heads: u32, head_dim: u32) -> Option<Self> {
        if !heads.is_multiple_of(kv_heads) {
            keys.refuse_key(
                Code::ConfigConflict,
                "num_key_value_heads",
                format_args!("is {kv_heads}, expected a divisor of `num_attention_heads`, {heads}"),
            );
            return None;
        }
        let q_width = keys.product("num_attention_heads", "query columns", &[heads, head_dim]);
        let kv_width = keys.product("num_key_value_heads", "key columns", &[kv_heads, head_dim]);
        Some(AttentionSizes { heads, kv_heads, head_dim, q_width: q_width?, kv_width: kv_width? })
    }

    /// Factor on attention scores: `head_dim^-0.5`.
    pub(super) fn score_scale(&self) -> f32 {
        f64::from(self.head_dim).sqrt().recip() as f32
    }
}

fn kv_heads(keys: &Keys<'_>, rule: KvHeads, heads: Option<u32>) -> Option<u32> {
    const KEY: &str = "num_key_value_heads";
    match rule {
        // Without heads there is a refusal already; 1 stands in so that a wrong value here is refused as well.
        KvHeads::AsHeads => keys.size(KEY, Absent::OrNullGives(heads.unwrap_or(1))),
        KvHeads::NullAsHeads(_) if keys.raw(KEY).is_some_and(serde_json::Value::is_null) => heads,
        KvHeads::NullAsHeads(default) | KvHeads::NotNull(default) => keys.size(KEY, Absent::Gives(default)),
    }
}

fn head_dim(keys: &Keys<'_>, rule: HeadDim, hidden: Option<u32>, heads: Option<u32>) -> Option<u32> {
    const KEY: &str = "head_dim";
    match rule {
        HeadDim::NotNull(default) => keys.size(KEY, Absent::Gives(default)),
        HeadDim::Divided if keys.has(KEY) => keys.size(KEY, Absent::Refused),
        HeadDim::Divided => {
            let (hidden, heads) = (hidden?, heads?);
            if hidden % heads != 0 {
                keys.refuse(
                    keys.refusal(
                        Code::ConfigConflict,
                        "num_attention_heads",
                        format_args!(
                            "is {heads}, expected a divisor of `hidden_size`, {hidden}, as `head_dim` is not given"
                        ),
                    )
                    .help("give `head_dim` if a head has another width"),
                );
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
