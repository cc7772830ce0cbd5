//! SmolLM3 (`SmolLM3ForCausalLM`): Llama whose every fourth layer has no rotary embedding, and may have a window.

use crate::Code;
use crate::spec::{Attention, AttentionSpan, Mixer, ModelSpec};

use super::block::{Biases, Decoder, HeadNorms, Whole};
use super::inert::verdict;
use super::keys::{Absent, Keys};
use super::layers::Reach;
use super::names::{MODEL, NormForm};
use super::sizes::{Defaults, KvHeads, Sizes, dtype};
use super::{layers, rope};

const STYLE: rope::Style = rope::Style { theta: ("rope_theta", 2e6), ..rope::Style::LLAMA };

pub(super) fn read(keys: &Keys<'_>) -> Option<ModelSpec> {
    let defaults = Defaults { kv_heads: KvHeads::NullAsHeads(4), positions: 32_768, ..Defaults::LLAMA };
    let read = Sizes::read(keys, &defaults);
    let rope = rope::read(keys, read.head, &STYLE);
    let rotates = layers::rotating(keys, read.depth, layers::Unsaid::Null);
    let spans = spans(keys, read.depth, rotates.as_deref());
    let attention_bias = keys.flag("attention_bias", Absent::Gives(false));
    let mlp_bias = keys.flag("mlp_bias", Absent::Gives(false));
    let tied = keys.flag("tie_word_embeddings", Absent::Gives(true));
    let dtype = dtype(keys, None);
    // How many layers Qwen2's rule would leave without a window; nothing reads it here.
    keys.raw("max_window_layers");
    keys.finish(|key, value| verdict(&[], key, value));

    let (sizes, rope, attention_bias, mlp_bias) = (read.sizes?, rope?, attention_bias?, mlp_bias?);
    let decoder = Decoder {
        names: MODEL,
        sizes: &sizes,
        rope: rope.rope,
        biases: Biases { qkv: attention_bias, o: attention_bias, mlp: mlp_bias },
        norm: NormForm::rms(sizes.eps),
        head_norms: HeadNorms::None,
    };
    let (layers, layer_of) = layers::distinct(rotates?.into_iter().zip(spans?), |&(rotates, span)| {
        let attention = decoder.attention(span);
        let rope = attention.rope.filter(|_| rotates);
        decoder.layer(Mixer::Attention(Attention { rope, ..attention }))
    });
    Some(decoder.model("smollm3", Whole::new(dtype?, rope.reach, tied?), layers, layer_of))
}

/// What each layer sees: the window, if there is one and it is used, for the layers that `layer_types` names or else for
/// those without rotary embedding. `None` after a refusal.
fn spans(keys: &Keys<'_>, depth: Option<u32>, rotates: Option<&[bool]>) -> Option<Vec<AttentionSpan>> {
    let used = keys.flag("use_sliding_window", Absent::Gives(false));
    let window = keys.size_or_none("sliding_window", None);
    let types = layers::types(keys, depth, layers::REACHES);
    let (used, window, types, rotates) = (used?, window?, types?, rotates?);
    match (types, window.filter(|_| used)) {
        (Some(types), None) if types.contains(&Reach::Sliding) => {
            let what = "has \"sliding_attention\", but there is no window: expected `use_sliding_window` true and a \
                        `sliding_window`";
            keys.refuse_key(Code::ConfigConflict, "layer_types", what);
            None
        }
        (_, None) => Some(vec![AttentionSpan::Full; rotates.len()]),
        (types, Some(width)) => {
            let without_rope = |layer: u32| rotates.get(layer as usize) == Some(&false);
            Some(layers::spans(types, AttentionSpan::Window(width), depth?, without_rope))
        }
    }
}
