//! How routed experts lie over chips.

use super::{FeedForward, ModelSpec};

/// Which part of the routed experts a chip has. Router, shared expert and everything else lie alike in both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ExpertSplit {
    /// A part of every expert: its columns are cut as a dense block's are.
    #[default]
    Columns,
    /// Whole experts: of `E` over `T` chips, chip `c` has those from `c * E / T` to `(c + 1) * E / T`. A step counts on the worst choice,
    /// that all experts a row chooses are one chip's.
    Parallel,
}

impl ExpertSplit {
    /// The names, in the order of the variants.
    pub const NAMES: [&'static str; 2] = ["columns", "parallel"];

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            ExpertSplit::Columns => "columns",
            ExpertSplit::Parallel => "parallel",
        }
    }

    /// The one of a name.
    pub fn from_name(name: &str) -> Option<ExpertSplit> {
        match name {
            "columns" => Some(ExpertSplit::Columns),
            "parallel" => Some(ExpertSplit::Parallel),
            _ => None,
        }
    }
}

impl ModelSpec {
    /// Whether a layer has experts.
    pub fn has_experts(&self) -> bool {
        self.layers.iter().any(|layer| matches!(layer.feed_forward, FeedForward::Experts(_)))
    }
}
