//! What goes wrong in an execution, and where.

use crate::spatial::StageId;

/// What a firing lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// A token of an edge in.
    Token,
    /// A free slot of an edge out.
    Slot,
    /// The stage itself, still busy with the firing before.
    Stage,
    /// Another stage's firing that comes first: the layer before, the state's last store, the turn before.
    Order(StageId),
    /// Its turn: it is outside the window.
    Turn,
}

/// Why an execution failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// A firing at a time at which it cannot be.
    #[error("firing {firing} of {stage} in iteration {iteration}, at cycle {cycle}, lacks {}", describe(*lack, *edge))]
    Early {
        /// What it lacks.
        lack: Lack,
        /// The edge of a token or slot, in the order of the section's edges.
        edge: Option<usize>,
        /// The stage.
        stage: StageId,
        /// The firing, within its iteration.
        firing: u64,
        /// The iteration.
        iteration: u64,
        /// When.
        cycle: u64,
    },
    /// A turn that begins before the one before it ends.
    #[error("turn {turn} begins before the one before it ends")]
    Overlap {
        /// The turn, in the order of the section's turns.
        turn: usize,
    },
    /// A turn whose loads and the stores beside them move more than the tier's rate.
    #[error("the loads of turn {turn} and the stores beside them exceed the rate of their memory")]
    Rate {
        /// The turn, in the order of the section's turns.
        turn: usize,
    },
    /// Nothing can fire, and not everything has.
    #[error("firing {firing} of {stage} in iteration {iteration} can never happen")]
    Deadlock {
        /// The first stage that is stuck.
        stage: StageId,
        /// The firing, within its iteration.
        firing: u64,
        /// The iteration.
        iteration: u64,
    },
    /// More firings than are executed.
    #[error("{firings} firings are more than are executed")]
    TooLong {
        /// Firings asked for.
        firings: u64,
    },
}

fn describe(lack: Lack, edge: Option<usize>) -> String {
    let edge = edge.map(|edge| format!(" of edge {edge}")).unwrap_or_default();
    match lack {
        Lack::Token => format!("a token{edge}"),
        Lack::Slot => format!("a slot{edge}"),
        Lack::Stage => "the stage, which is busy".into(),
        Lack::Order(stage) => format!("a firing of {stage} that comes first"),
        Lack::Turn => "its turn".into(),
    }
}
