//! The first hidden state of a forward step.

use super::data::Matrix;
use super::error::{LoadError, StepError};
use super::shards::Shards;
use crate::spec::ModelSpec;

/// A tensor that cannot be read, or a token that has no row.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// Of the checkpoint.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// Of the tokens.
    #[error(transparent)]
    Step(#[from] StepError),
}

/// The embedded tokens, `[tokens, hidden]`: what a forward step takes as input, and an embedding program computes.
///
/// # Errors
/// A tensor that is not as the specification has it, or a token beyond the vocabulary.
pub fn embed(spec: &ModelSpec, shards: &Shards<'_>, tokens: &[u32]) -> Result<Matrix, EmbedError> {
    let table = shards.tensor(&spec.embedding, &spec.embedding.name)?;
    let vocab = spec.embedding.shape.first().copied().unwrap_or(0);
    let width: usize = table.shape.get(1..).unwrap_or_default().iter().product();
    let mut hidden = Matrix::zeros(tokens.len(), width);
    for (row, &token) in tokens.iter().enumerate() {
        if token >= vocab {
            return Err(StepError::Token { row, token, vocab }.into());
        }
        let stored = &table.values[token as usize * width..][..width];
        for (x, stored) in hidden.row_mut(row).iter_mut().zip(stored) {
            *x = spec.embedding_scale.map_or(*stored, |factor| stored * factor);
        }
    }
    Ok(hidden)
}
