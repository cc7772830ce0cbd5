//! The text model of a model that also sees: its config is the object `text_config`.

use crate::Code;

use super::inert::{Only, Verdict, verdict};
use super::keys::{Absent, Keys, shown};

/// A text model's own keys, and whether its head is its embedding.
pub(super) struct Text<'a> {
    pub(super) keys: Keys<'a>,
    /// `None` after a refusal.
    pub(super) tied: Option<bool>,
}

/// The text model of a config, whose own keys are passed over as far as they are the vision model's. `text_type` is the
/// `model_type` that the text model may have, `tied` the class default of `tie_word_embeddings`. `None` after a refusal.
pub(super) fn text<'a>(keys: &Keys<'a>, text_type: &str, tied: bool, inert: &[(&str, Only)]) -> Option<Text<'a>> {
    let text = keys.object("text_config");
    let outer = keys.flag("tie_word_embeddings", Absent::Gives(tied));
    keys.raw("dtype");
    keys.raw("torch_dtype");
    keys.finish(|key, value| match key {
        // Other models', which the text model never sees, and how many of its tokens an image is.
        "audio_config" | "mm_tokens_per_image" | "vision_config" => Verdict::Inert,
        _ => verdict(inert, key, value),
    });
    let text = text?;
    match text.raw("model_type") {
        Some(found) if found != text_type => {
            let what = format!("is {}, expected \"{text_type}\"", shown(found));
            text.refuse_key(Code::ConfigFamily, "model_type", what);
            return None;
        }
        Some(_) | None => {}
    }
    // The vision model ties by its own key; the text model's may repeat it.
    let inner = outer.and_then(|outer| text.flag("tie_word_embeddings", Absent::Gives(outer)));
    if let (Some(outer), Some(inner)) = (outer, inner)
        && outer != inner
    {
        let path = text.path("tie_word_embeddings");
        keys.refuse_key(
            Code::ConfigConflict,
            "tie_word_embeddings",
            format_args!("is {outer} but `{path}` is {inner}, expected one value"),
        );
    }
    Some(Text { keys: text, tied: outer })
}
