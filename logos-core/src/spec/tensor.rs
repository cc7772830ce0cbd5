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

    /// The indices that `inner` takes of those that are taken here; none if it takes more than there are, or if they are not
    /// runs of one length and distance.
    pub fn part(&self, inner: Take) -> Option<Take> {
        let last = u64::from(inner.count.checked_sub(1)?) * u64::from(inner.stride);
        let end = u64::from(inner.offset) + last + u64::from(inner.run);
        if self.count != 1 || inner.is_empty() || end > self.len() {
            return None;
        }
        // One run is as far from the next as it is long, as in [`Take::range`].
        let stride = if inner.count == 1 { inner.run } else { inner.stride };
        Some(Take { offset: self.offset.checked_add(inner.offset)?, stride, ..inner })
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

    /// The given indices of this weight's own.
    pub fn part(&self, take: Take) -> Option<Weight> {
        Some(Weight { tensor: self.tensor.clone(), take: self.take.part(take)? })
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

impl Linear {
    /// The given outputs of the projection, as one of its own; none where [`Take::part`] has none.
    pub fn part(&self, outputs: Take) -> Option<Linear> {
        let bias = match &self.bias {
            None => None,
            Some(bias) => Some(bias.part(outputs)?),
        };
        let out = u32::try_from(outputs.len()).ok()?;
        Some(Linear { out, input: self.input, weight: self.weight.part(outputs)?, bias })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_what_is_taken() {
        // Rows 10 to 30 of a tensor, of which heads of 5 give their last two.
        let weight = Weight { tensor: Tensor { name: "w".into(), shape: vec![64, 8] }, take: Take::range(10, 20) };
        let part = weight.part(Take { offset: 3, run: 2, stride: 5, count: 4 }).unwrap();
        assert_eq!(part.take, Take { offset: 13, run: 2, stride: 5, count: 4 });
        assert_eq!(part.tensor, weight.tensor);
        assert_eq!(weight.part(Take { offset: 4, run: 2, stride: 5, count: 4 }), None);
        assert_eq!(weight.part(Take { offset: 0, run: 2, stride: 5, count: 0 }), None);
        assert_eq!(part.part(Take::range(0, 1)), None);
        let linear = Linear { out: 20, input: 8, weight: weight.clone(), bias: Some(Weight::whole("b", &[20])) };
        let part = linear.part(Take::range(5, 10)).unwrap();
        assert_eq!((part.out, part.weight.take), (10, Take::range(15, 10)));
        assert_eq!(part.bias.unwrap().take, Take::range(5, 10));
    }
}
