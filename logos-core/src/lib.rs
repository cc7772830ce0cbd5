//! The LOGOS compiler: a language model's `config.json` and a deployment in, lowered and certified spatial programs
//! out. An ordinary library that reads no file and no environment; the macro, the build helper and the command are
//! shells around [`compile`].

pub mod author;
pub mod certify;
pub mod chip;
pub mod config;
pub mod emit;
pub mod fit;
pub mod kinds;
pub mod language;
pub mod lower;
pub mod ops;
pub mod place;
pub mod refusal;
pub mod request;
pub mod shard;
pub mod spatial;
pub mod spec;

pub use refusal::{At, Code, Key, Refusal, nearest};
pub use request::{DeploymentRequest, Form, Request, Weights};

/// A compiled deployment.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The deployment's name.
    pub name: String,
    /// The bundle's words.
    pub words: Vec<u32>,
}

/// Compiles every deployment of a request, in order.
///
/// # Errors
/// All refusals that can be known, not just the first; where the model or chip itself is refused, no deployment is tried.
pub fn compile(request: &Request<'_>) -> Result<Vec<Compiled>, Vec<Refusal>> {
    let _ = request;
    Err(vec![Refusal::new(Code::RequestForm, At::Request, "the compiler is not complete yet")])
}
