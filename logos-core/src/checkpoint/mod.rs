//! Checkpoints: what their headers say, whether that is the model's, and the values of their tensors.
//!
//! In: files of the safetensors and GGUF formats, mapped into memory, or a description of them. Out: an ordered list of tensors ([`Headers`]), held to a
//! [`ModelSpec`](crate::spec::ModelSpec) by [`compare`], and their values as f32, read where they are used ([`TensorRead`]). Does not know
//! about programs, chips and slices, but for [`load`], which reads a chip's part of a checkpoint by its bundle.
//!
//! What a file says is never believed: a header is held to the file's length and to itself before anything is read by it, and no
//! allocation is larger than a small multiple of the header. Files are opened under the feature `checkpoint` alone.

mod adopt;
mod alike;
#[cfg_attr(not(feature = "checkpoint"), allow(dead_code, reason = "used where values are read"))]
mod arrange;
mod compare;
#[cfg(feature = "checkpoint")]
mod decode;
mod description;
mod fault;
mod gguf;
mod headers;
#[cfg(feature = "checkpoint")]
mod index;
#[cfg(feature = "checkpoint")]
mod layout;
#[cfg(feature = "checkpoint")]
pub mod load;
#[cfg(feature = "checkpoint")]
mod open;
mod read;
mod resolve;
#[cfg(feature = "checkpoint")]
mod safetensors;
mod storage;
#[cfg(feature = "checkpoint")]
mod view;
#[cfg(feature = "checkpoint")]
mod weights;

pub use adopt::{Adopted, adopt};
pub use alike::hold_to_description;
pub use compare::{Unused, compare};
pub use headers::{FileId, Headers, StoredTensor, TensorId};
#[cfg(feature = "checkpoint")]
pub use open::Checkpoint;
pub use read::TensorRead;
pub use storage::Storage;
#[cfg(feature = "checkpoint")]
pub use view::TensorView;
#[cfg(feature = "checkpoint")]
pub use weights::ModelWeights;

#[cfg(test)]
#[cfg(feature = "checkpoint")]
mod tests;
