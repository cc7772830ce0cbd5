//! A program being authored: the vocabulary that the blocks are written in.

mod products;
mod weights;

use crate::author::binding::{Binding, Source};
use crate::author::{Authored, Cut, Part, describe};
use crate::language::Builder;
use crate::language::ast::{Axis, Element, Recipe, Role, RopePart, RopeTable, Shape, Sharding, Storage, ValueId};
use crate::ops::Op;
use crate::refusal::{At, Code, Refusal};
use crate::request::Weights;
use crate::spec::{Attention, Dtype, Held, Mixer, ModelSpec, Rope, Temperature, Weight};

/// The names of a norm: of its weight, of its bias, of its result.
pub(super) struct NormNames(pub(super) &'static str, pub(super) &'static str, pub(super) &'static str);

/// The names of a projection: of its weight, of its bias, of its result.
pub(super) struct LinearNames(pub(super) &'static str, pub(super) &'static str, pub(super) &'static str);

/// Blocks declare values as they need them. The language numbers declared values first, in the order of their declaration,
/// so the n-th source is that of value n of the finished program.
pub(super) struct Draft<'a> {
    pub(super) spec: &'a ModelSpec,
    cut: &'a Cut,
    /// Rows of an activation.
    rows: u32,
    builder: Builder,
    sources: Vec<(String, Source)>,
}

impl<'a> Draft<'a> {
    pub(super) fn new(spec: &'a ModelSpec, cut: &'a Cut) -> Result<Self, Refusal> {
        let builder = Builder::new(cut.tp, storage_of(spec.dtype));
        if cut.tp == 0 {
            return Err(refuse(spec, cut, "a program for 0 chips"));
        }
        let Some(rows) = cut.step.rows() else {
            let (tokens, sequences) = (cut.step.tokens(), cut.step.sequences());
            let message = format!("{tokens} tokens of each of {sequences} sequences are more than 2^32 rows");
            return Err(Refusal::new(Code::SizeOverflow, At::Model, message));
        };
        Ok(Draft { spec, cut, rows, builder, sources: Vec::with_capacity(32) })
    }

    /// A refusal of this part: what it would need and cannot have.
    pub(super) fn refuse(&self, what: impl std::fmt::Display) -> Refusal {
        refuse(self.spec, self.cut, what)
    }

    // Sizes.

    /// Rows of an activation.
    pub(super) fn rows(&self) -> u32 {
        self.rows
    }

    /// Sequences of the step.
    pub(super) fn seqs(&self) -> u32 {
        self.cut.step.sequences()
    }

    /// Positions of carried state; none where the step is stateless.
    pub(super) fn context(&self) -> Option<u32> {
        self.cut.step.context()
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
