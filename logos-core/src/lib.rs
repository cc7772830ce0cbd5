//! The LOGOS compiler: a language model's `config.json` and a deployment in, lowered and certified spatial programs
//! out. An ordinary library that reads no file and no environment; the macro, the build helper and the command are
//! shells around [`compile`]. Under the feature `checkpoint`, which none of the first two has, it opens checkpoint files that it is told to.

pub mod author;
pub mod certify;
pub mod checkpoint;
pub mod chip;
mod compile;
pub mod config;
pub mod emit;
pub mod fit;
pub mod inspect;
pub mod kinds;
pub mod language;
pub mod lower;
pub mod ops;
pub mod place;
pub mod reference;
pub mod refusal;
pub mod request;
pub mod residency;
pub mod shard;
#[cfg(any(test, feature = "simulate"))]
pub mod simulate;
pub mod spatial;
pub mod spec;
pub mod widths;

pub use compile::{Compiled, compile};
pub use refusal::{At, Code, Key, Refusal, nearest};
pub use request::{ChipRequest, DeploymentRequest, Description, Form, Request, Requirement, Weights};
pub use spec::{ExpertSplit, Vocabulary};
