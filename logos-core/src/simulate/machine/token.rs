//! What flows along the edges, and the buffers it waits in.

use std::cell::OnceCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use super::trouble::Trouble;
use crate::reference::{Data, Matrix, State, beside};
use crate::simulate::weights::WeightTile;

/// A token.
#[derive(Clone)]
pub(crate) enum Token {
    /// A tile of a value, or what the parts of a statement hand on.
    Data(Data),
    /// A tile of a weight.
    Weight(WeightTile),
    /// A tile of a state, or all of it.
    State(State),
    /// Nothing: what a load of a cache hands on beside the fresh rows.
    Empty,
}

impl From<Matrix> for Token {
    fn from(matrix: Matrix) -> Self {
        Token::Data(Data::Real(Arc::new(matrix)))
    }
}

/// Tokens of equal rows side by side.
pub(super) fn join(tokens: &[Token]) -> Result<Data, Trouble> {
    if let [Token::Data(data)] = tokens {
        return Ok(data.clone());
    }
    let mut shares = Vec::with_capacity(tokens.len());
    for token in tokens {
        match token {
            Token::Data(Data::Real(matrix)) => shares.push(&**matrix),
            Token::Data(Data::Int(_)) | Token::Weight(_) | Token::State(_) | Token::Empty => {
                return Err(Trouble::Kind { expected: "tiles of a value" });
            }
        }
    }
    Ok(Data::Real(Arc::new(beside(&shares))))
}

/// A whole group.
pub(super) struct Group {
    pub(super) tokens: Vec<Token>,
    joined: OnceCell<Data>,
}

impl Group {
    /// The group as one matrix, joined once for all firings that hold it.
    pub(super) fn joined(&self) -> Result<Data, Trouble> {
        if let Some(data) = self.joined.get() {
            return Ok(data.clone());
        }
        let data = join(&self.tokens)?;
        Ok(self.joined.get_or_init(|| data).clone())
    }
}

/// The buffer of an edge.
pub(super) enum Buffer {
    /// Tokens, in order.
    Stream { waiting: VecDeque<Token> },
    /// Whole groups, and one that is being filled.
    Hold { whole: VecDeque<Rc<Group>>, filling: Vec<Token>, filled: usize },
}

impl Buffer {
    pub(super) fn stream() -> Self {
        Buffer::Stream { waiting: VecDeque::new() }
    }

    pub(super) fn hold() -> Self {
        Buffer::Hold { whole: VecDeque::new(), filling: Vec::new(), filled: 0 }
    }

    /// Whether a firing that hands on `tokens` has room among `capacity` slots. A group takes its slot with its first firing.
    pub(super) fn has_room(&self, tokens: usize, capacity: usize) -> bool {
        match self {
            Buffer::Stream { waiting } => waiting.len() + tokens <= capacity,
            Buffer::Hold { whole, filled, .. } => *filled > 0 || whole.len() < capacity,
        }
    }

    /// Takes what a firing hands on; `per_group` firings fill a group.
    pub(super) fn push(&mut self, tokens: &[Token], per_group: usize) {
        match self {
            Buffer::Stream { waiting } => waiting.extend(tokens.iter().cloned()),
            Buffer::Hold { whole, filling, filled } => {
                filling.extend(tokens.iter().cloned());
                *filled += 1;
                if *filled == per_group {
                    let tokens = std::mem::take(filling);
                    whole.push_back(Rc::new(Group { tokens, joined: OnceCell::new() }));
                    *filled = 0;
                }
            }
        }
    }

    /// Whether a firing that wants `tokens` finds them.
    pub(super) fn has(&self, tokens: usize) -> bool {
        match self {
            Buffer::Stream { waiting } => waiting.len() >= tokens,
            Buffer::Hold { whole, .. } => !whole.is_empty(),
        }
    }

    /// Whether nothing is left in it.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Buffer::Stream { waiting } => waiting.is_empty(),
            Buffer::Hold { whole, filled, .. } => whole.is_empty() && *filled == 0,
        }
    }
}
