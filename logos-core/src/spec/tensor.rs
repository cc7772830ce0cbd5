//! Checkpoint tensors and the part of one that a weight takes.

/// Element type of a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dtype {
    /// 4 bytes.
    F32,
    /// 2 bytes.
    F16,
    /// 2 bytes.
    Bf16,
}

/// A tensor as a released checkpoint stores it. `{l}` in the name stands for the layer, `{e}` for the expert.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tensor {
    /// Name, prefix included.
    pub name: String,
    /// Stored shape, outermost first.
    pub shape: Vec<u32>,
}

/// Which indices of stored axis 0 make a weight: `count` runs of `run` indices, `stride` apart, from `offset`.
/// Index `j` of the weight is stored index `offset + (j / run) * stride + j % run`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Take {
    /// First index.
    pub offset: u32,
    /// Contiguous indices a run.
    pub run: u32,
    /// Distance between the starts of two runs.
    pub stride: u32,
    /// Runs.
    pub count: u32,
}

impl Take {
    /// The indices `offset..offset + len`.
    pub const fn range(offset: u32, len: u32) -> Self {
        Take { offset, run: len, stride: len, count: 1 }
    }

    /// How many indices are taken.
    pub const fn len(&self) -> u64 {
        self.run as u64 * self.count as u64
    }

    /// Whether nothing is taken.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A weight: part of a checkpoint tensor along its axis 0 (all of the other axes).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Weight {
    /// The stored tensor.
    pub tensor: Tensor,
    /// The indices of its axis 0.
    pub take: Take,
}

impl Weight {
    /// The whole tensor `name` of this shape.
    pub fn whole(name: impl Into<String>, shape: &[u32]) -> Self {
        let rows = shape.first().copied().unwrap_or(0);
        Weight { tensor: Tensor { name: name.into(), shape: shape.to_vec() }, take: Take::range(0, rows) }
    }
}

/// A projection `y = x Wᵀ + b`, the weight stored `[out, in]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linear {
    /// Output features.
    pub out: u32,
    /// Input features.
    pub input: u32,
    /// The weight, `[out, in]` as stored.
    pub weight: Weight,
    /// The bias, `[out]`.
    pub bias: Option<Weight>,
}
