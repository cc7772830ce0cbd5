//! Which layer is of which sort: `layer_types`, windows, and the distinct layers they make.

use crate::Code;
use crate::spec::{AttentionSpan, LayerSpec};

use super::keys::{Absent, Keys};

/// The entries of `layer_types`, one a layer, by the family's words; nothing where the key is absent or null. `None` after
/// a refusal.
pub(super) fn types<T: Copy>(keys: &Keys<'_>, depth: Option<u32>, known: &[(&str, T)]) -> Option<Option<Vec<T>>> {
    const KEY: &str = "layer_types";
    let Some(words) = keys.texts(KEY)? else { return Some(None) };
    let depth = depth?;
    if words.len() != depth as usize {
        keys.refuse_key(
            Code::ConfigConflict,
            KEY,
            format_args!("has length {}, expected `num_hidden_layers`, {depth}", words.len()),
        );
        return None;
    }
    let mut types = Vec::with_capacity(words.len());
    for (layer, word) in words.iter().enumerate() {
        let Some(&(_, meaning)) = known.iter().find(|(name, _)| name == word) else {
            let expected = super::keys::listed(known.iter().map(|&(name, _)| name));
            keys.refuse_key(
                Code::ConfigUnsupported,
                KEY,
                format_args!("has {word:?} at layer {layer}, expected one of {expected}"),
            );
            return None;
        };
        types.push(meaning);
    }
    Some(Some(types))
}

/// Whether a layer attends within the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    Full,
    Sliding,
}

/// The words of `layer_types` where layers have a window or not.
pub(super) const REACHES: &[(&str, Reach)] = &[("full_attention", Reach::Full), ("sliding_attention", Reach::Sliding)];

/// Spans of attention where some layers have the window: by `layer_types`, or else those that `sliding` tells.
pub(super) fn spans(
    types: Option<Vec<Reach>>,
    window: AttentionSpan,
    depth: u32,
    sliding: impl Fn(u32) -> bool,
) -> Vec<AttentionSpan> {
    let types = types
        .unwrap_or_else(|| (0..depth).map(|layer| if sliding(layer) { Reach::Sliding } else { Reach::Full }).collect());
    let span = |reach| match reach {
        Reach::Full => AttentionSpan::Full,
        Reach::Sliding => window,
    };
    types.into_iter().map(span).collect()
}

/// Spans of attention by Qwen2's rule: `sliding_window` counts only if `use_sliding_window`; then it is for the layers that
/// `layer_types` names or else for those from `max_window_layers` on. `None` after a refusal.
pub(super) fn qwen_spans(keys: &Keys<'_>, depth: Option<u32>) -> Option<Vec<AttentionSpan>> {
    let used = keys.flag("use_sliding_window", Absent::Gives(false));
    let window = keys.size_or_none("sliding_window", Some(4096));
    let first = keys.count("max_window_layers", Absent::Gives(28), 0..=u32::MAX);
    let types = types(keys, depth, REACHES);
    let (used, window, first, types) = (used?, window?, first?, types?);
    let depth = depth?;
    let window = window.filter(|_| used);
    let sliding = |layer: u32| match &types {
        Some(types) => types.get(layer as usize) == Some(&Reach::Sliding),
        None => window.is_some() && layer >= first,
    };
    let mut spans = Vec::with_capacity(depth as usize);
    for layer in 0..depth {
        spans.push(match (sliding(layer), window) {
            (false, _) => AttentionSpan::Full,
            (true, Some(width)) => AttentionSpan::Window(width),
            (true, None) => {
                keys.refuse_key(
                    Code::ConfigConflict,
                    "layer_types",
                    format_args!(
                        "has \"sliding_attention\" at layer {layer}, but there is no window: expected `use_sliding_window` true \
                         and a `sliding_window`"
                    ),
                );
                return None;
            }
        });
    }
    Some(spans)
}

/// What of `no_rope_layers` means that it says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unsaid {
    /// Null.
    Null,
    /// Null, or a list without entries.
    NullOrEmpty,
}

/// Which layers have a rotary embedding: against its name `no_rope_layers` has a 1 for those that do; without it every
/// `no_rope_layer_interval`-th has none. `None` after a refusal.
pub(super) fn rotating(keys: &Keys<'_>, depth: Option<u32>, unsaid: Unsaid) -> Option<Vec<bool>> {
    const KEY: &str = "no_rope_layers";
    let interval = keys.size("no_rope_layer_interval", Absent::Gives(4));
    let listed = keys.counts(KEY, 0..=1);
    let (interval, listed, depth) = (interval?, listed?, depth?);
    let Some(listed) = listed.filter(|list| unsaid == Unsaid::Null || !list.is_empty()) else {
        return Some((1..=depth).map(|nth| !nth.is_multiple_of(interval)).collect());
    };
    if listed.len() < depth as usize {
        keys.refuse_key(
            Code::ConfigConflict,
            KEY,
            format_args!("has length {}, expected at least `num_hidden_layers`, {depth}", listed.len()),
        );
        return None;
    }
    Some(listed.into_iter().take(depth as usize).map(|has| has == 1).collect())
}

/// The distinct layers in order of first use, and each layer's row among them: a layer is built once a sort.
pub(super) fn distinct<S: PartialEq>(
    sorts: impl IntoIterator<Item = S>,
    build: impl Fn(&S) -> LayerSpec,
) -> (Vec<LayerSpec>, Vec<u32>) {
    let mut seen: Vec<S> = Vec::new();
    let mut layers = Vec::new();
    let layer_of = sorts
        .into_iter()
        .map(|sort| {
            let row = seen.iter().position(|known| *known == sort).unwrap_or_else(|| {
                layers.push(build(&sort));
                seen.push(sort);
                seen.len() - 1
            });
            row as u32
        })
        .collect();
    (layers, layer_of)
}
