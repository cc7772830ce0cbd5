//! Hugging Face `config.json` to [`crate::spec::ModelSpec`], one file a family.
