//! Keys that may be passed over: those that never change what a decoder computes, and those that do not as long as they
//! have one value. Everything else that no reader asked for is refused.

use serde_json::Value;

/// What is to be done about a key that no reader asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Passed over: the computation is the same.
    Inert,
    /// Known, and its value asks for what is not implemented; what would be.
    Unsupported(&'static str),
    /// Says that the checkpoint's tensors are stored in another form.
    Quantized,
    /// Not known.
    Unknown,
}

/// A value with which a key changes nothing. Null never does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Only {
    /// `false`
    False,
    /// `true`
    True,
    /// `0` or `0.0`
    Zero,
    /// `1` or `1.0`
    One,
    /// A list or object without entries.
    Empty,
    /// `null`
    Null,
    /// `"silu"` or `"swish"`, two names of one function.
    Silu,
    /// `"absolute"`: what the generic configuration class says of models that have rotary embeddings all the same.
    Absolute,
}

impl Only {
    fn holds(self, value: &Value) -> bool {
        value.is_null()
            || match self {
                Only::False => value == &Value::Bool(false),
                Only::True => value == &Value::Bool(true),
                Only::Zero => value.as_f64() == Some(0.0),
                Only::One => value.as_f64() == Some(1.0),
                Only::Empty => {
                    value.as_array().is_some_and(Vec::is_empty)
                        || value.as_object().is_some_and(serde_json::Map::is_empty)
                }
                Only::Null => false,
                Only::Silu => matches!(value.as_str(), Some("silu" | "swish")),
                Only::Absolute => value.as_str() == Some("absolute"),
            }
    }

    fn words(self) -> &'static str {
        match self {
            Only::False => "false",
            Only::True => "true",
            Only::Zero => "0",
            Only::One => "1",
            Only::Empty => "an empty one",
            Only::Null => "null",
            Only::Silu => "\"silu\"",
            Only::Absolute => "\"absolute\"",
        }
    }
}

/// Decides on a key that no reader asked for, by the shared lists and those of the family.
pub(super) fn verdict(family: &[(&str, Only)], key: &str, value: &Value) -> Verdict {
    match family.iter().chain(CONDITIONAL).find(|&&(name, _)| name == key) {
        Some(&(_, only)) if only.holds(value) => Verdict::Inert,
        Some(&(_, only)) => Verdict::Unsupported(only.words()),
        None if QUANTIZED.contains(&key) => {
            if value.is_null() {
                Verdict::Inert
            } else {
                Verdict::Quantized
            }
        }
        None if NEVER.contains(&key)
            || SUFFIXES.iter().any(|suffix| key.ends_with(suffix))
            || key.starts_with("mtp_") =>
        {
            Verdict::Inert
        }
        None => Verdict::Unknown,
    }
}

/// Keys that describe a quantized checkpoint.
const QUANTIZED: &[&str] = &["compression_config", "quantization_config"];

/// Ends of keys that name tokens: which token means what is the tokenizer's and the sampler's business. `mtp_` begins what
/// describes extra layers for drafting, whose tensors the decoder does not read.
const SUFFIXES: &[&str] = &["_token_id", "_token_ids", "_token_index"];

/// Keys of every family that change nothing with one value.
const CONDITIONAL: &[(&str, Only)] = &[
    ("add_cross_attention", Only::False),
    ("chunk_size_feed_forward", Only::Zero),
    ("embedding_multiplier", Only::One),
    ("is_causal", Only::True),
    ("is_encoder_decoder", Only::False),
    ("num_experts", Only::Zero),
    ("num_local_experts", Only::Zero),
    ("partial_rotary_factor", Only::One),
    ("position_embedding_type", Only::Absolute),
    // Slices of the products, one of which is the product itself.
    ("pretraining_tp", Only::One),
    ("pruned_heads", Only::Empty),
    ("rope_interleaved", Only::False),
    ("tie_encoder_decoder", Only::False),
    ("use_bidirectional_attention", Only::False),
];

/// Keys that never change what a decoder computes.
const NEVER: &[&str] = &[
    // Where the file came from and what wrote it.
    "_attn_implementation_autoset",
    "_commit_hash",
    "_name_or_path",
    "architectures",
    "auto_map",
    "is_llama_config",
    "model_name",
    "name_or_path",
    "transformers_version",
    "unsloth_fixed",
    "unsloth_version",
    // How a program that runs it is to go about it; the result is the same.
    "_attn_implementation",
    "attn_implementation",
    "gradient_checkpointing",
    "output_attentions",
    "output_hidden_states",
    "output_router_logits",
    "ep_size",
    "return_dict",
    "torchscript",
    "use_bfloat16",
    "use_cache",
    "cache_implementation",
    // Training.
    "attention_dropout",
    "attn_pdrop",
    "embd_pdrop",
    "hidden_dropout",
    "initializer_range",
    "neftune_noise_alpha",
    "resid_pdrop",
    "rescale_prenorm_residual",
    "embedding_dropout",
    "residual_dropout",
    "aux_loss_alpha",
    "router_aux_loss_coef",
    "router_jitter_noise",
    "seq_aux",
    // Extra layers for drafting, which lie behind the decoder's own.
    "num_mtp_layers",
    "num_nextn_predict_layers",
    // Heads for other tasks.
    "classifier_dropout",
    "finetuning_task",
    "id2label",
    "label2id",
    "num_labels",
    "problem_type",
    "task_specific_params",
    // The tokenizer.
    "model_max_length",
    "prefix",
    "tokenizer_class",
    // Sampling, which older files keep here.
    "bad_words_ids",
    "begin_suppress_tokens",
    "diversity_penalty",
    "do_sample",
    "early_stopping",
    "encoder_no_repeat_ngram_size",
    "exponential_decay_length_penalty",
    "length_penalty",
    "max_length",
    "max_new_tokens",
    "min_length",
    "no_repeat_ngram_size",
    "num_beam_groups",
    "num_beams",
    "num_return_sequences",
    "output_scores",
    "remove_invalid_values",
    "repetition_penalty",
    "return_dict_in_generate",
    "suppress_tokens",
    "temperature",
    "tf_legacy_loss",
    "top_k",
    "top_p",
    "typical_p",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conditional_key_is_inert_with_its_value_or_null_only() {
        let one = serde_json::json!(1);
        assert_eq!(verdict(&[], "pretraining_tp", &one), Verdict::Inert);
        assert_eq!(verdict(&[], "pretraining_tp", &Value::Null), Verdict::Inert);
        assert_eq!(verdict(&[], "pretraining_tp", &serde_json::json!(2)), Verdict::Unsupported("1"));
        assert_eq!(verdict(&[], "pretraining_tp", &serde_json::json!("1")), Verdict::Unsupported("1"));
    }

    #[test]
    fn a_familys_own_row_goes_before_the_shared_one() {
        let family = [("is_causal", Only::Null)];
        assert_eq!(verdict(&family, "is_causal", &Value::Bool(true)), Verdict::Unsupported("null"));
        assert_eq!(verdict(&[], "is_causal", &Value::Bool(true)), Verdict::Inert);
    }

    #[test]
    fn no_key_is_in_two_lists() {
        for (key, _) in CONDITIONAL {
            assert!(!NEVER.contains(key), "{key}");
        }
    }
}
