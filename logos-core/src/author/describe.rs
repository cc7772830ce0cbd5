//! What a layer is, in a few words.

use crate::spec::{AttentionSpan, FeedForward, LayerSpec, Mixer};

/// `attention, window 512`, `gated deltanet, experts`: the mixer, what it sees where that is not all, and whether the
/// feed-forward block is a mixture.
pub fn describe(layer: &LayerSpec) -> String {
    let mut text = match &layer.mixer {
        Mixer::Attention(attention) => match attention.span {
            AttentionSpan::Full => "attention".to_owned(),
            AttentionSpan::Window(width) => format!("attention, window {width}"),
            AttentionSpan::Chunked(positions) => format!("attention, chunks of {positions}"),
        },
        Mixer::Latent(_) => "latent attention".to_owned(),
        Mixer::GatedDelta(_) => "gated deltanet".to_owned(),
    };
    match &layer.feed_forward {
        FeedForward::Dense(_) => {}
        FeedForward::Experts(_) => text.push_str(", experts"),
    }
    text
}
