//! GGUF, the file format of llama.cpp, versions 2 and 3: metadata, then tensors under llama.cpp's names and in its row orders.
//!
//! Source: `docs/gguf.md` of ggml-org/ggml for the format; for names, orders and changed values the converter of llama.cpp
//! (`convert_hf_to_gguf.py`), whose every step is undone in [`names`].

#[cfg(feature = "checkpoint")]
mod header;
mod names;

#[cfg(feature = "checkpoint")]
pub(super) use header::{MAGIC, parse};
pub(super) use names::GgufNames;
