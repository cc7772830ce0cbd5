//! Weights as a draft declares them: what of the checkpoint's tensors they take, and how a program keeps them.

use super::{Draft, LinearNames, kept_as};
use crate::author::binding::{Axis as StoredAxis, Bank, Source};
use crate::language::ast::{Axis, Role, Shape, Sharding, Storage, ValueId};
use crate::ops::{MatMul, Plus};
use crate::refusal::{At, Code, Refusal};
use crate::request::Weights;
use crate::spec::{ExpertTensors, Experts, Held, Linear, Parts, Weight};

impl Draft<'_> {
    /// A weight of one row, stored as a vector.
    pub(in crate::author) fn vector(
        &mut self,
        stem: &str,
        weight: &Weight,
        cols: u32,
        sharding: Sharding,
    ) -> Result<ValueId, Refusal> {
        self.transposed(stem, weight, Shape::matrix(1, cols), (self.floats(weight), sharding))
    }

    /// A weight `[rows, cols]` whose stored axis 0 is the columns.
    pub(in crate::author) fn transposed(
        &mut self,
        stem: &str,
        weight: &Weight,
        shape: Shape,
        form: (Storage, Sharding),
    ) -> Result<ValueId, Refusal> {
        self.padded(stem, weight, (shape, true), form, 0)
    }

    /// A weight `[rows, cols]` whose stored axis 0 is the rows.
    pub(in crate::author) fn untransposed(
        &mut self,
        stem: &str,
        weight: &Weight,
        shape: Shape,
        form: (Storage, Sharding),
    ) -> Result<ValueId, Refusal> {
        self.padded(stem, weight, (shape, false), form, 0)
    }

    /// A weight whose stored axis 0 is its columns, or its rows where it is not transposed, and has `padding` zeros after them.
    fn padded(
        &mut self,
        stem: &str,
        weight: &Weight,
        (shape, transposed): (Shape, bool),
        form: (Storage, Sharding),
        padding: u32,
    ) -> Result<ValueId, Refusal> {
        let (along, across) = if transposed { (shape.cols, shape.rows) } else { (shape.rows, shape.cols) };
        self.stored_as(weight, along.saturating_sub(padding), across)?;
        let template = self.template(stem);
        let source = Source::Weight { weight: weight.clone(), transposed, bank: None, padding };
        self.declare(template, Role::Weight, shape, form, source)
    }

    /// Rows of the vocabulary over the chips, and how many of them, the last, are padding.
    fn vocabulary(&self) -> Result<(u32, u32), Refusal> {
        let rows = self.spec.vocab_rows(self.chips()).zip(self.spec.vocab_padding(self.chips()));
        rows.ok_or_else(|| {
            let message = format!("a vocabulary of {} rows does not pad to {} chips", self.spec.vocab, self.chips());
            Refusal::new(Code::SizeOverflow, At::Model, message)
        })
    }

    /// The embedding's rows, over the chips.
    pub(in crate::author) fn embedding(&mut self, stem: &str) -> Result<ValueId, Refusal> {
        let table = Weight::whole(self.spec.embedding.name.clone(), &self.spec.embedding.shape);
        let (rows, padding) = self.vocabulary()?;
        let form = (self.floats(&table), self.split_rows());
        self.padded(stem, &table, (Shape::matrix(rows, self.spec.hidden), false), form, padding)
    }

    /// `x W + b` of the head, the vocabulary over the chips; and how many of its columns a token may be, where not all.
    pub(in crate::author) fn logits(
        &mut self,
        names: &LinearNames,
        linear: &Linear,
        x: ValueId,
    ) -> Result<(ValueId, Option<u32>), Refusal> {
        let LinearNames(weight, bias, result) = *names;
        let (columns, padding) = self.vocabulary()?;
        let sharding = self.columns();
        let shape = Shape::matrix(linear.input, columns);
        let storage = match self.spec.padded_head(self.chips()) {
            // Whether a chip's share is of whole blocks is a question of what is padded.
            Some(padded) if padding > 0 && linear.weight.tensor != self.spec.embedding => {
                self.contracted(&padded.weight, padded.input, sharding)
            }
            Some(_) | None => self.product_storage(linear, sharding),
        };
        let form = (storage, sharding);
        let w = self.padded(weight, &linear.weight, (shape, true), form, padding)?;
        let logits = match &linear.bias {
            None => self.bind(result, MatMul, &[x, w])?,
            Some(b) => {
                let form = (self.floats(b), sharding);
                let b = self.padded(bias, b, (Shape::matrix(1, columns), true), form, padding)?;
                let product = self.bind(&format!("{result}m"), MatMul, &[x, w])?;
                self.bind(result, Plus, &[product, b])?
            }
        };
        Ok((logits, (padding > 0).then_some(self.spec.vocab)))
    }

    /// A weight of experts, `[input, out]` each, whose checkpoint stores them as `experts` says.
    pub(in crate::author) fn bank(
        &mut self,
        stem: &str,
        experts: &Experts,
        weight: &Weight,
        (input, out): (u32, u32),
        sharding: Sharding,
    ) -> Result<ValueId, Refusal> {
        let (taken, transposed) = match experts.stored {
            ExpertTensors::Apart | ExpertTensors::Stacked => (StoredAxis::Zero, true),
            ExpertTensors::StackedTransposed => (StoredAxis::One, false),
        };
        let storage = self.contracted(weight, input, sharding);
        let shape = Shape { seqs: experts.count, rows: input, cols: out };
        self.declare_bank(stem, experts, (weight, taken, transposed), shape, (storage, sharding))
    }

    /// A bias of experts, `[1, out]` each.
    pub(in crate::author) fn bank_bias(
        &mut self,
        stem: &str,
        experts: &Experts,
        bias: &Weight,
        out: u32,
        sharding: Sharding,
    ) -> Result<ValueId, Refusal> {
        let shape = Shape { seqs: experts.count, rows: 1, cols: out };
        self.declare_bank(stem, experts, (bias, StoredAxis::Zero, true), shape, (self.floats(bias), sharding))
    }

    fn declare_bank(
        &mut self,
        stem: &str,
        experts: &Experts,
        (weight, taken, transposed): (&Weight, StoredAxis, bool),
        shape: Shape,
        form: (Storage, Sharding),
    ) -> Result<ValueId, Refusal> {
        let name = &weight.tensor.name;
        let stacked = match experts.stored {
            ExpertTensors::Apart => false,
            ExpertTensors::Stacked | ExpertTensors::StackedTransposed => true,
        };
        let one = if stacked {
            let (count, one) = weight.tensor.shape.split_first().unwrap_or((&0, &[]));
            if *count != experts.count {
                let shape = &weight.tensor.shape;
                return Err(self.refuse(format!("`{name}` is stored {shape:?}, not of {} experts", experts.count)));
            }
            one
        } else {
            if !name.contains("{e}") {
                return Err(self.refuse(format!("`{name}` is stored an expert, and its name does not tell which")));
            }
            &weight.tensor.shape[..]
        };
        let (first, rest) = one.split_first().unwrap_or((&0, &[]));
        let rest = rest.iter().try_fold(1u64, |n, &d| n.checked_mul(u64::from(d)));
        let (along, other) = match taken {
            StoredAxis::Zero => (Some(u64::from(*first)), rest),
            StoredAxis::One => (rest, Some(u64::from(*first))),
        };
        self.taken_of(weight, (along, other), (shape.cols, shape.rows))?;
        let template = self.template(stem);
        let bank = Some(Bank { experts: experts.count, stacked, taken });
        let source = Source::Weight { weight: weight.clone(), transposed, bank, padding: 0 };
        self.declare(template, Role::Weight, shape, form, source)
    }

    /// Whether the checkpoint's tensor has the indices that a weight is made of.
    fn stored_as(&self, weight: &Weight, axis0: u32, axis1: u32) -> Result<(), Refusal> {
        let shape = &weight.tensor.shape;
        let inner = shape.get(1..).unwrap_or_default();
        let inner = inner.iter().try_fold(1u64, |n, &d| n.checked_mul(u64::from(d)));
        self.taken_of(weight, (shape.first().copied().map(u64::from), inner), (axis0, axis1))
    }

    /// Whether the stored axes, the one that indices are taken of and the other, have those that a weight needs.
    fn taken_of(
        &self,
        weight: &Weight,
        (along, inner): (Option<u64>, Option<u64>),
        (axis0, axis1): (u32, u32),
    ) -> Result<(), Refusal> {
        let (tensor, take) = (&weight.tensor, weight.take);
        let last = match (take.run.checked_sub(1), take.count.checked_sub(1)) {
            (Some(run), Some(count)) => {
                u64::from(take.offset) + u64::from(count) * u64::from(take.stride) + u64::from(run)
            }
            (None, _) | (_, None) => return Err(self.refuse(format!("nothing is taken of `{}`", tensor.name))),
        };
        if take.len() != u64::from(axis0) || inner != Some(u64::from(axis1)) || last >= along.unwrap_or(0) {
            return Err(self.refuse(format!(
                "`{}` is stored {:?}, of which {} rows up to {last} are taken, where {axis0} of {axis1} are needed",
                tensor.name,
                tensor.shape,
                take.len()
            )));
        }
        Ok(())
    }

    /// The weight of a product, `[input, out]`.
    pub(in crate::author) fn matrix(
        &mut self,
        stem: &str,
        linear: &Linear,
        sharding: Sharding,
    ) -> Result<ValueId, Refusal> {
        let storage = self.product_storage(linear, sharding);
        self.transposed(stem, &linear.weight, Shape::matrix(linear.input, linear.out), (storage, sharding))
    }

    /// Storage of a product's weight. A chip's slice that is not of whole blocks stays in the config's dtype, and so does a head that is
    /// the embedding, whose rows are looked up as they are stored.
    fn product_storage(&self, linear: &Linear, sharding: Sharding) -> Storage {
        if linear.weight.tensor == self.spec.embedding {
            self.floats(&linear.weight)
        } else {
            self.contracted(&linear.weight, linear.input, sharding)
        }
    }

    /// Storage of a weight whose `input` rows are contracted.
    fn contracted(&self, weight: &Weight, input: u32, sharding: Sharding) -> Storage {
        let parts = match sharding {
            Sharding::Split { axis: Axis::Rows, parts } => Parts { inputs: parts, outputs: 1 },
            Sharding::Split { axis: Axis::Columns, parts } => Parts { inputs: 1, outputs: parts },
            Sharding::Split { axis: Axis::Experts, .. } | Sharding::Whole | Sharding::Partial => {
                Parts { inputs: 1, outputs: 1 }
            }
        };
        let held = match self.cut.weights {
            Weights::Config => self.held(weight).unwrap_or(Held::Float(self.spec.dtype)),
            Weights::Q8_0 => Held::Q8_0,
        };
        kept_as(held.kept(self.spec.dtype, weight, input, parts))
    }
}
