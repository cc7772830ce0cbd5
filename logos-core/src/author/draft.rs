//! A program being authored: the vocabulary that the blocks are written in.

use crate::author::binding::{Axis as StoredAxis, Bank, Binding, Source};
use crate::author::{Authored, Cut, Part, describe};
use crate::language::Builder;
use crate::language::ast::{Axis, Element, Recipe, Role, RopePart, RopeTable, Shape, Sharding, Storage, ValueId};
use crate::ops::{LayerNorm, MatMul, Op, Plus, RmsNorm};
use crate::refusal::{At, Code, Refusal};
use crate::request::{Form, Weights};
use crate::spec::{
    Attention, Dtype, ExpertTensors, Experts, Held, Linear, Mixer, ModelSpec, Norm, NormKind, Parts, Rope, Temperature,
    Weight,
};

/// The names of a norm: of its weight, of its bias, of its result.
pub(super) struct NormNames(pub(super) &'static str, pub(super) &'static str, pub(super) &'static str);

/// The names of a projection: of its weight, of its bias, of its result.
pub(super) struct LinearNames(pub(super) &'static str, pub(super) &'static str, pub(super) &'static str);

/// Blocks declare values as they need them. The language numbers declared values first, in the order of their declaration,
/// so the n-th source is that of value n of the finished program.
pub(super) struct Draft<'a> {
    pub(super) spec: &'a ModelSpec,
    cut: &'a Cut,
    builder: Builder,
    sources: Vec<(String, Source)>,
}

impl<'a> Draft<'a> {
    pub(super) fn new(spec: &'a ModelSpec, cut: &'a Cut) -> Result<Self, Refusal> {
        let builder = Builder::new(cut.tp, storage_of(spec.dtype));
        let draft = Draft { spec, cut, builder, sources: Vec::with_capacity(32) };
        if cut.tp == 0 {
            return Err(draft.refuse("a program for 0 chips"));
        }
        Ok(draft)
    }

    /// A refusal of this part: what it would need and cannot have.
    pub(super) fn refuse(&self, what: impl std::fmt::Display) -> Refusal {
        refuse(self.spec, self.cut, what)
    }

    // Sizes.

    /// Rows of an activation.
    pub(super) fn rows(&self) -> u32 {
        match self.cut.step {
            Form::Forward { rows } => rows,
            Form::Decode { batch, .. } => batch,
            Form::Prefill { chunk, .. } => chunk,
        }
    }

    /// Sequences of the step.
    pub(super) fn seqs(&self) -> u32 {
        match self.cut.step {
            Form::Decode { batch, .. } => batch,
            Form::Forward { .. } | Form::Prefill { .. } => 1,
        }
    }

    /// Positions of carried state; none where the step is stateless.
    pub(super) fn context(&self) -> Option<u32> {
        match self.cut.step {
            Form::Forward { .. } => None,
            Form::Decode { ctx, .. } | Form::Prefill { ctx, .. } => Some(ctx),
        }
    }

    /// Chips the program is for.
    pub(super) fn chips(&self) -> u32 {
        self.cut.tp
    }

    /// `a * b` where it fits 32 bits.
    pub(super) fn product(&self, a: u32, b: u32) -> Result<u32, Refusal> {
        a.checked_mul(b).ok_or_else(|| {
            Refusal::new(Code::SizeOverflow, At::Model, format!("{a} times {b} columns are more than 2^32"))
        })
    }

    // Shardings.

    /// Columns over all chips.
    pub(super) fn columns(&self) -> Sharding {
        self.columns_in(self.chips())
    }

    /// Columns in `parts`, fewer than the chips where KV heads replicate.
    pub(super) fn columns_in(&self, parts: u32) -> Sharding {
        self.split(Axis::Columns, parts)
    }

    /// Rows over all chips.
    pub(super) fn split_rows(&self) -> Sharding {
        self.split(Axis::Rows, self.chips())
    }

    /// Whole experts over all chips.
    pub(super) fn split_experts(&self) -> Sharding {
        self.split(Axis::Experts, self.chips())
    }

    fn split(&self, axis: Axis, parts: u32) -> Sharding {
        // One part is the whole: of one chip, or of the only KV head.
        if parts == 1 { Sharding::Whole } else { Sharding::Split { axis, parts } }
    }

    // Declarations.

    /// How the checkpoint stores a tensor of this part, where that is not in the config's dtype.
    fn held(&self, weight: &Weight) -> Option<Held> {
        let row = match self.cut.part {
            Part::Layer(layer) => Some(self.spec.layer_of.get(layer as usize).copied().unwrap_or(u32::MAX)),
            Part::Embed | Part::Head => None,
        };
        self.spec.held(row, &weight.tensor)
    }

    /// Storage of a weight that is used element by element: the checkpoint's where that is of floats, else the config's dtype.
    pub(super) fn floats(&self, weight: &Weight) -> Storage {
        match (self.held(weight), self.cut.weights) {
            (Some(Held::Float(dtype)), Weights::Config) => storage_of(dtype),
            (Some(_) | None, Weights::Config | Weights::Q8_0) => self.stored(),
        }
    }

    /// Storage of what the config's dtype says.
    pub(super) fn stored(&self) -> Storage {
        storage_of(self.spec.dtype)
    }

    fn declare(
        &mut self,
        template: String,
        role: Role,
        shape: Shape,
        (storage, sharding): (Storage, Sharding),
        source: Source,
    ) -> Result<ValueId, Refusal> {
        let name = match self.cut.part {
            Part::Layer(l) => template.replace("{l}", &l.to_string()),
            Part::Embed | Part::Head => template.clone(),
        };
        let element = match source {
            Source::Index => Element::Int,
            Source::Weight { .. } | Source::State | Source::Table | Source::Hidden => Element::Real,
        };
        let value = self.builder.declare(name, role, shape, element, storage, sharding);
        self.sources.push((template, source));
        value.map_err(|error| self.refuse(error))
    }

    /// A name of this part: with the layer's number in a layer.
    fn template(&self, stem: &str) -> String {
        match self.cut.part {
            Part::Layer(_) => format!("{stem}{{l}}"),
            Part::Embed | Part::Head => stem.to_owned(),
        }
    }

    /// The hidden state `x`, `[rows, hidden]`.
    pub(super) fn hidden(&mut self) -> Result<ValueId, Refusal> {
        let shape = Shape::matrix(self.rows(), self.spec.hidden);
        let form = (self.stored(), Sharding::Whole);
        self.declare("x".to_owned(), Role::Input, shape, form, Source::Hidden)
    }

    /// `pos` or `token`, one integer a row.
    pub(super) fn index(&mut self, name: &str) -> Result<ValueId, Refusal> {
        let shape = Shape::matrix(self.rows(), 1);
        self.declare(name.to_owned(), Role::Input, shape, (Storage::I32, Sharding::Whole), Source::Index)
    }

    /// Cosines and sines of a rotary embedding, numbered from the model's second distinct one on.
    pub(super) fn tables(&mut self, rope: &Rope) -> Result<(ValueId, ValueId), Refusal> {
        let number = table_number(self.spec, rope);
        let shape = Shape::matrix(self.rows(), rope.rotary / 2);
        let form = (Storage::F32, Sharding::Whole);
        let mut table = |stem: &str, part| {
            let name = if number == 0 { stem.to_owned() } else { format!("{stem}{number}") };
            self.declare(name, Role::Table(Recipe::Rope(RopeTable::of(rope, part))), shape, form, Source::Table)
        };
        Ok((table("cos", RopePart::Cos)?, table("sin", RopePart::Sin)?))
    }

    /// A factor for each row, by its position; tables are numbered as rotary ones are.
    pub(super) fn temperatures(&mut self, temperature: &Temperature) -> Result<ValueId, Refusal> {
        let shape = Shape::matrix(self.rows(), 1);
        let role = Role::Table(Recipe::Temperature(*temperature));
        let number = temperature_number(self.spec, temperature);
        let name = if number == 0 { "temp".to_owned() } else { format!("temp{number}") };
        self.declare(name, role, shape, (Storage::F32, Sharding::Whole), Source::Table)
    }

    /// A state of each sequence.
    pub(super) fn state(
        &mut self,
        stem: &str,
        rows: u32,
        cols: u32,
        form: (Storage, Sharding),
    ) -> Result<ValueId, Refusal> {
        let shape = Shape { seqs: self.seqs(), rows, cols };
        let template = self.template(stem);
        self.declare(template, Role::State, shape, form, Source::State)
    }

    /// A weight of one row, stored as a vector.
    pub(super) fn vector(
        &mut self,
        stem: &str,
        weight: &Weight,
        cols: u32,
        sharding: Sharding,
    ) -> Result<ValueId, Refusal> {
        self.transposed(stem, weight, Shape::matrix(1, cols), (self.floats(weight), sharding))
    }

    /// A weight `[rows, cols]` whose stored axis 0 is the columns.
    pub(super) fn transposed(
        &mut self,
        stem: &str,
        weight: &Weight,
        shape: Shape,
        form: (Storage, Sharding),
    ) -> Result<ValueId, Refusal> {
        self.padded(stem, weight, (shape, true), form, 0)
    }

    /// A weight `[rows, cols]` whose stored axis 0 is the rows.
    pub(super) fn untransposed(
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
    pub(super) fn embedding(&mut self, stem: &str) -> Result<ValueId, Refusal> {
        let table = Weight::whole(self.spec.embedding.name.clone(), &self.spec.embedding.shape);
        let (rows, padding) = self.vocabulary()?;
        let form = (self.floats(&table), self.split_rows());
        self.padded(stem, &table, (Shape::matrix(rows, self.spec.hidden), false), form, padding)
    }

    /// `x W + b` of the head, the vocabulary over the chips; and how many of its columns a token may be, where not all.
    pub(super) fn logits(
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
    pub(super) fn bank(
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
    pub(super) fn bank_bias(
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
    pub(super) fn matrix(&mut self, stem: &str, linear: &Linear, sharding: Sharding) -> Result<ValueId, Refusal> {
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

    // Statements.

    /// Binds the result of an operation.
    pub(super) fn bind(&mut self, stem: &str, op: impl Into<Op>, operands: &[ValueId]) -> Result<ValueId, Refusal> {
        let name = match self.cut.part {
            Part::Layer(l) => format!("{stem}{l}"),
            Part::Embed | Part::Head => stem.to_owned(),
        };
        self.builder.bind(name, op, operands).map_err(|error| self.refuse(error))
    }

    /// Stores rows in a cache, at their positions.
    pub(super) fn append(&mut self, value: ValueId, state: ValueId, pos: ValueId) -> Result<(), Refusal> {
        self.builder.append(value, state, pos).map_err(|error| self.refuse(error))
    }

    /// Shows the part's result.
    pub(super) fn show(&mut self, value: ValueId) -> Result<(), Refusal> {
        self.builder.show(value).map_err(|error| self.refuse(error))
    }

    /// `x W + b`, output features in `parts`.
    pub(super) fn column_parallel(
        &mut self,
        names: &LinearNames,
        linear: &Linear,
        sharding: Sharding,
        x: ValueId,
    ) -> Result<ValueId, Refusal> {
        let w = self.matrix(names.0, linear, sharding)?;
        self.projected(names, (linear, w), sharding, x)
    }

    /// `x W + b`, whole on every chip. Its weight stays in the config's dtype: what a choice is made by is small, and decides.
    pub(super) fn choosing(&mut self, names: &LinearNames, linear: &Linear, x: ValueId) -> Result<ValueId, Refusal> {
        let form = (self.floats(&linear.weight), Sharding::Whole);
        let w = self.transposed(names.0, &linear.weight, Shape::matrix(linear.input, linear.out), form)?;
        self.projected(names, (linear, w), Sharding::Whole, x)
    }

    fn projected(
        &mut self,
        names: &LinearNames,
        (linear, w): (&Linear, ValueId),
        sharding: Sharding,
        x: ValueId,
    ) -> Result<ValueId, Refusal> {
        let LinearNames(_, bias, result) = *names;
        match &linear.bias {
            None => self.bind(result, MatMul, &[x, w]),
            Some(b) => {
                let b = self.vector(bias, b, linear.out, sharding)?;
                let product = self.bind(&format!("{result}m"), MatMul, &[x, w])?;
                self.bind(result, Plus, &[product, b])
            }
        }
    }

    /// `x W` of an `x` whose columns lie over the chips: over several, a partial sum.
    pub(super) fn row_product(
        &mut self,
        weight: &str,
        linear: &Linear,
        result: &str,
        x: ValueId,
    ) -> Result<ValueId, Refusal> {
        let w = self.matrix(weight, linear, self.split_rows())?;
        self.bind(result, MatMul, &[x, w])
    }

    /// A norm over the whole row (`heads` 0) or over each of `heads` heads; `width` columns are normalised together. A whole row
    /// that lies over the chips is normalised over them.
    pub(super) fn norm(
        &mut self,
        names: &NormNames,
        norm: &Norm,
        (heads, width): (u32, u32),
        x: ValueId,
    ) -> Result<ValueId, Refusal> {
        let NormNames(weight, bias, result) = *names;
        let mut operands = vec![x];
        let over_chips = heads == 0 && self.columns_of(x) != Sharding::Whole;
        if let Some(w) = &norm.weight {
            operands.push(self.norm_weight(weight, w, (heads, width), x)?);
        }
        let eps = norm.eps;
        let op: Op = match (norm.kind, &norm.weight, &norm.bias) {
            (NormKind::Rms { .. }, _, Some(_)) => {
                return Err(self.refuse("an rmsnorm with a bias is no operation yet"));
            }
            (NormKind::Rms { one_plus }, weight, None) => {
                let offset = if one_plus && weight.is_some() { 1.0 } else { 0.0 };
                RmsNorm { eps, offset, heads, over_chips }.into()
            }
            (NormKind::Layer, _, _) if over_chips => {
                return Err(self.refuse("a layernorm of rows that lie over several chips is no operation yet"));
            }
            (NormKind::Layer, None, Some(_)) => {
                return Err(self.refuse("a layernorm with a bias and without a weight is no operation yet"));
            }
            (NormKind::Layer, _, b) => {
                if let Some(b) = b {
                    operands.push(self.norm_weight(bias, b, (heads, width), x)?);
                }
                LayerNorm { eps, heads }.into()
            }
        };
        self.bind(result, op, &operands)
    }

    /// How the columns of a value lie.
    fn columns_of(&self, x: ValueId) -> Sharding {
        match self.builder.value(x).map(|x| x.sharding) {
            Some(split @ Sharding::Split { axis: Axis::Columns, .. }) => split,
            Some(Sharding::Whole | Sharding::Partial | Sharding::Split { axis: Axis::Rows | Axis::Experts, .. })
            | None => Sharding::Whole,
        }
    }

    /// Of a whole row one as wide, which lies as the row does. Of heads one row for all, or, where the checkpoint stores more than a vector, a row for each, which lie as the heads do.
    fn norm_weight(
        &mut self,
        stem: &str,
        weight: &Weight,
        (heads, width): (u32, u32),
        x: ValueId,
    ) -> Result<ValueId, Refusal> {
        let columns = self.columns_of(x);
        if heads == 0 {
            return self.vector(stem, weight, width, columns);
        }
        // A row a head stays one where there is a single head.
        if weight.tensor.shape.len() <= 1 {
            return self.vector(stem, weight, width, Sharding::Whole);
        }
        let sharding = match columns {
            Sharding::Split { parts, .. } => self.split(Axis::Rows, parts),
            Sharding::Whole | Sharding::Partial => Sharding::Whole,
        };
        self.untransposed(stem, weight, Shape::matrix(heads.max(1), width), (self.floats(weight), sharding))
    }

    /// The finished program, checked as a whole.
    pub(super) fn finish(self) -> Result<Authored, Refusal> {
        let (spec, cut) = (self.spec, self.cut);
        let program = self.builder.finish().map_err(|error| refuse(spec, cut, error))?;
        let bindings = (0u32..).zip(self.sources);
        let bindings = bindings.map(|(n, (name, source))| Binding { value: ValueId(n), name, source }).collect();
        Ok(Authored { program, bindings })
    }
}

/// A refusal of a part of a model: what it would need and cannot have.
fn refuse(spec: &ModelSpec, cut: &Cut, what: impl std::fmt::Display) -> Refusal {
    let part = match cut.part {
        Part::Embed => "embed".to_owned(),
        Part::Head => "head".to_owned(),
        Part::Layer(l) => {
            let row = spec.layer_of.get(l as usize).and_then(|&row| spec.layers.get(row as usize));
            row.map_or(format!("layer {l}"), |layer| format!("layer {l} ({})", describe(layer)))
        }
    };
    Refusal::new(Code::LowerStatement, At::Model, format!("{part} cannot be authored: {what}"))
}

/// How a dtype is stored.
pub(crate) fn storage_of(dtype: Dtype) -> Storage {
    match dtype {
        Dtype::F32 => Storage::F32,
        Dtype::F16 => Storage::F16,
        Dtype::Bf16 => Storage::Bf16,
    }
}

/// The storage that keeps a weight so.
pub(crate) fn kept_as(held: Held) -> Storage {
    match held {
        Held::Float(dtype) => storage_of(dtype),
        Held::Q8_0 => Storage::Q8_0,
        Held::F8E4M3 => Storage::F8E4M3,
        Held::Mxfp4 => Storage::Mxfp4,
    }
}

/// Which of the model's distinct temperatures, in order of first use.
fn temperature_number(spec: &ModelSpec, wanted: &Temperature) -> usize {
    let mut distinct: Vec<&Temperature> = Vec::new();
    for layer in &spec.layers {
        if let Mixer::Attention(Attention { temperature: Some(used), .. }) = &layer.mixer {
            if used == wanted {
                break;
            }
            if !distinct.contains(&used) {
                distinct.push(used);
            }
        }
    }
    distinct.len()
}

/// Which of the model's distinct tables, in order of first use, a rotary embedding reads.
fn table_number(spec: &ModelSpec, rope: &Rope) -> usize {
    let mut distinct: Vec<RopeTable> = Vec::new();
    let wanted = RopeTable::of(rope, RopePart::Cos);
    for layer in &spec.layers {
        let used = match &layer.mixer {
            Mixer::Attention(attention) => attention.rope.as_ref(),
            Mixer::Latent(latent) => Some(&latent.rope),
            Mixer::GatedDelta(_) => None,
        };
        if let Some(used) = used {
            let table = RopeTable::of(used, RopePart::Cos);
            if table == wanted {
                return distinct.len();
            }
            if !distinct.contains(&table) {
                distinct.push(table);
            }
        }
    }
    distinct.len()
}
