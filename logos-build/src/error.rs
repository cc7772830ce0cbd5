//! Why a build script's [`emit`](crate::Model::emit) did not write.

use std::fmt;
use std::io;
use std::path::PathBuf;

use logos_core::Refusal;
use logos_core::refusal::Plain;

/// Why nothing was emitted. `Debug` prints the whole message, since that is what a build script's `main` shows of it.
#[non_exhaustive]
pub enum BuildError {
    /// What was asked for cannot be had: every reason.
    Refused {
        /// The name given to `emit`.
        name: String,
        /// The config's path, as written.
        config: String,
        /// The reasons; never empty.
        refusals: Vec<Refusal>,
    },
    /// Cargo's variables are missing: this does not run in a build script.
    NotABuildScript {
        /// The variable that is not set.
        variable: &'static str,
    },
    /// A file could not be written.
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Refused { name, config, refusals } => {
                write!(f, "model `{}` from `{}` is refused", Plain(name), Plain(config))?;
                for refusal in refusals {
                    write!(f, "\n\n{refusal}\n  at: {}", refusal.at)?;
                }
                Ok(())
            }
            BuildError::NotABuildScript { variable } => {
                write!(f, "{variable} is not set: `emit` is for build scripts, where Cargo sets it")
            }
            BuildError::Write { path, source } => write!(f, "{} cannot be written: {source}", path.display()),
        }
    }
}

impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for BuildError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            BuildError::Write { source, .. } => Some(source),
            BuildError::Refused { .. } | BuildError::NotABuildScript { .. } => None,
        }
    }
}
