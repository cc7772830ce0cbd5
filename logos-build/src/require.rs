//! What a build script requires of a deployment: in words, or as values.

use logos_core::{DeploymentRequest, Refusal, Requirement};

/// Requirements, as [`Decode::require`](crate::Decode::require) and its like take them: a list in words, `"hbm_fit, ctx >= 131_072"`, or
/// [`Requirement`]s.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Require {
    /// A list in words.
    Words(String),
    /// Values.
    Values(Vec<Requirement>),
}

impl From<&str> for Require {
    fn from(words: &str) -> Self {
        Require::Words(words.to_owned())
    }
}

impl From<String> for Require {
    fn from(words: String) -> Self {
        Require::Words(words)
    }
}

impl From<Requirement> for Require {
    fn from(requirement: Requirement) -> Self {
        Require::Values(vec![requirement])
    }
}

impl<const N: usize> From<[Requirement; N]> for Require {
    fn from(requirements: [Requirement; N]) -> Self {
        Require::Values(requirements.into())
    }
}

/// Adds the requirements to a deployment.
pub(crate) fn required(
    mut deployment: DeploymentRequest,
    asked: Vec<Require>,
) -> Result<DeploymentRequest, Vec<Refusal>> {
    let (mut first, mut refusals) = (0, Vec::new());
    for require in asked {
        match require {
            Require::Values(values) => {
                first += values.len();
                deployment.require.extend(values);
            }
            Require::Words(words) => {
                let read = Requirement::list(&words, &deployment.name, first);
                // A comma may end a list.
                first += words.trim_end().trim_end_matches(',').split(',').count();
                match read {
                    Ok(values) => deployment.require.extend(values),
                    Err(more) => refusals.extend(more),
                }
            }
        }
    }
    if refusals.is_empty() { Ok(deployment) } else { Err(refusals) }
}
